"""fio is run as the recipe wants it, and its failures are told; here with a stand-in for fio."""

import errno
import json
import os
import sys
from pathlib import Path

import pytest

from resilver.calibration import fio_process
from resilver.calibration.fio_run import REQUEST_SIZES, FioPlan, measure
from resilver.errors import ConfigError, ResilverError
from resilver.importers.fio import parse_fio

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
    assert len(made) == 49 and patterns == {
        (mode, size)
        for mode in ("read", "write", "randread", "randwrite")
        for size in REQUEST_SIZES
    }
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
    tmp_path: Path, calls: Path
) -> None:
    (tmp_path / "old").write_text("dear", encoding="utf-8")
    with pytest.raises(ConfigError, match="--overwrite"):
        measure(FioPlan(tmp_path / "old", 2**26, 0.1), Heard())
    assert not calls.exists()
    measure(FioPlan(tmp_path / "old", 2**26, 0.1, overwrite=True), Heard())
    # It was not made here, so it is not removed here.
    assert (tmp_path / "old").exists() and calls.exists()
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with pytest.raises(ConfigError, match="no file can be made there"):
        measure(FioPlan(tmp_path / "link", 2**26, 0.1), Heard())
    assert not (tmp_path / "target").exists() and (tmp_path / "link").is_symlink()
