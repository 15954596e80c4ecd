"""A run folder: it moves, holds what its study read, and says what mends it where it is corrupt."""

import gzip
import json
import random
import shlex
import shutil
import socket
from pathlib import Path

import pytest

from resilver import cli
from resilver.spec import Study
from resilver.study.files import keep_input
from tests.integration.study_runs import study_text
from tests.terminal import output, refusal, texts

INPUTS = {
    "disk.toml": 'service = "2 ms"\n',
    "lab.json": json.dumps(
        {
            "nodes": [
                {"id": "s", "kind": "switch"},
                {"id": "gate", "kind": "router"},
                *({"id": name, "kind": "host"} for name in "abcd"),
            ],
            "links": [{"source": name, "target": "s"} for name in ("gate", *"abcd")],
        }
    ),
    "sizes.txt": "1 4096 10\n4096 65536 3\n",
    "others.txt": "1 8192 10\n8192 131072 3\n",
    "requests.csv": "time,kind,size\n0 s,read,4 KiB\n0.1 s,write,64 KiB\n",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a study and all that it reads, run into its folder `runs/lab`."""
    here = tmp_path_factory.mktemp("moved") / "made-here"
    here.mkdir()
    (here / "lab.toml").write_text(study_text("read"))
    for name, content in INPUTS.items():
        (here / name).write_text(content)
    (here / "archive").mkdir()
    for rank in range(4):
        (here / "archive" / f"{rank}.bin").write_bytes(bytes(3000 + 5000 * rank))
    assert cli.run(["run", str(here / "lab.toml"), "-o", str(here / "runs" / "lab")]) == 0
    return here


@pytest.fixture
def ran(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, for one test to change, which runs beside it."""
    shutil.copytree(made, tmp_path / "copy")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "copy"


def digests(folder: Path) -> list[str]:
    import pyarrow.parquet as pq

    return pq.read_table(folder / "runs.parquet")["digest"].to_pylist()  # type: ignore[no-any-return]


def test_a_moved_folder_runs_again_to_the_same_digests(
    ran: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = digests(ran / "runs" / "lab")
    # Only what is said and read moves, and nothing of where it was made is left.
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    for name in ("study.toml", "inputs"):
        shutil.move(ran / "runs" / "lab" / name, moved / name)
    shutil.rmtree(ran)
    monkeypatch.chdir(moved)
    assert cli.run(["run", "study.toml", "-o", "again"]) == 0
    assert digests(moved / "again") == before and len(set(before)) == 6
    # What is made of it moves as well: it reads the same, byte for byte.
    assert (moved / "again" / "study.toml").read_text() == (moved / "study.toml").read_text()
    kept = {path.name: path.read_bytes() for path in (moved / "inputs").iterdir()}
    assert kept == {path.name: path.read_bytes() for path in (moved / "again/inputs").iterdir()}


def test_a_folder_names_no_place_of_its_making_and_its_inputs_as_they_were(ran: Path) -> None:
    texts = [*(ran / "runs/lab").glob("*.toml"), *(ran / "runs/lab").glob("*.json")]
    assert {path.name for path in texts} == {"study.toml", "provenance.json"}
    for path in [*texts, ran / "runs/lab/.lock"]:
        text = path.read_text()
        assert "made-here" not in text, path.name
        assert f'"{socket.gethostname()}"' not in text and "process" not in path.read_text()[:9]
    command = json.loads((ran / "runs/lab/provenance.json").read_text())["command"]
    assert not any(word.startswith("/") for word in command)
    # A kept input is called as it was.
    again = Study.load(ran / "runs" / "lab" / "study.toml")
    first = Study.load(ran / "lab.toml")
    assert [run.key for run in again.runs()] == [run.key for run in first.runs()]
    assert [run.swept for run in again.runs()] == [run.swept for run in first.runs()]
    # What was measured of a folder goes by its name, in the study and in the tables.
    labels = {run.swept["population.histogram"] for run in again.runs()}
    assert labels == {"sizes.txt", "others.txt", "files below archive"}
    assert "scan" not in (ran / "runs" / "lab" / "study.toml").read_text()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("remove", ["does not hold this input", '"requests.csv"', "SHA-256 begins with"]),
        ("other", ["not the input that the study was run with", '"requests.csv"']),
        ("cut", ["not what gzip writes, or not all of it"]),
    ],
)
def test_an_input_that_is_not_there_or_is_another_is_told(
    ran: Path, change: str, says: list[str]
) -> None:
    (path,) = (ran / "runs/lab/inputs").glob("*-requests.csv.gz")
    if change == "remove":
        path.unlink()
    elif change == "other":
        path.write_bytes(gzip.compress(b"time,kind,size\n0 s,read,8 KiB\n"))
    else:
        path.write_bytes(path.read_bytes()[:-9])
    told = refusal("run", ran / "runs/lab/study.toml", "-o", "again")
    for word in says:
        assert word in told, told


def test_a_large_input_is_named_by_its_hash_and_not_copied(tmp_path: Path) -> None:
    # Random bytes do not shrink, so 4,096 of them take more than 4,000.
    (tmp_path / "map.bin").write_bytes(random.Random(1).randbytes(4096))
    name = keep_input(tmp_path / "map.bin", tmp_path / "run", most=4000)
    assert name.startswith("inputs/") and name.endswith("-map.bin")
    assert not (tmp_path / "run").exists()


@pytest.fixture(scope="module")
def made_lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two studies, the first of which has run."""
    here = tmp_path_factory.mktemp("corrupt")
    for name, servers in (("lab", 8), ("other", 9)):
        (here / f"{name}.toml").write_text(study_text("lab", cluster={"servers": servers}))
    assert cli.run(["run", str(here / "lab.toml"), "-o", str(here / "runs" / "lab"), "-q"]) == 0
    return here


@pytest.fixture
def lab(made_lab: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run folder of one test's own, seen from beside its study."""
    shutil.copytree(made_lab, tmp_path / "copy")
    monkeypatch.chdir(tmp_path / "copy")
    return Path("runs/lab")


def without(name: str) -> object:
    def change(text: str) -> str:
        return json.dumps({key: value for key, value in json.loads(text).items() if key != name})

    return change


@pytest.mark.parametrize(
    ("words", "change", "why"),
    [
        (["report"], lambda text: text[:100], "it is no JSON"),
        (["status"], lambda text: "[]", "it is no JSON object"),
        (["status"], without("run_keys"), "it has no 'run_keys'"),
        (["run", "lab.toml", "-o"], without("run_keys"), "it has no 'run_keys'"),
        (
            ["status"],
            lambda text: text.replace('"run_keys": [', '"run_keys": 7, "x": ['),
            "its 'run_keys'",
        ),
    ],
)
def test_what_is_corrupt_is_named_and_the_advice_mends_it(
    lab: Path, words: list[str], change, why: str
) -> None:
    path = lab / "provenance.json"
    before = json.loads(path.read_text())
    path.write_text(change(path.read_text()))
    if words[0] != "run":
        told = refusal(*words, lab)
        assert f"'runs/lab/provenance.json' is corrupt: {why}" in told
        advised = told.partition("`")[2].partition("`")[0]
        assert advised == "resilver run runs/lab/study.toml -o runs/lab"
        words = shlex.split(advised)[1:-1]
    written = {shard: shard.stat().st_mtime_ns for shard in lab.glob("shards/*/*")}
    assert len(written) > 10
    _, err = texts(*words, lab, "-v")
    assert "2 of 2 runs were in runs/lab already" in " ".join(err.split())
    # No run is done again, and what was measured of each is as it was.
    assert written == {shard: shard.stat().st_mtime_ns for shard in lab.glob("shards/*/*")}
    after = json.loads(path.read_text())
    assert after["runs"] == before["runs"] and after["tables"] == before["tables"]
    output("report", lab)


def test_another_study_does_not_take_a_corrupt_folder_over(lab: Path) -> None:
    (lab / "provenance.json").write_text("{")
    before = (lab / "runs.parquet").read_bytes()
    told = refusal("run", "other.toml", "-o", lab)
    assert "is corrupt" in told and "resilver run runs/lab/study.toml -o runs/lab" in told
    assert (lab / "runs.parquet").read_bytes() == before
