"""A network's bandwidth follows from its LogGP table, and the table from round trips."""

from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resilver import RunResult, Study, calibrate_network
from resilver.calibration.loggp_fit import Round, table_of, write_times
from resilver.calibration.network import bandwidth, write_netgauge
from resilver.errors import ConfigError
from resilver.importers.bandwidth import read_point_to_point
from resilver.importers.netgauge import LogGpRow, LogGpTable, check_rows, parse_netgauge
from resilver.spec import Fabric, System
from resilver.study import simulate
from tests.build import refused

QDR = Path(str(resources.files("resilver.catalog"))) / "networks" / "qdr-infiniband.dat"
KIB, MIB = 2**10, 2**20


def test_the_bandwidth_is_the_size_over_the_time_of_a_way(tmp_path: Path) -> None:
    found = calibrate_network(QDR)
    # 4 KiB takes the 8 KiB row: 6.782182 us + 4095 x 0.446 ns = 8.608552 us.
    assert found.bandwidth([4 * KIB])[0] == pytest.approx(4 * KIB / 8.608552e-6, rel=1e-9)
    # A table's largest size and all beyond take the last row: G = 0.516 ns.
    size = 64 * MIB
    expected = size / (6.782182e-6 + (size - 1) * 0.516e-9)
    assert found.bandwidth([size])[0] == pytest.approx(expected, rel=1e-9)
    (tmp_path / "none.dat").write_text("# size L g G\n8 0 1 0\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"none\.dat: a message of 1 B takes no time"):
        calibrate_network(tmp_path / "none.dat")
    with pytest.raises(ValueError, match="ask above zero"):
        calibrate_network(QDR).bandwidth([4096, 0])


def rebuilt(
    file_bytes: int, buffer_bytes: int, files: int = 1, **cluster: Any
) -> tuple[System, RunResult]:
    """A run in which one of three servers had copies of files, which are rebuilt by the buffer."""
    study = Study.from_dict(
        {
            "cluster": {"servers": 3, **cluster},
            "population": {"file_size": f"{file_bytes} B", "files": files, "objects": "whole"},
            "placement": {"algorithm": "crush", "placement_groups": 1},
            "redundancy": {"replicas": 2},
            "faults": [{"fail": {"servers": ["server.0"]}}],
            "recovery": {"pipeline_buffer": f"{buffer_bytes} B"},
        }
    )
    system = study.runs()[0].system
    runs = (simulate(system, seed) for seed in range(1, 20))
    return system, next(found for found in runs if found.metrics["affected_objects"])


@pytest.mark.parametrize("size", [1, 4096, 8192, 200_000, 4 * MIB, 8 * MIB, 2**28])
def test_the_modelled_time_is_the_simulators(size: int) -> None:
    """An object of one buffer, on disks that take no time, is rebuilt when a request and the
    object itself have each crossed the network once.
    """
    fabric = {"table": {"netgauge": str(QDR)}}
    system, found = rebuilt(size, size, device={"service": "0 s"}, fabric=fabric)
    control = system.recovery.control_message
    rates = bandwidth(system.cluster.fabric.table, [control, size])
    expected = control / rates[0] + size / rates[1]
    assert found.metrics["rebuild_seconds"] == pytest.approx(expected, abs=5e-12, rel=1e-9)


def test_what_is_written_reads_back_the_same(tmp_path: Path) -> None:
    found = calibrate_network(QDR)
    (tmp_path / "network.dat").write_text(found.to_netgauge(), encoding="utf-8")
    fabric = Fabric.from_table({"table": {"netgauge": "network.dat"}}, tmp_path)
    assert fabric.table.rows == found.table.rows
    assert any("line 8 is left out" in note for note in found.notes)
    assert any("262144 stands twice" in note for note in found.notes)
    assert any("g is negative at 16777216" in note for note in found.notes)
    rounds = [Round(1024, 10, 4e-6, 1e-5), Round(2048, 10, 8e-6, 2e-5)]
    (tmp_path / "times.txt").write_text(write_times(rounds), encoding="utf-8")
    read = read_point_to_point(tmp_path / "times.txt")
    # 1024 B in half of 4 us.
    assert read.bytes_per_second == pytest.approx((512e6, 512e6))


ROWS = st.builds(
    LogGpRow, st.integers(1, 2**40), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1e-3)
)


@given(st.lists(ROWS, min_size=1, max_size=4))
def test_any_table_survives_being_written(rows: list[LogGpRow]) -> None:
    rows.sort(key=lambda row: row.size_bytes)
    table = LogGpTable("t", tuple(rows))
    assert parse_netgauge(write_netgauge(table), "t", "t").rows == table.rows


MEASURED = {
    "plain": ("# size time(us)\n1024 2\n4096 4\n", 4096 / 4e-6),
    "rates": ("size bandwidth(MiB/s)\n1024 100\n4096 500\n", 500 * MIB),
    "OSU": (
        "# OSU MPI Bandwidth Test v5.9\n# Size      Bandwidth (MB/s)\n1024  100.0\n4096 976.5\n",
        976.5e6,
    ),
    "OSU latency": ("# Size          Latency (us)\n0 1.1\n4096  2.5\n", 4096 / 2.5e-6),
    "mpptest": (
        "#p0\tp1\tdist\tlen\tave time (us)\trate\n0 1 1 1024 3.0 3e8\n0 1 1 4096 5.0 8e8\n",
        4096 / 5e-6,
    ),
    "IMB": (
        "#bytes #repetitions t[usec] Mbytes/sec\n0 1000 1.2 0.0\n4096 1000 8.0 512.0\n",
        4096 / 8e-6,
    ),
}


@pytest.mark.parametrize("kind", MEASURED)
def test_the_forms_of_benchmarks_are_read(tmp_path: Path, kind: str) -> None:
    text, expected = MEASURED[kind]
    (tmp_path / "measured.txt").write_text(text, encoding="utf-8")
    read = read_point_to_point(tmp_path / "measured.txt")
    assert read.sizes_bytes[-1] == 4096 and 0 not in read.sizes_bytes
    assert read.bytes_per_second[-1] == pytest.approx(expected)


def test_round_trips_give_errors_by_size_or_are_refused(tmp_path: Path) -> None:
    sizes = [1024, 4096, 2 * MIB]
    model = calibrate_network(QDR).bandwidth(sizes)
    # Measured 10 MiB/s below the model at each size: that is the root mean square.
    lines = [
        f"{size} {rate / MIB - 10!r}" for size, rate in zip(sizes, model.tolist(), strict=True)
    ]
    (tmp_path / "m.txt").write_text("\n".join(["# size rate(MiB/s)", *lines]), encoding="utf-8")
    found = calibrate_network(QDR, tmp_path / "m.txt")
    assert found.rmse.bytes_per_second == pytest.approx(10 * MIB, rel=1e-6)
    assert [point.message_bytes for point in found.points] == sizes
    with pytest.raises(ConfigError, match="measure again"):
        table_of([Round(1, 10, 0.0, 1.0), Round(2, 10, 1.0, 2.0)], "none")
    assert "two message sizes" in refused(table_of, [Round(1, 10, 1.0, 2.0)], "one")


def test_the_fit_is_netgauges_from_the_round_trips_it_measured() -> None:
    """Below the first change of protocol, at 8 KiB, both fit one line to all sizes so far."""
    # Round trips in netgauge's own columns: size n PRTT(1,0,s) PRTT(n,0,s) ...
    words = [line.split() for line in QDR.read_text().splitlines() if not line.startswith("#")]
    trips = [Round(int(n), int(m), float(a) * 1e-6, float(b) * 1e-6) for n, m, a, b, *_ in words]
    table, measured = table_of(trips, "qdr")
    theirs = {row.size_bytes: row for row in calibrate_network(QDR).table.rows}
    for row in table.rows[:12]:
        other = theirs[row.size_bytes]
        assert row.latency_seconds == pytest.approx(other.latency_seconds, abs=1e-12)
        # netgauge prints six decimals of a microsecond a byte; its line runs over s, ours over
        # s - 1, which shifts g by one G.
        assert row.gap_per_byte_seconds == pytest.approx(other.gap_per_byte_seconds, abs=1e-12)
        shift = row.gap_per_byte_seconds
        assert row.gap_seconds == pytest.approx(other.gap_seconds + shift, abs=3e-12)
    assert measured.bytes_per_second[0] == pytest.approx(2 / 13.564364e-6)


def test_round_trips_of_a_network_give_back_its_parameters() -> None:
    # L = 5 us; below 4 KiB g = 1 us and G = 2 ns, from there on g = 3 us and G = 0.5 ns: a gap of
    # 5 us instead of 9.2 at 4 KiB.
    def gap(size: int) -> float:
        return 1e-6 + (size - 1) * 2e-9 if size < 4096 else 3e-6 + (size - 1) * 0.5e-9

    def trip(size: int) -> float:
        return 2 * 5e-6 + 2 * (size - 1) * 1e-9

    sizes = [1 << power for power in range(18)]
    rounds = [Round(size, 10, trip(size), trip(size) + 9 * gap(size)) for size in sizes]
    table, _ = table_of(rounds, "made")
    for row in table.rows:
        small = row.size_bytes < 4096
        assert row.latency_seconds == pytest.approx(5e-6)
        assert row.gap_seconds == pytest.approx(1e-6 if small else 3e-6, rel=1e-6)
        assert row.gap_per_byte_seconds == pytest.approx(2e-9 if small else 0.5e-9, rel=1e-6)


TRIPS = st.lists(st.tuples(st.floats(1e-7, 1), st.floats(0, 10)), min_size=2, max_size=20)


@given(TRIPS)
def test_every_table_of_round_trips_is_one_a_fabric_can_have(
    trips: list[tuple[float, float]],
) -> None:
    rounds = [
        Round(1 << power, 10, single, single + more) for power, (single, more) in enumerate(trips)
    ]
    table, _ = table_of(rounds, "noise")
    assert list(check_rows(table.rows)) == []
