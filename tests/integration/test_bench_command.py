"""`resilver bench`: plans with their files, and running one with fio, which may be interrupted."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from resilver import cli
from resilver.calibration.block_rates import read_disk
from resilver.importers.benchmarks import read_benchmarks
from resilver.importers.fio import MODES
from tests.front_door import command, environment, shell_environment
from tests.integration.test_calibrate import needs_fio
from tests.terminal import json_output, output, refusal, texts
from tests.unit.benchmark_texts import IOR_3, OBDFILTER

SIZES = (4096, 2**20)


def small_plan(folder: Path, seconds: float = 0.05) -> Path:
    """A plan of the four patterns at two sizes."""
    tests = [
        {"mode": mode, "request_bytes": size, "queue": 4, "run": 1}
        for mode in MODES
        for size in SIZES
    ]
    plan = {"name": "small", "tests": tests, "seconds": seconds, "pause_seconds": 0, "seed": 1}
    folder.mkdir()
    (folder / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    return folder


def test_a_plan_is_written_for_all_programs_and_never_over_another(tmp_path: Path) -> None:
    folder = tmp_path / "bench"
    words = ["bench", "plan", "--budget", "30min", "-o", str(folder)]
    assert "40 tests of single-host-reduced take 30 min, 5.6 %" in output(*words)
    jobs = (folder / "block.fio").read_text(encoding="utf-8")
    assert jobs.count("\nrw=") == 40 and "filename=${TARGET}\n" in jobs and "stonewall" in jobs
    assert "there is a plan already" in refusal(*words)
    assert cli.run(["bench", "plan", "-o", str(tmp_path / "full")]) == 0
    assert {path.name for path in (tmp_path / "full").iterdir()} == {
        *("single-host", "building-block", "ior.sh", "obdfilter.sh")
    }


def stand_in(folder: Path, name: str, text: str) -> None:
    """A program that notes its words and variables, and prints or writes a text."""
    (folder / name).write_text(
        "#!/bin/bash\n"
        f'echo "$* $rszlo $nobjlo $thrlo $size" >> {folder}/calls\n'
        'to=/dev/stdout; [ -n "$rslt" ] && to="$rslt.summary"\n'
        f'cat {folder}/text > "$to"\n',
        encoding="utf-8",
    )
    (folder / name).chmod(0o755)
    (folder / "text").write_text(text, encoding="utf-8")


def test_the_scripts_run_the_programs_and_leave_what_import_reads(tmp_path: Path) -> None:
    """IOR writes and reads each of 12 sizes in two orders; the survey has 3 x 3 tests."""
    bench, programs = tmp_path / "bench", tmp_path / "programs"
    programs.mkdir()
    assert command("bench", "plan", "--budget", "30min", "-o", bench).returncode == 0
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    stand_in(programs, "ior", IOR_3)
    more = {"PATH": path, "TASKS": "4", "FILE": "/scratch/f", "LAUNCH": "env"}
    subprocess.run(["./ior.sh"], cwd=bench, env=environment(**more), check=True, timeout=60)
    calls = (programs / "calls").read_text(encoding="utf-8").splitlines()
    assert len(calls) == 48
    assert sum(" -w " in call for call in calls) == sum(" -r " in call for call in calls) == 24
    assert sum(" -z " in call for call in calls) == 24
    assert len(read_benchmarks(bench / "ior.txt").rows) == 48
    (programs / "calls").unlink()
    stand_in(programs, "obdfilter-survey", OBDFILTER)
    # 8 x 3,000 MB over 2 targets are 12,000 MB, up to a power of two 16,384.
    more = {"PATH": path, "OSTS": "a b", "CACHE_MB": "3000"}
    subprocess.run(["./obdfilter.sh"], cwd=bench, env=environment(**more), check=True, timeout=60)
    calls = (programs / "calls").read_text(encoding="utf-8").splitlines()
    assert [call.split() for call in calls] == [
        [record, objects, objects, "16384"]
        for record in ("8", "128", "1024")
        for objects in ("1", "4", "16")
    ]
    assert len(read_benchmarks(sorted((bench / "obdfilter").glob("*.summary"))).rows) == 9 * 5


@needs_fio
def test_a_plan_runs_what_is_left_and_calibrate_reads_it(tmp_path: Path) -> None:
    plan = small_plan(tmp_path / "bench")
    words = ["bench", "run", str(plan), "--size", "16 MiB"]
    told = json_output(*words)
    assert (told["tests"], told["ran"]) == (8, 8)
    assert not (plan / "target").exists()
    table = read_benchmarks(told["results"])
    assert {(one.mode, one.request_bytes, one.queue) for one in table.rows} == {
        (mode, size, 4) for mode in MODES for size in SIZES
    }
    # What a calibration fits, whatever this machine's disk makes of so short a time.
    jobs = read_disk([Path(file) for file in told["results"]]).jobs
    assert {(job.mode, job.request_bytes) for job in jobs} == {
        (mode, size) for mode in MODES for size in SIZES
    }
    Path(told["results"][3]).unlink()
    assert json_output(*words)["ran"] == 1
    assert json_output(*words)["ran"] == 0
    # A result of another place does not belong beside these.
    Path(told["results"][3]).unlink()
    err = texts("bench", "run", plan, "--size", "32 MiB", code=2)[1]
    assert "holds results of size_bytes = 16777216, and this is 33554432" in err


@needs_fio
@pytest.mark.parametrize(
    ("target", "words", "message"),
    [
        # What else a target may not be is held by test_calibrate.py.
        ("kept", [], "add --overwrite if what it holds may go"),
        ("new", ["--size", "4 KiB"], "these tests need at least 8.0 MiB"),
    ],
)
def test_what_must_not_be_written_is_refused_before_fio_starts(
    tmp_path: Path, target: str, words: list[str], message: str
) -> None:
    plan = small_plan(tmp_path / "bench")
    (tmp_path / "kept").write_text("dear", encoding="utf-8")
    assert message in texts("bench", "run", plan, "--target", tmp_path / target, *words, code=2)[1]
    assert (tmp_path / "kept").read_text(encoding="utf-8") == "dear"
    assert not (plan / "results").exists()


@needs_fio
def test_an_interrupt_ends_fio_and_keeps_what_ended(tmp_path: Path) -> None:
    """Either signal is one: `test_calibrate.py` has both."""
    plan = small_plan(tmp_path / "bench", seconds=0.2)
    words = ["resilver", "bench", "run", str(plan), "--size", "16 MiB"]
    process = subprocess.Popen(
        ["python", "-m", *words], cwd=tmp_path, env=shell_environment(), stderr=subprocess.PIPE
    )
    deadline = time.monotonic() + 60
    while len(list(plan.glob("results/*-run1.json"))) < 2:
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    kept = len(list(plan.glob("results/*-run1.json")))
    assert f"interrupted; {kept} of 8 tests are kept".encode() in errors
    assert 2 <= kept < 8 and not (plan / "target").exists()
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    assert str(plan / "target") not in listed.stdout
    done = command("bench", "run", plan, "--size", "16 MiB")
    assert done.returncode == 0 and f"{8 - kept} tests ran" in done.stdout


def test_what_is_no_plan_is_refused(tmp_path: Path) -> None:
    assert "there is no such file" in refusal("bench", "run", tmp_path)
    (tmp_path / "plan.json").write_text("{}", encoding="utf-8")
    assert 'a member named "tests"' in refusal("bench", "run", tmp_path)
