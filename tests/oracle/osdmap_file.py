"""Binary OSD maps with anything in them: what osdmaptool makes, with parts of it replaced.

`osdmaptool` itself can mark OSDs up or out and compute upmap entries, but it has no option for a
primary affinity, a temporary set, an OSD that is down or a pool of strips. A map of its making is
therefore taken apart here and put together with other parts; its own checks (lengths, and the
CRC-32C at the end) see to it that what it reads is what was meant.
"""

import json
import re
import shutil
import struct
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from resilver.importers import ClusterReport, read_report
from tests.oracle import crush_text

NEEDS_TOOLS = pytest.mark.skipif(
    any(shutil.which(name) is None for name in ("osdmaptool", "crushtool")),
    reason="osdmaptool and crushtool are not both installed (Debian: ceph-base)",
)

EXISTS, UP = 1, 2
"""Bits of an OSD's state."""

Gid = tuple[int, int]
"""A group: its pool and its number there."""


@dataclass(frozen=True)
class PoolSpec:
    """A pool to be written."""

    size: int
    pg_num: int
    pgp_num: int
    rule: int = 0
    erasure: bool = False
    hashpspool: bool = True
    object_hash: int = 2


@dataclass(frozen=True)
class OsdMapSpec:
    """What the map is to say; lists have an entry an OSD, weights and affinities are 16.16."""

    pools: Mapping[int, PoolSpec]
    states: Sequence[int]
    weights: Sequence[int]
    affinities: Sequence[int] = ()
    upmap: Mapping[Gid, Sequence[int]] = field(default_factory=dict)
    upmap_items: Mapping[Gid, Sequence[tuple[int, int]]] = field(default_factory=dict)
    pg_temp: Mapping[Gid, Sequence[int]] = field(default_factory=dict)
    primary_temp: Mapping[Gid, int] = field(default_factory=dict)


def crc32c(data: bytes) -> int:
    """The Castagnoli checksum as Ceph takes it: all ones to begin with, and not inverted."""
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ table[(crc ^ byte) & 0xFF]
    return crc


class Reader:
    """A walk over encoded data that gives back the bytes it passes."""

    def __init__(self, data: bytes) -> None:
        self.data, self.place = data, 0

    def take(self, count: int) -> bytes:
        self.place += count
        return self.data[self.place - count : self.place]

    def number(self, kind: str) -> int:
        (value,) = struct.unpack(f"<{kind}", self.take(struct.calcsize(f"<{kind}")))
        assert isinstance(value, int)
        return value

    def each(self, passed: Callable[[], object]) -> None:
        for _ in range(self.number("I")):
            passed()

    def text(self) -> bytes:
        return self.take(self.number("I"))

    def section(self) -> bytes:
        """An encoding with its version, the oldest version that reads it, and its length."""
        head = self.take(6)
        return head + self.take(struct.unpack_from("<I", head, 2)[0])


def u32(value: int) -> bytes:
    return struct.pack("<I", value & 0xFFFFFFFF)


def numbers(values: Sequence[int]) -> bytes:
    return u32(len(values)) + b"".join(map(u32, values))


def table(entries: Mapping[Gid, bytes]) -> bytes:
    """A table by group: version 1, pool, number, and the preferred OSD that there is none of."""
    keys = (struct.pack("<BQIi", 1, *gid, -1) + entries[gid] for gid in sorted(entries))
    return u32(len(entries)) + b"".join(keys)


def pool_bytes(template: bytes, spec: PoolSpec) -> bytes:
    """A pool like the template in all but what the spec says."""
    # Version, oldest version and length are 6 bytes; then type, size, rule, hash, and six numbers
    # before the snapshots, of which a new pool has none. The flags follow them and the owner.
    head = struct.pack("<BBBB", 3 if spec.erasure else 1, spec.size, spec.rule, spec.object_hash)
    flags_at = 6 + 4 + 8 + 8 + 4 + 8 + 4 + 4 + 4 + 8
    (flags,) = struct.unpack_from("<Q", template, flags_at)
    assert flags == 1, "a new pool has the flag hashpspool and no other"
    made = bytearray(template)
    made[6:18] = head + struct.pack("<II", spec.pg_num, spec.pgp_num)
    struct.pack_into("<Q", made, flags_at, int(spec.hashpspool))
    return bytes(made)


def encode(made: bytes, spec: OsdMapSpec, crush: bytes) -> bytes:
    """The map of a spec.

    Args:
        made: A map of one pool that `osdmaptool --createsimple` made, for all that the spec leaves.
        spec: What it is to say.
        crush: Its compiled CRUSH map.
    """
    outer = Reader(made[6:])
    client, osd_only = outer.section(), outer.section()
    assert client[0] == 9, "the layout is that of Nautilus to Quincy"
    old = Reader(client[6:])
    base = old.take(16 + 4 + 8 + 8)  # cluster, epoch, and when it was made and changed
    templates: list[bytes] = []
    old.each(lambda: (old.take(8), templates.append(old.section())))
    old.each(lambda: (old.take(8), old.text()))
    old.take(4)
    flags = old.take(4)
    old.take(4)
    old.each(lambda: old.take(4))  # states
    old.each(lambda: old.take(4))  # weights
    old.each(lambda: old.take(5))  # addresses, empty lists of version 2
    for _ in range(3):  # pg_temp, primary_temp, affinities
        assert old.number("I") == 0
    old.text()
    start = old.place
    old.each(lambda: (old.text(), old.each(lambda: (old.text(), old.text()))))
    profiles = old.data[start : old.place]
    assert old.number("I") == old.number("I") == 0  # pg_upmap, pg_upmap_items
    pools = {pool: pool_bytes(templates[0], one) for pool, one in sorted(spec.pools.items())}
    names = {pool: b"pool-%d" % pool for pool in pools}
    pairs = {
        gid: u32(len(items)) + b"".join(struct.pack("<ii", *item) for item in items)
        for gid, items in spec.upmap_items.items()
    }
    count = len(spec.states)
    body = b"".join(
        [
            base,
            u32(len(pools)) + b"".join(struct.pack("<q", key) + pools[key] for key in pools),
            u32(len(pools))
            + b"".join(struct.pack("<qI", key, len(name)) + name for key, name in names.items()),
            u32(max(pools)) + flags + u32(count),
            numbers(spec.states) + numbers(spec.weights),
            u32(count) + b"\x02\0\0\0\0" * count,
            table({gid: numbers(osds) for gid, osds in spec.pg_temp.items()}),
            table({gid: u32(osd) for gid, osd in spec.primary_temp.items()}),
            numbers(spec.affinities),
            u32(len(crush)) + crush,
            profiles,
            table({gid: numbers(osds) for gid, osds in spec.upmap.items()}),
            table(pairs),
            old.data[old.place :],
        ]
    )
    inner = client[:2] + u32(len(body)) + body + osd_only
    whole = made[:2] + u32(len(inner) + 4) + inner
    return whole + u32(crc32c(whole))


def tool(name: str, *arguments: str, folder: Path) -> str:
    """What one of Ceph's tools prints; a test without the tool is skipped by its fixture."""
    done = subprocess.run([name, *arguments], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, f"{name} {arguments}: {done.stderr}"
    return done.stdout


def write(folder: Path, spec: OsdMapSpec, crush_text: str) -> Path:
    """Write the map of a spec, and return its path."""
    (folder / "crush.txt").write_text(crush_text, encoding="utf-8")
    tool("crushtool", "-c", "crush.txt", "-o", "crush.bin", folder=folder)
    count = str(len(spec.states))
    create = ["--createsimple", count, "made", "--with-default-pool", "--clobber"]
    tool("osdmaptool", *create, folder=folder)
    made, crush = (folder / "made").read_bytes(), (folder / "crush.bin").read_bytes()
    assert crc32c(made[:-4]) == struct.unpack("<I", made[-4:])[0]
    (folder / "osdmap.bin").write_bytes(encode(made, spec, crush))
    return folder / "osdmap.bin"


def write_report(folder: Path, path: Path) -> ClusterReport:
    """Write the map of a cluster of one pool whose OSDs all run; return what its report says."""
    report = read_report(path)
    states = [0] * len(report.osd_states.reweights)
    for osd in report.osds:
        states[osd.id] = EXISTS | UP
    (pool,) = report.pools
    pools = {pool.id: PoolSpec(pool.size, pool.pg_num, pool.pgp_num, pool.rule_id)}
    crush = json.loads(path.read_text(encoding="utf-8"))["crushmap"]
    write(folder, OsdMapSpec(pools, states, report.osd_states.reweights), crush_text.of_dump(crush))
    return report


@dataclass(frozen=True)
class Answer:
    """Where osdmaptool says a group is."""

    up: list[int]
    up_primary: int
    acting: list[int]
    acting_primary: int


_LINE = re.compile(
    r"(\d+)\.([0-9a-f]+) raw \(\[.*?\], p-?\d+\) up \(\[(.*?)\], p(-?\d+)\) "
    r"acting \(\[(.*?)\], p(-?\d+)\)"
)


def answers(folder: Path, *options: str) -> dict[Gid, Answer]:
    """Where every group of the written map is, as osdmaptool says."""
    printed = tool("osdmaptool", "osdmap.bin", *options, "--test-map-pgs-dump-all", folder=folder)
    found = {}
    for line in printed.splitlines():
        match = _LINE.fullmatch(line)
        if match:
            pool, number, up, up_primary, acting, acting_primary = match.groups()
            found[int(pool), int(number, 16)] = Answer(
                osds(up), int(up_primary), osds(acting), int(acting_primary)
            )
    return found


def osds(listed: str) -> list[int]:
    """A printed set; the tool writes NONE for a hole."""
    return [2**31 - 1 if one == "NONE" else int(one) for one in listed.split(",") if one]
