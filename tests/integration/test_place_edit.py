"""Maps that `resilver place` builds, changes and writes are crushtool's, byte for byte."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("resilver._core", reason="the native core is not built")

from resilver import cli
from resilver.crush import CrushMap

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
    assert capsys.readouterr().out == crushtool("-i", theirs, "--dump")


CLASSES_AND_STAND_INS = """
device 0 osd.0 class ssd
device 1 disk-1 class hdd
device 2 osd.2
type 0 osd
type 1 host
host a {
    alg straw2
    hash 0
    item osd.0 weight 1.0
    item disk-1 weight 2.0
}
host b {
    alg straw2
    hash 0
    item osd.2 weight 1.5
}
rule fast {
    id 0
    type replicated
    min_size 1
    max_size 10
    step take a class ssd
    step choose firstn 0 type osd
    step emit
}
choose_args -1 {
  { bucket_id -1 weight_set [ [ 0.5 0.25 ] [ 1.0 1.0 ] ] }
}
choose_args 7 {
  { bucket_id -2 weight_set [ [ 3.0 ] ] }
}
"""


@pytest.mark.oracle
@oracle
def test_a_tree_of_classes_and_stand_ins_is_crushtools(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rule: shadows have their class, each set of stand-ins a column, and devices their number."""
    text = tmp_path / "map.txt"
    text.write_text(CLASSES_AND_STAND_INS)
    # crushtool's own compiler takes no stand-ins for every pool (-1), which clusters have.
    assert cli.run(["place", str(text), "-o", str(tmp_path / "map")]) == 0
    capsys.readouterr()
    assert cli.run(["place", str(text), "--tree"]) == 0
    assert capsys.readouterr().out == crushtool("-i", tmp_path / "map", "--tree")


def test_a_map_that_cannot_be_written_leaves_what_was_there(
    built: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rule: a failed -o prints nothing on stdout and leaves no file of its own behind."""
    before = sorted(built.parent.iterdir())
    capsys.readouterr()
    (built.parent / "folder").mkdir()
    for place in ("absent/map", "folder"):
        wanted = built.parent / place
        assert cli.run(["place", str(built), "--tree", "-o", str(wanted)]) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert "cannot be written" in captured.err
    assert sorted(built.parent.iterdir()) == sorted([*before, built.parent / "folder"])


def test_an_edit_that_cannot_be_names_the_file(
    built: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rule: the message begins with the map's file, and names item, rule and remedy."""
    out = str(built.with_name("out"))
    assert cli.run(["place", str(built), "--remove-item", "osd.99", "-o", out]) == 2
    expected = "built: item = osd.99: an edit is of a device or bucket that the map has; correct"
    assert expected in capsys.readouterr().err
    assert not Path(out).exists()


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
