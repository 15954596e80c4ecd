"""The profile of groups of disks: which are too slow, what to replace next, and what that gains."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from resilver.center.culling import Culling, Judged, Reference, cull, cull_measured, judge
from resilver.center.figures import Figure
from resilver.center.order import (
    clean_groups,
    expected_fastest_group,
    expected_group,
    expected_replaced,
    expected_slowest,
    spread_most,
)
from resilver.center.rates_file import LotFile, Rates
from resilver.record import record

SEEDS = 15
"""Draws of disks by default."""
WITHIN = 0.05
"""How far a group may be below the reference by default."""


@dataclass(frozen=True)
class Replacement:
    """A group that is too slow.

    Attributes:
        group, unit: Its name, and its unit's.
        rate_bytes_per_second: What it moves.
        least_bytes_per_second: What it must move.
        disk: Its slowest disk, which is to be replaced; None where groups were measured.
        disk_bytes_per_second: What that disk moves.
    """

    group: str
    unit: str
    rate_bytes_per_second: float
    least_bytes_per_second: float
    disk: str | None = None
    disk_bytes_per_second: float | None = None


@dataclass(frozen=True)
class MeasuredProfile:
    """Measured groups against an envelope.

    Attributes:
        rates: What was measured.
        judged: The groups against the envelope.
        next: What to replace next, the slowest first.
        figures: What that gains, each with its derivation.
        cullings: Culling in rounds, by disks drawn among the measured; empty without disks.
    """

    rates: Rates
    judged: Judged
    next: tuple[Replacement, ...]
    figures: tuple[Figure, ...]
    cullings: tuple[Culling, ...]

    @property
    def holds(self) -> bool:
        """Whether all groups lie within."""
        return self.judged.holds

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON has it, in SI units."""
        return {
            "within": self.judged.within,
            "of": self.judged.of,
            "groups": len(self.rates.groups),
            "outside": len(self.next),
            **record(self, "next", "figures", "holds"),
            "rounds": rounds_json(self.cullings),
        }


@dataclass(frozen=True)
class LotProfile:
    """A lot against an envelope: closed forms, and culling in rounds of several draws.

    Attributes:
        file: The lot.
        within, of: The envelope.
        figures: Closed forms, and medians over the draws, each with its derivation.
        cullings: One a draw.
    """

    file: LotFile
    within: float
    of: Reference
    figures: tuple[Figure, ...]
    cullings: tuple[Culling, ...]

    @property
    def holds(self) -> bool:
        """Whether culling brings all groups within, in every draw."""
        return all(one.holds for one in self.cullings)

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON has it, in SI units."""
        return {
            "description": self.file.description,
            "source": self.file.source,
            **record(self, "within", "of", "figures", "holds"),
            "replaced": [one.replaced for one in self.cullings],
            "rounds": rounds_json(self.cullings),
        }


def rounds_json(cullings: Sequence[Culling]) -> list[dict[str, Any]]:
    """The rounds of the draw with the median of replaced disks."""
    if not cullings:
        return []
    return [
        {"round": number, **asdict(one)} for number, one in enumerate(median_draw(cullings).rounds)
    ]


def median_draw(cullings: Sequence[Culling]) -> Culling:
    """The draw with the median of replaced disks."""
    return sorted(cullings, key=lambda one: one.replaced)[len(cullings) // 2]


def profile_rates(
    rates: Rates, within: float, of: Reference, seeds: int = SEEDS
) -> MeasuredProfile:
    """Hold measured groups against an envelope.

    Args:
        within: The envelope, such as 0.05.
        seeds: How often the rounds to come are drawn, where disks were measured.

    Returns:
        What is outside, what to replace next, and what that gains.
    """
    judged = judge(rates.group_rates, within, of, rates.units)
    following = tuple(_replacement(rates, judged, int(group)) for group in judged.outside)
    cullings: tuple[Culling, ...] = ()
    if rates.disk_rates is not None and following:
        _, units = np.unique(np.asarray(rates.units), return_inverse=True)
        cullings = tuple(
            cull_measured(rates.disk_rates, units, within, of, seed) for seed in range(1, seeds + 1)
        )
    figures = tuple(_gains(rates, judged))
    return MeasuredProfile(rates, judged, following, figures, cullings)


def _replacement(rates: Rates, judged: Judged, group: int) -> Replacement:
    disk = rate = None
    if rates.disk_rates is not None:
        slowest = int(rates.disk_rates[group].argmin())
        disk, rate = rates.disks[group][slowest], float(rates.disk_rates[group][slowest])
    return Replacement(
        rates.groups[group],
        rates.units[group],
        float(judged.rates[group]),
        float(judged.least[group]),
        disk,
        rate,
    )


def _gains(rates: Rates, judged: Judged) -> list[Figure]:
    """What the groups move, and what replacing the next disks gains."""
    now = judged.rates
    found = [
        Figure("mean_bytes_per_second", "Mean group", float(now.mean()), "rate", "as measured"),
        Figure(
            "slowest_bytes_per_second", "Slowest group", float(now.min()), "rate", "as measured"
        ),
        Figure("below", f"Slowest, below {reference_words(judged.of)}", judged.spread, "share", ""),
    ]
    outside = judged.outside
    if not outside.size:
        return found
    after = now.copy()
    if rates.disk_rates is None:
        after[outside] = np.maximum(now[outside], judged.least[outside])
        words = "if each that is outside comes to the edge of the envelope"
    else:
        # A new disk is taken to be the median one, so that the group goes on at its next slowest.
        second = np.sort(rates.disk_rates[outside], axis=1)[:, 1]
        data = now[0] / rates.disk_rates[0].min()
        after[outside] = data * np.minimum(second, np.median(rates.disk_rates))
        words = "if each new disk is as the median one"
    for key, what, value in (
        ("mean_gain", "Mean group gains", after.mean() / now.mean() - 1.0),
        ("slowest_gain", "A file over all groups gains", after.min() / now.min() - 1.0),
    ):
        found.append(Figure(key, what, float(value), "share", words))
    return found


def reference_words(of: Reference) -> str:
    """What the envelope is measured from, in words."""
    return "the fastest of its unit" if of == "fastest" else "the average"


def profile_lot(file: LotFile, within: float, of: Reference, seeds: int = SEEDS) -> LotProfile:
    """Hold a lot of disks against an envelope, in closed form and drawn.

    Args:
        within: The envelope, such as 0.05.
        seeds: How often the disks are drawn.

    Returns:
        Closed forms, and culling in rounds.
    """
    lot = file.lot.lot
    cullings = tuple(cull(lot, within, of, seed) for seed in range(1, seeds + 1))
    figures = [*_of_lot(file, within, of), *_of_draws(cullings)]
    return LotProfile(file, within, of, tuple(figures), cullings)


def _of_lot(file: LotFile, within: float, of: Reference) -> list[Figure]:
    """Closed forms of a lot."""
    lot, section = file.lot.lot, file.lot
    members, groups = lot.members, lot.groups
    most = spread_most(within, of, groups, members, lot.units)
    if of == "fastest":
        each = groups // lot.units
        reference, slowest = expected_fastest_group(each, members), expected_slowest(each * members)
    else:
        reference, slowest = expected_slowest(members), expected_slowest(lot.disks)
    words = f"{within:g} ÷ ((1 − {within:g}) × {reference:.3f} − {slowest:.3f})"
    what = f"Spread of disks at which groups keep {100 * within:g} %"
    found = [Figure("spread_most", what, most, "share", words)]
    if lot.slow:
        slow = round(lot.slow * lot.disks)
        words = f"{groups:,} × C({lot.disks - slow:,}, {members}) ÷ C({lot.disks:,}, {members})"
        clean = clean_groups(groups, members, slow)
        found.append(Figure("clean_groups", "Groups without a slow disk", clean, "number", words))
        words = f"{lot.disks:,} × {lot.slow:g} ÷ (1 − {lot.slow:g})"
        replaced = expected_replaced(lot.disks, lot.slow)
        what = "Replaced until none is slow, by the same lot"
        found.append(Figure("expected_replaced", what, replaced, "number", words))
        what = "Gained where every part waits for the slowest"
        words = f"1 ÷ {lot.factor:g} − 1"
        found.append(Figure("slow_gain", what, 1.0 / lot.factor - 1.0, "share", words))
    mean = expected_group(members, lot.spread, lot.slow, lot.factor)
    rate = section.erasure.data * section.rate
    words = f"{section.erasure.data} × {section.rate / 1e6:g} MB/s × {mean:.4f}, the slowest of "
    what = "Mean group"
    found.append(Figure("mean_bytes_per_second", what, mean * rate, "rate", f"{words}{members}"))
    if lot.slow:
        clean = expected_group(members, lot.spread, 0.0, 1.0)
        words = f"{clean:.4f} ÷ {mean:.4f} − 1"
        what = "The mean group gains without slow disks"
        found.append(Figure("mean_gain", what, clean / mean - 1.0, "share", words))
    return found


def _of_draws(cullings: Sequence[Culling]) -> Iterator[Figure]:
    """Medians over the draws, with their range."""
    for key, what, kind, values in (
        ("replaced", "Replaced in rounds", "count", [one.replaced for one in cullings]),
        ("rounds", "Rounds", "count", [len(one.rounds) - 1 for one in cullings]),
        ("drawn_gain", "The mean group gains", "share", [one.gain - 1.0 for one in cullings]),
        (
            "drawn_slowest_gain",
            "A file over all groups gains",
            "share",
            [one.slowest_gain - 1.0 for one in cullings],
        ),
    ):
        ends = (min(values), max(values))
        least, most = (f"{100 * end:.3g} %" if kind == "share" else f"{end:,}" for end in ends)
        words = f"median of {len(values)} draws, min {least}, max {most}"
        yield Figure(key, what, float(statistics.median(values)), kind, words)
