"""Chart idioms: what a reader sees in the drawing follows from the columns of the data."""

import re
from typing import Any

import pytest

from resilver.charts.idioms import columns, data_of, fields, heat, levels, lines, points, series
from resilver.charts.named import bars, dots
from resilver.charts.style import BLUE, DASHES, INK, MARKS, VERMILLION
from resilver.charts.vega import READ, Spec, axis, drawn, rows
from resilver.tables import table

TWO = {"before": BLUE, "after": VERMILLION}


def svg(spec: Spec, width: int = 500) -> str:
    return drawn(spec, "svg", "", width).decode()


def marks(spec: Spec) -> list[str]:
    return [layer["mark"]["type"] for layer in spec["layer"]]


def boxes(text: str, colour: str) -> list[tuple[float, float, float]]:
    """Left, right and middle height of each bar of a colour, from the top down."""
    paths = re.findall(rf'd="M([\d.]+),([\d.]+)h(-?[\d.]+)v([\d.]+)h[^"]*" fill="{colour}"', text)
    found = [tuple(map(float, path)) for path in paths]
    return sorted(
        ((x, x + wide, y + 0.5 * high) for x, y, wide, high in found), key=lambda one: one[2]
    )


def line(kinds: list[str], *, low: bool = False, text: bool = False) -> Spec:
    made: dict[str, list[Any]] = {"x": [1.0, 2.0] * len(kinds), "y": [3.0, 4.0] * len(kinds)}
    made["kind"] = [kind for kind in kinds for _ in range(2)]
    made |= {"low": [2.0, 3.0] * len(kinds), "high": [4.0, 5.0] * len(kinds)} if low else {}
    made |= {"text": ["a", "b"] * len(kinds)} if text else {}
    return rows(**made)


ACROSS, UPWARDS = axis("x", "time (s)", ends=(1.0, 2.0)), axis("y", "rate (MB/s)")


def test_data_of_a_chart_are_those_of_its_table_in_the_units_of_the_axes() -> None:
    assert series("abca", ("red", "blue")) == {"a": "red", "b": "blue", "c": "red"}
    # A share of 0.25 is 25 %; 3 GB/s are 3 on an axis of 1e9 bytes a second.
    made = table(
        ("name", "name", "text", ["a", "b"]),
        ("part", "share", "share", [0.25, None]),
        ("rate", "rate", "TB/s", [3e9, 1e9]),
    )
    data = data_of(made, {"y": 1e9}, kind="name", x="part", y="rate")["values"]
    assert data == [{"kind": "a", "x": 25.0, "y": 3.0}, {"kind": "b", "x": None, "y": 1.0}]


@pytest.mark.parametrize("kinds", [1, 2])
def test_kinds_differ_in_more_than_colour_and_one_kind_has_no_legend(kinds: int) -> None:
    named = dict(list(TWO.items())[:kinds])
    spec = lines(line(list(named)), ACROSS, UPWARDS, named, dots="true", noun="when")
    of_line, of_dot = (layer["encoding"] for layer in spec["layer"])
    if kinds == 1:
        assert of_line["color"]["legend"] is None and "strokeDash" not in of_line
        assert [one["title"] for one in of_line["tooltip"]] == ["time (s)", "rate (MB/s)"]
        return
    assert of_line["strokeDash"]["scale"]["range"] == list(DASHES[:2])
    assert of_dot["shape"]["scale"]["range"] == list(MARKS[:2])
    assert of_line["tooltip"][0]["title"] == "when"
    assert "before" in svg(spec) and "after" in svg(spec)


def test_marks_follow_what_the_data_have() -> None:
    spec = lines(line(["before"], text=True), ACROSS, UPWARDS)
    assert spec["layer"][0]["encoding"]["tooltip"] == READ
    data = rows(name=["a"], x=[1.0], low=[None], high=[None], x2=[None])
    assert marks(bars(data, axis("x", "units"))) == ["bar"]
    spec = lines(line(["before"]), ACROSS, UPWARDS, dots="datum.x > 1", height=100)
    assert spec["layer"][1]["transform"] == [{"filter": "datum.x > 1"}]
    assert svg(spec).count('aria-roledescription="point"') <= 1 and spec["height"] == 100
    spec = points(line(["before"]), ACROSS, UPWARDS, zooms="zoom0")
    assert spec["layer"][0]["params"][0]["name"] == "zoom0" and spec["layer"][0]["mark"]["clip"]
    assert not points(line(["before"]), ACROSS, UPWARDS)["layer"][0]["mark"]["clip"]


@pytest.mark.parametrize(("interval", "mark"), [("area", "area"), ("rule", "rule")])
def test_an_interval_lies_below_its_line(interval: str, mark: str) -> None:
    spec = lines(line(["before"], low=True), ACROSS, UPWARDS, TWO, interval=interval)
    assert marks(spec) == [mark, "line"]
    assert spec["layer"][0]["encoding"]["y2"] == {"field": "high"}


def test_levels_and_names_stand_where_they_are_read() -> None:
    spec = lines(line(["before"]), ACROSS, UPWARDS, over=[levels({3.5: "nearfull"})])
    text = svg(spec)
    dashed = re.findall(r'<line [^>]*x2="(-?\d+)"[^>]*stroke-dasharray="6,3"', text)
    # 500 pixels less 62 left and 14 right of the drawing.
    assert [abs(int(one)) for one in dashed] == [424] and "nearfull" in text
    data = rows(name=["z", "a", "z"], kind=["before", "after", "after"], x=[1, 2, 3])
    spec = dots(data, axis("x", "until (h)"), TWO, noun="host", step=20, large="after")
    assert spec["height"] == 40
    assert spec["encoding"]["y"]["sort"] is None and spec["encoding"]["y"]["axis"]["grid"]
    read = [one["title"] for one in spec["layer"][0]["encoding"]["tooltip"]]
    assert read == ["host", "what", "until (h)"]
    assert spec["layer"][0]["encoding"]["size"]["condition"]["test"] == "datum.kind === 'after'"


def test_columns_and_heat_stand_where_the_axes_say() -> None:
    # Over 0 to 4 in 424 pixels a bar of 0.5 is 53 wide, and that of 1 stands at 106.
    data = rows(x=[1.0, 3.0], y=[2.0, 4.0], low=[1.0, 4.0], high=[3.0, 4.0])
    spec = columns(data, axis("x", "age", ends=(0.0, 4.0)), UPWARDS, wide=0.5)
    found = boxes(svg(spec), BLUE)
    assert sorted((left, right) for left, right, _ in found) == [(79.5, 132.5), (291.5, 344.5)]
    assert marks(spec) == ["rect", "rule"]
    data = rows(x=[1, 2], y=[1, 1], depth=[0.0, 1.0], text=["none", "all"])
    spec = heat(data, fields("x", "X"), fields("y", None), (0.0, 1.0), words=True)
    text = svg(spec)
    assert spec["encoding"]["y"]["axis"] is None and "none" in text and "all" in text
    assert 'fill-opacity="0.05"' in text
    assert spec["layer"][1]["mark"]["color"] == INK


def test_a_bar_has_a_pale_rest_a_tick_and_words_behind_all_of_them() -> None:
    data = rows(name=["a", "b"], x=[1, 2], x2=[2, 3], mark=[4, None], label=["one", "two"])
    spec = bars(data, axis("x", "units", ends=(0.0, 5.0)))
    assert marks(spec) == ["bar", "bar", "tick", "text"]
    assert [row["end"] for row in spec["data"]["values"]] == [4, 3]
    assert spec["layer"][1]["mark"]["fillOpacity"] < 0.5
    text = svg(spec)
    assert "one" in text and "two" in text
    # Two bars and the rest of each, which begins where its bar ends.
    (_, ends_a, _), (begins_a, _, _), (_, ends_b, _), (begins_b, _, _) = sorted(
        boxes(text, BLUE), key=lambda one: (one[2], one[0])
    )
    assert (ends_a, ends_b) == (begins_a, begins_b)


def test_stacked_bars_follow_each_other_and_grouped_ones_stand_below() -> None:
    # Rows in another order: before of 1 and after of 3 of 4 units in all.
    data = rows(name=["a", "a"], kind=["after", "before"], x=[3.0, 1.0])
    text = svg(bars(data, axis("x", "units", ends=(0.0, 4.0)), TWO, stacked=True))
    (first,), (second,) = boxes(text, BLUE), boxes(text, VERMILLION)
    assert first[0] == 0.0 and first[1] == second[0]
    assert second[1] - second[0] == pytest.approx(3.0 * (first[1] - first[0]), rel=0.01)
    data = rows(name=["a", "a"], kind=["after", "before"], x=[3.0, -1.0])
    spec = bars(data, axis("x", "change"), TWO, grouped=True, signed=True)
    text = svg(spec)
    (first,), (second,) = boxes(text, BLUE), boxes(text, VERMILLION)
    assert first[2] < second[2] and marks(spec) == ["bar", "rule"]
