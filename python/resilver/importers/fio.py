"""What fio measured: bandwidth and completion latency of each job, by access pattern and size.

fio's JSON (``--output-format=json`` or ``json+``) differs between versions: 3.x states completion
latencies in nanoseconds under ``clat_ns``, 2.x in microseconds under ``clat``, with bandwidth in
KiB/s only. Options stand beside the job, or once for all jobs under ``global options``; what stands
in neither has fio's own default.

Source: fio's manual, "HOWTO", sections "Job file parameters" and "Interpreting the output".
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from resilver.errors import ConfigError, Problem, raise_all, show
from resilver.importers.jsonpath import Node
from resilver.text import parse_json, read_text, refuse

MODES = ("read", "write", "randread", "randwrite")
"""The access patterns of a job that touches a device in one way only, as fio names them."""

_SYNCHRONOUS = ("sync", "psync", "vsync", "pvsync", "pvsync2", "mmap")
_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30}
_SIZE = re.compile(r"(\d{1,12})([kmg]?)(?:i?b|i)?", re.IGNORECASE)
_SIZE_MAX = 2**40
_DEPTH_MAX = 2**20
_RATE_MAX = float(2**63)
_SECONDS_MAX = 1e7
_MISSIZED = 0.01
_NAMED_MOST = 4
_RUN_AGAIN = "run that job again"
_Read = TypeVar("_Read")


@dataclass(frozen=True)
class FioJob:
    """One job: one access pattern at one size.

    Attributes:
        name: The job's name.
        place: Its file and position, for messages.
        mode: One of `MODES`.
        request_bytes: The size of each of its requests.
        queue_depth: How many requests it kept outstanding; one where the engine is synchronous.
        direct: Whether it went past the page cache.
        depth_fraction: The share of the time in which that many were outstanding; None where the
            report does not say.
        bytes_per_second: Its mean bandwidth.
        latency_seconds: The median completion latency of a request.
    """

    name: str
    place: str
    mode: str
    request_bytes: int
    queue_depth: int
    direct: bool
    bytes_per_second: float
    latency_seconds: float
    depth_fraction: float | None = None


@dataclass(frozen=True)
class FioReport:
    """The jobs of one or several fio runs.

    Attributes:
        label: The names of the files.
        versions: The versions of fio that wrote them, each once.
        jobs: The jobs, in order.
        skipped: What was left out and why, a sentence each.
    """

    label: str
    versions: tuple[str, ...]
    jobs: tuple[FioJob, ...]
    skipped: tuple[str, ...] = ()


def read_fio(paths: Iterable[Path]) -> FioReport:
    """Read fio's JSON from files that belong together.

    Args:
        paths: The files, of one job or of many each.

    Returns:
        Every job in them that reads only or writes only.

    Raises:
        ConfigError: A file cannot be read, is not fio's JSON, or holds jobs that failed, did
            nothing, or ran beside each other; with every such job.
    """
    reports = read_each(paths, lambda path: parse_fio(read_text(path), path))
    if not reports:
        raise ConfigError("no file of fio's is given", "name at least one JSON file")
    return FioReport(
        names_of([report.label for report in reports]),
        tuple(dict.fromkeys(version for report in reports for version in report.versions)),
        tuple(job for report in reports for job in report.jobs),
        tuple(text for report in reports for text in report.skipped),
    )


def read_each(paths: Iterable[Path], read: Callable[[Path], _Read]) -> list[_Read]:
    """What is read of each of several files.

    Raises:
        ConfigError: With every file that cannot be read, or is given twice.
    """
    found: list[_Read] = []
    problems: list[Problem] = []
    seen: set[Path] = set()
    for path in paths:
        try:
            if (real := path.resolve()) in seen:
                refuse(path, "this file is given twice", "give it once")
            seen.add(real)
            found.append(read(path))
        except ConfigError as error:
            problems += error.problems
    raise_all(problems)
    return found


def names_of(labels: Sequence[str]) -> str:
    """What several files are called together: their names, as far as a line has room.

    >>> names_of(["a", "b"]), names_of(["a", "b", "c", "d", "e"])
    ('a, b', 'a, b and 3 more')
    """
    if len(labels) <= _NAMED_MOST:
        return ", ".join(labels)
    return f"{', '.join(labels[:2])} and {len(labels) - 2} more"


def parse_fio(text: str, path: Path) -> FioReport:
    """Read the JSON that one run of fio printed; see `read_fio`.

    Args:
        text: The text. Lines before the opening brace are fio's notes to the terminal.

    Raises:
        ConfigError: It is not fio's JSON, or its jobs are of no use.
    """
    root = _root(text, path)
    version = root.text_of("fio version", "fio of an unnamed version")[:40]
    shared_node = root.get("global options")
    shared = _options(shared_node) if shared_node else {}
    jobs: list[FioJob] = []
    groups: list[tuple[int, str]] = []
    skipped: list[str] = []
    problems: list[Problem] = []
    for index, node in enumerate(root.at("jobs").items()):
        try:
            name = node.text_of("jobname", str(index))[:80]
            job = replace(node, path=f'jobs[{index}] "{name}"')
            options = shared | _options_of(job)
            reason = _not_wanted(options)
            if group := job.get("groupid"):
                groups.append((group.integer(-1, 2**32 - 1), name))
            if reason:
                skipped.append(f"{path.name}: job {show(name)} {reason}: left out")
            else:
                jobs.append(_job(job, name, options))
        except ConfigError as error:
            problems += error.problems
    problems += _beside_each_other(groups, path)
    raise_all(problems)
    if not jobs:
        why = f": {skipped[0]}" if skipped else ""
        refuse(path, f"no job in it only reads or only writes{why}", f"run {', '.join(MODES)}")
    return FioReport(path.name, (version,), tuple(jobs), tuple(skipped))


def _root(text: str, path: Path) -> Node:
    # fio prints notes, such as the one on a synchronous engine with a queue, before its JSON.
    start = re.search(r"^\s*\{", text, re.MULTILINE)
    if start is None:
        refuse(
            path, "there is no JSON object in it", "run fio with --output-format=json --output=FILE"
        )
    # Blank lines in place of the notes keep the line numbers of messages.
    head = "\n" * text.count("\n", 0, start.start())
    body = re.split(r"^\}\s*$", text[start.start() :], maxsplit=1, flags=re.MULTILINE)
    if len(body) > 1 and body[1].lstrip().startswith("{"):
        refuse(
            path,
            "it holds several reports, as --status-interval makes",
            "run fio without that option, or keep the last report only",
        )
    whole = head + body[0] + ("}" if len(body) > 1 else "")
    root = Node(parse_json(whole, path), "", str(path))
    if not isinstance(root.value, dict) or not root.has("jobs"):
        remedy = "run fio with --output-format=json"
        if root.has("client_stats"):
            remedy = "fio's client mode writes client_stats; give the report of a local run"
        refuse(path, 'this is not fio\'s report: it has no member "jobs"', remedy)
    return root


def _options_of(job: Node) -> dict[str, str]:
    node = job.get("job options")
    if node is None:
        job.fail('a member "job options", which says its pattern and size (fio 2.16 or newer)')
    return _options(node)


def _options(node: Node) -> dict[str, str]:
    if not isinstance(node.value, dict):
        node.fail("an object")
    names = {"readwrite": "rw", "blocksize": "bs", "blocksize_range": "bsrange"}
    return {names.get(str(key), str(key)): str(value) for key, value in node.value.items()}


def _not_wanted(options: dict[str, str]) -> str:
    """Why a job says nothing about one pattern at one size, or nothing if it does."""
    mode = options.get("rw", "read").split(":")[0]
    if mode not in MODES:
        return f"has rw={mode[:20]}, which is not one of {', '.join(MODES)}"
    if ":" in options.get("rw", ""):
        return f"has rw={options['rw'][:30]}, which skips or repeats between requests"
    for name in ("bsrange", "bssplit"):
        if name in options:
            return f"has {name}, so that its requests differ in size"
    return ""


def _job(job: Node, name: str, options: dict[str, str]) -> FioJob:
    mode = options.get("rw", "read")
    error = job.get("error")
    if error is not None and (number := error.integer(1 - 2**31, 2**31 - 1)):
        refuse(_at(job), f"the job failed: {os.strerror(abs(number))} ({number})", _RUN_AGAIN)
    if (copies := options.get("numjobs", "1")) != "1":
        refuse(
            f"{_at(job)}: numjobs = {copies[:20]}",
            "jobs that run together share the device, and none has its whole bandwidth",
            "run it with numjobs=1 and a larger iodepth",
        )
    size = _request_bytes(job, mode, options)
    side = job.at("read" if mode.endswith("read") else "write")
    requests = side.at("total_ios").integer(0)
    if requests == 0:
        refuse(_at(side), "the job completed no request", _RUN_AGAIN + ", for longer")
    _check_size(side, size, requests)
    depth = _queue_depth(job, options)
    return FioJob(
        name=name,
        place=_at(job),
        mode=mode,
        request_bytes=size,
        queue_depth=depth,
        direct=options.get("direct", "0") not in ("0", "false") or options.get("buffered") == "0",
        bytes_per_second=_rate(side),
        latency_seconds=_median_latency(side),
        depth_fraction=_depth_fraction(job, depth),
    )


def _request_bytes(job: Node, mode: str, options: dict[str, str]) -> int:
    """The size from ``bs``: one for all, or one each for reads, writes and trims."""
    text = options.get("bs", "4096")
    parts = text.split(",")
    part = parts[1] if mode.endswith("write") and len(parts) > 1 and parts[1] else parts[0]
    match = _SIZE.fullmatch(part.strip())
    size = int(match[1]) * _UNITS[match[2].lower()] if match else 0
    if not 0 < size <= _SIZE_MAX:
        refuse(f"{_at(job)}: bs = {show(text)}", "this is not a request size", "such as bs=4k")
    return size


def _check_size(side: Node, size: int, requests: int) -> None:
    """That the requests were of the size the options say; they may be cut short at a file's end."""
    if not (side.has("io_bytes") and side.has("bw_bytes")):
        # Without bw_bytes this is fio 2, whose io_bytes is in KiB and rounded.
        return
    moved = side.at("io_bytes").integer(0, 2**63 - 1)
    if abs(moved / requests - size) > _MISSIZED * size:
        refuse(
            _at(side),
            f"its requests moved {moved / requests:.0f} B on average, and bs says {size} B",
            "give one bs, and a file that is a multiple of it",
        )


def _rate(side: Node) -> float:
    if side.has("bw_bytes"):
        rate = side.at("bw_bytes").number(0, _RATE_MAX)
    else:
        rate = side.at("bw").number(0, _RATE_MAX) * 1024
    if rate < 1:
        refuse(_at(side), f"its bandwidth is {rate:g} B/s", _RUN_AGAIN + ", for longer")
    return rate


def _queue_depth(job: Node, options: dict[str, str]) -> int:
    text = options.get("iodepth", "1").strip()
    if not re.fullmatch(r"[0-9]{1,7}", text) or not 1 <= int(text) <= _DEPTH_MAX:
        refuse(f"{_at(job)}: iodepth = {show(text)}", "this is not a queue depth", "such as 4")
    return 1 if options.get("ioengine", "psync") in _SYNCHRONOUS else int(text)


def _depth_fraction(job: Node, depth: int) -> float | None:
    """How much of the time the queue held `depth` requests, to fio's powers of two up to 64."""
    levels = job.get("iodepth_level")
    if levels is None:
        return None
    level = min(2 ** (depth.bit_length() - 1), 64)
    share = levels.get(">=64" if level == 64 else str(level))
    return None if share is None else share.number(0, 101) / 100


def _median_latency(side: Node) -> float:
    """The median completion latency: the percentile, or the same from json+'s histogram."""
    name, unit = ("clat_ns", 1e-9) if side.has("clat_ns") else ("clat", 1e-6)
    latency = side.at(name)
    count = latency.get("N")
    if count is not None and count.integer(0) == 0:
        refuse(_at(latency), "there is no sample of the latency", "run without disable_clat")
    percentiles = latency.get("percentile")
    median = _half(percentiles) if percentiles is not None else None
    if median is None and (bins := latency.get("bins")) is not None:
        median = _middle(bins)
    if median is None:
        refuse(
            _at(latency),
            "the median is not among the percentiles",
            "run fio with --clat_percentiles=1 --percentile_list=50",
        )
    if not 0 < median * unit <= _SECONDS_MAX:
        refuse(_at(latency), f"a median of {median:g} cannot be a latency", _RUN_AGAIN)
    return median * unit


def _half(percentiles: Node) -> float | None:
    if not isinstance(percentiles.value, dict):
        percentiles.fail("an object of percentiles")
    for key in percentiles.value:
        # fio writes 50.000000.
        if re.fullmatch(r"50(\.0*)?", str(key)):
            return percentiles.at(key).number(0, _SECONDS_MAX * 1e9)
    return None


def _middle(bins: Node) -> float | None:
    """The latency that half of the samples do not pass, each bin at its own value."""
    if not isinstance(bins.value, dict):
        bins.fail("an object of bins")
    counts = sorted((_bin_value(bins, key), bins.at(key).integer(0)) for key in bins.value)
    total, below = sum(count for _, count in counts), 0
    for value, count in counts:
        below += count
        if 2 * below >= total > 0:
            return value
    return None


def _bin_value(bins: Node, key: str) -> float:
    if not re.fullmatch(r"[0-9]{1,18}", key):
        refuse(f"{_at(bins)}: {show(key)}", "a bin is named by its latency", "as json+ does")
    return float(key)


def _beside_each_other(groups: Sequence[tuple[int, str]], path: Path) -> list[Problem]:
    """Jobs of one reporting group ran at the same time: a stonewall begins a new one."""
    first: dict[int, str] = {}
    problems = []
    for group, name in groups:
        if group in first:
            problems.append(
                Problem(
                    f"jobs {show(first[group])} and {show(name)} ran at the same time, and each "
                    "had a share of the device",
                    "add stonewall to every job, or run fio once a job",
                    place=str(path),
                )
            )
        first.setdefault(group, name)
    return problems


def _at(node: Node) -> str:
    return f"{node.file}: {node.path}"
