"""What the analytic model says of a study's streams over groups of servers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from resilver.analytic.code_figures import code_figures
from resilver.analytic.of_devices import held_by_devices
from resilver.analytic.streams import Rates, payload_rate, server_rates
from resilver.spec import ErasureCode, System
from resilver.spec.tree import plural

if TYPE_CHECKING:
    from resilver.spec.corrupt import Corrupt


def analytic_rates(system: System) -> Rates | None:
    """What the analytic model says of streams over groups, summed over all groups.

    Returns:
        The rates; None where there are no such streams, or the model has no figure: with bursts,
        where devices share ports, where rebuilds begin late, end by themselves, or share their
        ports without lanes, and where servers fail that are not named or fail late.
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
    gone = _gone_by_group(system, warm_up)
    if gone is None or (any(gone) and any(isinstance(one.groups, int) for one in rebuilding)):
        return None
    return summed_rates(system, code, rebuilding, fraction or 0.0, gone)


def _gone_by_group(system: System, until: float) -> list[int] | None:
    """How many servers of each group are gone from some time on; None where nobody can say."""
    tree, told = system.cluster.tree, [one for one in system.faults if one.starts_rebuild]
    if told and (tree is None or system.detection is not None):
        return None
    gone: set[int] = set()
    for fault in told:
        broken = fault.broken
        if tree is None or broken is None or isinstance(broken.targets, int):
            return None
        known = fault.at if broken.detected is None else broken.detected
        if known > until or broken.until is not None:
            return None
        level = tree.level_of(plural(broken.level)) or tree.device_level
        for name in broken.targets:
            gone |= {*tree.members(level, int(name.rpartition(".")[2]))}
    return [sum(server in gone for server in group) for group in system.stripe_groups]


def summed_rates(
    system: System,
    code: ErasureCode,
    rebuilding: list[Corrupt],
    fraction: float,
    gone: Sequence[int] = (),
) -> Rates:
    """The rates of all groups: those that rebuild share their servers, the others do not.

    Args:
        rebuilding: What rebuilds; by number where servers are gone.
        fraction: What rebuilds have of a port that clients use as well.
        gone: How many servers of each group are gone, whose peers do as much as before.
    """
    traffic, streams = system.traffic, system.streams
    size = len(system.stripe_groups[0])
    strip = float(system.redundancy.strip or 0) if system.redundancy is not None else 0.0
    bandwidth, figures = server_bandwidth(system, strip), code_figures(code.label)
    reads = traffic.read_share if traffic is not None else 1.0
    offered = float(streams.rate) if streams is not None and streams.rate is not None else None
    total = Rates(0.0, 0.0, 0.0)
    quiet, lost_of_quiet = len(system.stripe_groups), sum(gone)
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
        one = held_by_devices(system, one, strip, figures, (other, fraction))
        named = () if isinstance(corrupt.groups, int) or not gone else corrupt.groups
        lost = sum(gone[group] for group in named)
        total += one.times(count * size - lost)
        quiet -= count
        lost_of_quiet -= lost
    one = server_rates(bandwidth, figures, reads=reads, offered=offered)
    one = held_by_devices(system, one, strip, figures)
    return total + one.times(max(quiet, 0) * size - lost_of_quiet)


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


def server_bandwidth(system: System, strip: float) -> float:
    """What all ports of a server pass in one direction, in B/s of a strip's data.

    Args:
        system: The system, which has streams.
        strip: One device's part of a stripe, in bytes.
    """
    fabric, size = system.cluster.fabric, max(round(strip), 1)
    if fabric.topology is None:
        return system.cluster.port_count * size / port_seconds(system, size)
    rates = fabric.link_rates
    rate = sum(rates) / len(rates) if rates else float(fabric.link_rate or 0)
    packet, overhead = int(fabric.packet_size or size), int(fabric.packet_overhead or 0)
    return system.cluster.port_count * payload_rate(rate, size, packet, overhead)


def port_seconds(system: System, size: int) -> float:
    """How long a message keeps a port of a LogGP fabric busy.

    Args:
        system: The system, whose fabric is no switched one.
        size: The message's bytes.
    """
    fits = [row for row in system.loggp_rows if row.size_bytes > size]
    row = fits[0] if fits else system.loggp_rows[-1]
    return max(float(row.gap_seconds) + size * float(row.gap_per_byte_seconds), 1e-12)
