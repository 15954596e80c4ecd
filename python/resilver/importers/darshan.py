"""What a program moved, by its Darshan log: modules, object targets of Lustre, and heat maps.

Read by the package ``darshan`` (the extra ``darshan`` of resilver), which has wheels for Linux and
Python up to 3.12. It reads modules into memory, and tells of records that Darshan dropped for want
of memory no more than that some are missing (*partial*).

A record counts the bytes of one file by one rank, or by all (rank -1). ``LUSTRE`` says on which
object targets a file is; how much went to each is not recorded, and is told here as equal parts,
which it is where whole stripes are written. ``HEATMAP`` has bytes of a rank in equal steps of time,
whose length Darshan doubles while a program runs.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from resilver.importers import darshan_child
from resilver.importers.log_rows import Log, LogRow
from resilver.importers.series import Series
from resilver.importers.walk import printable
from resilver.text import refuse

_VERSION_BYTES = 8
"""A log begins with its version, such as ``3.21``, and zero bytes (darshan-log-format.h)."""
_SECONDS_MAX = 600.0
_KEYS = ("job", "begin", "end", "partial", "modules", "targets", "heat_maps")


def is_darshan(path: Path) -> bool:
    """Whether a file begins as a Darshan log does."""
    try:
        with path.open("rb") as file:
            begin = file.read(_VERSION_BYTES)
    except (OSError, ValueError):
        return False
    version = begin.rstrip(b"\0")
    major, _, minor = version.partition(b".")
    return major.isdigit() and minor.isdigit() and len(version) < len(begin) == _VERSION_BYTES


def read_darshan(path: Path) -> list[Log]:
    """What a program moved.

    Returns:
        Up to four logs: program, with a row a module that reaches files; mpi-io, which does so by
        these; targets, with a row an object target; heat map, with a row a module.

    Raises:
        ConfigError: The package is missing, or the log cannot be read.
    """
    said = _told(path)
    run = (said["job"], said["begin"], said["end"])
    rows = {
        module: LogRow(module, *run, float(read), float(written), reads, writes)
        for module, (read, written, reads, writes) in said["modules"].items()
    }
    above = rows.pop("MPI-IO", None)
    dropped = ", ".join(said["partial"])
    note = f"Darshan dropped records of {dropped}" if dropped else ""
    logs = [Log(path, "program", tuple(rows.values()), note)]
    if above is not None:
        logs.append(Log(path, "mpi-io", (above,), "it reaches files by POSIX"))
    targets = tuple(
        LogRow(f"OST{int(target):04x}", *run, *moved)
        for target, moved in sorted(said["targets"].items(), key=lambda one: int(one[0]))
    )
    if targets:
        logs.append(Log(path, "targets", targets, "equal parts of each file's bytes"))
    heats = tuple(
        LogRow(module, *run, math.fsum(heat["read"]), math.fsum(heat["write"]))
        for module, heat in said["heat_maps"].items()
    )
    if heats:
        begins = next(iter(said["heat_maps"].values()))["begins"]
        step = begins[1] - begins[0] if len(begins) > 1 else 0.0
        logs.append(Log(path, "heat map", heats, f"{len(begins):,} steps of {step:g} s"))
    return logs


def read_heat_maps(path: Path) -> dict[str, dict[str, Series]]:
    """The heat maps of a log: bytes of all ranks over time.

    Returns:
        By module, ``read`` and ``write``: a series of seconds since the program began; none where
        the log has no heat map.

    Raises:
        ConfigError: The package is missing, or the log cannot be read.
    """
    return {
        module: {
            way: Series(np.array(heat["begins"]), np.array(heat[way]), f"{module} {way}")
            for way in ("read", "write")
        }
        for module, heat in _told(path)["heat_maps"].items()
    }


def _told(path: Path) -> dict[str, Any]:
    """What the package says of a log, in a process of its own: some damaged logs end it."""
    if not path.is_file():
        refuse(path, "there is no such file", "check the path")
    # The path is whole: one that begins with a dash is no option, and the folder may be another.
    words = [sys.executable, "-P", darshan_child.__file__, str(path.absolute())]
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    try:
        done = subprocess.run(
            words, env=variables, capture_output=True, timeout=_SECONDS_MAX, check=False
        )
        # What the library itself prints comes before.
        said = json.loads(done.stdout.splitlines()[-1] if done.stdout.strip() else b"{}")
    except subprocess.TimeoutExpired:
        refuse(path, f"it was not read in {_SECONDS_MAX:g} s", "fetch the file again")
    except ValueError:
        said = {}
    if not isinstance(said, dict):
        said = {}
    if "missing" in said:
        rule = f"reading Darshan logs needs the Python package {said['missing']}"
        refuse(path, rule, "pip install 'resilver[darshan]', with Python 3.12 at most")
    if not all(key in said for key in _KEYS):
        why = str(said.get("error", "the package darshan cannot read it")).partition("\n")[0]
        refuse(path, f"it is no whole Darshan log: {printable(why)[:90]}", "fetch the file again")
    return said
