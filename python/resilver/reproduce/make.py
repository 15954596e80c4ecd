"""Making what was asked for: evidence, comparisons and pictures of one entry or a collection."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from resilver.reproduce.compare import FAILS, Comparison, compare
from resilver.reproduce.conclusions import Concluded, conclude
from resilver.reproduce.entries import Entry, entry, figure_name, select
from resilver.reproduce.evidence import Evidence, Gatherer, Perform, Wishes
from resilver.reproduce.pictures import Picture, picture


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
    pictures: tuple[Picture, ...]
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
    overview: tuple[Picture, ...] = ()
    conclusions: tuple[Concluded, ...] = ()

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """All numbers of all parts."""
        return tuple(one for part in self.parts for one in part.comparisons)

    @property
    def failures(self) -> tuple[Comparison, ...]:
        """The numbers that lie outside of their bands."""
        return tuple(one for one in self.comparisons if one.verdict == FAILS)

    @property
    def holds(self) -> bool:
        """Whether every number lies in its band."""
        return not self.failures


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
    if one.kind == "collection" and len(one.figures) == 1:
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
        tuple(conclude(said, numbers) for said in one.conclusions),
    )


def _overview(one: Entry, gatherer: Gatherer, parts: Sequence[Part]) -> tuple[Picture, ...]:
    """The pictures of a whole collection; none where one figure of it was asked for."""
    if one.kind != "collection":
        return ()
    specs = [spec for spec in one.pictures if set(spec.series) <= set(gatherer.known)]
    made = []
    for spec in specs:
        numbers = [
            pair
            for part in parts
            if part.entry.name in spec.series
            for pair in zip(part.entry.published, part.comparisons, strict=True)
        ]
        made.append(picture(one, spec, gatherer.known, numbers))
    return tuple(drawn for drawn in made if drawn is not None)


def _part(one: Entry, gatherer: Gatherer) -> Part:
    begun = time.monotonic()
    evidence = {one.name: gatherer.of(one)}
    for name in one.others:
        evidence[name] = gatherer.beside(one, name)
    rows = evidence[one.name].rows
    numbers = [
        (
            number,
            compare(one.name, number, rows, evidence[number.over].rows if number.over else ()),
        )
        for number in one.published
    ]
    made = [picture(one, spec, evidence, numbers) for spec in one.pictures]
    return Part(
        one,
        tuple(compared for _, compared in numbers),
        tuple(drawn for drawn in made if drawn is not None),
        evidence[one.name],
        time.monotonic() - begun,
    )
