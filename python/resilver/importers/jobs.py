"""When jobs ran: from a CSV, from Slurm's `sacct`, or from JSON of its steps as TOKIO keeps it."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from resilver.errors import ConfigError, show
from resilver.text import parse_json, read_text, refuse

_COLUMNS = 'begin it with "start,end,name", or give what sacct --parsable2 prints'
_STEP = re.compile(r"(\d+(?:_\d+)?)\.(\w+)")
_OFFSET = re.compile(r"([+-])(\d\d):?(\d\d)")
_NO_TIME = ("", "Unknown", "None")


@dataclass(frozen=True)
class Job:
    """When a job ran.

    Attributes:
        name: What it is called.
        start: Seconds since 1970, or on the clock of the log that it belongs to.
        end: Likewise.
    """

    name: str
    start: float
    end: float


def zone_of(text: str) -> tzinfo:
    """A time zone by its name or its offset.

    Args:
        text: Such as ``UTC``, ``America/Los_Angeles`` or ``-08:00``.

    Raises:
        ConfigError: There is no such zone.
    """
    if match := _OFFSET.fullmatch(text):
        minutes = 60 * int(match[2]) + int(match[3])
        if minutes < 24 * 60:
            return timezone(timedelta(minutes=minutes if match[1] == "+" else -minutes))
    try:
        return UTC if text == "UTC" else ZoneInfo(text)
    except (KeyError, ValueError, OSError):
        rule = "there is no such time zone"
        remedy = 'write its name, such as "America/Los_Angeles", or its offset, such as "-08:00"'
        raise ConfigError(rule, remedy, "--zone", show(text)) from None


def read_jobs(path: Path, zone: tzinfo = UTC) -> list[Job]:
    """When jobs ran.

    Of what Slurm lists, whole jobs count, or steps where there are only steps of one job; jobs that
    have no end yet are passed over.

    Args:
        path: A CSV with columns ``start`` and ``end``, in seconds or as dates, and ``name`` where
            there is one; what `sacct` prints, with ``--parsable2`` or without; or JSON of steps.
        zone: Where dates without an offset are of; `sacct` prints those of the place.

    Returns:
        The jobs, in order of their starts.

    Raises:
        ConfigError: It cannot be read, has no jobs, or a time is not one; the message names the
            line.
    """
    text = read_text(path)
    if text.lstrip().startswith("{"):
        rows = _steps_of_json(parse_json(text, path), path)
    else:
        rows = _rows(text, path)
    jobs = [job for place, row in rows if (job := _job(row, place, zone)) is not None]
    if not jobs:
        refuse(path, "there is no job with a start and an end in it", _COLUMNS)
    whole = [job for job in jobs if not _STEP.fullmatch(job.name)]
    steps = [job for job in jobs if (at := _STEP.fullmatch(job.name)) and at[2].isdigit()]
    # One job of many steps is as many runs: its steps are the program's starts.
    chosen = steps if len(whole) <= 1 and len(steps) > 1 else whole or steps
    return sorted(chosen or jobs, key=lambda job: job.start)


def _rows(text: str, path: Path) -> list[tuple[str, dict[str, str]]]:
    """The lines of a table below its header, by lower-case column."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if len(lines) < 2:
        refuse(path, "there is no header with a job below it", _COLUMNS)
    head = lines[0]
    rules = len(lines) > 2 and set(lines[1].strip()) <= {"-", " "}
    try:
        if rules:
            # Columns are as wide as the dashes below their names.
            spans = [match.span() for match in re.finditer("-+", lines[1])]
            table = [[line[begin:end].strip() for begin, end in spans] for line in lines]
        else:
            mark = next((mark for mark in "|,\t" if mark in head), ",")
            table = list(csv.reader(io.StringIO("\n".join(lines)), delimiter=mark))
    except csv.Error as error:
        refuse(path, f"it is no CSV: {error}", _COLUMNS)
    names = [name.strip().lower() for name in table[0]]
    if "start" not in names or "end" not in names:
        refuse(path, "its first line names no columns start and end", _COLUMNS)
    rows = []
    for number, cells in enumerate(table[2 if rules else 1 :], start=3 if rules else 2):
        place = f"{path}, job in line {number}"
        if len(cells) < max(names.index("start"), names.index("end")) + 1:
            refuse(place, f"{len(cells)} values for {len(names)} columns", _COLUMNS)
        rows.append((place, dict(zip(names, cells, strict=False))))
    return rows


def _steps_of_json(given: Any, path: Path) -> list[tuple[str, dict[str, str]]]:
    if not isinstance(given, dict) or not all(isinstance(one, dict) for one in given.values()):
        refuse(path, "JSON of jobs is a table of tables with start and end", _COLUMNS)
    return [
        (
            f"{path}, {name}",
            {"jobid": name, **{key: str(one.get(key, "")) for key in ("start", "end")}},
        )
        for name, one in given.items()
    ]


def _job(row: dict[str, str], place: str, zone: tzinfo) -> Job | None:
    """A job of its row; None where it has not begun or not ended."""
    start, end = row["start"].strip(), row["end"].strip()
    if start in _NO_TIME or end in _NO_TIME:
        return None
    begins, ends = _time(start, "start", place, zone), _time(end, "end", place, zone)
    if ends <= begins:
        refuse(place, f"it ends at {show(end)}, which is not after its start {show(start)}")
    names: Sequence[str] = ("name", "jobid", "jobidraw")
    return Job(next((row[key].strip() for key in names if row.get(key)), place), begins, ends)


def _time(text: str, key: str, place: str, zone: tzinfo) -> float:
    try:
        seconds = float(text)
    except ValueError:
        pass
    else:
        if not math.isfinite(seconds):
            refuse(place, f"{key} = {show(text)} is no time", "write seconds, or a date")
        return seconds
    try:
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo else found.replace(tzinfo=zone)).timestamp()
    except (ValueError, OverflowError, OSError):
        refuse(place, f"{key} = {show(text)} is no time", "write seconds, or 2026-01-31T12:00:00")
