"""What a run of a system will cost, before it is run."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

from resilver.estimate.network import network_bytes, network_of
from resilver.estimate.population import population_of
from resilver.estimate.traffic import hops_of_buffers, served
from resilver.importers.ceph import ClusterReport
from resilver.spec import System
from resilver.spec.failing import part_names
from resilver.spec.faults import Broken
from resilver.spec.tree import Side, Tree, plural


def failed_count(system: System) -> float:
    """About how many devices of all have their data made anew; a failure domain has an even share.

    On RAID sets these are no more than the spares of the part that members are dealt over: where
    an enclosure goes, its spares go with it, and its sets go on without their members.
    """
    tree, placement = system.cluster.tree, system.placement
    told = sorted(
        ((fault.at, broken) for fault in system.faults if (broken := fault.broken) is not None),
        key=lambda one: one[0],
    )
    breaking = [broken for _, broken in told if broken.is_told]
    if tree is not None and placement is not None and placement.algorithm == "sets":
        side = tree.side(placement.level or "")
        if side is not None:
            return _onto_spares(tree, side, breaking)
    return sum(_lost_with(system, broken) for broken in breaking)


def _lost_with(system: System, broken: Broken) -> float:
    """How many devices that hold data are gone with what breaks."""
    targets, tree = broken.targets, system.cluster.tree
    count = targets if isinstance(targets, int) else len(targets)
    if tree is None:
        return 0.0
    level = tree.level_of(plural(broken.level)) or tree.device_level
    if isinstance(targets, int) or not tree.lost_with_one(level):
        return float(count * tree.lost_with_one(level))
    # Of those that are named it is known whether they hold anything.
    only = system.placement.only_class if system.placement is not None else None
    holds = system.cluster.is_of_class(only)
    names = part_names(system.cluster, broken.level)
    held = sum(holds[number] for name in targets for number in names[name])
    return held * tree.devices / max(system.holder_count, 1)


def _onto_spares(tree: Tree, side: Side, breaking: list[Broken]) -> float:
    """How many devices of RAID sets are made anew on spares, one failure behind another."""
    hand = tree.devices // (side.scopes * side.hands)
    members = {one for number in range(side.count) for one in tree.members(side.name, number)}
    free = {
        first: [one for one in range(first, first + hand) if one not in members]
        for first in range(0, tree.devices, hand)
    }
    gone: set[int] = set()
    made = 0
    for broken in breaking:
        lost = [one for one in _devices_of(tree, broken) if one not in gone]
        gone.update(lost)
        for device in lost:
            spares = free[device - device % hand]
            if device in spares:
                spares.remove(device)
        for device in lost:
            spares = free[device - device % hand]
            if device in members and spares:
                spares.pop(0)
                made += 1
    return made * tree.devices / max(len(members), 1)


def _devices_of(tree: Tree, broken: Broken) -> list[int]:
    """The devices that go with what breaks; of a number of parts, such as stand evenly apart."""
    level = tree.level_of(plural(broken.level)) or tree.device_level
    if not tree.lost_with_one(level):
        return []
    count, targets = tree.count(level) or 1, broken.targets
    if isinstance(targets, int):
        numbers = [one * count // targets for one in range(min(targets, count))]
    else:
        numbers = [int(name.rpartition(".")[2]) for name in targets]
    return sorted({one for number in numbers for one in tree.members(level, number)})


# Processor time of one thread, measured over whole runs of the studies that ship on two cores of an
# AMD EPYC: events and replicas of 64 servers, chunked and striped, told apart by least squares; the
# rest from scans of 64 and of 1,024 servers. A core that others use as well takes about twice as
# long, so what is told lies between the two, within a factor of two of both.
_SHARED = 1.5
_SECONDS_PER_EVENT = 2.0e-8
_SECONDS_PER_REPLICA = 4.1e-7
# A packet's hop over a link, and what a request of a client, or a piece of one that streams make of
# objects, takes beside its packets.
_SECONDS_PER_PACKET_HOP = 7.0e-8
_SECONDS_PER_REQUEST = 1.0e-6
# A device with its ports and its way, or a client, of a system that is built to try a request.
_SECONDS_PER_BUILT = 3.0e-7
# A buffer is asked for, read and sent, where it is not in the same machine; what is made of those
# that are gathered is decoded, where there is a code, and written. Its events are the same wherever
# it goes.
_EVENTS_PER_BUFFER = 4
_EVENTS_PER_BUFFER_SENT = 2
# What a buffer takes more or less that another than its destination makes: a source has its own
# part, and needs no request for that.
_EVENTS_PER_BUFFER_DRIVEN = {"destination": 0, "source": -1, "manager": 4}
_SECONDS_PER_FILE = 1.0e-9
# To pass over an object where placement groups or a ring's inverse tell that it is not affected,
# and to find the old and new homes of one that is.
_SECONDS_PER_OBJECT_PASSED = 2.0e-9
_SECONDS_PER_OBJECT_FOUND = 2.0e-7
# Of layouts without an inverse, the time to place an object.
_SECONDS_PER_OBJECT_PLACED = {
    "multi_ring": 1.0e-7,
    "rendezvous": 2.5e-7,
    "xor": 9.0e-8,
    "modulo": 1.2e-8,
    "jump": 1.0e-7,
    "declustered": 2.0e-8,
    "copysets": 2.0e-8,
    "groups": 3.0e-8,
    "sets": 1.2e-8,
}
_BIDS_PER_SECOND = 1.9e9
_DRAWS_PER_SECOND = 1.1e9
# To place a group, and to look which of its devices failed; and an object, beside its draws.
_SECONDS_PER_GROUP = 4.5e-7
_SECONDS_PER_OBJECT_DRAWN = 2.0e-7
_BYTES_PER_GROUP_AND_COPY = 4
# In one flat bucket a screen settles most objects; an affected one is placed several times. A
# bucket that is a ring of virtual nodes looks its copies up, in a table of 8 KiB a device: so long
# for each doubling from 16 devices on, as fewer of its points are in a cache.
_SECONDS_PER_OBJECT_SCREENED = 8.0e-8
# The pieces of a code make further attempts in rounds, which are looked at one by one.
_SECONDS_PER_PIECE_SCREENED = 1.0e-7
_SECONDS_PER_OBJECT_LOOKED_UP = 1.4e-7
_SECONDS_PER_OBJECT_PLACED_AGAIN = 3.0e-6
_DEVICES_SCREENED = 32
# A message by which devices find out what failed.
_SECONDS_PER_DETECTION_MESSAGE = 3.0e-7
_SECONDS_TO_START = 0.1
_BYTES_TO_START = 135e6
_BYTES_PER_PULL = 90
_BYTES_PER_BUFFER_HELD = 96


def estimate(system: System) -> dict[str, Any]:
    """What one run of a system is expected to cost.

    Returns:
        ``objects`` to look through, ``replicas_to_move`` (pieces under a code), ``bytes_to_move``
        (all that is gathered for them), ``buffers``,
        ``requests`` of clients, ``packet_hops`` (None where the fabric sends no packets),
        ``events``, ``seconds`` of wall time, the ``rebuilding_seconds`` among them, or of traffic
        alone the ``serving_seconds`` (else None), and ``memory_bytes`` at the peak. Counts are
        expectations; times are good to a factor of two, on one processor. A later fault counts as
        if what failed before it were rebuilt by then.
    """
    if system.report is not None:
        return cluster_cost(system, system.report)
    if system.pools:
        return _summed([estimate(pool) for pool in system.of_pools], _detecting_seconds(system))
    files, objects, volume, buffers = population_of(system)
    devices = max(system.server_count, 1)
    copies = system.copies or 0.0
    share = min(1.0, failed_count(system) / devices)
    replicas = objects * copies * share
    code = system.code
    # Under a code a piece is a part of the object, and several survivors make one anew.
    gathered = 1 if code is None else code.repair_pieces
    moved = volume * copies * share * gathered / (1 if code is None else code.data)
    buffers *= copies * share * gathered
    recovery = system.recovery
    drivers = recovery.managers or devices
    held = min(buffers, drivers * int(recovery.receive_memory) / int(recovery.pipeline_buffer))
    moving, moving_bytes = _moving(system, buffers, replicas, moved)
    placing = 0.0 if system.is_traffic_only else _placing_seconds(system, objects, devices, copies)
    groups = 0.0 if system.is_traffic_only else float(system.placement_group_count or 0)
    seconds = _SHARED * (
        _SECONDS_TO_START
        + _detecting_seconds(system)
        + files * _SECONDS_PER_FILE
        + placing
        + replicas * _finding_seconds(system)
        + moving["seconds"]
    )
    phase = "serving" if system.is_traffic_only else "rebuilding"
    return {
        "objects": round(objects),
        "replicas_to_move": round(replicas),
        "bytes_to_move": round(moved),
        "buffers": round(buffers),
        "requests": moving["requests"],
        "packet_hops": moving["packet_hops"],
        "events": moving["events"],
        "seconds": seconds,
        "rebuilding_seconds": _SHARED * moving["seconds"] if phase == "rebuilding" else None,
        "serving_seconds": _SHARED * moving["seconds"] if phase == "serving" else None,
        "memory_bytes": round(
            _BYTES_TO_START
            + groups * copies * _BYTES_PER_GROUP_AND_COPY
            + replicas * _BYTES_PER_PULL
            + held * _BYTES_PER_BUFFER_HELD
            + moving_bytes
        ),
    }


def _detecting_seconds(system: System) -> float:
    """What it takes to find out what fails: faults of one time are found out together."""
    if system.detection is None:
        return 0.0
    messages = system.detection.messages(system.server_count)
    return (
        len({fault.at for fault in system.faults if fault.waits})
        * messages
        * _SECONDS_PER_DETECTION_MESSAGE
    )


def _summed(pools: list[dict[str, Any]], detecting: float) -> dict[str, Any]:
    """The cost of all pools together: that of each, but for what it takes to begin."""
    summed: dict[str, Any] = {}
    for name in pools[0]:
        known = [pool[name] for pool in pools if pool[name] is not None]
        summed[name] = sum(known) if known else None
    more = len(pools) - 1
    summed["seconds"] -= more * _SHARED * (_SECONDS_TO_START + detecting)
    summed["memory_bytes"] -= round(more * _BYTES_TO_START)
    return summed


def _moving(
    system: System, buffers: float, replicas: float, moved: float
) -> tuple[dict[str, Any], float]:
    """What happens while simulated time goes on: counts and wall time; and memory for it."""
    gathered, written = (1, 1) if system.code is None else (system.code.repair_pieces, 2)
    sent = 0 if system.cluster.machine_count == 1 else _EVENTS_PER_BUFFER_SENT
    driver = system.recovery.driver
    made = written + _EVENTS_PER_BUFFER_DRIVEN[driver]
    events = buffers * (_EVENTS_PER_BUFFER + sent + made / gathered)
    seconds = events * _SECONDS_PER_EVENT + replicas * _SECONDS_PER_REPLICA
    network = network_of(system)
    clients = served(system, network, moved)
    hops = memory = 0.0
    if network is not None:
        passes = 1 + 1 / gathered if driver == "manager" else 1.0
        hops = passes * hops_of_buffers(system, network, buffers, moved)
        memory += network_bytes(network)
    if clients is not None:
        hops += clients.packet_hops
        memory += clients.memory_bytes
        events += clients.events
        seconds += max(clients.requests, clients.pieces) * _SECONDS_PER_REQUEST
        seconds += clients.built * _SECONDS_PER_BUILT
    events += hops
    return {
        "requests": None if clients is None else round(clients.requests),
        "packet_hops": None if network is None else round(hops),
        "events": round(events),
        "seconds": seconds + hops * _SECONDS_PER_PACKET_HOP,
    }, memory


def _placing_seconds(system: System, objects: float, devices: int, copies: float) -> float:
    """Time to place the groups and to look through the objects."""
    groups = system.placement_group_count
    algorithm = _algorithm(system)
    draws = copies * _choices(system, devices) if algorithm == "crush" else copies
    if groups is not None:
        looking = objects * _SECONDS_PER_OBJECT_PASSED
        return groups * (_SECONDS_PER_GROUP + draws / _DRAWS_PER_SECOND) + looking
    if algorithm == "ring":
        return objects * _SECONDS_PER_OBJECT_PASSED
    if algorithm == "rendezvous":
        bids = devices / _BIDS_PER_SECOND
        return objects * (_SECONDS_PER_OBJECT_PLACED[algorithm] + bids)
    if algorithm in _SECONDS_PER_OBJECT_PLACED:
        return objects * _SECONDS_PER_OBJECT_PLACED[algorithm]
    if system.placement is not None and system.placement.bucket == "vring":
        return objects * _SECONDS_PER_OBJECT_LOOKED_UP * max(math.log2(max(devices, 1) / 16), 1.0)
    placing = objects * (_SECONDS_PER_OBJECT_DRAWN + draws / _DRAWS_PER_SECOND)
    is_flat = system.cluster.tree is not None and len(system.cluster.tree.levels) == 1
    if is_flat and devices >= _DEVICES_SCREENED:
        if system.code is not None:
            return min(placing, objects * copies * _SECONDS_PER_PIECE_SCREENED)
        return min(placing, objects * _SECONDS_PER_OBJECT_SCREENED)
    return placing


def _choices(system: System, devices: int) -> float:
    """Among how many items CRUSH draws for a copy: those of one bucket of each level."""
    tree = system.cluster.tree
    counts = [level.count for level in tree.levels] if tree is not None else [devices]
    return sum(here / above for above, here in pairwise([1, *counts]))


def _finding_seconds(system: System) -> float:
    """Time to find the homes of one affected object."""
    is_placed_again = system.placement_group_count is None and _algorithm(system) == "crush"
    return _SECONDS_PER_OBJECT_PLACED_AGAIN if is_placed_again else _SECONDS_PER_OBJECT_FOUND


def _algorithm(system: System) -> str:
    return system.placement.algorithm if system.placement is not None else "crush"


# Measured over failures of an OSD, a host and two hosts of a cluster of 4,096 PGs on two cores of
# an AMD EPYC: what a PG takes, and what a copy or shard of one takes that heals. The answer's own
# run and the six with one thing relaxed take about the same.
_RUNS = 7
_SECONDS_PER_PG = 2.0e-5
_SECONDS_PER_SHARD = 3.2e-4
_BYTES_PER_PG = 1e4


def cluster_cost(system: System, report: ClusterReport) -> dict[str, Any]:
    """What a run of a real cluster is expected to cost, as `resilver.estimate.estimate` says it."""
    share = min(1.0, failed_count(system) / max(system.server_count, 1))
    of_pool = {pool.id: pool for pool in report.pools}
    objects = replicas = moved = 0.0
    for load in report.loads:
        pool = of_pool[load.pool]
        data = pool.data_pieces or 1
        objects += load.objects
        replicas += load.objects * pool.size * share
        moved += load.bytes * pool.size / data * share
    groups = sum(pool.pg_num for pool in report.pools)
    shards = sum(pool.pg_num * pool.size for pool in report.pools) * share
    healing = _RUNS * (groups * _SECONDS_PER_PG + shards * _SECONDS_PER_SHARD)
    return {
        "objects": round(objects),
        "replicas_to_move": round(replicas),
        "bytes_to_move": round(moved),
        "buffers": 0,
        "requests": None,
        "packet_hops": None,
        "events": 0,
        "seconds": _SECONDS_TO_START + healing,
        "rebuilding_seconds": healing,
        "serving_seconds": None,
        "memory_bytes": round(_BYTES_TO_START + groups * _BYTES_PER_PG),
    }
