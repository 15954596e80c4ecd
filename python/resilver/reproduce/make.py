"""Making what was asked for: evidence, comparisons and pictures of one entry or a collection."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from resilver.charts.vega import Chart
from resilver.reproduce.compare import ABSENT, DIFFERS, FAILS, VERDICTS, Comparison, compare
from resilver.reproduce.conclusions import Concluded, conclude
from resilver.reproduce.entries import Entry, entry, figure_name, select
from resilver.reproduce.evidence import Evidence, Gatherer, Perform, Wishes
from resilver.reproduce.pictures import picture
from resilver.reproduce.tables import Tables


@dataclass(frozen=True)
class Part:
    """What came of one entry.

    Args:
        entry: The entry, or the part of it that was asked for.
        comparisons: Its numbers beside the published ones.
        pictures: Its pictures.
        evidence: What both were made from.
        seconds: How long it took; next to nothing where its runs were there already.
    """

    entry: Entry
    comparisons: tuple[Comparison, ...]
    pictures: tuple[Chart, ...]
    evidence: Evidence
    seconds: float


@dataclass(frozen=True)
class Reproduction:
    """What came of what was asked for.

    Args:
        entry: The entry or collection.
        parts: Its parts, in order.
        wishes: What was asked for beside it.
        overview: Pictures of a collection that show several parts side by side.
        conclusions: What the source concludes, each with what ours says of it.
    """

    entry: Entry
    parts: tuple[Part, ...]
    wishes: Wishes
    overview: tuple[Chart, ...] = ()
    conclusions: tuple[Concluded, ...] = ()

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """All numbers of all parts."""
        return tuple(one for part in self.parts for one in part.comparisons)

    @property
    def failures(self) -> tuple[Comparison, ...]:
        """The own checks that fail: something is wrong here."""
        return tuple(one for one in self.comparisons if one.verdict == FAILS)

    @property
    def differences(self) -> tuple[Comparison, ...]:
        """The published numbers that ours is not within tolerance of."""
        return tuple(one for one in self.comparisons if one.verdict == DIFFERS)

    @property
    def totals(self) -> dict[str, dict[str, int]]:
        """How many numbers of each kind have each verdict."""
        return {
            kind: {
                verdict: sum(
                    one.kind == kind and one.verdict == verdict for one in self.comparisons
                )
                for verdict in dict.fromkeys((*verdicts, ABSENT))
            }
            for kind, verdicts in VERDICTS.items()
        }

    @property
    def command(self) -> str:
        """The command that makes it again."""
        one = self.entry
        figure = one.figures if one.is_part else ()
        seeds = () if self.wishes.seeds is None else ("--seeds", str(self.wishes.seeds))
        settings = (word for setting in self.wishes.settings for word in ("--set", setting))
        return shlex.join(("resilver", "reproduce", one.name, *figure, *seeds, *settings))

    @property
    def holds(self) -> bool:
        """Whether every own check passes and every published number is within its tolerance."""
        return not self.failures and not self.differences


def chosen(name: str, figure: str | None) -> Entry:
    """The entry, or the part of it that answers to one figure or table.

    Args:
        name: The entry's name.
        figure: A figure or table as a person writes it, or None for all.

    Raises:
        ConfigError: There is no such entry, or it has no such figure.
    """
    one = entry(name)
    return one if figure is None else select(one, figure_name(figure, one.figures))


def reproduce(
    one: Entry,
    folder: str | Path,
    wishes: Wishes,
    perform: Perform,
    begin: Callable[[Entry, int], None] | None = None,
) -> Reproduction:
    """Make an entry: do the runs that its folder does not have, and compare.

    Args:
        one: What to make, as `chosen` gives it.
        folder: Where the run folders go, one an entry.
        wishes: Seeds, settings and workers.
        perform: Executes a study into a folder with so many workers.
        begin: Told of each part and its number of runs before it begins.

    Returns:
        The comparisons and pictures.

    Raises:
        ConfigError: A study with the wished settings is not valid; nothing has been run.
    """
    gatherer = Gatherer(Path(folder), wishes, perform)
    members = [entry(name) for name in one.members] if one.kind == "collection" else [one]
    if one.kind == "collection" and one.is_part:
        members = [select(member, one.figures[0]) for member in members]
    counts = [gatherer.check(member) for member in members]
    parts = []
    for member, count in zip(members, counts, strict=True):
        if begin is not None:
            begin(member, count)
        parts.append(_part(member, gatherer))
    numbers = [compared for part in parts for compared in part.comparisons]
    return Reproduction(
        one,
        tuple(parts),
        wishes,
        _overview(one, gatherer, parts),
        # What a source concludes is not of a changed study.
        () if wishes.settings else tuple(conclude(said, numbers) for said in one.conclusions),
    )


_UNCHANGED_SECONDS = 30.0
"""A study as it ships that takes no longer is run beside a changed one."""


def beside_unchanged(made: Reproduction, folder: Path, perform: Perform) -> Reproduction:
    """A changed reproduction with the numbers of the study as it ships beside its own.

    Args:
        made: The changed one.
        folder: Where the runs of the study as it ships are, or go.
        perform: Executes a study; those that take long are left out where they were never run.
    """
    gatherer = Gatherer(folder, replace(made.wishes, settings=()), perform)
    parts = []
    for part in made.parts:
        one, known = part.entry, {}
        if gatherer.has_all(one) or one.expected_seconds <= _UNCHANGED_SECONDS:
            known = {same.key: same.ours for same in _part(one, gatherer).comparisons}
        numbers = (replace(n, unchanged=known.get(n.key)) for n in part.comparisons)
        parts.append(replace(part, comparisons=tuple(numbers)))
    return replace(made, parts=tuple(parts))


def _overview(one: Entry, gatherer: Gatherer, parts: Sequence[Part]) -> tuple[Chart, ...]:
    """The pictures of a whole collection; none where one figure of it was asked for."""
    if one.kind != "collection":
        return ()
    specs = [spec for spec in one.pictures if set(spec.series) <= set(gatherer.known)]
    numbers = [compared for part in parts for compared in part.comparisons]
    made = (picture(one, spec, gatherer.known, None, numbers) for spec in specs)
    return tuple(drawn for drawn in made if drawn is not None)


def _part(one: Entry, gatherer: Gatherer) -> Part:
    begun = time.monotonic()
    evidence = {one.name: gatherer.of(one)}
    for name in one.beside:
        evidence[name] = gatherer.beside(one, name)
    comparisons, pictures = judged(one, evidence, gatherer.wishes.changed)
    return Part(one, comparisons, pictures, evidence[one.name], time.monotonic() - begun)


def judged(
    one: Entry, evidence: Mapping[str, Evidence], changed: Collection[str] = ()
) -> tuple[tuple[Comparison, ...], tuple[Chart, ...]]:
    """Set an entry's numbers beside the published ones, and put its pictures together.

    Args:
        one: The entry.
        evidence: Its own evidence, and that of the entries beside it, by name.
        changed: The keys of its study that somebody changed.

    Returns:
        The comparisons, and the pictures that have something to show.
    """
    own = evidence[one.name]
    tables = Tables(
        own.runs,
        None if own.results is None else own.results.folder,
        one.views,
        {name: other.runs for name, other in evidence.items() if name != one.name},
    )
    comparisons = tuple(compare(one.name, number, tables, changed) for number in one.published)
    made = (picture(one, spec, evidence, tables, comparisons) for spec in one.pictures)
    return comparisons, tuple(drawn for drawn in made if drawn is not None)
