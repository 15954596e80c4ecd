"""`resilver calibrate`: what it prints and writes, what it refuses, and that it cleans up."""

import json
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import tomllib
from importlib import resources
from pathlib import Path

import pytest

from resilver.spec import Cluster, Study
from resilver.units import BytesPerSecond
from tests.front_door import environment, process
from tests.terminal import Ended, command, refusal
from tests.unit import fio_reports

JBOD = Cluster.model_validate({"servers": 1, "device": "jbod10-sata"}).device
QDR = str(resources.files("resilver.catalog") / "networks" / "qdr-infiniband.dat")
MAIN = "if __name__ == '__main__':\n    from resilver.cli import main\n    main()\n"
needs_fio = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")


def words_of(folder: Path, *words: object) -> list[str]:
    # A measuring server is a process of its own, which imports the main module again.
    (folder / "main.py").write_text(MAIN, encoding="utf-8")
    return [sys.executable, str(folder / "main.py"), *map(str, words)]


def calibrate(folder: Path, *words: object) -> Ended:
    done = command("calibrate", *words, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def measure(folder: Path, *words: object) -> subprocess.CompletedProcess[str]:
    asked, colourless = words_of(folder, "calibrate", *words), environment(NO_COLOR="1")
    done = process(*asked, cwd=folder, env=colourless, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.fixture
def disk_json(tmp_path: Path) -> Path:
    document = fio_reports.report_of(JBOD, JBOD.request_sizes)
    return fio_reports.write(document, tmp_path / "disk.json")


def test_a_disk_is_fitted_printed_written_and_drawn(tmp_path: Path, disk_json: Path) -> None:
    done = calibrate(
        tmp_path, "disk", "disk.json", "--fit", "line", "-o", "disk.toml", "--figure", "disk.png"
    )
    # 1542.1 MiB/s are 1617.0 MB/s.
    assert re.search(r"^read +1\.617 GB/s +23\.670 us$", done.stdout, re.MULTILINE)
    assert "3475.600 us" in done.stdout.replace(",", "")
    assert "random write" in done.stdout and "under 0.1 %" in done.stdout
    assert 'cluster.device = { file = "disk.toml" }' in done.stderr
    written = tomllib.loads((tmp_path / "disk.toml").read_text(encoding="utf-8"))
    assert written["read_seek"][0] == "3.4756 ms"
    assert (tmp_path / "disk.png").read_bytes()[1:4] == b"PNG"


def test_rates_of_a_disk_are_written_in_bytes(tmp_path: Path) -> None:
    """Fio's report of a disk of 500 MB/s made "4 Gb/s", which is a link's."""
    rates = {key: BytesPerSecond(500e6) for key in ("read_rate", "write_rate")}
    table = JBOD.model_copy(update=rates)
    fio_reports.write(fio_reports.report_of(table, table.request_sizes), tmp_path / "disk.json")
    calibrate(tmp_path, "disk", "disk.json", "--fit", "line", "-o", "disk.toml", "-q")
    written = tomllib.loads((tmp_path / "disk.toml").read_text(encoding="utf-8"))
    for key in rates:
        assert written[key].endswith("B/s")
        assert BytesPerSecond.parse(written[key]) == pytest.approx(500e6, rel=1e-3)


def test_json_has_the_table_and_figures_are_the_same_bytes(tmp_path: Path, disk_json: Path) -> None:
    for name in ("a.svg", "b.svg"):
        disk = calibrate(tmp_path, "disk", "disk.json", "--figure", name, "--json").stdout
        network = calibrate(tmp_path, "network", QDR, "--figure", f"net-{name}", "--json").stdout
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert (tmp_path / "net-a.svg").read_bytes() == (tmp_path / "net-b.svg").read_bytes()
    found = json.loads(disk)
    assert found["device"]["request_sizes"][0] == "4 KiB"
    assert {*found["rmse"]} == {"read", "write", "randread", "randwrite"}
    assert len(found["points"]) == 4 * len(JBOD.request_sizes)
    assert json.loads(network)["rmse"] is None
    assert json.loads(network)["table"][0]["size_bytes"] == 2


def test_calibrated_parts_carry_a_study(tmp_path: Path, disk_json: Path) -> None:
    from resilver.study import simulate

    calibrate(tmp_path, "disk", "disk.json", "--fit", "line", "-o", "disk.toml", "-q")
    calibrate(tmp_path, "network", QDR, "-o", "network.dat", "-q")
    calibrate(tmp_path, "network", QDR, "-o", "network.toml", "-q")
    section = (tmp_path / "network.toml").read_text(encoding="utf-8")
    rebuilt = {}
    for name, device, fabric in (
        ("file", '{ file = "disk.toml" }', 'table = { netgauge = "network.dat" }'),
        ("pasted", '{ file = "disk.toml" }', section.split("[cluster.fabric]\n")[1]),
        ("catalog", '"jbod10-sata"', 'table = "qdr-infiniband"'),
        ("fio", '{ fio = "disk.json" }', 'table = "qdr-infiniband"'),
    ):
        study = f"""
        [cluster]
        servers = 8
        device = {device}
        [population]
        file_size = "64 MiB"
        files = 200
        [[faults]]
        fail = {{ servers = 1 }}
        [cluster.fabric]
        {fabric}
        """
        (tmp_path / f"{name}.toml").write_text(study, encoding="utf-8")
        run = Study.load(tmp_path / f"{name}.toml").runs()[0]
        rebuilt[name] = simulate(run.system, run.seed).metrics["rebuild_seconds"]
    # The figures are the catalog's to the picosecond and the byte a second.
    assert rebuilt["file"] == rebuilt["pasted"] == pytest.approx(rebuilt["catalog"], rel=1e-8)
    # The recipe's rate is that of the largest request, 0.9 % short.
    assert rebuilt["fio"] == pytest.approx(rebuilt["catalog"], rel=0.01)


def test_a_pattern_that_no_job_measures_is_asked_for(tmp_path: Path) -> None:
    document = fio_reports.report_of(JBOD, JBOD.request_sizes)
    fio_reports.write(document | {"jobs": document["jobs"][:33]}, tmp_path / "disk.json")
    said = refusal("calibrate", "disk", "disk.json", "-o", "disk.toml", cwd=tmp_path)
    assert "no job measures randwrite; run fio with --rw=randwrite" in said
    assert not (tmp_path / "disk.toml").exists()


@needs_fio
@pytest.mark.parametrize(
    ("target", "words", "message"),
    [
        ("kept", ["--size", "64 MiB"], "add --overwrite if what it holds may go"),
        (".", ["--size", "64 MiB"], "this is a folder"),
        ("/dev/null", [], "neither a file nor a block device"),
        ("new", ["--size", "1 MiB"], "needs at least 64.0 MiB"),
        ("new", ["--size", "4 EiB"], "are free there"),
        ("new", ["--size", "64"], "a size needs a unit"),
        ("new", ["--largest", "1 MB/s"], '--largest = "1 MB/s"'),
        ("new", ["--largest", "1 KiB"], "the smallest request measured is of 4.0 KiB"),
        ("none/new", ["--size", "64 MiB"], "no file can be made there"),
    ],
)
def test_what_must_not_be_written_is_refused_before_fio_starts(
    tmp_path: Path, target: str, words: list[str], message: str
) -> None:
    (tmp_path / "kept").write_text("dear", encoding="utf-8")
    assert message in refusal("calibrate", "disk", "--run", target, *words, cwd=tmp_path)
    assert (tmp_path / "kept").read_text(encoding="utf-8") == "dear"
    assert not (tmp_path / "new").exists()


@needs_fio
def test_fio_is_run_and_what_it_made_is_removed(tmp_path: Path) -> None:
    done = measure(
        tmp_path,
        *("disk", "--run", "probe:1", "--size", "64 MiB", "--seconds", "0.1"),
        *("--largest", "8 KiB", "--save", "fio.json", "--json"),
    )
    found = json.loads(done.stdout)
    assert found["device"]["request_sizes"] == ["4 KiB", "8 KiB"]
    # Four patterns at two sizes.
    assert found["queue_depth"] == 4 and len(found["points"]) == 8
    assert {path.name for path in tmp_path.iterdir()} == {"main.py", "fio.json"}
    # What is kept names no place of this machine, and is read as any report of fio's.
    assert str(tmp_path) not in (tmp_path / "fio.json").read_text(encoding="utf-8")
    again = json.loads(calibrate(tmp_path, "disk", "fio.json", "--json").stdout)
    assert again["points"] == found["points"]


@needs_fio
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_fio_and_removes_its_file(tmp_path: Path, number: int) -> None:
    words = words_of(
        tmp_path, *("calibrate", "disk", "--run", "probe", "--size", "64 MiB", "--seconds", "30")
    )
    process = subprocess.Popen(
        words, cwd=tmp_path, env=environment(NO_COLOR="1"), stderr=subprocess.PIPE
    )
    deadline = time.monotonic() + 60
    while not (tmp_path / "probe").exists() or (tmp_path / "probe").stat().st_size < 2**26:
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.05)
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert b"nothing of the measurement is kept" in errors
    assert not (tmp_path / "probe").exists()


def test_a_server_survives_strangers_and_serves_the_next_client(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    address = f"127.0.0.1:{port}"
    server = subprocess.Popen(
        words_of(tmp_path, "calibrate", "network", "--serve", address),
        cwd=tmp_path,
        env=environment(NO_COLOR="1"),
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stderr is not None
        assert server.stderr.readline().startswith(f"serving at {address}")
        # One says something else, and one leaves in the middle of a request.
        for said in (b"GET / HTTP/1.1\r\n\r\n", b"rsl1"):
            with socket.create_connection(("127.0.0.1", port)) as stranger:
                stranger.sendall(said)
        done = measure(
            tmp_path,
            *("network", "--run", address, "--largest", "128 B", "-o", "tcp.dat", "-q", "--json"),
        )
        assert json.loads(done.stdout)["table"][-1]["size_bytes"] == 128
    finally:
        server.send_signal(signal.SIGINT)
        _, errors = server.communicate(timeout=30)
    assert server.returncode == 130 and "no longer serving" in errors


def test_round_trips_over_the_loopback_make_a_table_for_a_study(tmp_path: Path) -> None:
    done = measure(
        tmp_path,
        *("network", "--run", "loopback", "--largest", "4 KiB"),
        *("-o", "loop.dat", "--save", "times.txt", "--json"),
    )
    found = json.loads(done.stdout)
    # 1 B to 4 KiB are 13 sizes, and each but the first has a row.
    assert len(found["table"]) == 12 and len(found["points"]) == 13
    again = calibrate(tmp_path, "network", "loop.dat", "--measured", "times.txt", "--json")
    error = json.loads(again.stdout)["rmse"]["bytes_per_second"]
    # Kept times have four decimals of a microsecond.
    assert error == pytest.approx(found["rmse"]["bytes_per_second"], rel=1e-3)
    # One message at a time: a message of one byte takes half its round trip, which is L.
    assert found["points"][0]["modelled_bytes_per_second"] == pytest.approx(
        found["points"][0]["measured_bytes_per_second"]
    )
