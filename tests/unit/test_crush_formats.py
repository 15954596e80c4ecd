"""CRUSH maps in every form, and their edits, from Python."""

import json
from pathlib import Path

import numpy as np
import pytest

from resilver.crush import CrushMap
from resilver.errors import ConfigError, PlacementError
from tests.build import refused

LAYERS = [("host", "straw2", 2), ("root", "straw2", 0)]


@pytest.fixture
def cluster() -> CrushMap:
    return CrushMap.build(4, LAYERS)


def test_each_form_reads_back(cluster: CrushMap, tmp_path: Path) -> None:
    text = cluster.to_text()
    forms = {"a": text.encode(), "b": cluster.to_json().encode(), "c": cluster.to_bytes()}
    for name, data in forms.items():
        (tmp_path / name).write_bytes(data)
        again = CrushMap.read(tmp_path / name)
        assert again.to_text() == text
        assert again.to_bytes() == cluster.to_bytes()
    report = tmp_path / "report"
    report.write_text(json.dumps({"crushmap": json.loads(cluster.to_json())}))
    assert CrushMap.read(report).to_text() == text


def test_errors_name_the_file_and_the_place(tmp_path: Path) -> None:
    cases = {
        "text": (b"device 0 osd.0\ndevice 0 osd.1\n", PlacementError, "line 2, column 8"),
        "json": (
            b'{"types": [], "rules": [], "buckets": [{"id": "x"}]}',
            PlacementError,
            "buckets[0].id",
        ),
        "binary": (b"\x00\x00\x01\x00\xff\xff\xff\xff", PlacementError, "byte 8"),
        "latin": (b"device 0 osd.\xe9", ConfigError, "byte 13"),
    }
    for name, (data, kind, part) in cases.items():
        path = tmp_path / name
        path.write_bytes(data)
        with pytest.raises(kind) as caught:
            CrushMap.read(path)
        assert str(path) in str(caught.value)
        assert part in str(caught.value)
    assert "missing: there is no such file" in refused(CrushMap.read, tmp_path / "missing")
    assert "this is a folder" in refused(CrushMap.read, tmp_path)


def test_edits_return_another_map_or_say_what_is_wrong(cluster: CrushMap) -> None:
    before = cluster.to_bytes()
    more = cluster.with_item("osd.7", 2.5, {"host": "host2", "root": "root"})
    moved = more.moved("osd.7", {"host": "host0"})
    lighter = moved.reweighted("osd.7", 0.5)
    buckets = {entry["name"]: entry for entry in json.loads(lighter.to_json())["buckets"]}
    # Host 0 holds two devices of weight 1 and one of 0.5; host 2 is left empty.
    assert buckets["host0"]["weight"] == 5 * 32768
    assert buckets["host2"]["items"] == []
    assert [item["id"] for item in buckets["host0"]["items"]] == [0, 1, 7]
    gone = lighter.without_item("osd.7").without_item("host2")
    assert gone.to_text() == cluster.to_text()
    updated = cluster.with_item_updated("osd.1", 3, {"host": "host1"})
    assert updated.recomputed().to_text() == updated.to_text()
    assert cluster.to_bytes() == before
    for work, part in [
        (lambda: cluster.without_item("osd.9"), "osd.9"),
        (lambda: cluster.moved("root", {"host": "host0"}), "contain itself"),
        (lambda: cluster.with_item("osd.9", float("nan"), {"host": "host0"}), "below 32768"),
        (lambda: cluster.with_item("osd.9", 1, {}), "location"),
        (lambda: CrushMap.build(4, [("host", "straw3", 2)]), "straw3"),
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
