"""A disk's table is recovered from what it would have made fio measure, with its error."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from resilver import calibrate_disk
from resilver.calibration.disk import calibrate_report, service_seconds
from resilver.calibration.errors import ModelError
from resilver.errors import ConfigError
from resilver.importers.fio import MODES, parse_fio
from resilver.spec import Cluster, DeviceTable
from tests.unit import fio_reports
from tests.unit.test_calibration_network import rebuilt

JBOD: DeviceTable = Cluster.model_validate({"servers": 1, "device": "jbod10-sata"}).device
SIZES = JBOD.request_sizes
FAST = {
    "sequential_gap": "512 B",
    "write_rate": "1 EB/s",
    "write_overhead": 0,
    "write_seek": [0] * len(SIZES),
}


def test_the_line_recovers_the_table_that_made_the_measurements(tmp_path: Path) -> None:
    path = fio_reports.write(fio_reports.report_of(JBOD, SIZES), tmp_path / "disk.json")
    found = calibrate_disk(path, "line")
    table = found.table
    assert table.request_sizes == SIZES
    # Rates are kept to the byte a second and durations to the picosecond.
    assert table.read_rate == pytest.approx(JBOD.read_rate, abs=1)
    assert table.write_rate == pytest.approx(JBOD.write_rate, abs=1)
    assert table.read_overhead == pytest.approx(JBOD.read_overhead, abs=2e-12)
    assert table.write_overhead == pytest.approx(JBOD.write_overhead, abs=2e-12)
    assert table.read_seek == pytest.approx(JBOD.read_seek, abs=2e-12)
    assert table.write_seek == pytest.approx(JBOD.write_seek, abs=2e-12)
    assert all(error.fraction < 1e-6 for error in found.rmse.values())
    assert found.notes == ()


@pytest.mark.parametrize("depth", [1, 4, 32])
def test_the_recipe_recovers_the_seeks_and_the_rate_of_the_largest_request(
    tmp_path: Path, depth: int
) -> None:
    path = fio_reports.write(fio_reports.report_of(JBOD, SIZES, depth), tmp_path / "disk.json")
    found = calibrate_disk([path])
    table = found.table
    assert found.queue_depth == depth
    # Median latencies are depth times overhead + transfer (+ seek): their difference over the depth
    # is the seek itself.
    assert table.read_seek == pytest.approx(JBOD.read_seek, abs=2e-12)
    assert table.write_seek == pytest.approx(JBOD.write_seek, abs=2e-12)
    # The largest sequential bandwidth is that of 4 MiB, which still pays the overhead:
    # 4 MiB / (23.67 us + 4 MiB / 1542.1 MiB/s) = 1528.2 MiB/s.
    rate = 2**22 / (23.67e-6 + 4 / 1542.1)
    assert table.read_rate == pytest.approx(rate, abs=1)
    # At 4 KiB: overhead + 4 KiB / 1542.1 MiB/s in all, less the transfer at the rate above.
    overhead = 23.67e-6 + 2**12 / (1542.1 * 2**20) - 2**12 / rate
    assert table.read_overhead == pytest.approx(overhead, abs=2e-12)
    # That rate is short by overhead x rate / size, at most 29.67 us x 1511.7 MiB/s / 4 MiB = 1.12 %
    # (of writes), and no modelled bandwidth is off by more.
    assert max(error.fraction for error in found.rmse.values()) < 0.0113


def test_rmse_is_over_the_sizes_and_its_share_over_the_mean_measured() -> None:
    # Deviations 3 and -4: sqrt((9 + 16) / 2); the mean measured is 150.
    error = ModelError.of([100.0, 200.0], [103.0, 196.0])
    assert error.bytes_per_second == pytest.approx(math.sqrt(12.5))
    assert error.fraction == pytest.approx(math.sqrt(12.5) / 150)


@pytest.mark.parametrize("mode", ["read", "randread"])
@pytest.mark.parametrize("size", [4096, 300_000, 2**24])
def test_the_modelled_bandwidth_is_the_simulators(mode: str, size: int) -> None:
    """A rebuild of one object in buffers of `size` reads in sequence, and one of many objects of
    `size` reads at random; with writes and messages that take no time, reads are all it waits for.
    """
    count = 64
    whole = mode == "read"
    device = {
        **FAST,
        "request_sizes": [f"{size} B" for size in SIZES],
        "read_rate": "1542.1 MiB/s",
        "read_overhead": "23.67 us",
        "read_seek": [f"{seek!r} s" for seek in JBOD.read_seek],
    }
    fabric = {"table": {"rows": [["1 B", 0, 0, 0]]}}
    file_bytes, files = (count * size, 1) if whole else (size, count)
    system, result = rebuilt(file_bytes, size, files, device=device, fabric=fabric)
    table = system.cluster.device
    service = service_seconds(table, mode, size)
    busy = max(result.servers["device_busy_seconds"].to_pylist())
    # The first buffer of the one object pays a seek too.
    first = service_seconds(table, "randread", size) - service
    reads = result.metrics["rebuilt_bytes"] / size
    assert reads == count
    assert busy == pytest.approx(count * service + first, abs=count * 2e-12)
    # Requests keep the disk busy without a pause, so that the rebuild takes just as long.
    assert result.metrics["rebuild_seconds"] == pytest.approx(busy, rel=1e-6)


def test_a_study_takes_fios_files_as_they_are(tmp_path: Path) -> None:
    document = fio_reports.report_of(JBOD, SIZES)
    one = fio_reports.write(document, tmp_path / "disk.json")
    expected = calibrate_disk(one).table
    for named in ("disk.json", ["disk.json"]):
        read = Cluster.from_table({"servers": 1, "device": {"fio": named}}, tmp_path).device
        assert read == expected
    with pytest.raises(ConfigError, match="no such key"):
        Cluster.from_table({"servers": 1, "device": {"fio": "disk.json", "a": 1}}, tmp_path)
    with pytest.raises(ConfigError, match="no such file"):
        Cluster.from_table({"servers": 1, "device": {"fio": "absent.json"}}, tmp_path)


def calibrated(jobs: list[dict[str, Any]], method: Any = "recipe") -> Any:
    text = json.dumps(fio_reports.report(jobs))
    return calibrate_report(parse_fio(text, Path("disk.json")), method)


def jobs_of(service: Any, sizes: tuple[int, ...] = (4096, 2**20)) -> list[dict[str, Any]]:
    return [fio_reports.job(mode, size, service(mode, size)) for mode in MODES for size in sizes]


def plain(_: str, size: int) -> float:
    """100 us and 1 ns a byte."""
    return 1e-4 + size / 1e9


@pytest.mark.parametrize("method", ["recipe", "line"])
def test_a_random_request_faster_than_a_sequential_one_has_no_seek(method: str) -> None:
    # As on an SSD: random reads of 4 KiB take half as long as sequential ones.
    def service(mode: str, size: int) -> float:
        full = 1e-4 + size / 1e9
        return full / 2 if (mode, size) == ("randread", 4096) else full

    found = calibrated(jobs_of(service), method)
    assert found.table.read_seek[0] == 0
    assert [note for note in found.notes if "random read was faster" in note and "4 KiB" in note]


@pytest.mark.parametrize("method", ["recipe", "line"])
def test_an_overhead_below_zero_is_zero_and_told(method: str) -> None:
    # 4 KiB twice as fast a byte as 1 MiB: the transfer alone would take longer than all of it. By
    # the recipe the rate is then that of 4 KiB, and the overhead zero without being negative.
    found = calibrated(jobs_of(lambda _, size: size / (2e9 if size == 4096 else 1e9)), method)
    assert found.table.read_overhead == 0
    told = [note for note in found.notes if "overhead of a read" in note]
    assert len(told) == (method == "line")


def at_depth_8(jobs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    jobs[5]["job options"]["iodepth"] = "8"
    return jobs


@pytest.mark.parametrize(
    ("jobs", "method", "says"),
    [
        (jobs_of(plain, (4096,)), "recipe", "one size cannot tell"),
        (jobs_of(plain)[:3] + jobs_of(plain)[4:], "recipe",
         'write of bs = "1 MiB": disk.json: no job measures it at this size'),
        (jobs_of(plain) + jobs_of(plain)[:1], "recipe", "read of 4 KiB is measured twice"),
        (at_depth_8(jobs_of(plain)), "recipe", "queues of 4 and of 8"),
        # Larger requests take no longer.
        (jobs_of(lambda _, size: 1e-3 if size == 4096 else 1e-5), "line", "no rate can be fitted"),
    ],
)  # fmt: skip
def test_what_makes_no_table_is_refused(jobs: Any, method: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        calibrated(jobs, method)


def test_a_cache_in_the_way_and_queues_that_were_not_full_are_told() -> None:
    document = fio_reports.report(jobs_of(plain, (8192, 2**20)))
    document["global options"]["direct"] = "0"
    found = calibrate_report(parse_fio(json.dumps(document), Path("disk.json")))
    assert any("page cache" in note for note in found.notes)
    assert any("8 KiB, the smallest size" in note for note in found.notes)
    jobs = jobs_of(plain)
    for each in jobs:
        each["iodepth_level"] = {"1": 0.1, "2": 0.1, "4": 99.8}
    assert calibrated(jobs).notes == ()
    jobs[2]["iodepth_level"] = {"1": 60.0, "2": 10.0, "4": 30.0}
    (note,) = calibrated(jobs).notes
    assert "1 of 8 jobs kept fewer than 4 requests outstanding" in note


def test_seeks_and_overheads_are_of_their_own_sizes() -> None:
    # 100 us at 4 KiB and 300 us at 512 B, in which the disk first reads what the rest holds.
    jobs = jobs_of(lambda _, size: (3e-4 if size == 512 else 1e-4) + size / 1e9, (512, 4096, 2**20))
    found = calibrated(jobs)
    rate = 2**20 / (1e-4 + 2**20 / 1e9)
    assert found.table.read_overhead == pytest.approx(1e-4 + 4096 / 1e9 - 4096 / rate, abs=2e-12)
    assert found.notes == ()
    # Non-monotone latencies are what disks with caches give; every size keeps its own seek.
    seeks = {4096: 5e-3, 2**16: 1e-3, 2**20: 3e-3}
    jobs = jobs_of(
        lambda mode, size: 1e-4 + size / 1e9 + seeks[size] * mode.startswith("rand"), tuple(seeks)
    )
    assert calibrated(jobs).table.read_seek == pytest.approx((5e-3, 1e-3, 3e-3))
