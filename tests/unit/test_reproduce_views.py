"""The SQL that studies share: losses, bounds, rates over the analytic model, on small tables."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from resilver.reproduce import entry
from resilver.reproduce.tables import Tables, table_of

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
        *(
            ("busy", rate == 6.0, 46 if rate == 6.0 else 48, rate)
            for rate in (10.0, 9.0, 6.0, 10.0)
        ),
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
