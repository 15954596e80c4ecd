"""Rates of a file system by how full it was: a CSV of runs of one benchmark."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

import numpy as np
import numpy.typing as npt

from resilver.errors import ConfigError, name_remedy, show
from resilver.text import read_text, refuse
from resilver.units import BytesPerSecond

Floats = npt.NDArray[np.float64]
_PERCENT = ("pct", "percent", "%")


@dataclass(frozen=True)
class FillRates:
    """Runs of one benchmark, each with how full the file system was.

    Attributes:
        place: The file.
        fills: From 0 to 1: shape (runs,).
        rates: Above zero, in any unit: shape (runs,).
        beside: What else was told of each run, by column: shape (runs,) each.
        left_out: How many lines say no fill, no rate or nothing of a column beside.
    """

    place: str
    fills: Floats = field(repr=False)
    rates: Floats = field(repr=False)
    beside: dict[str, Floats] = field(repr=False)
    left_out: int = 0


def read_fill_rates(
    path: Path, fill: str = "fill", rate: str = "rate", beside: Sequence[str] = ()
) -> FillRates:
    """Read the runs of one benchmark on one file system.

    Args:
        path: CSV with a header, gzipped or not; a line is a run.
        fill: The column of fills: shares from 0 to 1, or percents where its name ends in ``pct``,
            ``percent`` or ``%``, or where they are written so, such as ``63 %``.
        rate: The column of rates, all with a unit (``512 MB/s``) or all bare numbers.
        beside: Columns of numbers that may explain rates as well.

    Raises:
        ConfigError: It cannot be read, a column is missing, or a cell is none of these.
    """
    reader = csv.DictReader(StringIO(read_text(path)), strict=True)
    try:
        names = [str(name).strip() for name in reader.fieldnames or ()]
        lines = [(reader.line_num, list(row.values())) for row in reader]
    except csv.Error as error:
        refuse(path, f"this is not valid CSV: {error}", "is a quote missing, or the file cut off?")
    wanted = list(dict.fromkeys((fill, rate, *beside)))
    for name in wanted:
        if name not in names:
            options = {fill: "--fill", rate: "--rate"}
            remedy = name_remedy(name, names, "columns")
            refuse(
                path, f"there is no column {show(name)} for {options.get(name, '--beside')}", remedy
            )
    places = [names.index(name) for name in wanted]
    found: list[list[float]] = []
    units: set[bool] = set()
    for number, cells in lines:
        place = f"{path}, line {number}"
        texts = [str(cells[at] or "").strip() if at < len(cells) else "" for at in places]
        if not all(texts):
            continue
        has_unit, moved = _rate(texts[1], rate, place)
        units.add(has_unit)
        others = [
            _number(text, name, place) for text, name in zip(texts[2:], wanted[2:], strict=True)
        ]
        found.append([_fill(texts[0], fill, place), moved, *others])
    if len(units) > 1:
        rule = f"some of column {show(rate)} have a unit, and some have none"
        refuse(path, rule, "write all of them alike")
    if not found:
        refuse(path, "no line has a fill and a rate", "add some, or name the columns")
    columns = np.array(found).T
    told = dict(zip(wanted[2:], columns[2:], strict=True))
    return FillRates(str(path), columns[0], columns[1], told, len(lines) - len(found))


def _number(text: str, column: str, place: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        refuse(place, f"{column} = {show(text)}: this is not a number", "leave the cell empty")
    return value


def _fill(text: str, column: str, place: str) -> float:
    is_percent = text.endswith("%") or column.lower().endswith(_PERCENT)
    value = _number(text.removesuffix("%").strip(), column, place)
    value = value / 100.0 if is_percent else value
    if not 0.0 <= value <= 1.0:
        rule = f"{column} = {show(text)}: a fill is a share from 0 to 1, or a percent"
        refuse(place, rule, "write such as 0.63 or 63 %")
    return value


def _rate(text: str, column: str, place: str) -> tuple[bool, float]:
    """Whether a rate has a unit, and what it is."""
    try:
        value, has_unit = float(text), False
    except ValueError:
        try:
            value, has_unit = float(BytesPerSecond.parse(text)), True
        except ConfigError as error:
            problem = error.problems[0]
            refuse(place, f"{column} = {show(text)}: {problem.rule}", problem.remedy)
    if not 0.0 < value < math.inf:
        refuse(place, f"{column} = {show(text)}: a rate is above zero", "leave the cell empty")
    return has_unit, value
