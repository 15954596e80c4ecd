"""A CRUSH map in which something is missing is read by the core first, and refused in its words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.front_door import command
from tests.reference.ceph_cluster import Shape, write_cluster

SHAPE = Shape(osds=40, osds_per_host=4, racks=5, groups=400)


def without(document: Any, *path: str | int, value: Any = None) -> None:
    """Take a member out of a document, or put another value there."""
    *rest, last = path
    for part in rest:
        document = document[part]
    if value is None:
        del document[last]
    else:
        document[last] = value


@pytest.fixture
def dumps(tmp_path: Path) -> Path:
    folder = write_cluster(tmp_path / "dumps", SHAPE)
    # It has the map once more.
    (folder / "ceph_report.json").unlink()
    return folder


def changed(dumps: Path, *path: str | int, value: Any = None) -> Path:
    """A cluster's dumps, of which the CRUSH map has one member changed."""
    file = next(dumps.glob("*crush*"))
    document = json.loads(file.read_text())
    without(document, *path, value=value)
    file.write_text(json.dumps(document))
    return dumps


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("types", 1, "type_id"), None, "types[1]: missing field `type_id`"),
        (("types", 1, "type_id"), [[8]], "types[1].type_id: invalid type: sequence"),
        (("types", 2, "name"), None, "types[2]: missing field `name`"),
        (("rules", 0, "rule_id"), None, "rules[0]: missing field `rule_id`"),
        (("buckets", 0, "items", 0, "weight"), {"a": 1}, "items[0].weight: invalid type: map"),
        (("buckets", 0, "items", 0, "id"), None, "items[0]: missing field `id`"),
        (("devices", 0, "name"), None, "devices[0]: missing field `name`"),
        (("buckets", 0, "type_id"), None, "buckets[0]: missing field `type_id`"),
    ],
)
def test_a_map_without_what_ceph_always_writes_is_refused_with_its_place(
    dumps: Path, path: tuple[str | int, ...], value: Any, words: str
) -> None:
    changed(dumps, *path, value=value)
    for words_of in (
        ("what-if", dumps, "--fail", "osd.3"),
        ("place", dumps, "--quality", "--pool", "vms"),
    ):
        told = command(*words_of)
        assert (told.returncode, told.stdout) == (2, ""), told.stderr
        assert words in told.stderr
        # The core counts lines in JSON of its own, which nobody has.
        assert " at line " not in told.stderr


def test_a_rule_without_a_name_has_that_of_its_number(dumps: Path) -> None:
    changed(dumps, "rules", 0, "rule_name")
    whole = command("what-if", dumps, "--fail", "osd.3", "--json")
    assert whole.returncode in (0, 1), whole.stderr
    tree = command("place", dumps, "--rule", "rule0", "--num-rep", 2, "--max-x", 3, "--json")
    assert tree.returncode == 0, tree.stderr
    named = command("place", dumps, "--rule", "0", "--num-rep", 2, "--max-x", 3, "--json")
    assert tree.stdout == named.stdout


def test_a_binary_map_names_no_rule_and_is_read(shared_data: Path, tmp_path: Path) -> None:
    # In a binary map the names of rules are a table of their own, by number: in this one the entry
    # of rule 0, its number, its length and its letters, is made that of a rule that is not there.
    data = (shared_data / "ceph" / "maps" / "flax.bin").read_bytes()
    entry = b"\0\0\0\0" + len("replicated_ruleset").to_bytes(4, "little") + b"replicated_ruleset"
    assert data.count(entry) == 1
    path = tmp_path / "map.bin"
    path.write_bytes(data.replace(entry, b"\x40" + entry[1:]))
    options = ("--rule", "rule0", "--num-rep", 3, "--min-x", 0, "--max-x", 31, "--show-mappings")
    told = command("place", path, *options)
    assert told.returncode == 0, told.stderr
    # The steps are the same: so are the mappings.
    same = command(
        "place", shared_data / "ceph" / "maps" / "flax.bin", *options[:1], "0", *options[2:]
    )
    assert told.stdout == same.stdout and told.stdout.count("CRUSH rule 0 x ") == 32
