"""Logs of servers and of programs say what moved; what is damaged or none is refused."""

import csv
import json
import os
import random
import tomllib
from pathlib import Path

import h5py
import numpy as np
import pyarrow.parquet as pq
import pytest

from resilver.errors import ConfigError
from resilver.importers import darshan as darshan_module
from resilver.importers.darshan import read_heat_maps
from resilver.importers.log_rows import Log, LogRow
from resilver.importers.logs import read_log, read_logs
from tests.build import refused
from tests.scale import numbers
from tests.terminal import command, output
from tests.unit.log_texts import JOBS, SIZES, TEXTS

GIB = 2**30


def put(folder: Path, text: str | bytes, name: str = "log.txt") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def only(path: Path) -> Log:
    (log,) = read_log(path)
    return log


def test_jobs_moved_what_they_did_at_all_targets(tmp_path: Path) -> None:
    log = only(put(tmp_path, JOBS))
    assert log.rows == (
        LogRow("scratch-OST0000", "4711", 1.7e9, 1700000010.5, 8192, 20971520, 2, 20),
        LogRow("scratch-OST0000", "cp.1000", None, 1700000011.0, 0, 100, 0, 1),
        LogRow("scratch-OST0002", "4711", None, 1700000012.0, 0, 20, 0, 4),
    )
    assert (log.begin_seconds, log.end_seconds) == (1.7e9, 1700000012.0)
    done = command("import", "logs", tmp_path / "log.txt")
    shown = done.stdout.split("Who moved most")[1].split()
    # 20,971,520 + 8,192 + 20 bytes before the 100 of the other.
    assert shown.index("4711") < shown.index("cp.1000")
    assert "20.97" in shown


def test_requests_become_a_mix_of_a_study(tmp_path: Path) -> None:
    # Of 40 requests to the object target 6 read a page, 20 wrote 1 MiB, 4 read and 10 wrote 4
    # MiB; the 1,000 of the metadata target are no traffic of it.
    path = put(tmp_path, SIZES)
    assert tomllib.loads(output("import", "logs", path, "--mix"))["mix"] == [
        {"of_requests": 0.15, "size": "4 KiB", "reads": 1},
        {"of_requests": 0.5, "size": "1 MiB", "reads": 0},
        {"of_requests": 0.35, "size": "4 MiB", "reads": 0.285714},
    ]
    empty = put(tmp_path, TEXTS["counters"], "counters.txt")
    done = command("import", "logs", empty, "--mix")
    assert done.returncode == 2 and "no object target served a request" in done.stderr
    # Thirds of three classes, whose rounded shares are not 1 together.
    text = SIZES.split("\n\n")[0] + "\n\n" + SIZES.split("\n\n")[1].replace("  6  60", "  3  60")
    text = text.replace("|   20  66", "|    3  66").replace(
        "4  40 100   |   10", "0  40 100   |    3"
    )
    done = command("import", "logs", put(tmp_path, text), "--mix")
    shares = [one["of_requests"] for one in tomllib.loads(done.stdout)["mix"]]
    assert len(shares) == 3 and sum(shares) == pytest.approx(1.0, abs=1e-12)


def test_counters_network_servers_and_fill_say_what_they_do(tmp_path: Path) -> None:
    found = {kind: only(put(tmp_path, text, kind)) for kind, text in TEXTS.items()}
    counters, begin = found["counters"].rows, 1700000000.5
    assert counters[0] == LogRow("scratch-OST0000", None, begin, begin + 10, 3000, 9000, 3, 9)
    assert (counters[1].used_bytes, counters[1].size_bytes) == (400 * 1024, 1000 * 1024)
    assert found["network"].rows == (LogRow("lnet", None, None, None, 4000, 5000, 11, 12),)
    assert found["network"].note == "3 messages were dropped"
    servers = found["servers"]
    assert [row.part for row in servers.rows] == ["scratch-OST0000", "scratch-OST0001"]
    assert {row.server for row in servers.rows} == {"10.0.0.5@o2ib2"}
    assert servers.note == "1 inactive"
    fill = [(row.end_seconds, row.used_bytes) for row in found["fill"].rows]
    assert fill == [(1.7e9, 400 * 1024), (1.7e9 + 3600, 450 * 1024)]


@pytest.mark.parametrize(
    ("name", "kinds", "rows"),
    [
        ("lctl/2.14.0_ddn145_stats.txt", ["counters", "requests"], [2, 0]),
        ("lctl/ex8761-lctl.txt", ["counters", "requests"], [2, 0]),
        ("lctl/params-6.2.0-r9.txt", ["counters", "requests"], [2, 0]),
        ("lctl/valid.txt", ["counters", "requests"], [2, 2]),
        ("lctl/brw_stats_with_data.txt", ["requests"], [3]),
        ("lctl/lnetctl_stats.txt", ["network"], [1]),
        ("tokio-lctl-dl-t.txt.gz", ["servers"], [332]),
        ("tokio-sample_ost-map.txt.gz", ["servers"], [332]),
        ("tokio-lfs-df.txt.gz", ["fill"], [332]),
        # 70 times of 332 targets.
        ("tokio-sample_ost-fullness.txt.gz", ["fill"], [23_240]),
        ("tokio-snx11025_2018-01-28.hdf5", ["series"], [24]),
        ("tokio-sample_tokiots.hdf5", ["series"], [64]),
    ],
)
def test_every_real_log_is_read(
    name: str, kinds: list[str], rows: list[int], shared_data: Path
) -> None:
    found = read_log(shared_data / "lustre" / name)
    assert [log.kind for log in found] == kinds
    assert [len(log.rows) for log in found] == rows


def test_golden_values_of_real_logs(shared_data: Path) -> None:
    lustre = shared_data / "lustre"
    counters, requests = read_log(lustre / "lctl/valid.txt")
    # write_bytes 25001 samples [bytes] 98304 4194304 104857600000
    one = counters.rows[0]
    assert (one.part, one.write_bytes, one.writes) == ("ai400-OST0000", 104_857_600_000, 25_001)
    assert (one.begin_seconds, one.end_seconds) == (1688526475.271489350, 1688603042.554414847)
    # 1 request of 17 to 32 pages and 25,000 of 513 to 1,024.
    told = [(row.request_bytes, row.reads, row.writes) for row in requests.rows]
    assert told == [(128 * 2**10, 0, 1), (4 * 2**20, 0, 25_000)]
    ex = read_log(lustre / "lctl/ex8761-lctl.txt")[0].rows[0]
    assert (ex.used_bytes, ex.size_bytes) == ((4108388 - 4105984) * 1024, 4108388 * 1024)
    network = read_log(lustre / "lctl/lnetctl_stats.txt")[0].rows[0]
    assert (network.read_bytes, network.write_bytes) == (254_091_008, 261_865_376)


@pytest.mark.parametrize("name", ["tokio-snx11025_2018-01-28.hdf5", "tokio-sample_tokiots.hdf5"])
def test_a_series_moved_what_its_samples_add_up_to(name: str, shared_data: Path) -> None:
    path = shared_data / "lustre" / name
    with h5py.File(path) as file:
        group = file["datatargets"]
        values = group["writebytes" if "writebytes" in group else "writerates"]
        units = values.attrs.get("units", b"bytes/sec")
        step = float(np.diff(group["timestamps"][:2])[0])
        # TOKIO fills what it does not know with -0.0, which adds nothing here.
        whole = float(values[:].sum()) * (1.0 if units in ("bytes", b"bytes") else step)
    assert only(path).write_bytes == pytest.approx(whole)


@pytest.mark.parametrize(
    ("name", "written", "writes", "targets"),
    [
        # 48 ranks of 1 GiB by 8 MiB, and 2,048 of 256 MiB by 4 MiB, over 24 targets.
        ("tokio-sample-goodost", 48 * GIB, 6144, 24),
        ("tokio-sample-badost", 512 * GIB, 131_072, 24),
    ],
)
def test_a_darshan_log_says_what_a_program_wrote_and_where(
    name: str, written: int, writes: int, targets: int, shared_data: Path
) -> None:
    pytest.importorskip("darshan")
    program, by_target = read_log(shared_data / "lustre" / f"{name}.darshan")
    posix = program.rows[0]
    assert (posix.part, posix.write_bytes, posix.writes) == ("POSIX", written, writes)
    assert len(by_target.rows) == targets
    assert by_target.write_bytes == pytest.approx(written)


def test_a_heat_map_of_darshan_is_a_series(shared_data: Path) -> None:
    pytest.importorskip("darshan")
    path = shared_data / "lustre/darshan-runtime_and_dxt_heatmaps_diagonal_write_only.darshan"
    found = read_heat_maps(path)["POSIX"]
    # 32 ranks wrote a byte each, in 34 steps of a tenth of a second.
    assert found["write"].times.tolist() == pytest.approx([0.1 * step for step in range(34)])
    assert found["write"].values.sum() == 32 and found["read"].values.sum() == 0
    assert [log.kind for log in read_log(path)] == ["program", "heat map"]
    imbalanced = read_log(shared_data / "lustre/darshan-imbalanced-io.darshan")
    assert [log.kind for log in imbalanced] == ["program", "mpi-io", "targets"]
    assert imbalanced[0].note == "Darshan dropped records of POSIX"


def test_a_damaged_darshan_log_is_refused(shared_data: Path, tmp_path: Path) -> None:
    """Some end the library that reads them: then its process ends, and not ours."""
    pytest.importorskip("darshan")
    whole = (shared_data / "lustre/tokio-sample-goodost.darshan").read_bytes()
    for seed in numbers(2):
        rng = random.Random(seed)
        changed = bytearray(whole)
        for _ in range(3):
            changed[rng.randrange(8, 2000)] = rng.randrange(256)
        path = put(tmp_path, bytes(changed[: rng.randrange(9, len(changed))]), "cut.darshan")
        try:
            read_log(path)
        except ConfigError as error:
            assert "Darshan" in str(error)


def test_without_the_package_a_darshan_log_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, "raise ModuleNotFoundError(name='darshan')\n", "darshan.py")
    monkeypatch.syspath_prepend(tmp_path)
    log = put(tmp_path, b"3.21\0\0\0\0 and more", "run.darshan")
    with pytest.raises(ConfigError, match=r"needs the Python package darshan; pip install"):
        darshan_module.read_darshan(log)


def test_rows_are_written_as_parquet_and_csv(tmp_path: Path) -> None:
    paths = [put(tmp_path, text, kind) for kind, text in TEXTS.items()]
    for name in ("rows.parquet", "rows.csv"):
        output("import", "logs", *paths, "-o", tmp_path / name, "-q")
    rows = pq.read_table(tmp_path / "rows.parquet").to_pylist()
    assert len(rows) == sum(len(log.rows) for log in read_logs(paths))
    with (tmp_path / "rows.csv").open() as file:
        text = list(csv.DictReader(file))
    assert [row["part"] for row in text] == [row["part"] for row in rows]
    assert sum(float(row["write_bytes"] or 0) for row in text) == pytest.approx(
        sum(row["write_bytes"] or 0 for row in rows)
    )
    told = json.loads(command("import", "logs", *paths, "--json").stdout)
    assert [one["kind"] for one in told] == list(TEXTS)
    assert told[0]["jobs"]["4711"] == {"read_bytes": 8192.0, "write_bytes": 20971540.0}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (JOBS.replace("sum: 20971520", "sum: many"), "line 7"),
        (JOBS.replace('"cp.1000"', "4711"), "stands twice"),
        (SIZES.replace("256:", "1:"), "do not rise"),
        (SIZES.replace("20  66  66", "many"), "line 7"),
        (TEXTS["fill"].replace("  450", "  45²"), "whole numbers"),
    ],
)
def test_what_is_damaged_is_refused_by_its_line(
    text: str | bytes, says: str, tmp_path: Path
) -> None:
    done = command("import", "logs", put(tmp_path, text))
    assert done.returncode == 2, done.stdout
    assert says in done.stderr and "Traceback" not in done.stderr


def test_a_log_that_cannot_be_opened_is_refused(tmp_path: Path) -> None:
    for path, says in ((tmp_path, "a folder"), (tmp_path / "none", "no such file")):
        assert says in refused(read_logs, [path])
    if os.geteuid() != 0:
        closed = put(tmp_path, JOBS)
        closed.chmod(0)
        assert "cannot be read" in refused(read_logs, [closed])
