"""What a run folder says when its provenance is corrupt, and that what it advises mends it."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path

import pytest

pytest.importorskip("resilver._core", reason="the native core is not built")

from resilver import cli

STUDY = """
[cluster]
servers = {servers}
[population]
histogram = "genomes1000"
bytes_per_server = "1 GiB"
[[faults]]
fail = {{ servers = 1 }}
[study]
seeds = 2
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two studies, the first of which has run."""
    here = tmp_path_factory.mktemp("corrupt")
    for name, servers in (("lab", 8), ("other", 9)):
        (here / f"{name}.toml").write_text(STUDY.format(servers=servers))
    assert cli.run(["run", str(here / "lab.toml"), "-o", str(here / "runs" / "lab"), "-q"]) == 0
    return here


@pytest.fixture
def ran(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run folder of one test's own, seen from beside its study."""
    shutil.copytree(made, tmp_path / "copy")
    monkeypatch.chdir(tmp_path / "copy")
    return Path("runs/lab")


def without(name: str) -> object:
    def change(text: str) -> str:
        return json.dumps({key: value for key, value in json.loads(text).items() if key != name})

    return change


@pytest.mark.parametrize("words", [["report"], ["status"], ["run", "lab.toml", "-o"]])
@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda text: text[:100], "it is no JSON"),
        (lambda text: "[]", "it is no JSON object"),
        (without("run_keys"), "it has no 'run_keys'"),
        (lambda text: text.replace('"run_keys": [', '"run_keys": 7, "x": ['), "its 'run_keys'"),
    ],
)
def test_what_is_corrupt_is_named_and_the_advice_mends_it(
    ran: Path, capsys: pytest.CaptureFixture[str], words: list[str], change, why: str
) -> None:
    path = ran / "provenance.json"
    before = json.loads(path.read_text())
    path.write_text(change(path.read_text()))
    if words[0] != "run":
        assert cli.run([*words, str(ran)]) == 2
        told = " ".join(capsys.readouterr().err.split())
        assert f"'runs/lab/provenance.json' is corrupt: {why}" in told
        advised = told.partition("`")[2].partition("`")[0]
        assert advised == "resilver run runs/lab/study.toml -o runs/lab"
        words = shlex.split(advised)[1:-1]
    written = {shard: shard.stat().st_mtime_ns for shard in ran.glob("shards/*/*")}
    assert len(written) > 10
    assert cli.run([*words, str(ran), "-v"]) == 0
    assert "2 of 2 runs were in runs/lab already" in " ".join(capsys.readouterr().err.split())
    # No run is done again, and what was measured of each is as it was.
    assert written == {shard: shard.stat().st_mtime_ns for shard in ran.glob("shards/*/*")}
    after = json.loads(path.read_text())
    assert after["runs"] == before["runs"] and after["tables"] == before["tables"]
    assert cli.run(["report", str(ran)]) == 0


def test_another_study_does_not_take_a_corrupt_folder_over(
    ran: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (ran / "provenance.json").write_text("{")
    before = (ran / "runs.parquet").read_bytes()
    assert cli.run(["run", "other.toml", "-o", str(ran)]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "is corrupt" in told and "resilver run runs/lab/study.toml -o runs/lab" in told
    assert (ran / "runs.parquet").read_bytes() == before
