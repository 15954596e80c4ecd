"""Results that no simulation made: small systems whose tables obey the conservation laws.

A failed server's placement groups fall on random survivors. Each group's bytes are read at one
survivor and written at another at a fixed rate, one group after the other, so that sent bytes,
received bytes, transfers, the timeline and the metrics are sums of the same groups.
"""

from typing import Any

import numpy as np
import pyarrow as pa

from resilver.columns import METRICS, SHARD_SCHEMAS
from resilver.spec import Study
from resilver.spec.sweep import Point
from resilver.study.results import StudyTables
from resilver.study.system_runs import SystemRuns, systems
from resilver.study.tables import PHASE_COSTS

OBJECT_BYTES = 64 * 2**20
STREAM_BYTES_PER_SECOND = 0.4 * 2**30


class MemoryResults(StudyTables):
    """The tables of a study, held in memory; its study as a study file has it."""

    study: Any = None

    def __init__(self, **held: Any) -> None:
        vars(self).update({"provenance": {}, **held})

    @property
    def systems(self) -> tuple[Point, ...]:
        return Study.from_dict(self.study).points

    @property
    def study_file(self) -> str:
        return Study.from_dict(self.study).to_toml()

    def _read(self, name: str) -> pa.Table:
        return SHARD_SCHEMAS[name].empty_table()


def replaced(of: MemoryResults, table: str = "runs", **columns: Any) -> MemoryResults:
    """The results with some columns of a table replaced by a constant or a list."""
    made = getattr(of, table)
    for name, value in columns.items():
        at = made.schema.get_field_index(name)
        values = value if isinstance(value, list) else [value] * made.num_rows
        column = pa.array(values, made.schema.field(at).type if at >= 0 else None)
        made = made.set_column(at, name, column) if at >= 0 else made.append_column(name, column)
    return type(of)(**vars(of) | {table: made})


def alone(of: MemoryResults) -> tuple[MemoryResults, SystemRuns]:
    """Results with their one system."""
    (point,) = systems(of)
    return of, point


def results(
    servers: tuple[int, ...] = (64,),
    seeds: int = 5,
    groups: int | None = 190,
    pairs: int | None = None,
    per_host: int = 1,
    objects_per_group: int = 1800,
    extra_swept: dict[str, list[Any]] | None = None,
    prefix: str = "server.",
    faults: tuple[dict[str, Any], ...] = ({"fail": {"servers": 1}},),
) -> MemoryResults:
    """A study of one or several sizes.

    Args:
        servers: The swept numbers of servers; a study of one size sweeps nothing.
        seeds: Seeds of each size.
        groups: Placement groups on the failed server; None for a system without groups.
        pairs: Transfers of a system without groups; by default every pair of survivors.
        per_host: Servers on a host.
        objects_per_group: Mean objects of a transfer; 0 for an empty system.
        extra_swept: A second swept key with its values, as a study file has them.
        prefix: How servers are named.
        faults: The study's faults, as a study file has them.
    """
    swept: dict[str, list[Any]] = {}
    if len(servers) > 1:
        swept["cluster.servers"] = list(servers)
    swept |= extra_swept or {}
    tables: dict[str, list[dict[str, Any]]] = {
        "runs": [], "servers": [], "transfers": [], "timeline": [],
    }  # fmt: skip
    study: dict[str, Any] = {
        "cluster": {"servers": servers[-1], "device": "jbod10-sata"},
        "population": {
            "histogram": "genomes1000", "objects": {"chunk": "64 MiB"},
            "bytes_per_server": "20 TiB",
        },
        "placement": {
            "algorithm": "crush", "bucket": "straw",
            "placement_groups": "auto" if groups else "none",
        },
        "redundancy": {"replicas": 3},
        "faults": [dict(fault) for fault in faults],
        "study": {"seeds": seeds, "sweep": swept},
    }  # fmt: skip
    if "population.file_size" in swept:
        del study["population"]["histogram"]
    points = iter(Study.from_dict(study).points)
    for size in servers:
        for rank in range(max(1, *map(len, (extra_swept or {"": [0]}).values()))):
            values = dict(next(points).swept)
            for seed in range(1, seeds + 1):
                random = np.random.default_rng([size, seed, rank])
                flows = _flows(random, size, groups, pairs, objects_per_group)
                names = [f"{prefix}{index}" for index in range(size)]
                hosts = [f"host{index // per_host}" for index in range(size)]
                _add_run(tables, f"{size:06d}{rank:02d}{seed:04d}".ljust(32, "f"), values, seed,
                         names, hosts, flows, groups)  # fmt: skip
    provenance = {
        "resilver_version": "0.1.0", "schema_version": 2, "python": "3.11.7", "platform": "Linux",
        "host": "example", "command": ["resilver", "run", "study.toml"],
        "started": "2026-01-02T03:04:05+00:00", "finished": "2026-01-02T03:05:05+00:00",
    }  # fmt: skip
    chosen = {key: [row[key] for row in tables["runs"]] for key in swept}
    made = {
        name: pa.Table.from_pylist(rows, schema=schema(name, chosen))
        for name, rows in tables.items()
    }
    return MemoryResults(**made, study=study, provenance=provenance)


def _flows(
    random: np.random.Generator, size: int, groups: int | None, pairs: int | None, objects: int
) -> list[tuple[int, int, int]]:
    """(source, destination, objects) of each group or pair; server 0 is the failed one."""
    if objects == 0:
        return []
    if groups is None and pairs is None:
        ends = [(s, d) for s in range(1, size) for d in range(1, size) if s != d]
    else:
        ends = [
            tuple(1 + random.choice(size - 1, 2, replace=False))
            for _ in range(groups or pairs or 0)
        ]
    counts = np.maximum(1, random.poisson(objects, len(ends)))
    return [(int(s), int(d), int(n)) for (s, d), n in zip(ends, counts, strict=True)]


def _add_run(
    tables: dict[str, list[dict[str, Any]]], run: str, swept: dict[str, Any], seed: int,
    names: list[str], hosts: list[str], flows: list[tuple[int, int, int]], groups: int | None,
) -> None:  # fmt: skip
    """Add the rows of one run to all four tables."""
    size = len(names)
    sent, received = np.zeros(size, dtype=int), np.zeros(size, dtype=int)
    gained = np.zeros(size, dtype=int)
    between: dict[tuple[int, int], int] = {}
    for source, destination, count in flows:
        sent[source] += count
        received[destination] += count
        gained[destination] += 1
        between[source, destination] = between.get((source, destination), 0) + count
    finish = received * OBJECT_BYTES / STREAM_BYTES_PER_SECOND
    end = float(finish.max())
    total = int(received.sum())
    for index in range(size):
        rebuilt = int(received[index])
        tables["servers"].append({
            "run": run, "server": index, "name": names[index], "host": hosts[index],
            "failed": index == 0,
            "placement_groups_gained": int(gained[index]) if groups is not None else None,
            "rebuilt_objects": rebuilt, "rebuilt_bytes": rebuilt * OBJECT_BYTES,
            "remapped_objects": 0, "remapped_bytes": 0,
            "sent_objects": int(sent[index]), "sent_bytes": int(sent[index]) * OBJECT_BYTES,
            "finish_seconds": float(finish[index]) if rebuilt else None,
            "device_busy_seconds": 0.9 * float(finish[index]),
            "device_bytes_read": int(sent[index]) * OBJECT_BYTES,
            "device_bytes_written": rebuilt * OBJECT_BYTES,
            "link_busy_seconds": 0.1 * float(finish[index]),
        })  # fmt: skip
    for (source, destination), count in sorted(between.items()):
        tables["transfers"].append({
            "run": run, "source": source, "destination": destination,
            "objects": count, "bytes": count * OBJECT_BYTES,
        })  # fmt: skip
    _add_timeline(tables["timeline"], run, finish, total * OBJECT_BYTES)
    tables["runs"].append({
        "run": run, **swept, "seed": seed, "digest": f"{int(run[:12]):016x}", "events": 9 * total,
        "simulated_seconds": end, "servers": size, "failed_servers": names[0],
        "population_files": 9 * total, "population_objects": 20 * total,
        "population_bytes": 20 * total * OBJECT_BYTES, "affected_objects": total,
        "rebuilt_objects": total, "rebuilt_pieces": total, "rebuilt_bytes": total * OBJECT_BYTES,
        "unrecoverable_objects": 0, "undersized_replicas": 0, "remapped_objects": 0,
        "remapped_bytes": 0, "rebuild_seconds": end,
        "aggregate_bytes_per_second": total * OBJECT_BYTES / end if end else None,
        "placement_groups": None if groups is None else 4096,
        "placement_groups_affected": groups if total else None,
        "wall_seconds": 1.25, "peak_rss_bytes": 100 * 2**20,
    })  # fmt: skip


def _add_timeline(
    rows: list[dict[str, Any]], run: str, finish: np.ndarray, total_bytes: int
) -> None:
    """Add 200 intervals: every server writes at its constant rate until it has finished."""
    end = float(finish.max())
    if end == 0.0:
        return
    edges = np.linspace(0.0, end, 201)
    done = np.array([np.minimum(finish, edge).sum() for edge in edges]) * STREAM_BYTES_PER_SECOND
    whole = np.rint(done / done[-1] * total_bytes).astype(int)
    # A server's objects become whole one after the other, so that what is left of them falls on a
    # line; one object in fifty has lost two of its three copies.
    objects = total_bytes // OBJECT_BYTES
    missing = [float(np.maximum(finish - edge, 0.0).sum()) for edge in edges]
    short = objects * np.array(missing) / missing[0]
    for at in range(200):
        active = int((finish > edges[at]).sum())
        degraded = float(short[at] + short[at + 1]) / 2.0
        rows.append({
            "run": run, "start_seconds": float(edges[at]),
            "duration_seconds": float(edges[at + 1] - edges[at]),
            "in_flight_bytes": float(active * 2**30),
            "rebuilt_bytes": int(whole[at + 1] - whole[at]),
            "degraded_objects": degraded, "at_risk_objects": degraded / 50.0,
        })  # fmt: skip


def schema(name: str, swept: dict[str, list[Any]]) -> pa.Schema:
    """The columns of a table, those of runs with what is swept."""
    if name != "runs":
        return SHARD_SCHEMAS[name]
    kinds = {str: pa.string(), int: pa.int64(), float: pa.float64()}
    columns = [(key, kinds[type(values[0])]) for key, values in swept.items()]
    costs = [("wall_seconds", pa.float64()), ("peak_rss_bytes", pa.int64())]
    first = [("run", pa.string()), *columns, ("seed", pa.int64())]
    return pa.schema([*first, *METRICS, *costs, *PHASE_COSTS])
