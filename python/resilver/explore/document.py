"""What a page of `explore` is made of: a document, which its script shows and computes with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from resilver.explore.controls import Group

INTEGER_MAX = 2**53
"""Integers up to here are the same numbers in a page."""


UNASKED = {"seconds": 60.0, "bytes": 2.0 * 2**30}
"""What a run takes beyond which a page asks before it goes on."""


@dataclass(frozen=True)
class Part:
    """A part of the map.

    Attributes:
        name: Its name.
        kind: Its level: ``rack``, ``host``, ``osd``.
        parent: The place of the part that holds it in the list; -1 for none.
        number: Its number in tables and changes; None where it is no unit.
        device_class: Its class, or empty.
        capacity: Its bytes; None where they are not known.
        used: How many of them are used, likewise.
        up: Whether it runs.
        about: What else there is to say of it; empty for nothing.
    """

    name: str
    kind: str
    parent: int
    number: int | None = None
    device_class: str = ""
    capacity: int | None = None
    used: int | None = None
    up: bool = True
    about: str = ""


@dataclass(frozen=True)
class Change:
    """Something that a reader can have happen to parts.

    Attributes:
        key: Its name, as the command or the study file has it.
        label: The verb of its button.
        sentence: What it does.
        kinds: The kinds of parts that it may happen to.
        template: What it is in the core's input; ``$at``, ``$numbers``, ``$name``, ``$index`` and
            ``$share`` stand for the time in seconds, the numbers of the units below the part, its
            name, its place in the list, and a share.
        word: The option of the command that states it; for studies see `resilver.explore.study`.
        also: Patches that are made once where it happens at all.
        shares: The shares to choose from; empty where it has none.
        beside: An option that the command gets once where it happens at all; empty for none.
    """

    key: str
    label: str
    sentence: str
    kinds: tuple[str, ...]
    template: Any
    word: str
    also: tuple[Any, ...] = ()
    shares: tuple[float, ...] = ()
    beside: str = ""


@dataclass(frozen=True)
class Shown:
    """A figure beside others of an answer; see `resilver.whatif.figures.Figure`.

    Attributes:
        how: As there; or ``leading``, the word with the largest sum of `over`; or ``begins``, the
            value of `over` in the first row where the column is above 0; or ``until``, the end of
            the last row where it is, which begins at `over` and lasts ``duration_seconds``.
        each: The column of the parts of which a row is at a time, the first before anything
            happens, so that a page can say what it was before; empty where rows are none.
        better: Which is better; empty where neither is.
        words: Of a value that is a word, what is said in its place; of the word that leads, what
            stands behind it, such as the setting that it comes from.
    """

    key: str
    label: str
    unit: str
    table: str
    column: str
    how: str
    over: str = ""
    each: str = ""
    better: Literal["less", "more", ""] = "less"
    words: Mapping[str, str] = field(default_factory=dict)


MOVING = "moving"
"""The seconds in which anything moves, by the first film of the map."""
WINDOW = "window"
"""The seconds in which the core of a study counts how long parts are busy."""


@dataclass(frozen=True)
class Series:
    """A line of a chart, or a measure of a unit on the map.

    Attributes:
        column: The column.
        label: What it is.
        unit: As of figures; empty where all of a chart are of one.
        over: What it is divided by: a column of the same table; of a film, ``capacity`` of the
            part; of a measure, `MOVING` or `WINDOW`. Empty for nothing.
    """

    column: str
    label: str
    unit: str = ""
    over: str = ""


@dataclass(frozen=True)
class Lines:
    """A chart over time.

    Attributes:
        key: Its name.
        title: What it shows.
        table: The table that it is made of.
        unit: As of figures, or ``bytes_per_second``.
        series: Its lines.
        time: The column of times.
        each: The column of the parts of which a row is, each at every time; the part that has it
            worst is drawn. Empty where a row is a time.
        worst: Whether the least value is the worst, or the most.
    """

    key: str
    title: str
    table: str
    unit: str
    series: tuple[Series, ...]
    time: str = "time_seconds"
    each: str = ""
    worst: Literal["least", "most"] = "least"


WHO_MOVES = (
    Series("read_bytes_per_second", "Reads", "bytes_per_second"),
    Series("written_bytes_per_second", "Writes", "bytes_per_second"),
)
"""What a film shows of who reads and who writes."""

FRAMES = 120
"""The most moments of a film that a page plays."""


@dataclass(frozen=True)
class Waiting:
    """What waits in a film, and for what, in words.

    Attributes:
        what: What waits: ``PG``.
        why: What they wait for.
        own: What is waited for where a unit waits for itself.
    """

    what: str
    why: str
    own: str


@dataclass(frozen=True)
class Film:
    """What a map shows over time: a table with a row a unit and time.

    Attributes:
        table: The table.
        key: Its column of the unit's number.
        series: What it shows of a unit, side by side.
        time: Its column of the time from which a row holds.
        until: Its column of the time until which a row holds; empty where that is the next row.
        waits_for: Its column of the unit that a unit waits for; empty for none.
        waiting: Its column of how many wait there; empty for none.
        words: What they are; None for none.
    """

    table: str
    key: str
    series: tuple[Series, ...]
    time: str = "time_seconds"
    until: str = ""
    waits_for: str = ""
    waiting: str = ""
    words: Waiting | None = None


@dataclass(frozen=True)
class Map:
    """What a map shows of units: measures of a table with a row a unit, and films.

    Attributes:
        failed: The column of whether a unit failed by what the system itself says; empty for none.
        full: From which share of its bytes on a unit takes no more; None for none.
    """

    table: str
    key: str
    measures: tuple[Series, ...]
    films: tuple[Film, ...] = ()
    failed: str = ""
    full: float | None = None


@dataclass(frozen=True)
class Document:
    """A system that a page computes with.

    Attributes:
        kind: What the core runs: a ``cluster`` of Ceph's, or a ``system`` of a study.
        title: Its name.
        source: The file as the command line takes it.
        input: The core's input as things are.
        maps: Its CRUSH maps in Base64.
        unit: The kind of the units of the map.
        parts: The parts, each behind what holds it.
        groups: What may be chosen.
        changes: What may happen, in the order in which changes of one time are made.
        changes_at: Where in the input the changes are listed.
        figures: The figures of an answer.
        harm: The keys of the figures by which failures are ranked, the first first.
        charts: The charts of an answer.
        map: What the map shows.
        assumptions: What the answer rests on, JSON-able.
        notes: What a reader must know.
        command: What is taken along: its words before the choices.
        study: The study as a file, where one is taken along; None for none.
        until: From when on nothing may happen, in seconds; None where a run has no end of its own.
        seconds: How long a run takes natively, about.
        bytes: How much memory it takes, about.
        server: Where runs are computed instead; None in the page.
        unasked: How long a run may take, and how much memory, before the page asks.
    """

    kind: Literal["cluster", "system"]
    title: str
    source: str
    input: dict[str, Any]
    maps: tuple[str, ...]
    unit: str
    parts: tuple[Part, ...]
    groups: Sequence[Group]
    changes: tuple[Change, ...]
    changes_at: tuple[str, ...]
    figures: tuple[Shown, ...]
    harm: tuple[str, ...]
    charts: tuple[Lines, ...]
    map: Map
    assumptions: Sequence[Mapping[str, str]]
    notes: Sequence[str]
    command: tuple[str, ...]
    study: Mapping[str, Any] | None = None
    until: float | None = None
    seconds: float | None = None
    bytes: int | None = None
    server: Mapping[str, str] | None = None
    unasked: Mapping[str, float] = field(default_factory=lambda: dict(UNASKED))

    def to_json(self) -> dict[str, Any]:
        """The document as the page reads it."""
        plain = {
            name: value
            for name, value in vars(self).items()
            if name not in ("groups", "parts", "changes", "figures", "charts", "map")
        }
        return {
            **plain,
            "version": 1,
            "groups": [group_json(group) for group in self.groups],
            "parts": [asdict(part) for part in self.parts],
            "changes": [asdict(change) for change in self.changes],
            "figures": [asdict(one) for one in self.figures],
            "charts": [asdict(one) for one in self.charts],
            "map": asdict(self.map),
        }


def group_json(group: Group) -> dict[str, Any]:
    """A group of controls as the page reads it."""
    return {
        "controls": [control.to_json() for control in group.controls],
        "patches": {
            ",".join(map(str, stops)): [patch.to_json() for patch in patches]
            for stops, patches in group.patches.items()
        },
    }
