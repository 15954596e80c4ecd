"""What `resilver crush` and `place` say of maps by which nothing, or nearly everything, moves."""

from pathlib import Path
from typing import Any

import pytest

from tests.terminal import command, json_output, texts


def built(folder: Path, devices: int, *layers: object) -> str:
    """Build a map; answer what was said."""
    words = ("--num-osds", devices, *layers, "-o", f"{devices}.bin")
    return " ".join(texts("crush", "--build", *words, cwd=folder)[1].split())


def compared(folder: Path) -> dict[str, Any]:
    (row,) = json_output("place", "--compare", "8.bin", "9.bin", cwd=folder)
    assert isinstance(row, dict)
    return row


def test_a_rule_that_maps_nothing_is_told_wherever_it_is_used(tmp_path: Path) -> None:
    """crushtool builds the same map: its rule chooses roots below the root."""
    reason = "rule 0 (replicated_rule) maps nothing: it chooses buckets of type root below"
    for devices in (8, 9):
        assert reason in built(tmp_path, devices, "root", "straw", 0)
    found = compared(tmp_path)
    assert found["total"] == 0
    assert [note.partition(", rule")[0] for note in found["notes"]] == ["before", "after"]
    told = command("crush", "8.bin", "--rule", 0, "--num-rep", 3, cwd=tmp_path)
    said = " ".join(told.stdout.split())
    assert "1,024 of 1,024 inputs came up short" in said and reason in said
    text = command("place", "--compare", "8.bin", "9.bin", cwd=tmp_path).stdout
    assert f"Note: before, {reason}" in " ".join(text.split())
    # Its remedy is one.
    for devices in (8, 9):
        assert "nothing" not in built(tmp_path, devices, "host", "straw2", 1, "root", "straw2", 0)
    found = compared(tmp_path)
    assert found["total"] == 3 * found["sets"] and found["notes"] == []


@pytest.mark.parametrize("kind", ["vring", "list", "tree", "uniform", "straw2"])
def test_a_root_of_another_id_is_told(kind: str, tmp_path: Path) -> None:
    """With a host for each device the root's id is -9 of eight and -10 of nine."""
    for devices in (8, 9):
        built(tmp_path, devices, "host", "straw2", 1, "root", kind, 0)
    found = compared(tmp_path)
    if kind == "straw2":
        # Its draws take the items' ids alone: a ninth moves.
        assert found["moved_share"] < 0.2 and found["notes"] == []
        return
    # Of draws that have nothing in common, six of nine find no copy of their input there.
    assert found["moved_share"] > 0.45
    (note,) = found["notes"]
    assert f"root ({kind}: -9, then -10)" in note


def test_hosts_of_other_ids_are_told_below_straw2(tmp_path: Path) -> None:
    """Two devices a host are four hosts of eight and five of nine; racks come after them."""
    for devices in (8, 9):
        built(tmp_path, devices, "host", "straw2", 2, "rack", "straw2", 2, "root", "straw2", 0)
    (note,) = compared(tmp_path)["notes"]
    assert "rack0 (straw2: -5, then -6)" in note and "root" not in note
