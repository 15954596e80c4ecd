"""Runs begun from the core's own input, as a page has it: tables as the core tells them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import pyarrow as pa

from resilver import _core
from resilver.core_errors import core_errors
from resilver.errors import Interrupted
from resilver.simulate.ceph import HealProgress, heal
from resilver.simulate.progress import Progress

RunKind = Literal["system", "cluster"]
"""What runs: a system of a study, or a Ceph cluster that heals."""


@dataclass(frozen=True)
class CoreAnswer:
    """What a run came to, in the core's own tables.

    Attributes:
        digest: 16 hexadecimal digits of all that happened: runs of equal digests are equal.
        tables: The tables by name; one without columns where a system has no such part. Metrics
            of a system are a table of one row.
    """

    digest: str
    tables: dict[str, pa.Table]


def perform(
    kind: RunKind,
    text: str,
    maps: Sequence[bytes] = (),
    progress: Callable[[Progress | HealProgress], bool] | None = None,
) -> CoreAnswer:
    """Run what the core's input says.

    Args:
        text: Its JSON, as `resilver.core_input` or `resilver.whatif` writes it.
        maps: The CRUSH maps beside a system, in Ceph's binary form.
        progress: Told several times a second how far the run is; answers whether to go on.

    Returns:
        What the run came to.

    Raises:
        ConfigError: A value of the input cannot be.
        PlacementError: A CRUSH map cannot be used.
        SimulationError: The run passed the time horizon or broke a conservation law.
        Interrupted: `progress` answered False.
    """
    if kind == "cluster":
        healed = heal(text, progress)
        return CoreAnswer(healed.digest, healed.tables)
    return _of_system(text, [_map(number, one) for number, one in enumerate(maps)], progress)


def _map(number: int, content: bytes) -> _core.CrushMap:
    with core_errors(f"maps[{number}]"):
        return _core.CrushMap.from_bytes(content)


def _of_system(
    text: str,
    maps: Sequence[_core.CrushMap],
    progress: Callable[[Progress | HealProgress], bool] | None,
) -> CoreAnswer:
    with core_errors():
        simulation = _core.Simulation(text, maps)
        phase = ""
        while phase != "done":
            state = Progress(*simulation.advance())
            phase = state.phase
            if progress is not None and not progress(state):
                raise Interrupted("the run was stopped before its end")
        metrics, found = simulation.report()
    tables = {"metrics": pa.table({name: [value] for name, value in metrics.items()})}
    for name, table in found.items():
        tables[name] = pa.table({}) if table is None else table
    return CoreAnswer(str(metrics["digest"]), tables)
