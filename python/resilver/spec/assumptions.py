"""What a result rests on: each figure that the study states, takes by default, or has assumed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from resilver.spec.arrivals import Arrivals
from resilver.spec.capacity import stored_of
from resilver.spec.cluster import Cluster
from resilver.spec.detection import Detection
from resilver.spec.device import Device, DeviceService
from resilver.spec.section import written
from resilver.spec.system import System
from resilver.spec.traffic import Traffic
from resilver.units import (
    BytesPerSecond,
    Seconds,
    exact_bytes,
    exact_duration,
    exact_frequency,
    exact_rate,
    format_duration,
    format_rate,
)
from resilver.words import listed

Origin = Literal["stated", "default", "assumed"]
"""Who says so: the study; resilver's default for the key; or a choice by what is known."""

ORIGINS = {"stated": "from the study", "default": "default", "assumed": "assumed"}
"""The same for people."""

DETECTION_WORDS = "at once"
"""How long the model takes to find a failure out; a fault's time is when its rebuild begins."""


@dataclass(frozen=True)
class Assumption:
    """One thing that a result rests on.

    Attributes:
        name: What it is: ``device``, ``network``, ``driver``, ``throttle``, ``software limits``,
            ``memory``, ``detection time`` or ``clients``; of several kinds of devices, with their
            class.
        key: The key of the study file that states it; empty where there is none.
        value: Its value with its unit.
        origin: Who says so.
        sentence: The same in a sentence.
    """

    name: str
    key: str
    value: str
    origin: Origin
    sentence: str

    def record(self) -> dict[str, str]:
        """The assumption as a flat dictionary, as ``--json`` prints it."""
        return asdict(self)


def assumptions_of(systems: Sequence[System], swept: Mapping[str, Any]) -> list[Assumption]:
    """What the results of a study's systems rest on.

    Args:
        systems: All of them, one at least.
        swept: The keys that the study sweeps, each with its values in words; they are stated.

    Returns:
        Devices (a row a kind), network, driver, throttle, memory, detection time, clients, fill, in
        this order, of the first system; what has no bearing on it is left out.
    """
    if systems[0].report is not None:
        # The answer of each run lists its own.
        return []
    is_filled = not {"population", "pools", "cluster"} & {key.partition(".")[0] for key in swept}
    found = _of_system(systems[0], is_filled)
    if all(key in {one.key for one in found} for key in swept):
        return [_with_swept(one, swept.get(one.key)) for one in found]
    # What a swept section or a key beside it changes; not all that is in a section differs.
    values: dict[str, list[str]] = {}
    for system in systems:
        for one in _of_system(system, is_filled):
            values.setdefault(one.key, []).append(one.value)
    unique = {key: list(dict.fromkeys(each)) for key, each in values.items() if key not in swept}
    rows = {key: sum(one.key == key for one in found) for key in unique}
    differs = {key: each for key, each in unique.items() if len(each) > rows[key]}
    return [_with_swept(one, (differs | dict(swept)).get(one.key)) for one in found]


def _of_system(system: System, is_filled: bool) -> list[Assumption]:
    found = [*_devices(system), _network(system.cluster)]
    if system.faults and not system.is_traffic_only:
        found += [*_driver(system), *_limits(system), _memory(system)]
        if any(fault.starts_rebuild for fault in system.faults):
            found.append(_detection(system))
    found.append(_clients(system))
    return [*found, *_fill(system)] if is_filled else found


def lead(found: list[Assumption]) -> str:
    """Device, network, driver, limits and fill in one sentence."""
    parts = []
    for name in ("device", "network", "driver", "throttle", "software limits", "fill"):
        of_name = [one for one in found if one.name.partition(" of ")[0] == name]
        if values := list(dict.fromkeys(one.value for one in of_name)):
            plural = "s" if len(values) > 1 else ""
            parts.append(f"{name}{plural} {' and '.join(values)} ({ORIGINS[of_name[0].origin]})")
    return f"Inputs: {'; '.join(parts)}." if parts else ""


def _with_swept(one: Assumption, values: Sequence[str] | None) -> Assumption:
    """An assumption whose key the study sweeps over these values: they are all stated."""
    if not values:
        return one
    text = ", ".join(map(str, values))
    return Assumption(one.name, one.key, text, "stated", f"The study sweeps {one.key}: {text}.")


def device_words(device: Device) -> str:
    """A device in a few words: its name, and what it reads and writes a second."""
    label = f"{device.label}, " if device.label else ""
    if isinstance(device, DeviceService) and device.operations is not None:
        each = [f"{exact_frequency(rate)} {name}" for name, rate in device.rates.items()]
        return f"{label}{listed(each)}"
    if isinstance(device, DeviceService):
        times = [format_duration(float(one)) for one in (device.read_service, device.write_service)]
        both = times[0] if times[0] == times[1] else f"{times[0]} to read and {times[1]} to write"
        return f"{label}{both} a request"
    rates = [format_rate(float(rate)) for rate in (device.read_rate, device.write_rate)]
    if rates[0] == rates[1]:
        return f"{label}{rates[0]}"
    return f"{label}{rates[0]} read and {rates[1]} written"


def _devices(system: System) -> list[Assumption]:
    """A row a kind of device."""
    cluster = system.cluster
    found = {}
    of_parts = {part.device_class for part in cluster.parts if part.device is not None}
    for kind in cluster.device_kinds:
        is_own = bool(cluster.parts) and kind.device_class in of_parts
        key = "cluster.parts" if is_own else "cluster.device"
        origin: Origin = "default"
        if is_own or "device" in cluster.model_fields_set:
            origin = "stated"
        name = f"device of {kind.device_class}" if kind.device_class else "device"
        value = device_words(kind.device)
        who = "The study says" if origin == "stated" else "The study says none, so it is"
        found[name, value] = Assumption(name, key, value, origin, f"{who} {value}.")
    return list(found.values())


def _network(cluster: Cluster) -> Assumption:
    fabric = cluster.fabric
    if fabric.topology is not None:
        rates = list(fabric.link_rates) or ([fabric.link_rate] if fabric.link_rate else [])
        slowest, fastest = (exact_rate(one(rates), bits=True) for one in (min, max))
        links = slowest if slowest == fastest else f"{slowest} to {fastest}"
        value = f"{fabric.topology.label}, links of {links}"
        sentence = f"Packets pass {value}."
        return Assumption("network", "cluster.fabric.link_rate", value, "stated", sentence)
    table = fabric.table
    last = table.rows[-1].gap_per_byte_seconds if table is not None and table.rows else 0.0
    label = table.label if table is not None else ""
    value = f"{label}, {format_rate(1 / last)} a port" if last > 0 else label
    origin: Origin = "default"
    who = "The study says none, so it is"
    if "table" in fabric.model_fields_set:
        origin, who = "stated", "The study says"
    sentence = f"{who} {value}; switches between never hold a message back."
    return Assumption("network", "cluster.fabric.table", value, origin, sentence)


_DRIVERS = {
    "destination": ("destinations pull", "Each target requests its own pieces."),
    "source": ("sources push", "A surviving source sends each piece without a request."),
    "manager": ("", "All rebuilt data passes the managers' ports."),
}


def _driver(system: System) -> Iterator[Assumption]:
    """Who drives the rebuild, where the study says it."""
    recovery = system.recovery
    if "driver" in recovery.model_fields_set:
        value, sentence = _DRIVERS[recovery.driver]
        count = recovery.managers or 0
        value = value or f"{count:,} manager{'s' if count > 1 else ''}"
        yield Assumption("driver", "recovery.driver", value, "stated", sentence)


def _limits(system: System) -> Iterator[Assumption]:
    """What software limits; where it limits nothing, that a rebuild takes at least its time."""
    recovery, name = system.recovery, "software limits"
    if recovery.bandwidth is not None:
        yield _throttle(system, recovery.bandwidth)
    software = recovery.software.given() if recovery.software is not None else {}
    if software:
        policy = "" if recovery.like is None else f"{recovery.like}: "
        each = [f"{key.replace('_', ' ')} {written(value)}" for key, value in software.items()]
        value = f"{policy}{', '.join(each)}"
        sentence = f"The software's own limits hold: {value}."
        yield Assumption(name, "recovery.software", value, "stated", sentence)
    elif recovery.bandwidth is None:
        sentence = "No limit of software is stated, and real systems have some: a rebuild takes at "
        sentence += "least this long."
        yield Assumption(name, "recovery.software", "none: at least this long", "default", sentence)


def _throttle(system: System, bandwidth: BytesPerSecond) -> Assumption:
    rate = exact_rate(bandwidth)
    value = f"each rebuilding device reads at most {rate}"
    read = system.code.repair_pieces if system.code is not None else 1
    if read > 1:
        number, unit = rate.replace(",", "").split()
        value += f" ({float(number) / read:.4g} {unit} rebuilt)"
    sentence = "It counts bytes read from survivors, several for each byte of a code rebuilt."
    return Assumption("throttle", "recovery.bandwidth", value, "stated", sentence)


def _memory(system: System) -> Assumption:
    recovery = system.recovery
    take, give = exact_bytes(recovery.receive_memory), exact_bytes(recovery.send_memory)
    given = {"receive_memory", "send_memory"} & recovery.model_fields_set
    value = take if take == give else f"{take} to receive, {give} to send"
    sentence = f"A device has {take} under way of what it rebuilds and {give} of what it sends."
    return Assumption(
        "memory", "recovery.receive_memory", value, "stated" if given else "default", sentence
    )


def _detection(system: System) -> Assumption:
    if system.detection is not None and any(fault.waits for fault in system.faults):
        return _protocol(system.detection)
    times = {fault.detection or Seconds(0) for fault in system.faults if fault.starts_rebuild}
    if any(times):
        value = " to ".join(exact_duration(one) for one in sorted({min(times), max(times)}))
        sentence = f"A rebuild begins {value} after its fault; until then nothing is rebuilt."
        return Assumption("detection time", "faults.detection", value, "stated", sentence)
    sentence = "A rebuild begins when its fault happens: nothing is waited for to find it out."
    return Assumption("detection time", "", DETECTION_WORDS, "assumed", sentence)


def _protocol(detection: Detection) -> Assumption:
    name = detection.protocol.replace("_", " ")
    times = [detection.period, *([detection.timeout] if detection.timeout is not None else [])]
    value = f"{name}, {' and '.join(exact_duration(time) for time in times)}"
    who = "all surviving devices know" if detection.known_by == "all" else "one device knows"
    sentence = f"Devices detect failures by {name}, with this period and timeout; a rebuild begins "
    sentence += f"once {who}."
    is_given = bool(detection.model_fields_set)
    return Assumption(
        "detection time",
        "detection.protocol",
        value,
        "stated" if is_given else "default",
        sentence,
    )


def _clients(system: System) -> Assumption:
    traffic = [pool.traffic for pool in system.of_pools if pool.traffic is not None]
    if not traffic:
        sentence = "No client asks for anything, so devices and network are the rebuild's alone."
        return Assumption("clients", "traffic", "none", "default", sentence)
    words = [_traffic_words(one) for one in traffic]
    value = "; ".join(dict.fromkeys(words))
    return Assumption("clients", "traffic", value, "stated", f"Clients: {value}.")


def _fill(system: System) -> Iterator[Assumption]:
    """How full devices are before anything fails, where it is known what they hold."""
    for one in stored_of(system):
        if one.share is not None and one.capacity is not None:
            value = f"{100 * one.share:.3g} % of a device's {exact_bytes(one.capacity)}"
            sentence = f"Before the first fault data and redundancy take {value} on average."
            yield Assumption("fill", "population", value, "stated", sentence)


def _traffic_words(traffic: Traffic) -> str:
    """What clients do, in a few words."""
    reads = f"{100 * traffic.read_share:g} % reads"
    if traffic.streams is not None:
        return f"streams of stripes, {reads}"
    if traffic.jobs:
        return f"{len(traffic.jobs):,} job{'s' * (len(traffic.jobs) > 1)} with a signature"
    size, kinds = traffic.size_label, "" if traffic.has_operations else f", {reads}"
    if traffic.outstanding is not None:
        return f"{traffic.outstanding:,} requests of {size} outstanding{kinds}"
    return f"{_arrivals(traffic.arrivals)} of {size}{kinds}"


def _arrivals(arrivals: Arrivals | None) -> str:
    rate = arrivals.requests_per_second if arrivals is not None else 0.0
    if arrivals is not None and arrivals.trace is not None:
        return "requests of a trace"
    return f"{exact_frequency(rate)} requests"
