"""CRUSH maps in every form, their edits, and what `place` and `crush` print of a plain one."""

import json
from pathlib import Path

import numpy as np
import pytest

from resilver import crush
from resilver.cli.crush.inputs import mixed
from resilver.crush import CrushMap
from resilver.errors import ConfigError, PlacementError
from tests.build import refused
from tests.integration.test_crush_front_door import EVERY_STEP
from tests.reference.draws import jenkins_of_two
from tests.terminal import Terminal, written

# What Ceph writes for a position without a device: CRUSH_ITEM_NONE, 0x7fffffff.
HOLE = 2_147_483_647


@pytest.fixture
def text_map(tmp_path: Path) -> Path:
    """Three hosts of a device each; rule 0 (plain) is for copies, rule 1 (pieces) for a code."""
    return written(tmp_path / "map.txt", EVERY_STEP)


def test_inputs_are_mapped_and_counted_on_every_device(text_map: Path, terminal: Terminal) -> None:
    ten = ["--rule", "plain", "--min-x", "0", "--max-x", "9"]
    lines = terminal.output("crush", text_map, *ten, "--num-rep", "3").splitlines()
    assert lines[0] == "Rule 0 (plain), 3 devices an input: 0 of 10 inputs came up short."
    rows = (line.split() for line in lines if line.strip().startswith("osd."))
    assert {name: int(count) for name, count in rows} == {f"osd.{at}": 10 for at in range(3)}
    short = terminal.output("crush", text_map, *ten, "--num-rep", "4")
    assert "4 devices an input: 10 of 10 inputs came up short." in short
    # What is short ends early; a hole stays, for the position of a strip is its meaning.
    for rule, devices in (("plain", [0, 2]), ("pieces", [0, HOLE, 2])):
        words = ["--rule", rule, "--num-rep", "3", "--x", "7", "--weight", "1", "0"]
        (row,) = terminal.json_output("crush", text_map, *words, "--show-mappings")
        assert row["devices"] == devices and row["x"] == 7
    # Of 3 inputs with 2 copies each, 2 on every of 3 devices are expected.
    words = ["--rule", "0", "--num-rep", "2", "--show-utilization", "--min-x", "0", "--max-x", "2"]
    (row,) = terminal.json_output("crush", text_map, *words)
    assert row["sizes"] == {"2": 3} and sum(one["stored"] for one in row["devices"]) == 6
    assert row["devices"][1]["expected"] == pytest.approx(2.0)


def test_options_are_read_as_crushtool_reads_them_and_quality_is_json_too(
    text_map: Path, terminal: Terminal
) -> None:
    # As in crushtool: inputs 0 to 1023. Without a --show option the range is what was asked for.
    options = ["--rule", "0", "--num-rep", "2", "--max-x", "4"]
    out, err = terminal.texts("crush", text_map, *options, "--show-mappings")
    assert out.count("\n") == 1024 and err.startswith("note: inputs 0 to 1023")
    assert "0 of 5 inputs" in terminal.output("crush", text_map, *options)
    # Device 1 has reweight 0, so that its copies go to the other two; --weight stands twice.
    options = ["--num_rep", "2", "--min_x=0", "--max_x", "1", "--show_mappings", "--rule", "0"]
    weights = ["--weight", "1", "0", "-w", "osd.2", "1"]
    lines = terminal.output("crush", "-i", text_map, *options, *weights).splitlines()
    assert [line.partition("[")[0] for line in lines] == [f"CRUSH rule 0 x {x} " for x in (0, 1)]
    assert all(set(json.loads(line[line.index("[") :])) == {0, 2} for line in lines)
    # Three copies on three hosts: every set is the same, and two failed devices of three lose it.
    options = ["--rule", "0", "--num-rep", "2", "--min-x", "0", "--max-x", "99"]
    (row,) = terminal.json_output("place", text_map, "--quality", *options)
    assert (row["sets"], row["devices"], row["distinct_sets"]) == (100, 3, 3)
    assert row["loss_share"] == 1.0 and row["copy_balance"]["max_over_fair"] < 1.4
    (row,) = terminal.json_output("place", "--compare", text_map, text_map, *options)
    assert (row["total"], row["moved"], row["changed_sets"]) == (200.0, 0.0, 0)


def test_a_map_is_compiled_and_decompiled_in_crushtools_words(
    tmp_path: Path, terminal: Terminal
) -> None:
    """Rule: -d writes text and -c a compiled map, whatever the suffix of -o."""
    layers = ["host", "straw2", "2", "root", "straw2", "0"]
    compiled, text = tmp_path / "map.json", tmp_path / "map.bin"
    terminal.output("crush", "--build", "--num_osds", 4, *layers, "-o", tmp_path / "map")
    terminal.output("crush", "-d", tmp_path / "map", "-o", text)
    assert text.read_text() == terminal.output("crush", "-d", tmp_path / "map")
    terminal.output("crush", "-c", text, "--outfn", compiled)
    assert compiled.read_bytes() == (tmp_path / "map").read_bytes()
    assert crush.CrushMap.read(text).to_bytes() == compiled.read_bytes()


def test_a_pools_number_is_mixed_in_as_ceph_mixes_it() -> None:
    # Ceph, crush/hash.c, crush_hash32_rjenkins1_2, as the twin has it in whole numbers.
    inputs = np.array([0, 123456, 2**32 - 1], dtype=np.uint32)
    assert mixed(inputs, 7).tolist() == [jenkins_of_two(x, 7) for x in inputs.tolist()]


LAYERS = [("host", "straw2", 2), ("root", "straw2", 0)]


@pytest.fixture
def cluster() -> CrushMap:
    return CrushMap.build(4, LAYERS)


def test_a_report_is_read_for_its_map(cluster: CrushMap, tmp_path: Path) -> None:
    report = tmp_path / "report"
    report.write_text(json.dumps({"crushmap": json.loads(cluster.to_json())}))
    assert CrushMap.read(report).to_text() == cluster.to_text()


def test_errors_name_the_file_and_the_place(tmp_path: Path, terminal: Terminal) -> None:
    path = tmp_path / "map"
    for data, part in (
        (b"device 0 osd.0\ndevice 0 osd.1\n", "line 2, column 8"),
        (b'{"types": [], "rules": [], "buckets": [{"id": "x"}]}', "buckets[0].id"),
        (b"\x00\x00\x01\x00\xff\xff\xff\xff", "byte 8"),
        (b"device 0 osd.\xe9", "byte 13"),
    ):
        path.write_bytes(data)
        with pytest.raises((PlacementError, ConfigError)) as caught:
            CrushMap.read(path)
        assert str(path) in str(caught.value) and part in str(caught.value)
    path.write_bytes(b"\x1f\x8b\x08\x00")
    assert "it cannot be unpacked" in terminal.refusal("crush", path, "--rule", "0")
    assert "missing: there is no such file" in refused(CrushMap.read, tmp_path / "missing")
    assert "this is a folder" in refused(CrushMap.read, tmp_path)


def test_edits_return_another_map_or_say_what_is_wrong(cluster: CrushMap) -> None:
    before = cluster.to_bytes()
    updated = cluster.with_item_updated("osd.1", 3, {"host": "host1"})
    assert updated.recomputed().to_text() == updated.to_text()
    assert cluster.to_bytes() == before
    for work, part in [
        (lambda: cluster.moved("root", {"host": "host0"}), "contain itself"),
        (lambda: cluster.with_item("osd.9", float("nan"), {"host": "host0"}), "below 32768"),
        (lambda: cluster.with_item("osd.9", 1, {}), "location"),
        (lambda: CrushMap.build(0, LAYERS), "devices = 0"),
    ]:
        with pytest.raises(PlacementError) as caught:
            work()
        assert part in str(caught.value)
    assert "below 2^32" in refused(CrushMap.build, -1, LAYERS)
    with pytest.raises(ConfigError, match="use a number from 0 to below 2"):
        cluster.with_item("osd.9", 1, {"host": "host0"}, id=-3)


def test_stand_in_weights_are_chosen_by_key(cluster: CrushMap) -> None:
    # Rule: a pool's stand-in weights place its groups. Pool 5's give host 0 no weight, so nothing
    # lands on osd.0 or osd.1.
    text = cluster.to_text().replace(
        "# end crush map", "choose_args 5 { { bucket_id -3 weight_set [ [ 0 2 ] ] } }"
    )
    weighted = CrushMap.from_text(text)
    inputs = np.arange(200, dtype=np.uint32)
    plain = weighted.map_rule(0, inputs, 1)
    assert np.array_equal(plain, cluster.map_rule(0, inputs, 1))
    assert set(np.unique(plain)) == {0, 1, 2, 3}
    assert set(np.unique(weighted.map_rule(0, inputs, 1, choose_args=5))) == {2, 3}
