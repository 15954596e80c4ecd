"""Mixes of requests by the command: their shares, the harmonic law, and flows beside events.

Tests of drawn requests have a fixed seed; each band is four standard deviations or more, which a
right model leaves once in 16,000 times.
"""

from math import sqrt
from pathlib import Path
from typing import Any

import pytest

from resilver.spec.toml import write_toml
from tests.build import changed
from tests.integration.study_runs import RUNS, study_row, study_text, table_rows
from tests.terminal import json_output, output, with_page

KIB, MIB = 2**10, 2**20
DISK = study_text("disk")


def seconds(size: int, is_read: bool) -> float:
    """What the disk takes for a request."""
    return 0.0002 + (0.013 if is_read else 0.025) + size / 100e6


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Any, list[dict[str, Any]]]]:
    """What the disk does by either engine, and its classes."""
    done = {}
    for engine in ("events", "flows"):
        folder = tmp_path_factory.mktemp(engine)
        row = study_row(folder, DISK, f'traffic.engine="{engine}"')
        done[engine] = row, table_rows(folder, "request_classes")
    return done


# By events some 40,000 large requests are drawn among 170,000: their share of the bytes moves by
# 1.4 %, and with it the rate, in four standard deviations.
@pytest.mark.parametrize(("engine", "band"), [("events", 0.014), ("flows", 1e-3)])
def test_a_disk_moves_the_harmonic_mean_of_its_classes(disk: Any, engine: str, band: float) -> None:
    # Of a byte 5 % come in 16 KiB and 95 % in 1 MiB, of either 40 % read: r(c) = size / time.
    mean = sum(
        share * kind * seconds(size, is_read) / size
        for size, share in ((16 * KIB, 0.05), (MIB, 0.95))
        for is_read, kind in ((True, 0.4), (False, 0.6))
    )
    assert disk[engine][0]["throughput_bytes_per_second"] == pytest.approx(1 / mean, rel=band)


def test_shares_of_bytes_and_of_requests_come_out(disk: Any) -> None:
    found, (small, large) = disk["events"]
    assert (small["class"], small["request_bytes"]) == (0, 16 * KIB)
    assert (large["class"], large["request_bytes"]) == (1, MIB)
    # 0.05 / 16 KiB against 0.95 / 1 MiB: 3.2 to 0.95 of the requests, so 0.7711 are small.
    count, share = found["requests_completed"], 3.2 / 4.15
    assert small["requests_completed"] + large["requests_completed"] == count
    deviation = sqrt(count * share * (1 - share))
    assert abs(small["requests_completed"] - share * count) < 4 * deviation
    # What classes move is what all move, of either kind and in each period.
    for column in ("read_bytes_per_second", "write_bytes_per_second"):
        assert small[column] + large[column] == pytest.approx(found[column], rel=1e-12)
    before = "before_requests_completed"
    assert small[before] + large[before] == found[before]


@pytest.mark.parametrize("arrivals", ['{ poisson = "20 /s" }', '{ pareto = "20 /s", shape = 1.5 }'])
def test_requests_that_arrive_are_mixed_too(arrivals: str, tmp_path: Path) -> None:
    change = f"traffic = {{ outstanding = '(absent)', arrivals = {arrivals} }}"
    found = study_row(tmp_path, study_text("disk", change))
    small, large = table_rows(tmp_path, "request_classes")
    count, share = found["requests_completed"], 3.2 / 4.15
    deviation = sqrt(count * share * (1 - share))
    assert abs(small["requests_completed"] - share * count) < 4 * deviation
    # All wait in one queue, and a large request is longer on the disk: 10.3 ms for its bytes.
    longer = large["mean_delay_seconds"] - small["mean_delay_seconds"]
    assert 0.5 * 0.0103 < longer < 2 * 0.0103


def test_a_mix_of_one_class_is_a_size(tmp_path: Path) -> None:
    # Both draw the same numbers for the same requests, so every event is the same.
    one = 'traffic.mix=[{ of_requests = 1.0, size = "64 KiB" }]'
    mixed = study_row(tmp_path / "mixed", DISK, one, 'traffic.duration="20 s"')
    plain = study_text("disk", traffic__mix=None, traffic__request_size="64 KiB")
    alone = study_row(tmp_path / "alone", plain, 'traffic.duration="20 s"')
    assert mixed["digest"] == alone["digest"]
    # There is one class, which is all there is.
    assert (
        table_rows(tmp_path / "mixed", "request_classes")
        == table_rows(tmp_path / "alone", "request_classes")
        == []
    )
    # A class without a share asks for nothing.
    none = 'traffic.mix=[{ of_bytes = 0.0, size = "16 KiB" }, { of_bytes = 1.0, size = "1 MiB" }]'
    for engine in ("events", "flows"):
        setting = f'traffic.engine="{engine}"'
        found = study_row(tmp_path / engine, DISK, none, setting, 'traffic.duration="20 s"')
        small, large = table_rows(tmp_path / engine, "request_classes")
        assert small["requests_completed"] == 0 and small["mean_delay_seconds"] is None
        assert large["requests_completed"] == found["requests_completed"] > 0


@pytest.mark.parametrize(
    "mix",
    [
        '[{ of_requests = 0.7, size = "64 KiB" }, { of_requests = 0.3, size = "4 MiB" }]',
        '[{ of_bytes = 0.02, size = "16 KiB" }, { of_bytes = 0.98, size = "1 MiB" }]',
    ],
)
def test_flows_and_events_agree_within_5_percent(mix: str, tmp_path: Path) -> None:
    engines = ("events", "flows")
    events, flows = (
        study_row(
            tmp_path / engine,
            study_text("unit"),
            f'traffic.engine="{engine}"',
            f"traffic.mix={mix}",
        )
        for engine in engines
    )
    for column in ("throughput_bytes_per_second", "mean_delay_seconds"):
        assert flows[column] == pytest.approx(events[column], rel=0.05), column
    of_events, of_flows = (table_rows(tmp_path / engine, "request_classes") for engine in engines)
    for one, other in zip(of_events, of_flows, strict=True):
        for column in ("throughput_bytes_per_second", "mean_delay_seconds"):
            assert other[column] == pytest.approx(one[column], rel=0.05), column


def test_flows_tell_no_delay_of_a_class_where_one_kind_may_wait_longer(disk: Any) -> None:
    found, classes = disk["flows"]
    assert found["mean_delay_seconds"] > 0
    assert [row["mean_delay_seconds"] for row in classes] == [None, None]


def test_a_mix_may_be_swept(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(DISK, encoding="utf-8")
    sweep = (
        'study.sweep={ "traffic.mix" = [[{ of_bytes = 1.0, size = "16 KiB" }], '
        '[{ of_bytes = 1.0, size = "1 MiB" }]] }'
    )
    small, large = json_output("run", "study.toml", "--set", sweep, "-o", "out", cwd=tmp_path)
    assert "16 KiB" in small["traffic.mix"] and "1 MiB" in large["traffic.mix"]
    assert large["throughput_bytes_per_second"] > 10 * small["throughput_bytes_per_second"]


def test_the_clients_of_each_pool_have_a_mix_of_their_own(tmp_path: Path) -> None:
    stored = {name: value for name, value in RUNS["disk"].items() if name != "cluster"}
    pools = [{"name": "a", **stored}]
    pools.append({"name": "b", **changed(stored, traffic__mix__0__size="64 KiB")})
    two = write_toml({"cluster": RUNS["disk"]["cluster"], "pools": pools})
    study_row(tmp_path, two, 'study.title="two"')
    rows = [
        (row["pool"], row["class"], row["request_bytes"])
        for row in table_rows(tmp_path, "request_classes")
    ]
    assert rows == [("a", 0, 16 * KIB), ("a", 1, MIB), ("b", 0, 64 * KIB), ("b", 1, MIB)]


def test_the_terminal_and_the_page_have_a_row_a_class(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(DISK, encoding="utf-8")
    short = ("--set", 'traffic.duration="20 s"')
    done = output("run", "study.toml", *short, "-o", "out", cwd=tmp_path)
    found = table_rows(tmp_path, "request_classes")
    for row in found:
        assert f"{row['requests_completed']:,}" in done
    assert "requests of 16 KiB (5 % of bytes) and 1 MiB (95 %) outstanding" in " ".join(
        done.split()
    )
    assert "Requests by class" in with_page(tmp_path, "report", tmp_path / "out")[1]
