"""The whole of a system in the core's words, and what is stored in it."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any

from resilver.core_input.faults import failed_json, faults_json
from resilver.core_input.network import devices_json, entries, fabric_json, traffic_json
from resilver.core_input.ports import devices, endpoints, machine_endpoints, passing, ports_of
from resilver.crush import Pool
from resilver.errors import ConfigError
from resilver.spec import Placement, Population, Streams, System
from resilver.spec.grouping import sets_of
from resilver.spec.jobs import Job
from resilver.spec.software import Software
from resilver.units import BytesPerSecond

# What of the recovery the core calls its policy.
_POLICY = {
    "pipeline_buffer",
    "pipelining",
    "receive_memory",
    "send_memory",
    "control_message",
    "bandwidth",
}


def core_json(system: System, seed: int, failed: Collection[int] | None = None) -> str:
    """The system as the native module reads it.

    Args:
        seed: The key of every random draw.
        failed: The numbers of devices that fail at time zero, in place of the system's faults.

    Returns:
        JSON text: sizes in bytes, times in seconds.

    Raises:
        ConfigError: The system is a real cluster, or a pool has nothing to store.
    """
    check_synthetic(system)
    recovery, detection = system.recovery, system.detection
    endpoint_of = endpoints(system)
    machines = machine_endpoints(system, endpoint_of)
    metadata = set(system.cluster.metadata_servers())
    every = [device.number for device in devices(system)]
    # Servers of metadata hold no data; where there are no others, nobody asks for any.
    numbers = [number for number in every if number not in metadata] or every
    return json.dumps(
        {
            "seed": seed,
            "endpoint_of": endpoint_of,
            "ports_of": ports_of(system),
            "devices": {**devices_json(system), "passing": passing(system)},
            "fabric": fabric_json(system),
            "traffic": [
                {**described, "pool": None if system.traffic else number}
                for number, pool in enumerate((system,) if system.traffic else system.of_pools)
                if (described := traffic_json(pool, machines, numbers)) is not None
            ],
            "faults": faults_json(system) if failed is None else failed_json(system, failed),
            "detection": detection.content() if detection and failed is None else None,
            "redundancy": redundancy_json(system) if system.is_traffic_only else None,
            "lanes": lanes_json(system),
            "streams": streams_json(system, entries(system, machines)),
            "policy": {
                **recovery.model_dump(mode="json", include=_POLICY),
                "driver": {"managers": recovery.managers} if recovery.managers else recovery.driver,
                "software": (recovery.software or Software()).model_dump(mode="json"),
            },
            "retry": {"after": recovery.retry_after, "attempts": recovery.attempts},
            "source": recovery.source,
            "order": recovery.order,
            "pools": [] if system.is_traffic_only else _pools(system),
        }
    )


def check_synthetic(system: System) -> None:
    """Refuse a real cluster: its PGs are healed by `resilver.whatif`, and its objects have names.

    Raises:
        ConfigError: The system is a real cluster.
    """
    if system.report is not None:
        rule = "this is asked of a synthetic cluster's objects, and a real cluster's have names"
        remedy = "use affected_groups or group_sets for its PGs"
        raise ConfigError(rule, remedy, key="cluster.ceph")


def _domain_count(system: System) -> int | None:
    """How many failure domains there are, neighbours in each; None where nothing is placed."""
    domain, tree = system.failure_domain, system.cluster.tree
    return None if domain is None or tree is None else tree.count(domain)


def _pools(system: System) -> list[dict[str, Any]]:
    """What is stored in each pool, where and how."""
    described = []
    maps = 0
    for pool in system.of_pools:
        if pool.population is None:
            raise ConfigError("population needs bytes_per_server, bytes or files")
        placement = _placement(pool, maps)
        maps += "crush" in placement
        described.append(
            {
                "groups": pool.placement_group_count,
                "domains": _domain_count(pool),
                "placement": placement,
                "population": files_json(pool.population, pool.holder_count, pool.copies or 1),
                "redundancy": redundancy_json(pool),
            }
        )
    return described


def _placement(system: System, map_number: int) -> dict[str, Any]:
    """Where the pieces of a pool go; by CRUSH, by the map of this number."""
    placement, copies = system.placement, system.copies
    if placement is not None and placement.algorithm == "ring":
        walk = {"points": placement.ring_points, "walk": placement.ring_walk}
        return {"ring": {"copies": copies, **walk}}
    if placement is not None and placement.algorithm != "crush":
        return {"layout": {"copies": copies, "kind": _layout(system, placement)}}
    groups = system.placement_group_count or 1
    pool = Pool(
        id=system.pool_number,
        name="objects",
        pg_num=groups,
        pgp_num=groups,
        size=copies or 1,
        rule_id=0,
        kind="replicated" if system.code is None else "erasure",
    )
    by_group = len(system.failure_domains) > 1
    return {"crush": {"map": map_number, "pool": pool.to_core(), "by_group": by_group}}


def _layout(system: System, placement: Placement) -> dict[str, Any]:
    """A layout's name with its keys, which are those of the study file."""
    if placement.algorithm == "sets":
        return {"sets": _sets(system, placement)}
    own = placement.own_keys()
    return {placement.algorithm: {key: None if own[key] == "auto" else own[key] for key in own}}


def _sets(system: System, placement: Placement) -> dict[str, Any]:
    """The members of the sets that are used, and whose spares each device is."""
    tree, level = system.cluster.tree, placement.level or ""
    side = tree.side(level) if tree is not None else None
    if tree is None or side is None:
        return {"sets": [], "pool_of": []}
    hand = tree.devices // (side.scopes * side.hands)
    return {
        "sets": [list(tree.members(level, number)) for number in sets_of(tree, placement)],
        # The spares of a part that members are dealt over are its own members'.
        "pool_of": [device // hand for device in range(tree.devices)],
    }


def files_json(population: Population, servers: int, copies: int) -> dict[str, Any]:
    """A population of files as the native module reads it.

    Args:
        population: What is stored.
        servers: How many servers there are, for a volume a server and for stripe widths that follow
            the servers.
        copies: Copies of each object, for such stripe widths.

    Returns:
        A JSON-able dictionary, sizes in bytes.
    """
    cut = population.cut
    objects: str | dict[str, Any] = "whole"
    if cut.chunk_bytes is not None:
        objects = {"chunked": {"chunk": int(cut.chunk_bytes)}}
    elif cut.stripe_unit_bytes is not None:
        unit, width = int(cut.stripe_unit_bytes), cut.width(servers, copies)
        objects = {"striped": {"unit": unit, "width": width}}
    extent = {"files": population.files}
    if population.files is None:
        extent = {"volume": population.volume_bytes(servers)}
    bins = [(int(one.min_bytes), int(one.max_bytes), one.file_count) for one in population.bins]
    return {"histogram": bins, "decomposition": objects, "extent": extent}


def redundancy_json(system: System) -> dict[str, Any] | None:
    """The code as the native module reads it; None for copies that are pulled whole."""
    redundancy = system.redundancy
    if redundancy is None or redundancy.code is None:
        return None
    return {
        "code": redundancy.code.label,
        "strip": redundancy.strip,
        "coding": redundancy.coding_rate,
    }


def lanes_json(system: System) -> dict[str, Any] | None:
    """The lanes as the native module reads them; None where all classes share one queue."""
    lanes = system.lanes
    if lanes is None:
        return None
    order = {"priority": list(lanes.priority)} if lanes.order == "priority" else lanes.order
    shares = list(lanes.shares_with(bursts=system.has_bursts))
    return {"lanes": {"shares": shares, "order": order}, "devices": lanes.devices}


def streams_json(system: System, entries: Sequence[int]) -> dict[str, Any] | None:
    """The streams as the native module reads them; None without streams.

    Args:
        entries: The endpoints where clients enter.

    Returns:
        A JSON-able dictionary, sizes in bytes and times in seconds.
    """
    traffic = system.traffic
    if traffic is None or not traffic.is_striped:
        return None
    # Jobs are bursts beside streams that ask for nothing.
    streams = system.streams or Streams(rate=BytesPerSecond(0))
    groups = system.stripe_groups
    return {
        "over": {"groups": [list(group) for group in groups]} if groups else "placement",
        "entries": list(entries),
        "pairing": streams.entries,
        "window": streams.window,
        "rate": streams.rate,
        "read_share": traffic.read_share,
        "control": traffic.control_message,
        "bursts": streams.model_dump(mode="json")["bursts"],
        "jobs": [_job(job, entries) for job in traffic.jobs],
        "is_flow": traffic.engine == "flows",
        "warm_up": traffic.warm_up_seconds,
        "duration": traffic.duration,
    }


def _job(job: Job, entries: Sequence[int]) -> dict[str, Any]:
    signature = job.signature
    return {
        "entries": [entries[place] for place in job.places(len(entries))],
        "first": job.first_seconds,
        "period": signature.period,
        "length": signature.length,
        "volume": signature.volume,
        "read_share": signature.reads,
        "window": job.window,
    }
