"""What streams of stripes are expected to do: by the analytic model, and in a run's cost.

Good to a factor of two, as the rest of an estimate.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from resilver.analytic import Rates, code_figures, payload_rate, server_rates
from resilver.estimate.population import population_of
from resilver.spec import ErasureCode, System
from resilver.spec.serving import packets_of

if TYPE_CHECKING:
    from resilver.spec.corrupt import Corrupt


def analytic_rates(system: System) -> Rates | None:
    """What the analytic model says of streams over groups, summed over all groups.

    Returns:
        The rates; None where there are no such streams, or the model has no figure: with bursts,
        where devices share ports, or where rebuilds begin late, end by themselves, or share their
        ports without lanes.
    """
    code, groups = system.code, system.stripe_groups
    if not groups or code is None or system.has_bursts:
        return None
    # The formulas give each server ports of its own.
    if system.cluster.machine_count != system.server_count:
        return None
    faults = [fault for fault in system.faults if fault.corrupt is not None]
    warm_up = system.traffic.warm_up_seconds if system.traffic is not None else 0.0
    fraction = rebuild_fraction(system)
    if faults and fraction is None:
        return None
    if any(fault.at > warm_up for fault in faults):
        return None
    rebuilding = [fault.corrupt for fault in faults if fault.corrupt is not None]
    if any(corrupt.strips is not None for corrupt in rebuilding):
        return None
    return _summed(system, code, rebuilding, fraction or 0.0)


def stream_bytes_per_second(system: System) -> Rates:
    """About what streams move in a second, all servers and entries together.

    Args:
        system: The system, which has streams.

    Returns:
        User data read and written, and strips made anew.
    """
    traffic, streams, code = system.traffic, system.streams, _code(system)
    if traffic is None or streams is None:
        return Rates(0.0, 0.0, 0.0)
    entries = max(system.cluster.fabric.router_count, 1)
    # What is read leaves by the entries, and what is written comes in there, a port at each.
    entered = entries * server_bandwidth(system) / system.cluster.port_count
    if system.stripe_groups:
        rebuilding = [fault.corrupt for fault in system.faults if fault.corrupt is not None]
        fraction = rebuild_fraction(system)
        rates = _summed(system, code, rebuilding, 0.5 if fraction is None else fraction)
        return Rates(min(rates.read, entered), min(rates.write, entered), rates.rebuild)
    offered = math.inf if streams.rate is None else float(streams.rate) * entries
    one = server_rates(server_bandwidth(system), code_figures(code.label), reads=traffic.read_share)
    moved = one.times(system.server_count)
    share = min(1.0, offered / max(moved.read + moved.write, 1.0))
    return Rates(min(moved.read * share, entered), min(moved.write * share, entered), 0.0)


def server_bandwidth(system: System) -> float:
    """What all ports of a server pass in one direction, in B/s of a strip's data.

    Args:
        system: The system, which has streams.
    """
    fabric, strip = system.cluster.fabric, max(round(strip_bytes(system)), 1)
    if fabric.topology is None:
        return system.cluster.port_count * strip / port_seconds(system, strip)
    rates = fabric.link_rates
    rate = sum(rates) / len(rates) if rates else float(fabric.link_rate or 0)
    packet, overhead = int(fabric.packet_size or strip), int(fabric.packet_overhead or 0)
    return system.cluster.port_count * payload_rate(rate, strip, packet, overhead)


def port_seconds(system: System, size: int) -> float:
    """How long a message keeps a port of a LogGP fabric busy.

    Args:
        system: The system, whose fabric is no switched one.
        size: The message's bytes.
    """
    fits = [row for row in system.loggp_rows if row.size_bytes > size]
    row = fits[0] if fits else system.loggp_rows[-1]
    return max(float(row.gap_seconds) + size * float(row.gap_per_byte_seconds), 1e-12)


def packets_of_stripes(system: System, rates: Rates, between: float, entry: float) -> float:
    """How often a packet is sent over a link in a second of streams.

    Args:
        rates: What moves, as `stream_bytes_per_second` says.
        between: Mean hops between servers.
        entry: Mean hops between a server and an entry.
    """
    code, strip = _code(system), strip_bytes(system)
    if strip == 0:
        return 0.0
    packets = packets_of(system.cluster, strip)
    # Beside each strip goes a message that asks for it or acknowledges it.
    each = packets + 1
    stripe = code.data * strip
    reads, writes = rates.read / stripe, rates.write / stripe
    hops = reads * ((code.data - 1) * between + code.data * entry)
    hops += writes * ((code.pieces - 1) * between + code.data * entry)
    return each * (hops + rates.rebuild / strip * code.repair_pieces * between)


def stripes_per_second(system: System, rates: Rates) -> float:
    """Operations in a second of streams: stripes read and written, and strips made anew.

    Args:
        rates: What moves, as `stream_bytes_per_second` says.
    """
    code, strip = _code(system), strip_bytes(system)
    if strip == 0:
        return 0.0
    return (rates.read + rates.write) / (code.data * strip) + rates.rebuild / strip


def strip_bytes(system: System) -> float:
    """One device's part of a stripe; of objects that are placed, a mean one's piece.

    Args:
        system: The system, which has streams.
    """
    redundancy = system.redundancy
    if system.stripe_groups:
        return float(redundancy.strip or 0) if redundancy is not None else 0.0
    _, objects, volume, _ = population_of(system)
    return volume / objects / _code(system).data if objects else 0.0


def strips_in_place(system: System) -> float:
    """Bytes of the strips that soft errors have servers make anew, where they say how many."""
    redundancy, groups = system.redundancy, system.stripe_groups
    if not groups or redundancy is None or redundancy.strip is None:
        return 0.0
    total = 0
    for fault in system.faults:
        corrupt = fault.corrupt
        if corrupt is not None and corrupt.strips is not None:
            count = corrupt.groups if isinstance(corrupt.groups, int) else len(corrupt.groups)
            total += count * len(groups[0]) * corrupt.strips
    return float(total * int(redundancy.strip))


def _code(system: System) -> ErasureCode:
    """The code of stripes; copies are one of a single piece of data."""
    return system.code or ErasureCode("copies", 1, (system.copies or 1) - 1)


def _summed(system: System, code: ErasureCode, rebuilding: list[Corrupt], fraction: float) -> Rates:
    """The rates of all groups: those that rebuild share their servers, the others do not."""
    traffic, streams = system.traffic, system.streams
    size = len(system.stripe_groups[0])
    bandwidth, figures = server_bandwidth(system), code_figures(code.label)
    reads = traffic.read_share if traffic is not None else 1.0
    offered = float(streams.rate) if streams is not None and streams.rate is not None else None
    total = Rates(0.0, 0.0, 0.0)
    quiet = len(system.stripe_groups)
    for corrupt in rebuilding:
        count = corrupt.groups if isinstance(corrupt.groups, int) else len(corrupt.groups)
        other = code_figures((corrupt.code or code).label)
        one = server_rates(
            bandwidth,
            figures,
            reads=reads,
            rebuild_code=other,
            rebuild_fraction=fraction,
            offered=offered,
        )
        total += one.times(count * size)
        quiet -= count
    one = server_rates(bandwidth, figures, reads=reads, offered=offered)
    return total + one.times(max(quiet, 0) * size)


def rebuild_fraction(system: System) -> float | None:
    """What rebuilds have of a port that clients use as well; None where no lane says it."""
    lanes = system.lanes
    if lanes is None:
        return None
    if lanes.order == "priority":
        return 0.0 if lanes.priority.index(0) < lanes.priority.index(1) else 1.0
    clients, rebuild, _ = lanes.shares_with(bursts=system.has_bursts)
    # What bursts would have is lent to the others in proportion to their shares.
    return rebuild / (clients + rebuild) if clients + rebuild > 0 else None
