"""What can be reproduced: the studies that ship with published numbers beside them.

Each is a folder of the catalog's `studies` with a `reproduce.toml`: which figure or table it is,
its pictures, and the inputs that stand in for unpublished ones. Its published numbers are the lines
of the `published.csv` beside it, each with where it stands, its kind, its tolerance, and the query
that gives ours. Most have a `study.toml` too, and some SQL with what the queries of a study have in
common.
"""

from __future__ import annotations

import csv
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

from resilver.errors import ConfigError, name_remedy, show
from resilver.reproduce.published import PREDICTED, Axis, Conclusion, PictureSpec, Published

FILE = "reproduce.toml"
NUMBERS = "published.csv"
_STAND_INS = "stand-ins.toml"
_ROMAN = {"1": "I", "2": "II", "3": "III", "4": "IV", "5": "V"}


@dataclass(frozen=True)
class Entry:
    """One thing that `resilver reproduce` makes.

    Args:
        name: Its folder.
        kind: "study" and "cost" have runs; "collection" is several entries on one page; the
            others measure without runs, see `resilver.reproduce.measured`.
        title: What it is.
        source: Who published its numbers.
        figures: The figures and tables it answers to.
        own_seconds: About how long its own runs take on two cores; of a collection, none.
        stand_ins: Names of the inputs that stand in for unpublished ones; every entry says which,
            or that there are none.
        members: Of a collection, its entries in order, those of collections in it among them.
        published: The numbers.
        pictures: The pictures.
        workers: How many runs at once its measurement allows; None for any.
        beside: Other entries whose runs its numbers and pictures need.
        views: SQL that defines views over its tables, see `resilver.reproduce.tables`.
        conclusions: What the source concludes in words.
        options: What else its kind needs, such as the items of "placements".
        is_part: Whether it is cut down to one of its figures.
    """

    name: str
    kind: str
    title: str
    source: str
    figures: tuple[str, ...] = ()
    own_seconds: float = 0.0
    stand_ins: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    published: tuple[Published, ...] = ()
    pictures: tuple[PictureSpec, ...] = ()
    workers: int | None = None
    beside: tuple[str, ...] = ()
    views: tuple[str, ...] = ()
    conclusions: tuple[Conclusion, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    is_part: bool = False

    @property
    def expected_seconds(self) -> float:
        """About how long it takes on two cores, with its members and what runs beside them."""
        parts = [entry(name) for name in self.members] or [self]
        beside = {name for part in parts for name in part.beside} - {part.name for part in parts}
        return sum(one.own_seconds for one in [*parts, *map(entry, beside)])

    @property
    def has_runs(self) -> bool:
        """Whether it is a study with runs."""
        return self.kind in ("study", "cost")


@dataclass(frozen=True)
class StandIn:
    """An input that stands in for one that was not published.

    Args:
        name: Its name.
        instead_of: What it stands for.
        used: What it is.
    """

    name: str
    instead_of: str
    used: str


def _folder() -> Traversable:
    return resources.files("resilver.catalog").joinpath("studies")


@cache
def names() -> tuple[str, ...]:
    """The entries: collections first, then by source and first figure, then the rest."""
    found = [item.name for item in _folder().iterdir() if item.joinpath(FILE).is_file()]
    return tuple(sorted(found, key=lambda name: _order(entry(name))))


def _order(one: Entry) -> tuple[bool, bool, str, int, str]:
    number = re.search(r"Figure (\d+)", " ".join(one.figures))
    return (
        one.kind != "collection",
        not one.figures,
        one.source if one.kind != "collection" and one.figures else "",
        int(number.group(1)) if number else 0,
        one.name,
    )


@cache
def entry(name: str) -> Entry:
    """An entry by its name.

    Args:
        name: Its name, as `resilver reproduce --list` gives it.

    Raises:
        ConfigError: There is no such entry; the message suggests the nearest.
    """
    folder = _folder()
    known = sorted(item.name for item in folder.iterdir() if item.joinpath(FILE).is_file())
    if name not in known:
        remedy = f"{name_remedy(name, known)} (`resilver reproduce --list` has them all)"
        raise ConfigError("nothing of this name can be reproduced", remedy, value=show(name))
    table = tomllib.loads(folder.joinpath(name, FILE).read_text(encoding="utf-8"))
    published = _published(folder.joinpath(name, NUMBERS))
    conclusions = tuple(
        Conclusion(**{**row, "rests_on": tuple(row["rests_on"])})
        for row in table.pop("conclusions", [])
    )
    pictures = tuple(_picture(row) for row in table.pop("pictures", []))
    views = (folder.joinpath(path).read_text(encoding="utf-8") for path in table.pop("views", ()))
    plain = {key: table.pop(key) for key in ("kind", "title", "source")}
    if plain["kind"] != "collection" and "stand_ins" not in table:
        rule, remedy = "an entry lists the substituted inputs", "give [] for none"
        raise ConfigError(rule, remedy, "stand_ins", place=f"{name}/{FILE}")
    lists: dict[str, Any] = {
        key: tuple(table.pop(key, ())) for key in ("figures", "stand_ins", "members", "beside")
    }
    seconds, workers = float(table.pop("expected_seconds", 0.0)), table.pop("workers", None)
    if plain["kind"] == "collection":
        named = [entry(member) for member in lists["members"]]
        every = (name for one in named for name in one.members or (one.name,))
        lists["members"] = tuple(dict.fromkeys(every))
        parts = [entry(member) for member in lists["members"]]
        for key in ("figures", "stand_ins"):
            lists[key] = tuple(dict.fromkeys(one for part in parts for one in getattr(part, key)))
    return Entry(
        name=name,
        **plain,
        **lists,
        own_seconds=seconds,
        published=published,
        pictures=pictures,
        workers=workers,
        views=tuple(views),
        conclusions=conclusions,
        options=table,
    )


def _published(path: Traversable) -> tuple[Published, ...]:
    """The numbers of a file, in the order of its lines; a collection has none of its own."""
    if not path.is_file():
        return ()
    lines = csv.DictReader(path.read_text(encoding="utf-8").splitlines(), strict=True)
    numbers = tuple(read_number(line, str(path)) for line in lines)
    judging: dict[str, str] = {}
    for number in numbers:
        first = judging.setdefault(number.query, number.key) if number.kind == PREDICTED else ""
        if first not in ("", number.key):
            rule = f"each predicted number is judged by its own figure, and {first} has this query"
            fix = "keep the number that this figure predicts"
            raise ConfigError(rule, fix, "select", place=f"{path}, {number.key}")
    return numbers


def read_number(line: Mapping[str, str], place: str) -> Published:
    """A number from its line; what is left empty stays as `Published` has it.

    Args:
        line: The fields of the line, by their heading.
        place: The file, for a message.

    Raises:
        ConfigError: A heading is unknown, there are more fields than headings, or it breaks a rule
            of its kind, see `Published.broken_rule`.
    """
    renamed = {"from": "table", "where": "condition"}
    known = {renamed.get(key, key) for key in line} & {one.name for one in fields(Published)}
    if len(known) < len(line):
        rule = "a line has a field for each heading, and headings are columns of a number"
        fix = "quote a field that has a comma, and see docs/how-to/add-a-published-number.md"
        raise ConfigError(rule, fix, f"{place}, {line.get('key')}")
    given: dict[str, Any] = {key: text for key, text in line.items() if text}
    for key in ("paper", "expected", "low", "high", "within"):
        if key in given:
            try:
                given[key] = float(given[key])
            except ValueError:
                if key in ("low", "high"):
                    continue
                rule, remedy = "this is a number", "only low and high may be SQL"
                where = f"{place}, {line.get('key', '')}"
                raise ConfigError(rule, remedy, key, show(line[key]), where) from None
    given.setdefault("kind", "")
    number = Published(**{renamed.get(key, key): value for key, value in given.items()})
    if (broken := number.broken_rule()) is not None:
        raise ConfigError(replace(broken, place=f"{place}, {number.key}"))
    return number


def _picture(row: dict[str, Any]) -> PictureSpec:
    axes = {name: Axis(**row.get(name, {})) for name in "xy"}
    return PictureSpec(**{**row, **axes, "figures": tuple(row.get("figures", ()))})


def stand_in(name: str) -> StandIn:
    """What stands in for an unpublished input, by the name that an entry gives it."""
    return StandIn(name, **_stand_ins()[name])


@cache
def _stand_ins() -> dict[str, dict[str, str]]:
    return tomllib.loads(_folder().joinpath(_STAND_INS).read_text(encoding="utf-8"))


def figure_name(text: str, known: tuple[str, ...]) -> str:
    """The figure or table that a person means.

    Args:
        text: Such as ``8``, ``fig8``, ``Figure 8``, ``table 2`` or ``Table II``.
        known: The figures to choose from, as entries name them.

    Returns:
        The name, such as ``Figure 8``.

    Raises:
        ConfigError: It is none of them.

    >>> figure_name("fig. 8", ("Figure 8", "Table II"))
    'Figure 8'
    >>> figure_name("table 2", ("Figure 8", "Table II"))
    'Table II'
    """
    match = re.fullmatch(r"\s*(fig\.?|figure|table|tab\.?)?[\s_.-]*(\w+)\s*", text.casefold())
    if match is not None:
        word, number = match.group(1) or "", match.group(2)
        tables = [f"Table {_ROMAN.get(number, number.upper())}", f"Table {number}"]
        wanted = tables if word.startswith("tab") else [f"Figure {number}"]
        if not word:
            # A source with tables of plain numbers needs the word to tell them from figures.
            wanted.append(f"Table {number.upper()}")
        for name in wanted:
            if name in known:
                return name
    remedy = f"choose one of {', '.join(known)}" if known else "leave it out: there are none here"
    raise ConfigError("this figure or table is not there", remedy, "figure", show(text))


def select(one: Entry, figure: str) -> Entry:
    """The part of an entry that answers to one figure or table.

    Args:
        one: The entry, of any kind.
        figure: The figure's name, as `figure_name` gives it.

    Returns:
        An entry with the numbers and pictures of that figure alone; of a collection, the members
        that have it.
    """
    if one.kind == "collection":
        kept = tuple(name for name in one.members if figure in entry(name).figures)
        stand_ins = dict.fromkeys(name for member in kept for name in entry(member).stand_ins)
        return replace(
            one,
            members=kept,
            is_part=True,
            figures=(figure,),
            stand_ins=tuple(stand_ins),
            pictures=(),
            conclusions=(),
        )
    return replace(
        one,
        is_part=True,
        figures=(figure,),
        published=tuple(number for number in one.published if number.figure == figure),
        pictures=tuple(picture for picture in one.pictures if figure in picture.figures),
    )
