"""IO500's ``result_summary.txt``: the phases of a run, of data and of names.

Phases in empty brackets are measured and do not count for the score. Those of ``hard`` have
requests of 47,008 bytes by the rules, those of ``rnd`` the size in their name; the size of ``easy``
is the submitter's and not said.

Source: the IO500's rules and the summaries of public submissions.
"""

from __future__ import annotations

import re
from pathlib import Path

from resilver.errors import show
from resilver.importers.benchmarks.table import Found, mode_of, rate_of
from resilver.text import refuse

PROGRAM = "IO500"

_VERSION = re.compile(r"^IO500 version \S+", re.MULTILINE)
_PHASE = re.compile(
    r"\[(?:RESULT[-\w]*|      )\] +(?P<name>[\w-]{2,40}) +(?P<rate>\d{1,12}\.\d{6}) "
    r"(?P<unit>\S+) : time \d+\.\d+ seconds"
)
_UNITS = {"GiB/s": float(2**30), "kIOPS": 1e3}
_HARD = 47_008
_SIZES = {"4K": 4096, "1MB": 2**20}


def is_io500(text: str) -> bool:
    """Whether a text is a summary of IO500."""
    return _VERSION.search(text) is not None and "[RESULT" in text


def read_io500(text: str, path: Path) -> Found:
    """Read a summary of IO500.

    Returns:
        A rate a phase; phases that the run itself calls invalid are left out and told.

    Raises:
        ConfigError: It has no phase that ended.
    """
    found = Found(path, PROGRAM)
    for number, line in enumerate(text.splitlines(keepends=True), start=1):
        # The score stands last; a phase without an end of line may have lost its [INVALID].
        match = _PHASE.match(line) if line.endswith(("\n", "\r")) else None
        if match is None:
            if line.startswith(("[RESULT", "[      ]")):
                found.note(number, "the line is cut off: left out")
            continue
        name = match["name"]
        if "INVALID" in line.upper():
            found.note(number, f"{name} is invalid: left out")
        elif float(match["rate"]) > 0.0:
            _add(match, name, number, found)
    return found.whole("no phase in it ended", "give the run's result_summary.txt")


def _add(match: re.Match[str], name: str, number: int, found: Found) -> None:
    place = f"{found.path}, line {number}"
    unit = _UNITS.get(match["unit"])
    if unit is None:
        remedy = "newer versions print GiB/s and kIOPS"
        refuse(place, f"its unit {show(match['unit'])} may mean two things", remedy)
    rate = rate_of(match["rate"], unit, place, name)
    if match["unit"] == "kIOPS":
        found.add("metadata", name, number, operations_per_second=rate)
        return
    drawn = re.search(r"rnd(4K|1MB)", name)
    size = _SIZES[drawn[1]] if drawn is not None else _HARD if "hard" in name else None
    mode = mode_of("write" in name, drawn is not None)
    found.add("file system", name, number, mode=mode, request_bytes=size, bytes_per_second=rate)
