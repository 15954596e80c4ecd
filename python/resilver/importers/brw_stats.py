"""How large requests are: `lctl get_param osd-*.*.brw_stats` of Lustre's servers.

Histograms with a line a class, reads left and writes right of a bar. A class is named by its
largest value, and holds what is above the class before (``lprocfs_oh_tally_log2`` of Lustre's
obdclass doubles classes). ``pages per bulk r/w`` counts the requests of clients by pages, ``disk
I/O size`` what the disks were asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from resilver.errors import show
from resilver.importers.log_rows import PARAMETER, LogRow, calendar_time
from resilver.text import refuse
from resilver.units import exact_bytes

PAGE_BYTES = 4096
"""A page of the servers, which are x86 and ARM of 4 KiB pages."""

REQUESTS, DISK = "pages per bulk r/w", "disk I/O size"

_HEAD = re.compile(r"(?:osd-\w+|obdfilter)\.(?P<target>[\w.-]+)\.brw_stats=\s*")
_TIME = re.compile(r"(?P<what>snapshot_time|start_time):?\s+(?P<seconds>\d+(?:\.\d+)?)\b.*")
_TITLE = re.compile(r"(?P<title>\S.*?)\s{2,}(?:rpcs|ios|maps)\s.*")
_CLASS = re.compile(
    r"(?P<value>\d+)(?P<unit>[KMG]?):\s+(?P<reads>\d+)\s+\d+\s+\d+\s+\|\s+(?P<writes>\d+)\s+\d+\s+\d+"
)
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}
_OST = re.compile(r".+-OST[0-9a-fA-F]{4}")


class RequestSizes(NamedTuple):
    """A histogram of one target.

    Attributes:
        target: The target; empty where the file does not name it.
        title: What is counted, such as ``disk I/O size``.
        begin_seconds: Since when; None where that is not said.
        end_seconds: Until when.
        classes: By the largest value of each class, as it is printed (pages, bytes, times): reads
            and writes.
    """

    target: str
    title: str
    begin_seconds: float | None
    end_seconds: float | None
    classes: dict[int, tuple[int, int]]


def is_brw_stats(text: str) -> bool:
    """Whether some of a text is what `lctl get_param *.brw_stats` prints."""
    return any(line.startswith(REQUESTS) for line in text.splitlines())


def read_brw_stats(text: str, path: Path) -> list[RequestSizes]:
    """The histograms of each target.

    Args:
        text: The dump; other parameters in it are passed over.

    Returns:
        A histogram a target and title, also empty ones.

    Raises:
        ConfigError: A line of a histogram is damaged, or its classes do not rise.
    """
    found: list[RequestSizes] = []
    target: str | None = ""
    times: dict[str, float] = {}
    for number, raw in enumerate(text.splitlines(), 1):
        line, place = raw.strip(), f"{path}, line {number}"
        if head := _HEAD.fullmatch(line):
            target, times = head["target"], {}
        elif PARAMETER.match(line):
            target = None
        elif target is None or not line or line.startswith("read "):
            continue
        elif time := _TIME.fullmatch(line):
            times[time["what"]] = float(time["seconds"])
        elif title := _TITLE.fullmatch(line):
            begin, end = (calendar_time(times.get(key)) for key in ("start_time", "snapshot_time"))
            found.append(RequestSizes(target, title["title"], begin, end, {}))
        elif line.startswith("elapsed_time"):
            continue
        else:
            _count(line, place, found)
    return found


def _count(line: str, place: str, found: Sequence[RequestSizes]) -> None:
    one = _CLASS.fullmatch(line)
    if one is None or not found:
        rule = f"{show(line[:60])}: a class, reads and writes with their shares are expected"
        refuse(place, rule, "fetch the file again")
    classes = found[-1].classes
    value = int(one["value"]) * _UNITS[one["unit"]]
    if classes and value <= max(classes):
        refuse(place, "the classes of a histogram do not rise", "fetch the file again")
    classes[value] = int(one["reads"]), int(one["writes"])


def request_rows(found: Iterable[RequestSizes]) -> list[LogRow]:
    """The requests of clients by size: a row a target and class with some."""
    return [
        LogRow(
            one.target,
            None,
            one.begin_seconds,
            one.end_seconds,
            reads=reads,
            writes=writes,
            request_bytes=pages * PAGE_BYTES,
        )
        for one in found
        if one.title == REQUESTS
        for pages, (reads, writes) in one.classes.items()
        if reads or writes
    ]


def mix_text(rows: Iterable[LogRow], path: Path) -> str:
    """The classes of ``[traffic] mix`` that requests to object targets are.

    Args:
        rows: Rows of `request_rows`; those of metadata targets are left out.

    Returns:
        TOML: a line a class, with its share of the requests, its largest size, and the share of
        it that reads.

    Raises:
        ConfigError: No object target served a request.
    """
    classes: dict[int, list[int]] = {}
    for row in rows:
        if row.request_bytes is None or (row.part and not _OST.fullmatch(row.part)):
            continue
        kinds = classes.setdefault(row.request_bytes, [0, 0])
        kinds[0] += row.reads or 0
        kinds[1] += row.writes or 0
    total = sum(map(sum, classes.values()))
    if not total:
        rule = "no object target served a request by its brw_stats"
        refuse(path, rule, "dump them after some load")
    # Shares to 12 digits, of which the last takes what is left, so that they are 1 together.
    sizes = sorted(classes)
    shares = [round(sum(classes[size]) / total, 12) for size in sizes]
    shares[-1] = round(1.0 - sum(shares[:-1]), 12)
    lines = [
        f'  {{ of_requests = {share:.12g}, size = "{exact_bytes(size)}", '
        f"reads = {classes[size][0] / sum(classes[size]):.6g} }},"
        for size, share in zip(sizes, shares, strict=True)
    ]
    return "\n".join(["mix = [", *lines, "]"]) + "\n"
