"""What replacing the devices of OSDs comes to."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from resilver.importers.ceph import OsdMetadata
from resilver.whatif.options import Request
from tests.unit.what_if_clusters import of_release, prepared, small_report


def test_a_replaced_osd_comes_back_empty_in_and_with_what_fits() -> None:
    ready = prepared(replace="osd.5=18 TB")
    stop, device, weight, *back = (step["change"] for step in ready.input["plan"])
    assert stop == {"kind": "stop", "osds": [5]}
    (new,) = device["osds"]
    assert (new["id"], new["capacity_bytes"], new["used_bytes"]) == (5, 18 * 10**12, 0)
    assert weight == {"kind": "crush_reweight", "item": "osd.5", "weight": 18e12 / 2**40}
    assert [one["kind"] for one in back] == ["start", "in"]
    # What the cluster begins with has the old one.
    old = next(osd for osd in ready.input["osds"] if osd["id"] == 5)
    assert old["capacity_bytes"] == 16 * 10**12 and old["used_bytes"] > 0
    notes = prepared(replace="osd.5=1 TB").notes
    (said,) = [note for note in notes if note.startswith("osd.5 holds")]
    assert "gets a device of 931.3 GiB: by its lower CRUSH weight it gets less" in said
    assert not any("holds" in note for note in prepared(replace="osd.5=18 TB").notes)
    ready = prepared(out="osd.5", replace="osd.5=18 TB @ 1 h")
    assert ready.steps[-1].commands[-1] == "ceph osd in osd.5"


@pytest.mark.parametrize("change", [{"add": "1 osd like osd.5"}, {"replace": "osd.5=18 TB"}])
def test_new_osds_allocate_as_settings_say_and_the_others_as_they_began(
    change: dict[str, str],
) -> None:
    began = tuple(OsdMetadata(osd, min_alloc_bytes=65_536) for osd in range(36))
    ready = prepared(of_release(18, 2, 4, metadata=began), Request(), **change)
    of_kind = [step["change"] for step in ready.input["plan"]]
    (osds,) = [one["osds"] for one in of_kind if one["kind"] in change]
    assert [one.get("osd", one)["min_alloc_bytes"] for one in osds] == [4096]
    assert {osd["min_alloc_bytes"] for osd in ready.input["osds"]} == {65_536}


def test_a_replaced_osd_has_the_settings_of_its_time() -> None:
    stated = ["osd.35 osd_max_backfills=5", "osd.35 osd_max_backfills=1 @ 1 h"]
    ready = prepared(set_option=stated, replace="osd.35=18 TB @ 2 h")
    changes = [step["change"] for step in ready.input["plan"]]
    (settings,) = [one["osd_settings"] for one in changes if one["kind"] == "settings"]
    ((new,),) = [one["osds"] for one in changes if one["kind"] == "replace"]
    assert settings[new["settings"]]["osd_max_backfills"] == 1


def test_a_device_is_like_those_of_the_class_that_the_map_has_by_then() -> None:
    crushmap = json.loads(small_report().crushmap)
    for device in crushmap["devices"]:
        device["class"] = "nvme" if device["id"] == 5 else device["class"]
    with TemporaryDirectory(prefix="resilver-") as folder:
        path = Path(folder) / "map.json"
        path.write_text(json.dumps(crushmap), encoding="utf-8")
        ready = prepared(map=str(path), replace="osd.5=18 TB", asked=Request(anyway=True))
    changes = [step["change"] for step in ready.input["plan"]]
    ((new,),) = [one["osds"] for one in changes if one["kind"] == "replace"]
    assert new["device"] == ready.input["osds"][5]["device"]


def test_before_luminous_a_new_osd_takes_the_lowest_free_number() -> None:
    def said(*release: int) -> bool:
        notes = prepared(of_release(*release), replace="osd.5,osd.6=18 TB").notes
        return any("takes the lowest free number" in note for note in notes)

    assert said(10, 2, 7) and not said(12, 2, 0)
