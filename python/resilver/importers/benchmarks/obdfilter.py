"""obdfilter-survey: what a Lustre server's own storage moves, without clients and network.

A line is a test: targets, bytes, record size, objects and threads of all targets together, and for
each kind of test its rate, and in brackets the slowest and fastest second of a target. Its rates
are in MiB (it divides KiB by 1,024) and printed without a unit.

Source: lustre-iokit/obdfilter-survey in Lustre's source, and obdfilter-survey-olcf of the OLCF's.
"""

from __future__ import annotations

import re
from pathlib import Path

from resilver.importers.benchmarks.table import MIB, Found, count_of, rate_of
from resilver.text import refuse

PROGRAM = "obdfilter-survey"
KNOWN = re.compile(r"^ost +\d+ sz +\d+K rsz ", re.MULTILINE)
"""What begins a line of a summary."""

_LINE = re.compile(
    r"ost +(\d+) sz +\d+K rsz +(\d+)K? obj +(\d+) thr +(\d+)\b(?P<tests>.*)", re.IGNORECASE
)
_NAMES = "rewrite_again|rewrite|write|reread|read"
_TEST = re.compile(
    rf"\b(?P<name>{_NAMES}) +(?P<rate>[0-9.]+) +"
    r"(?:\[ *(?P<least>[0-9.]+), *(?P<most>[0-9.]+)\]|(?P<word>SHORT|ERROR)\b)"
)
_BEGUN = re.compile(rf"\b(?:{_NAMES})\b")
_CASE = re.compile(r"Obdfilter-survey for case=(\w+)")


def read_obdfilter(text: str, path: Path) -> Found:
    """Read a summary of obdfilter-survey.

    Returns:
        A rate a test. Those that failed are left out and told.

    Raises:
        ConfigError: It has no test that ended, or its tests are of the network alone.
    """
    found = Found(path, PROGRAM)
    case = _CASE.search(text)
    if case is not None and case[1] == "network":
        rule = "case=network measures the network, and no storage"
        refuse(path, rule, "run the survey with case=disk")
    for number, line in enumerate(text.splitlines(), start=1):
        match = _LINE.match(line)
        if match is not None:
            _add(match, number, found, "" if case is None else case[1])
    return found.whole("no test in it ended", "give the survey's .summary")


def _add(match: re.Match[str], number: int, found: Found, case: str) -> None:
    place = f"{found.path}, line {number}"
    targets, size, objects, threads = (
        count_of(match[rank], place, what)
        for rank, what in enumerate(("ost", "rsz", "obj", "thr"), start=1)
    )
    tests = list(_TEST.finditer(match["tests"]))
    for test in tests:
        if test["word"] == "ERROR":
            found.note(number, f"{test['name']} ended with an error: left out")
            continue
        skew = None
        if test["most"] is not None:
            least = rate_of(test["least"], MIB, place, "the slowest second")
            skew = rate_of(test["most"], MIB, place, "the fastest second") - least
        over = " over the network" if case == "netdisk" else ""
        found.add(
            "server",
            f"{test['name']} of {objects} object{'s' * (objects > 1)}{over}",
            number,
            mode="read" if test["name"].endswith("read") else "write",
            request_bytes=size * 1024,
            threads=threads,
            devices=targets,
            bytes_per_second=rate_of(test["rate"], MIB, place, test["name"]),
            skew_bytes_per_second=skew,
        )
    if "Too much buffer space" in match["tests"]:
        found.note(number, "the survey refused the test: too much buffer space")
    elif len(_BEGUN.findall(match["tests"])) > len(tests) or not tests:
        found.note(number, "a test did not end, or the line is cut off: left out")
