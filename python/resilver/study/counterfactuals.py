"""What of a system is relaxed, one thing at a time: each assumption that is a number."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from resilver.quantities import LinkRate
from resilver.spec import System
from resilver.spec.device import Device, DeviceClasses, DeviceService
from resilver.spec.fabric import Fabric
from resilver.spec.passing import PartService
from resilver.spec.recovery import Recovery
from resilver.units import (
    Bytes,
    BytesPerSecond,
    PerSecond,
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
    found = [*_devices(system), *_passed(system), *_network(system)]
    if rebuilds:
        found += _recovery(system)
    return [*found, *_stored(system), *_clients(system)]


def _with_cluster(system: System, **changed: Any) -> System:
    cluster = system.cluster.model_copy(update=changed)
    return system.model_copy(update={"cluster": cluster})


def _faster(device: Device, factor: float) -> Device:
    """A device that is so many times as fast, its seeks too."""
    if isinstance(device, DeviceService):
        read, write = device.read_service / factor, device.write_service / factor
        times = {"read_service": Seconds(read), "write_service": Seconds(write)}
        return device.model_copy(update=times)
    read, write = device.read_rate * factor, device.write_rate * factor
    rates = {"read_rate": BytesPerSecond(read), "write_rate": BytesPerSecond(write)}
    return _slower_seeks(device.model_copy(update=rates), 1 / factor)


def _slower_seeks(device: Device, factor: float) -> Device:
    """A device whose seeks take so many times as long."""
    if isinstance(device, DeviceService):
        return device
    seeks = {
        name: tuple(Seconds(seek * factor) for seek in getattr(device, name))
        for name in ("read_seek", "write_seek")
    }
    return device.model_copy(update=seeks)


def _devices(system: System) -> Iterator[Lever]:
    """Rates and seeks, of each class where the study gives classes devices."""
    cluster = system.cluster
    own = [part.device for part in cluster.parts if part.device is not None]
    if isinstance(cluster.device, DeviceClasses):
        named: list[tuple[str, Device]] = list(cluster.device.by_class)
    else:
        first = cluster.device_kinds[0].device if own else cluster.device
        named = [("", first)]
    for name, device in named:
        suffix = f" of {name}" if name and len(named) > 1 else ""
        for what, change, words in _turns(device):
            turned = _of_device(system, name, change)
            side: Literal["high", "low"] = "low" if change is _slower_seeks else "high"
            yield Lever(f"{what}{suffix}", "cluster.device", turned, words, side)


def _turns(
    device: Device,
) -> Iterator[tuple[str, Callable[[Device, float], Device], Callable[[float], str]]]:
    """What of a device can be turned: its name, the turned device, and the value in words."""
    if isinstance(device, DeviceService):
        slowest = float(max(device.read_service, device.write_service))
        if slowest:
            yield "devices", _faster, lambda factor: f"{format_duration(slowest / factor)} each"
        return
    rate, seek = float(device.read_rate), float(device.read_seek[0])
    yield "devices", _faster, lambda factor: format_rate(rate * factor)
    if seek:
        yield "device seek", _slower_seeks, lambda factor: format_duration(seek * factor)


def _of_device(
    system: System, name: str, change: Callable[[Device, float], Device]
) -> Callable[[float], System]:
    """The system with one class's device changed, or with all devices."""
    cluster = system.cluster

    def turned(factor: float) -> System:
        if isinstance(cluster.device, DeviceClasses):
            by_class = tuple(
                (one, change(device, factor) if one == name else device)
                for one, device in cluster.device.by_class
            )
            return _with_cluster(system, device=replace(cluster.device, by_class=by_class))
        parts = tuple(
            part
            if part.device is None
            else part.model_copy(update={"device": change(part.device, factor)})
            for part in cluster.parts
        )
        return _with_cluster(system, device=change(cluster.device, factor), parts=parts)

    return turned


def _passed(system: System) -> Iterator[Lever]:
    """What requests pass between devices and ports: controllers and the like, by their level."""
    for at, level in enumerate(system.cluster.parts):
        if (service := level.service) is None:
            continue

        def turned(factor: float, at: int = at, service: PartService = service) -> System:
            rate = None if service.rate is None else BytesPerSecond(service.rate * factor)
            changed = {"rate": rate, "per_request": Seconds(service.per_request / factor)}
            parts = list(system.cluster.parts)
            parts[at] = parts[at].model_copy(update={"service": service.model_copy(update=changed)})
            return _with_cluster(system, parts=tuple(parts))

        def words(factor: float, service: PartService = service) -> str:
            if service.rate is not None:
                return format_rate(service.rate * factor)
            return f"{format_duration(service.per_request / factor)} each"

        yield Lever(f"{level.level}s", f"cluster.parts.{at}.service", turned, words)


def _network(system: System) -> Iterator[Lever]:
    fabric = system.cluster.fabric

    def with_fabric(made: Fabric) -> System:
        return _with_cluster(system, fabric=made)

    if fabric.table is not None:
        yield from _loggp(fabric, with_fabric)
        return
    if (rate := fabric.link_rate) is not None:

        def faster(factor: float) -> System:
            link_rate = LinkRate(rate * factor)
            return with_fabric(fabric.model_copy(update={"link_rate": link_rate}))

        key = "cluster.fabric.link_rate"
        yield Lever("network rate", key, faster, lambda f: exact_rate(rate * f, bits=True))
    latency = float(fabric.switch_latency or 0)
    if latency:

        def later(factor: float) -> System:
            changed = {"switch_latency": Seconds(latency * factor)}
            return with_fabric(fabric.model_copy(update=changed))

        key = "cluster.fabric.switch_latency"
        yield Lever("network latency", key, later, lambda f: format_duration(latency * f), "low")


def _loggp(fabric: Fabric, made: Callable[[Fabric], System]) -> Iterator[Lever]:
    table = fabric.table
    if table is None or not table.rows:
        return
    last = table.rows[-1]

    def with_rows(**scales: float) -> System:
        rows = tuple(
            replace(row, **{name: getattr(row, name) * by for name, by in scales.items()})
            for row in table.rows
        )
        return made(fabric.model_copy(update={"table": replace(table, rows=rows)}))

    def faster(factor: float) -> System:
        return with_rows(gap_seconds=1 / factor, gap_per_byte_seconds=1 / factor)

    key = "cluster.fabric.table"
    if last.gap_per_byte_seconds > 0:
        rate = 1 / last.gap_per_byte_seconds
        yield Lever("network rate", key, faster, lambda f: format_rate(rate * f))
    latency = last.latency_seconds
    yield Lever(
        "network latency",
        key,
        lambda factor: with_rows(latency_seconds=factor),
        lambda f: format_duration(latency * f),
        "low",
    )


def _recovery(system: System) -> Iterator[Lever]:
    recovery = system.recovery

    def made(**changed: Any) -> System | None:
        turned: Recovery = recovery.model_copy(update=changed)
        # A buffer that does not fit into memory would never be asked for.
        if turned.pipeline_buffer > min(turned.receive_memory, turned.send_memory):
            return None
        return system.model_copy(update={"recovery": turned})

    if (rate := recovery.bandwidth) is not None:
        yield Lever(
            "throttle",
            "recovery.bandwidth",
            lambda factor: made(bandwidth=BytesPerSecond(rate * factor)),
            lambda f: exact_rate(rate * f),
        )
    if not recovery.pipelining:
        yield Lever(
            "pipelining",
            "recovery.pipelining",
            lambda factor: made(pipelining=True) if factor > 1 else None,
            lambda f: "true" if f > 1 else "false",
        )
    take, give, buffer = recovery.receive_memory, recovery.send_memory, recovery.pipeline_buffer
    yield Lever(
        "memory",
        "recovery.receive_memory",
        lambda f: made(receive_memory=_bytes(take * f), send_memory=_bytes(give * f)),
        lambda f: format_bytes(take * f),
    )
    yield Lever(
        "buffer",
        "recovery.pipeline_buffer",
        lambda factor: made(pipeline_buffer=_bytes(buffer * factor)),
        lambda f: format_bytes(buffer * f),
    )


def _bytes(value: float) -> Bytes:
    return Bytes(max(1, round(value)))


def _stored(system: System) -> list[Lever]:
    """How much is stored, of a synthetic population, in all pools alike."""
    holders = system.pools or ((system,) if system.population is not None else ())
    populations = [one.population for one in holders if one.population is not None]
    if not populations:
        return []
    name = next(
        name
        for name in ("bytes_per_server", "bytes", "files")
        if getattr(populations[0], name) is not None
    )

    def more(factor: float) -> System:
        def scaled(one: Any) -> Any:
            value = getattr(one.population, name)
            if value is None:
                return one
            amount = round(value * factor) if name == "files" else _bytes(value * factor)
            population = one.population.model_copy(update={name: amount})
            return one.model_copy(update={"population": population})

        if system.pools:
            return system.model_copy(update={"pools": tuple(map(scaled, system.pools))})
        turned: System = scaled(system)
        return turned

    amount = getattr(populations[0], name)
    what = "data stored" if len(populations) == 1 else f"data of {system.pools[0].name} and others"

    def words(factor: float) -> str:
        if name == "files":
            return f"{amount * factor:,.0f} files"
        return format_bytes(amount * factor)

    return [Lever(what, f"population.{name}", more, words, "")]


def _clients(system: System) -> list[Lever]:
    """How many requests clients have outstanding, or how often they come."""
    traffic = system.traffic
    if traffic is None:
        return []
    if traffic.outstanding is not None:
        count = traffic.outstanding

        def outstanding(factor: float) -> System:
            changed = traffic.model_copy(update={"outstanding": max(1, round(count * factor))})
            return system.model_copy(update={"traffic": changed})

        key = "traffic.outstanding"
        return [Lever("clients", key, outstanding, lambda f: f"{max(1, round(count * f)):,}", "")]
    arrivals = traffic.arrivals
    if arrivals is None or arrivals.trace is not None:
        return []
    name = "poisson" if arrivals.poisson is not None else "pareto"
    rate = float(getattr(arrivals, name))

    def oftener(factor: float) -> System:
        changes: dict[str, Any] = {name: PerSecond(rate * factor)}
        turned = arrivals.model_copy(update=changes)
        changed = traffic.model_copy(update={"arrivals": turned})
        return system.model_copy(update={"traffic": changed})

    return [Lever("clients", "traffic.arrivals", oftener, lambda f: f"{rate * f:,.4g} /s", "")]
