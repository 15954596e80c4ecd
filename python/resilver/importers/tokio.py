"""Time series of servers in HDF5 as TOKIO keeps them, from LMT or collectd.

The layouts are those of github.com/NERSC/pytokio. Under ``datatargets`` stand what targets read and
wrote, a row a time and a column a target: as ``readrates`` and ``writerates``, or as ``readbytes``
and ``writebytes`` whose attribute ``units`` says whether these are bytes or bytes a second.
``fullness`` has blocks used and in all.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from resilver.errors import show
from resilver.importers.log_rows import PartLoad
from resilver.text import refuse

Floats = npt.NDArray[np.float64]
Means = dict[str, float | None]

MAGIC = b"\x89HDF\r\n\x1a\n"
"""What an HDF5 file begins with."""

_BLOCK = 512
"""Rows that are read at once where the last known one is looked for."""

_WALK_SECONDS = 20.0
"""What attributes of a file take at most; those of months take some milliseconds."""

WINDOW_SECONDS = 60.0
"""Over how long before its end a series is averaged."""


def read_tokio(path: Path, window_seconds: float = WINDOW_SECONDS) -> list[PartLoad]:
    """What targets moved on average in the last time of a series, and how full they were.

    Returns:
        A load a target; None for what the series lacks in that time.

    Raises:
        ConfigError: It is no such file, its shapes do not fit, or rates are negative.
    """
    with opened(path) as file:
        return _loads(file, path, window_seconds)


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """An HDF5 file; what breaks while it is read is refused as no file of TOKIO.

    Raises:
        ConfigError: It is no such file.
    """
    import h5py

    # A broken heap keeps the library of HDF5 for ever, or ends its process.
    walk = get_context("fork").Process(target=_walk, args=(path,), daemon=True)
    walk.start()
    walk.join(_WALK_SECONDS)
    if walk.exitcode != 0:
        walk.kill()
        refuse(path, "it is broken: HDF5 never ends with its attributes", "fetch it again")
    try:
        with h5py.File(path, "r") as file:
            yield file
    except OSError as error:
        refuse(path, f"it is no HDF5 file that can be read: {str(error)[:80]}", "fetch it again")
    except (KeyError, RuntimeError, TypeError, ValueError) as error:
        if hasattr(error, "problems"):
            raise
        refuse(path, f"it is not as TOKIO writes it: {str(error)[:80]}", "fetch it again")


def _walk(path: Path) -> None:
    import h5py

    def read(_: str, one: Any) -> None:
        for name in one.attrs:
            with suppress(Exception):
                one.attrs[name]

    with suppress(BaseException), h5py.File(path, "r") as file:
        file.visititems(read)


def read_tokio_series(path: Path, what: str) -> tuple[Floats, Floats]:
    """What all targets together moved in each sample of a series.

    Args:
        what: ``read`` or ``write``.

    Returns:
        When samples begin, in seconds since 1970, and their bytes, NaN where no target is known:
        shape (n,) each. Targets that are not known at a time add nothing.

    Raises:
        ConfigError: It is no such file, does not say this, or its shapes do not fit.
    """
    with opened(path) as file:
        if key := moved_key(file, what):
            return _sums(file, key, path)
        refuse(path, f"there are no {what}rates and no {what}bytes under datatargets")


def moved_key(file: Any, what: str) -> str | None:
    """Where a file has what targets read or wrote; None where it does not say."""
    keys = (f"datatargets/{what}rates", f"datatargets/{what}bytes")
    return next((key for key in keys if key in file), None)


def _sums(file: Any, key: str, path: Path) -> tuple[Floats, Floats]:
    data, times, _ = _checked(file, key, path)
    sums = np.full(len(times), np.nan)
    for begin in range(0, len(times), _BLOCK):
        values = _known(data, begin, begin + _BLOCK - 1)
        is_known = ~np.isnan(values)
        total = np.where(is_known, values, 0.0).sum(axis=1)
        sums[begin : begin + _BLOCK] = np.where(is_known.any(axis=1), total, np.nan)
    if _is_rate(file, key, path):
        sums *= float(np.median(np.diff(times))) if len(times) > 1 else 0.0
    return times, sums


def _loads(file: Any, path: Path, window: float) -> list[PartLoad]:
    moved = {}
    for what in ("read", "write"):
        if key := moved_key(file, what):
            moved[what] = _rates(file, key, path, window)
    if not moved:
        rule = "there are no readrates, writerates, readbytes or writebytes under datatargets"
        refuse(path, rule, "give a file of LMT or of disks")
    fill = _fills(file, path, window)
    names = dict.fromkeys(name for _, found in moved.values() for name in found)
    nothing: Means = {}
    ends = [end for end, _ in moved.values()]
    return [
        PartLoad(
            name,
            moved.get("read", (0.0, nothing))[1].get(name),
            moved.get("write", (0.0, nothing))[1].get(name),
            fill=fill.get(name),
            seconds=max(ends),
        )
        for name in names
    ]


def _rates(file: Any, key: str, path: Path, window: float) -> tuple[float, Means]:
    """The last time at which something is known, and mean bytes a second in the window before."""
    end, step, values, columns = _table(file, key, path, window)
    if not _is_rate(file, key, path):
        if not step:
            refuse(path, f"{key}: bytes need two times or more to be rates")
        values = values / step
    if np.nanmin(values, initial=0.0) < 0.0:
        refuse(path, f"{key} has negative rates", "fetch the file again")
    return end, _means(values, columns)


def _is_rate(file: Any, key: str, path: Path) -> bool:
    """Whether values are bytes a second, or else bytes."""
    units = column_name(file[key].attrs.get("units", "bytes/sec"))
    if units not in ("bytes", "bytes/sec"):
        refuse(path, f"the units of {key} are bytes or bytes/sec", f"not {show(units)}")
    return units == "bytes/sec"


def _fills(file: Any, path: Path, window: float) -> Means:
    if "fullness/bytes" not in file or "fullness/bytestotal" not in file:
        return {}
    _, _, used, columns = _table(file, "fullness/bytes", path, window)
    _, _, total, others = _table(file, "fullness/bytestotal", path, window)
    if columns != others or used.shape != total.shape:
        refuse(path, "fullness/bytes and fullness/bytestotal are of different targets or times")
    with np.errstate(divide="ignore", invalid="ignore"):
        share = used / total
    if np.nanmax(share, initial=0.0) > 1.0 or np.nanmin(share, initial=0.0) < 0.0:
        refuse(path, "fullness/bytes: a target uses no more than it has")
    return _means(share, columns)


def _table(
    file: Any, key: str, path: Path, window: float
) -> tuple[float, float, Floats, list[str]]:
    """The last time of which something is known, the step between times, the values in the window
    before, and the names of columns.
    """
    data, times, columns = _checked(file, key, path)
    last = len(times) - 1
    while last >= 0 and np.isnan(found := _known(data, last - _BLOCK + 1, last)).all():
        last -= _BLOCK
    if last < 0:
        refuse(path, f"{key} has no value", "give a later file")
    last -= int(np.isnan(found[::-1]).all(axis=1).argmin())
    begin = int(np.searchsorted(times, times[last] - window, side="right"))
    step = float(np.median(np.diff(times))) if len(times) > 1 else 0.0
    return float(times[last]), step, _known(data, begin, last), columns


def _checked(file: Any, key: str, path: Path) -> tuple[Any, Floats, list[str]]:
    """A table of the file, its times, and the names of its columns."""
    data = file[key]
    times = np.asarray(file[key.split("/")[0]]["timestamps"][:], dtype=np.float64)
    columns = [column_name(one) for one in data.attrs["columns"]]
    if data.shape != (len(times), len(columns)) or not data.size:
        shape = " x ".join(map(str, data.shape))
        rule = f"{key} is {shape}, and there are {len(times)} times and {len(columns)} columns"
        refuse(path, rule, "fetch the file again")
    if len(set(columns)) < len(columns):
        refuse(path, f"{key} names a column twice", "fetch the file again")
    if not np.isfinite(times).all() or (np.diff(times) <= 0).any():
        refuse(path, f"the times of {key} do not rise", "fetch the file again")
    return data, times, columns


def _known(data: Any, begin: int, last: int) -> Floats:
    """Some rows, NaN for what is missing: TOKIO begins with -0.0 everywhere, and keeps it there."""
    values = np.asarray(data[max(begin, 0) : last + 1], dtype=np.float64)
    values[np.signbit(values) & (values == 0.0)] = np.nan
    return values


def _means(values: Floats, columns: list[str]) -> Means:
    """The mean of what is known of each column; None where nothing is."""
    known = ~np.isnan(values)
    sums = np.where(known, values, 0.0).sum(axis=0)
    return {
        name: float(total / number) if number else None
        for name, total, number in zip(columns, sums, known.sum(axis=0), strict=True)
    }


def column_name(value: Any) -> str:
    """The name of a target, as the attributes of HDF5 keep it."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
