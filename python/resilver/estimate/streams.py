"""What streams of stripes are expected to do in a run, before it is run.

Good to a factor of two, as the rest of an estimate.
"""

from __future__ import annotations

import math

from resilver.analytic import Rates, code_figures, server_rates
from resilver.analytic.of_groups import rebuild_fraction, server_bandwidth, summed_rates
from resilver.estimate.population import population_of
from resilver.spec import ErasureCode, System
from resilver.spec.serving import packets_of


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
    bandwidth = server_bandwidth(system, strip_bytes(system))
    # What is read leaves by the entries, and what is written comes in there, a port at each.
    entered = entries * bandwidth / system.cluster.port_count
    if system.stripe_groups:
        rebuilding = [fault.corrupt for fault in system.faults if fault.corrupt is not None]
        fraction = rebuild_fraction(system)
        rates = summed_rates(system, code, rebuilding, 0.5 if fraction is None else fraction)
        return Rates(min(rates.read, entered), min(rates.write, entered), rates.rebuild)
    offered = math.inf if streams.rate is None else float(streams.rate) * entries
    one = server_rates(
        server_bandwidth(system, strip_bytes(system)),
        code_figures(code.label),
        reads=traffic.read_share,
    )
    moved = one.times(system.server_count)
    share = min(1.0, offered / max(moved.read + moved.write, 1.0))
    return Rates(min(moved.read * share, entered), min(moved.write * share, entered), 0.0)


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
