"""The devices by number, and which endpoints of the network each has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from resilver.spec import Cluster, System
from resilver.spec.attachment import attachment_of
from resilver.spec.tree import Tree


@dataclass(frozen=True)
class Device:
    """A device of the core by its number there.

    Attributes:
        number: The core's number.
        name: Its name.
        host: The part it is in whose network ports it shares.
    """

    number: int
    name: str
    host: str


def devices(system: System) -> list[Device]:
    """The devices of a system, by number."""
    tree = system.cluster.tree
    if tree is None:
        return []
    level, host = tree.device_level, tree.port_level
    return [
        Device(number, tree.name(level, number), tree.part_above(host, number))
        for number in range(tree.devices)
    ]


def endpoints(system: System) -> list[int]:
    """The number of the network endpoint of every device; devices of one host share one.

    It is the first port's where servers have several.
    """
    ports = ports_of(system)
    if ports:
        return [of_server[0] for of_server in ports]
    tree = system.cluster.tree
    if tree is None:
        return []
    size = tree.size(tree.port_level)
    return [device // size for device in range(tree.devices)]


def ports_of(system: System) -> list[list[int]]:
    """The endpoints of every server of a cluster, by side.

    Returns:
        A list a server, with an endpoint a port: the hosts of a leaf spine that its attachment
        says, else hosts in a row. Empty where servers have one port each and server s is host s.

    >>> from resilver import Study
    >>> study = Study.from_dict({
    ...     "cluster": {
    ...         "servers": 4, "ports": 2,
    ...         "fabric": {
    ...             "model": "switched",
    ...             "topology": "leaf spine 4x2 hosts 2 entries 1",
    ...             "link_rate": "10 Gbit/s",
    ...         },
    ...     },
    ...     "traffic": {"outstanding": 1, "request_size": "4 KiB", "duration": "1 ms"},
    ... })
    >>> ports_of(study.runs()[0].system)  # two servers at the first two switches, then two more
    [[0, 2], [1, 3], [4, 6], [5, 7]]
    """
    cluster, tree = system.cluster, system.cluster.tree
    if tree is None or (tree.ports == 1 and cluster.attachment == "local"):
        return []
    # The devices of a part with ports share them.
    size, sides = tree.size(tree.port_level), range(tree.ports)
    machines = [device // size for device in range(tree.devices)]
    attachment = attachment_of(cluster, system.placement)
    if attachment is None:
        return [[machine * len(sides) + side for side in sides] for machine in machines]
    return [[attachment.host(machine, side) for side in sides] for machine in machines]


def machine_endpoints(system: System, endpoint_of: list[int]) -> int:
    """How many endpoints of the network are servers' or lie between them.

    Args:
        endpoint_of: The endpoint of every device.

    Returns:
        The number after the highest: where the fabric has no topology, the first router's.
    """
    ports = ports_of(system)
    return max((endpoint for of in [endpoint_of, *ports] for endpoint in of), default=-1) + 1


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
    return [part.structure() for part in cluster.parts]


def _short(tree: Tree) -> list[dict[str, Any]]:
    """The levels of servers, racks and rows, which declare no parts."""
    counts = [1, *(level.count for level in tree.levels)]
    above = [None, *(level.name for level in tree.levels)]
    return [
        {"level": level.name, "in": within, "count": level.count // count}
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
