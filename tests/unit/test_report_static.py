"""The charts as files: all of them, readable, and the same bytes for the same results."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "browser"))

from report_fixture import results

from resilver.errors import ConfigError
from resilver.report import NAMES, charts, write_figures
from resilver.report.source import systems
from resilver.report.static import draw

CASES: dict[str, dict[str, Any]] = {
    "one": {},
    "sweep": {"servers": (4, 64, 1024), "seeds": 3},
    "without groups": {"groups": None, "objects_per_group": 50},
    "two keys": {"servers": (16, 64), "extra_swept": {"placement.bucket": ["straw", "straw2"]}},
}


@pytest.mark.parametrize("format", ["png", "svg"])
def test_every_chart_becomes_a_file_and_equal_results_equal_bytes(
    tmp_path: Path, format: str
) -> None:
    made = results(seeds=3)
    first = write_figures(made, tmp_path / "a", format=format)  # type: ignore[arg-type]
    second = write_figures(made, tmp_path / "b", format=format)  # type: ignore[arg-type]
    assert [path.name for path in first] == [f"{name}.{format}" for name in NAMES]
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes()
        assert one.stat().st_size > 5_000
        if format == "svg":
            ElementTree.parse(one)


@pytest.mark.parametrize("case", CASES)
def test_no_text_leaves_the_picture(case: str) -> None:
    made = results(**CASES[case])
    points = systems(made)
    for chart in [*charts.of_study(points), *charts.of_system(made, points[-1])]:
        figure = draw(chart)
        figure.draw_without_rendering()
        frame = figure.bbox
        texts = [*figure.texts, figure._suptitle]
        for axes in figure.axes:
            texts += [*axes.texts, axes.xaxis.label, axes.yaxis.label]
        for text in texts:
            if text is None or not text.get_visible() or not text.get_text():
                continue
            box = text.get_window_extent()
            where = f"{case}, {chart.name}: {text.get_text()!r}"
            assert box.x0 >= frame.x0 - 1 and box.x1 <= frame.x1 + 1, where
            assert box.y0 >= frame.y0 - 1 and box.y1 <= frame.y1 + 1, where


def test_an_empty_system_has_no_figures(tmp_path: Path) -> None:
    assert write_figures(results(objects_per_group=0), tmp_path) == []


def test_an_unknown_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="'gif' is not known; choose one of png, svg"):
        write_figures(results(seeds=1), tmp_path, format="gif")  # type: ignore[arg-type]
