"""A study whose runs take no native core: what the store and the executor are tested with.

A system is a dictionary of what its run does, so that a test can have a run sleep, fail or die.
"""

import hashlib
import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa

from resilver import errors
from resilver.columns import SHARD_SCHEMAS, TABLE_NAMES
from resilver.study import Results, execute
from resilver.study.fork_server import WITHOUT_THREADS
from resilver.study.progress import RunState
from tests.front_door import environment

_OF_TRAFFIC = [f"requests_{what}" for what in ("completed", "lost", "read", "written")]
_OF_TRAFFIC.append("write_backlog_requests")

SIMULATOR = "tests.unit.study_fakes:simulate"


@dataclass(frozen=True)
class FakeRun:
    """What `resilver.spec.Run` is to the executor."""

    system: Mapping[str, Any]
    swept: Mapping[str, Any]
    seed: int
    key: str


class FakeStudy:
    """What `resilver.spec.Study` is to the executor; `simulate` says what every run does."""

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
        progress: as in `resilver.study.simulate`.

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


def filled(name: str, rows: int = 2, /, **known: Any) -> pa.Table:
    """A table of a run, whose other columns count down to 0."""
    columns = {}
    for field in SHARD_SCHEMAS[name].remove(0):
        values = known.get(field.name)
        if values is None and pa.types.is_string(field.type):
            values = [f"{field.name}.{at}" for at in reversed(range(rows))]
        elif values is None and pa.types.is_binary(field.type):
            values = [b"{}"] * rows
        elif values is None:
            values = list(reversed(range(rows)))
        columns[field.name] = pa.array(values).cast(field.type)
    return pa.table(columns)


def output(seed: int) -> Any:
    """Metrics and tables that follow from the seed alone; no rows are in the order of files."""
    draws = np.random.default_rng(seed)
    servers = 4
    rebuilt = draws.integers(1, 1 << 30, servers)
    names = [f"server.{index}" for index in range(servers)]
    ends = [2, 0, 1]
    tables = {
        "servers": filled(
            "servers", servers, server=range(servers), name=names, host=names,
            failed=[index == 0 for index in range(servers)], rebuilt_bytes=rebuilt,
            finish_seconds=draws.random(servers),
            **dict.fromkeys(("placement_groups_gained", *_OF_TRAFFIC), [None] * servers),
        ),
        "transfers": filled("transfers", servers, source=[3, 1, 2, 0], bytes=rebuilt),
        # Three hosts at a switch, and two intervals of traffic, in the second of which none ends.
        "links": filled(
            "links", 3, link=ends, to=[3] * 3, from_name=[f"host.{end}" for end in ends],
            to_name=["switch.0"] * 3, forward_packets=[10 + end for end in ends],
            **{"from": ends},
        ),
        "distributions": filled("distributions", quantity=["hops"] * 2),
        "traffic": filled("traffic", mean_delay_seconds=[None, 0.03]),
        "lanes": filled("lanes", part=["links"] * 2, **{"class": ["rebuild", "clients"]}),
        "limits": filled("limits", kind=["reading", "receive_memory"], name=["server.0", None]),
    }  # fmt: skip
    others = [name for name in SHARD_SCHEMAS if name not in tables]
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
    return SimpleNamespace(metrics=metrics, **tables, **{name: filled(name) for name in others})


def perform(study: FakeStudy, folder: Path, **options: Any) -> Results:
    """Execute in this process, unless workers are asked for."""
    options.setdefault("workers", 0)
    return execute(study, folder, simulator=SIMULATOR, **options)  # type: ignore[arg-type]


SCRIPT = """
import os, signal, sys, time
from resilver.errors import ConfigError
from resilver.study import heartbeat, fork_server
from tests.unit.study_fakes import FakeStudy, perform
"""


def started(code: str, *arguments: object, **options: Any) -> subprocess.Popen[Any]:
    """Another process with a script that performs studies of this module."""
    command = [sys.executable, "-c", SCRIPT + code, *map(str, arguments)]
    return subprocess.Popen(command, env=environment(**WITHOUT_THREADS), **options)


def tables(folder: Path) -> dict[str, bytes]:
    """The bytes of all tables."""
    return {name: (folder / f"{name}.parquet").read_bytes() for name in TABLE_NAMES}
