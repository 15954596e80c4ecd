"""What the pictures of a reproduction are drawn from, and the words on them."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from resilver.charts.style import GREY
from resilver.reproduce.bars import bars, bars_drawn, bars_table, bars_words
from resilver.reproduce.compare import compare
from resilver.reproduce.cumulative import cumulative, cumulative_drawn, cumulative_table
from resilver.reproduce.curves import curve, curve_drawn, curve_table
from resilver.reproduce.histograms import histogram, histogram_drawn, histogram_table
from resilver.reproduce.published import Axis, PictureSpec, Published
from resilver.reproduce.tables import Tables

CURVE = PictureSpec(
    "rates",
    "curve",
    "Rates",
    query="SELECT bucket, items, rate FROM runs",
    x=Axis("servers", logarithmic=True),
    y=Axis("placement rate", "thousand/s"),
    stars={"r": 8},
)
PLACED = (
    ("straw", 8, 3e3),
    ("straw", 4, 9e3),
    ("straw", 8, 5e3),
    ("straw", 8, 4e3),
    ("ring", 4, 1e3),
)


def tables(names: str, *rows: Sequence[Any]) -> Tables:
    """A table of some columns."""
    columns = (list(column) for column in zip(*rows, strict=True))
    return Tables(pa.table(dict(zip(names.split(), columns, strict=True))))


def test_a_line_goes_through_medians_and_a_formula_is_grey_beside_it() -> None:
    runs = tables("bucket items rate", *PLACED, ("ring", 8, None))
    number = Published("r", "R", "median(rate)", unit="thousand/s", paper=7.0)
    made = curve(CURVE, runs, {"r": compare("e", number, runs)})
    assert [(line.name, line.xs, line.ys) for line in made.lines] == [
        ("straw", (4.0, 8.0), (9.0, 4.0)),
        ("ring", (4.0,), (1.0,)),
    ]
    assert made.published == ((8.0, 7.0),)
    assert made.spec.y.label == "placement rate (thousand/s)"
    spec = curve_drawn(made)
    *_, stars = spec["layer"]
    drawn = [(row["kind"], row["x"], row["y"]) for row in spec["data"]["values"]]
    assert drawn == [("straw", 2.0, 9.0), ("straw", 3.0, 4.0), ("ring", 2.0, 1.0)]
    assert [(row["x"], row["y"]) for row in stars["data"]["values"]] == [(3.0, 7.0)]
    assert [column.name for column in curve_table(made).columns][1] == "items"
    assert len(curve_table(made).rows) == 3
    assert curve(CURVE, tables("bucket items rate", ("straw", 4, None)), {}) is None
    rows = ("straw", 4, 9e3, 8e3), ("ring", 4, 1e3, 8e3), ("ring", 8, 2e3, 7e3)
    query = "SELECT bucket, items, rate, formula FROM runs"
    spec = replace(CURVE, query=query, level_name="by formula")
    made = curve(spec, tables("bucket items rate formula", *rows), {})
    formula = made.lines[-1]
    assert (formula.name, formula.xs, formula.ys) == ("by formula", (4.0, 8.0), (8.0, 7.0))
    drawn = curve_drawn(made)
    line, points = drawn["layer"]
    scale = line["encoding"]["color"]["scale"]
    assert dict(zip(scale["domain"], scale["range"], strict=True))["by formula"] == GREY
    assert points["transform"] == [{"filter": "!datum.told"}]
    told = {row["kind"]: row["told"] for row in drawn["data"]["values"]}
    assert told == {"straw": False, "ring": False, "by formula": True}
    spec = replace(CURVE, query="SELECT busy, rate FROM runs", x=Axis("busy", "%"))
    made = curve(spec, tables("busy rate", (0.12, 2e3), (0.34, 5e3)), {})
    assert made is not None and [line.name for line in made.lines] == ["ours"]
    assert [made.label(x) for x in made.ticks] == ["0", "10", "20", "30", "40"]
    assert curve_table(made).columns[1].kind == "share"


BARS = PictureSpec(
    "b",
    "bars",
    "Rates",
    query="SELECT topology, faults, rate FROM runs",
    x=Axis("topology"),
    y=Axis("rate"),
)
RATES = (
    *(("A", "none", 10.0), ("A", "none", 12.0), ("B", "none", 8.0), ("C", "none", 4.0)),
    *(("A", "4 disks", 9.0), ("A", "4 disks", 12.0), ("B", "4 disks", 4.0)),
)


def test_bars_are_medians_with_the_range_of_their_runs() -> None:
    made = bars(BARS, tables("topology faults rate", *RATES))
    assert made.groups == ["A", "B", "C"] and made.series == ["none", "4 disks"]
    first = made.bars[0]
    assert (first.median, first.least, first.most, first.runs) == (11.0, 10.0, 12.0, 2)
    assert "Most: 11 (A, none); least: 4 (C, none)" in bars_words(made)
    drawn = bars_drawn(made)["data"]["values"]
    # Two series share 0.84 of a group; the first begins half of that left of its middle.
    begins = [row["left"] for row in drawn if row["kind"] == "none"]
    assert begins == pytest.approx([-0.42, 0.58, 1.58])
    assert [column.name for column in bars_table(made).columns][:2] == ["topology", "faults"]
    assert len(bars_table(made).rows) == 5


@pytest.mark.parametrize(("rates", "reach"), [([9.0], 0.0), ([9.0, 7.0], 2.0)])
def test_bars_of_single_runs_have_no_whiskers(rates: list[float], reach: float) -> None:
    spec = replace(BARS, query="SELECT topology, rate FROM runs")
    made = bars(spec, tables("topology rate", *(("A", rate) for rate in rates)))
    assert made is not None and len(made.names) == 1
    drawn = bars_drawn(made)
    assert len(drawn["layer"]) == (2 if reach else 1)
    (row,) = drawn["data"]["values"]
    assert row.get("high", 0.0) - row.get("low", 0.0) == reach


def test_a_cumulative_line_puts_the_runs_of_a_series_together() -> None:
    query = "SELECT topology, high, sum(count) FROM runs GROUP BY ALL ORDER BY high"
    spec = PictureSpec("d", "cumulative", "Delays", query=query, x=Axis("delay", "ms"))
    rows = ("A", 0.01, 1), ("A", 0.02, 2), ("A", 0.02, 5)
    made = cumulative(spec, tables("topology high count", *rows))
    (line,) = made.lines
    # One of eight is at most 10 ms, all are at most 20 ms; half are at 20 ms.
    assert list(line.xs) == [10.0, 20.0] and list(line.shares) == [0.125, 1.0]
    assert line.median == 20.0 and line.count == 8
    assert (
        len(cumulative_drawn(made)["data"]["values"]) == 2 and len(cumulative_table(made).rows) == 2
    )
    assert cumulative(replace(spec, query="FROM runs WHERE false"), tables("a b c", *rows)) is None


def test_bins_are_shares_of_the_number_and_of_the_volume() -> None:
    # Three files of 1 KiB and one of 1 MiB: 75 % and 25 % of the number; 3/1027 of the volume.
    rows = ("p", 1024, 3, 3 * 1024), ("p", 2048, 0, 0), ("p", 2**20, 1, 2**20)
    spec = PictureSpec("files", "histogram", "Files", query="FROM runs")
    made = histogram(spec, tables("population least files volume", *rows))
    (panel,) = made.panels
    assert panel.exponents == (10, 20) and panel.counts == (75.0, 25.0)
    assert panel.volumes == pytest.approx((100 * 3 / 1027, 100 * 1024 / 1027))
    assert math.fsum(panel.volumes) == pytest.approx(100.0) and made.counted == "files"
    (view,) = histogram_drawn(made)["vconcat"]
    assert len(view["data"]["values"]) == 4 and len(histogram_table(made).rows) == 2
    assert histogram(spec, tables("population least files volume", rows[1])) is None
