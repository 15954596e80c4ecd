"""What benchmarks measured, of devices, servers, clients and names, as one table.

Each program's file is known by its content. A reader is a file here, with what tells its program,
and a line of `READERS`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from resilver.errors import ConfigError, name_remedy, show
from resilver.importers.benchmarks import (
    elbencho,
    fair_lio,
    fio_rows,
    io500,
    ior,
    ior_json,
    mdtest,
    obdfilter,
    own,
    sgpdd,
    suite,
)
from resilver.importers.benchmarks.table import LAYERS, Benchmarks, Found
from resilver.importers.benchmarks.table import Benchmark as Benchmark
from resilver.importers.fio import read_each
from resilver.importers.parquet import MAGIC
from resilver.text import decode, read_bytes, refuse

READERS: tuple[tuple[Callable[[str], object], Callable[[str, Path], Found]], ...] = (
    (own.is_own, own.read_own),
    (suite.is_suite, suite.read_suite),
    (elbencho.is_elbencho_csv, elbencho.read_elbencho_csv),
    (fio_rows.is_fio, fio_rows.read_fio_rows),
    (ior_json.is_ior_json, ior_json.read_ior_json),
    (elbencho.is_elbencho_json, elbencho.read_elbencho_json),
    (ior.KNOWN.search, ior.read_ior),
    (mdtest.KNOWN.search, mdtest.read_mdtest),
    (io500.is_io500, io500.read_io500),
    (obdfilter.KNOWN.search, obdfilter.read_obdfilter),
    (sgpdd.KNOWN.search, sgpdd.read_sgpdd),
    (fair_lio.KNOWN.search, fair_lio.read_fair_lio),
)
"""What tells each program's output, and what reads it; the first that knows a text reads it.

A reader takes the text, and the file that it came from, for messages.
"""

_KNOWN = (
    "fair-lio, the OLCF suite's CSV, obdfilter-survey, sgpdd-survey, IOR, mdtest, IO500's summary, "
    "fio's JSON and elbencho are known"
)


def is_benchmark(path: Path) -> bool:
    """Whether a file is one that `read_benchmarks` knows by its content.

    Raises:
        ConfigError: It cannot be read.
    """
    data = read_bytes(path)
    if data.startswith(MAGIC):
        return True
    text = data.decode("utf-8-sig", errors="replace")
    return any(knows(text) for knows, _ in READERS)


def read_benchmarks(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], *, fio_layer: str = "block"
) -> Benchmarks:
    """Read what benchmark programs wrote, as one table.

    Args:
        paths: A file or several, of any of the programs: fair-lio, the OLCF suite's CSV,
            obdfilter-survey, sgpdd-survey, IOR (text or JSON), mdtest, IO500's summary, fio's JSON,
            elbencho (CSV or JSON); or this table as CSV or Parquet.
        fio_layer: What fio measured: ``block``, ``server`` or ``file system``.

    Returns:
        A row a rate, in bytes or operations per second.

    Raises:
        ConfigError: A file cannot be read or known, or has no result; with every such file.

    >>> read_benchmarks("absent.txt")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    resilver.errors.ConfigError: absent.txt: there is no such file; ...
    """
    data_layers = LAYERS[:-1]
    if fio_layer not in data_layers:
        remedy = name_remedy(fio_layer, data_layers, "layers")
        raise ConfigError("fio measures data", remedy, key="fio_layer", value=show(fio_layer))
    listed = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    files = read_each((Path(one).expanduser() for one in listed), _read)
    if not files:
        raise ConfigError("no benchmark is given", "name at least one file")
    rows = tuple(
        replace(one, layer=fio_layer) if one.program == fio_rows.PROGRAM else one
        for file in files
        for one in file.rows
    )
    return Benchmarks(rows, tuple(dict.fromkeys(note for file in files for note in file.notes)))


def _read(path: Path) -> Found:
    data = read_bytes(path)
    if data.startswith(MAGIC):
        return own.read_own_parquet(data, path)
    text = decode(data, path)
    if not text.strip():
        refuse(path, "the file is empty", "give what the program printed")
    for knows, read in READERS:
        if knows(text):
            return read(text, path)
    refuse(path, "this is no benchmark's output that is known here", _KNOWN)
