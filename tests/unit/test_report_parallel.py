"""Parallel coordinates: what stands on each axis, and that both drawings show all of it."""

from __future__ import annotations

import doctest

import pytest
from matplotlib.figure import Figure as StaticFigure

from resilver.report import parallel as module
from resilver.report.parallel import parallel, parallel_table, parallel_words
from resilver.report.parallel_plot import parallel_figure, parallel_static
from resilver.reproduce.compare import compare
from resilver.reproduce.parallels import parallels
from resilver.reproduce.published import Axis, PictureSpec, Published
from resilver.reproduce.tables import Tables, table_of

SPEC = PictureSpec(
    "shares",
    "parallel",
    "Shares",
    query="SELECT line, bisection, share FROM runs",
    y=Axis("simulated over analytic", "%"),
    level_name="the analytic model",
    stars={"read": ["r", ""]},
)
ROWS = [
    {"line": line, "bisection": bisection, "share": share}
    for line, bisection, share in (
        ("read", "full", 0.98),
        ("read", "full", 1.0),
        ("read", "half", 0.7),
        ("write", "full", None),
        ("write", "half", 0.5),
        ("write", "half", 0.6),
    )
]
NUMBER = Published("r", "Read", "avg(share)", unit="%", paper=98.0)


def made() -> module.Parallel:
    tables = Tables(table_of(ROWS))
    found = parallels(SPEC, tables, {"r": compare("e", NUMBER, tables)})
    assert found is not None
    return found


def test_a_line_stands_at_the_mean_of_the_rows_of_its_axis() -> None:
    """(98 + 100) / 2 and 70 for reads; (50 + 60) / 2 for writes, which have no run at full."""
    read, write = made().lines
    assert [(p.axis, pytest.approx(p.mean), p.published) for p in read.places] == [
        (0, 99.0, 98.0),
        (1, 70.0, None),
    ]
    assert [(p.axis, p.least, p.most) for p in write.places] == [(1, 50.0, 60.0)]
    # The least value is 50, the most 100: a margin of 2, then whole tens.
    assert made().limits == (40.0, 110.0)
    assert made().runs == (1, 2)


def test_both_drawings_show_every_mean_run_and_star() -> None:
    figure = parallel_figure(made())
    by_mode = [(trace.mode, trace.name, len(trace.x)) for trace in figure.data]
    assert by_mode == [
        ("markers", None, 3),
        ("lines+markers", "read", 2),
        ("markers", None, 2),
        ("lines+markers", "write", 1),
        ("markers", "the paper", 1),
    ]
    assert list(figure.layout.xaxis.ticktext) == ["full", "half"]
    static = StaticFigure(layout="constrained")
    parallel_static(static, made())
    (axes,) = static.axes
    assert [text.get_text() for text in axes.get_xticklabels()] == ["full", "half"]
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["read", "write", "the paper"]
    # Lines across and down, runs, means and the star: each quantity has runs and means.
    assert len(axes.lines) >= 2 * 2 + 3


def test_the_table_and_the_words_say_what_is_drawn() -> None:
    rows = parallel_table(made()).rows
    assert [(row[0], row[1], row[6]) for row in rows] == [
        ("read", "full", 2),
        ("read", "half", 1),
        ("write", "half", 2),
    ]
    text = parallel_words(made())
    assert "1 to 2 runs" in text and "at 100 %, is the analytic model" in text
    assert "star" in text


def test_nothing_is_drawn_from_rows_without_the_columns() -> None:
    assert parallels(SPEC, Tables(table_of([{**ROWS[0], "share": None}])), {}) is None
    assert parallel(("one",), {"read": {0: []}}, "share") is None


def test_examples_of_docstrings_are_true() -> None:
    result = doctest.testmod(module)
    assert result.attempted > 0 and result.failed == 0
