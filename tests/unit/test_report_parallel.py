"""Parallel coordinates: what stands on each axis, and that the drawing shows all of it."""

import pytest

from resilver.report import parallel as module
from resilver.report.parallel import parallel, parallel_spec, parallel_table, parallel_words
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
    return parallels(SPEC, tables, {"r": compare("e", NUMBER, tables)})


def test_a_line_stands_at_the_mean_of_the_rows_of_its_axis() -> None:
    """(98 + 100) / 2 and 70 for reads; (50 + 60) / 2 for writes, which have no run at full."""
    places = made().places
    assert [(p.name, p.axis, pytest.approx(p.mean), p.published) for p in places] == [
        ("read", 0, 99.0, 98.0),
        ("read", 1, 70.0, None),
        ("write", 1, 55.0, None),
    ]
    assert places[2].values == (50.0, 60.0)
    # The least value is 50, the most 100: a margin of 2, then whole tens.
    assert made().limits == (40.0, 110.0)
    assert made().runs == (1, 2)


def test_the_drawing_the_table_and_the_words_show_every_mean_run_and_star() -> None:
    spec = parallel_spec(made())
    axes, level, runs, *_ = spec["layer"]
    assert len(axes["data"]["values"]) == 2 and level["data"]["values"][0]["y"] == 100.0
    assert [row["y"] for row in runs["data"]["values"]] == [98.0, 100.0, 70.0, 50.0, 60.0]
    assert [(row["kind"], row["y"], row["told"]) for row in spec["data"]["values"]] == [
        ("read", 99.0, 98.0), ("read", 70.0, None), ("write", 55.0, None),
    ]  # fmt: skip
    assert [(row["low"], row["high"]) for row in spec["data"]["values"]] == [
        (98.0, 100.0), (70.0, 70.0), (50.0, 60.0),
    ]  # fmt: skip
    assert '["full", "half"]' in spec["encoding"]["x"]["axis"]["labelExpr"]
    rows = parallel_table(made()).rows
    assert [(row[0], row[1], row[6]) for row in rows] == [
        ("read", "full", 2),
        ("read", "half", 1),
        ("write", "half", 2),
    ]
    text = parallel_words(made())
    assert "1 to 2 runs" in text and "at 100 %, is the analytic model" in text
    assert "star" in text
    assert parallels(SPEC, Tables(table_of([{**ROWS[0], "share": None}])), {}) is None
    assert parallel(("one",), {"read": {0: []}}, "share") is None
