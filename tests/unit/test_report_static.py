"""The charts as files: all of them or one, readable, and the same bytes for the same results."""

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from resilver.charts.vega import NARROW, sized
from resilver.errors import ConfigError
from resilver.report import charts, write_figures
from resilver.report.population import PopulationSizes, population_spec
from resilver.study.system_runs import systems
from tests.browser.report_fixture import results


def test_every_chart_becomes_a_file(tmp_path: Path) -> None:
    made = results(servers=(16,), groups=20, seeds=3)
    files = write_figures(made, tmp_path, format="svg")
    names = ["rebuild-time", "rate", *charts.OF_REBUILD, "busy"]
    assert [path.name for path in files] == [f"{name}.svg" for name in names]
    for path in files:
        assert path.stat().st_size > 4_000
        ElementTree.parse(path)


@pytest.mark.parametrize(
    ("format", "first"), [("png", b"\x89PNG"), ("svg", b"<svg"), ("pdf", b"%PDF")]
)
def test_equal_results_make_equal_files(tmp_path: Path, format: str, first: bytes) -> None:
    made = results(servers=(16,), groups=20, seeds=3)
    one, other = (
        write_figures(made, tmp_path / name, format=format, names=["finish"])[0].read_bytes()
        for name in "ab"
    )
    assert one.startswith(first) and len(one) == len(other)
    # A PDF names the parts of a page in an order of chance.
    assert one == other or format == "pdf"


def test_one_chart_by_name_of_every_system_has_the_width_of_its_picture(tmp_path: Path) -> None:
    made = results(servers=(8, 16), seeds=1, groups=10)
    files = write_figures(made, tmp_path, "svg", names=["timeline", "together"], every=True)
    assert [path.name for path in files] == [
        "together.svg", "timeline-servers-8.svg", "timeline-servers-16.svg",
    ]  # fmt: skip
    assert "Half of the data is back" in files[1].read_text(encoding="utf-8")
    made = results(servers=(8,), seeds=1, groups=10)
    for width in (500, 1000):
        (path,) = write_figures(made, tmp_path, "svg", names=["timeline"], width=width)
        drawn = float(ElementTree.parse(path).getroot().attrib["width"])
        assert drawn == pytest.approx(width + 20, abs=25)


def test_what_stands_side_by_side_stands_below_each_other_in_a_narrow_window() -> None:
    made = results(seeds=1)
    (point,) = systems(made)
    spec = charts.chart(made, "finish", point).make()
    wide, narrow = sized(spec, NARROW), sized(spec, NARROW - 1)
    assert "hconcat" in wide and "vconcat" in narrow
    # Two views share a wide window and its gap; one has a narrow window for itself.
    assert 2 * wide["hconcat"][0]["width"] < NARROW < 2 * narrow["vconcat"][0]["width"]


def test_what_cannot_be_a_figure_is_refused(tmp_path: Path) -> None:
    assert write_figures(results(objects_per_group=0), tmp_path) == []
    with pytest.raises(ConfigError, match="'timeline' cannot be drawn"):
        write_figures(results(objects_per_group=0), tmp_path, names=["timeline"])
    with pytest.raises(ConfigError, match="'gif' is not known; choose one of png, svg, pdf"):
        write_figures(results(seeds=1), tmp_path, format="gif")


def test_bars_of_a_population_stand_on_the_axis() -> None:
    # Three files of 1 KiB and one of 2 KiB, uncut: 75 % and 25 % of the number, 3/5 of the volume.
    drawn = np.array([[3, 3072, 3, 3072], [1, 2048, 1, 2048]])
    sizes = PopulationSizes("p", "whole files", 10, drawn, np.zeros((2, 2)))
    for view in population_spec([sizes])["vconcat"]:
        (bars,) = view["layer"]
        assert bars["mark"]["type"] == "rect" and bars["encoding"]["y2"] == {"datum": 0}
        heights = {(row["kind"], row["y"]) for row in view["data"]["values"]}
        assert heights == {
            ("by count", 75.0), ("by count", 25.0), ("by volume", 60.0), ("by volume", 40.0),
        }  # fmt: skip
