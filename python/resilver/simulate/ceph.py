"""How a Ceph cluster heals, group by group, by the core."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa

from resilver import _core
from resilver.core_errors import core_errors
from resilver.errors import Interrupted


@dataclass(frozen=True)
class Healed:
    """What a run of a Ceph cluster came to.

    Attributes:
        tables: ``timeline``, ``fill``, ``pools``, ``osds``, ``stuck``, ``limits``, ``clients``,
            ``history`` and ``upmaps`` by name; their columns are in ``docs/tables.md``.
        digest: 16 hexadecimal digits of all that happened: runs of equal digests are equal.
        effort: What it took to compute, in steps of like cost: equal for equal runs, 0 by events.
    """

    tables: dict[str, pa.Table]
    digest: str
    effort: int


@dataclass(frozen=True)
class HealProgress:
    """How far a run of a Ceph cluster has come.

    Attributes:
        simulated_seconds: Simulated time.
        unclean_groups: Groups that are not whole, or not where they should be.
        groups: Groups in all.
        fraction: How much of the work that is known is done, from 0 to 1.
    """

    simulated_seconds: float
    unclean_groups: int
    groups: int
    fraction: float


def heal(cluster: str, progress: Callable[[HealProgress], bool] | None = None) -> Healed:
    """Run a Ceph cluster and the changes of a plan.

    Args:
        cluster: The cluster and its plan, as the JSON that ``resilver.whatif`` writes (the core's
            ``ClusterInput``).
        progress: Told several times a second how far the run is; answers whether to go on.

    Returns:
        What the run came to.

    Raises:
        ConfigError: A value of the cluster, or a change of the plan, cannot be.
        PlacementError: The CRUSH map cannot be used.
        SimulationError: The run broke a conservation law.
        Interrupted: `progress` answered False.
    """
    with core_errors():
        healing = _core.Healing(cluster)
        goes_on = True
        while goes_on:
            goes_on, seconds, unclean, groups, fraction = healing.advance()
            state = HealProgress(seconds, unclean, groups, fraction)
            if progress is not None and not progress(state):
                raise Interrupted("the run was stopped before its end")
        return Healed(healing.report(), healing.digest(), healing.effort())
