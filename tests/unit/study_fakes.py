"""A study whose runs take no native core: what the store and the executor are tested with.

A system is a dictionary of what its run does, so that a test can have a run sleep, fail or die.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa

from resilver import errors
from resilver.columns import SHARD_SCHEMAS, table_of
from resilver.study.progress import RunState

_OF_TRAFFIC = (
    "requests_completed",
    "requests_lost",
    "requests_read",
    "requests_written",
    "write_backlog_requests",
)

SIMULATOR = "tests.unit.study_fakes:simulate"


@dataclass(frozen=True)
class FakeRun:
    """What `resilver.spec.Run` is to the executor."""

    system: Mapping[str, Any]
    swept: Mapping[str, Any]
    seed: int
    key: str


class FakeStudy:
    """What `resilver.spec.Study` is to the executor.

    Args:
        seeds: the seeds of every point.
        sweep: values by dotted key.
        behaviour: what every run does; see `simulate`.
    """

    def __init__(
        self,
        seeds: Sequence[int] = (1, 2, 3),
        sweep: Mapping[str, Sequence[Any]] | None = None,
        **behaviour: Any,
    ) -> None:
        self.seeds = list(seeds)
        self.sweep = dict(sweep or {})
        self.behaviour = behaviour

    def assumptions(self) -> list[Any]:
        """What results rest on: nothing."""
        return []

    def chances(self) -> tuple[str, ...]:
        """What the seeds draw."""
        return ("everything",)

    def resolved(self) -> dict[str, Any]:
        """The study as a JSON-able dictionary."""
        return {
            "cluster": {"servers": 4, **{k: v for k, v in self.behaviour.items() if k == "racks"}},
            "study": {"seeds": self.seeds, "sweep": self.sweep},
        }

    def to_toml(self, keep: Any = str) -> str:
        """The study as a file."""
        return f"[study]\nseeds = {self.seeds}\n"

    def runs(self) -> list[FakeRun]:
        """Every point of the sweep with every seed."""
        result = []
        for values in itertools.product(*self.sweep.values()):
            swept = dict(zip(self.sweep, values, strict=True))
            for seed in self.seeds:
                identity = json.dumps([swept, seed, self.behaviour.get("racks")], sort_keys=True)
                key = hashlib.sha256(identity.encode()).hexdigest()[:32]
                result.append(FakeRun({**self.behaviour, **swept}, swept, seed, key))
        return result


def simulate(
    system: Mapping[str, Any], seed: int, progress: Callable[[Any], bool] | None = None
) -> Any:
    """A run that does as its system says.

    Args:
        system: `seconds` it takes, `error`, `die` or `crash` the seeds that end so, `log` a file
            that gets a line a run.
        seed: the seed.
        progress: as in `resilver.simulate.simulate`.

    Returns:
        Metrics and tables that follow from the seed.
    """
    if "log" in system:
        with open(system["log"], "a", encoding="ascii") as file:
            file.write(f"{seed}\n")
    steps = 20
    for step in range(steps):
        time.sleep(system.get("seconds", 0.0) / steps)
        state = RunState("rebuilding", step / steps, 100 * step, 2.0 * step, step, steps)
        if progress is not None and not progress(state):
            raise errors.Interrupted("stopped")
    if seed in system.get("error", ()):
        raise errors.SimulationError("the books do not balance")
    if seed in system.get("crash", ()):
        raise ZeroDivisionError("division by zero")
    if seed in system.get("die", ()):
        os.kill(os.getpid(), signal.SIGKILL)
    return output(seed)


def output(seed: int) -> Any:
    """Metrics and tables that follow from the seed alone."""
    draws = np.random.default_rng(seed)
    servers = 4
    rebuilt = draws.integers(1, 1 << 30, servers)
    metrics = {
        "digest": f"{seed:032x}",
        "events": int(draws.integers(1, 1000)),
        "servers": servers,
        "rebuilt_bytes": int(rebuilt.sum()),
        "rebuilt_objects": servers,
        "rebuilt_pieces": servers,
        "rebuild_seconds": float(draws.random()),
        "aggregate_bytes_per_second": float(draws.random()) * 1e9,
    }
    counts = pa.array(rebuilt, pa.int64())
    reals = pa.array(draws.random(servers))
    ids = pa.array(range(servers), pa.int32())
    table = pa.table(
        {
            "server": ids,
            "name": [f"server.{index}" for index in range(servers)],
            "host": [f"server.{index}" for index in range(servers)],
            "failed": [index == 0 for index in range(servers)],
            "placement_groups_gained": pa.nulls(servers, pa.int64()),
            "rebuilt_objects": counts,
            "rebuilt_bytes": counts,
            "remapped_objects": pa.array([0] * servers, pa.int64()),
            "remapped_bytes": pa.array([0] * servers, pa.int64()),
            "sent_objects": counts,
            "sent_bytes": counts,
            "finish_seconds": reals,
            "device_busy_seconds": reals,
            "device_bytes_read": counts,
            "device_bytes_written": counts,
            "link_busy_seconds": reals,
            **{name: pa.nulls(servers, pa.int64()) for name in _OF_TRAFFIC},
        }
    )
    transfers = pa.table(
        {"source": ids, "destination": ids, "objects": counts, "bytes": counts}
    ).take(pa.array([3, 1, 2, 0]))
    timeline = pa.table(
        {
            "start_seconds": pa.array([0.0, 1.0]),
            "duration_seconds": pa.array([1.0, 1.0]),
            "in_flight_bytes": pa.array([5.0, 2.5]),
            "rebuilt_bytes": pa.array([3, 4], pa.int64()),
            "degraded_objects": pa.array([2.0, 0.5]),
            "at_risk_objects": pa.array([1.0, 0.0]),
        }
    )
    return SimpleNamespace(
        metrics=metrics,
        servers=table,
        transfers=transfers,
        timeline=timeline,
        **_network(),
        request_classes=table_of("request_classes", {"class": [0], "request_bytes": [4096]}, 1),
        limits=_limits(),
        flows=table_of("flows", {"flows": [3], "binding": ["server.0"]}, 1),
        layers=table_of("layers", {"layer": ["server"], "parts": [3]}, 1),
        jobs=table_of("jobs", {"job": ["a"], "burst": [0]}, 1),
        answers=table_of("answers", {"part": ["answer"], "content": [b"{}"]}, 1),
    )


def _limits() -> pa.Table:
    """What a run's last device waited for."""
    limits = {
        "destination": ["server.1"] * 2,
        "window_seconds": [0.5] * 2,
        "kind": ["reading", "receive_memory"],
        "name": ["server.0", None],
        "parts": [1, 1],
        "busy_fraction": [1.0, None],
        "waited_fraction": [0.75, 0.5],
        "buffers": [3.0, 4.0],
        "destinations": [2, None],
        "is_limit": [True, False],
    }
    return table_of("limits", limits, 2)


def _network() -> dict[str, pa.Table]:
    """Three hosts at a switch, and two intervals of traffic, in the second of which none ends."""
    ends = [2, 0, 1]
    links = {
        "link": ends,
        "from": ends,
        "to": [3] * 3,
        "from_name": [f"host.{end}" for end in ends],
        "to_name": ["switch.0"] * 3,
        "failed": [False] * 3,
    }
    for column in ("from_x", "from_y", "to_x", "to_y"):
        links[column] = [0.5] * 3
    for direction in ("forward", "backward"):
        links[f"{direction}_busy_seconds"] = [0.25] * 3
        for column in ("packets", "queued", "bytes"):
            links[f"{direction}_{column}"] = [10 + end for end in ends]
    hops = {"quantity": ["hops"] * 2, "low": [1.0, 2.0], "high": [2.0, 3.0], "count": [0, 33]}
    traffic = {
        "start_seconds": [0.0, 1.0],
        "duration_seconds": [1.0, 1.0],
        "requests_completed": [4, 0],
        "requests_lost": [0, 1],
        "read_bytes": [1024, 0],
        "write_bytes": [1024, 0],
        "mean_delay_seconds": [0.03, None],
        "packets_dropped": [0, 8],
        "write_backlog_requests": [2, 2],
    }
    lanes = {
        "part": ["links"] * 2,
        "class": ["rebuild", "clients"],
        "share": [0.25, 0.75],
        "units": [3, 9],
        "bytes": [300, 900],
        "busy_seconds": [0.25, 0.75],
        "mean_wait_seconds": [0.5, None],
        "lent_bytes": [0, 100],
        "borrowed_bytes": [100, 0],
    }
    lending = {"part": ["links"], "lender": ["clients"], "borrower": ["rebuild"], "bytes": [100]}
    groups = {
        "group": [1, 0],
        "is_rebuilding": [False, True],
        "servers": [2, 2],
        "ports_working": [2, 2],
        "mean_delay_seconds": [None, 0.03],
    }
    pools = [{"pool": name, "objects": 3, "rebuild_seconds": 0.5} for name in ("b", "a")]
    parts = {
        "level": ["enclosure"] * 2,
        "part": [1, 0],
        "name": ["enclosure.1", "enclosure.0"],
        "requests": [3, 9],
        "bytes": [300, 900],
        "busy_seconds": [0.25, 0.75],
        "busy_fraction": [0.125, 0.375],
    }
    for kind in ("read", "write", "burst", "rebuild"):
        groups[f"{kind}_bytes_per_second"] = [2.0, 1.0]
    return {
        "links": pa.table(links),
        "distributions": pa.table(hops),
        "traffic": pa.table(traffic),
        "lanes": pa.table(lanes),
        "lending": pa.table(lending),
        "stripe_groups": pa.table(groups),
        "pools": pa.Table.from_pylist(pools, schema=SHARD_SCHEMAS["pools"].remove(0)),
        "parts": pa.table(parts),
    }
