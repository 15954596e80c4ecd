"""What `resilver plan` holds stays where it was, and ends where the change has it.

The sets and what monitors remove are osdmaptool's.
"""

import json
import random
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
from tests.scale import numbers
from tests.terminal import Terminal

pytestmark = [pytest.mark.oracle, NEEDS_TOOLS]

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


def sets(folder: Path) -> Sets:
    """The set of each PG: of copies in any order, of shards in theirs."""
    of_copies = {pool for pool, spec in POOLS.items() if not spec.erasure}
    return {
        gid: sorted(answer.up) if gid[0] in of_copies else answer.up
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
    where = sets(folder)
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
        goal = sets(folder)
        spec = run(spec, [line for step in steps for line in step["hold"]])
        write(folder, spec, after)
        assert cleaned(folder, spec) == spec
        assert sets(folder) == where

    # Back, whichever steps were made: the map before, and the entries that there were.
    for count in (0, len(steps) // 2, len(steps)):
        lines = [line for step in steps[:count] for line in step["release"]]
        assert run(run(spec, lines), answer["back"]) == first

    moved = {gid for gid in goal if goal[gid] != where[gid]}
    left = set(moved)
    for step in steps:
        spec = run(spec, step["release"])
        write(folder, spec, maps[-1])
        now = sets(folder)
        left -= {gid for gid in moved if now[gid] == goal[gid]}
        assert all(now[gid] == (where if gid in left else goal)[gid] for gid in goal)
        assert 0 < step["bytes"] <= 2**30
    assert not left


@pytest.mark.parametrize("seed", numbers(5))
def test_those_that_cannot_be_held_are_named(tmp_path: Path, terminal: Terminal, seed: int) -> None:
    """Of an OSD that weighs nothing the monitors keep no entry, and no other PG moves."""
    draw = random.Random(seed)
    spec, before, *_ = drawn(draw)
    bundle = dumps(tmp_path, spec, before)
    where, drained = sets(tmp_path), draw.randrange(3)
    words = ("--drain", f"osd.{drained}", "--release", "18.2.4")
    answer = terminal.json_output("plan", bundle, *words, code=1)

    weightless = ("--reweight-item", f"osd.{drained}", "0", "-o", "after.bin")
    tool("crushtool", "-i", "crush.bin", *weightless, folder=tmp_path)
    after = tool("crushtool", "-d", "after.bin", folder=tmp_path)
    spec = run(spec, [line for step in answer["steps"] for line in step["hold"]])
    write(tmp_path, spec, after)
    assert cleaned(tmp_path, spec) == spec
    now = sets(tmp_path)
    loose = {
        f"{pool}.{number:x}" for pool, number in now if now[pool, number] != where[pool, number]
    }
    assert {one["pgid"] for one in answer["loose"]} == loose
