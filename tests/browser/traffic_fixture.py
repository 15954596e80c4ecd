"""Results of clients' traffic that no simulation made: a square torus of small size.

Requests go from routers to hosts along rows, then along columns. Every table is summed over the
same requests: links carry what the ways add up to, servers what was asked of them, and the
histograms and the intervals hold each request once.
"""

from typing import Any

import numpy as np
import pyarrow as pa

from resilver.columns import SHARD_SCHEMAS
from resilver.spec import Study
from tests.browser.report_fixture import MemoryResults, schema
from tests.browser.report_fixture import results as rebuild_results

REQUEST_BYTES = 512 * 2**10
PACKETS = 8
"""Packets of a request."""
SERVICE_SECONDS = 0.022
PACKET_SECONDS = 8 * (65536 + 38) / 1e9
WARM_UP_SECONDS = 0.044
DURATION = 1.0
"""How long statistics last, in seconds."""
FAULT_SECONDS = 0.5
INTERVAL_SECONDS = 0.01


def traffic_results(
    side: int = 8,
    routers: int = 4,
    seeds: int = 3,
    loads: tuple[int, ...] = (400,),
    faults: tuple[str, ...] = ("none",),
) -> MemoryResults:
    """A study of one torus of `side` times `side` nodes.

    Args:
        side: Nodes a side, at least 3.
        routers: How many of them are routers.
        seeds: Seeds of each system.
        loads: The swept numbers of requests outstanding; one alone is not swept.
        faults: The swept faults in words ("none", "2 disks" or "2 links"); one alone is not swept.
    """
    tables: dict[str, list[dict[str, Any]]] = {
        name: [] for name in ("runs", "servers", "links", "distributions", "traffic")
    }
    sweep: dict[str, list[Any]] = {}
    if len(loads) > 1:
        sweep["traffic.outstanding"] = list(loads)
    if len(faults) > 1:
        sweep["faults"] = [_faults(fault) for fault in faults]
    study = {
        "cluster": {
            "servers": side * side - routers,
            "device": "cheetah-15k",
            "fabric": {
                "model": "switched", "topology": f"torus {side}x{side} routers {routers}",
                "link_rate": "1 Gb/s", "packet_size": "64 KiB", "routing": "adaptive",
            },
        },
        "traffic": {
            "outstanding": loads[0], "interval": "22 ms", "reads": 0.5,
            "request_size": "512 KiB", "timeout": "0.4 s",
            "warm_up": f"{WARM_UP_SECONDS} s", "duration": f"{DURATION} s",
        },
        "faults": _faults(faults[0]),
        "study": {"seeds": seeds, "sweep": sweep},
    }  # fmt: skip
    points = iter(Study.from_dict(study).points)
    swept: dict[str, list[Any]] = {key: [] for key in sweep}
    for load in loads:
        for fault in faults:
            chosen = dict(next(points).swept)
            for key, value in chosen.items():
                swept[key].append(value)
            for seed in range(1, seeds + 1):
                run = f"{load:06d}{faults.index(fault):02d}{seed:04d}".ljust(32, "a")
                network = _Network(side, routers, np.random.default_rng([side, load, seed]))
                _add_run(tables, run, chosen, seed, network, load, fault)
    made = {
        name: pa.Table.from_pylist(rows, schema=schema(name, swept))
        for name, rows in tables.items()
    }
    provenance = {"resilver_version": "0.1.0", "schema_version": 3, "command": ["resilver", "run"]}
    return MemoryResults(**made, study=study, provenance=provenance)


def _faults(fault: str) -> list[dict[str, Any]]:
    """Faults as a study file has them, of words such as "2 disks"."""
    if fault == "none":
        return []
    count, kind = fault.split()
    return [{"at": f"{FAULT_SECONDS} s", "fail": {kind: int(count)}}]


class _Network:
    """A square torus: its nodes, its links, and the channels of a way through it."""

    def __init__(self, side: int, routers: int, random: np.random.Generator) -> None:
        self.side, self.random = side, random
        self.routers = sorted(int(n) for n in random.choice(side * side, routers, replace=False))
        self.hosts = [node for node in range(side * side) if node not in self.routers]
        self.links = []
        for node in range(side * side):
            x, y = node % side, node // side
            self.links.append((node, y * side + (x + 1) % side))
            self.links.append((node, (y + 1) % side * side + x))
        self.channel = {pair: (at, 0) for at, pair in enumerate(self.links)}
        self.channel |= {(b, a): (at, 1) for at, (a, b) in enumerate(self.links)}

    def name(self, node: int) -> str:
        """A node as the core names it."""
        if node in self.routers:
            return f"router.{self.routers.index(node)}"
        return f"host.{self.hosts.index(node)}"

    def way(self, start: int, end: int) -> list[tuple[int, int]]:
        """The channels from one node to another: along the row, then along the column."""
        side, node, found = self.side, start, []
        for stride, size in ((1, side), (side, side)):
            while (node // stride) % size != (end // stride) % size:
                ahead = ((end // stride) - (node // stride)) % size
                step = 1 if ahead <= size // 2 else -1
                place = (node // stride + step) % size
                following = node + (place - (node // stride) % size) * stride
                found.append(self.channel[node, following])
                node = following
        return found


def _add_run(
    tables: dict[str, list[dict[str, Any]]], run: str, swept: dict[str, Any], seed: int,
    network: _Network, load: int, fault: str,
) -> None:  # fmt: skip
    """Add the rows of one run to all tables."""
    random, hosts = network.random, network.hosts
    # Each disk serves its share of the outstanding requests at its own pace.
    count = int(DURATION / SERVICE_SECONDS * min(len(hosts), load / 24))
    target = random.integers(len(hosts), size=count)
    entry = random.integers(len(network.routers), size=count)
    is_read = random.random(count) < 0.5
    done = WARM_UP_SECONDS + DURATION * np.sort(random.random(count))
    delay = np.where(is_read, 0.03, 0.012) + random.gamma(3.0, load / 40_000, count)
    lost = np.zeros(count, dtype=bool)
    failed_hosts, failed_links = np.zeros(0, dtype=int), np.zeros(0, dtype=int)
    if fault.endswith("disks"):
        failed_hosts = random.choice(len(hosts), int(fault.split()[0]), replace=False)
        lost = np.isin(target, failed_hosts) & (done > FAULT_SECONDS)
    elif fault.endswith("links"):
        failed_links = random.choice(len(network.links), int(fault.split()[0]), replace=False)
    kept = ~lost
    packets = np.zeros((len(network.links), 2), dtype=int)
    hops = np.zeros(4 * network.side, dtype=int)
    for at in np.flatnonzero(kept):
        ends = (network.routers[entry[at]], hosts[target[at]])
        way = network.way(*(ends if not is_read[at] else ends[::-1]))
        hops[len(way)] += PACKETS
        for link, direction in way:
            packets[link, direction] += PACKETS
    queued = (packets * 0.4).astype(int)
    busy = packets * PACKET_SECONDS
    server_rows(tables["servers"], run, network, target, is_read, lost, failed_hosts)
    link_rows(tables["links"], run, network, packets, queued, busy, failed_links)
    for quantity, values in (
        ("read_delay_seconds", delay[kept & is_read]),
        ("write_delay_seconds", delay[kept & ~is_read]),
        ("channel_busy_fraction", (busy / DURATION).ravel()),
    ):
        _histogram(tables["distributions"], run, quantity, values)
    for number in np.flatnonzero(hops):
        tables["distributions"].append({
            "run": run, "quantity": "hops", "low": float(number), "high": float(number + 1),
            "count": int(hops[number]),
        })  # fmt: skip
    _course(tables["traffic"], run, done, delay, is_read, lost)
    used = (packets, queued, busy, hops, failed_hosts, failed_links)
    tables["runs"].append(
        {"run": run, **swept, "seed": seed, "requests_outstanding": load}
        | _metrics(network, is_read, lost, delay, used)
    )


def _metrics(
    network: _Network, is_read: np.ndarray, lost: np.ndarray, delay: np.ndarray,
    used: tuple[np.ndarray, ...],
) -> dict[str, Any]:  # fmt: skip
    """The metrics of a run, from its requests and from what they used of the network."""
    packets, queued, busy, hops, failed_hosts, failed_links = used
    kept = ~lost
    reads, writes = (float((kept & kind).sum()) for kind in (is_read, ~is_read))
    dropped = int(failed_links.size) * 3
    return {
        "digest": f"{int(packets.sum()):016x}", "events": int(packets.sum()),
        "simulated_seconds": WARM_UP_SECONDS + DURATION,
        "servers": len(network.hosts), "failed_servers": "",
        "failed_disks": ", ".join(f"server.{n}" for n in failed_hosts),
        "failed_links": ", ".join(
            "-".join(network.name(end) for end in network.links[link]) for link in failed_links
        ),
        "failed_switches": "", "population_objects": 0, "rebuilt_objects": 0,
        "rebuilt_pieces": 0, "rebuilt_bytes": 0,
        "rebuild_seconds": 0.0,
        "requests_completed": int(kept.sum()), "requests_lost": int(lost.sum()),
        "requests_issued": lost.size, "requests_late": 0,
        "read_bytes_per_second": reads * REQUEST_BYTES / DURATION,
        "write_bytes_per_second": writes * REQUEST_BYTES / DURATION,
        "throughput_bytes_per_second": (reads + writes) * REQUEST_BYTES / DURATION,
        "mean_delay_seconds": float(delay[kept].mean()),
        "p50_delay_seconds": float(np.median(delay[kept])),
        "p99_delay_seconds": float(np.percentile(delay[kept], 99)),
        "mean_hops": float((hops * np.arange(hops.size)).sum() / hops.sum()),
        "packets_delivered": int(hops.sum()), "packets_dropped": dropped,
        "packets_dropped_no_link": 0, "packets_dropped_hop_limit": 0,
        "packets_dropped_cut": dropped, "packets_deviated": 5 * dropped,
        "packets_queued_fraction": float(queued.sum() / packets.sum()),
        "link_busy_fraction": float(busy.mean() / DURATION),
        "link_busy_fraction_max": float(busy.max() / DURATION),
        "device_busy_fraction": float(kept.sum() * SERVICE_SECONDS / DURATION / len(network.hosts)),
        "write_backlog_requests": 40, "statistics_seconds": DURATION,
        "wall_seconds": 0.5, "serving_seconds": 0.5, "peak_rss_bytes": 50 * 2**20,
    }  # fmt: skip


def server_rows(
    rows: list[dict[str, Any]], run: str, network: _Network, target: np.ndarray,
    is_read: np.ndarray, lost: np.ndarray, failed: np.ndarray,
) -> None:  # fmt: skip
    """A row a server: what was asked of it, and what it answered."""
    size = len(network.hosts)
    counts = {
        "requests_completed": np.bincount(target[~lost], minlength=size),
        "requests_lost": np.bincount(target[lost], minlength=size),
        "requests_read": np.bincount(target[~lost & is_read], minlength=size),
        "requests_written": np.bincount(target[~lost & ~is_read], minlength=size),
    }
    for server in range(size):
        own = {name: int(values[server]) for name, values in counts.items()}
        rows.append({
            "run": run, "server": server, "name": f"server.{server}", "host": f"server.{server}",
            "failed": server in failed, "write_backlog_requests": server % 3,
            "device_busy_seconds": own["requests_completed"] * SERVICE_SECONDS, **own,
        })  # fmt: skip


def link_rows(
    rows: list[dict[str, Any]], run: str, network: _Network, packets: np.ndarray,
    queued: np.ndarray, busy: np.ndarray, failed: np.ndarray,
) -> None:  # fmt: skip
    """A row a link, its nodes drawn where they stand in the square."""
    side = network.side
    for link, (first, second) in enumerate(network.links):
        row: dict[str, Any] = {"run": run, "link": link, "failed": link in failed}
        for end, node in (("from", first), ("to", second)):
            row |= {end: node, f"{end}_name": network.name(node)}
            row |= {f"{end}_x": node % side / (side - 1), f"{end}_y": node // side / (side - 1)}
        for way, name in enumerate(("forward", "backward")):
            row |= {
                f"{name}_busy_seconds": float(busy[link, way]),
                f"{name}_packets": int(packets[link, way]),
                f"{name}_queued": int(queued[link, way]),
                f"{name}_bytes": int(packets[link, way]) * 65574,
            }
        rows.append(row)


def _histogram(rows: list[dict[str, Any]], run: str, quantity: str, values: np.ndarray) -> None:
    """Bins of equal ratios for delays, of equal widths for shares."""
    if quantity.endswith("seconds"):
        edges = np.geomspace(1e-3, 1.0, 301)
    else:
        edges = np.linspace(0.0, 1.0, 101)
    counts, _ = np.histogram(np.clip(values, edges[0], edges[-1]), edges)
    for at in np.flatnonzero(counts):
        rows.append({
            "run": run, "quantity": quantity, "low": float(edges[at]),
            "high": float(edges[at + 1]), "count": int(counts[at]),
        })  # fmt: skip


def _course(
    rows: list[dict[str, Any]], run: str, done: np.ndarray, delay: np.ndarray,
    is_read: np.ndarray, lost: np.ndarray,
) -> None:  # fmt: skip
    """Intervals from the beginning to the end; nothing completes in the first of them."""
    edges = np.arange(0.0, WARM_UP_SECONDS + DURATION + 1e-9, INTERVAL_SECONDS)
    place = np.digitize(done, edges) - 1
    for at, start in enumerate(edges):
        own = place == at
        kept = own & ~lost
        rows.append({
            "run": run, "start_seconds": float(start), "duration_seconds": INTERVAL_SECONDS,
            "requests_completed": int(kept.sum()), "requests_lost": int((own & lost).sum()),
            "read_bytes": int((kept & is_read).sum()) * REQUEST_BYTES,
            "write_bytes": int((kept & ~is_read).sum()) * REQUEST_BYTES,
            "mean_delay_seconds": float(delay[kept].mean()) if kept.any() else None,
            "packets_dropped": 0, "write_backlog_requests": int(10 + at),
        })  # fmt: skip


def _during(row: dict[str, Any]) -> dict[str, Any]:
    """What clients got beside the rebuild, and before it: a quarter more."""
    rate = row["throughput_bytes_per_second"]
    return {
        "during_seconds": row["rebuild_seconds"],
        "during_throughput_bytes_per_second": rate,
        "before_throughput_bytes_per_second": 1.25 * rate,
        "during_before_throughput_ratio": 0.8,
        "during_mean_read_delay_seconds": row["mean_delay_seconds"],
        "during_p99_read_delay_seconds": row["p99_delay_seconds"],
    }


def beside_rebuild(seeds: int = 2, **of_traffic: Any) -> MemoryResults:
    """A study of 60 servers that rebuild one of them while clients go on: both fixtures in one."""
    healed = rebuild_results(servers=(60,), seeds=seeds, groups=60, objects_per_group=4)
    served = traffic_results(seeds=seeds, **of_traffic)
    keys = dict(zip(served.runs["run"].to_pylist(), healed.runs["run"].to_pylist(), strict=True))
    for name in ("links", "distributions", "traffic"):
        rows = [{**row, "run": keys[row["run"]]} for row in getattr(served, name).to_pylist()]
        setattr(healed, name, pa.Table.from_pylist(rows, schema=SHARD_SCHEMAS[name]))
    for name in ("runs", "servers"):
        pairs = zip(
            getattr(healed, name).to_pylist(), getattr(served, name).to_pylist(), strict=True
        )
        rows = [
            {**other, **{key: value for key, value in own.items() if value is not None}}
            for own, other in pairs
        ]
        if name == "runs":
            rows = [row | _during(row) for row in rows]
        columns = schema(name, {})
        setattr(healed, name, pa.Table.from_pylist(rows, schema=columns))
    healed.study |= {"traffic": served.study["traffic"]}
    healed.study["cluster"] |= {"fabric": served.study["cluster"]["fabric"]}
    return healed
