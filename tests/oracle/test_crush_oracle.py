"""Placements against those of Ceph's own `crushtool`, on random maps."""

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings

from resilver.crush import CrushMap
from tests.oracle.crush_maps import Question, questions
from tests.scale import times

INPUTS = 1_000
LINE = re.compile(r"^CRUSH rule (\d+) x (\d+) \[([-\d,]*)\]$", re.MULTILINE)

pytestmark = pytest.mark.skipif(
    shutil.which("crushtool") is None, reason="crushtool is not installed (Debian: ceph-base)"
)


def crushtool(folder: Path, *arguments: str) -> str:
    """What crushtool prints; it must succeed."""
    command = ["crushtool", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}: {done.stdout[:2000]}{done.stderr[:2000]}"
    return done.stdout


def mappings(folder: Path, *arguments: str) -> list[tuple[str, str, str]]:
    """The rule, input and devices of every line for all the inputs that crushtool maps."""
    words = ["-i", "map.bin", "--test", "--show-mappings", "--min-x", "0"]
    lines = crushtool(folder, *words, "--max-x", str(INPUTS - 1), *arguments)
    return LINE.findall(lines)


def answers_of_crushtool(folder: Path, question: Question) -> dict[int, npt.NDArray[np.int32]]:
    """The devices of every input, by rule, as `CrushMap.map_rule` gives them."""
    (folder / "map.txt").write_text(question.text)
    crushtool(folder, "-c", "map.txt", "-o", "map.bin", "--enable-unsafe-tunables")
    arguments = ["--num-rep", str(question.copies)]
    for device, weight in question.reweights.items():
        arguments += ["--weight", str(device), repr(weight)]
    found: dict[int, npt.NDArray[np.int32]] = {}
    for rule, x, devices in mappings(folder, *arguments):
        table = found.setdefault(int(rule), np.full((INPUTS, question.copies), -1, dtype=np.int32))
        row = [int(device) for device in devices.split(",") if device]
        table[int(x), : len(row)] = row
    return found


@settings(max_examples=times(15), suppress_health_check=list(HealthCheck))
@given(question=questions())
def test_random_maps_place_alike(question: Question) -> None:
    """On random maps, rules and reweights, every input goes where crushtool puts it.

    So it does by the map's text and, where that has no choose_args (whose weights a dump rounds),
    by the JSON that crushtool makes of it.
    """
    reweight = np.full(question.max_device, 0x10000, dtype=np.uint32)
    for device, weight in question.reweights.items():
        reweight[device] = int(np.float32(weight) * 65536)
    inputs = np.arange(INPUTS, dtype=np.uint32)
    with tempfile.TemporaryDirectory() as name:
        expected = answers_of_crushtool(Path(name), question)
        dump = crushtool(Path(name), "-i", "map.bin", "--dump")
    assert sorted(expected) == [0, 1, 2]
    maps = [CrushMap.from_text(question.text)]
    if "choose_args" not in question.text:
        maps.append(CrushMap.from_json(dump))
    for map in maps:
        for rule, table in expected.items():
            ours = map.map_rule(rule, inputs, question.copies, reweight)
            differing = np.flatnonzero((ours != table).any(axis=1))
            assert not differing.size, (
                f"rule {rule}, x {differing[0]}: {ours[differing[0]]} for {table[differing[0]]}\n"
                f"copies {question.copies}, reweights {question.reweights}\n{question.text}"
            )
