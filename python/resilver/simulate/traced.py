"""A run with a trace of a window of its time: each message, request, buffer and wait, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from resilver import _core, core_input
from resilver.core_errors import core_errors
from resilver.simulate.maps import maps_of
from resilver.simulate.progress import Progress
from resilver.simulate.result import RunResult
from resilver.simulate.stepping import finished
from resilver.spec import System

_COUNTS = ("object", "piece", "buffer")


def traced(
    system: System,
    seed: int,
    window_picoseconds: tuple[int, int],
    rows_max: int,
    progress: Callable[[Progress], bool] | None = None,
) -> tuple[RunResult, dict[str, pa.Table]]:
    """A run of a system, and what happened from one time of it up to another.

    Args:
        window_picoseconds: From when, and until when.
        rows_max: How many rows a table may have.
        progress: As of `simulate`.

    Returns:
        The result, which is that of `simulate`, and the tables of the trace by name.

    Raises:
        ConfigError: A table would have more rows, or clients are flows, which send no messages.
        Others: As `simulate`.
    """
    with core_errors(f"seed {seed}"):
        text, maps = core_input.core_json(system, seed), maps_of(system)
        simulation = _core.Simulation.traced(text, maps, window_picoseconds, rows_max)
        result = finished(system, seed, simulation, progress)
        tables = simulation.trace()
    devices = {device.number: device.name for device in core_input.devices(system)}
    names = {"device": devices, "source_device": devices, "destination_device": devices}
    names |= dict.fromkeys(("source", "destination"), _endpoint_names(system))
    return result, {name: _named(table, names) for name, table in tables.items()}


def _endpoint_names(system: System) -> dict[int, str]:
    """The ports of the devices' hosts by their endpoints, as far as devices have any."""
    ports = core_input.ports_of(system) or [[port] for port in core_input.endpoints(system)]
    names = {}
    for device in core_input.devices(system):
        for number, endpoint in enumerate(ports[device.number]):
            several = f" port {number}" if len(ports[device.number]) > 1 else ""
            names[endpoint] = f"{device.host}{several}"
    return names


def _named(table: pa.Table, names: Mapping[str, Mapping[int, str]]) -> pa.Table:
    """The table with names for numbers of parts, and nothing where there is no such part."""
    for place, column in enumerate(table.column_names):
        if column in names:
            named = _names_of(np.asarray(table[column]), names[column])
            table = table.set_column(place, column, named)
        elif column in _COUNTS:
            cells = table[column].combine_chunks()
            none = pa.scalar(None, pa.int64())
            table = table.set_column(place, column, pc.if_else(pc.less(cells, 0), none, cells))
    return table


def _names_of(numbers: npt.NDArray[np.int32], names: Mapping[int, str]) -> pa.DictionaryArray:
    """Names by number: a number below 0 has none, and behind all that have, clients come in."""
    last = max(names, default=-1)
    distinct, places = np.unique(numbers, return_inverse=True)
    words = [names.get(int(one), f"router.{one - last - 1}") for one in distinct]
    codes = pa.array(places.astype(np.int32), mask=numbers < 0)
    return pa.DictionaryArray.from_arrays(codes, pa.array(words, pa.string()))
