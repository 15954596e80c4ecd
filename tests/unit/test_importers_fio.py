"""fio's JSON is read in its versions and refused by job; it is run as the recipe wants it."""

import copy
import errno
import itertools
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resilver.calibration import fio_process
from resilver.calibration.fio_run import REQUEST_SIZES, FioPlan, measure
from resilver.errors import ConfigError, ResilverError
from resilver.importers.fio import MODES, FioJob, FioReport, parse_fio, read_fio
from tests.build import refused
from tests.unit import fio_reports

REPORT = fio_reports.report(
    fio_reports.job(mode, size, 1e-4 + size / 1e9) for mode in MODES for size in (4096, 2**20)
)
WHOLE = json.dumps(REPORT, indent=1)


def parsed(document: Any) -> FioReport:
    return parse_fio(json.dumps(document, indent=1), Path("disk.json"))


def only(document: Any) -> FioJob:
    (job,) = parsed(document).jobs
    return job


def changed(change: Callable[[dict[str, Any]], Any], mode: str = "read") -> dict[str, Any]:
    """A report of one job, changed."""
    document = copy.deepcopy(fio_reports.report([fio_reports.job(mode, 4096, 1e-4)]))
    change(document["jobs"][0])
    return document


def test_a_job_is_its_pattern_size_depth_bandwidth_and_median_latency() -> None:
    job = only(fio_reports.report([fio_reports.job("randwrite", 8192, 2e-4)]))
    assert (job.mode, job.request_bytes) == ("randwrite", 8192)
    assert (job.queue_depth, job.direct) == (4, True)
    # 8192 B each 200 us, and four of them outstanding: 800 us from submission to completion.
    assert job.bytes_per_second == pytest.approx(8192 / 2e-4)
    assert job.latency_seconds == pytest.approx(8e-4)


@pytest.mark.parametrize(
    ("bs", "mode", "size"),
    [
        ("4k", "read", 4096),
        ("4K", "read", 4096),
        ("4kb", "read", 4096),
        ("4KiB", "read", 4096),
        ("4096", "read", 4096),
        ("1m", "write", 2**20),
        ("4k,1m", "write", 2**20),
        ("4k,1m", "read", 4096),
        ("4k,", "write", 4096),
    ],
)
def test_sizes_have_fios_suffixes_and_may_differ_by_direction(
    bs: str, mode: str, size: int
) -> None:
    document = fio_reports.report([fio_reports.job(mode, size, 1e-4)])
    document["jobs"][0]["job options"]["bs"] = bs
    assert only(document).request_bytes == size


def test_options_have_fios_defaults_and_older_forms_the_same_figures() -> None:
    document = changed(lambda job: job.update({"job options": {}}))
    document.pop("global options")
    job = only(document)
    # fio without options reads sequentially, 4 KiB at a time, one by one, through the page cache.
    assert (job.mode, job.request_bytes, job.queue_depth, job.direct) == ("read", 4096, 1, False)
    document = changed(lambda job: job["job options"].update({"ioengine": "psync"}))
    assert only(document).queue_depth == 1

    def older(job: dict[str, Any]) -> None:
        latency = {"clat": {"percentile": {"50.000000": 250}}}
        job["read"] = {"io_bytes": 4000, "total_ios": 1000, "bw": 100, **latency}

    job = only(changed(older))
    assert job.bytes_per_second == 100 * 1024 and job.latency_seconds == pytest.approx(250e-6)
    # Of seven samples the fourth is the median: 3 lie at 1000 ns, the fourth at 3000.
    bins = {"5000": 2, "1000": 3, "3000": 2}
    document = changed(lambda job: job["read"].update({"clat_ns": {"N": 7, "bins": bins}}))
    assert only(document).latency_seconds == pytest.approx(3e-6)
    note = "note: both iodepth >= 1 and synchronous I/O engine are selected\n"
    assert len(parse_fio(note + WHOLE, Path("disk.json")).jobs) == 8


def test_bad_and_mixed_jobs_are_named() -> None:
    document = changed(lambda job: None)
    mixed = copy.deepcopy(document["jobs"][0])
    mixed |= {"jobname": "mix", "groupid": 1, "job options": {"rw": "randrw", "bs": "4k"}}
    document["jobs"].append(mixed)
    report = parsed(document)
    assert len(report.jobs) == 1
    assert 'job "mix" has rw=randrw' in report.skipped[0]
    document = copy.deepcopy(REPORT)
    document["jobs"][0]["error"] = 5
    document["jobs"][3]["write"]["total_ios"] = 0
    with pytest.raises(ConfigError) as caught:
        parsed(document)
    assert len(caught.value.problems) == 2
    document = copy.deepcopy(REPORT)
    document["jobs"][1]["groupid"] = 0
    with pytest.raises(ConfigError, match=r"ran at the same time.*stonewall"):
        parsed(document)


REFUSED: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "failed": (lambda job: job.update(error=28), r"No space left on device \(28\)"),
    "no such error": (lambda job: job.update(error=2**31), "error = 2147483648: expected"),
    "no request": (lambda job: job["read"].update(total_ios=0), "completed no request"),
    "no sample": (lambda job: job["read"]["clat_ns"].update(N=0), "no sample of the latency"),
    "no bandwidth": (lambda job: job["read"].update(bw_bytes=0), "bandwidth is 0 B/s"),
    "no median": (
        lambda job: job["read"]["clat_ns"].update(percentile={"99.000000": 5}),
        "--percentile_list=50",
    ),
    "no latency": (lambda job: job["read"].pop("clat_ns"), 'a member named "clat"'),
    "no side": (lambda job: job.pop("read"), 'a member named "read"'),
    "no options": (lambda job: job.pop("job options"), '"job options"'),
    "several": (lambda job: job["job options"].update(numjobs="4"), "numjobs=1"),
    "bad size": (lambda job: job["job options"].update(bs="4x"), 'bs = "4x"'),
    "bad depth": (lambda job: job["job options"].update(iodepth="0"), 'iodepth = "0"'),
    "other size": (lambda job: job["job options"].update(bs="8k"), "moved 4096 B on average"),
    "range": (lambda job: job["job options"].update(bssplit="4k/50:8k/50"), "bssplit"),
    "words": (lambda job: job["read"].update(bw_bytes="fast"), 'bw_bytes = "fast"'),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_job_that_says_nothing_is_refused_by_its_name(case: str) -> None:
    change, message = REFUSED[case]
    with pytest.raises(ConfigError, match=message) as caught:
        parsed(changed(change))
    assert 'disk.json: jobs[0] "read-4096"' in str(caught.value) or "read-4096" in str(caught.value)


def test_several_files_are_one_measurement(tmp_path: Path) -> None:
    paths = [
        fio_reports.write(fio_reports.report([fio_reports.job(mode, 4096, 1e-4)]), tmp_path / mode)
        for mode in MODES
    ]
    report = read_fio(paths)
    assert "status-interval" in refused(parse_fio, WHOLE + "\n" + WHOLE, Path("disk.json"))
    assert [job.mode for job in report.jobs] == [*MODES]
    assert "given twice" in refused(read_fio, [paths[0], paths[0]])


@given(st.integers(0, len(WHOLE) - 2))
def test_a_report_cut_short_is_refused(length: int) -> None:
    with pytest.raises(ConfigError, match="not valid JSON" if length else "there is no JSON"):
        parse_fio(WHOLE[:length], Path("disk.json"))


# Answers as fio does, notes how it was called, and fails as the variable FAULT says.
STAND_IN = """#!{python} -ISs
import json, os, sys
fault = os.environ.get("FAULT", "")
options = dict(word[2:].split("=", 1) if "=" in word else (word[2:], "") for word in sys.argv[1:])
if "enghelp" in options:
    print("Available IO engines:\\n\\tsync\\n" + ("" if fault == "engine" else "\\tlibaio"))
    sys.exit(0)
with open(os.environ["CALLS"], "a") as calls:
    calls.write(json.dumps(options) + "\\n")
number = 0
if fault == "direct" and options["direct"] == "1":
    number = 22
if fault == "full" and options.get("bs") == "8192":
    number = 28
if number:
    print("fio: pid=1, err=%d" % number, file=sys.stderr)
if fault == "silent":
    sys.exit(7)
if fault == "hang" and options.get("bs") == "8192":
    import time
    time.sleep(60)
size = int(options["bs"]) if options["bs"].isdecimal() else 2**20
side = {{"io_bytes": size, "total_ios": 1, "bw_bytes": 1e9, "clat_ns": {{"N": 1, "percentile":
        {{"50.000000": 4 * size}}}}}}
print("note: something for the terminal")
print(json.dumps({{"fio version": "fio-0", "jobs": [{{"jobname": options["name"], "groupid": 0,
    "error": number, "job options": options, "read": side, "write": side}}]}}))
sys.exit(1 if number else 0)
"""


class Heard:
    def __init__(self) -> None:
        self.steps: list[str] = []
        self.said: list[str] = []

    def step(self, name: str, done: int, total: int) -> None:
        assert 0 <= done < total == 49
        self.steps.append(name)

    def say(self, text: str) -> None:
        self.said.append(text)


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Puts the stand-in on the path; answers the file of its calls."""
    (tmp_path / "bin").mkdir()
    fio = tmp_path / "bin" / "fio"
    fio.write_text(STAND_IN.format(python=sys.executable), encoding="utf-8")
    fio.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fio.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    return tmp_path / "calls"


def test_every_pattern_is_measured_at_every_size_after_the_space_was_written(
    tmp_path: Path, calls: Path
) -> None:
    heard = Heard()
    # 65 MiB are not a multiple of the largest request, and its last megabyte is left alone.
    text = measure(FioPlan(tmp_path / "a:b", 65 * 2**20, 0.25), heard)
    made = [json.loads(line) for line in calls.read_text(encoding="utf-8").splitlines()]
    assert made[0]["rw"] == "write" and "time_based" not in made[0]
    patterns = {(call["rw"], int(call["bs"])) for call in made[1:]}
    assert len(made) == 49 and patterns == set(itertools.product(MODES, REQUEST_SIZES))
    for call in made[1:]:
        assert call["runtime"] == "250ms" and call["iodepth"] == "4" and call["direct"] == "1"
        assert call["ioengine"] == "libaio" and call["size"] == str(64 * 2**20)
        # A colon would name a second file.
        assert call["filename"] == str(tmp_path / "a\\:b")
    assert heard.steps[0] == "writing 64.0 MiB" and heard.said == []
    report = parse_fio(text, Path("fio.json"))
    assert len(report.jobs) == 48 and str(tmp_path) not in text
    assert not (tmp_path / "a:b").exists()


def test_without_direct_io_the_page_cache_is_used_and_told(
    tmp_path: Path, calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAULT", "direct")
    heard = Heard()
    report = parse_fio(measure(FioPlan(tmp_path / "new", 2**26, 0.1), heard), Path("fio.json"))
    assert not any(job.direct for job in report.jobs)
    (told,) = heard.said
    assert "direct I/O does not work there" in told


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("full", f"fio failed: {os.strerror(errno.ENOSPC)}"),
        ("silent", "fio failed: exit 7"),
        ("hang", "did not end within 2 s; does the disk hang"),
        ("engine", "neither of the engines libaio and io_uring"),
    ],
)
def test_a_failure_of_fio_is_told_and_its_file_removed(
    tmp_path: Path, calls: Path, monkeypatch: pytest.MonkeyPatch, fault: str, message: str
) -> None:
    monkeypatch.setenv("FAULT", fault)
    monkeypatch.setattr(fio_process, "_LATE_SECONDS", 2.0)
    with pytest.raises(ResilverError, match=message):
        measure(FioPlan(tmp_path / "new", 2**26, 0.1), Heard())
    # Without an engine nothing is begun.
    assert calls.exists() == (fault != "engine") and not (tmp_path / "new").exists()


def test_without_fio_the_remedy_is_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigError, match="fio is not installed; install it"):
        measure(FioPlan(tmp_path / "new", 2**26, 0.1), Heard())


def test_a_file_that_exists_stays_and_no_link_is_written_through(
    tmp_path: Path, calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "old").write_text("dear", encoding="utf-8")
    assert "--overwrite" in refused(measure, FioPlan(tmp_path / "old", 2**26, 0.1), Heard())
    assert not calls.exists()
    # It was not made here, so it is not removed here; and soon the disk is full.
    monkeypatch.setenv("FAULT", "full")
    with pytest.raises(ResilverError, match="fio failed"):
        measure(FioPlan(tmp_path / "old", 2**26, 0.1, overwrite=True), Heard())
    assert (tmp_path / "old").exists() and calls.exists()
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with pytest.raises(ConfigError, match="no file can be made there"):
        measure(FioPlan(tmp_path / "link", 2**26, 0.1), Heard())
    assert not (tmp_path / "target").exists() and (tmp_path / "link").is_symlink()
