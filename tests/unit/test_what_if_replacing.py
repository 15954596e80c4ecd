"""What replacing the devices of OSDs comes to."""

import pytest

from resilver.whatif.options import Request
from tests.unit.what_if_clusters import OsdMetadata, of_release, prepared


def test_an_osd_stops_and_comes_back_empty_with_its_new_size_and_weight() -> None:
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


def test_a_smaller_device_than_what_an_osd_holds_is_told() -> None:
    notes = prepared(replace="osd.5=1 TB").notes
    (said,) = [note for note in notes if note.startswith("osd.5 holds")]
    assert "gets a device of 931.3 GiB: by its lower CRUSH weight it gets less" in said
    assert not any("holds" in note for note in prepared(replace="osd.5=18 TB").notes)


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
