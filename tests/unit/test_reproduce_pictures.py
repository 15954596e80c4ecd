"""What the pictures of a reproduction are drawn from, and the words on them."""

from __future__ import annotations

import doctest
import importlib
import math
from dataclasses import replace

import pytest
from matplotlib.figure import Figure as StaticFigure

from resilver.report.style import GREY
from resilver.reproduce.bars import bars, bars_figure, bars_static
from resilver.reproduce.compare import compare
from resilver.reproduce.curves import curve, curve_figure, curve_static, curve_table
from resilver.reproduce.histograms import histogram, histogram_figure, histogram_table
from resilver.reproduce.published import PictureSpec, Published

CURVE = PictureSpec(
    "rates",
    "curve",
    "Rates",
    x="items",
    x_title="servers",
    y="rate",
    y_unit="thousand/s",
    y_title="placement rate",
    by="bucket",
    names={"straw": "straw bucket"},
)


def test_a_line_goes_through_the_medians_in_the_units_of_the_axis() -> None:
    rows = [
        {"bucket": bucket, "items": items, "rate": rate}
        for bucket, items, rate in (
            ("straw", 8, 3000.0),
            ("straw", 4, 9000.0),
            ("straw", 8, 5000.0),
            ("straw", 8, 4000.0),
            ("ring", 4, 1000.0),
            ("ring", 8, None),
        )
    ]
    number = Published("r", "R", "rate", "thousand/s", paper=7.0, at={"items": 8})
    made = curve(CURVE, rows, [(number, compare("e", number, rows))])
    assert made is not None
    assert [(line.name, line.xs, line.ys) for line in made.lines] == [
        ("straw bucket", (4.0, 8.0), (9.0, 4.0)),
        ("ring", (4.0,), (1.0,)),
    ]
    assert made.published == ((8.0, 7.0),)
    assert made.y_title == "placement rate (thousand/s)"
    figure = curve_figure(made)
    assert [trace.name for trace in figure.data] == ["straw bucket", "ring", "the paper"]
    assert list(figure.data[0].x) == [2.0, 3.0]
    assert len(curve_table(made).rows) == 3


def test_a_formula_is_a_grey_line_without_marks_beside_the_simulated_ones() -> None:
    rows = [
        {"bucket": "straw", "items": 4, "rate": 9000.0, "formula": 8000.0},
        {"bucket": "ring", "items": 4, "rate": 1000.0, "formula": 8000.0},
        {"bucket": "ring", "items": 8, "rate": 2000.0, "formula": 7000.0},
    ]
    spec = replace(CURVE, expected="formula", level_name="by formula")
    made = curve(spec, rows, [])
    assert made is not None
    formula = made.lines[-1]
    assert (formula.name, formula.xs, formula.ys) == ("by formula", (4.0, 8.0), (8.0, 7.0))
    drawn = curve_figure(made).data[-1]
    assert (drawn.name, drawn.mode, drawn.line.color) == ("by formula", "lines", GREY)
    static = StaticFigure()
    curve_static(static, made)
    lines = {line.get_label(): line for line in static.axes[0].lines}
    assert lines["by formula"].get_marker() == "" and lines["ring"].get_marker() != ""


def test_bars_of_single_runs_have_no_whiskers() -> None:
    spec = replace(CURVE, draw="bars", y_unit="")
    once = [{"bucket": "straw", "items": 4, "rate": 9.0}]
    twice = [*once, {"bucket": "straw", "items": 4, "rate": 7.0}]
    for rows, reach in ((once, None), (twice, (1.0,))):
        made = bars(spec, rows)
        assert made is not None
        # The median of 7 and 9 is 8, 1 from either.
        assert bars_figure(made).data[0].error_y.array == reach
        static = StaticFigure()
        bars_static(static, made)
        assert len(static.axes[0].lines) == (0 if reach is None else 2)


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".compare",
        ".conclusions",
        ".entries",
        ".grouped",
        ".page",
        ".published",
        ".serving",
        ".streaming",
        ".words",
    ],
)
def test_examples_of_docstrings_are_true(name: str) -> None:
    result = doctest.testmod(importlib.import_module(f"resilver.reproduce{name}"))
    assert result.attempted > 0 and result.failed == 0


def test_a_curve_without_rows_is_no_picture() -> None:
    assert curve(CURVE, [{"bucket": "straw", "items": 4, "rate": None}], []) is None


def test_bars_are_shares_of_the_number_and_of_the_volume() -> None:
    # Three files of 1 KiB and one of 1 MiB: 75 % and 25 % of the number; 3/1027 of the volume.
    rows = [
        {"population": "p", "bin_min_bytes": 1024, "files": 3, "file_bytes": 3 * 1024},
        {"population": "p", "bin_min_bytes": 2048, "files": 0, "file_bytes": 0},
        {"population": "p", "bin_min_bytes": 2**20, "files": 1, "file_bytes": 2**20},
    ]
    spec = PictureSpec("files", "histogram", "Files", count="files", volume="file_bytes")
    made = histogram(spec, rows)
    assert made is not None
    (panel,) = made.panels
    assert panel.exponents == (10, 20) and panel.counts == (75.0, 25.0)
    assert panel.volumes == pytest.approx((100 * 3 / 1027, 100 * 1024 / 1027))
    assert math.fsum(panel.volumes) == pytest.approx(100.0)
    assert len(histogram_figure(made).data) == 2 and len(histogram_table(made).rows) == 2
    assert histogram(spec, rows[1:2]) is None
