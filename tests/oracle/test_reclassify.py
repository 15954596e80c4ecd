"""Legacy trees become device classes as `crushtool --reclassify` makes them, byte for byte."""

import random
from itertools import count
from pathlib import Path

import pytest

from resilver.crush import CrushMap
from tests.oracle.crush_text import JEWEL
from tests.oracle.osdmap_file import NEEDS_TOOLS, tool
from tests.scale import numbers
from tests.terminal import Terminal

pytestmark = NEEDS_TOOLS

KINDS = ("straw2", "straw2", "straw", "list")
"""Of trees Ceph leaves the inner nodes that come to chance, and fails for some of them."""


def legacy(draw: random.Random, *, most: int = 6) -> tuple[str, list[str]]:
    """A map of two parallel trees, as Ceph's own documentation has it, and how it is reclassified.

    Hosts stand in racks or in the root, some have flash alone, numbers of buckets are in any order,
    and the names of flash hosts end or begin with the class.
    """
    kind, name = draw.choice(KINDS), draw.choice(["node{}-ssd", "ssd-node{}"])
    ids, osds = iter(draw.sample(range(1, 60), 40)), count()
    classes = draw.random() < 0.3
    devices: list[str] = []
    buckets: list[str] = []
    Item = tuple[str, float]

    def hang(type_name: str, own: str, items: list[Item]) -> Item:
        lines = "".join(f"item {item} weight {weight:.3f}\n" for item, weight in items)
        buckets.append(f"{type_name} {own} {{\nid -{next(ids)}\nalg {kind}\nhash 0\n{lines}}}\n")
        # A bucket may weigh something else than what it holds, which reclassifying then corrects.
        return own, sum(weight for _, weight in items) * (1.0 if draw.random() < 0.95 else 1.5)

    def host(own: str, device_class: str) -> Item:
        items = [
            (f"osd.{next(osds)}", draw.choice([1.0, 2.0, 4.5])) for _ in range(draw.randint(1, 4))
        ]
        suffix = f" class {device_class}" * (classes and draw.random() < 0.5)
        devices.extend(f"device {osd[4:]} {osd}{suffix}\n" for osd, _ in items)
        return hang("host", own, items)

    disks = [host(f"node{number}", "hdd") for number in range(draw.randint(3, most))]
    flash = [
        host(name.format(number + draw.randint(0, 1) * 20), "ssd") for number in range(len(disks))
    ]
    if draw.random() < 0.4:
        disks = [hang("rack", f"rack{number}", disks[number::2]) for number in range(2)]
    hang("root", "default", disks)
    hang("root", "ssd", flash)
    text = JEWEL + "".join(devices) + "type 0 osd\ntype 1 host\ntype 2 rack\ntype 3 root\n"
    for number, root in enumerate(("default", "ssd")):
        buckets.append(
            f"rule {root} {{\nid {number}\ntype replicated\nmin_size 1\nmax_size 10\n"
            f"step take {root}\nstep chooseleaf firstn 0 type host\nstep emit\n}}\n"
        )
    words = [
        "--reclassify",
        "--reclassify-bucket",
        name.format("").replace("node", "%"),
        "ssd",
        "default",
    ]
    words += ["--reclassify-bucket", "ssd", "ssd", "default"]
    words += ["--set-subtree-class", "default", "hdd"] * (draw.random() < 0.7)
    words += ["--reclassify-root", "default", "hdd"] * (draw.random() < 0.8)
    return text + "".join(buckets), words


@pytest.mark.parametrize("seed", numbers(30))
def test_a_legacy_map_is_reclassified_as_crushtool_does(
    tmp_path: Path, terminal: Terminal, seed: int
) -> None:
    text, words = legacy(random.Random(seed))
    (tmp_path / "map.txt").write_text(text)
    tool("crushtool", "-c", "map.txt", "-o", "map", "--enable-unsafe-tunables", folder=tmp_path)
    tool("crushtool", "-i", "map", *words, "-o", "theirs", folder=tmp_path)
    terminal.output("crush", tmp_path / "map", *words, "-o", tmp_path / "ours")
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()
    assert "step take default class ssd" in CrushMap.read(tmp_path / "ours").to_text()
