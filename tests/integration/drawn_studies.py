"""Small studies drawn at random over parts, codes, lanes, streams, layouts, networks and faults."""

import random
from typing import Any

CODES = (("copies 2", 2), ("copies 3", 3), ("rs 2+1", 3), ("rs 4+2", 6), ("lrc 4+3 local 2", 7))
"""Codes, and how many pieces each has."""

FABRICS = (
    "leaf spine {leaves}x3 hosts {hosts} entries {entries}",
    "leaf spine {leaves}x2 hosts {hosts} routers {entries}",
    "torus 4x4x4 routers {entries}",
    "hypercube 6 routers {entries}",
)
"""Networks with room for as many servers as are drawn, with one or two ports each."""

STRIPS = ("1 B", "1000 B", "16 KiB", "64 KiB")
"""Sizes of strips, of streams over groups."""


def drawn_study(number: int) -> dict[str, Any]:
    """The study of a number: not every one is valid, as some draws contradict each other.

    Args:
        number: Which one.
    """
    draw = random.Random(f"study {number}")
    group_size = draw.choice((4, 6, 8, 12))
    groups = draw.randint(1, 3)
    servers = group_size * groups
    is_stored = draw.random() < 0.6
    study: dict[str, Any] = {"cluster": _cluster(draw, servers, group_size, is_stored)}
    code, _ = draw.choice([pair for pair in CODES if pair[1] <= group_size])
    study["redundancy"] = _redundancy(draw, code, is_stored)
    study["placement"] = _placement(draw, group_size, is_stored)
    if is_stored:
        study["population"] = _population(draw)
        drivers = ({}, {"driver": "source"}, {"driver": "manager", "managers": number % 5 + 1})
        study["recovery"] = _recovery(draw) | drivers[number % 3]
    has_streams = not is_stored or draw.random() < 0.6
    if has_streams or draw.random() < 0.3:
        # A byte a strip at 100 MB/s comes due a hundred million times a second.
        is_fine = study["redundancy"].get("strip") in STRIPS[:2]
        rates = ("1 kB/s", "100 kB/s") if is_fine else ("1 MB/s", "100 MB/s")
        study["traffic"] = _traffic(draw, has_streams, is_stored, rates)
    if draw.random() < 0.6:
        bursts = has_streams and "bursts" in study["traffic"]["streams"]
        study["lanes"] = _lanes(draw, bursts)
    study["faults"] = _faults(draw, study, groups)
    study["faults"] += _untold_faults(draw, study)
    beside = random.Random(f"parts {number}")
    if beside.random() < 0.5:
        _put_in_parts(beside, study, groups)
    if is_stored:
        _in_pools(random.Random(f"pools {number}"), study, group_size)
    _returns(random.Random(f"returns {number}"), study["faults"], is_stored)
    if is_stored:
        _soften(random.Random(f"software {number}"), study)
    return study


def _soften(draw: random.Random, study: dict[str, Any]) -> None:
    """Limits of software in half of the studies, and devices replaced where they are in some."""
    if draw.random() < 0.5:
        limits = {
            **{key: draw.choice((1, 2, 5)) for key in ("per_driver", "per_source", "per_target")},
            "in_all": draw.choice((1, 3)),
            "time_per_piece": draw.choice(("10 us", "3 ms")),
            "pause": draw.choice(("10 us", "2 ms")),
            "scan_per_piece": "20 us",
            "check_rate": draw.choice(("30 MB/s", "3 GB/s")),
            "rate_in_all": draw.choice(("20 MB/s", "1 GB/s")),
            "burst": draw.choice(("1 B", "3 MB")),
        }
        names = draw.sample(sorted(limits), draw.randint(1, 4))
        study["recovery"]["software"] = {name: limits[name] for name in names}
    for fault in study["faults"]:
        is_told = "servers" in fault.get("fail", {}) and "until" not in fault
        if is_told and draw.random() < 0.4:
            fault["replaced_after"] = draw.choice(("0 s", "90 us", "25 ms"))


MICROSECONDS = {"0 s": 0, "100 us": 100, "1 ms": 1000, "1.9 ms": 1900, "20 ms": 20_000}
"""When parts fail of which the system is told, but for the latest."""


def _returns(draw: random.Random, faults: list[dict[str, Any]], is_stored: bool) -> None:
    """Has parts come back of which the system is told, and some of them go and come back again.

    Beside them disks are gone whose hosts go on forwarding.
    """
    if is_stored and draw.random() < 0.2:
        since = draw.choice((0, 500, 2500))
        disk = {"at": f"{since} us", "part": {"disk": 1}, "told": True}
        faults.append({**disk, "until": f"{since + draw.choice((300, 40_000))} us"})
    if draw.random() < 0.3:
        return
    again: list[dict[str, Any]] = []
    for fault in faults:
        (level, parts), *_ = fault.get("fail", {"": None}).items()
        if level not in ("servers", "hosts", "controllers") or draw.random() < 0.4:
            continue
        at = MICROSECONDS.get(fault["at"], 300_000)
        spans = []
        for _ in range(1 if level == "controllers" else draw.choice((1, 1, 2, 3))):
            until = at + draw.choice((90, 1100, 19_000, 250_000))
            spans.append({"at": f"{at} us", "fail": {level: parts}, "until": f"{until} us"})
            at = until + draw.choice((0, 400, 30_000))
        if len(spans) > 1 and draw.random() < 0.3:
            del spans[-1]["until"]
        fault |= spans[0]
        again += spans[1:]
    faults += again


def _in_pools(draw: random.Random, study: dict[str, Any], group_size: int) -> None:
    """Puts what is stored into several pools, on hosts with devices of two classes in half."""
    if draw.random() < 0.5:
        return
    has_classes = draw.random() < 0.5 and "servers" in study["cluster"]
    if has_classes:
        _with_classes(study)
    own = {name: study.pop(name) for name in ("population", "placement", "redundancy")}
    pools = [{"name": "first", **own}]
    for name in ("second", "third")[: draw.randint(1, 2)]:
        code, _ = draw.choice([pair for pair in CODES if pair[1] <= group_size])
        pool = {
            "name": name,
            "population": _population(draw),
            "placement": _placement(draw, group_size, True),
            "redundancy": _redundancy(draw, code, True),
        }
        if has_classes and pool["placement"]["algorithm"] == "crush":
            pool["placement"]["class"] = draw.choice(("hdd", "ssd"))
        if "parts" in study["cluster"] and not has_classes:
            pool["placement"].setdefault("failure_domain", "server")
        pools.append(pool)
    if "traffic" in study and "streams" not in study["traffic"] and draw.random() < 0.6:
        traffic = study.pop("traffic")
        for pool in draw.sample(pools, draw.randint(1, len(pools))):
            pool["traffic"] = {**traffic, "outstanding": draw.randint(1, 8)}
    if has_classes:
        # A group of servers holds half as many hosts as devices.
        for pool in pools:
            if pool["placement"]["algorithm"] == "groups":
                pool["placement"]["failure_domain"] = "osd"
    study["pools"] = pools


def _with_classes(study: dict[str, Any]) -> None:
    """Makes each server a host with a slow and a fast device behind its ports."""
    cluster = study["cluster"]
    queue = cluster.pop("queue", "fifo")
    kinds = (("hdd", cluster.pop("device"), 0.02), ("ssd", {"service": "0.1 ms"}, 0.0))
    hosts = {"level": "host", "count": cluster.pop("servers"), "ports": cluster.pop("ports")}
    devices = [
        {
            "level": "osd",
            "in": "host",
            "count": 1,
            "class": name,
            "device": device,
            "queue": queue,
            "spread": spread,
        }
        for name, device, spread in kinds
    ]
    cluster["parts"] = [hosts, *devices]
    for fault in study["faults"]:
        if names := fault.get("fail", {}).pop("servers", None):
            fault["fail"]["hosts"] = [name.replace("server", "host") for name in names]
        if (wanted := fault.get("part", {}).pop("server", None)) is not None:
            is_count = isinstance(wanted, int)
            fault["part"]["host"] = (
                wanted if is_count else [name.replace("server", "host") for name in wanted]
            )


SERVICES = ("300 MB/s", {"per_request": "20 us"}, {"rate": "1 GB/s", "per_request": "5 us"})
"""What parts between devices and ports take."""


def _put_in_parts(draw: random.Random, study: dict[str, Any], units: int) -> None:
    """Puts the servers of a study behind controllers and shelves that take time, and may fail."""
    cluster, level = study["cluster"], "unit"
    if cluster["device"] == {"service": "0 s"}:
        # Servers of one port send each other nothing over the network, and would loop in no time.
        cluster["device"] = {"service": "10 us"}
    servers = cluster.pop("servers") // units
    levels: list[dict[str, Any]] = [
        {"level": "unit", "count": units, "ports": cluster.pop("ports")}
    ]
    if draw.random() < 0.4:
        levels[0]["service"] = draw.choice(SERVICES)
    if draw.random() < 0.5 and servers % 2 == 0:
        levels.append({"level": "shelf", "in": level, "count": 2})
        level, servers = "shelf", servers // 2
        if draw.random() < 0.7:
            levels[-1]["service"] = draw.choice(SERVICES)
    levels.append({"level": "server", "in": level, "count": servers})
    study["placement"].setdefault("failure_domain", "server")
    if draw.random() < 0.7:
        carrier: dict[str, Any] = {"level": "controller", "in": "unit", "count": 2}
        carrier |= {"carries": draw.choice((level, "server") if level == "shelf" else ("server",))}
        carrier["service"] = draw.choice(SERVICES)
        if draw.random() < 0.3:
            # What carries others is carried itself.
            below = {"level": "head", "in": "unit", "count": draw.choice((1, 2, 3))}
            levels.append({**below, "carries": carrier["carries"], "service": carrier["service"]})
            carrier["carries"] = "head"
        has_partner = draw.random() < 0.7
        levels.append({**carrier, "partner": True} if has_partner else carrier)
        at = draw.choice(("0 s", "100 us", "1 ms", "20 ms")[: 4 if "population" in study else 3])
        if draw.random() < 0.6 and (has_partner or "population" in study):
            study["faults"].append({"at": at, "fail": {"controllers": 1}})
        elif draw.random() < 0.6:
            slow = {"part": {"controller": 1}, "health": 0.1, "until": "1 s"}
            study["faults"].append({"at": at, **slow})
    cluster["parts"] = levels


def _cluster(draw: random.Random, servers: int, group_size: int, is_stored: bool) -> dict[str, Any]:
    ports = draw.choice((1, 1, 2))
    cluster: dict[str, Any] = {"servers": servers, "ports": ports}
    devices: tuple[Any, ...] = ({"service": "0 s"}, {"service": "1 ms"}, "jbod10-sata")
    cluster["device"] = draw.choice(devices[1:] if is_stored else devices)
    if draw.random() < 0.3:
        cluster["queue"] = draw.choice(("fifo", "reads_first"))
    if ports == 1 and draw.random() < 0.35:
        cluster["fabric"] = {"routers": draw.randint(1, 4)}
        return cluster
    shape = {"leaves": 2 * group_size, "hosts": 3 * ports, "entries": draw.randint(1, 6)}
    cluster["fabric"] = {
        "model": "switched",
        "topology": draw.choice(FABRICS[: 1 if ports == 2 else 4]).format(**shape),
        "link_rate": draw.choice(("1 Gb/s", "10 Gb/s")),
        "packet_size": draw.choice(("4 KiB", "64 KiB")),
    }
    if draw.random() < 0.4:
        cluster["fabric"]["routing"] = draw.choice(("deterministic", "adaptive"))
    return cluster


def _redundancy(draw: random.Random, code: str, is_stored: bool) -> dict[str, Any]:
    if is_stored and draw.random() < 0.2:
        return {"replicas": draw.randint(1, 3)}
    made: dict[str, Any] = {"code": code}
    if not is_stored:
        made["strip"] = draw.choice(STRIPS)
    if draw.random() < 0.4:
        made["coding"] = draw.choice(("10 MB/s", "1 GB/s"))
    return made


def _placement(draw: random.Random, group_size: int, is_stored: bool) -> dict[str, Any]:
    groups: dict[str, Any] = {"algorithm": "groups", "group_size": group_size}
    if not is_stored:
        return groups
    if draw.random() < 0.3:
        return {**groups, "spare": "dedicated"}
    others: tuple[dict[str, Any], ...] = (
        groups,
        {"algorithm": "ring", "ring_points": 16},
        {"algorithm": "rendezvous"},
        {"algorithm": "declustered"},
        {"algorithm": "copysets"},
        {"algorithm": "multi_ring", "ring_points": 16},
        {"algorithm": "crush", "placement_groups": 64},
        {"algorithm": "crush", "placement_groups": "none"},
    )
    return draw.choice(others)


def _population(draw: random.Random) -> dict[str, Any]:
    bins = [["0 B", "10 B", 2], ["1 KiB", "256 KiB", 4], ["1 MiB", "3 MiB", 1]]
    made: dict[str, Any] = {"files": draw.choice((1, 30, 120))}
    if draw.random() < 0.5:
        return {**made, "file_size": draw.choice(("1 B", "1 MiB", "1000001 B"))}
    return {**made, "histogram": {"bins": bins}}


def _recovery(draw: random.Random) -> dict[str, Any]:
    buffer = draw.choice((64, 256, 1024))
    return {
        "pipeline_buffer": f"{buffer} KiB",
        "receive_memory": f"{buffer * draw.choice((4, 5, 64))} KiB",
        "send_memory": f"{buffer * draw.choice((1, 3, 64))} KiB",
        "pipelining": draw.random() < 0.7,
        "source": draw.choice(("primary", "random", "least_loaded")),
        "order": draw.choice(("population", "smallest", "largest", "risk")),
        "retry_after": draw.choice(("1 ms", "1 s")),
        "attempts": draw.choice((1, 3, 10)),
        **({"bandwidth": "20 MB/s"} if draw.random() < 0.2 else {}),
    }


def _traffic(
    draw: random.Random, has_streams: bool, is_stored: bool, rates: tuple[str, ...]
) -> dict[str, Any]:
    made: dict[str, Any] = {"reads": draw.choice((0.0, 0.5, 1.0))}
    window = "20 ms" if is_stored else "2 ms"
    if not is_stored or draw.random() < 0.6:
        made |= {"warm_up": draw.choice(("0 s", "1 ms")), "duration": window}
    if not has_streams:
        outstanding = draw.randint(1, 8)
        mix = [{"of_requests": 0.75, "size": "4 KiB"}, {"of_requests": 0.25, "size": "64 KiB"}]
        sizes = {"mix": mix} if outstanding % 2 else {"request_size": "64 KiB"}
        return {**made, "outstanding": outstanding, **sizes}
    streams: dict[str, Any] = {"window": draw.choice((1, 2, 5))}
    if draw.random() < 0.3:
        streams["rate"] = draw.choice(rates)
    if draw.random() < 0.3:
        streams["bursts"] = {"volume": draw.choice(("1 B", "1 MiB")), "every": "1 ms"}
    if "bursts" in streams and not is_stored and draw.random() < 0.6:
        streams["bursts"]["drain"] = draw.choice(("1 kB/s", "10 MB/s", "10 GB/s"))
    if draw.random() < 0.3:
        streams["entries"] = draw.choice(("paired", "random"))
    return {**made, "streams": streams}


def _lanes(draw: random.Random, bursts: bool) -> dict[str, Any]:
    devices = {"devices": draw.random() < 0.8}
    if draw.random() < 0.3:
        # A rebuild behind clients or bursts that leave nothing would never end.
        classes = ["rebuild", *draw.sample(["clients", "bursts"], 2)]
        return {"order": "priority", "classes": classes, **devices}
    clients = draw.choice((0.0, 0.05, 0.5, 0.9, 1.0))
    if bursts:
        return {"clients": clients, "bursts": round((1 - clients) / 2, 3), **devices}
    return {"clients": clients, **devices}


def _faults(draw: random.Random, study: dict[str, Any], groups: int) -> list[dict[str, Any]]:
    is_stored = "population" in study
    is_switched = study["cluster"]["fabric"].get("model") == "switched"
    streams = study.get("traffic", {}).get("streams")
    faults: list[dict[str, Any]] = []
    times = ("0 s", "100 us", "1 ms", "1.9 ms")
    servers = study["cluster"]["servers"]
    if is_stored:
        names = draw.sample(range(servers), draw.randint(1, min(4, servers - 1)))
        at = draw.choices((*times, "20 ms", "300 ms"), k=len(names))
        alike = at[0] if draw.random() < 0.3 else None
        failing = zip(names, at, strict=True)
        faults += [
            {"at": alike or at, "fail": {"servers": [f"server.{one}"]}} for one, at in failing
        ]
    elif streams is not None and draw.random() < 0.7:
        corrupt: dict[str, Any] = {"groups": draw.randint(1, groups)}
        size = study["placement"]["group_size"]
        if draw.random() < 0.3:
            corrupt["code"] = draw.choice([code for code, pieces in CODES if pieces <= size])
        if draw.random() < 0.5:
            corrupt["strips"] = draw.choice((1, 30))
            if draw.random() < 0.5:
                study["traffic"].pop("duration", None)
        if draw.random() < 0.4:
            corrupt["window"] = draw.choice((1, 40))
        faults.append({"at": draw.choice(times), "corrupt": corrupt})
    if streams is not None and not is_stored and draw.random() < 0.3:
        names = [f"server.{one}" for one in draw.sample(range(servers), draw.choice((1, 1, 3)))]
        faults.append({"at": draw.choice(times), "fail": {"servers": names}})
    kinds = ["disks"]
    if is_switched:
        kinds += ["links", "switches"]
    if draw.random() < 0.5:
        return faults
    for kind in draw.sample(kinds, draw.randint(1, len(kinds))):
        count = draw.randint(1, 3 if kind != "links" else 12)
        fault: dict[str, Any] = {"at": draw.choice(times), "fail": {kind: count}}
        if draw.random() < 0.5:
            fault["repair_after"] = draw.choice(("200 us", "5 ms"))
        faults.append(fault)
    return faults


def _untold_faults(draw: random.Random, study: dict[str, Any]) -> list[dict[str, Any]]:
    """Servers that are cut off, and parts, links and switches that are slow, perhaps for a time."""
    is_switched = study["cluster"]["fabric"].get("model") == "switched"
    parts = ["server", "disk", "link", "switch"] if is_switched else ["server", "disk"]
    faults: list[dict[str, Any]] = []
    for _ in range(draw.choice((0, 0, 1, 2, 3))):
        at = draw.choice((0, 100, 1000, 1900))
        part = draw.choice(parts)
        fault: dict[str, Any] = {"at": f"{at} us", "part": {part: draw.randint(1, 2)}}
        if draw.random() < 0.6:
            fault["health"] = draw.choice((0.05, 0.3, 0.9))
        elif part not in ("link", "switch"):
            fault["told"] = False
        if draw.random() < 0.6:
            fault["until"] = f"{at + draw.choice((150, 800, 30_000))} us"
        faults.append(fault)
    return faults
