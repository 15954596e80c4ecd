"""Codes of several levels on a tree, through studies: what they lose, and where repairs go."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import resilver
from resilver.cli import run
from resilver.errors import ConfigError
from resilver.simulate import group_sets_of, simulate
from resilver.simulate.result import RunResult
from resilver.spec import Study

CODE = "rs 3+1 over rs 6+2"
STUDY: dict[str, Any] = {
    "cluster": {
        "servers": 72,
        "racks": 6,
        "device": {"service": "0.5 ms"},
        "fabric": {
            "model": "switched",
            "topology": "leaf spine 6x2 hosts 12 entries 1",
            "link_rate": "25 Gbit/s",
        },
    },
    "population": {"file_size": "8 MiB", "files": 1200},
    "placement": {"failure_domain": ["rack", "server"]},
    "redundancy": {"code": CODE},
}


def study(*failed: int, **keys: Any) -> Study:
    names = [f"server.{server}" for server in failed]
    return Study.from_dict({**deepcopy(STUDY), "faults": [{"fail": {"servers": names}}], **keys})


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


def test_data_are_lost_with_the_groups_that_the_upper_code_cannot_spare() -> None:
    # Two racks with three servers gone each: an object is lost where both its groups there lost 3.
    failed = (2, 5, 9, 14, 17, 21)
    tree = resilver.code_tree(CODE)
    sets, gone = lost_groups(*failed)
    of_racks = [
        [int(gone[row][sets[row] // 12 == rack].sum()) for rack in (0, 1)]
        for row in range(len(sets))
    ]
    dead = np.array([min(lost) > 2 for lost in of_racks])
    assert dead.any() and not dead.all()
    # The tree of the code says the same: its first two groups lost that many of their eight pieces.
    for lost, is_dead in zip(of_racks, dead, strict=True):
        pieces = [8 * group + piece for group, count in enumerate(lost) for piece in range(count)]
        assert tree.is_survivable(pieces) == (not is_dead)
    result = found(study(*failed))
    objects = result.metrics["population_objects"]
    lost = result.metrics["unrecoverable_objects"]
    assert isinstance(objects, int) and isinstance(lost, int)
    # Objects are hashed into groups: some 1200 over as many groups as there are.
    assert lost / objects == pytest.approx(dead.mean(), abs=0.04) and lost > 0


def test_the_command_says_where_the_groups_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "levels.toml"
    path.write_text(study(7).to_toml())
    assert run(["run", str(path), "-o", str(tmp_path / "out")]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "each piece on another server, each group in a rack of its own" in shown


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"redundancy": {"code": "rs 4+2"}}, "the code has 1 level"),
        ({"redundancy": {"code": "rs 2+1 over rs 1+1 over rs 1+1"}}, "the code has 3 levels"),
        ({"redundancy": {"code": "rs 6+1 over rs 6+2"}}, "this needs 7 racks, and there are 6"),
        (
            {"redundancy": {"code": "rs 2+1 over rs 12+2"}},
            "this needs 14 servers in each rack, and there are 12",
        ),
        ({"redundancy": {"code": "rs 17+3 over rs 8+2"}}, "200 pieces are more than 64"),
        ({"placement": {"failure_domain": ["server", "rack"]}}, "each lies in the one before it"),
        ({"placement": {"failure_domain": ["row", "server"]}}, "the cluster has no rows"),
        ({"placement": {"failure_domain": ["rack"]}}, "name two or one"),
        (
            {"placement": {"algorithm": "ring", "failure_domain": ["rack", "server"]}},
            "only CRUSH keeps groups",
        ),
        ({"redundancy": {"code": "rs 2+1 over"}}, "this is not a code"),
    ],
)
def test_what_does_not_fit_is_named(keys: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError) as raised:
        study(7, **keys)
    assert says in str(raised.value), raised.value
