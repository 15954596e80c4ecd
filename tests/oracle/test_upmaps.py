"""The entries of `resilver place --balance ceph` are those of Ceph's own `osdmaptool --upmap`."""

import json
import random
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from resilver import cli
from resilver.importers import ClusterReport, read_cluster, read_report
from resilver.importers.ceph import ErasureProfile, GroupInfo
from resilver.simulate import OsdShares, balance_by_bytes, balance_by_groups
from tests.oracle import crush_text
from tests.oracle.osdmap_file import (
    EXISTS,
    NEEDS_TOOLS,
    UP,
    OsdMapSpec,
    PoolSpec,
    tool,
    write,
    write_report,
)
from tests.scale import numbers

pytestmark = NEEDS_TOOLS

ONE = 0x10000
Pairs = list[tuple[int, int]]

RULES = [
    ("replicated", ["chooseleaf firstn 0 type host"], None),
    ("replicated", ["choose firstn 0 type osd"], None),
    ("replicated", ["chooseleaf firstn 0 type rack"], None),
    ("erasure", ["chooseleaf indep 0 type host"], None),
    ("erasure", ["choose indep 0 type host", "choose indep 1 type osd"], None),
    # Those that name how many they choose serve one size: 2 x 2 and 3 x 2.
    ("replicated", ["choose firstn 2 type rack", "chooseleaf firstn 2 type host"], 4),
    ("erasure", ["choose indep 2 type rack", "chooseleaf indep 2 type host"], 4),
    ("erasure", ["choose indep 3 type host", "choose indep 2 type osd"], 6),
]
BY_CLASS = [
    ("replicated", " class hdd", ["chooseleaf firstn 0 type host"]),
    ("erasure", " class ssd", ["chooseleaf indep 0 type host"]),
]


@dataclass(frozen=True)
class Asked:
    """What `osdmaptool` and we are asked for."""

    pool: str
    steps: int
    deviation: int


def entries_of(lines: list[str]) -> dict[str, list[Pairs]]:
    """What lines make of each group's entry; two answers where lines contradict each other.

    The tool prints what a run took away and what it wrote, and not in which order; where it did
    both to a group, either may have come last.
    """
    found: dict[str, list[Pairs]] = {}
    for line in lines:
        words = line.split()
        assert words[:2] == ["ceph", "osd"]
        assert words[2] in ("pg-upmap-items", "rm-pg-upmap-items")
        osds = [int(word) for word in words[4:]]
        pairs = list(zip(osds[::2], osds[1::2], strict=True))
        found.setdefault(words[3], []).append(pairs)
    return found


def theirs(folder: Path, asked: Asked) -> list[str]:
    """The lines of the tool; the first are those by which it cleans the map, if it has to."""
    (folder / "lines").write_text("", encoding="utf-8")
    options = ["--upmap-max", str(asked.steps), "--upmap-deviation", str(asked.deviation)]
    options += ["--upmap-pool", asked.pool, "--osd_calc_pg_upmaps_aggressively=false"]
    tool("osdmaptool", "osdmap.bin", "--upmap", "lines", *options, folder=folder)
    return (folder / "lines").read_text(encoding="utf-8").splitlines()


def ours(folder: Path, asked: Asked, capsys: pytest.CaptureFixture[str]) -> dict[str, Pairs]:
    """The entries of the command, by group."""
    words = ["place", str(folder / "osd.json"), "--crush", str(folder / "crush.json")]
    words += ["--balance", "ceph", "--pool", asked.pool, "--entries", str(asked.steps)]
    capsys.readouterr()
    assert cli.run([*words, "--deviation", str(asked.deviation), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    return {
        one["pgid"]: [(pair[0], pair[1]) for pair in one["pairs"]] for one in printed["entries"]
    }


def write_dumps(folder: Path) -> list[str]:
    """Write the dumps of the binary map as Ceph leaves it after cleaning, and give those lines.

    `--upmap` takes away first what `clean_pg_upmaps` takes away, which the monitors do long before
    a balancer looks.
    """
    (folder / "cleaned").write_text("", encoding="utf-8")
    tool("osdmaptool", "osdmap.bin", "--upmap-cleanup", "cleaned", folder=folder)
    lines = (folder / "cleaned").read_text(encoding="utf-8").splitlines()
    cleaned = {pgid: pairs[-1] for pgid, pairs in entries_of(lines).items()}
    printed = tool("osdmaptool", "osdmap.bin", "--dump", "json", folder=folder)
    dump: dict[str, Any] = json.loads(printed[printed.index("{") :])
    kept = [one for one in dump["pg_upmap_items"] if one["pgid"] not in cleaned]
    kept += [
        {"pgid": pgid, "mappings": [{"from": one, "to": other} for one, other in pairs]}
        for pgid, pairs in cleaned.items()
        if pairs
    ]
    dump["pg_upmap_items"] = kept
    (folder / "osd.json").write_text(json.dumps(dump), encoding="utf-8")
    crush = tool("crushtool", "-i", "crush.bin", "--dump", folder=folder)
    (folder / "crush.json").write_text(crush, encoding="utf-8")
    return lines


class Drawn:
    """A cluster of racks and hosts, drawn: its map as text, and the OSD map."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        has_classes = self.draw.random() < 0.5
        self.lines = [crush_text.JEWEL]
        self.devices: list[str] = []
        # A rule over racks needs as many as copies, or every group is short.
        racks = [self._rack(has_classes) for _ in range(self.draw.choice([2, 4, 5]))]
        self.lines += self.devices
        self.lines += ["type 0 osd", "type 1 host", "type 2 rack", "type 3 root"]
        bucket = -1
        names: dict[str, int] = {}
        for number, hosts in enumerate(racks):
            for name, osds in hosts:
                bucket -= 1
                names[name] = self._bucket("host", name, bucket, osds)
            bucket -= 1
            held = [(name, names[name]) for name, _ in hosts]
            names[f"rack{number}"] = self._bucket("rack", f"rack{number}", bucket, held)
        whole = [(f"rack{number}", names[f"rack{number}"]) for number in range(len(racks))]
        self._bucket("root", "default", -1, whole)
        rules = [(kind, "", steps, size) for kind, steps, size in RULES]
        if has_classes:
            rules += [(kind, of, steps, None) for kind, of, steps in BY_CLASS]
        for number, (kind, of, steps, _) in enumerate(rules):
            blocks = [f"step take default{of}", *(f"step {step}" for step in steps), "step emit"]
            self._rule(number, kind, blocks)
        if has_classes:
            # The first copy on a fast device and the others on slow ones: two takes.
            blocks = []
            for of, count in (("ssd", 1), ("hdd", -1)):
                blocks += [f"step take default class {of}"]
                blocks += [f"step chooseleaf firstn {count} type host", "step emit"]
            self._rule(len(rules), "replicated", blocks)
            rules.append(("replicated", "", [], None))
        self.spec = self._map(rules)

    def _rack(self, has_classes: bool) -> list[tuple[str, list[tuple[str, int]]]]:
        hosts = []
        for _ in range(self.draw.randint(2, 6)):
            osds = []
            for _ in range(self.draw.randint(1, 6)):
                number = len(self.devices)
                of = f" class {self.draw.choice(['hdd', 'ssd'])}" if has_classes else ""
                self.devices.append(f"device {number} osd.{number}{of}")
                weight = self.draw.choice([ONE] * 4 + [2 * ONE, ONE // 2, 3 * ONE])
                osds.append((f"osd.{number}", weight))
            hosts.append((f"host{osds[0][0]}", osds))
        return hosts

    def _bucket(self, of: str, name: str, number: int, items: list[tuple[str, int]]) -> int:
        self.lines.append(f"{of} {name} {{\nid {number}\nalg straw2\nhash 0")
        self.lines += [f"item {item} weight {crush_text.weight(own)}" for item, own in items]
        self.lines.append("}")
        return sum(own for _, own in items)

    def _rule(self, number: int, kind: str, steps: list[str]) -> None:
        self.lines += [f"rule rule{number} {{", f"id {number}", f"type {kind}", "min_size 1"]
        self.lines += ["max_size 20", *steps, "}"]

    def _map(self, rules: list[tuple[str, str, list[str], int | None]]) -> OsdMapSpec:
        draw, count = self.draw, len(self.devices)
        pools = {}
        for pool in draw.sample(range(1, 9), draw.randint(1, 3)):
            rule = draw.randrange(len(rules))
            kind, size = rules[rule][0], rules[rule][3]
            some = size or draw.choice([2, 3, 4] if kind == "replicated" else [3, 4, 5, 6])
            groups = draw.choice([32, 64, 100, 128, 256])
            pools[pool] = PoolSpec(some, groups, groups, rule, erasure=kind == "erasure")
        states = [EXISTS | UP if draw.random() < 0.95 else EXISTS for _ in range(count)]
        weights = [
            ONE if draw.random() < 0.9 else draw.choice([0, ONE // 2, 40000]) for _ in range(count)
        ]
        return OsdMapSpec(pools, states, weights)

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


# Rule: on any cluster, with classes, weights, racks, pools of both kinds, OSDs that are down, out
# or in by part, and with entries that are there already, each pool gets the tool's own entries.
@pytest.mark.parametrize("seed", numbers(20))
def test_random_clusters(tmp_path: Path, capsys: pytest.CaptureFixture[str], seed: int) -> None:
    drawn = Drawn(seed)
    write(tmp_path, drawn.spec, drawn.text)
    if drawn.draw.random() < 0.6:
        limits = ["--upmap-max", str(drawn.draw.choice([5, 20])), "--upmap-deviation", "1"]
        tool("osdmaptool", "osdmap.bin", "--upmap", "before", *limits, "--save", folder=tmp_path)
    cleaned = write_dumps(tmp_path)
    for pool in drawn.spec.pools:
        steps, deviation = drawn.draw.choice([1, 5, 10, 50]), drawn.draw.choice([1, 1, 2, 5])
        asked = Asked(f"pool-{pool}", steps, deviation)
        lines = theirs(tmp_path, asked)
        assert lines[: len(cleaned)] == cleaned
        expected = entries_of(lines[len(cleaned) :])
        found = ours(tmp_path, asked, capsys)
        for pgid in expected | found:
            # A group that a run wrote and took away again has no line of ours.
            assert found.get(pgid, []) in expected.get(pgid, []), (asked, pgid)


def with_bytes(report: ClusterReport, draw: random.Random) -> ClusterReport:
    """The cluster with something in every group; coded pools have two parities."""
    pools, groups = [], []
    for pool in report.pools:
        coded = pool.kind == "erasure"
        profile = ErasureProfile("made", "jerasure", pool.size - 2, 2) if coded else None
        pools.append(replace(pool, profile=profile))
        mean = draw.choice([2**30, 2**33])
        for number in range(pool.pg_num):
            size = round(mean * draw.uniform(0.5, 1.5))
            groups.append(GroupInfo(pool.id, number, (), (), size, size // 2**22 + 1))
    return replace(report, pools=tuple(pools), groups=tuple(groups))


def unevenness(shares: OsdShares) -> float:
    """The sum over OSDs of used^2 / capacity."""
    assert shares.used_bytes is not None
    return float((shares.used_bytes**2 / shares.capacity_bytes)[shares.capacity_bytes > 0].sum())


# Rule: by bytes a cluster becomes at least as even as by Ceph's entries, with as many as each can
# use, whatever its rules; and never less even than it was. All OSDs run, since a balancer waits for
# that: Ceph's entries would lead pieces to an OSD that is down, and what it holds counts nowhere.
@pytest.mark.parametrize("seed", numbers(20))
def test_bytes_are_at_least_as_even(tmp_path: Path, seed: int) -> None:
    drawn = Drawn(seed)
    states = [EXISTS | UP] * len(drawn.spec.states)
    write(tmp_path, replace(drawn.spec, states=states), drawn.text)
    write_dumps(tmp_path)
    read = read_cluster(tmp_path / "osd.json", crush=tmp_path / "crush.json")
    report = with_bytes(read, drawn.draw)
    theirs = balance_by_groups(report, entries=2000, deviation=1)
    ours = balance_by_bytes(report, entries=2000, within=0.0)
    assert unevenness(ours.after) <= unevenness(ours.before) * (1 + 1e-12)
    assert unevenness(ours.after) <= unevenness(theirs.after) * (1 + 1e-12)


# Rule: so does a real cluster, from the first entry to the last that the tool finds (about 300).
@pytest.mark.parametrize(("steps", "deviation"), [(1, 5), (10, 5), (100, 5), (1000, 5), (1000, 1)])
def test_a_real_cluster(
    tmp_path: Path,
    shared_data: Path,
    capsys: pytest.CaptureFixture[str],
    steps: int,
    deviation: int,
) -> None:
    write_report(tmp_path, shared_data / "ceph" / "ceph-report-jewel-88osd.json")
    assert write_dumps(tmp_path) == []
    (pool,) = read_report(tmp_path / "osdmap.bin").pools
    asked = Asked(pool.name, steps, deviation)
    expected = entries_of(theirs(tmp_path, asked))
    found = ours(tmp_path, asked, capsys)
    assert len(found) >= 0.9 * min(steps, 100)
    for pgid in expected | found:
        assert found.get(pgid, []) in expected.get(pgid, []), pgid
