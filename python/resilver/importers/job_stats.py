"""Who moved what: `lctl get_param obdfilter.*.job_stats` of Lustre's servers.

Each target lists the jobs that it served since their counters were cleared, in a form of YAML
(Lustre Operations Manual, "Lustre Jobstats")::

    obdfilter.scratch-OST0000.job_stats=
    job_stats:
    - job_id:          4711
      snapshot_time:   1700000010
      read_bytes:      { samples: 0, unit: bytes, min: 0, max: 0, sum: 0 }
      write_bytes:     { samples: 20, unit: bytes, min: 1048576, max: 1048576, sum: 20971520 }
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NoReturn

from resilver.errors import show
from resilver.importers.log_rows import PARAMETER, LogRow, calendar_time
from resilver.text import refuse

_HEAD = re.compile(r"(?:obdfilter|mdt)\.(?P<target>[\w.-]+)\.job_stats=(?:job_stats:)?\s*")
_JOB = re.compile(r"- job_id:\s*(?P<job>\S.*?)?\s*")
_TIME = re.compile(r"\s+(?P<what>snapshot_time|start_time):\s+(?P<seconds>\d+(?:\.\d+)?)\b.*")
_BYTES = re.compile(
    r"\s+(?P<what>read|write)_bytes:\s+\{\s*samples:\s*(?P<samples>\d+),(?P<rest>.*)\}\s*"
)
_SUM = re.compile(r"\bsum:\s*(?P<sum>\d+)")


def is_job_stats(text: str) -> bool:
    """Whether some of a text is what `lctl get_param *.job_stats` prints."""
    return any(_HEAD.fullmatch(line) for line in text.splitlines())


def read_job_stats(text: str, path: Path) -> list[LogRow]:
    """What each job moved at each target.

    Args:
        text: The dump; other parameters in it are passed over.

    Returns:
        A row a job and target.

    Raises:
        ConfigError: A line of a job is damaged, or a job stands twice at one target.
    """
    rows: list[LogRow] = []
    seen: set[tuple[str, str]] = set()
    target: str | None = None
    found: dict[str, float] = {}
    job: str | None = None

    def end() -> None:
        if target is not None and job is not None:
            rows.append(_row(target, job, found))

    for number, line in enumerate(text.splitlines(), 1):
        place = f"{path}, line {number}"
        if head := _HEAD.fullmatch(line):
            end()
            target, job = head["target"], None
        elif PARAMETER.match(line):
            end()
            target = job = None
        elif target is None or not line.strip() or line.strip() == "job_stats:":
            continue
        elif begun := _JOB.fullmatch(line):
            end()
            job, found = (begun["job"] or "").strip("\"'"), {}
            if (target, job) in seen:
                refuse(place, f"the job {show(job)} stands twice at {target}", "keep one dump")
            seen.add((target, job))
        elif job is None:
            _damaged(place, line)
        else:
            _count(place, line, found)
    end()
    return rows


def _count(place: str, line: str, found: dict[str, float]) -> None:
    """Take a line of a job; operations other than reads and writes are passed over."""
    if time := _TIME.fullmatch(line):
        found[time["what"]] = float(time["seconds"])
    elif moved := _BYTES.fullmatch(line):
        total = _SUM.search(moved["rest"])
        if total is None and int(moved["samples"]):
            _damaged(place, line)
        found[f"{moved['what']}s"] = int(moved["samples"])
        found[f"{moved['what']}_bytes"] = int(total["sum"]) if total else 0
    elif (
        line.lstrip().startswith(("read_bytes", "write_bytes", "snapshot_time"))
        or not line[:1].isspace()
    ):
        _damaged(place, line)


def _row(target: str, job: str, found: dict[str, float]) -> LogRow:
    reads, writes = found.get("reads"), found.get("writes")
    return LogRow(
        target,
        job,
        calendar_time(found.get("start_time")),
        calendar_time(found.get("snapshot_time")),
        found.get("read_bytes"),
        found.get("write_bytes"),
        None if reads is None else int(reads),
        None if writes is None else int(writes),
    )


def _damaged(place: str, line: str) -> NoReturn:
    refuse(place, f"{show(line[:60])} is no line of job_stats", "fetch the file again")
