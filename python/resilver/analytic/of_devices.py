"""What devices let streams over groups do, where the network lets them do more."""

from __future__ import annotations

from resilver.analytic.code_figures import CodeFigures
from resilver.analytic.streams import Rates
from resilver.spec import System
from resilver.spec.device import DeviceService


def device_seconds(system: System, size: float, *, is_read: bool) -> float:
    """The time of a device for one request that is not in order with the one before.

    Args:
        size: Bytes of the request.
        is_read: Whether it reads.
    """
    device = system.device
    if isinstance(device, DeviceService):
        return float(device.read_service if is_read else device.write_service)
    seeks = device.read_seek if is_read else device.write_seek
    row = max(sum(one <= size for one in device.request_sizes) - 1, 0)
    overhead = device.read_overhead if is_read else device.write_overhead
    rate = device.read_rate if is_read else device.write_rate
    return float(overhead) + size / float(rate) + (float(seeks[row]) if seeks else 0.0)


def held_by_devices(
    system: System,
    rates: Rates,
    strip: float,
    code: CodeFigures,
    rebuilt: tuple[CodeFigures, float] | None = None,
) -> Rates:
    """The rates of one server, whose device reads and writes strips one after another.

    A device reads a strip for each that clients read and writes (k + p) / k for each of data that
    they write; for a strip that is rebuilt it reads y and writes one.

    Args:
        system: The system, whose servers have a device each.
        rates: What the network lets the server do.
        strip: One device's part of a stripe, in bytes.
        code: The code that is read and written.
        rebuilt: The code whose strips are rebuilt, and the share of the device that its lane has;
            None where none are. What clients leave of the device is the rebuild's.
    """
    if not strip:
        return rates
    reading, writing = (device_seconds(system, strip, is_read=is_read) for is_read in (True, False))
    busy = rates.read / strip * reading + rates.write / strip * writing * code.strips / code.data
    has_lanes = system.lanes is not None and system.lanes.devices
    share = rebuilt[1] if rebuilt is not None else 0.0
    served = min(1.0, (1.0 - share if has_lanes else 1.0) / busy) if busy else 1.0
    rebuilt_share = 1.0
    if rebuilt is not None and rates.rebuild:
        left = max(share, 1.0 - busy * served) if has_lanes else 1.0
        needed = rates.rebuild / strip * (float(rebuilt[0].gathered) * reading + writing)
        rebuilt_share = min(1.0, left / needed) if needed else 1.0
    return Rates(rates.read * served, rates.write * served, rates.rebuild * rebuilt_share)
