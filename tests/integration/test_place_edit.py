"""Maps that `resilver place` builds, changes and writes are crushtool's, byte for byte."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("resilver._core", reason="the native core is not built")

from resilver import cli
from resilver.simulate import CrushMap

if not hasattr(CrushMap, "to_bytes"):
    pytest.skip("maps cannot be written by this core", allow_module_level=True)

oracle = pytest.mark.skipif(
    shutil.which("crushtool") is None, reason="crushtool is absent: install ceph-base"
)
LAYERS = ["host", "straw2", "4", "rack", "straw", "2", "root", "straw2", "0"]


def crushtool(*words: object) -> str:
    done = subprocess.run(["crushtool", *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """Sixteen devices in four hosts in two racks, by our own generator."""
    path = tmp_path / "built"
    assert cli.run(["place", "--build", "16", *LAYERS, "-o", str(path)]) == 0
    return path


@pytest.mark.oracle
@oracle
def test_a_built_map_is_crushtools(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    theirs = built.with_name("theirs")
    crushtool("-o", theirs, "--build", "--num_osds", 16, *LAYERS)
    assert built.read_bytes() == theirs.read_bytes()
    capsys.readouterr()
    for view, words in (("--decompile", ["-d", theirs]), ("--tree", ["-i", theirs, "--tree"])):
        assert cli.run(["place", str(built), view]) == 0
        assert capsys.readouterr().out == crushtool(*words)
    assert cli.run(["place", str(built), "--dump"]) == 0
    dumped = json.loads(capsys.readouterr().out)
    assert dumped == json.loads(crushtool("-i", theirs, "--dump"))


@pytest.mark.oracle
@oracle
@pytest.mark.parametrize(
    "edit",
    [
        ["--add-item", "16", "2.5", "osd.16", "--loc", "host", "host4", "--loc", "rack", "rack0"],
        ["--update-item", "3", "0.5", "osd.3", "--loc", "host", "host2"],
        ["--remove-item", "osd.5"],
        ["--reweight-item", "osd.7", "3"],
        ["--reweight"],
        ["--move", "host3", "--loc", "rack", "rack0"],
    ],
)
def test_an_edited_map_is_crushtools(built: Path, edit: list[str]) -> None:
    ours, theirs = built.with_name("ours"), built.with_name("theirs")
    assert cli.run(["place", str(built), *edit, "-o", str(ours)]) == 0
    crushtool("-i", built, *edit, "-o", theirs)
    assert crushtool("-d", ours) == crushtool("-d", theirs)


def test_every_form_holds_the_same_map(built: Path) -> None:
    names = ["map.txt", "map.json", "map.bin"]
    for name in names:
        assert cli.run(["place", str(built), "-o", str(built.with_name(name))]) == 0
    maps = [CrushMap.read(built.with_name(name)).to_bytes() for name in names]
    assert maps == [built.read_bytes()] * 3
    # --format goes before the suffix.
    forced = built.with_name("forced.bin")
    assert cli.run(["place", str(built), "-o", str(forced), "--format", "text"]) == 0
    assert forced.read_text().startswith("# begin crush map")


def test_an_edit_can_be_looked_at_without_a_file(
    built: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Once osd.5 is removed it holds nothing; the file stays as it was.
    before = built.read_bytes()
    capsys.readouterr()
    words = ["--remove-item", "osd.5", "--rule", "0", "--num-rep", "3"]
    assert cli.run(["place", str(built), *words]) == 0
    names = {line.split()[0] for line in capsys.readouterr().out.splitlines()[1:]}
    assert names == {f"osd.{number}" for number in range(16)} - {"osd.5"}
    assert built.read_bytes() == before


@pytest.mark.parametrize(
    "edit",
    [
        ["--remove-item", "osd.99"],
        ["--move", "nothing", "--loc", "rack", "rack0"],
        ["--reweight-item", "osd.3", "-1"],
        ["--add-item", "3", "1.0", "osd.3", "--loc", "host", "host0"],
    ],
)
def test_an_edit_that_cannot_be_made_writes_nothing(
    built: Path, edit: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    target = built.with_name("target")
    assert cli.run(["place", str(built), *edit, "-o", str(target)]) == 2
    assert not target.exists()
    assert capsys.readouterr().err.startswith("error: ")


def test_a_file_that_cannot_be_written_is_named(
    built: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["place", str(built), "-o", str(built / "below")]) == 2
    assert "cannot be written" in capsys.readouterr().err
