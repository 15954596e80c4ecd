"""What benchmark programs wrote goes into `profile` and `calibrate disk` as it is.

The unit of Spider II has 56 sets ("ost") of ten drives behind 8 servers, 7 of them each.
"""

from pathlib import Path

import pytest

import resilver
from resilver.calibration.disk import service_seconds
from resilver.center.benchmarks import best, costs
from resilver.importers.benchmarks import read_benchmarks
from tests.terminal import Ended, command, json_output, output, refusal, written
from tests.unit import benchmark_texts as texts

UNIT = "center-spider-2-unit"
MIB = 2**20
RATES = (700, 702, 699, 640, 701, 698, 700)


def fair_lio(rates: tuple[int, ...] = RATES, host: str = "") -> str:
    """fair-lio's output of writes of 1 MiB over 30 s, at so many MiB/s a device."""
    moved = [rate * 30 * MIB for rate in rates]
    lines = ["run time: 30.000000 seconds", "queue depth: 4", "operation: sequential write"]
    lines += [f"request size: {MIB} bytes", ""]
    lines += [f"  /dev/lun{at}: {moved[at]} {rate:.2f} MB/s" for at, rate in enumerate(rates)]
    skew = max(rates) - min(rates)
    lines.append(f"total: {sum(moved)} {sum(rates):.2f} MB/s skew {skew:.2f} MB/s")
    return "".join(f"{host}{line}\n" for line in lines)


def test_each_layer_is_set_beside_the_parts_that_it_measured(tmp_path: Path) -> None:
    """Seven sets are 70 drives and one server; the file system is what all clients get."""
    block, server, files = (tmp_path / name for name in ("block", "server", "files"))
    block.write_text(fair_lio(), encoding="utf-8")
    server.write_text(texts.OBDFILTER, encoding="utf-8")
    files.write_text(texts.IOR_4.replace("file  : random", "file  : sequential"), encoding="utf-8")
    words = [word for path in (block, server, files) for word in ("--measured", path)]
    found = json_output("profile", UNIT, *words)
    layers = {one["layer"]: one for one in found["layers"]}
    writes = {one["layer"]: one for one in found["measured"] if one["mode"] == "write"}
    parts = {name: one["parts"] for name, one in writes.items()}
    assert parts == {"drive": 70, "server": 1, "clients": None}
    # Of several threads the best, 3,600.5 at 56; of repeats the median, 506.
    for name, rate, share in (
        ("drive", 4840 * MIB, 70 / 560),
        ("server", 3600.5 * MIB, 1 / 8),
        ("clients", 506 * MIB, 1.0),
    ):
        assert writes[name]["rate_bytes_per_second"] == pytest.approx(rate, rel=1e-12)
        passes = layers[name]["stacked_bytes_per_second"]
        assert writes[name]["expected_bytes_per_second"] == pytest.approx(share * passes, rel=1e-9)
    # The study writes, so reads are listed and not compared.
    assert all(one["of_expected"] is None for one in found["measured"] if one["mode"] != "write")
    # 1 - 3,600.5 / 4,840, both of seven devices; 1 - 506 / 3,600.5, of which one does not say.
    of_writes = [one for one in found["costs"] if one["mode"] == "write"]
    beside = [(one["above"], one["devices"]) for one in of_writes]
    assert beside == [("server", 7), ("file system", None)]
    expected = [1 - 3600.5 / 4840, 1 - 506 / 3600.5]
    assert [one["cost"] for one in of_writes] == pytest.approx(expected, rel=1e-12)


def test_a_level_may_be_said_and_is_held_to_the_study(tmp_path: Path) -> None:
    path = written(tmp_path / "block", fair_lio())
    found = json_output("profile", UNIT, "--measured", f"drive={path}")
    assert found["measured"][0]["parts"] == 7
    assert '"drve"; did you mean "drive"?' in refusal("profile", UNIT, "--measured", f"drve={path}")
    path.write_text(fair_lio((100,) * 57), encoding="utf-8")
    assert "57 devices worked together, and the study has 56 of ost" in refusal(
        "profile", UNIT, "--measured", path
    )
    path.write_text(texts.MDTEST, encoding="utf-8")
    assert "no rate of a layer" in refusal("profile", UNIT, "--measured", path)


def test_costs_are_of_as_many_devices_by_mode_and_size_with_their_median(tmp_path: Path) -> None:
    """14 block devices at 200 MiB/s each, and a server over 7 at 1,050: 1 - 1,050 / 1,400."""
    (tmp_path / "block").write_text(fair_lio((200,) * 14), encoding="utf-8")
    line = "ost  7 sz 1024K rsz 1024 obj 7 thr 7 write 1050.00 [ 1.00, 2.00] \n"
    (tmp_path / "server").write_text(line, encoding="utf-8")
    rows = resilver.read_benchmarks([tmp_path / "block", tmp_path / "server"]).rows
    (one,) = costs(rows)
    assert (one.below, one.above, one.mode, one.request_bytes) == ("block", "server", "write", MIB)
    assert one.cost == pytest.approx(0.25, rel=1e-12)
    # Devices that ran alone count with their median, not with the fastest of them, which is no
    # better than luck: 650 of 640, 650 and 702.
    (tmp_path / "block").write_text("".join(fair_lio((rate,)) for rate in (640, 702, 650)), "utf-8")
    (one,) = best(resilver.read_benchmarks(tmp_path / "block").rows)
    assert (one.devices, one.bytes_per_second) == (1, 650 * MIB)


def test_the_envelope_reads_the_devices_of_fair_lio_by_host(tmp_path: Path) -> None:
    """The mean is 691.4 MiB/s: 640 is 7.4 % below it, and nothing else 5 %."""
    path = written(tmp_path / "fair-lio.txt", fair_lio(host="oss1: ") + fair_lio(host="oss2: "))
    found = json_output("profile", path, code=1)
    units = [(one["unit"], one["group"]) for one in found["next"]]
    assert units == [("oss1", "oss1:/dev/lun3"), ("oss2", "oss2:/dev/lun3")]
    assert found["next"][0]["rate_bytes_per_second"] == 640 * MIB
    path.write_text(fair_lio() + texts.FAIR_LIO, encoding="utf-8")
    assert "it has 2 tests" in refusal("profile", path)
    path.write_text(texts.SUITE, encoding="utf-8")
    assert "rates of all devices together" in refusal("profile", path)


def suite(cells: list[tuple[str, int, int]]) -> str:
    """The suite's CSV of a disk: 1 ms + size / (100 MiB/s), and 9 ms more at random.

    At queue 16 random requests take a third.
    """
    lines = ["#io-mode,block-size,queue-size,num-devices,max,min,median,average,stddev"]
    for mode, size, queue in cells:
        seek = 9e-3 if mode.startswith("rand") else 0.0
        service = (1e-3 + size / (100 * MIB) + seek) / (3 if queue == 16 and seek else 1)
        rate = repr(size / service / MIB)
        lines.append(f"{mode},{size},{queue},1,{rate},{rate},{rate},{rate},0")
    return "\n".join(lines) + "\n"


MODES = ("seq_wr", "seq_rd", "rand_wr", "rand_rd")
SIZES = [2**power for power in range(12, 24)]


def test_a_disk_is_calibrated_by_the_suites_csv_at_one_queue(tmp_path: Path) -> None:
    path = tmp_path / "suite.csv"
    path.write_text(suite([(m, s, q) for m in MODES for s in SIZES for q in (4, 16)]), "utf-8")
    found = json_output("calibrate", "disk", path, "--fit", "line")
    assert found["queue_depth"] == 4
    assert found["device"]["read_rate"] == "100 MiB/s"
    assert all(one["fraction"] < 1e-6 for one in found["rmse"].values())
    assert any("16 made randread" in note or "16 made randwrite" in note for note in found["notes"])
    deep = json_output("calibrate", "disk", path, "--fit", "line", "--queue", "16")
    assert deep["queue_depth"] == 16
    assert "there are queues of 4, 16" in refusal("calibrate", "disk", path, "--queue", "8")


def test_a_line_does_with_fewer_sizes_and_the_recipe_does_not(tmp_path: Path) -> None:
    """Two sizes of each mode give the seeks of all twelve: 9 ms, as at every size."""
    path = tmp_path / "suite.csv"
    fewer = [(m, s, 4) for m in MODES for s in (4096, 2**23)] + [("rand_rd", 2**16, 4)]
    path.write_text(suite(fewer), encoding="utf-8")
    table = resilver.calibrate_disk(path, "line").table
    assert len(table.request_sizes) == 12
    for size in SIZES:
        expected = 1e-3 + size / (100 * MIB) + 9e-3
        assert service_seconds(table, "randread", size) == pytest.approx(expected, rel=1e-6)
    with pytest.raises(resilver.ConfigError, match="fit the line, which does without"):
        resilver.calibrate_disk(path)


@pytest.fixture
def outputs(tmp_path: Path) -> list[str]:
    """Every text as a file of its own."""
    paths = []
    for name, text in texts.TEXTS.items():
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
        paths.append(str(tmp_path / f"{name}.txt"))
    return paths


def test_all_programs_go_into_one_table(outputs: list[str]) -> None:
    told = json_output("import", "benchmark", *outputs)
    found = read_benchmarks(outputs)
    assert told["rates"] == found.to_dicts()
    assert {row["layer"] for row in told["rates"]} == {"block", "server", "file system", "metadata"}
    assert {row["program"] for row in told["rates"]} == {
        *("fair-lio", "OLCF suite", "obdfilter-survey", "sgpdd-survey", "IOR", "mdtest", "IO500"),
        *("fio", "elbencho"),
    }
    assert told["notes"] == list(found.notes)
    text = " ".join(output("import", "benchmark", *outputs).split())
    assert all(note in text for note in found.notes)
    # Writes of 1 MiB in order: the suite's best is 500 MiB/s of one device, sgpdd's 320.5 of two,
    # so that fair-lio's 190 of two is none; and the survey's 3,600.5 of seven.
    (server,) = [
        one
        for one in told["costs"]
        if (one["mode"], one["request_bytes"], one["above"]) == ("write", MIB, "server")
    ]
    assert server["devices"] == 7
    assert server["cost"] == pytest.approx(1 - 3600.5 / (320.5 * 7 / 2), rel=1e-12)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_the_table_is_written_and_read_again(
    outputs: list[str], tmp_path: Path, suffix: str
) -> None:
    table = tmp_path / f"rates.{suffix}"
    assert command("import", "benchmark", *outputs, "-q", "-o", table) == Ended(0, "", "")
    assert read_benchmarks(table).rows == read_benchmarks(outputs).rows
