"""What a cluster would survive as it stands now: gauges for a monitoring system."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from resilver.whatif.answer import Outcome, WhatIf

if TYPE_CHECKING:
    from resilver.simulate import Room
    from resilver.whatif.several import Ranking

Samples = Sequence[tuple[Mapping[str, str], float]]


@dataclass(frozen=True)
class Gauge:
    """A metric.

    Attributes:
        name: Its name, with its unit at the end.
        text: What it is.
        samples: Labels and value of each sample.
    """

    name: str
    text: str
    samples: Samples


@dataclass(frozen=True)
class Watched:
    """A cluster as it stands, and what the failure of its parts would do.

    Attributes:
        now: How it goes on without any failure.
        rankings: The parts of each level by the harm of their failure, now.
        room: How much more fits into its pools, and until when.
        stamp_seconds: When its dumps were taken, in seconds since 1970; None where none says.
    """

    now: WhatIf
    rankings: tuple[Ranking, ...]
    room: Room
    stamp_seconds: float | None

    @property
    def gauges(self) -> tuple[Gauge, ...]:
        """The gauges; one without a sample is left out."""
        made = (*_of_failures(self.rankings), *_of_fill(self.now), *_of_pools(self.room))
        times: Samples = [({}, self.stamp_seconds)] if self.stamp_seconds is not None else []
        text = "When the dumps were taken, in seconds since 1970."
        made = (*made, Gauge("resilver_dumps_timestamp_seconds", text, times))
        return tuple(gauge for gauge in made if gauge.samples)


def _of_failures(rankings: Iterable[Ranking]) -> tuple[Gauge, ...]:
    def worst(of: Callable[[Outcome], float | None]) -> Samples:
        """The highest figure of the parts of each level; a time without an end is infinite."""
        return [
            ({"level": ranking.level}, max(map(_number, map(of, _outcomes(ranking)))))
            for ranking in rankings
        ]

    def holds(of: Callable[[Outcome], bool]) -> Samples:
        return [
            ({"level": ranking.level}, float(all(map(of, _outcomes(ranking)))))
            for ranking in rankings
        ]

    rankings = tuple(rankings)
    return (
        Gauge(
            "resilver_safe",
            "1 where any part of the level may fail without loss of data and without an inactive "
            "PG.",
            holds(lambda one: not one.lost_groups and not one.inactive_groups),
        ),
        Gauge(
            "resilver_heals",
            "1 where the cluster is healthy again by itself whichever part of the level fails.",
            holds(lambda one: one.holds),
        ),
        Gauge(
            "resilver_worst_part",
            "1 for the part of the level whose failure has the largest impact.",
            [({"level": of.level, "part": of.harms[0].name}, 1.0) for of in rankings],
        ),
        Gauge(
            "resilver_heal_seconds",
            "Until the cluster is healthy after the failure of a part, at the longest.",
            worst(lambda one: one.whole_seconds),
        ),
        Gauge(
            "resilver_failure_fill_ratio",
            "Fullest OSD after the failure of a part, at the highest.",
            worst(lambda one: one.peak_share),
        ),
        Gauge(
            "resilver_failure_stuck_pgs",
            "PGs that stay stuck after the failure of a part, at the most.",
            worst(lambda one: one.stuck_groups),
        ),
        Gauge(
            "resilver_failure_inactive_pgs",
            "PGs that are inactive after the failure of a part, at the most.",
            worst(lambda one: one.inactive_groups),
        ),
        Gauge(
            "resilver_data_loss_probability",
            "Probability of losing data by further failures before recovery completes, at the "
            "highest.",
            worst(lambda one: one.loss_chance),
        ),
    )


def _outcomes(ranking: Ranking) -> list[Outcome]:
    return [harm.outcome for harm in ranking.harms]


def _number(value: float | None) -> float:
    return math.inf if value is None else float(value)


def _of_fill(now: WhatIf) -> tuple[Gauge, ...]:
    safe = now.tables["safe_fill"].to_pylist()
    outcome = now.outcome
    return (
        Gauge(
            "resilver_fill_ratio",
            "How full all OSDs that are up and in are together, once what is under way has moved.",
            [({}, row["end_share"]) for row in safe],
        ),
        Gauge(
            "resilver_safe_fill_ratio",
            "How full they may be then so that any host can fail and heal; 0 where none can.",
            [({}, row["end_safe_share"] or 0.0) for row in safe],
        ),
        Gauge(
            "resilver_fullest_osd_ratio",
            "How full the fullest OSD gets without any failure.",
            [({}, outcome.peak_share)],
        ),
        Gauge(
            "resilver_stuck_pgs",
            "PGs that do not become active+clean by themselves, without any failure.",
            [({}, float(outcome.stuck_groups))],
        ),
    )


def _of_pools(found: Room) -> tuple[Gauge, ...]:
    fits = [
        ({"pool": one.pool.name, "until": state}, float(left.bytes))
        for one in found.pools
        for state, left in one.by_state.items()
        if left is not None
    ]
    return (
        Gauge(
            "resilver_pool_room_bytes",
            "User data that fits into the pool before the first OSD reaches the ratio.",
            fits,
        ),
        Gauge(
            "resilver_pool_max_avail_bytes",
            "MAX AVAIL as `ceph df` prints it.",
            [
                ({"pool": one.pool.name}, float(one.max_avail_bytes))
                for one in found.pools
                if one.max_avail_bytes is not None
            ],
        ),
        Gauge(
            "resilver_reached_seconds",
            "Until the first OSD reaches the ratio, at the growth that was stated or measured.",
            [({"until": state}, one.seconds) for state, one in found.reached.items()],
        ),
    )


def metrics_text(gauges: Iterable[Gauge]) -> str:
    """Gauges in Prometheus' text format 0.0.4."""
    lines = []
    for gauge in gauges:
        text = gauge.text.replace("\\", r"\\").replace("\n", r"\n")
        lines += [f"# HELP {gauge.name} {text}", f"# TYPE {gauge.name} gauge"]
        for labels, value in gauge.samples:
            pairs = ",".join(f'{name}="{_escaped(text)}"' for name, text in labels.items())
            shown = "+Inf" if value == math.inf else repr(float(value))
            lines.append(f"{gauge.name}{f'{{{pairs}}}' if pairs else ''} {shown}")
    return "".join(f"{line}\n" for line in lines)


def _escaped(label: str) -> str:
    return label.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")
