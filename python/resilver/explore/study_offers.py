"""What a page lets its reader choose of a study: values of its keys, beside how things are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from resilver import catalog
from resilver.explore.controls import Control, Stop, device_names
from resilver.explore.study_offer import (
    FACTORS,
    label_of,
    of_texts,
    of_words,
    scaled,
    stop_of,
    whole,
    words_of,
)
from resilver.spec import Study, System
from resilver.spec.assumptions import device_words
from resilver.spec.capacity import stored_of
from resilver.spec.device import DeviceClasses, DeviceService, catalog_device
from resilver.spec.ensemble import values_of
from resilver.spec.lanes import Lanes
from resilver.spec.loggp import catalog_table
from resilver.spec.placement import Placement
from resilver.spec.tables import to_plain
from resilver.spec.toml import write_value
from resilver.spec.traffic import Traffic
from resilver.units import (
    Bytes,
    BytesPerSecond,
    PerSecond,
    exact_bytes,
    exact_duration,
    exact_frequency,
)

_CODES = ("rs 4+2", "rs 6+3", "rs 8+3", "rs 10+4", "lrc 8+5 local 4")
_COPIES = (2, 3, 4)
_SHARES = (0.25, 0.5, 0.75, 0.9, 0.95)
_OUTSTANDING_EACH = (1, 4, 16)
"""Requests a server that clients may have under way, where a study has no clients."""
_LAYOUTS = ("ring", "multi_ring", "rendezvous", "jump", "declustered", "copysets")
"""Layouts of any cluster; of the others a study says more."""


def study_offers(study: Study, system: System) -> list[Control]:
    """What may be chosen of a study's first system: first what it sweeps, then what any has.

    Args:
        system: Its first system.
    """
    found = [*_swept(study), *_devices(system), *_network(system), *_stored(system)]
    return [*found, *_recovery(system), *_clients(system), *_lanes(system), *_faults(system)]


def _swept(study: Study) -> Iterator[Control]:
    """The keys that the study sweeps, with their values."""
    stride = len(study.points)
    for swept, steps in study.study.sweep.items():
        stride //= len(steps)
        stops = []
        for rank, step in enumerate(steps):
            values = {key: to_plain(value) for key, value in values_of(swept, step)}
            # The words of faults are known where the sweep is expanded.
            words = study.points[rank * stride].swept.get("faults", "")
            label = ", ".join(
                str(words) if key == "faults" else one if isinstance(one, str) else write_value(one)
                for key, one in values.items()
            )
            stops.append(stop_of(label, values))
        label = ", ".join(label_of(key.strip()) for key in swept.split(","))
        yield Control(swept, label, tuple(stops), "", is_swept=True)


def _devices(system: System) -> Iterator[Control]:
    cluster = system.cluster
    names = [name for name in device_names() if _holds(name, system)]
    own = [(at, part) for at, part in enumerate(cluster.parts) if part.device is not None]
    for at, part in own:
        key, of = f"cluster.parts.{at}.device", part.device_class or part.level
        stops = tuple(stop_of(name, {key: name}) for name in names)
        yield Control(key, label_of(key, of), stops, _device_now(part.device))
    if own and len(own) == len(cluster.device_kinds):
        return
    if isinstance(cluster.device, DeviceClasses):
        for name, device in cluster.device.by_class:
            key = f"cluster.device.{name}"
            stops = tuple(stop_of(one, {key: one}) for one in names)
            yield Control(key, f"Device of {name}", stops, _device_now(device))
        return
    key = "cluster.device"
    stops = tuple(stop_of(name, {key: name}) for name in names)
    if isinstance(cluster.device, DeviceService):
        stops = (*_services(key, cluster.device), *stops)
    yield Control(key, "Device", stops, _device_now(cluster.device))
    yield of_words("cluster.queue", cluster.queue, words_of(type(cluster), "queue"))


def _holds(name: str, system: System) -> bool:
    """Whether a device of the catalog holds the most that the page lets be stored on one."""
    capacity = catalog_device(name).capacity
    stored = max((one.raw_bytes for one in stored_of(system)), default=0)
    return capacity is None or stored * int(max(FACTORS)) <= capacity


def _device_now(device: Any) -> str:
    return device.label or device_words(device)


def _services(key: str, device: DeviceService) -> Iterator[Stop]:
    """Devices that take a part of the time, or several times as long."""
    if device.read_service != device.write_service or device.read_service <= 0:
        return
    for factor in FACTORS:
        text = exact_duration(device.read_service * factor)
        table = {"service": text, "distribution": device.distribution}
        yield stop_of(f"{text} a request", {key: table})


def _network(system: System) -> Iterator[Control]:
    fabric = system.cluster.fabric
    if fabric.table is not None:
        key, rows = "cluster.fabric.table", fabric.table.rows
        stops = []
        for name in catalog.list("networks"):
            last = catalog_table(name).rows[-1].gap_per_byte_seconds
            stops.append(stop_of(name, {key: name}, 1 / last))
        last = rows[-1].gap_per_byte_seconds if rows else 0.0
        size = 1 / last if last else 0.0
        yield Control(key, "Network", tuple(stops), fabric.table.label, size=size)
        return
    if fabric.link_rate is not None:
        rates = ("1 Gb/s", "2.5 Gb/s", "10 Gb/s", "25 Gb/s", "40 Gb/s", "100 Gb/s", "200 Gb/s")
        yield of_texts("cluster.fabric.link_rate", fabric.link_rate, rates, BytesPerSecond)
    for field in ("routing", "forwarding"):
        now = getattr(fabric, field)
        yield of_words(f"cluster.fabric.{field}", now, words_of(type(fabric), field))


def _stored(system: System) -> Iterator[Control]:
    """How much is stored, where and how, in each pool."""
    for prefix, of, pool in _pools(system):
        population, placement = pool.population, pool.placement
        if population is None:
            continue
        for field in ("bytes_per_server", "bytes", "files"):
            now = getattr(population, field)
            if now:
                write = whole if field == "files" else _bytes_text
                yield scaled(f"{prefix}population.{field}", float(now), write, of)
        if not prefix:
            yield _redundancy(pool)
            if placement is not None and placement.algorithm in ("crush", *_LAYOUTS):
                yield _placement(placement)


def _bytes_text(value: float) -> str:
    return exact_bytes(whole(value))


def _pools(system: System) -> Iterator[tuple[str, str, System]]:
    """Where each pool's keys stand in the study, its name, and the system as it has it."""
    if not system.pools:
        yield "", "", system
    for at, (pool, view) in enumerate(zip(system.pools, system.of_pools, strict=False)):
        yield f"pools.{at}.", pool.name, view


def _redundancy(system: System) -> Control:
    now = system.redundancy
    kept = {}
    if now is not None and now.code is not None:
        kept = {key: one for key in ("strip", "coding") if (one := to_plain(getattr(now, key)))}
    stops = [stop_of(f"{one} copies", {"redundancy": {"replicas": one}}) for one in _COPIES]
    stops += [stop_of(one, {"redundancy": {"code": one, **kept}}) for one in _CODES]
    label = "" if now is None else now.code.label if now.code else f"{now.replicas} copies"
    return Control("redundancy", "Copies or code", tuple(stops), label)


def _placement(placement: Placement) -> Control:
    kept = {
        key: to_plain(value)
        for key, value in placement.given().items()
        if key in ("failure_domain", "placement_groups")
    }
    of_crush = {key: to_plain(one) for key, one in placement.given().items() if key == "tunables"}
    of_crush["algorithm"] = "crush"
    stops = [
        stop_of(f"crush, {bucket}", {"placement": {**kept, **of_crush, "bucket": bucket}})
        for bucket in words_of(Placement, "bucket")
    ]
    stops += [
        stop_of(name.replace("_", " "), {"placement": {**kept, "algorithm": name}})
        for name in _LAYOUTS
    ]
    now = placement.algorithm
    label = f"{now}, {placement.bucket}" if now == "crush" else now.replace("_", " ")
    return Control("placement", "Placement", tuple(stops), label)


def _recovery(system: System) -> Iterator[Control]:
    if system.is_traffic_only:
        return
    recovery = system.recovery
    rates = ("25 MiB/s", "50 MiB/s", "100 MiB/s", "200 MiB/s", "400 MiB/s", "800 MiB/s")
    limit = of_texts("recovery.bandwidth", recovery.bandwidth, rates, BytesPerSecond)
    none = stop_of("none", {"recovery.bandwidth": None}, float("inf"))
    now = float("inf") if recovery.bandwidth is None else limit.size
    stops = (*limit.stops, none)
    yield Control(limit.key, "Throttle of a device", stops, limit.now, size=now)
    keys = ("recovery.receive_memory", "recovery.send_memory")
    texts = ("64 MiB", "256 MiB", "1 GiB", "4 GiB")
    memory = tuple(
        stop_of(text, dict.fromkeys(keys, text), float(Bytes.parse(text))) for text in texts
    )
    take = recovery.receive_memory
    yield Control(keys[0], "Memory for recovery", memory, exact_bytes(take), size=float(take))
    sizes = ("1 MiB", "4 MiB", "16 MiB", "64 MiB")
    yield of_texts("recovery.pipeline_buffer", recovery.pipeline_buffer, sizes, Bytes)
    yield of_words("recovery.pipelining", recovery.pipelining, (True, False))
    counts = sorted({1, 4, 16, recovery.managers or 1})
    drivers = [
        *(
            stop_of(word, {"recovery.driver": word, "recovery.managers": None})
            for word in words_of(type(recovery), "driver")
            if word != "manager"
        ),
        *(
            stop_of(_managers(count), {"recovery.driver": "manager", "recovery.managers": count})
            for count in counts
            if count <= system.server_count
        ),
    ]
    driver = _managers(recovery.managers) if recovery.managers else recovery.driver
    yield Control("recovery.driver", "Who drives the rebuild", tuple(drivers), driver)
    for field in ("source", "order"):
        words = words_of(type(recovery), field)
        yield of_words(f"recovery.{field}", getattr(recovery, field), words)


def _managers(count: int) -> str:
    return f"{count} manager{'s' if count > 1 else ''}"


def _clients(system: System) -> Iterator[Control]:
    held = [("traffic", "", system.traffic)]
    held += [(f"{prefix}traffic", of, one.traffic) for prefix, of, one in _pools(system) if prefix]
    for key, of, traffic in held:
        if traffic is not None:
            yield from _of_traffic(key, of, traffic)
    if system.traffic is None and not system.pools and not system.is_traffic_only:
        yield _added(system)


def _added(system: System) -> Control:
    """Clients that a study has not: so many requests under way at a time, half of them reads."""
    counts = [each * system.cluster.server_count for each in _OUTSTANDING_EACH]
    stops = [
        stop_of(f"{count:,} requests at a time", {"traffic": {"outstanding": count}}, count)
        for count in counts
    ]
    return Control("traffic", "Clients", tuple(stops), "none", size=0.0)


def _of_traffic(key: str, of: str, traffic: Traffic) -> Iterator[Control]:
    arrivals, streams = traffic.arrivals, traffic.streams
    if traffic.outstanding is not None:
        yield scaled(f"{key}.outstanding", traffic.outstanding, whole, of)
    if arrivals is not None and arrivals.trace is None:
        law = "poisson" if arrivals.poisson is not None else "pareto"
        plain = to_plain(arrivals)
        rate = float(getattr(arrivals, law))
        write = lambda value: exact_frequency(PerSecond(value))  # noqa: E731
        yield scaled(f"{key}.arrivals", rate, write, of, lambda text: {**plain, law: text})
    if streams is not None and streams.window is not None:
        yield scaled(f"{key}.streams.window", streams.window, whole, of)
    if arrivals is None or arrivals.trace is None:
        shares = (0.0, 0.25, 0.5, 0.75, 1.0)
        name = f"{key}.reads"
        stops = tuple(stop_of(f"{one:.0%}", {name: one}, one) for one in shares)
        now = traffic.read_share
        yield Control(name, label_of(name, of), stops, f"{now:.0%}", size=now)
    if arrivals is None or (arrivals.trace is None and traffic.mix is None):
        sizes = ("4 KiB", "64 KiB", "512 KiB", "4 MiB")
        size = Bytes(traffic.request_bytes)
        yield of_texts(f"{key}.request_size", size, sizes, Bytes, of)


def _lanes(system: System) -> Iterator[Control]:
    lanes = system.lanes
    if lanes is None and system.traffic is None:
        return
    kept: dict[str, Any] = {} if lanes is None else {"devices": lanes.devices}
    if system.has_bursts:
        kept["bursts"] = (lanes.bursts if lanes is not None else None) or 0.0
    stops = [stop_of("one queue for all", {"lanes": None})]
    stops += [
        stop_of(f"{share:.0%} for clients", {"lanes": {**kept, "clients": share}})
        for share in _SHARES
    ]
    alone = {key: value for key, value in kept.items() if key != "bursts"}
    stops.append(stop_of("priority", {"lanes": {**alone, "order": "priority"}}))
    yield Control("lanes", "Lanes", tuple(stops), _lanes_now(lanes, system))


def _lanes_now(lanes: Lanes | None, system: System) -> str:
    if lanes is None or lanes.order == "priority":
        return "one queue for all" if lanes is None else "priority"
    return f"{lanes.shares_with(bursts=system.has_bursts)[0]:.0%} for clients"


def _faults(system: System) -> Iterator[Control]:
    """The faults of the study itself, which a page may take away."""
    if system.faults:
        none = (stop_of("none", {"faults": []}),)
        yield Control("faults", "Faults of the study", none, "as the study says")
