"""What was moved over time, as logs of servers and of programs tell it.

A table (CSV or Parquet) has a column ``time`` and one of what was moved since, named with its unit:
``bytes``, ``size(MiB)``, ``rate(MB/s)``, or ``counter`` for bytes counted from the start of a
server; the word ``read`` or ``write`` before it says which of both it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from resilver.errors import name_remedy, show
from resilver.importers import tokio
from resilver.importers.parquet import MAGIC, reading
from resilver.text import decode, read_bytes, refuse
from resilver.units import BYTE_UNITS, DURATION_UNITS, RATE_UNITS

Floats = npt.NDArray[np.float64]

_COLUMN = re.compile(
    r"(?i:(?:(read|write)s?[ _]?)?(time|bytes|size|rate|counter))(?:\s*[(\[](.+?)[)\]])?"
)
_REMEDY = 'name the columns first, as in "time(s),bytes" or "time(s),write rate(MB/s)"'
_TIMES = ("time", "timestamp", "timestamps")
_NEGATIVE_MOST = 0.01
_GAP = 3.0


MOVED = {"writes": ("write",), "reads": ("read",), "both": ("read", "write")}
"""Which bytes of a log may be asked for, and what the log calls them."""


@dataclass(frozen=True, eq=False)
class Series:
    """Bytes moved over time.

    Attributes:
        times: When each sample begins, in seconds, rising: shape (n,). Since 1970, or since the
            beginning of a run where that is all that is known.
        values: The bytes of each sample, which lasts until the next one begins: shape (n,). NaN
            where they are not known.
        name: What it is of, such as the name of its file.
    """

    times: Floats = field(repr=False)
    values: Floats = field(repr=False)
    name: str = ""


def read_series(path: Path, moved: str = "writes") -> Series:
    """Bytes over time from a log.

    Where a table does not say what is read and what is written, its bytes are those asked for.

    Args:
        path: HDF5 of TOKIO or LMT, whose targets are summed; a CSV or Parquet; or a log of Darshan,
            whose heat map has what the program itself moved.
        moved: Which bytes count: ``writes``, ``reads`` or ``both``.

    Raises:
        ConfigError: It cannot be read, its columns or units are not known, or its times do not
            rise; the message names the row.
    """
    try:
        with path.open("rb") as file:
            begin = file.read(len(tokio.MAGIC))
    except OSError as error:
        refuse(path, f"it cannot be read: {error.strerror}", "check the path")
    from resilver.importers.darshan import is_darshan

    if begin == tokio.MAGIC:
        found = [tokio.read_tokio_series(path, what) for what in MOVED[moved]]
        # One that is there where the other is not counts alone.
        known = np.sum([np.isfinite(values) for _, values in found], axis=0)
        values = np.nansum([values for _, values in found], axis=0)
        return _checked(Series(found[0][0], np.where(known > 0, values, np.nan), path.name), path)
    if is_darshan(path):
        return _checked(_heat_map(path, moved), path)
    table = _parquet(path) if begin.startswith(MAGIC) else _csv(path)
    return _checked(_of_table(table, moved, path), path)


def _heat_map(path: Path, moved: str) -> Series:
    """What a program moved, of all modules that reach files themselves, as MPI-IO does not."""
    from resilver.importers.darshan import read_heat_maps

    maps = [one for module, one in read_heat_maps(path).items() if not module.startswith("MPI")]
    if not maps:
        rule = "this log of Darshan has no heat map"
        refuse(path, rule, "give a log of Darshan 3.4 or later, or one of the servers")
    found = [one[way] for one in maps for way in MOVED[moved]]
    longest = max(found, key=lambda one: len(one.times))
    values = np.zeros(len(longest.times))
    for one in found:
        values[: len(one.values)] += one.values
    return Series(longest.times, values, path.name)


def _csv(path: Path) -> Any:
    import pyarrow
    from pyarrow import csv

    nothing = ["", "nan", "NaN", "NA", "null", "-"]
    options = csv.ConvertOptions(null_values=nothing, strings_can_be_null=True)
    data = read_bytes(path)
    # Arrow looks at the bytes of values, and not at those of the columns' names.
    decode(data.partition(b"\n")[0], path)
    try:
        return csv.read_csv(pyarrow.BufferReader(data), convert_options=options)
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        refuse(path, f"it is no table: {str(error).splitlines()[0][:90]}", _REMEDY)


def _parquet(path: Path) -> Any:
    from pyarrow import parquet

    with reading(path, "fetch it again"):
        return parquet.read_table(path)


def _of_table(table: Any, moved: str, path: Path) -> Series:
    """The series of a table."""
    time: tuple[str, str] | None = None
    columns: dict[str | None, tuple[str, str, str | None]] = {}
    for name in table.column_names:
        plain = name.strip()
        match = _COLUMN.fullmatch("time" if plain.lower() in _TIMES else plain)
        if match is None:
            continue
        which, kind = match[1] and match[1].lower(), match[2].lower()
        if kind == "time":
            time = (name, match[3] or "s")
        elif which in columns:
            refuse(path, f"both {show(columns[which][0])} and {show(name)} say what was moved")
        else:
            columns[which] = (name, kind, match[3])
    if time is None or not columns:
        what = "time" if time is None else "bytes, size, rate or counter"
        there = ", ".join(map(show, table.column_names[:8]))
        refuse(path, f"there is no column {what}, but {there}", _REMEDY)
    times = _times(table, *time, path)
    chosen = [columns[key] for key in MOVED[moved] if key in columns]
    if not chosen:
        if None not in columns:
            rule = f"it does not say what it {moved if moved != 'both' else 'moves'}"
            refuse(path, rule, f"choose what {show(next(iter(columns.values()))[0])} has with --of")
        chosen = [columns[None]]
    values = sum((_moved(table, *column, times, path) for column in chosen), np.zeros(len(times)))
    return Series(times, np.asarray(values), path.name)


def _times(table: Any, name: str, unit: str, path: Path) -> Floats:
    import pyarrow as pa

    column = table[name].combine_chunks()
    if pa.types.is_timestamp(column.type):
        nanoseconds = column.cast(pa.timestamp("ns")).cast(pa.int64())
        return np.asarray(nanoseconds.to_numpy(zero_copy_only=False), dtype=np.float64) / 1e9
    if unit not in DURATION_UNITS:
        rule = f"column {show(name)}: {show(unit)} is no unit of time"
        refuse(path, rule, name_remedy(unit, list(DURATION_UNITS), "units"))
    return _numbers(table, name, path) * float(DURATION_UNITS[unit])


def _numbers(table: Any, name: str, path: Path) -> Floats:
    import pyarrow as pa

    column = table[name].combine_chunks()
    if pa.types.is_null(column.type):
        return np.full(len(column), np.nan)
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        for row, value in enumerate(column.to_pylist()):
            try:
                float(value if value is not None else "nan")
            except (TypeError, ValueError):
                where = f"{path}, row {row + 1}"
                refuse(where, f"column {show(name)} has {show(str(value))}, which is no number")
        refuse(path, f"column {show(name)} has no numbers")
    return np.asarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)


def _moved(table: Any, name: str, kind: str, unit: str | None, times: Floats, path: Path) -> Floats:
    """Bytes of each sample, NaN where they are not known."""
    values = _numbers(table, name, path)
    known = RATE_UNITS if kind == "rate" else BYTE_UNITS
    if unit is None and kind in ("rate", "size"):
        example = "MB/s" if kind == "rate" else "MB"
        rule = f"column {show(name)} has no unit, and MB is not MiB"
        refuse(path, rule, f'write "{name}({example})" or "{name}({example.replace("B", "iB")})"')
    if unit is not None and unit not in known:
        rule = f"column {show(name)}: {show(unit)} is no unit of a {kind}"
        refuse(path, rule, name_remedy(unit, [one for one in known if "bit" not in one], "units"))
    values = values * float(known[unit] if unit else 1)
    if kind == "counter":
        # A counter that falls was set back, as by a restart: what was moved meanwhile is not known.
        moved = np.append(np.diff(values), np.nan)
        return np.where(moved < 0.0, np.nan, moved)
    if kind == "rate" and len(times) > 1:
        spans = np.diff(times)
        usual = float(np.median(spans))
        values = values * np.append(np.where(spans >= _GAP * usual, usual, spans), usual)
    return values


def _checked(found: Series, path: Path) -> Series:
    """The series, if it can be one; the few values that are negative are not known."""
    if not len(found.times):
        refuse(path, "it has no samples", "give a longer log")
    if len(bad := np.flatnonzero(~np.isfinite(found.times))):
        refuse(f"{path}, row {bad[0] + 1}", "it has no time", "remove the row")
    if len(bad := np.flatnonzero(np.diff(found.times) <= 0.0)):
        rule = (
            f"its time {found.times[bad[0] + 1]:.10g} s is not after {found.times[bad[0]]:.10g} s"
        )
        refuse(f"{path}, row {bad[0] + 2}", rule, "sort the rows, and keep one of each time")
    if len(bad := np.flatnonzero(np.isinf(found.values))):
        refuse(f"{path}, row {bad[0] + 1}", "its bytes are not finite", "leave the value out")
    with np.errstate(invalid="ignore"):
        is_negative = found.values < 0.0
    if is_negative.mean() > _NEGATIVE_MOST:
        row = int(np.argmax(is_negative))
        rule = f"{is_negative.sum():,} samples have negative bytes, the first {found.values[row]:g}"
        remedy = "name the column counter if it counts from the start of a server"
        refuse(f"{path}, row {row + 1}", rule, remedy)
    if is_negative.any():
        return replace(found, values=np.where(is_negative, np.nan, found.values))
    return found
