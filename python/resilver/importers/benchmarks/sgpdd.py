"""sgpdd-survey: what disks move through the SCSI generic driver, with several regions at once.

A line is a test: size, record size, regions and threads of all disks together, and for each action
its rate. Its MB are 2^20 bytes: it divides KiB by 1,024.

Source: lustre-iokit/sgpdd-survey in Lustre's source.
"""

from __future__ import annotations

import re
from pathlib import Path

from resilver.importers.benchmarks.table import MIB, Found, count_of, rate_of

PROGRAM = "sgpdd-survey"
KNOWN = re.compile(r"^(?:dev +\d+ +)?(?:total_size|sz) +\d+K rsz +\d+K? crg ", re.MULTILINE)
"""What begins a line of a summary."""

_LINE = re.compile(
    r"(?:dev +(?P<dev>\d+) +)?(?:total_size|sz) +\d+K rsz +(?P<rsz>\d+)K? "
    r"crg +(?P<crg>\d+) thr +(?P<thr>\d+)\b(?P<tests>.*)"
)
_TEST = re.compile(r"\b(write|read) +([0-9.]+) MB/s +\d+ x +[0-9.]+ = +[0-9.]+ MB/s")
_FAILED = re.compile(r"\b(write|read) +(\d+) failed")
_ON = "sgpdd-survey on "


def read_sgpdd(text: str, path: Path) -> Found:
    """Read a summary of sgpdd-survey.

    Returns:
        A rate an action; actions that failed are left out and told.

    Raises:
        ConfigError: It has no test that ended.
    """
    found = Found(path, PROGRAM)
    # The head names the disks, and the host after them.
    head = text.partition(_ON)[2].partition("\n")[0]
    named = len(head.rpartition(" from ")[0].split())
    for number, line in enumerate(text.splitlines(), start=1):
        match = _LINE.match(line)
        if match is None:
            continue
        place = f"{path}, line {number}"
        devices = count_of(match["dev"], place, "dev") if match["dev"] else named or None
        regions = count_of(match["crg"], place, "crg")
        threads = count_of(match["thr"], place, "thr")
        tests = _TEST.findall(match["tests"])
        for action, rate in tests:
            found.add(
                "block",
                f"{action} of {regions} region{'s' * (regions > 1)}",
                number,
                mode=action,
                request_bytes=count_of(match["rsz"], place, "rsz") * 1024,
                queue=None if devices is None else max(threads // devices, 1),
                threads=threads,
                devices=devices,
                bytes_per_second=rate_of(rate, MIB, place, action),
            )
        failed = _FAILED.findall(match["tests"])
        for action, count in failed:
            found.note(number, f"{count} of {action} failed: left out")
        if "ENOMEM" in match["tests"]:
            found.note(number, "the survey had too little memory for the test")
        elif not tests and not failed:
            found.note(number, "no action ended, or the line is cut off: left out")
    return found.whole("no test in it ended", "give the survey's .summary")
