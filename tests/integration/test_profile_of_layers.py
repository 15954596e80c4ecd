"""`resilver profile STUDY.toml`: what layers pass and lose, what binds, and what was measured."""

from pathlib import Path

import pytest

import resilver
from resilver.center.layering import LayerProfile, needed_of
from tests.integration.study_runs import study_text
from tests.terminal import json_output, with_page, written

MEASURED = "layer,mode,size,parts,rate\n"


@pytest.fixture
def study(tmp_path: Path) -> Path:
    return written(tmp_path / "study.toml", study_text("layers"))


def test_each_layer_loses_what_the_narrower_one_behind_it_does_not_pass(study: Path) -> None:
    found = json_output("profile", study)
    layers = {one["layer"]: one for one in found["layers"]}
    assert [*layers][:3] == ["drive", "controller", "box"]
    for layer, alone, stacked, lost in (
        ("drive", 40e9, 40e9, 0.0),
        ("controller", 8e9, 8e9, 32e9),
        ("box", 5e9, 5e9, 3e9),
    ):
        one = layers[layer]
        assert one["alone_bytes_per_second"] == pytest.approx(alone, rel=1e-6)
        assert one["stacked_bytes_per_second"] == pytest.approx(stacked, rel=1e-6)
        assert one["lost_bytes_per_second"] == pytest.approx(lost, rel=1e-6)
    assert layers["controller"]["lost_share"] == pytest.approx(0.8, rel=1e-6)
    # All is passed on from there; what the network could do makes no difference.
    assert found["rate_bytes_per_second"] == pytest.approx(5e9, rel=1e-6)
    assert (found["binding_layer"], found["binding"]) == ("box", "box.0")
    assert layers["box"]["bound"] == found["clients"] == 16


def test_a_target_says_what_each_part_needs_and_is_met_or_not(study: Path) -> None:
    found = json_output("profile", study, "--target", "4 GB/s")
    needed = {one["level"]: one["each_bytes_per_second"] for one in found["needed"]}
    assert needed == {"room": 4e9, "box": 4e9, "controller": 1e9, "drive": 1e8}
    assert json_output("profile", study, "--target", "6 GB/s", code=1)["holds"] is False


def test_what_parts_of_the_paper_need_for_a_terabyte_a_second() -> None:
    # Center.md's row for 1 TB/s: unit 27.8 GB/s, server 3.47 GB/s, group 496 MB/s, disk 49.6 MB/s,
    # and 62.0 MB/s where two of ten hold parity.
    counts = [("couplet", 36), ("server", 288), ("ost", 2016), ("drive", 20_160)]
    found = [one.each_bytes_per_second for one in needed_of(1e12, counts, (8, 10))]
    exact = [1e12 / 36, 1e12 / 288, 1e12 / 2016, 1e12 / 20_160, 1e12 / 16_128]
    assert found == pytest.approx(exact, rel=1e-12)
    assert [float(f"{one / 1e6:.3g}") for one in found] == [27_800, 3470, 496, 49.6, 62.0]


def test_measured_rates_stand_beside_those_of_as_many_parts(study: Path, tmp_path: Path) -> None:
    path = tmp_path / "measured.csv"
    lines = ("drive,read,1 MB,10,9 GB/s", "controller,read,,,6 GB/s", "clients,,,,4 GB/s")
    others = ("box,write,,,4 GB/s", "drive,read,4 MB,1,1 GB/s")
    path.write_text(MEASURED + "\n".join([*lines, *others]), encoding="utf-8")
    found = json_output("profile", study, "--measured", str(path))["measured"]
    # Ten drives of 40 should read 10 GB/s, all controllers 8, and clients what is left: 5.
    expected = [10e9, 8e9, 5e9, None, None]
    for one, rate in zip(found, expected, strict=True):
        if rate is None:
            # A write, and requests of another size: nothing is expected of them.
            assert one["expected_bytes_per_second"] is None and one["of_expected"] is None
        else:
            assert one["expected_bytes_per_second"] == pytest.approx(rate, rel=1e-6)
    assert [one["of_expected"] for one in found[:3]] == pytest.approx([0.9, 0.75, 0.8], rel=1e-6)


def test_the_page_the_terminal_and_python_say_the_same(study: Path, tmp_path: Path) -> None:
    out, text = with_page(tmp_path, "profile", study, "--target", "4 GB/s")
    assert "16 clients get 5 GB/s together" in out
    assert "chart-layers" in text and "16 clients get 5 GB/s together" in text
    found = resilver.profile(study)
    assert isinstance(found, LayerProfile)
    assert found.binding.layer == "box" and found.holds
