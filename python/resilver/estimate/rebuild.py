"""How long a rebuild takes on paper: by devices and links, and by each limit of its software."""

from __future__ import annotations

import math
from dataclasses import dataclass

from resilver.estimate.population import population_of
from resilver.spec import System
from resilver.spec.device import DeviceService
from resilver.spec.software import Software
from resilver.units import exact_duration, exact_rate, format_bytes, format_duration
from resilver.words import plural

# A rebuild's transfers share the disks with what they read and write; so much of a disk's rate is
# left of it in either direction.
_SHARE_OF_A_DISK = 0.5


@dataclass(frozen=True)
class Bound:
    """One limit, and what it alone makes of a rebuild.

    Attributes:
        key: The key of the study that states it; empty of devices and network.
        seconds: How long the rebuild takes at least by it.
        words: Why.
    """

    key: str
    seconds: float
    words: str


def bounds(system: System, gathered_bytes: float) -> list[Bound]:
    """The limits of a rebuild on paper, the longest first.

    Work is taken to be spread evenly over those that drive, read and write it, and a piece at a
    time to go at the rate of its slowest device.

    Args:
        system: The system.
        gathered_bytes: The data that drivers gather for what they rebuild.
    """
    recovery = system.recovery
    software = recovery.software or Software()
    pieces, made = rebuilt_of(system, gathered_bytes)
    broken = [fault.broken for fault in system.faults if fault.broken is not None]
    failed = sum(
        one.targets if isinstance(one.targets, int) else len(one.targets) for one in broken
    )
    devices = max(system.server_count, 1)
    targets = failed if any(one.replaced is not None for one in broken) else devices
    drivers = recovery.managers or (targets if recovery.driver == "destination" else devices)
    rate = _device_rate(system, made / pieces if pieces else 0.0)
    each = (made / pieces / rate if pieces else 0.0) + software.time_per_piece
    found = [Bound("", made / (min(targets, devices) * rate), "at the rate of the devices")]
    if recovery.pipelining or not pieces:
        each += software.time_per_buffer
    else:
        buffers = math.ceil(made / pieces / int(recovery.pipeline_buffer))
        each += buffers * software.time_per_buffer
        words = "one buffer at a time a driver"
        found.append(Bound("recovery.pipelining", pieces / drivers * each, words))
    found += [
        Bound(
            f"recovery.software.{key}", pieces / (at_once * servers) * each, _at_once(at_once, who)
        )
        for key, at_once, servers, who in (
            ("per_driver", software.per_driver, drivers, "a driver"),
            ("per_source", software.per_source, max(devices - failed, 1), "a source"),
            ("per_target", software.per_target, targets, "a target"),
            ("in_all", software.in_all, 1, "in all"),
        )
        if at_once is not None
    ]
    found += [
        Bound(
            f"recovery.software.{key}", pieces / drivers * time, f"{exact_duration(time)} a piece"
        )
        for key in ("pause", "scan_per_piece")
        if (time := getattr(software, key))
    ]
    found += [
        Bound(f"recovery.{key}", gathered_bytes / (limit * by), f"{exact_rate(limit)} {who}")
        for key, limit, by, who in (
            ("bandwidth", recovery.bandwidth, drivers, "a driver"),
            ("software.check_rate", software.check_rate, drivers, "a driver"),
            ("software.rate_in_all", software.rate_in_all, 1, "in all"),
        )
        if limit is not None
    ]
    return sorted(found, key=lambda one: -one.seconds)


def rebuilt_of(system: System, gathered_bytes: float) -> tuple[float, float]:
    """How many pieces are made of so much that is gathered, and their bytes."""
    _, objects, volume, _ = population_of(system)
    code = system.code
    data, gathered = (code.data, code.repair_pieces) if code is not None else (1, 1)
    made = gathered_bytes / max(gathered, 1)
    return (made * objects * data / volume if volume else 0.0), made


def _at_once(count: int, who: str) -> str:
    return f"{plural(count, 'piece')} at a time {who}"


def _device_rate(system: System, piece: float) -> float:
    """How fast one piece of so many bytes is read or written, whichever is slower."""
    device = system.device
    if isinstance(device, DeviceService):
        slowest = max(float(device.read_service), float(device.write_service))
        requests = max(piece / int(system.recovery.pipeline_buffer), 1.0)
        return piece / (requests * slowest) if slowest and piece else float("inf")
    return float(min(device.read_rate, device.write_rate))


def paper_note(system: System, gathered_bytes: float) -> str:
    """Which limit binds on paper, in a sentence; empty where the software states none."""
    if system.recovery.software is None or system.pools or not gathered_bytes:
        return ""
    pieces, made = rebuilt_of(system, gathered_bytes)
    first = bounds(system, gathered_bytes)[0]
    size = format_bytes(made / pieces)
    what = first.key or "the devices, not the software,"
    bind = "binds" if first.key else "bind"
    time = format_duration(first.seconds)
    amount = f"{pieces:,.0f} pieces of {size}"
    return f"on paper {what} {bind}: {amount}, {first.words}, take at least {time}"


def mean_link_rate(system: System) -> float:
    """The rate of its links on average, in bytes a second; zero where it has none."""
    fabric = system.cluster.fabric
    rates = fabric.link_rates
    return sum(rates) / len(rates) if rates else float(fabric.link_rate or 0)


def about_rebuild_seconds(system: System, bytes_to_move: float) -> float:
    """About how long a rebuild takes in simulated time: every server takes in an even share."""
    device = system.device
    rates = [mean_link_rate(system) or math.inf]
    if isinstance(device, DeviceService):
        buffer = int(system.recovery.pipeline_buffer)
        service = float(device.write_service)
        rates.append(_SHARE_OF_A_DISK * buffer / service if service > 0 else math.inf)
    else:
        rates.append(_SHARE_OF_A_DISK * float(min(device.read_rate, device.write_rate)))
    if system.recovery.bandwidth is not None:
        rates.append(float(system.recovery.bandwidth))
    hardware = bytes_to_move / (max(system.server_count, 1) * min(rates))
    if system.recovery.software is None and not any(
        fault.replaced_after for fault in system.faults
    ):
        return hardware
    return max(hardware, bounds(system, bytes_to_move)[0].seconds)
