"""How often disks seek in a rebuild, and the rate that follows by the device's table."""

from __future__ import annotations

from math import exp
from pathlib import Path

import pytest

pytest.importorskip("resilver._core", reason="the native core is not built")

from resilver import Results
from tests.front_door import command

STUDY = """
[cluster]
servers = {servers}
device = "jbod10-sata"
fabric = {{ model = "loggp", table = "qdr-infiniband" }}
[population]
file_size = "64 MiB"
files = {files}
[placement]
algorithm = "ring"
placement_groups = "none"
ring_points = 1024
[redundancy]
replicas = 3
[[faults]]
fail = {{ servers = 1 }}
[study]
seeds = [41]
"""
# A buffer of 16 MiB by the table of jbod10-sata: overhead and transfer, and the seek besides.
READ, WRITE = 23.67e-6 + 16 / 1542.1, 29.67e-6 + 16 / 1511.7
SEEKS = 11.7003e-3 + 6.1088e-3
BUFFERS_AN_OBJECT = 4


def seeking(survivors: int) -> float:
    """The share of buffers that seek: the fixed point of who comes between two of one object."""
    share = 1.0
    for _ in range(50):
        turn = READ + WRITE + share * SEEKS
        others = (2 - 1 / (survivors - 1)) / turn
        near, far = exp(-others * (READ + WRITE) / 2), exp(-others * turn)
        in_row = far / (1 - near + far)
        share = 1 - (1 - 1 / BUFFERS_AN_OBJECT) * in_row
    return share


@pytest.mark.parametrize(("servers", "files"), [(4, 1600), (16, 4800)])
def test_a_rebuild_seeks_for_seven_buffers_of_ten(servers: int, files: int, tmp_path: Path) -> None:
    text = STUDY.format(servers=servers, files=files)
    (tmp_path / "study.toml").write_text(text, encoding="utf-8")
    done = command("run", "study.toml", "-o", "run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    results = Results.open(tmp_path / "run")
    row = results.runs.to_pylist()[0]
    busy = sum(one["device_busy_seconds"] for one in results.servers.to_pylist())
    buffers = row["rebuilt_bytes"] / 2**24
    # What the disks worked beyond reading and writing each buffer once is seeks.
    share = (busy / buffers - READ - WRITE) / SEEKS
    assert 1 / BUFFERS_AN_OBJECT < share < 1.0
    assert share == pytest.approx(seeking(servers - 1), abs=0.08)
    if servers == 4:
        # Three destinations have about equally much, so that the disks are busy to the end.
        rate = 3 / 64 / (READ + WRITE + seeking(3) * SEEKS) * 2**30
        assert row["aggregate_bytes_per_second"] == pytest.approx(rate, rel=0.06)
    # 0.51 to 0.56 GiB/s a survivor, which the paper's line says of 4 servers, takes fewer seeks.
    paper = [(1 / 64 / rate - READ - WRITE) / SEEKS for rate in (0.51, 0.56)]
    assert max(paper) < 0.55 < share
