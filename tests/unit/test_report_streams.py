"""Reports of streams and lanes: numbers by hand, true words, and both drawings."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from matplotlib.figure import Figure as StaticFigure

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "browser"))

from report_fixture import MemoryResults
from traffic_fixture import traffic_results

from resilver.report import charts, write_figures
from resilver.report.html import render
from resilver.report.lanes import (
    LanesChart,
    lanes_chart,
    lanes_finding,
    lanes_table,
    lanes_text,
)
from resilver.report.source import SystemRuns, systems
from resilver.report.streams import (
    StreamsChart,
    streams_chart,
    streams_finding,
    streams_table,
    streams_text,
)
from resilver.report.traffic_charts import STREAM_NAMES
from resilver.report.traffic_words import device_words

GIB = 2**30


def streaming() -> tuple[MemoryResults, SystemRuns]:
    """Four groups, of which the last rebuilds: 3 x 8 + 4 GiB/s are read, of 30 expected."""
    made = traffic_results(seeds=1)
    run = made.runs["run"][0].as_py()
    metrics = {
        "read_bytes_per_second": 28.0 * GIB, "analytic_read_bytes_per_second": 30.0 * GIB,
        "rebuild_bytes_per_second": 1.1 * GIB, "analytic_rebuild_bytes_per_second": 1.0 * GIB,
        "write_bytes_per_second": 0.0, "analytic_write_bytes_per_second": 0.0,
    }  # fmt: skip
    for name, value in metrics.items():
        column = pa.array([value] * made.runs.num_rows, pa.float64())
        kept = made.runs.drop_columns([name]) if name in made.runs.column_names else made.runs
        made.runs = kept.append_column(name, column)
    reads = [8.0 * GIB, 8.0 * GIB, 8.0 * GIB, 4.0 * GIB]
    rows: list[dict[str, Any]] = [
        {
            "run": run, "group": group, "is_rebuilding": group == 3, "servers": 24,
            "ports_working": 48, "read_bytes_per_second": rate, "write_bytes_per_second": 0.0,
            "burst_bytes_per_second": 0.0,
            "rebuild_bytes_per_second": 1.1 * GIB if group == 3 else 0.0,
            "mean_delay_seconds": 1e-3,
        }
        for group, rate in enumerate(reads)
    ]  # fmt: skip
    made.stripe_groups = pa.Table.from_pylist(rows)
    # Clients carry 86 GiB, 6 of them in the rebuild's share; rebuilds 14 GiB of their own.
    lanes = [
        ("clients", 0.8, 86, 6, 0, 2e-6),
        ("rebuild", 0.2, 14, 0, 6, 9e-6),
        ("bursts", 0.0, 0, 0, 0, None),
    ]
    made.lanes = pa.Table.from_pylist(
        [
            {
                "run": run, "part": "links", "class": name, "share": share, "units": size * 1024,
                "bytes": size * GIB, "busy_seconds": float(size), "mean_wait_seconds": wait,
                "lent_bytes": lent * GIB, "borrowed_bytes": borrowed * GIB,
            }
            for name, share, size, borrowed, lent, wait in lanes
        ]
    )  # fmt: skip
    loan = {"run": run, "part": "links", "lender": "rebuild", "borrower": "clients"}
    made.lending = pa.Table.from_pylist([{**loan, "bytes": 6 * GIB}])
    return made, systems(made)[0]


def the_lanes() -> LanesChart:
    found = lanes_chart(*streaming())
    assert found is not None
    return found


def the_streams() -> StreamsChart:
    found = streams_chart(*streaming())
    assert found is not None
    return found


def test_a_lane_is_what_it_carried_of_its_own_and_of_others() -> None:
    """86 of 100 GiB are clients', 6 borrowed: 80 % by their own share."""
    clients, rebuild = the_lanes().lanes
    assert clients.carried_share == pytest.approx(0.86)
    assert clients.own_share == pytest.approx(0.80)
    assert (rebuild.carried_share, rebuild.own_share) == pytest.approx((0.14, 0.14))
    assert lanes_finding(the_lanes()) == (
        "On links, clients get 86 % (guaranteed 80 %) and rebuilds get 14 % (guaranteed 20 %); "
        "rebuilds lend 6.0 GiB to clients"
    )
    assert "rebuilds, links 9.00 us" in lanes_text(the_lanes())
    assert [row[5] for row in lanes_table(the_lanes()).rows] == [6 * GIB, 0]


def test_streams_stand_beside_the_analytic_model() -> None:
    """28 of 30 are 6.7 % below, 1.1 of 1 are 10 % above; writes are left out."""
    made = the_streams()
    assert [one.kind for one in made.rates] == ["read", "rebuild"]
    assert streams_finding(made) == (
        "Reads get 28.0 GiB/s, 6.7 % below the analytic rate; rebuilds get 1.1 GiB/s, 10 % above "
        "the analytic rate"
    )
    assert made.groups is not None and made.groups.rebuilding.tolist() == [False] * 3 + [True]
    assert "the 1 group that rebuilds: 3." in streams_text(made)
    # A row a kind, then four groups for each of the two kinds that have any.
    assert len(streams_table(made).rows) == 2 + 2 * 4


def test_a_system_without_lanes_and_streams_has_neither_chart() -> None:
    made = traffic_results(seeds=1)
    point = systems(made)[0]
    assert lanes_chart(made, point) is None and streams_chart(made, point) is None


def test_both_drawings_show_the_shares_and_the_loans() -> None:
    from resilver.report.lanes_plot import lanes_figure, lanes_static

    figure = lanes_figure(the_lanes())
    assert [round(x) for x in figure.data[0].x] == [80, 14]
    assert [round(x) for x in figure.data[1].x] == [6, 0]
    assert list(figure.data[2].x) == [80, 20]
    assert list(figure.data[3].x) == [6.0]
    static = StaticFigure(layout="constrained")
    lanes_static(static, the_lanes())
    left, right = static.axes
    assert [round(bar.get_width()) for bar in left.patches] == [80, 14, 6, 0]
    assert [bar.get_width() for bar in right.patches] == [6.0]


def test_both_drawings_show_the_rates_and_the_groups() -> None:
    from resilver.report.streams_plot import streams_figure, streams_static

    figure = streams_figure(the_streams())
    assert list(figure.data[0].x) == pytest.approx([28.0, 1.1])
    assert list(figure.data[1].x) == pytest.approx([30.0, 1.0])
    assert list(figure.data[2].y) == [8.0, 8.0, 8.0, 4.0]
    static = StaticFigure(layout="constrained")
    streams_static(static, the_streams())
    assert [bar.get_width() for bar in static.axes[0].patches] == pytest.approx([28.0, 1.1])
    assert len(static.axes[1].collections) == 2


def test_the_page_and_the_files_have_both_charts(tmp_path: Path) -> None:
    made, point = streaming()
    assert STREAM_NAMES == ("streams", "lanes")
    assert [one.name for one in charts.of_system(made, point)][:2] == ["streams", "lanes"]
    page = render(made)
    assert "On links, clients get 86 %" in page and "Reads get 28.0 GiB/s" in page
    files = write_figures(made, tmp_path, "png")
    assert {"streams.png", "lanes.png"} <= {path.name for path in files}


@pytest.mark.parametrize(
    ("read", "write", "words"),
    [
        (0.0, 0.0, "devices that take no time"),
        (0.022, 0.022, "devices that take 22 ms a request"),
        (0.001, 0.0, "devices that take 1 ms a read and 0 s a write"),
    ],
)
def test_a_device_is_told_by_its_times(read: float, write: float, words: str) -> None:
    assert device_words({"read_service": read, "write_service": write}) == words
