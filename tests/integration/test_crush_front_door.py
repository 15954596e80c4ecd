"""What a user types at `resilver crush` and beside it: edits in order, inputs kept, every step."""

import json
from pathlib import Path
from typing import Any

import pytest

from resilver.cli.reproduce import Request, _folder_of
from tests.front_door import STARTED, environment, process
from tests.terminal import json_output, output, refusal, texts, written
from tests.unit.test_importers_cluster import CRUSH, OSD_DUMP, put

HEAD = "device 0 osd.0\ndevice 1 osd.1\ndevice 2 osd.2\ntype 0 osd\ntype 1 host\ntype 2 root\n"
HOSTS = "".join(
    f"host h{n} {{\n id -{n + 2}\n alg straw2\n hash 0\n item osd.{n} weight 1.0\n}}\n"
    for n in range(3)
)
ROOT = "root all {\n id -1\n alg straw2\n hash 0\n" + "".join(
    f" item h{n} weight 1.0\n" for n in range(3)
)
STEPS = """
rule plain {
 id 0
 type replicated
 step set_chooseleaf_tries 5
 step set_choose_tries 100
 step set_choose_local_tries 3
 step set_choose_local_fallback_tries 2
 step set_chooseleaf_vary_r 1
 step set_chooseleaf_stable 1
 step take all
 step chooseleaf firstn 0 type host
 step emit
}
rule pieces {
 id 1
 type erasure
 step set_chooseleaf_vary_r 0
 step take all
 step choose indep 0 type host
 step choose indep 1 type osd
 step emit
}
rule msr {
 id 2
 type msr_firstn
 step set_msr_descents 10
 step set_msr_collision_tries 10
 step take all
 step choosemsr 0 type host
 step choosemsr 1 type osd
 step emit
}
"""
EVERY_STEP = HEAD + HOSTS + ROOT + "}\n" + STEPS


@pytest.fixture
def every_step(tmp_path: Path) -> Path:
    """A map whose rules have every kind of step."""
    path = written(tmp_path / "map.txt", EVERY_STEP)
    return path


def rows(path: Path) -> dict[str, dict[str, Any]]:
    """The rows of a map's tree by name."""
    return {row["name"]: row for row in json_output("crush", path, "--tree")}


@pytest.mark.parametrize(
    "words",
    [
        *(["--rule", rule, "--num-rep", "2"] for rule in "012"),
        *(["--test", f"--show-{what}", "--num-rep", "2", "--max-x", "9"]
          for what in ("mappings", "utilization", "utilization-all", "statistics", "bad-mappings")),
        *(["--quality", "--rule", rule, "--max-x", "99"] for rule in "01"),
        ["--tree"],
        ["--tree", "--json"],
        ["--dump"],
        ["--decompile"],
    ],
    ids=" ".join,
)  # fmt: skip
@pytest.mark.usefixtures("without_loss")
def test_every_kind_of_step_is_known_in_every_mode(every_step: Path, words: list[str]) -> None:
    out = output("place" if "--quality" in words else "crush", every_step, *words)
    # Where every input finds its devices, there are no bad mappings to show.
    assert bool(out) != ("--show-bad-mappings" in words)


def test_maps_with_every_kind_of_step_are_compared(every_step: Path) -> None:
    other = every_step.with_name("other.txt")
    other.write_text(
        every_step.read_text().replace("item osd.2 weight 1.0", "item osd.2 weight 2.0")
    )
    # Few inputs: more copies than hosts send every one of them through all of its tries.
    compared = (every_step, "--compare", other)
    assert output("place", *compared, "--rule", "0")
    assert output("crush", *compared, "--min-x", "0", "--max-x", "9")


def test_edits_of_one_kind_are_all_made(every_step: Path) -> None:
    out = every_step.with_name("out.txt")
    words = ["--reweight-item", "osd.0", "0", "--reweight-item", "osd.1", "0.5", "-o", out]
    output("crush", every_step, *words)
    found = rows(out)
    assert [found[f"osd.{n}"]["weight"] for n in range(3)] == [0.0, 0.5, 1.0]


def test_edits_are_made_in_their_order_each_at_its_own_place(every_step: Path) -> None:
    out = every_step.with_name("out.txt")
    words = [
        "--remove-item", "osd.2", "--add-item", "2", "4.0", "osd.2", "--loc", "host", "h0",
        "--add-item", "3", "1.5", "osd.3", "--loc", "host", "h3", "--loc", "root", "all",
        "--reweight-item=osd.3", "2.5", "--move", "osd.0", "--loc", "host", "h1",
    ]  # fmt: skip
    output("crush", every_step, *words, "-o", out)
    found = rows(out)
    order = list(found)
    inside: dict[str, list[str]] = {}
    for name in order:
        if found[name]["type"] == "host":
            host = inside.setdefault(name, [])
        elif found[name]["type"] == "osd":
            host.append(name)
    assert inside == {"h0": ["osd.2"], "h1": ["osd.0", "osd.1"], "h2": [], "h3": ["osd.3"]}
    assert (found["osd.2"]["weight"], found["osd.3"]["weight"]) == (4.0, 2.5)


def test_maps_of_several_roots_and_devices_in_two_places_are_told(tmp_path: Path) -> None:
    built = ("crush", "--build", "--num-osds", "5", "node", "straw", "2", "rack", "straw")
    out, err = texts(*built, "1", "--decompile")
    assert "the map has 3 roots (rack0, rack1, rack2), and its rule places data only below " in err
    assert out.count("step take rack0") == 1
    assert "roots" not in texts(*built, "0", "--decompile")[1]
    # crushtool links it into a second root without a word; nothing is refused here either.
    path = tmp_path / "map.bin"
    layers = ["host", "straw2", "4", "root", "straw2", "0"]
    output("crush", "--build", "--num-osds", "8", *layers, "-o", path)
    place = ("--loc", "host", "x", "--tree")
    out, err = texts("crush", path, "--add-item", "5", "1", "osd.5", *place)
    assert out.count("osd.5") == 2
    told = "osd.5 now stands in host host1 and in host x, and counts in each; use --move osd.5"
    assert told in " ".join(err.split())
    _, err = texts("crush", path, "--add-item", "8", "1", "osd.8", *place)
    assert "stands in" not in err


def test_what_is_read_is_not_written_over(every_step: Path) -> None:
    """Rule: by whatever name the file goes, and whatever is read."""
    before = every_step.read_bytes()
    link = every_step.with_name("link.txt")
    link.symlink_to(every_step)
    for target in (every_step, link):
        said = refusal("crush", every_step, "--reweight-item", "osd.0", "0", "-o", target)
        assert "is read by this command, and would be lost" in said
    sizes = written(every_step.with_name("sizes.txt"), "1\n2\n")
    refusal("import", "sizes", sizes, "-o", sizes)
    graph = written(every_step.with_name("graph.svg"), "a b\nb c\n")
    refusal("topology", f"graph {graph}", "-o", graph)
    assert (sizes.read_text(), graph.read_text()) == ("1\n2\n", "a b\nb c\n")
    assert every_step.read_bytes() == before


def test_edits_stand_in_a_file_as_they_do_in_the_command(every_step: Path) -> None:
    # Rule: the file's lines stand where it is named; dashes before the first word may be left out.
    out, edits = every_step.with_name("out.txt"), every_step.with_name("edits.txt")
    edits.write_text(
        "# a host of two\nadd-item 3 1.5 osd.3 --loc host h3 --loc root all\n\n"
        "--add-item 4 1.5 osd.4 --loc host h3\nreweight_item osd.3 2.5  # bigger\n"
    )
    output("crush", every_step, "--edits", edits, "--reweight-item", "osd.4", "4", "-o", out)
    found = rows(out)
    assert (found["osd.3"]["weight"], found["osd.4"]["weight"]) == (2.5, 4.0)
    assert found["h3"]["weight"] == 6.5
    edits.write_text("remove-item osd.0\nremove osd.1\nmove 'osd.2\n")
    said = refusal("crush", every_step, "--edits", edits, "--tree")
    assert f'"remove": {edits}, line 2: this is no edit of a map; did you mean' in said
    assert f"{edits}, line 3: this is no line of words" in said
    refusal("crush", every_step, "--edits", edits, "-o", edits)


def test_names_that_a_terminal_would_obey_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "map.json"
    bucket = {"id": -1, "name": "", "type_id": 1, "alg": "straw2", "items": []}
    kinds = [{"type_id": 0, "name": "osd"}, {"type_id": 1, "name": "host"}]
    for name in ("\x1b[31mred", "right\u202eleft", "new\nline", ""):
        bucket["name"] = name
        path.write_text(json.dumps({"types": kinds, "buckets": [bucket], "rules": []}))
        if name:
            said = refusal("crush", path, "--tree")
            assert "a name has printable characters" in said
            assert not any(mark in said for mark in ("\x1b[31mred", "\u202e"))
    # A bucket without a name is shown.
    assert "host bucket0" in output("crush", path, "--tree")
    pool = {**OSD_DUMP["pools"][0], "pool_name": "\x1b[31mred"}
    paths = put(tmp_path, dump={**OSD_DUMP, "pools": [pool]}, crush=CRUSH)
    said = refusal("place", paths["dump"], "--crush", paths["crush"], "--groups")
    assert "expected text of printable characters" in said


def test_files_without_end_or_form_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("resilver.text.INPUT_MAX", 2**16)
    assert "never ends" in refusal("crush", "/dev/zero", "--tree")
    (tmp_path / "junk.bin").write_bytes(b"\xff\xfejunk")
    said = refusal("crush", tmp_path / "junk.bin", "--tree")
    assert "neither text nor a binary form that is known; give a CRUSH map" in said


def test_letters_that_an_encoding_lacks_end_no_command(tmp_path: Path) -> None:
    ascii_alone = environment(PYTHONIOENCODING="ascii")
    done = process(*STARTED, "reproduce", "burst-buffer-tables", cwd=tmp_path, env=ascii_alone)
    assert done.returncode == 0, done.stderr
    assert "?" in done.stdout and "unexpected" not in done.stderr


def test_a_changed_study_is_reproduced_in_a_folder_of_its_own() -> None:
    def folder(*settings: str, folder: Path | None = None) -> Path:
        return _folder_of(Request("x", folder=folder, settings=settings))

    assert folder() == Path("runs/reproduce")
    one, other = folder("cluster.servers=8"), folder("cluster.servers=16")
    assert len({one, other, folder()}) == 3 and one.parent == Path("runs")
    assert folder("a=1", "b=2") == folder("b=2", "a=1")
    assert folder("a=1", folder=Path("there")) == Path("there")
