"""`resilver place` and `crush`: options together, errors, and what they print of a plain map."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from resilver import cli
from resilver.cli.crush.inputs import mixed
from tests.terminal import Terminal
from tests.unit.small_reports import ONE, flat, rule

# What Ceph writes for a position without a device: CRUSH_ITEM_NONE, 0x7fffffff.
HOLE = 2_147_483_647

# Ten devices of weight 1 in one root, and two rules that choose among them.
DUMP = flat(
    [ONE] * 10,
    [
        rule(number, "choose_firstn", "osd") | {"rule_name": name, "min_size": 2, "max_size": 3}
        for number, name in ((0, "data"), (4, "ssd"))
    ],
)


class FakeMap:
    """Puts input x on devices x, x + 1, ... of ten; input 3 comes up one short, input 4 in its
    first place has a hole. A device of reweight 0 is passed over for device 9.
    """

    @classmethod
    def read(cls, path: Path) -> FakeMap:
        assert path.read_text().startswith("# begin crush map")
        return cls()

    def document(self) -> dict[str, Any]:
        return DUMP

    def map_rule(self, rule: int, xs: Any, copies: int, reweight: Any = None) -> Any:
        rows = (xs[:, None].astype(np.int64) + np.arange(copies)) % 10
        rows[xs == 3, -1] = -1
        rows[xs == 4, 0] = HOLE
        if reweight is not None:
            out = np.append(reweight == 0, [False])
            rows[(rows >= 0) & (rows < HOLE) & out[np.clip(rows, -1, 9)]] = 9
        return rows.astype(np.int32)

    def device_name(self, device: int) -> str:
        return f"osd.{device}"


@pytest.fixture(autouse=True)
def fake_core(monkeypatch: pytest.MonkeyPatch) -> None:
    """A map whose placement is plain to see."""
    monkeypatch.setattr("resilver.crush.CrushMap", FakeMap)
    # What is lost in a year is simulated; here it is nothing.
    monkeypatch.setattr("resilver.data_loss.placed.placed_loss", lambda *_, **__: None)
    monkeypatch.setattr("resilver.data_loss.placed.placed_question", lambda *_: None)


@pytest.fixture
def text_map(tmp_path: Path) -> Path:
    """A file that is neither JSON nor compiled; the fake does not read further."""
    path = tmp_path / "map.txt"
    path.write_text("# begin crush map\n")
    return path


def test_mappings_are_printed_as_crushtool_prints_them(text_map: Path, terminal: Terminal) -> None:
    # What is short ends early; a hole stays, for the position of a strip is its meaning.
    options = ["--num-rep", "3", "--min-x", "2", "--max-x", "4", "--show-mappings"]
    assert terminal.output("crush", text_map, "--rule", "ssd", *options) == (
        "CRUSH rule 4 x 2 [2,3,4]\nCRUSH rule 4 x 3 [3,4]\nCRUSH rule 4 x 4 [2147483647,5,6]\n"
    )
    assert json.loads(terminal.output("crush", text_map, "--rule", "4", *options, "--json")) == [
        {"rule": 4, "x": 2, "devices": [2, 3, 4]},
        {"rule": 4, "x": 3, "devices": [3, 4]},
        {"rule": 4, "x": 4, "devices": [HOLE, 5, 6]},
    ]


def test_without_mappings_the_devices_shares_are_counted(
    text_map: Path, terminal: Terminal
) -> None:
    # Inputs 0 to 9 on 2 of 10 devices each give every device 2, less the ones that inputs 3 and 4
    # miss, both device 4.
    arguments = ["--rule", "4", "--num-rep", "2", "--min-x", "0", "--max-x", "9"]
    lines = terminal.output("crush", text_map, *arguments).splitlines()
    assert lines[0] == "Rule 4 (ssd), 2 devices an input: 2 of 10 inputs came up short."
    rows = (line.split() for line in lines if line.strip().startswith("osd."))
    counts = {name: int(count) for name, count in rows}
    assert counts == {f"osd.{device}": 2 for device in range(10) if device != 4}


def test_all_rules_and_their_sizes_are_shown_and_gaps_are_named(
    text_map: Path, terminal: Terminal
) -> None:
    # Rules 0 and 4 are for 2 to 3 copies; numbers 1 to 3 are no rules. Inputs 0 to 2 come up full,
    # 2 (or 3) of 10 devices an input make 3 * 2 / 10 expected copies a device.
    options = ["--show-statistics", "--min-x", "0", "--max-x", "2"]
    lines = terminal.output("crush", text_map, *options).splitlines()
    assert lines[:4] == [
        "rule 0 (data), x = 0..2, numrep = 2..3",
        "rule 0 (data) num_rep 2 result size == 2:\t3/3",
        "rule 0 (data) num_rep 3 result size == 3:\t3/3",
        "rule 1 dne",
    ]
    options = ["--rule", "0", "--num-rep", "2", "--show-utilization", "--json", *options]
    (row,) = json.loads(terminal.output("crush", text_map, *options))
    assert row["sizes"] == {"2": 3}
    assert row["devices"][1]["stored"] == 2
    assert row["devices"][1]["expected"] == pytest.approx(0.6)


def test_one_end_of_a_range_counts_for_nothing_and_says_so(
    text_map: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # As in crushtool: inputs 0 to 1023. Without a --show option the range is what was asked for.
    options = ["--rule", "0", "--num-rep", "2", "--max-x", "4"]
    assert cli.run(["crush", str(text_map), *options, "--show-mappings"]) == 0
    captured = capsys.readouterr()
    assert captured.out.count("\n") == 1024
    assert captured.err.startswith("note: inputs 0 to 1023")
    assert cli.run(["crush", str(text_map), *options]) == 0
    assert "0 of 5 inputs" not in capsys.readouterr().out


def test_two_word_options_and_underscores_are_crushtools(
    text_map: Path, terminal: Terminal
) -> None:
    # Device 1 has reweight 0 and its copies go to device 9; --weight stands twice.
    options = ["--num_rep", "2", "--min_x=0", "--max_x", "1", "--show_mappings", "--rule", "0"]
    weights = ["--weight", "1", "0", "-w", "osd.7", "0.5"]
    assert (
        terminal.output("crush", "-i", text_map, *options, *weights)
        == "CRUSH rule 0 x 0 [0,9]\nCRUSH rule 0 x 1 [9,2]\n"
    )


def test_quality_and_comparison_are_json_too(text_map: Path, terminal: Terminal) -> None:
    # Inputs 5 to 8 are on devices (5,6), (6,7), (7,8), (8,9): five devices hold 8 copies, where a
    # fair share of ten devices is 0.8; nothing moves between a map and itself.
    options = ["--rule", "0", "--num-rep", "2", "--min-x", "5", "--max-x", "8", "--json"]
    (row,) = json.loads(terminal.output("place", text_map, "--quality", *options))
    assert row["copy_balance"]["max_over_fair"] == pytest.approx(2 / 0.8)
    assert row["copy_balance"]["fullest"] == "osd.6"
    assert (row["sets"], row["devices"], row["distinct_sets"]) == (4, 10, 4)
    assert row["loss_share"] == pytest.approx(4 / 45)
    (row,) = json.loads(terminal.output("place", "--compare", text_map, text_map, *options))
    assert (row["total"], row["moved"], row["changed_sets"]) == (8.0, 0.0, 0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "exactly one of --groups"),
        (["--quality", "--affected", "--fail", "osd.1"], "exactly one of --groups"),
        (["--rule", "0"], "exactly one of --groups"),
        (["--groups"], "'map.txt' is a CRUSH map and has no pools"),
        (["--affected", "--fail", "osd.1"], "is a CRUSH map, which holds no data"),
        (["--affected"], "--affected: it needs what fails; add --fail"),
        (["--quality", "--fail", "osd.1"], "--fail: it applies only with --affected"),
        (["--quality", "--rule", "5"], "no such rule; it has 0 (data), 4 (ssd)"),
        (["--quality", "--min-x", "2", "--max-x", "1"], "the first not after the last"),
        (["--quality", "--max-x", "4294967296"], "inputs go from 0 to 4294967295"),
        (["--quality", "--weight", "10", "1"], "'map.txt' has no such device"),
        (["--quality", "--weight", "osd.1", "nan"], "a weight is a finite number"),
        (["--quality", "--weight", "1"], "--weight = 1: it takes two words"),
        (["--quality", "--rule", "0", "--num-rep", "2", "--fatal", "3"], "fatal = 3"),
        (["--groups", "--fatal", "1"], "--fatal: it applies only with --quality"),
        (["--groups", "--num-rep", "2"], "--num-rep: it applies only with --quality or --compare"),
        (["--compare"], "place --compare takes two files, and 1 are given"),
        (["other", "--quality"], "place --quality takes one FILE, and 2 are given"),
        (["--quality", "-o", "x"], '--output = "x": the answer is written as .html'),
        (["--quality", "--rule", "0", "--pool", "rbd"], "--pool: inputs of a rule belong to no"),
        (["--quality", "--set", "a=b"], "--set a=b: it changes a key of a study"),
        (["--quality", "--crush", "x"], "--crush = 'x': it completes a cluster"),
    ],
)
def test_what_cannot_be_placed_is_said_with_a_remedy(
    text_map: Path, arguments: list[str], words: str, terminal: Terminal
) -> None:
    assert words in terminal.refusal("place", text_map, *arguments)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "nothing is asked of the map; write it with -o FILE"),
        (["--rule", "5"], "no such rule; it has 0 (data), 4 (ssd)"),
        (["--rule", "5", "--show-mappings"], "no such rule; it has 0 (data), 4 (ssd)"),
        (["--rule", "0", "--min-x", "2", "--max-x", "1"], "the first not after the last"),
        (["--rule", "0", "--max-x", "4294967296"], "inputs go from 0 to 4294967295"),
        (["--rule", "0", "--x", "1", "--min-x", "0"], "--x: it excludes --min-x and --max-x"),
        (["--rule", "0", "--weight", "10", "1"], "'map.txt' has no such device"),
        (["--rule", "0", "--min-rep", "1"], "--min-rep and --max-rep choose together"),
        (["--add-item", "3", "1.0", "osd.3"], "--add-item 3 1.0 osd.3: it does not say where"),
        (["--remove-item", "osd.3"], "nothing is asked of the map"),
        (["--tree", "--move", "osd.3"], "--move osd.3: it does not say where the item goes"),
        (["--tree", "--loc", "root", "default"], "--loc: it means nothing by itself"),
        (["--tree", "--format", "text"], "--format: it applies only with --output"),
        (["--tree", "--num-osds", "4"], "--num-osds: it applies only with --build"),
        (["--compile"], "--compile: a compiled map is no text; add -o FILE"),
        (["--compile", "-d", "-o", "x"], "--compile: it excludes --decompile"),
        (["other", "--rule", "0"], "crush takes one FILE, and 2 are given"),
        (["--build", "--num-osds", "4", "--tree"], "a layer is a type, a bucket kind and a size"),
        (["--build", "--tree"], "--build: it needs the number of devices; add --num-osds N"),
    ],
)
def test_a_map_that_cannot_be_tested_is_refused_with_a_remedy(
    text_map: Path, arguments: list[str], words: str, terminal: Terminal
) -> None:
    assert words in terminal.refusal("crush", text_map, *arguments)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["map", "--tree"], "--tree: this is an option of crushtool, which `resilver crush` has; "
         "`resilver crush map --tree`"),
        (["--build", "8", "host", "straw2", "4"],
         "`resilver crush --build --num-osds 8 host straw2 4`"),
        (["-i", "map", "--show_mappings"], "`resilver crush -i map --show_mappings`"),
        (["--test", "--compare", "a", "b"], "`resilver crush BEFORE --compare AFTER`"),
        (["map", "--quality", "--reweight-item", "osd.1", "2"],
         "write a map with `resilver crush FILE ... -o MAP`"),
    ],
)  # fmt: skip
def test_crushtools_options_are_those_of_crush(
    arguments: list[str], words: str, terminal: Terminal
) -> None:
    assert words in terminal.refusal("place", *arguments)


def test_a_map_is_compiled_and_decompiled_in_crushtools_words(
    text_map: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, terminal: Terminal
) -> None:
    """Rule: -d writes text and -c a compiled map, whatever the suffix of -o."""
    from resilver import crush

    monkeypatch.undo()
    layers = ["host", "straw2", "2", "root", "straw2", "0"]
    compiled, text = tmp_path / "map.json", tmp_path / "map.bin"
    terminal.output("crush", "--build", "--num_osds", 4, *layers, "-o", tmp_path / "map")
    terminal.output("crush", "-d", tmp_path / "map", "-o", text)
    assert text.read_text() == terminal.output("crush", "-d", tmp_path / "map")
    terminal.output("crush", "-c", text, "--outfn", compiled)
    assert compiled.read_bytes() == (tmp_path / "map").read_bytes()
    assert crush.CrushMap.read(text).to_bytes() == compiled.read_bytes()


@pytest.mark.parametrize(
    ("layers", "words"),
    [
        (["host", "strow2", "4"], 'did you mean "straw2"?'),
        (["host", "straw2", "-4"], '"-4" of layer "host" is not a number of items'),
        (["host", "straw2"], "a layer is a type, a bucket kind and a size"),
    ],
)
def test_layers_that_are_none_are_named(layers: list[str], words: str, terminal: Terminal) -> None:
    assert words in terminal.refusal("crush", "--build", "--num-osds", "8", "--tree", "--", *layers)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'{"osdmap": {', "line 1"),
        (b'{"monmap": []}', "neither a `ceph report`"),
        (b"\xff\xfe", "neither text nor a binary form"),
    ],
)
def test_a_file_of_another_kind_is_named(
    tmp_path: Path, content: bytes, words: str, terminal: Terminal
) -> None:
    path = tmp_path / "map"
    path.write_bytes(content)
    assert words in terminal.refusal("place", str(path), "--groups")


def test_a_pools_number_is_mixed_in_as_ceph_mixes_it() -> None:
    # Ceph, crush/hash.c, crush_hash32_rjenkins1_2, followed by hand in whole numbers for the inputs
    # 0 and 123456 and the pool 7.
    def mix(a: int, b: int, c: int) -> tuple[int, int, int]:
        for first, second, third in ((13, 8, 13), (12, 16, 5), (3, 10, 15)):
            a = ((a - b - c) ^ (c >> first)) % 2**32
            b = ((b - c - a) ^ (a << second)) % 2**32
            c = ((c - a - b) ^ (b >> third)) % 2**32
        return a, b, c

    for x in (0, 123456):
        state = 1315423911 ^ x ^ 7
        a, b, state = mix(x, 7, state)
        _, _, state = mix(231232, a, state)
        _, _, state = mix(b, 1232, state)
        assert mixed(np.array([x], dtype=np.uint32), 7).tolist() == [state]


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"", "'map' is empty"), (b"\x1f\x8b\x08\x00", "map: it cannot be unpacked")],
)
def test_a_file_that_is_no_map_yet_says_what_to_do(
    content: bytes, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, terminal: Terminal
) -> None:
    """Rule: an empty dump and a packed one are named as such, before any rule is looked for."""
    monkeypatch.chdir(tmp_path)
    Path("map").write_bytes(content)
    assert words in terminal.refusal("crush", "map", "--rule", "0")
