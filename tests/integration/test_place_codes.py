"""`resilver place` of studies under a code: what failures take, and where pieces are."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from resilver import Study, cli
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


def place(folder: Path, *words: object) -> str:
    """What the command prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert cli.run(["place", str(folder / "study.toml"), *map(str, words)]) == 0
    return out.getvalue()


def write(folder: Path, code: str, placement: str) -> None:
    (folder / "study.toml").write_text(STUDY.format(code=code, placement=placement))


@pytest.mark.parametrize(
    ("code", "placement", "failures"),
    [
        ("rs 8+3", 'algorithm = "groups"\ngroup_size = 16', 6),
        # Of 48 servers 14 are 3.8 of 13 pieces on average; five and more are often too many.
        ("lrc 8+5 local 4", 'algorithm = "crush"\nplacement_groups = 256', 14),
    ],
)
def test_what_fails_is_summed_as_the_library_counts_it(
    tmp_path: Path, code: str, placement: str, failures: int
) -> None:
    # Rule: the command's sums are those of `lost_objects`, and its table has the affected objects.
    write(tmp_path, code, placement)
    fails = [word for number in range(failures) for word in ("--fail", f"server.{number}")]
    table = tmp_path / "lost.parquet"
    sums: dict[str, Any] = json.loads(place(tmp_path, "--affected", *fails, "-o", table, "--json"))
    system = Study.load(tmp_path / "study.toml").runs()[0].system
    counted = lost_objects(system, list(range(failures)))
    assert 0 < counted.unrecoverable_objects < counted.affected_objects
    assert sums["objects"] == counted.affected_objects
    assert sums["pieces_lost"] == counted.lost_pieces
    assert sums["objects_unrecoverable"] == counted.unrecoverable_objects
    assert sums["bytes_unrecoverable"] == counted.unrecoverable_bytes
    assert pq.read_table(table).num_rows == counted.affected_objects
    words = place(tmp_path, "--affected", *fails)
    assert f"{counted.unrecoverable_objects:,} objects (" in words
    assert words.splitlines()[0].endswith("cannot be decoded any more")


def test_pieces_to_rebuild_are_parts_of_objects(tmp_path: Path) -> None:
    # Rule: one failed server loses a piece an object, an eighth of it rounded up: 5,000,000 B are
    # 625,000 B a piece.
    write(tmp_path, "rs 8+3", 'algorithm = "groups"\ngroup_size = 16')
    sums = json.loads(place(tmp_path, "--affected", "--fail", "server.7", "--json"))
    assert sums["bytes_to_rebuild"] == sums["objects"] * 625_000 > 0
    assert sums["objects_unrecoverable"] == 0
    # Every lost piece has a new home, which gets it.
    homes = sums["homes"]["servers"]
    assert sum(home["bytes"] for home in homes) == sums["bytes_to_rebuild"]
    assert sum(home["pieces"] for home in homes) == sums["pieces_lost"]


def test_groups_of_a_study_are_judged(tmp_path: Path) -> None:
    # Rule: --quality knows the layout and the code: a server shares groups with the 15 others of
    # its own at most, and four lost pieces of a set are fatal without being told.
    write(tmp_path, "rs 8+3", 'algorithm = "groups"\ngroup_size = 16\nplacement_groups = 300')
    (judged,) = json.loads(place(tmp_path, "--quality", "--json"))
    assert judged["scatter_width_max"] == 15 and judged["fatal"] == 4
    # 300 groups with 330 sets of four each cover all 3 x C(16, 4) of C(48, 4) = 5,460/194,580.
    assert judged["loss_share"] == pytest.approx(5460 / 194_580)
    # Which losses beyond its tolerance a locally repairable code survives no number tells.
    write(tmp_path, "lrc 8+5 local 4", 'algorithm = "groups"\ngroup_size = 16')
    (judged,) = json.loads(place(tmp_path, "--quality", "--json"))
    assert judged["loss_share"] is None
