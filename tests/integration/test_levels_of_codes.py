"""Codes of several levels on a tree through studies, and what `resilver place` says of codes."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from resilver.simulate import group_sets_of, lost_objects
from resilver.simulate.result import RunResult
from resilver.spec import Study
from resilver.study import simulate
from tests.build import study_of
from tests.terminal import output, written


def study(*failed: int, **keys: Any) -> Study:
    names = [f"server.{server}" for server in failed]
    return study_of("levels", faults=[{"fail": {"servers": names}}], **keys)


def found(of: Study) -> RunResult:
    return simulate(of.runs()[0].system, 1)


def uplink_bytes(result: RunResult) -> int:
    """What passed links between switches."""
    return sum(
        row["forward_bytes"] + row["backward_bytes"]
        for row in result.links.to_pylist()
        if not any(row[end].startswith(("host", "router")) for end in ("from_name", "to_name"))
    )


def lost_groups(*failed: int) -> tuple[np.ndarray, np.ndarray]:
    """Of each placement group, which of its pieces were on failed servers, group by group."""
    system = study(*failed).runs()[0].system
    sets = np.asarray(group_sets_of(system, seed=1))
    return sets, np.isin(sets, failed)


def test_each_group_has_a_rack_and_each_of_its_pieces_a_server() -> None:
    sets, _ = lost_groups(0)
    for row in sets.tolist():
        assert len(set(row)) == 32
        # The data come first: six of each of the first three groups, then all else, group by group.
        racks = [server // 12 for server in row]
        groups = [[*racks[6 * group : 6 * group + 6]] for group in range(3)]
        groups = [own + racks[18 + 2 * group : 20 + 2 * group] for group, own in enumerate(groups)]
        groups.append(racks[24:])
        assert all(len(set(own)) == 1 and len(own) == 8 for own in groups)
        assert len({own[0] for own in groups}) == 4


def test_a_repair_within_a_group_touches_no_network_above() -> None:
    # One server, then two of one rack: every group survives two losses by itself.
    for failed in ((7,), (7, 9)):
        result = found(study(*failed))
        assert result.metrics["rebuilt_pieces"] > 50
        assert uplink_bytes(result) == 0
        # Six pieces of its group make one: a 24th of 18 data pieces of an object of 8 MiB each.
        piece = -(-8 * 2**20 // 18)
        rebuilt, moved = result.metrics["rebuilt_pieces"], result.metrics["remapped_pieces"]
        assert isinstance(rebuilt, int) and isinstance(moved, int)
        assert result.metrics["gathered_bytes"] == (6 * rebuilt + moved) * piece
    # The same code without groups in racks asks servers everywhere.
    spread = {"placement": {"failure_domain": "server"}}
    assert uplink_bytes(found(study(7, **spread))) > 0


def test_a_dead_group_is_made_anew_through_the_level_above() -> None:
    # Three servers of one rack kill the groups that had a piece on each of them; the other racks'
    # groups make their pieces, over the network between.
    failed = (2, 5, 9)
    _, gone = lost_groups(*failed)
    assert (gone.sum(axis=1) >= 3).any()
    result = found(study(*failed))
    assert uplink_bytes(result) > 0
    assert result.metrics["unrecoverable_objects"] == 0
    assert result.metrics["undersized_replicas"] == 0


def test_the_command_says_where_the_groups_are(tmp_path: Path) -> None:
    path = written(tmp_path / "levels.toml", study(7).to_toml())
    shown = " ".join(output("run", path, "-o", tmp_path / "out").split())
    assert "each piece on another server, each group in a rack of its own" in shown


PLACED = """\
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
    return output("place", folder / "study.toml", *words)


def write(folder: Path, code: str, placement: str) -> None:
    (folder / "study.toml").write_text(PLACED.format(code=code, placement=placement))


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
    words = " ".join(place(tmp_path, "--affected", *fails).split())
    said = words.partition(" to rebuild; ")[2]
    assert said.startswith(f"{counted.unrecoverable_objects:,} objects (")
    assert ") cannot be decoded." in said


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


@pytest.mark.usefixtures("without_loss")
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
