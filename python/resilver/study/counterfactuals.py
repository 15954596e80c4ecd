"""What of a system is relaxed, one thing at a time: each assumption that is a number."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from resilver.importers.netgauge import LogGpTable
from resilver.spec import System
from resilver.spec.device import Device, DeviceClasses, DeviceService
from resilver.spec.section import Section
from resilver.units import (
    BytesPerSecond,
    Seconds,
    exact_rate,
    format_bytes,
    format_duration,
    format_rate,
)


@dataclass(frozen=True)
class Lever:
    """One assumption that can be made lower and higher.

    Attributes:
        name: What it is, such as ``devices``.
        key: The key of the study file that states it.
        turned: The system with it multiplied by a factor; None where such a system cannot be.
        words: The value in words at a factor.
        relaxed: Whether a rebuild is relaxed where it is ``high`` or ``low``; empty for what is
            asked of a system rather than how it is made.
    """

    name: str
    key: str
    turned: Callable[[float], System | None]
    words: Callable[[float], str]
    relaxed: Literal["high", "low", ""] = "high"


def levers(system: System) -> list[Lever]:
    """The assumptions of a system that are numbers.

    Returns:
        Devices, network, recovery, data and clients, as far as the system has them.
    """
    rebuilds = bool(system.faults) and not system.is_traffic_only
    recovery = _recovery(system) if rebuilds else ()
    return [
        *_devices(system),
        *_passed(system),
        *_network(system),
        *recovery,
        *_stored(system),
        *_clients(system),
    ]


def _lever(
    system: System,
    name: str,
    key: str,
    powers: dict[str, int],
    words: Callable[[float], str],
    relaxed: Literal["high", "low", ""] = "high",
) -> Lever:
    """A lever that multiplies the values at some paths, each by its power of the factor."""

    def turned(factor: float) -> System | None:
        changed = system
        for path, power in powers.items():
            changed = _scaled(changed, path.split("."), factor**power)
        recovery = changed.recovery
        # A buffer that does not fit into memory would never be asked for.
        fits = recovery.pipeline_buffer <= min(recovery.receive_memory, recovery.send_memory)
        return changed if fits and changed != system else None

    return Lever(name, key, turned, words, relaxed)


def _scaled(value: Any, path: list[str], factor: float) -> Any:
    """A copy with what is at a path multiplied: attributes of sections, and places of tuples."""
    if path:
        name, *rest = path
        if isinstance(value, tuple):
            at = int(name)
            return (*value[:at], _scaled(value[at], rest, factor), *value[at + 1 :])
        changed = {name: _scaled(getattr(value, name), rest, factor)}
        is_section = isinstance(value, Section)
        return value.model_copy(update=changed) if is_section else replace(value, **changed)
    if isinstance(value, tuple):
        return tuple(_scaled(item, [], factor) for item in value)
    if value is None:
        return None
    scaled = value * factor
    return type(value)(_whole(scaled) if isinstance(value, int) else scaled)


def _whole(value: float) -> int:
    """The nearest count that is one or more."""
    return max(1, round(value))


def _devices(system: System) -> Iterator[Lever]:
    """Rates and seeks, of each class where the study gives classes devices."""
    cluster = system.cluster
    if isinstance(cluster.device, DeviceClasses):
        classes = cluster.device.by_class
        for at, (name, device) in enumerate(classes):
            suffix = f" of {name}" if name and len(classes) > 1 else ""
            same = {f"cluster.device.by_class.{at}.1": device}
            yield from _device(system, device, same, suffix)
        return
    own = {
        f"cluster.parts.{at}.device": part.device
        for at, part in enumerate(cluster.parts)
        if part.device is not None
    }
    same = {"cluster.device": cluster.device, **own}
    kinds = [kind.device for kind in cluster.device_kinds]
    first = next((kind for kind in kinds if not _rates(kind)), kinds[0])
    yield from _device(system, first, same, "")


def _rates(device: Device) -> dict[str, float]:
    """How many operations on files a device does a second; nothing of one for data."""
    return device.rates if isinstance(device, DeviceService) else {}


def _device(
    system: System, device: Device, same: dict[str, Device], suffix: str
) -> Iterator[Lever]:
    """What of a device can be turned, with all that are turned with it."""
    speed: dict[str, int] = {}
    seeks: dict[str, int] = {}
    metadata = {path: each for path, each in same.items() if _rates(each)}
    if metadata:
        rates = {f"{path}.operations.{name}": 1 for path in metadata for name in _rates(same[path])}
        name, rate = next(iter(_rates(next(iter(metadata.values()))).items()))
        words = _words(lambda value: f"{value:,.4g} {name} /s", rate)
        yield _lever(system, f"metadata servers{suffix}", "cluster.device", rates, words)
    for path, each in same.items():
        if path in metadata:
            continue
        if isinstance(each, DeviceService):
            speed |= {f"{path}.read_service": -1, f"{path}.write_service": -1}
        else:
            speed |= {f"{path}.read_rate": 1, f"{path}.write_rate": 1}
            seeks |= {f"{path}.read_seek": 1, f"{path}.write_seek": 1}
    speed |= dict.fromkeys(seeks, -1)
    key = "cluster.device"
    if isinstance(device, DeviceService):
        slowest = float(max(device.read_service, device.write_service))
        if slowest:
            yield _lever(system, f"devices{suffix}", key, speed, _each(slowest))
        return
    yield _lever(system, f"devices{suffix}", key, speed, _words(format_rate, device.read_rate))
    if seek := device.read_seek[0]:
        words = _words(format_duration, seek)
        yield _lever(system, f"device seek{suffix}", key, seeks, words, "low")


def _words(form: Callable[[float], str], value: float) -> Callable[[float], str]:
    """A value in words, at a factor."""
    return lambda factor: form(value * factor)


def _each(seconds: float) -> Callable[[float], str]:
    """The time of a request in words, at a factor of its rate."""
    return lambda factor: f"{format_duration(seconds / factor)} each"


def _passed(system: System) -> Iterator[Lever]:
    """What requests pass between devices and ports: controllers and the like, by their level."""
    for at, level in enumerate(system.cluster.parts):
        if (service := level.service) is None:
            continue
        key, rate = f"cluster.parts.{at}.service", service.rate
        words = _each(service.per_request) if rate is None else _words(format_rate, rate)
        powers = {f"{key}.rate": 1, f"{key}.per_request": -1}
        yield _lever(system, f"{level.level}s", key, powers, words)


def _network(system: System) -> Iterator[Lever]:
    fabric = system.cluster.fabric
    if fabric.table is not None:
        yield from _loggp(system, fabric.table)
        return
    if (rate := fabric.link_rate) is not None:
        key, words = "cluster.fabric.link_rate", _words(partial(exact_rate, bits=True), rate)
        yield _lever(system, "network rate", key, {key: 1}, words)
    if latency := fabric.switch_latency:
        key, words = "cluster.fabric.switch_latency", _words(format_duration, latency)
        yield _lever(system, "network latency", key, {key: 1}, words, "low")


def _loggp(system: System, table: LogGpTable) -> Iterator[Lever]:
    if not table.rows:
        return
    key, last = "cluster.fabric.table", table.rows[-1]

    def powers(column: str, power: int) -> dict[str, int]:
        return {f"{key}.rows.{at}.{column}": power for at in range(len(table.rows))}

    if last.gap_per_byte_seconds > 0:
        gaps = powers("gap_seconds", -1) | powers("gap_per_byte_seconds", -1)
        words = _words(format_rate, 1 / last.gap_per_byte_seconds)
        yield _lever(system, "network rate", key, gaps, words)
    latencies, words = powers("latency_seconds", 1), _words(format_duration, last.latency_seconds)
    yield _lever(system, "network latency", key, latencies, words, "low")


def _recovery(system: System) -> Iterator[Lever]:
    recovery = system.recovery
    if (count := recovery.managers) is not None:
        key, words = "recovery.managers", _words(lambda value: f"{_whole(value):,}", count)
        yield _lever(system, "managers", key, {key: 1}, words)
    if (rate := recovery.bandwidth) is not None:
        key = "recovery.bandwidth"
        yield _lever(system, "throttle", key, {key: 1}, _words(exact_rate, rate))
    yield from _software(system)
    if not recovery.pipelining:
        key, on = "recovery.pipelining", recovery.model_copy(update={"pipelining": True})
        pipelined = system.model_copy(update={"recovery": on})
        yield Lever(
            "pipelining",
            key,
            lambda factor: pipelined if factor > 1 else None,
            lambda factor: "true" if factor > 1 else "false",
        )
    key, words = "recovery.receive_memory", _words(format_bytes, recovery.receive_memory)
    yield _lever(system, "memory", key, {key: 1, "recovery.send_memory": 1}, words)
    key, words = "recovery.pipeline_buffer", _words(format_bytes, recovery.pipeline_buffer)
    yield _lever(system, "buffer", key, {key: 1}, words)


def _software(system: System) -> Iterator[Lever]:
    """Each limit of the software that the study states."""
    software = system.recovery.software
    for name, value in software.given().items() if software is not None else ():
        if not value or name == "burst":
            continue
        key, what = f"recovery.software.{name}", name.replace("_", " ")
        what = f"pieces at once {what}" if isinstance(value, int) else what
        relaxed: Literal["high", "low"] = "low" if isinstance(value, Seconds) else "high"
        yield _lever(system, what, key, {key: 1}, _of_kind(value), relaxed)


def _of_kind(value: Any) -> Callable[[float], str]:
    """A count, a time or a rate in words, at a factor."""
    if isinstance(value, Seconds):
        return _words(format_duration, value)
    if isinstance(value, BytesPerSecond):
        return _words(exact_rate, value)
    return _words(lambda count: f"{_whole(count):,}", value)


def _stored(system: System) -> Iterator[Lever]:
    """How much is stored, of a synthetic population, in all pools alike."""
    stored = (
        {f"pools.{at}.population": pool.population for at, pool in enumerate(system.pools)}
        if system.pools
        else {"population": system.population}
    )
    populations = [population for population in stored.values() if population is not None]
    if not populations:
        return
    name = next(
        name
        for name in ("bytes_per_server", "bytes", "files")
        if getattr(populations[0], name) is not None
    )
    powers = {f"{path}.{name}": 1 for path, given in stored.items() if given is not None}
    what = "data stored" if len(populations) == 1 else f"data of {system.pools[0].name} and others"
    form = (lambda count: f"{_whole(count):,} files") if name == "files" else format_bytes
    words = _words(form, getattr(populations[0], name))
    yield _lever(system, what, f"population.{name}", powers, words, "")


def _clients(system: System) -> Iterator[Lever]:
    """How many requests clients have outstanding, or how often they come."""
    traffic = system.traffic
    if traffic is None:
        return
    if (count := traffic.outstanding) is not None:
        key, words = "traffic.outstanding", _words(lambda value: f"{_whole(value):,}", count)
        yield _lever(system, "clients", key, {key: 1}, words, "")
        return
    key, arrivals = "traffic.arrivals", traffic.arrivals
    if arrivals is None or arrivals.trace is not None:
        return
    name = "poisson" if arrivals.poisson is not None else "pareto"
    words = _words("{:,.4g} /s".format, getattr(arrivals, name))
    yield _lever(system, "clients", key, {f"{key}.{name}": 1}, words, "")
