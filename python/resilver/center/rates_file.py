"""What `resilver profile` reads: rates of groups or disks, by benchmarks or as CSV; or a lot."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from pydantic import Field

from resilver.center.benchmarks import medians
from resilver.center.culling import Lot
from resilver.center.given import GivenFile
from resilver.errors import ConfigError, Problem, Problems, collected, name_remedy, placed, show
from resilver.importers.benchmarks import is_benchmark, read_benchmarks
from resilver.spec.code import ErasureCode, erasure_of
from resilver.spec.section import Count, Positive, Section
from resilver.text import read_text, refuse
from resilver.units import BytesPerSecond

SI_COLUMN = "rate_bytes_per_second"
"""The column of rates that are bare numbers; `rate` has them with their unit."""


def csv_lines(path: Path, remedy: str) -> tuple[list[str], list[tuple[int, dict[str, Any]]]]:
    """The columns of a CSV with a header, and each line's number with its cells by column."""
    reader = csv.DictReader(StringIO(read_text(path)), strict=True)
    try:
        names = [str(name).strip() for name in reader.fieldnames or ()]
        return names, [
            (reader.line_num, dict(zip(names, row.values(), strict=False))) for row in reader
        ]
    except csv.Error as error:
        refuse(path, f"this is not valid CSV: {error}", remedy)


def rate_rows(
    path: Path, first: str, columns: Sequence[str], each: str
) -> tuple[list[str], list[tuple[str, dict[str, Any]]]]:
    """The rows of a CSV of rates.

    Args:
        path: The file, with a header.
        first: The column that is needed beside the rate.
        columns: All columns that it may have.
        each: What a line is, for errors.

    Returns:
        The columns that it has, and each line's place, for errors, with its cells by column.

    Raises:
        ConfigError: It cannot be read, or has not these columns, or no line.
    """
    names, rows = csv_lines(path, "is a quote missing, or the file cut off?")
    if first not in names or not {"rate", SI_COLUMN} & set(names):
        have = ", ".join(names[:8]) or "none"
        rule = f"columns {first} and rate are needed, and there are: {have}"
        refuse(path, rule, f"begin with a line such as {first},rate")
    for name in names:
        if name not in columns:
            remedy = name_remedy(name, columns, "columns")
            refuse(path, f"there is no such column: {show(name)}", remedy)
    if not rows:
        refuse(path, "there is no rate in it", f"add a line {each}")
    return names, [(f"{path}, line {line}", row) for line, row in rows]


def text_in(row: dict[str, Any], column: str, place: str) -> str:
    """The text of a cell, which must have some."""
    text = row.get(column)
    if not isinstance(text, str) or not text.strip():
        refuse(place, f"the line has no {column}", "is the file cut off?")
    return text.strip()


def rate_in(row: dict[str, Any], place: str) -> float:
    """A rate in bytes per second, above zero."""
    column = "rate" if row.get("rate") is not None else SI_COLUMN
    text = text_in(row, column, place)
    try:
        with placed(place):
            rate = float(text) if column == SI_COLUMN else float(BytesPerSecond.parse(text))
    except ConfigError:
        raise
    except ValueError:
        refuse(place, f"{show(text)} is not a number of bytes per second", "such as 512e6")
    if not 0.0 < rate < float("inf"):
        refuse(place, f"{show(text)}: a rate is above zero", "leave out what was not measured")
    return rate


_COLUMNS = ("unit", "group", "disk", "rate", SI_COLUMN)

Floats = npt.NDArray[np.float64]


class LotSection(Section):
    """Disks as they are delivered, in groups."""

    groups: Count = Field(le=200_000, examples=[2016])
    """How many groups there are."""
    units: Count = Field(default=1, le=1_000_000, examples=[36])
    """Over how many units they are spread evenly."""
    code: str = Field(default="rs 8+2", examples=["rs 8+2"])
    """The code of a group, which says how many disks it has."""
    rate: Positive[BytesPerSecond] = Field(examples=["62 MB/s"])
    """What a disk that is not slow moves on average of requests in order."""
    spread: Annotated[float, Field(strict=True, ge=0, le=0.2)] = Field(default=0.0, examples=[0.02])
    """The standard deviation of a disk's speed, as a share of its mean."""
    slow: Annotated[float, Field(strict=True, ge=0, le=0.9)] = Field(default=0.0, examples=[0.07])
    """The share of disks that are slow."""
    factor: Annotated[float, Field(strict=True, gt=0, le=1)] = Field(default=1.0, examples=[0.8])
    """The share of its speed that a slow disk has."""

    def _problems(self) -> Problems:
        if self.groups % self.units:
            rule = f"{self.groups:,} groups do not spread evenly over {self.units:,} units"
            yield self.problem("units", rule, "change one of them")
        if self.slow and self.factor == 1.0:
            yield self.problem("slow", "slow disks are as fast as the others", "add factor = 0.8")
        wrong: list[Problem] = []
        with collected(wrong):
            erasure_of(self.code, "code")
        yield from wrong

    @property
    def erasure(self) -> ErasureCode:
        """The code by its numbers."""
        return erasure_of(self.code, "code")

    @property
    def lot(self) -> Lot:
        """The lot, with speeds as shares of the rate."""
        members = self.erasure.pieces
        return Lot(self.groups, members, self.units, self.spread, self.slow, self.factor)


class LotFile(GivenFile):
    """A file with a lot."""

    catalog_kind = "lots"
    called = "lot"

    lot: LotSection = Field(examples=[{"groups": 2016}])
    """The lot."""

    @classmethod
    def refuse_others(cls, table: Mapping[str, Any], file: Path) -> None:
        """Say of a study that it is none."""
        if "lot" not in table and "cluster" in table:
            rule = "this is a study, and a profile is made of measured rates or of a lot"
            refuse(file, rule, "name a .csv of rates, or a .toml with a table [lot]")


@dataclass(frozen=True)
class Rates:
    """Measured rates.

    Attributes:
        place: The file.
        groups: The names of the groups.
        units: The unit of each; all the same where the file names none.
        group_rates: Bytes per second by group: shape (groups,).
        disks: The names of each group's disks; empty where groups were measured.
        disk_rates: Bytes per second by group and disk: shape (groups, members); None likewise.
    """

    place: str
    groups: tuple[str, ...]
    units: tuple[str, ...]
    group_rates: Floats = field(repr=False)
    disks: tuple[tuple[str, ...], ...] = field(default=(), repr=False)
    disk_rates: Floats | None = field(default=None, repr=False)


def read_rates(path: Path, code: str) -> Rates:
    """Read measured rates.

    Args:
        path: What fair-lio printed, or another benchmark that has each device's rate: a device is a
            group, and its host its unit. Or CSV with a header: ``group`` and ``rate`` (with its
            unit, such as ``512 MB/s``) or ``rate_bytes_per_second``; ``unit`` and ``disk`` where
            there are some. With ``disk`` a row is a disk, and a group moves as many strips as its
            code has data at the rate of its slowest.
        code: The code of the groups of disks, such as ``rs 8+2``.

    Raises:
        ConfigError: A column is missing, a rate is none or not above zero, a name stands twice, or
            a group has not as many disks as its code.
    """
    erasure = erasure_of(code, "--code")
    if is_benchmark(path):
        return _of_devices(path)
    names, rows = rate_rows(path, "group", _COLUMNS, "a group or a disk")
    found: dict[tuple[str, str], dict[str, float]] = {}
    for place, row in rows:
        key = (text_in(row, "unit", place) if "unit" in names else "", text_in(row, "group", place))
        disk = text_in(row, "disk", place) if "disk" in names else ""
        of_group = found.setdefault(key, {})
        if disk in of_group:
            what = f"disk {show(disk)} of " if disk else ""
            refuse(place, f"{what}group {show(key[1])} stands twice", "remove one of the lines")
        of_group[disk] = rate_in(row, place)
    groups, units = tuple(key[1] for key in found), tuple(key[0] for key in found)
    if "disk" not in names:
        rates = np.array([of_group[""] for of_group in found.values()])
        return Rates(str(path), groups, units, rates)
    for (_, group), of_group in found.items():
        if len(of_group) != erasure.pieces:
            rule = f"group {show(group)} has {len(of_group)} disks, and {code} has {erasure.pieces}"
            refuse(path, rule, "add the others, or name the code with --code")
    disks = np.array([list(of_group.values()) for of_group in found.values()])
    return Rates(
        str(path),
        groups,
        units,
        erasure.data * disks.min(axis=1),
        tuple(tuple(of_group) for of_group in found.values()),
        disks,
    )


def _of_devices(path: Path) -> Rates:
    """The rates of the devices of a benchmark: the median of each one's runs of one test."""
    rows = [one for one in read_benchmarks(path).rows if one.layer == "block" and one.device]
    if not rows:
        rule = "it has rates of all devices together, and none of each"
        refuse(path, rule, "give what fair-lio printed, which has each device's")
    tests = dict.fromkeys((one.mode, one.request_bytes, one.queue, one.devices) for one in rows)
    if len(tests) > 1:
        said = [f"{mode} of {size} B at queue {queue}" for mode, size, queue, _ in tests]
        rule = f"it has {len(tests)} tests, of which devices differ anyway: {', '.join(said[:3])}"
        refuse(path, rule, "give the runs of one test, such as writes in order of 1 MiB")
    found = {one.device: one for one in medians(rows)}
    rates = np.array([one.bytes_per_second for one in found.values()], np.float64)
    units = tuple(name.partition(":")[0] if ":" in name else "" for name in found)
    return Rates(str(path), tuple(found), units, rates)
