"""A file that a command does not read: its kind is named, and the command that reads it."""

import json
from pathlib import Path

import pytest

from resilver.cli.wrong_file import _READERS
from tests.terminal import every_command, refusal, written

STUDY = '[cluster]\nservers = 8\n[population]\nfile_size = "1 MiB"\nfiles = 9\n'

FILES = {
    "study.toml": ("study", "a study"),
    "sizing.toml": ("sizing", "a sizing file"),
    "machine.toml": ("machine", "a machine file"),
    "lot.toml": ("lot", "a lot of disks"),
    "plan.toml": ("plan", "a plan of changes"),
    "signature.toml": ("signature", "the signature of a job"),
    "run": ("run", "a run folder"),
    "dumps": ("cluster", "a folder of a cluster's dumps"),
    "dumps/ceph_report.json": ("cluster", "a `ceph report`"),
    "dumps/ceph_osd_df.json": ("dump", "a `ceph osd df`"),
    "map.txt": ("map", "a CRUSH map"),
    "map.bin": ("map", "a CRUSH map"),
    "dumps/ceph_crush.json": ("map", "a CRUSH map"),
    "usage.parquet": ("scan", "the table of a scan"),
    "rows.parquet": ("parquet", "a Parquet table"),
    "counters.txt": ("log", "a log of servers or jobs"),
    "ior.json": ("benchmark", "output of a benchmark program"),
    "page.html": ("page", "a page for a browser"),
    "names.csv": ("csv", "a table in CSV"),
}
"""Files, each with its kind and how messages name it."""

MORE = {
    "what-if": "--fail osd.3",
    "explore": "-o made.html",
    "run": "-o made",
    "place": "--quality",
    "crush": "--tree",
    "advise": "--files 2",
    "import ceph": "-o made.tar",
    "import benchmark": "-o made.csv",
    "calibrate disk": "-o made.toml",
    "calibrate fill": "--fill fill --rate rate",
}
"""What else some commands are told."""

READS = {words: one._promise.reads for words, one in every_command().items() if one._promise.reads}


@pytest.mark.parametrize("command", READS)
def test_a_file_of_another_kind_is_named_with_its_reader(
    command: str, kinds: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(kinds)
    more = MORE.get(command, "").split()
    for name, (kind, words) in FILES.items():
        if kind in READS[command]:
            continue
        said = refusal(*command.split(), name, *more)
        assert f"error: {name} is {words}" in said, said
        reader = _READERS.get(kind, "which no command reads").partition("{}")[0].strip()
        assert reader in said, said
    assert not list(kinds.glob("made*"))


def test_every_reader_reads_the_kind_that_it_is_named_for(tmp_path: Path) -> None:
    for kind, line in _READERS.items():
        words = line.split()[1:]
        known = [name for name in READS if words[: len(name.split())] == name.split()]
        assert known, line
        # A plan stands beside a cluster's dumps.
        assert kind in READS[known[0]] or kind == "plan"
    # A file of the right kind keeps its own error.
    path = written(tmp_path / "study.toml", STUDY.replace("servers = 8", "servers = 0"))
    said = refusal("check", path)
    assert "cluster.servers" in said and "is a study" not in said
    (tmp_path / "odd.json").write_text(json.dumps({"monmap": []}))
    assert " is a " not in refusal("run", tmp_path / "odd.json")
