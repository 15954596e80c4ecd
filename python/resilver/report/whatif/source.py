"""An answer of `resilver what-if` as its sentences, tables and charts read it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from resilver.report.arrays import Floats, column

if TYPE_CHECKING:
    from resilver.whatif.answer import WhatIf

DETECTED = r"the monitors mark .* down"
"""What an event says that detects a failure."""
LEVELS = ("nearfull", "backfillfull", "full", "failsafe")
"""How full an OSD is, in Ceph's words; before Luminous the second may be below the first."""
_UNDER_WAY = frozenset({"backfilling", "backfill_wait", "recovering", "recovery_wait"})
_COUNTED = (
    *("degraded", "undersized", "at_risk", "inactive", "backfilling", "recovering"),
    *("backfill_wait", "toofull", "deleting"),
)


@dataclass(frozen=True, eq=False)
class Facts:
    """What the tables of an answer say."""

    answer: WhatIf

    def series(self, name: str, of: str = "timeline") -> Floats:
        """A column of a table, NaN where it is null."""
        return column(self.answer.tables[of], name)

    def rows(self, name: str) -> list[dict[str, Any]]:
        """The rows of a table."""
        found: list[dict[str, Any]] = self.answer.tables[name].to_pylist()
        return found

    @cached_property
    def times(self) -> Floats:
        """The moments of the timeline in seconds, shape (moments,)."""
        return self.series("time_seconds")

    @cached_property
    def pools(self) -> list[dict[str, Any]]:
        """The pools, by number."""
        return self.rows("pools")

    def room(self, state: str) -> list[dict[str, Any]]:
        """How much more fits into each pool before an OSD reaches a ratio, by number.

        Args:
            state: ``nearfull``, ``backfillfull``, ``full`` or ``max_avail``.
        """
        return [row for row in self.rows("room") if row["state"] == state]

    @property
    def largest_room(self) -> dict[str, Any] | None:
        """What fits into the pool with the most PGs before an OSD is full; None without pools."""
        groups = {pool["pool"]: pool["groups"] for pool in self.pools}
        return max(self.room("full"), key=lambda row: groups.get(row["pool"], 0), default=None)

    @property
    def changed_room(self) -> dict[str, Any] | None:
        """What fits into the pool whose room changes most; None where none is known."""
        known = [
            row for row in self.room("full") if None not in (row["start_bytes"], row["end_bytes"])
        ]
        return max(known, key=lambda row: abs(row["end_bytes"] - row["start_bytes"]), default=None)

    def room_of(self, pool: int) -> dict[str, Any] | None:
        """What fits into a pool before an OSD is full; None where that is unknown.

        Args:
            pool: Its number.
        """
        return next((row for row in self.room("full") if row["pool"] == pool), None)

    @cached_property
    def osds(self) -> list[dict[str, Any]]:
        """The OSDs, the fullest at its peak first."""
        return sorted(
            self.rows("osds"), key=lambda osd: (-share(osd, "peak_used_bytes"), osd["osd"])
        )

    @cached_property
    def stuck(self) -> list[dict[str, Any]]:
        """PGs that are not clean at the end."""
        return self.rows("stuck")

    @cached_property
    def has_ended(self) -> bool:
        """Whether the run ended since nothing can happen any more, before its time was over."""
        return self.answer.end_seconds < self.answer.horizon_seconds

    @cached_property
    def waiting(self) -> list[dict[str, Any]]:
        """Those of `stuck` that no more time would help."""
        return [row for row in self.stuck if self.has_ended or not is_under_way(row["state"])]

    @cached_property
    def moved_until(self) -> float:
        """When data last moved, or was deleted, in seconds; 0 where none ever did."""
        working = ("recovering", "backfilling", "deleting")
        counts = sum(self.series(f"{name}_groups") for name in working)
        found = np.flatnonzero(counts)
        return float(self.times[min(found[-1] + 1, self.times.size - 1)]) if found.size else 0.0

    def has_no_end(self, pool: int | None = None) -> bool:
        """Whether what is not clean at the end, of a pool or all, stays so with more time."""
        of = [row for row in self.waiting if pool is None or row["pool"] == pool]
        return bool(of) or not self.stuck

    @cached_property
    def is_calm(self) -> bool:
        """Whether every PG was active+clean throughout."""
        ever = any(self.series(f"{name}_groups").any() for name in _COUNTED)
        ever = ever or bool(self.series("misplaced_objects").any())
        return self.answer.holds and not ever

    @cached_property
    def begins(self) -> float:
        """When the first change comes, in seconds; 0 without any."""
        return min((step.at_seconds for step in self.answer.steps), default=0.0)

    @cached_property
    def moments(self) -> Floats:
        """The moments at which it is known how full OSDs are, in seconds, shape (moments,)."""
        return np.unique(self.series("time_seconds", "fill"))

    def by_osd(self, name: str) -> Floats:
        """A column of `fill` by moment and OSD, in the order of `osds`.

        Args:
            name: ``used_bytes``, ``pending_bytes`` or ``capacity_bytes``.

        Returns:
            Shape (moments, OSDs); NaN where an OSD is not there. Of two rows of one moment, as
            there are before and after the first change, the second one counts.
        """
        numbers = np.array([osd["osd"] for osd in self.osds], dtype=np.int64)
        found = np.full((self.moments.size, numbers.size), np.nan)
        if found.size:
            at = np.searchsorted(self.moments, self.series("time_seconds", "fill"))
            order = np.argsort(numbers)
            of = self.series("osd", "fill").astype(np.int64)
            found[at, order[np.searchsorted(numbers, of, sorter=order)]] = self.series(name, "fill")
        return found

    @cached_property
    def held(self) -> Floats:
        """What all OSDs together have used, those that are gone included, shape (moments,)."""
        return np.asarray(np.nansum(self.by_osd("used_bytes"), axis=1))

    @cached_property
    def held_beyond(self) -> float:
        """Bytes that all OSDs together hold on the way beyond what they do before and after."""
        used = self.held
        return float(used.max() - max(used[0], used[-1])) if used.size else 0.0

    @property
    def lowest_level(self) -> str:
        """The first of `LEVELS` that an OSD that fills up gets to."""
        return min(LEVELS, key=self.answer.cluster.ratios.__getitem__)

    def passing(self, level: str) -> list[dict[str, Any]]:
        """OSDs that get to a ratio, one of `LEVELS`, the first one first."""
        name = f"{level}_seconds"
        return sorted(
            (osd for osd in self.osds if osd[name] is not None), key=lambda osd: osd[name]
        )


def share(osd: Mapping[str, Any], name: str) -> float:
    """Bytes of an OSD by its capacity; 0 of one without any."""
    return float((osd[name] or 0) / osd["capacity_bytes"]) if osd["capacity_bytes"] else 0.0


def times_of(facts: Facts, pattern: str) -> list[float]:
    """When events happened whose whole text matches a pattern, in seconds, rising."""
    rows = facts.rows("history")
    return sorted({r["time_seconds"] for r in rows if re.fullmatch(pattern, r["what"])})


def is_under_way(state: str) -> bool:
    """Whether PGs in a state, Ceph's words joined by ``+``, leave it by themselves.

    >>> is_under_way("active+remapped+backfill_wait"), is_under_way("active+undersized+degraded")
    (True, False)
    """
    words = set(state.split("+"))
    return bool(words & _UNDER_WAY) and not any(word.endswith("toofull") for word in words)
