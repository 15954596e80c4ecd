"""Maps that `resilver crush` builds, changes and writes are crushtool's, byte for byte."""

import subprocess
from pathlib import Path

import pytest

from resilver import cli
from resilver.crush import CrushMap
from tests.integration.file_kinds import LAYERS
from tests.oracle.osdmap_file import NEEDS_TOOLS
from tests.terminal import output, refusal, written


def crushtool(*words: object) -> str:
    done = subprocess.run(["crushtool", *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """Sixteen devices in four hosts in two racks, by our own generator."""
    path = tmp_path / "built"
    assert cli.run(["crush", "--build", "--num-osds", "16", *LAYERS, "-o", str(path)]) == 0
    return path


@NEEDS_TOOLS
def test_a_built_map_is_crushtools(built: Path) -> None:
    theirs = built.with_name("theirs")
    crushtool("-o", theirs, "--build", "--num_osds", 16, *LAYERS)
    assert built.read_bytes() == theirs.read_bytes()
    for view, words in (("--decompile", ["-d", theirs]), ("--tree", ["-i", theirs, "--tree"])):
        assert output("crush", built, view) == crushtool(*words)
    assert output("crush", built, "--dump") == crushtool("-i", theirs, "--dump")


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


@NEEDS_TOOLS
def test_a_tree_of_classes_and_stand_ins_is_crushtools(tmp_path: Path) -> None:
    """Rule: shadows have their class, each set of stand-ins a column, and devices their number."""
    text = written(tmp_path / "map.txt", CLASSES_AND_STAND_INS)
    # crushtool's own compiler takes no stand-ins for every pool (-1), which clusters have.
    output("crush", text, "-o", tmp_path / "map")
    assert output("crush", text, "--tree") == crushtool("-i", tmp_path / "map", "--tree")


def test_a_map_that_cannot_be_written_leaves_what_was_there(built: Path) -> None:
    """Rule: a failed -o prints nothing on stdout and leaves no file of its own behind."""
    before = sorted(built.parent.iterdir())
    (built.parent / "folder").mkdir()
    for place in ("absent/map", "folder"):
        wanted = built.parent / place
        assert "cannot be written" in refusal("crush", built, "--tree", "-o", wanted)
    assert sorted(built.parent.iterdir()) == sorted([*before, built.parent / "folder"])


@NEEDS_TOOLS
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
    assert cli.run(["crush", str(built), *edit, "-o", str(ours)]) == 0
    crushtool("-i", built, *edit, "-o", theirs)
    assert crushtool("-d", ours) == crushtool("-d", theirs)


def test_every_form_holds_the_same_map(built: Path) -> None:
    names = ["map.txt", "map.json", "map.bin"]
    for name in names:
        assert cli.run(["crush", str(built), "-o", str(built.with_name(name))]) == 0
    maps = [CrushMap.read(built.with_name(name)).to_bytes() for name in names]
    assert maps == [built.read_bytes()] * 3
    # --format goes before the suffix.
    forced = built.with_name("forced.bin")
    assert cli.run(["crush", str(built), "-o", str(forced), "--format", "text"]) == 0
    assert forced.read_text().startswith("# begin crush map")
    # Once osd.5 is removed it holds nothing; the file stays as it was.
    before = built.read_bytes()
    words = ["--remove-item", "osd.5", "--rule", "0", "--num-rep", "3"]
    rows = output("crush", built, *words).splitlines()
    names = {row.split()[0] for row in rows if row.strip().startswith("osd.")}
    assert names == {f"osd.{number}" for number in range(16)} - {"osd.5"}
    assert built.read_bytes() == before
