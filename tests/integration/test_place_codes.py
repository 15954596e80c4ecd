"""`resilver place` of studies under a code: what failures take, and where pieces are."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from resilver import Study
from resilver.simulate import lost_objects

STUDY = """\
[cluster]
servers = 48
[population]
file_size = "5 MB"
files = 3000
[placement]
{placement}
[redundancy]
code = "{code}"
"""


def place(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "resilver.cli", "place", "study.toml", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def write(folder: Path, code: str, placement: str) -> None:
    (folder / "study.toml").write_text(STUDY.format(code=code, placement=placement))


@pytest.mark.parametrize(
    ("code", "placement"),
    [
        ("rs 8+3", 'algorithm = "groups"\ngroup_size = 16'),
        ("lrc 8+5 local 4", 'algorithm = "crush"\nplacement_groups = 256'),
    ],
)
def test_what_fails_is_summed_as_the_library_counts_it(
    tmp_path: Path, code: str, placement: str
) -> None:
    # Rule: the command's sums are those of `lost_objects`, and its table has the affected objects.
    write(tmp_path, code, placement)
    fails = [word for number in range(6) for word in ("--fail", f"server.{number}")]
    done = place(tmp_path, "--affected", *fails, "-o", "lost.parquet", "--json")
    assert done.returncode == 0, done.stderr
    sums: dict[str, Any] = json.loads(done.stdout)
    system = Study.load(tmp_path / "study.toml").runs()[0].system
    counted = lost_objects(system, list(range(6)))
    assert 0 < counted.unrecoverable_objects < counted.affected_objects
    assert sums["objects"] == counted.affected_objects
    assert sums["pieces_lost"] == counted.lost_pieces
    assert sums["objects_unrecoverable"] == counted.unrecoverable_objects
    assert sums["bytes_unrecoverable"] == counted.unrecoverable_bytes
    assert pq.read_table(tmp_path / "lost.parquet").num_rows == counted.affected_objects
    words = place(tmp_path, "--affected", *fails).stdout
    assert f"{counted.unrecoverable_objects:,} objects (" in words
    assert words.endswith("cannot be decoded any more\n")


def test_pieces_to_rebuild_are_parts_of_objects(tmp_path: Path) -> None:
    # Rule: one failed server loses a piece an object, an eighth of it rounded up: 5,000,000 B are
    # 625,000 B a piece.
    write(tmp_path, "rs 8+3", 'algorithm = "groups"\ngroup_size = 16')
    sums = json.loads(place(tmp_path, "--affected", "--fail", "server.7", "--json").stdout)
    assert sums["bytes_to_rebuild"] == sums["objects"] * 625_000 > 0
    assert sums["objects_unrecoverable"] == 0


def test_groups_of_a_study_are_judged(tmp_path: Path) -> None:
    # Rule: --quality and --mappings know the layout: 300 groups of 11 of 48 servers.
    write(tmp_path, "rs 8+3", 'algorithm = "groups"\ngroup_size = 16\nplacement_groups = 300')
    done = place(tmp_path, "--quality", "--fatal", "4", "--json")
    assert done.returncode == 0, done.stderr
    judged = json.loads(done.stdout)
    text = json.dumps(judged)
    # A server shares groups with the 15 others of its own at most.
    assert '"scatter_width_max": 15' in text
