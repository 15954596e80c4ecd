"""Devices that are replaced where they were, through the command."""

from pathlib import Path

import pytest

from tests.terminal import json_output, output, texts, written

STUDY = """
[cluster]
servers = 9
fabric = { table = "10gbe" }
device = { read_service = "50 ms", write_service = "50 ms" }
[population]
files = 300
file_size = "16 MiB"
objects = { chunk = "16 MiB" }
[placement]
algorithm = "rendezvous"
[redundancy]
code = "replica 3"
[[faults]]
part = { server = ["server.4"] }
"""
# A piece is one buffer: 50 ms to read, 50 ms to write, and 16 MiB at 10 Gb/s between.
ALONE = 0.1 + 16 * 2**20 * 8 / 10e9


def of(folder: Path, *settings: str) -> dict[str, float]:
    """The figures of a run with these settings."""
    text = [word for setting in settings for word in ("--set", setting)]
    study = written(folder / "study.toml", STUDY)
    runs = folder / f"runs {len(list(folder.iterdir()))}"
    found: dict[str, float] = json_output("run", study, "-q", "-o", runs, *text)[0]
    return found


# Rule: what a replaced device held is made on it alone, from the time of its replacement on. It
# writes a piece in 50 ms; the first is read and sent before.
@pytest.mark.parametrize("after", [0.0, 100.0])
def test_a_replaced_device_gets_back_what_it_held(after: float, tmp_path: Path) -> None:
    run = of(tmp_path, f"faults.0.replaced_after={after:g} s")
    words = ("run", tmp_path / "study.toml", "-o", tmp_path / "runs 1", "--set")
    said = " ".join(output(*words, f"faults.0.replaced_after={after:g} s").split())
    assert "Replaced where it was, and rebuilt there alone, " in said
    expected = after + run["rebuilt_pieces"] * 0.05 + ALONE - 0.05
    assert run["rebuild_seconds"] == pytest.approx(expected, abs=0.01)
    assert run["unrecoverable_objects"] == run["undersized_replicas"] == 0


def test_clients_read_of_a_replaced_device_what_is_rebuilt(tmp_path: Path) -> None:
    # A read of an object whose only piece is lost fails over to nothing: with one copy of rs 2+1 it
    # is degraded until the device has its piece again.
    coded = ('redundancy={code="rs 2+1"}', "faults.0.replaced_after=1 s")
    reads = 'traffic={outstanding=1,request_size="16 MiB",duration="60 s"}'
    run = of(tmp_path, *coded, reads)
    before = of(
        tmp_path, 'redundancy={code="rs 2+1"}', reads, "faults=[{part={disk=1},health=0.9}]"
    )
    assert run["degraded_reads"] > 0 == before["degraded_reads"]
    late = of(tmp_path, coded[0], "faults.0.replaced_after=50 s", reads)
    assert late["degraded_reads"] > 5 * run["degraded_reads"]


@pytest.mark.parametrize(
    ("fault", "rule"),
    [
        ('part={server=1},replaced_after="1 h",until="2 h"', "keep one of the two"),
        ('part={server=1},told=false,replaced_after="1 h"', "only what the system is told of"),
        ('part={disk=1},health=0.5,replaced_after="1 h"', "only what the system is told of"),
        ('at="1 d",part={server=1},replaced_after="213 d"', "beyond the 213 days"),
    ],
)
def test_what_cannot_be_replaced_is_refused(fault: str, rule: str, tmp_path: Path) -> None:
    study = written(tmp_path / "study.toml", STUDY)
    _, said = texts("check", study, "--set", f"faults=[{{{fault}}}]", code=2)
    assert rule in " ".join(said.split())
