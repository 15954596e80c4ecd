"""How long devices take for requests, as estimates need it."""

from __future__ import annotations

import math

from resilver.analytic.of_devices import device_seconds
from resilver.analytic.of_groups import rebuild_fraction
from resilver.estimate.streams import strip_bytes
from resilver.spec import System, Traffic
from resilver.spec.device import DeviceService


def operations_per_second(system: System, traffic: Traffic) -> float:
    """Requests a second of which the metadata servers do their share."""
    cluster = system.cluster
    servers = cluster.metadata_servers(traffic.metadata)
    kinds = cluster.device_kinds
    devices = [kinds[cluster.kind_of[number]].device for number in servers]
    rates = [device.rates for device in devices if isinstance(device, DeviceService)]
    of_kinds = [(one.share, one.operation["kind"]) for one in traffic.classes if one.operation]
    seconds = max(sum(share / of.get(kind, math.inf) for share, kind in of_kinds) for of in rates)
    used = min(traffic.directories or len(servers), len(servers))
    return used / seconds if seconds > 0 else math.inf


def device_shares(system: System, operations: float) -> tuple[float, float]:
    """Which share of their operations devices let streams do: with no rebuild, and beside one.

    Args:
        system: The system, which has streams.
        operations: Operations a second on stripes, as far as the network lets them through.

    Returns:
        Both shares; of groups of servers, whose rates the analytic model holds to devices, 1.
    """
    wanted = _wanted(system, operations)
    if system.stripe_groups or not wanted:
        return 1.0, 1.0
    most = _busiest(system)
    beside = min(most, 1.0 - _rebuild_share(system, wanted))
    return min(1.0, most / wanted), min(1.0, beside / wanted)


def rebuild_seconds(system: System, bytes_to_move: float, operations: float) -> float:
    """How long devices take for a rebuild beside streams: by its lane, and by what these leave.

    Args:
        system: The system, which has streams.
        bytes_to_move: What is gathered for it.
        operations: Operations a second on stripes, as far as the network lets them through.
    """
    code, devices = system.code, max(system.server_count, 1)
    buffer = min(strip_bytes(system), float(system.recovery.pipeline_buffer))
    if not buffer:
        return 0.0
    gathered = 1 if code is None else code.repair_pieces
    each = device_seconds(system, buffer, is_read=True)
    each += device_seconds(system, buffer, is_read=False) / gathered
    share = _rebuild_share(system, _wanted(system, operations))
    return bytes_to_move / buffer * each / devices / share


def _rebuild_share(system: System, wanted: float) -> float:
    """The share of devices that a rebuild has, of which streams want so much."""
    fraction = rebuild_fraction(system)
    # Where no lane says it, the queue is shared alike.
    lane = 0.5 if fraction is None else fraction
    return max(lane, 1.0 - min(wanted, _busiest(system)), 0.01)


def _wanted(system: System, operations: float) -> float:
    """How busy operations on stripes would keep devices, if these could do them all."""
    return operations * _operation_seconds(system) / max(system.server_count, 1)


def _busiest(system: System) -> float:
    """How busy a window of operations keeps devices, which it meets at random.

    Of n devices alike with m requests among them one works m / (m + n - 1) of the time (J. Buzen,
    "Computational algorithms for closed queueing networks", 1973).
    """
    traffic, devices = system.traffic, system.server_count
    if traffic is None or traffic.streams is None:
        return 1.0
    entries = max(system.cluster.fabric.router_count, 1)
    under_way = entries * traffic.streams.window * pieces_touched(system)
    return under_way / (under_way + max(devices - 1, 0))


def pieces_touched(system: System) -> float:
    """How many devices an operation on a stripe asks, in the mean of reads and writes.

    Args:
        system: The system, which has streams.
    """
    reads = system.traffic.read_share if system.traffic is not None else 1.0
    data = 1 if system.code is None else system.code.data
    return reads * data + (1.0 - reads) * (system.copies or 1)


def _operation_seconds(system: System) -> float:
    """What an operation on a stripe takes of all devices together, in the mean."""
    traffic, code, strip = system.traffic, system.code, strip_bytes(system)
    reads = traffic.read_share if traffic is not None else 1.0
    data = 1 if code is None else code.data
    reading = data * device_seconds(system, strip, is_read=True)
    writing = (system.copies or 1) * device_seconds(system, strip, is_read=False)
    return reads * reading + (1.0 - reads) * writing
