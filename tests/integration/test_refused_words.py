"""Words that commands refuse: in a line that says why, with nothing printed and nothing written.

The rows are those of `tests/cases/words.toml`.
"""

import json
import shlex
import tomllib
from pathlib import Path

import pytest

from resilver import cli
from resilver.reproduce.planted import planted
from resilver.spec.toml import write_toml
from tests.build import CASES, assert_said
from tests.integration.study_runs import LOST, study_text
from tests.integration.test_crush_front_door import EVERY_STEP
from tests.integration.test_pools import two
from tests.integration.test_signature_command import SIGNATURE, write
from tests.integration.test_size_command import ISLANDS
from tests.integration.test_what_if_outages import LAB, write_lab
from tests.reference.ceph_cluster import write_cluster
from tests.small_machine import SMALL_MACHINE, STORED
from tests.terminal import refusal
from tests.unit.benchmark_texts import IOR_3
from tests.unit.log_texts import TEXTS as LOGS
from tests.unit.what_if_clusters import SMALL

WORDS = tomllib.loads((CASES / "words.toml").read_text(encoding="utf-8"))
ROWS = [(group, *row) for group, rows in WORDS.items() for row in rows]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the words name."""
    folder = tmp_path_factory.mktemp("words")
    times = (*range(0, 600, 10), 1_000_000_000)
    texts = {
        "bare.toml": "[cluster]\nservers = 4\n",
        "capacity.toml": '[capacity]\nusable = "10 PB"\ninflow = "1 PB/d"\n',
        "ceph.toml": '[cluster]\nceph = "report.json"\n',
        "clients.toml": study_text("clients", study__sweep=None),
        "each.toml": study_text("parts", study={"each": "osd"}),
        "far.csv": "time,write_bytes\n" + "".join(f"{at},1\n" for at in times),
        "ior.txt": IOR_3,
        "fives": "5\n",
        "islands.toml": ISLANDS,
        "job.toml": SIGNATURE,
        "jobs.csv": "start,end\n90000,95000\n",
        "layers.toml": study_text("layers"),
        "lfs_df.txt": LOGS["fill"],
        "list.txt": "a list of things to do\n",
        "long.toml": SIGNATURE.replace("600 s", "6 s"),
        "machine.toml": SMALL_MACHINE,
        "map.txt": EVERY_STEP,
        "other.toml": "knees = [0.5]\n",
        "parts.toml": study_text("parts"),
        "pools.toml": write_toml(two({"osds": ["osd.0"]})),
        "rising.toml": "rate_at_fill = [[0.7, 1.0], [0.5, 0.9]]\n",
        "runs.csv": "time,rate\n1,5\n",
        "servers.toml": "[cluster]\nservers = 4\nfabric.routers = 1\n"
        "[traffic]\noutstanding = 8\nduration = '1 s'\n",
        "sets.toml": study_text("sets"),
        "stored.toml": STORED,
        "study.toml": LOST,
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "tree").mkdir()
    (folder / "tree" / "file").write_text("x", encoding="utf-8")
    usage = ["scan", str(folder / "tree"), "-o", str(folder / "usage.parquet"), "-q"]
    assert cli.run(usage) == 0
    write(folder / "log.csv", planted((4,), noise=1.0).runs[0])
    write_cluster(folder / "small", SMALL)
    write_lab(folder, LAB).rename(folder / "lab.json")
    return folder


@pytest.fixture(scope="session")
def short(report: Path) -> str:
    """The report, which states the bytes of its first PGs alone: what is read is most of a row."""
    document = json.loads(report.read_text(encoding="utf-8"))
    del document["pgmap"]["pg_stats"][64:]
    return json.dumps(document)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]} {row[1]}")
def test_words_are_refused(
    row: tuple[str, ...],
    folder: Path,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    group, rest, says, *code = row
    words = shlex.split(group)
    monkeypatch.chdir(folder)
    if words[-1] == "--set":
        words.append(rest)
    elif text := next((word for word in words if word.startswith("text.")), ""):
        Path(text).write_text(rest, encoding="utf-8")
    else:
        words += shlex.split(rest)
    if {"report.json", "ceph.toml"} & {*words}:
        Path("report.json").write_text(request.getfixturevalue("short"), encoding="utf-8")
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    assert_said(says, refusal(*words, code=int(code[0]) if code else 2))
    assert before == {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
