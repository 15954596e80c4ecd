"""The parts of a cluster in the core's words."""

from __future__ import annotations

from typing import Any

from resilver.spec import Cluster, System
from resilver.spec.tree import Tree


def levels(cluster: Cluster) -> list[dict[str, Any]]:
    """The levels of a cluster's parts, as declared.

    Args:
        cluster: A synthetic cluster.

    Returns:
        A JSON-able dictionary a declaration. The network ports are those of one level.
    """
    tree = cluster.tree
    if tree is not None and not cluster.parts:
        return _short(tree)
    return [
        {
            "level": part.level,
            "in": part.within,
            "count": part.count or 0,
            "class": part.device_class,
            "ports": tree.ports if tree is not None and part.level == tree.port_level else 0,
            "service": None if part.service is None else part.service.model_dump(mode="json"),
            "carries": part.carries,
            "partner": bool(part.partner),
            "of": None
            if part.of is None
            else {
                "level": part.of,
                "size": part.size,
                "across": part.across,
                "spares": part.spares or 0,
            },
        }
        for part in cluster.parts
    ]


def _short(tree: Tree) -> list[dict[str, Any]]:
    """The levels of servers, racks and rows, which declare no parts."""
    counts = [1, *(level.count for level in tree.levels)]
    above = [None, *(level.name for level in tree.levels)]
    plain = {"class": None, "ports": 0, "service": None, "carries": None, "partner": False}
    return [
        {"level": level.name, "in": within, "count": level.count // count, **plain, "of": None}
        for level, within, count in zip(tree.levels, above, counts, strict=False)
    ]


def passing(system: System) -> list[dict[str, Any]] | None:
    """The levels of a system's parts, where requests pass any or faults are of what carries others.

    Returns:
        JSON-able dictionaries; None where no run has to know of them.
    """
    cluster = system.cluster
    is_timed = any(part.service is not None for part in cluster.parts)
    is_carried = any(part.carries is not None for part in cluster.parts)
    return levels(cluster) if is_timed or is_carried else None
