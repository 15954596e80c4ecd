"""Lists of lives: which component worked from when to when, and whether it failed then.

CSV with a header and a life a line. The columns are ``component`` (its name), ``start`` and ``end``
(dates or times as ISO 8601 writes them, or times with a unit such as ``90 d``), ``failed`` (yes or
no; a life that did not fail is known to have lasted until its end), and optionally ``age`` (with a
unit: how old the component was at its start, where it was not new).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from resilver.errors import ConfigError, Problem, show
from resilver.failure_rates import LongSeconds
from resilver.importers.csv_rows import columns_of, csv_rows
from resilver.text import decode, name_of, read_bytes, refuse

LIVES_MAX = 10_000_000
"""The most lives of a list."""

_COLUMNS = ("component", "start", "end", "failed", "age")
_NEEDED = _COLUMNS[:4]
_EXAMPLE = 'such as "component,start,end,failed"'
_WORDS = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}


@dataclass(frozen=True)
class FailureList:
    """Lives of components, in the order of the file.

    Attributes:
        label: The file's name.
        path: The file.
        sha256: The hash of its bytes, in hexadecimal digits.
        components: Whose life each is.
        start_seconds: When it began, from the earliest start on.
        end_seconds: When it ended, from the earliest start on.
        failed: Whether it ended with a failure.
        age_seconds: How old the component was at the start.
    """

    label: str
    path: Path
    sha256: str
    components: tuple[str, ...]
    start_seconds: tuple[float, ...]
    end_seconds: tuple[float, ...]
    failed: tuple[bool, ...]
    age_seconds: tuple[float, ...]

    def failures(self) -> list[tuple[float, str]]:
        """When which component failed, by time."""
        ends = zip(self.end_seconds, self.components, self.failed, strict=True)
        return sorted((second, name) for second, name, failed in ends if failed)


class _Life(NamedTuple):
    component: str
    start: float
    end: float
    failed: bool
    age: float
    line: int


def read_failures(path: Path) -> FailureList:
    """Read a list of lives.

    Raises:
        ConfigError: The file cannot be read or has no lives, a line is bad, a life ends before it
            begins, or two lives of one component overlap; the message names the lines.
    """
    data = read_bytes(path)
    return parse_failures(decode(data, path), path, hashlib.sha256(data).hexdigest())


def parse_failures(text: str, path: Path, sha256: str) -> FailureList:
    """Read a list of lives from text; see `read_failures`.

    >>> lines = ["component,start,end,failed", "a,0 d,60 d,yes", "b,1 d,1 y,no"]
    >>> lives = parse_failures("\\n".join(lines), Path("lives.csv"), "")
    >>> lives.end_seconds[0] / 86400, lives.failed
    (60.0, (True, False))
    """
    lives = _lives(text, path)
    if not lives:
        refuse(path, "the list has no lives", f"add a line for each, below a header {_EXAMPLE}")
    _check_order(lives, path)
    components, starts, ends, failed, ages, _ = zip(*lives, strict=True)
    first = min(starts)
    begins, ended = (tuple(at - first for at in times) for times in (starts, ends))
    return FailureList(name_of(path), path, sha256, components, begins, ended, failed, ages)


def _lives(text: str, path: Path) -> list[_Life]:
    lives: list[_Life] = []
    kinds: set[bool] = set()
    for row in csv_rows(text, path, _header, "give each column a value"):
        if len(lives) == LIVES_MAX:
            refuse(row.place, f"a list has at most {LIVES_MAX:,} lives", "cut it in parts")
        lives.append(_life(row.cells, row.place, kinds))
    return lives


def _header(cells: list[str], place: str) -> dict[str, int]:
    return columns_of(cells, place, _COLUMNS, _NEEDED, "a list of lives", _EXAMPLE)


def _life(cells: dict[str, str], place: str, kinds: set[bool]) -> _Life:
    if not cells["component"]:
        refuse(place, "the component has no name", "name it; lives of one component share a name")
    start, end = (_time(cells[name], name, place, kinds) for name in ("start", "end"))
    if end < start:
        rule = f"this life ends, at {show(cells['end'])}, before it begins, at "
        refuse(place, rule + show(cells["start"]), "exchange the two, or mend them")
    if end == start:
        rule = f"this life ends as it begins, at {show(cells['start'])}"
        refuse(place, rule, "give times to the hour, or leave out what never worked")
    word = cells["failed"].casefold()
    if word not in _WORDS:
        refuse(place, f"failed = {show(cells['failed'])} is neither yes nor no", "write one")
    age = _duration(cells["age"] or "0", "age", place) if "age" in cells else 0.0
    return _Life(cells["component"], start, end, _WORDS[word], age, int(place.rpartition(" ")[2]))


def _time(text: str, column: str, place: str, kinds: set[bool]) -> float:
    """A date, a time of day or a time with a unit, in seconds."""
    seconds = _dated(text)
    kinds.add(seconds is None)
    if len(kinds) > 1:
        rule = f"{column} = {show(text)} stands beside times of another kind"
        refuse(place, rule, "write all as dates, or all with a unit")
    return _duration(text, column, place) if seconds is None else seconds


# A list has the same dates over and over.
@lru_cache(maxsize=2**16)
def _dated(text: str) -> float | None:
    """The seconds of a date or a time of day, which is UTC where it does not say; else None."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _duration(text: str, column: str, place: str) -> float:
    try:
        return float(LongSeconds.parse(text))
    except ConfigError as error:
        problem = error.problems[0]
        remedy = problem.remedy
        if column != "age":
            remedy = 'write a date such as "2024-01-31", or a time such as "90 d"'
        found = Problem(problem.rule, remedy, column, show(text), place)
        raise ConfigError(found) from None


def _check_order(lives: list[_Life], path: Path) -> None:
    """Refuse lives of one component that overlap.

    Raises:
        ConfigError: With the first such pair.
    """
    for before, after in pairwise(sorted(lives, key=lambda one: (one.component, one.start))):
        if before.component == after.component and after.start < before.end:
            lines = sorted((before.line, after.line))
            rule = f"lives of {show(before.component)} overlap: the one of line {lines[0]} has not "
            rule += "ended where the other begins"
            remedy = "a component has one life at a time; give what is replaced a new start"
            refuse(f"{path}, lines {lines[0]} and {lines[1]}", rule, remedy)
