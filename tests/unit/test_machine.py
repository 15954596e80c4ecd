"""How much memory there is, by the machine and by its control groups, and what does not fit."""

from pathlib import Path

import pytest

from resilver import cli
from resilver.spec import Study
from resilver.study import execute, machine
from resilver.study.machine import Memory, machine_memory, memory_problems
from tests.build import refused

GIB = 2**30
WIDE = {"jobs/one/memory.max": "max"}
MEMINFO = "MemTotal: 16777216 kB\nMemFree: 1 kB\nMemAvailable: 8388608 kB\nHugePages_Total: 0\n"


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine of 16 GiB, 8 GiB of them available, in no control group."""
    (tmp_path / "meminfo").write_text(MEMINFO)
    (tmp_path / "own").write_text("")
    monkeypatch.setattr(machine, "_MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(machine, "_OWN_CGROUPS", tmp_path / "own")
    monkeypatch.setattr(machine, "_CGROUPS", tmp_path / "groups")
    return tmp_path


def put(folder: Path, limits: dict[str, str]) -> None:
    for name, text in limits.items():
        path = folder / "groups" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_what_needs_more_than_there_is_is_named(system: Path) -> None:
    assert machine_memory() == Memory(16 * GIB, 8 * GIB, "machine")
    memory = Memory(4 * GIB, 3 * GIB, "control group")
    assert memory_problems([4 * GIB, GIB], ["a", "b"], memory) == []
    (problem,) = memory_problems([5 * GIB, 6 * GIB, GIB], ["n = 1", "n = 2", "n = 3"], memory)
    said = str(problem)
    assert said.startswith("a run at n = 2 needs about 6.0 GiB of memory")
    assert "the control group allows 4.0 GiB" in said and "2 of 3 systems" in said


@pytest.mark.parametrize(
    ("own", "limit", "used", "above"),
    [
        # The group above.
        ("0::/jobs/one\n", "jobs/memory.max", "jobs/memory.current", WIDE),
        # Of version 1.
        ("9:cpu:/\n4:memory:/jobs\n0::/\n", "memory/jobs/memory.limit_in_bytes",
         "memory/jobs/memory.usage_in_bytes", {"memory/memory.limit_in_bytes": str(2**63 - 4096)}),
        # In a container its own group is the root that is seen, whatever its path outside.
        ("0::/docker/abc\n", "memory.max", "memory.current", {}),
    ],
)  # fmt: skip
def test_a_control_group_allows_less(
    own: str, limit: str, used: str, above: dict[str, str], system: Path
) -> None:
    (system / "own").write_text(own)
    put(system, {limit: str(4 * GIB), used: str(GIB), **above})
    assert machine_memory() == Memory(4 * GIB, 3 * GIB, "control group")


STUDY = """
cluster = { servers = 64 }
population = { file_size = "4 KiB", files = 10000000 }
placement = { placement_groups = 1024 }
faults = [{ fail = { servers = 1 } }]
"""


def test_check_says_it_and_nothing_is_run(system: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # 10^7 objects of three copies on 64 servers: 468,750 replicas are to move, 90 B each, which is
    # 40 MiB beside the 129 MiB of any run; 150 MiB are too few and 16 GiB enough.
    path = system / "study.toml"
    path.write_text(STUDY)
    assert cli.run(["check", str(path)]) == 0
    assert "The study is valid: 1 run" in capsys.readouterr().out
    (system / "own").write_text("0::/\n")
    put(system, {"memory.max": str(150 * 2**20), "memory.current": "0"})
    assert cli.run(["check", str(path)]) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "Too large: a run needs about" in said and "allows 150.0 MiB" in said
    assert "valid, but too large for this machine" in said
    assert cli.run(["run", str(path), "-o", str(system / "run")]) == 2
    assert "store less or in larger objects" in capsys.readouterr().err
    assert not (system / "run").exists()
    assert "needs about" in refused(execute, Study.load(path), system / "run", workers=0)


def test_runs_at_once_that_do_not_fit_are_noted(
    system: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Four runs of some 170 MiB at once are more than 400 MiB, two of them less.
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    path = system / "study.toml"
    path.write_text(STUDY + "study = { seeds = 8 }\n")
    (system / "own").write_text("0::/\n")
    put(system, {"memory.max": str(400 * 2**20), "memory.current": "0"})
    assert cli.run(["check", str(path)]) == 0
    assert "use --workers 2." in " ".join(capsys.readouterr().out.split())
