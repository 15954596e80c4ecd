"""A system in the core's words: the JSON the native module reads, and what its numbers name."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from resilver.describe_network import devices_json, entries, fabric_json, traffic_json
from resilver.describe_parts import cut_off, gone_parts, passing
from resilver.describe_ports import machine_endpoints, ports_of
from resilver.describe_slow import SlowParts
from resilver.describe_streams import (
    ChooseFailed,
    corrupt_json,
    lanes_json,
    redundancy_json,
    streams_json,
)
from resilver.errors import ConfigError, Problem, show
from resilver.importers.ceph import PoolInfo
from resilver.spec import Placement, Population, System
from resilver.spec.slow import part_names


@dataclass(frozen=True)
class Device:
    """A device of the core by its number there.

    Attributes:
        number: The core's number: a server's number, or an OSD's id.
        name: Its name.
        host: The server or host it is in, whose network ports it shares.
    """

    number: int
    name: str
    host: str


def devices(system: System) -> list[Device]:
    """The devices of a system, by number; a real cluster's ids may have gaps."""
    report = system.report
    if report is None:
        tree = system.cluster.tree
        if tree is None:
            return []
        level, host = tree.device_level, tree.port_level
        return [
            Device(number, tree.name(level, number), tree.part_above(host, number))
            for number in range(tree.devices)
        ]
    return [Device(osd.id, osd.name, osd.host or osd.name) for osd in report.osds]


def failed_devices(system: System, seed: int, choose: ChooseFailed) -> dict[int, float]:
    """When each device that fails and is rebuilt does.

    Args:
        system: The system, whose faults name components or say how many.
        seed: The seed of the run, which decides where a fault says how many.
        choose: The core's draw.

    Returns:
        The times in seconds by the devices' numbers, which rise. A device fails once: at the
        earliest time that is named for it. Draws are made in the order of their times, and among
        the components of which no device fails by name, whenever that is, or by an earlier draw.

    Raises:
        ConfigError: Fewer components are left to draw from than a fault says.
    """
    # Faults at one time are taken in the order in which they are written.
    tree = system.cluster.tree
    told = [(index, fault) for index, fault in enumerate(system.faults) if fault.starts_rebuild]
    faults = sorted(told, key=lambda numbered: numbered[1].at)
    fails_at: dict[int, float] = {}
    if tree is not None and tree.sides:
        # What carries others has no device in it, and takes away what nobody carries after it.
        fails_at = cut_off(tree, gone_parts(system, seed, choose))
        faults = [one for one in faults if tree.carrier_of(one[1].failing.kind) is None]
        if len(fails_at) == tree.devices:
            rule = f"with seed {seed}, no device is left that anything carries"
            raise ConfigError(Problem(rule, "let fewer fail", key="faults"))
    for _, fault in faults:
        if not isinstance(fault.failing.targets, int):
            members = part_names(system.cluster, fault.failing.kind)
            for number in (number for name in fault.failing.targets for number in members[name]):
                fails_at.setdefault(number, float(fault.at))
    for index, fault in faults:
        targets = fault.failing.targets
        if isinstance(targets, int):
            # An OSD may go by two names, and is to be drawn once. What failed cannot fail again,
            # so a draw is among the components that still have all their devices.
            components = sorted(set(part_names(system.cluster, fault.failing.kind).values()))
            whole = [devices for devices in components if fails_at.keys().isdisjoint(devices)]
            if targets > len(whole):
                rule = f"with seed {seed}, {len(whole)} of them are left when this fault happens"
                key = f"faults.{index}.fail.{fault.failing.kind}"
                raise ConfigError(
                    Problem(rule, "let fewer fail, or name them", key=key, value=show(targets))
                )
            chosen = choose(seed, index, len(whole), targets)
            for number in (number for component in chosen for number in whole[component]):
                fails_at[number] = float(fault.at)
    return dict(sorted(fails_at.items()))


def core_json(
    system: System,
    seed: int,
    failed: Collection[int],
    network_faults: Sequence[Mapping[str, Any]] = (),
    corrupted: Mapping[int, Sequence[int]] | None = None,
    slow: Sequence[SlowParts] = (),
    gone: Mapping[str, float] | None = None,
) -> str:
    """The system as the native module reads it.

    Args:
        system: The system.
        seed: The key of every random draw.
        failed: The numbers of the devices that fail, at time zero or, in a mapping, at the seconds
            that it says.
        network_faults: The disks, links and switches that fail with nobody told, in the core's
            words: ``at_seconds``, ``repair_at_seconds`` and numbers of ``links``, ``nodes`` and
            ``disks``.
        corrupted: The groups that rebuild strips in place, by the place of their fault in the study
            file.
        slow: The parts whose devices are slow for a while.
        gone: When parts go that carry others, by their names.

    Returns:
        JSON text: sizes in bytes, times in seconds.
    """
    recovery = system.recovery
    endpoint_of = endpoints(system)
    machines = machine_endpoints(system, endpoint_of)
    numbers = [device.number for device in devices(system)]
    return json.dumps(
        {
            "seed": seed,
            "endpoint_of": endpoint_of,
            "ports_of": ports_of(system),
            "failed": list(failed),
            "fails_at_seconds": [
                failed[number] if isinstance(failed, Mapping) else 0.0 for number in failed
            ],
            "devices": {
                **devices_json(system, [parts.described() for parts in slow]),
                "passing": passing(system, gone or {}, slow),
            },
            "fabric": fabric_json(system),
            "traffic": traffic_json(system, machines, numbers),
            "network_faults": list(network_faults),
            "redundancy": redundancy_json(system),
            "lanes": lanes_json(system),
            "streams": streams_json(system, entries(system, machines)),
            "corrupt": corrupt_json(system, corrupted or {}),
            "recovery": {
                "pipeline_buffer": int(recovery.pipeline_buffer),
                "pipelining": recovery.pipelining,
                "receive_memory": int(recovery.receive_memory),
                "send_memory": int(recovery.send_memory),
                "control_message": int(recovery.control_message),
                "source": recovery.source,
                "order": recovery.order,
                "bandwidth_bytes_per_second": (
                    None if recovery.bandwidth is None else float(recovery.bandwidth)
                ),
                "retry_seconds": float(recovery.retry_after),
                "attempts": recovery.attempts,
            },
            "placement": None if system.is_traffic_only else _placement(system, failed),
            "population": None if system.is_traffic_only else _population(system),
        }
    )


def endpoints(system: System) -> list[int]:
    """The number of the network endpoint of every device number; OSDs of one host share one.

    It is the first port's where servers have several.
    """
    ports = ports_of(system)
    if ports:
        return [of_server[0] for of_server in ports]
    tree = system.cluster.tree
    if tree is not None:
        size = tree.size(tree.port_level)
        return [device // size for device in range(tree.devices)]
    known = devices(system)
    hosts: dict[str, int] = {}
    endpoint_of = [0] * (max((device.number for device in known), default=-1) + 1)
    for device in known:
        endpoint_of[device.number] = hosts.setdefault(device.host, len(hosts))
    return endpoint_of


def failure_domains(system: System) -> list[int] | None:
    """The failure domain of every server of a synthetic cluster.

    Returns:
        A number a server; None for a real cluster, whose rules say it.
    """
    domain, tree = system.failure_domain, system.cluster.tree
    if domain is None or tree is None:
        return None
    size = tree.size(domain)
    return [device // size for device in range(tree.devices)]


def _placement(system: System, failed: Collection[int]) -> dict[str, Any]:
    domain_of = failure_domains(system)
    described: dict[str, Any] = {"groups": system.placement_group_count, "domain_of": domain_of}
    report, placement = system.report, system.placement
    if report is not None:
        # An OSD whose failure is studied held its data until then, also where the report has it
        # down already: what it takes to mark it out is asked.
        lost = set(failed)
        is_up = [up or number in lost for number, up in enumerate(report.up_flags)]
        described["crush"] = {
            "reweight": report.reweights,
            "is_up": is_up,
            "affinity": report.affinities,
            "pools": [pool_json(pool) for pool in report.pools],
        }
    elif placement is not None and placement.algorithm not in ("crush", "ring"):
        described["layout"] = {
            "domain_of": domain_of,
            "copies": system.copies,
            "kind": {placement.algorithm: _layout(system, placement)},
        }
    elif placement is not None and placement.algorithm == "ring":
        described["ring"] = {
            "domain_of": domain_of,
            "points": placement.ring_points,
            "copies": system.copies,
            "successors": placement.ring_walk == "successors",
        }
    else:
        groups = system.placement_group_count or 1
        pool = PoolInfo(
            id=1,
            name="objects",
            pg_num=groups,
            pgp_num=groups,
            size=system.copies or 1,
            rule_id=0,
            hashpspool=True,
            kind="replicated" if system.code is None else "erasure",
        )
        described["crush"] = {
            "reweight": [0x10000] * system.server_count,
            "is_up": [True] * system.server_count,
            "affinity": [],
            "pools": [pool_json(pool)],
        }
    return described


def _layout(system: System, placement: Placement) -> dict[str, Any]:
    """What the core needs to know of a layout, beside its name and the failure domains."""
    match placement.algorithm:
        case "multi_ring":
            return {"rings": system.ring_count, "points": placement.ring_points}
        case "xor":
            return {"points": placement.ring_points}
        case "declustered":
            groups = placement.parity_groups
            return {"groups": None if groups == "auto" else groups}
        case "copysets":
            return {"scatter_width": placement.scatter_width}
        case "groups":
            return {
                "group_size": placement.group_size,
                "spare": placement.spare,
                "spares": placement.spares or 0,
            }
        case "sets":
            tree, level = system.cluster.tree, placement.level or ""
            side = tree.side(level) if tree is not None else None
            if tree is None or side is None:
                return {"sets": [], "pool_of": []}
            hand = tree.devices // (side.scopes * side.hands)
            return {
                "sets": [list(tree.members(level, number)) for number in range(side.count)],
                # The spares of a part that members are dealt over are its own members'.
                "pool_of": [device // hand for device in range(tree.devices)],
            }
        case _:
            return {}


def pool_json(pool: PoolInfo) -> dict[str, Any]:
    """A pool as the native module reads it."""
    return {
        "id": pool.id,
        "pg_num": pool.pg_num,
        "pgp_num": pool.pgp_num,
        "size": pool.size,
        "rule": pool.rule_id,
        "hashpspool": pool.hashpspool,
        "erasure": pool.kind == "erasure",
        "code": pool.code,
        "object_hash": pool.object_hash,
        "exceptions": asdict(pool.exceptions),
    }


def _population(system: System) -> dict[str, Any]:
    if system.report is not None:
        loads = system.group_loads
        return {
            "kind": "groups",
            "objects": [load.objects for load in loads],
            "bytes": [load.bytes for load in loads],
        }
    population = system.population
    if population is None:
        raise ConfigError("population needs bytes_per_server, bytes or files")
    return files_json(population, system.holder_count, system.copies or 1)


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
    objects: dict[str, Any] = {"kind": "whole"}
    if cut.chunk_bytes is not None:
        objects = {"kind": "chunked", "chunk": int(cut.chunk_bytes)}
    elif cut.stripe_unit_bytes is not None:
        unit, width = int(cut.stripe_unit_bytes), cut.width(servers, copies)
        objects = {"kind": "striped", "unit": unit, "width": width}
    extent = {"files": population.files}
    if population.files is None:
        extent = {"bytes": population.volume_bytes(servers)}
    return {
        "kind": "files",
        "bins": [[int(b.min_bytes), int(b.max_bytes), b.file_count] for b in population.bins],
        "objects": objects,
        "extent": extent,
    }
