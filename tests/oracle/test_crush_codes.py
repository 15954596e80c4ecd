"""Maps for erasure codes place pieces as Ceph's own `crushtool` does."""

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from resilver.crush import CrushMap
from tests.oracle.osdmap_file import NEEDS_TOOLS

HOLE = 2**31 - 1
INPUTS = 1_000
LINE = re.compile(r"^CRUSH rule 0 x \d+ \[([-\d,]*)\]$", re.MULTILINE)

pytestmark = NEEDS_TOOLS

MAPS = {
    "16 servers": CrushMap.flat(16),
    "64 servers of straw": CrushMap.flat(64, "straw"),
    "256 servers": CrushMap.flat(256),
    "1,024 servers": CrushMap.flat(1024),
    "16 hosts": CrushMap.build(64, [("host", "straw2", 4), ("root", "straw2", 0)]),
    "128 hosts in racks": CrushMap.build(
        512, [("host", "straw2", 4), ("rack", "straw2", 8), ("root", "straw2", 0)]
    ),
}


def mappings(folder: Path, *arguments: str) -> list[list[int]]:
    """The devices of every input, as crushtool maps them."""
    words = ["crushtool", "-i", "map.bin", "--test", "--show-mappings", "--min-x", "0"]
    words += ["--max-x", str(INPUTS - 1), *arguments]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True)
    return [list(map(int, found.split(","))) for found in LINE.findall(done.stdout)]


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("pieces", [11, 13])
def test_pieces_are_where_crushtool_puts_them(tmp_path: Path, name: str, pieces: int) -> None:
    # Rule: with all devices in, and with two of them out, every position of every input has the
    # device that crushtool gives it; 13 of 16 leave few ways out of a collision, and holes count.
    cluster = MAPS[name].for_codes()
    (tmp_path / "map.bin").write_bytes(cluster.to_bytes())
    for out in ([], [3, 7]):
        weights = [word for device in out for word in ("--weight", str(device), "0")]
        expected = mappings(tmp_path, "--rule", "0", "--num-rep", str(pieces), *weights)
        assert len(expected) == INPUTS
        reweight = np.full(cluster.core.max_device(), 0x10000, dtype=np.uint32)
        reweight[out] = 0
        placed = cluster.map_rule(0, np.arange(INPUTS, dtype=np.uint32), pieces, reweight)
        assert placed.tolist() == expected
        assert not np.isin(placed, out).any() and (placed[:, 0] != HOLE).any()
