"""The core's CRUSH maps of a system's pools."""

from __future__ import annotations

import json

from resilver import _core
from resilver.core_input import levels
from resilver.spec import System


def maps_of(system: System) -> list[_core.CrushMap]:
    """The core's CRUSH maps of a system's pools, in the order of those that are placed by CRUSH."""
    return [made for pool in system.of_pools if (made := _map_of(pool)) is not None]


def _map_of(system: System) -> _core.CrushMap | None:
    """The CRUSH map of a pool, or None where its placement is not by CRUSH."""
    placement, cluster = system.placement, system.cluster
    if placement is None or placement.algorithm != "crush":
        return None
    bucket, tunables = placement.bucket or "straw2", placement.tunables or "jewel"
    if not cluster.parts and cluster.racks is None:
        map = _core.CrushMap.flat(system.server_count, bucket, tunables)
    else:
        domains = list(zip(system.failure_domains, _parts_chosen(system), strict=True))
        map = _core.CrushMap.of_parts(
            json.dumps(levels(cluster)), bucket, tunables, domains, placement.only_class
        )
    # Pieces of a code differ, so their rule keeps positions.
    return map if system.code is None else map.for_codes()


def _parts_chosen(system: System) -> tuple[int, ...]:
    """How many parts of each failure domain CRUSH chooses; 0 is as many as there are pieces."""
    if len(system.failure_domains) < 2 or system.code is None:
        return (0,)
    return system.code.levels
