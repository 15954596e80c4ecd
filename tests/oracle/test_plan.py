"""What `resilver plan` holds stays where it was, and ends where the change has it.

The sets and what monitors remove are osdmaptool's.
"""

import json
import random
import subprocess
from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.oracle import crush_text
from tests.oracle.osdmap_file import (
    EXISTS,
    NEEDS_TOOLS,
    UP,
    Gid,
    OsdMapSpec,
    PoolSpec,
    answers,
    tool,
    write,
)
from tests.oracle.test_reclassify import legacy
from tests.scale import numbers
from tests.terminal import Terminal

pytestmark = NEEDS_TOOLS

ONE, GROUPS, OBJECT = 0x10000, 64, 2**22
POOLS = {1: PoolSpec(3, GROUPS, GROUPS), 2: PoolSpec(5, GROUPS, GROUPS, 2, erasure=True)}
Sets = dict[Gid, list[int]]


def drawn(draw: random.Random) -> tuple[OsdMapSpec, str, str, str]:
    """A cluster, and its map before and after two changes of weights.

    No weight becomes nothing, so that every set keeps the rules; a host that weighs nothing at
    first is new.
    """
    hosts = [draw.randint(1, 4) for _ in range(draw.randint(8, 11))]

    def other(own: int) -> int:
        return ONE * draw.randint(1, 4) if draw.random() < 0.3 else own

    first = [sum(hosts[:number]) for number in range(len(hosts))]
    before = [
        {osd: ONE * draw.randint(1, 4) for osd in range(start, start + count)}
        for start, count in zip(first, hosts, strict=True)
    ]
    after, later = (
        [{osd: other(own) for osd, own in host.items()} for host in before] for _ in range(2)
    )
    if draw.random() < 0.5:
        before[-1] = dict.fromkeys(before[-1], 0)
    spec = OsdMapSpec(POOLS, [EXISTS | UP] * sum(hosts), [ONE] * sum(hosts))
    first_map, second, third = (crush_text.of_hosts(one, {}) for one in (before, after, later))
    return spec, first_map, second, third


def dumps(folder: Path, spec: OsdMapSpec, text: str) -> Path:
    """The binary map of a cluster, and the dumps that tell of it."""
    write(folder, spec, text)
    made = folder / "dumps"
    made.mkdir()
    printed = tool("osdmaptool", "osdmap.bin", "--dump", "json", folder=folder)
    dump = json.loads(printed[printed.index("{") :])
    dump["erasure_code_profiles"] = {"code": {"plugin": "jerasure", "k": "3", "m": "2"}}
    for pool in dump["pools"]:
        pool["pg_num_target"] = pool["pg_num"]
        pool["erasure_code_profile"] = "code" if pool["type"] == 3 else ""
    dump |= {"nearfull_ratio": 0.85, "backfillfull_ratio": 0.9, "full_ratio": 0.95}
    (made / "osd_dump.json").write_text(json.dumps(dump))
    crush = tool("crushtool", "-i", "crush.bin", "--dump", folder=folder)
    (made / "crush.json").write_text(crush)
    rows: list[dict[str, Any]] = [
        {
            "pgid": f"{pool}.{number:x}",
            "state": "active+clean",
            "stat_sum": {"num_bytes": 30 * OBJECT, "num_objects": 30},
            "up": answer.up,
            "acting": answer.acting,
            "up_primary": answer.up_primary,
            "acting_primary": answer.acting_primary,
        }
        for (pool, number), answer in answers(folder).items()
    ]
    (made / "pg_dump.json").write_text(json.dumps({"pg_map": {"pg_stats": rows}}))
    return made


def sets(folder: Path, spec: OsdMapSpec) -> Sets:
    """The set of each PG: of copies in any order, of shards in theirs."""
    return {
        gid: answer.up if spec.pools[gid[0]].erasure else sorted(answer.up)
        for gid, answer in answers(folder).items()
    }


def run(spec: OsdMapSpec, lines: Iterable[str]) -> OsdMapSpec:
    """The map after commands."""
    items, whole = dict(spec.upmap_items), dict(spec.upmap)
    for line in lines:
        verb, pgid, *osds = line.removeprefix("ceph osd ").split()
        pool, _, number = pgid.partition(".")
        gid, listed = (int(pool), int(number, 16)), [int(osd) for osd in osds]
        if verb == "pg-upmap-items":
            items[gid] = list(zip(listed[::2], listed[1::2], strict=True))
        elif verb == "pg-upmap":
            whole[gid] = listed
        else:
            # One that is not there is taken away in vain.
            (items if verb == "rm-pg-upmap-items" else whole).pop(gid, None)
    return replace(spec, upmap=whole, upmap_items=items)


def cleaned(folder: Path, spec: OsdMapSpec) -> OsdMapSpec:
    """The written map as the monitors leave it."""
    (folder / "cleaned").write_text("")
    tool("osdmaptool", "osdmap.bin", "--upmap-cleanup", "cleaned", folder=folder)
    return run(spec, (folder / "cleaned").read_text().splitlines())


@pytest.mark.parametrize("seed", numbers(10))
def test_nothing_moves_until_a_step_releases_it(
    tmp_path: Path, terminal: Terminal, seed: int
) -> None:
    """A change is held, then another beside the entries of the first, which is released."""
    spec, *maps = drawn(random.Random(seed))
    folder = tmp_path / "now"
    folder.mkdir()
    steps: list[dict[str, Any]] = []
    goal: Sets = {}
    answer: dict[str, Any] = {}
    first = spec
    write(folder, spec, maps[0])
    where = sets(folder, spec)
    for number, (before, after) in enumerate(pairwise(maps)):
        (tmp_path / f"{number}").mkdir()
        bundle = dumps(tmp_path / f"{number}", spec, before)
        (tmp_path / "after.txt").write_text(after)
        words = ("--map", tmp_path / "after.txt", "--release", "18.2.4", "--step", "1 GiB")
        answer = terminal.json_output("plan", bundle, *words)
        assert answer["loose"] == []
        steps = answer["steps"]

        first = spec
        write(folder, spec, after)
        spec = cleaned(folder, spec)
        write(folder, spec, after)
        goal = sets(folder, spec)
        spec = run(spec, [line for step in steps for line in step["hold"]])
        write(folder, spec, after)
        assert cleaned(folder, spec) == spec
        assert sets(folder, spec) == where

    # Back, whichever steps were made: the map before, and the entries that there were.
    for count in (0, len(steps) // 2, len(steps)):
        lines = [line for step in steps[:count] for line in step["release"]]
        assert run(run(spec, lines), answer["back"]) == first

    moved = {gid for gid in goal if goal[gid] != where[gid]}
    left = set(moved)
    for step in steps:
        spec = run(spec, step["release"])
        write(folder, spec, maps[-1])
        now = sets(folder, spec)
        left -= {gid for gid in moved if now[gid] == goal[gid]}
        assert all(now[gid] == (where if gid in left else goal)[gid] for gid in goal)
        assert 0 < step["bytes"] <= 2**30
    assert not left


def edited(folder: Path, *words: str) -> str:
    """The text of the written map after an edit of crushtool's."""
    tool("crushtool", "-i", "crush.bin", *words, "-o", "after.bin", folder=folder)
    return tool("crushtool", "-d", "after.bin", folder=folder)


def assert_held(
    folder: Path, spec: OsdMapSpec, after: str, answer: dict[str, Any], where: Sets
) -> None:
    """By the map after, all PGs but those that are named stay, until the steps release them."""
    write(folder, spec, after)
    goal = sets(folder, spec)
    held = run(spec, [line for step in answer["steps"] for line in step["hold"]])
    write(folder, held, after)
    assert cleaned(folder, held) == held
    now = sets(folder, spec)
    moved = {
        f"{pool}.{number:x}" for pool, number in now if now[pool, number] != where[pool, number]
    }
    assert moved == {one["pgid"] for one in answer["loose"]}
    released = run(held, [line for step in answer["steps"] for line in step["release"]])
    write(folder, released, after)
    assert sets(folder, spec) == goal


@pytest.mark.parametrize("seed", numbers(5))
def test_those_that_cannot_be_held_are_named(tmp_path: Path, terminal: Terminal, seed: int) -> None:
    """Of an OSD that weighs nothing the monitors keep no entry, and no other PG moves."""
    draw = random.Random(seed)
    spec, before, *_ = drawn(draw)
    bundle = dumps(tmp_path, spec, before)
    where, drained = sets(tmp_path, spec), draw.randrange(3)
    words = ("--drain", f"osd.{drained}", "--release", "18.2.4")
    answer = terminal.json_output("plan", bundle, *words, code=1)
    after = edited(tmp_path, "--reweight-item", f"osd.{drained}", "0")
    assert answer["loose"]
    assert_held(tmp_path, spec, after, answer, where)


@pytest.mark.parametrize("seed", numbers(8))
def test_a_reclassified_map_moves_what_crushtool_says_it_moves(
    tmp_path: Path, terminal: Terminal, seed: int
) -> None:
    """Nothing where all its mappings are the same."""
    text, words = legacy(random.Random(seed))
    if "--set-subtree-class" not in words:  # Else rules find no OSD of the class.
        words += ["--set-subtree-class", "default", "hdd"]
    count = text.count("\ndevice ")
    pools = {pool: PoolSpec(3, GROUPS, GROUPS, pool - 1) for pool in (1, 2)}
    spec = OsdMapSpec(pools, [EXISTS | UP] * count, [ONE] * count)
    bundle = dumps(tmp_path, spec, text)
    where = sets(tmp_path, spec)
    ways = ("--reclassify", " ".join(words), "--release", "18.2.4")
    answer = terminal.json_output("plan", bundle, *ways, code=None)
    after = edited(tmp_path, *words)
    compared = ["crushtool", "-i", "crush.bin", "--compare", "after.bin"]
    if subprocess.run(compared, cwd=tmp_path, capture_output=True).returncode == 0:
        assert answer["steps"] == answer["loose"] == []
    assert_held(tmp_path, spec, after, answer, where)


@pytest.mark.parametrize("seed", numbers(4))
def test_a_move_is_held_and_then_made(tmp_path: Path, terminal: Terminal, seed: int) -> None:
    """An OSD goes to a host that is not there yet, and another host gets another name."""
    spec, before, *_ = drawn(random.Random(seed))
    bundle = dumps(tmp_path, spec, before)
    where = sets(tmp_path, spec)
    ways = ("--crush-move", "osd.0 host=new root=default", "--crush-rename", "host2 other")
    answer = terminal.json_output("plan", bundle, *ways, "--release", "18.2.4", code=None)
    commands = [line for step in answer["at_once"]["steps"] for line in step["commands"]]
    assert commands == [
        "ceph osd crush rename-bucket host2 other",
        "ceph osd crush move osd.0 host=new root=default",
    ]
    assert answer["steps"]
    place = ("--loc", "host", "new", "--loc", "root", "default")
    after = edited(tmp_path, "--move", "osd.0", *place).replace("host2", "other")
    assert_held(tmp_path, spec, after, answer, where)


@pytest.mark.parametrize("seed", numbers(4))
def test_a_backfill_under_way_is_cancelled_and_taken_up_again(
    tmp_path: Path, terminal: Terminal, seed: int
) -> None:
    """The map has changed, and PGs are served from where they were: there they are held.

    So they are while the map changes once more.
    """
    spec, before, after, later = drawn(random.Random(seed))
    write(tmp_path, spec, before)
    acting = {gid: answer.up for gid, answer in answers(tmp_path).items()}
    where = sets(tmp_path, spec)
    write(tmp_path, spec, after)
    goal = sets(tmp_path, spec)
    remapped = {gid: acting[gid] for gid in where if where[gid] != goal[gid]}
    bundle = dumps(tmp_path, replace(spec, pg_temp=remapped), after)
    answer = terminal.json_output("plan", bundle, "--release", "18.2.4")
    assert answer["steps"] and answer["at_once"]["steps"] == []
    held = run(spec, [line for step in answer["steps"] for line in step["hold"]])
    assert run(held, answer["back"]) == spec
    assert_held(tmp_path, spec, after, answer, where)
    (tmp_path / "later.txt").write_text(later)
    words = ("--map", tmp_path / "later.txt", "--release", "18.2.4")
    assert_held(tmp_path, spec, later, terminal.json_output("plan", bundle, *words), where)
