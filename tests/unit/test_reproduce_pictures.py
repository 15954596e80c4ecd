"""What the pictures of a reproduction are drawn from, and the words on them."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from resilver.charts.style import GREY
from resilver.charts.vega import Chart
from resilver.reproduce import entry
from resilver.reproduce.bars import bars
from resilver.reproduce.compare import compare
from resilver.reproduce.cumulative import cumulative
from resilver.reproduce.curves import curve
from resilver.reproduce.histograms import histogram
from resilver.reproduce.parallels import parallels
from resilver.reproduce.published import Axis, PictureSpec, Published
from resilver.reproduce.tables import Tables, table_of

CURVE = PictureSpec(
    "rates",
    "curve",
    "Rates",
    query="SELECT bucket, items, rate FROM runs",
    x=Axis("servers", logarithmic=True),
    y=Axis("placement rate", "thousand/s"),
    stars={"r": 8},
)
STRAW = ((8, 3e3), (4, 9e3), (8, 5e3), (8, 4e3))
PLACED = (*(("straw", *placed) for placed in STRAW), ("ring", 4, 1e3))


def tables(names: str, *rows: Sequence[Any]) -> Tables:
    """A table of some columns."""
    columns = (list(column) for column in zip(*rows, strict=True))
    return Tables(pa.table(dict(zip(names.split(), columns, strict=True))))


def test_a_line_goes_through_medians_and_a_formula_is_grey_beside_it() -> None:
    runs = tables("bucket items rate", *PLACED, ("ring", 8, None))
    number = Published("r", "R", "median(rate)", unit="thousand/s", paper=7.0)
    made = curve(CURVE, runs, {"r": compare("e", number, runs)})
    assert made.table.rows == [("straw", 4.0, 9.0), ("straw", 8.0, 4.0), ("ring", 4.0, 1.0)]
    assert [column.name for column in made.table.columns][1] == "items"
    assert made.table.columns[2].heading == "placement rate (thousand/s)"
    spec = made.make()
    *_, stars = spec["layer"]
    drawn = [(row["kind"], row["x"], row["y"]) for row in spec["data"]["values"]]
    assert drawn == [("straw", 2.0, 9.0), ("straw", 3.0, 4.0), ("ring", 2.0, 1.0)]
    assert [(row["x"], row["y"]) for row in stars["data"]["values"]] == [(3.0, 7.0)]
    assert curve(CURVE, tables("bucket items rate", ("straw", 4, None)), {}) is None
    rows = ("straw", 4, 9e3, 8e3), ("ring", 4, 1e3, 8e3), ("ring", 8, 2e3, 7e3)
    query = "SELECT bucket, items, rate, formula FROM runs"
    spec = replace(CURVE, query=query, level_name="by formula")
    made = curve(spec, tables("bucket items rate formula", *rows), {})
    assert made.table.rows[-2:] == [("by formula", 4.0, 8.0), ("by formula", 8.0, 7.0)]
    drawn = made.make()
    line, points = drawn["layer"]
    scale = line["encoding"]["color"]["scale"]
    assert dict(zip(scale["domain"], scale["range"], strict=True))["by formula"] == GREY
    assert points["transform"] == [{"filter": "!datum.told"}]
    told = {row["kind"]: row["told"] for row in drawn["data"]["values"]}
    assert told == {"straw": False, "ring": False, "by formula": True}
    spec = replace(CURVE, query="SELECT busy, rate FROM runs", x=Axis("busy", "%"))
    made = curve(spec, tables("busy rate", (0.12, 2e3), (0.34, 5e3)), {})
    assert made is not None and {row[0] for row in made.table.rows} == {"ours"}
    ticks = '["0", "10", "20", "30", "40"]'
    assert ticks in made.make()["encoding"]["x"]["axis"]["labelExpr"]
    assert made.table.columns[1].kind == "share"


OF_FAULTS = "SELECT topology, faults, rate FROM runs"
BARS = PictureSpec("b", "bars", "Rates", query=OF_FAULTS, x=Axis("topology"), y=Axis("rate"))
RATES = (
    *(("A", "none", 10.0), ("A", "none", 12.0), ("B", "none", 8.0), ("C", "none", 4.0)),
    *(("A", "4 disks", 9.0), ("A", "4 disks", 12.0), ("B", "4 disks", 4.0)),
)


def test_bars_are_medians_with_the_range_of_their_runs() -> None:
    made = bars(BARS, tables("topology faults rate", *RATES), {})
    assert made.table.rows[0] == ("A", "none", 11.0, 10.0, 12.0, 2)
    assert [row[:2] for row in made.table.rows] == [
        *(("A", "none"), ("B", "none"), ("C", "none"), ("A", "4 disks"), ("B", "4 disks")),
    ]
    assert "Most: 11 (A, none); least: 4 (C, none)" in made.description
    drawn = made.make()["data"]["values"]
    # Two series share 0.84 of a group; the first begins half of that left of its middle.
    begins = [row["left"] for row in drawn if row["kind"] == "none"]
    assert begins == pytest.approx([-0.42, 0.58, 1.58])
    assert [column.name for column in made.table.columns][:2] == ["topology", "faults"]


@pytest.mark.parametrize(("rates", "reach"), [([9.0], 0.0), ([9.0, 7.0], 2.0)])
def test_bars_of_single_runs_have_no_whiskers(rates: list[float], reach: float) -> None:
    spec = replace(BARS, query="SELECT topology, rate FROM runs")
    made = bars(spec, tables("topology rate", *(("A", rate) for rate in rates)), {})
    assert made is not None and len(made.table.columns) == 5
    drawn = made.make()
    assert len(drawn["layer"]) == (2 if reach else 1)
    (row,) = drawn["data"]["values"]
    assert row.get("high", 0.0) - row.get("low", 0.0) == reach


def test_cumulative_lines_and_bins_are_shares_of_all_runs() -> None:
    query = "SELECT topology, high, sum(count) FROM runs GROUP BY ALL ORDER BY high"
    spec = PictureSpec("d", "cumulative", "Delays", query=query, x=Axis("delay", "ms"))
    rows = ("A", 0.01, 1), ("A", 0.02, 2), ("A", 0.02, 5)
    made = cumulative(spec, tables("topology high count", *rows), {})
    # One of eight is at most 10 ms, all are at most 20 ms; half are at 20 ms.
    assert made.table.rows == [("A", 10.0, 0.125), ("A", 20.0, 1.0)]
    assert "Medians: 20 ms (A)" in made.description and len(made.make()["data"]["values"]) == 2
    nothing = replace(spec, query="FROM runs WHERE false")
    assert cumulative(nothing, tables("a b c", *rows), {}) is None
    # Three files of 1 KiB and one of 1 MiB: 75 % and 25 % of the number; 3/1027 of the volume.
    rows = ("p", 1024, 3, 3 * 1024), ("p", 2048, 0, 0), ("p", 2**20, 1, 2**20)
    spec = PictureSpec("files", "histogram", "Files", query="FROM runs")
    made = histogram(spec, tables("population least files volume", *rows), {})
    assert [row[:3] for row in made.table.rows] == [("p", 1024, 0.75), ("p", 2**20, 0.25)]
    volumes = [row[3] for row in made.table.rows]
    assert volumes == pytest.approx((3 / 1027, 1024 / 1027))
    assert math.fsum(volumes) == pytest.approx(1.0)
    assert made.table.columns[2].name == "files_share"
    (view,) = made.make()["vconcat"]
    assert len(view["data"]["values"]) == 4
    assert histogram(spec, tables("population least files volume", rows[1]), {}) is None


# The SQL that studies share: losses, bounds, rates over the analytic model, on small tables.


Rows = list[dict[str, Any]]


def rows(names: str, *values: Sequence[Any], **more: Any) -> Rows:
    """Rows of some columns, and what all of them have."""
    return [{**dict(zip(names.split(), row, strict=True)), **more} for row in values]


def asked(name: str, folder: Path, runs: Rows, query: str, **tables: Rows) -> Rows:
    """The rows of a query over an entry's views of runs and other tables."""
    for table, content in tables.items():
        pq.write_table(pa.Table.from_pylist(content), folder / f"{table}.parquet")
    plain = [{**run, "system": json.dumps(run["system"])} for run in runs]
    columns, found = Tables(table_of(plain), folder, entry(name).views).ask(query)
    return [dict(zip(columns, row, strict=True)) for row in found]


NETWORK = {
    "cluster": {
        "device": {"read_service": 0.022, "write_service": 0.022},
        "fabric": {"topology": {"label": "torus 64x64 routers 128"}},
    },
    "traffic": {"outstanding": 5120, "interval": 0.022},
}
DISKS = "run requests_completed requests_lost requests_read requests_written"
SERVED = "run requests_completed requests_lost statistics_seconds"


def test_losses_and_delays_of_a_closed_loop_follow_from_its_disks(tmp_path: Path) -> None:
    disks = rows(DISKS, ("r", 40, 1, 20, 20), ("r", 0, 7, 0, 0), ("r", 45, 0, 25, 20))
    more = {"system": NETWORK, "traffic.timeout": 0.5}
    runs = rows(SERVED, ("r", 90, 8, 1.1), **more)
    [row] = asked("network-timeouts", tmp_path, runs, "FROM runs", servers=disks)
    assert row["topology"] == "Torus 2D" and row["timeout"] == 0.5
    assert row["requests_lost_at_dead_disks"] == 7 and row["requests_lost_elsewhere"] == 1
    assert row["requests_completed_fraction"] == pytest.approx(90 / 98)
    assert row["requests_lost_fraction"] == pytest.approx(8 / 98)
    # The busiest served 45; 1.1 s has room for 50 of 22 ms, and the one it was at.
    assert row["disk_bound_fraction_max"] == pytest.approx(45 / 51)
    # 5,120 outstanding, 80,000 completed in 1 s: 64 ms between a request and its like. Of
    # them the pause takes 11 ms.
    disks = rows(DISKS, ("a", 1, 0, 1, 0), ("b", 0, 0, 0, 0))
    runs = rows(SERVED, ("a", 80_000, 0, 1.0), ("b", 0, 0, 1.0), **more)
    query = "SELECT little_delay_seconds AS delay FROM runs"
    found = asked("network-timeouts", tmp_path, runs, query, servers=disks)
    assert [row["delay"] for row in found] == [pytest.approx(0.053), None]


def test_changes_are_from_the_run_of_the_same_network_and_seed(tmp_path: Path) -> None:
    """Seed 1 keeps 9 of 10 and seed 2 all of 12; a seed without a partner says nothing."""
    same = ("mean_hops", "mean_delay_seconds", "packets_queued_fraction", "device_busy_fraction")
    more = dict.fromkeys((*same, "link_busy_fraction", "statistics_seconds"), 1.0)
    runs = rows(
        "run seed faults throughput_bytes_per_second",
        *(("a", 1, "none", 10.0), ("b", 2, "none", 12.0)),
        *(("c", 1, "4 disks", 9.0), ("d", 2, "4 disks", 12.0), ("e", 9, "4 disks", 1.0)),
        **{"system": NETWORK, "requests_completed": 1, "requests_lost": 0, **more},
    )
    disks = rows(DISKS, *((run["run"], 1, 0, 1, 0) for run in runs))
    query = "SELECT topology, faults, throughput_bytes_per_second AS rate FROM "
    found = asked("network-faults", tmp_path, runs, f"{query} changes", servers=disks)
    assert [row["rate"] for row in found] == [0.9, 1.0]
    found = asked("network-faults", tmp_path, runs, f"{query} change", servers=disks)
    assert found == [{"topology": "Torus 2D", "faults": "4 disks", "rate": 0.95}]


def test_groups_that_rebuild_stand_over_their_share_of_a_group_at_rest(tmp_path: Path) -> None:
    """Three groups at rest and one that keeps 75 %: the model's sum of 37.5 is 3.75 times 10.

    So a group at rest reads 10. The rebuilding one reads 6, which is 60 % of that and 80 % of its
    guaranteed 7.5. One of its servers has lost both its ports: 46 of 48 work. Without a rebuild and
    lanes the worst group's 6 is half of 48 over four groups.
    """
    groups = rows(
        "run is_rebuilding ports_working read_bytes_per_second",
        *(("busy", one == 6.0, 46 if one == 6.0 else 48, one) for one in (10.0, 9.0, 6.0, 10.0)),
        *(("rest", False, 48, rate) for rate in (10.0, 9.0, 6.0, 10.0)),
        servers=24,
        write_bytes_per_second=0.0,
    )
    lanes = {"cluster": {"ports": 2}, "lanes": {"shares": [0.75, 0.25, 0.0]}}
    runs = rows(
        "run system analytic_read_bytes_per_second",
        *(("busy", lanes, 37.5), ("rest", {**lanes, "lanes": None}, 48.0)),
        **{"cluster.attachment": "local", "read_bytes_per_second": 36.0},
        **dict.fromkeys((f"{kind}_bytes_per_second" for kind in ("write", "rebuild")), 0.0),
        analytic_write_bytes_per_second=0.0,
        analytic_rebuild_bytes_per_second=2.0,
    )
    name = "burst-buffer-switch-runs"
    busy, rest = asked(name, tmp_path, runs, "FROM runs", stripe_groups=groups)
    assert busy["read_share_rebuilding"] == pytest.approx(0.6)
    assert busy["read_of_analytic_rebuilding"] == pytest.approx(0.8)
    assert busy["read_of_analytic"] == 0.96 and busy["rebuild_of_analytic"] == 0.0
    # Nobody expects writes.
    assert busy["write_of_analytic"] is None and busy["write_of_analytic_rebuilding"] is None
    assert busy["read_least_group_bytes_per_second"] == 6.0
    assert busy["group_ports_working_least_share"] == pytest.approx(46 / 48)
    # Beside a rebuild, the worst group's part of the sum is another.
    assert busy["read_least_group_of_analytic"] is None and busy["attachment"] == "local"
    assert rest["read_least_group_of_analytic"] == 0.5 and rest["read_share_rebuilding"] is None


# Parallel coordinates: what stands on each axis, and that the drawing shows all of it.


SPEC = PictureSpec(
    "shares",
    "parallel",
    "Shares",
    query="SELECT line, bisection, share FROM runs",
    y=Axis("simulated over analytic", "%"),
    level_name="the analytic model",
    stars={"read": ["r", ""]},
)
ROWS = rows(
    "line bisection share",
    *(("read", "full", 0.98), ("read", "full", 1.0), ("read", "half", 0.7)),
    *(("write", "full", None), ("write", "half", 0.5), ("write", "half", 0.6)),
)
NUMBER = Published("r", "Read", "avg(share)", unit="%", paper=98.0)


def made() -> Chart:
    tables = Tables(table_of(ROWS))
    return parallels(SPEC, tables, {"r": compare("e", NUMBER, tables)})


def test_a_line_stands_at_the_mean_of_the_rows_of_its_axis() -> None:
    """(98 + 100) / 2 and 70 for reads; (50 + 60) / 2 for writes, which have no run at full."""
    assert made().table.rows == [
        ("read", "full", pytest.approx(99.0), 98.0, 100.0, 98.0, 2),
        ("read", "half", pytest.approx(70.0), 70.0, 70.0, None, 1),
        ("write", "half", pytest.approx(55.0), 50.0, 60.0, None, 2),
    ]
    # The least value is 50, the most 100: a margin of 2, then whole tens.
    assert made().make()["encoding"]["y"]["scale"]["domain"] == [40.0, 110.0]


def test_the_drawing_and_the_words_show_every_mean_run_and_star() -> None:
    spec = made().make()
    axes, level, runs, *_ = spec["layer"]
    assert len(axes["data"]["values"]) == 2 and level["data"]["values"][0]["y"] == 100.0
    assert [row["y"] for row in runs["data"]["values"]] == [98.0, 100.0, 70.0, 50.0, 60.0]
    lines = [(row["kind"], row["y"], row["told"]) for row in spec["data"]["values"]]
    assert lines == [("read", 99.0, 98.0), ("read", 70.0, None), ("write", 55.0, None)]
    ends = [(row["low"], row["high"]) for row in spec["data"]["values"]]
    assert ends == [(98.0, 100.0), (70.0, 70.0), (50.0, 60.0)]
    assert '["full", "half"]' in spec["encoding"]["x"]["axis"]["labelExpr"]
    text = made().description
    assert "1 to 2 runs" in text and "at 100 %, is the analytic model" in text
    assert "star" in text
    assert parallels(SPEC, Tables(table_of([{**ROWS[0], "share": None}])), {}) is None
