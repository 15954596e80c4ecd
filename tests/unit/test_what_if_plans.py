"""Plans of changes: what they name, when they happen, whether they fit, and lines to paste."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from resilver.errors import ConfigError
from resilver.importers.ceph import ClusterReport, ErasureProfile
from resilver.whatif.changes import CHANGES
from resilver.whatif.fitting import PlanDoesNotFit
from resilver.whatif.kinds import KINDS
from resilver.whatif.options import Request
from resilver.whatif.plan import plan_of_options, read_plan
from resilver.whatif.request import prepare
from tests.build import refused
from tests.unit.what_if_clusters import prepared, small_report

TIB = 2**40
WEIGHT = 16e12 / TIB


def changes(ready: Any) -> list[dict[str, Any]]:
    return [step["change"] for step in ready.input["plan"]]


def lines(**given: Any) -> list[str]:
    ready = prepared(**given)
    return [line for step in ready.steps for line in step.commands]


@pytest.mark.parametrize(
    ("text", "osds"),
    [
        ("osd.12", [12]),
        ("12", [12]),
        ("osd=osd.12", [12]),
        ("osd.12, osd.3,osd.12", [3, 12]),
        ("host=node-001", [4, 5, 6, 7]),
        ("node-001,osd.0", [0, 4, 5, 6, 7]),
        # Hosts are dealt over three racks in turn: 0, 3 and 6 are in the first.
        ("rack=rack-00", [0, 1, 2, 3, 12, 13, 14, 15, 24, 25, 26, 27]),
    ],
)
def test_osds_are_named_by_number_or_by_bucket(text: str, osds: list[int]) -> None:
    assert changes(prepared(fail=text)) == [{"kind": "fail", "osds": osds}]


def test_changes_happen_at_their_times_and_settings_from_then_on() -> None:
    ready = prepared(fail=["osd.1 @ 2 h", "osd.2"], flag="noout @ 90 min")
    plan = [(step["at_seconds"], step["change"]["kind"]) for step in ready.input["plan"]]
    assert plan == [(0.0, "fail"), (5400.0, "flags"), (7200.0, "fail")]
    assert [step.text for step in ready.steps] == ["osd.2 fails", "noout is set", "osd.1 fails"]
    ready = prepared(set_option=["osd_op_queue=wpq", "osd_max_backfills=4 @ 1 h"])
    assert {one["osd_max_backfills"] for one in ready.input["osd_settings"]} == {1}
    (change,) = changes(ready)
    assert {one["osd_max_backfills"] for one in change["osd_settings"]} == {4}
    assert [osd for osd, _ in change["of_osd"]] == list(range(36))
    assert [step.at_seconds for step in ready.steps] == [0.0, 3600.0]
    for text in ("30%", "0.3", "30 %"):
        ready = prepared(slow=[f"host=node-001={text} @ 1 h", "osd.1=100% @ 2 h"])
        assert changes(ready) == [
            {"kind": "slow", "osds": [4, 5, 6, 7], "share": 0.3},
            {"kind": "slow", "osds": [1], "share": 1.0},
        ]
        told = [step.text for step in ready.steps]
        assert told == ["node-001 works at 30 % speed", "osd.1 works at full speed"]


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"flag": "noout"}, ["ceph osd set noout"]),
        ({"unflag": "noout,nodown"}, ["ceph osd unset noout", "ceph osd unset nodown"]),
        ({"out": "osd.1,osd.2"}, ["ceph osd out osd.1 osd.2"]),
        ({"in_": "osd.1"}, ["ceph osd in osd.1"]),
        ({"reweight": "osd.3=0.8"}, ["ceph osd reweight osd.3 0.8"]),
        ({"crush_reweight": "osd.3=1.8"}, ["ceph osd crush reweight osd.3 1.8"]),
        ({"drain": "osd.3"}, ["ceph osd crush reweight osd.3 0"]),
        ({"crush_move": "host=node-000 rack=rack-01"},
         ["ceph osd crush move node-000 rack=rack-01"]),
        ({"crush_rename": "node-000 other"}, ["ceph osd crush rename-bucket node-000 other"]),
        ({"crush_reweight": "host=node-006=1.8"}, ["ceph osd crush reweight-subtree node-006 1.8"]),
        ({"set_rule": "fast=vms_rule"}, ["ceph osd pool set fast crush_rule vms_rule"]),
        ({"pg_num": "vms=128"}, ["ceph osd pool set vms pg_num 128"]),
        ({"pool_size": "vms=2"}, ["ceph osd pool set vms size 2"]),
        ({"pool_size": "vms=2/2"},
         ["ceph osd pool set vms size 2", "ceph osd pool set vms min_size 2"]),
        ({"set_option": "osd_max_backfills=4"}, ["ceph config set osd osd_max_backfills 4"]),
        ({"set_option": "osd/class:hdd osd_recovery_sleep_hdd=0 @ 1 h"},
         ["ceph config set osd/class:hdd osd_recovery_sleep_hdd 0"]),
        ({"set_option": "upmap_max_deviation=1"},
         ["ceph config set mgr mgr/balancer/upmap_max_deviation 1"]),
        ({"upmap": "1.1a 0 17"}, ["ceph osd pg-upmap-items 1.1a 0 17"]),
        ({"upmap": "1.1a"}, ["ceph osd rm-pg-upmap-items 1.1a"]),
        ({"balance": "ceph"}, ["ceph balancer mode upmap", "ceph balancer on"]),
        ({"force": "vms"},
         ["ceph osd pool force-recovery vms", "ceph osd pool force-backfill vms"]),
        ({"force": "1.1a"}, ["ceph pg force-recovery 1.1a", "ceph pg force-backfill 1.1a"]),
        ({"stop": "osd.1"}, ["ceph orch daemon stop osd.1"]),
        ({"replace": "osd.1=18 TB"},
         ["ceph orch daemon stop osd.1", "ceph osd destroy 1 --yes-i-really-mean-it",
          "ceph orch daemon add osd node-000:DEVICE  # takes the number again",
          "ceph osd crush reweight osd.1 16.371"]),
        ({"fail": "osd.1"}, []),
        ({"slow": "osd.1=30%"}, []),
    ],
)  # fmt: skip
def test_lines_to_paste_are_those_that_do_it(given: dict[str, str], wanted: list[str]) -> None:
    assert lines(**given) == wanted


def test_what_is_added_stands_in_its_place_and_can_be_named_later() -> None:
    ready = prepared(add="2 hosts like node-000 in rack=rack-00,rack-02")
    (change,) = changes(ready)
    assert change["kind"] == "add"
    # Two hosts of four OSDs take the first numbers that are free.
    assert [one["osd"]["id"] for one in change["osds"]] == list(range(36, 44))
    first, last = change["osds"][0], change["osds"][-1]
    for found, *place in ((first, "node-000-new1", "rack-00"), (last, "node-000-new2", "rack-02")):
        kinds = ("host", "rack", "root")
        assert found["location"] == list(zip(kinds, [*place, "default"], strict=True))
    assert (first["class"], first["weight"]) == ("hdd", pytest.approx(WEIGHT, rel=1e-3))
    assert (first["osd"]["used_bytes"], first["osd"]["capacity_bytes"]) == (0, 16 * 10**12)
    # OSDs of one host share its network, and no other host has it.
    hosts = [one["osd"]["host"] for one in change["osds"]]
    assert len(set(hosts)) == 2 and hosts[0] == hosts[3] != hosts[4]
    assert not set(hosts) & {osd["host"] for osd in ready.input["osds"]}
    assert len(ready.input["osds"]) == 36
    assert ready.steps[0].text == "2 hosts like node-000 are added with 8 OSDs in all"
    assert ready.facts.places[43]["rack"] == "rack-02"
    ready = prepared(
        add="1 host like node-000 in rack=rack-01 class ssd", drain="host=node-000-new1 @ 1 d"
    )
    add, drain = [one for one in changes(ready) if one["kind"] in ("add", "crush_reweight")]
    assert drain == {"kind": "crush_reweight", "item": "node-000-new1", "weight": 0.0}
    assert {one["class"] for one in add["osds"]} == {"ssd"}
    known = ready.input["osd_settings"]
    for change in changes(ready):
        known = change.get("osd_settings", known)
    assert all(one["osd"]["settings"] < len(known) for one in add["osds"])
    (change,) = changes(prepared(add="2 osds like osd.5"))
    assert {one["location"][0] for one in change["osds"]} == {("host", "node-001")}


@pytest.mark.parametrize(
    ("what", "osds", "host"),
    [
        ("1 host with 10 x 18 TB hdd in rack=rack-00", 10, "node-000-new1"),
        ("1 host like node-003 with 10 x 18 TB in rack=rack-00 class hdd", 10, "node-003-new1"),
        ("2 osds like osd.3 with 18 TB", 2, "node-000"),
        ("2 osds with 18 TB hdd in host=node-001", 2, "node-001"),
    ],
)
def test_what_is_added_may_have_a_size_of_its_own(what: str, osds: int, host: str) -> None:
    ready = prepared(add=what)
    (change,) = changes(ready)
    assert len(change["osds"]) == osds
    for one in change["osds"]:
        assert (one["class"], one["location"][0]) == ("hdd", ("host", host))
        assert one["osd"]["capacity_bytes"] == 18 * 10**12
        assert one["weight"] == pytest.approx(18e12 / TIB)
        # As fast as those that are there, whose size is another.
        assert one["osd"]["device"] == ready.input["osds"][3]["device"]


def test_sizes_loads_devices_and_networks_are_stated() -> None:
    like, sized = (
        changes(prepared(add=f"2 hosts {what} in rack=rack-00"))[0]["osds"]
        for what in ("like node-000", "with 4 x 16 TB hdd")
    )
    weights = [[one.pop("weight") for one in osds] for osds in (like, sized)]
    # A map's weight is a multiple of 2^-16.
    assert weights[0] == pytest.approx(weights[1], abs=2**-16)
    assert like == sized
    asked = Request(load=("vms: 500 reads/s of 16 KiB, 200 writes/s of 4 KiB",))
    load = prepared(asked=asked).input["load"]
    reads = {"reads_per_second": 500.0, "read_bytes": 16384}
    assert load[0] == {**reads, "writes_per_second": 200.0, "write_bytes": 4096}
    assert load[1]["reads_per_second"] == 0
    osds = prepared(asked=Request(devices=("ssd=nvme-mixed-use",))).input["osds"]
    # The catalog's disk of 16 TB stays; flash becomes what is stated.
    assert osds[0]["device"]["read_seconds"] > 1e-3 > osds[35]["device"]["read_seconds"]
    assert osds[35]["device"] != prepared().input["osds"][35]["device"]


def recoded(profile: ErasureProfile | None) -> ClusterReport:
    """The cluster with its coded pool's profile another."""
    report = small_report()
    pools = (one if one.profile is None else replace(one, profile=profile) for one in report.pools)
    return replace(report, pools=tuple(pools))


def test_a_pool_of_another_plugin_is_taken_for_a_plain_code() -> None:
    plain = prepared(fail="osd.3")
    other = prepared(recoded(ErasureProfile("x", "strange", 4, 2)), fail="osd.3")
    (note,) = [note for note in other.notes if "uses the plugin" in note]
    assert note.startswith("Pool 'archive'") and "any 4 of its 6 shards restore data" in note
    assert other.input == plain.input and note not in plain.notes
    clay = prepared(recoded(ErasureProfile("x", "clay", 4, 2, "clay 4+2 d 5")), fail="osd.3")
    codes = {pool["name"]: pool.pop("code") for pool in clay.input["pools"]}
    assert {name: code for name, code in codes.items() if code} == {"archive": "clay 4+2 d 5"}
    assert clay.notes == plain.notes


def test_weights_that_are_no_sizes_are_told_and_unknown_profiles_refused() -> None:
    ready = prepared(
        crush_reweight="osd.5=1.4552", add="1 osd like osd.5 with 16 TB in host=node-001 @ 1 h"
    )
    (said,) = [note for note in ready.notes if "New OSDs get a CRUSH weight" in note]
    assert "weight 1.46 for 14.55 TiB, so a new OSD gets 10 times as much data per TiB" in said
    said = "pool 'archive' is coded by an unknown profile"
    with pytest.raises(ConfigError, match=said):
        prepared(recoded(None))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"add": "2 osds with 2 x 18 TB hdd in host=node-001"}, "an OSD has a single size"),
        ({"add": "1 host with 18 TB hdd"}, 'write "with 10 x 18 TB"'),
        ({"add": "1 host with 9 x 18 TB in rack=rack-00"}, "device class is missing: hdd or ssd"),
        ({"add": "1 host with 10 x 18 TB nvme"}, "no OSD of class nvme has a device model to copy"),
        ({"add": "1 host with 10 x 18 in rack=rack-00"}, "what they are like or their size"),
        ({"add": "1 rack with 10 x 18 TB hdd"}, "OSDs are in a host, not directly in a rack"),
        ({"add": "1 host with 0 x 18 TB hdd"}, "1 to 10,000 OSDs can be added at a time"),
        ({"add": "2 osds with 18 TB hdd"}, 'add it, such as "in host=node1"'),
        ({"add": "1 host with 4 x 18 TB hdd class ssd"}, "two device classes are given"),
        ({"replace": "osd.3"}, 'it is written such as "osd.12=18 TB"'),
        ({"replace": "osd.3=100 PB"}, "a device holds from 1 GiB to 1 PiB"),
        ({"fail": "host=node-01"}, "there are 9, node-000 to node-008"),
        ({"fail": "host=rack-00"}, "'rack-00' is of type rack"),
        ({"fail": "hst=node-001"}, 'did you mean "host"?'),
        ({"fail": ""}, "a change names OSDs or buckets"),
        ({"fail": "osd.1 @ 2"}, "a duration needs a unit"),
        ({"add": "4 hosts"}, 'such as "4 hosts like node1 in rack=r2"'),
        ({"add": "4 hosts like node-000"}, 'add their place, such as "in rack=rack-00"'),
        ({"add": "4 hosts like node-009 in rack=rack-00"}, "there is no host of this name"),
        ({"add": "1 rack like rack-00 in root=defaults"}, 'did you mean "default"?'),
        ({"add": "0 hosts like node-000"}, "from 1 to 10,000 are added"),
        ({"add": "2 osds like osd.77"}, "there is no OSD of this name"),
        ({"pool_size": "archive=5"}, "the pieces of a code stay as many"),
        ({"pool_size": "vms=3/4"}, "min_size is a whole number from 1 to 3"),
        ({"pool_size": "vm=3"}, 'did you mean "vms"?'),
        ({"pg_num": "vms"}, 'it is written such as "rbd=2048"'),
        ({"pg_num": "vms=0"}, "pg_num is a whole number from 1"),
        ({"set_rule": "vms=archiv_rule"}, 'did you mean "archive_rule"?'),
        ({"reweight": "osd.1=1.5"}, "a reweight is a number from 0 to 1"),
        ({"slow": "osd.1"}, 'it is written such as "osd.12=30%"'),
        ({"slow": "osd.1=0%"}, "a device works at is from 0.1 % to 100 %"),
        ({"slow": "osd.1=30"}, 'such as "30%" or "0.3"'),
        ({"crush_move": "node-0 rack=rack-00"}, "the map has no OSD or bucket of this name"),
        ({"crush_move": "node-000"}, "it is written NAME TYPE=NAME..."),
        ({"crush_move": "node-000 room=r1"}, "the map has no type 'room'"),
        ({"crush_move": "node-000 host=rack-00"}, "'rack-00' is of type rack"),
        ({"crush_move": "rack-00 host=node-000"}, "rack-00 cannot stand below itself"),
        ({"crush_move": "node-000 host=osd.1"}, "'osd.1' is an OSD, and only buckets hold items"),
        ({"crush_rename": "node-0 other"}, "the map has no bucket of this name"),
        ({"crush_rename": "node-000 node-001"}, "an item of the map has this name already"),
        ({"crush_rename": "node-000 osd.1"}, "an item of the map has this name already"),
        ({"crush_rename": "node-000 a~b"}, "other signs than letters"),
        ({"crush_rename": "node-000"}, "the new name is missing"),
        ({"crush_reweight": "osd.1=nan"}, "a CRUSH weight is a number from 0"),
        ({"upmap": "1.ffff 0 1"}, "pool 'vms' has 64 PGs; the last is 1.3f"),
        ({"upmap": "1.1 0"}, "pairs of OSDs, from and to"),
        ({"flag": "noot"}, 'did you mean "noout"?'),
        ({"balance": "cehp"}, 'did you mean "ceph"?'),
        ({"map": "/nowhere/new.crush"}, "/nowhere/new.crush"),
    ],
)
def test_what_names_nothing_is_refused_with_the_nearest_name(
    given: dict[str, str], says: str
) -> None:
    assert says in refused(prepared, **given)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        # The code 4+2 takes six hosts of disks, and there are six.
        ({"drain": "host=node-000"}, "'archive' needs 6 hosts that take data, and 5 would be left"),
        ({"out": "host=node-000"}, "'archive' needs 6 hosts that take data, and 5 would be left"),
        ({"drain": "root=default"}, "'fast' needs 3 hosts that take data, and none would be left"),
        ({"pool_size": "fast=6"}, "needs 6 hosts that take data, and 3 would be left: 3 too few"),
        # One disk of four stays on each host: what half filled 24 disks does not fit on 6.
        ({"out": ",".join(f"osd.{n}" for n in range(24) if n % 4)}, "and the 6 OSDs left hold"),
    ],
)
def test_a_plan_that_leaves_no_room_says_by_how_much(given: dict[str, str], says: str) -> None:
    with pytest.raises(PlanDoesNotFit) as raised:
        prepared(**given)
    assert says in str(raised.value) and "this does not fit" in str(raised.value)
    # Followed anyway it is a note, of the same words.
    assert str(raised.value) in prepared(asked=Request(anyway=True), **given).notes


def test_plans_have_their_steps_and_room_that_comes_first_makes_them_fit(tmp_path: Path) -> None:
    text = '[[steps]]\nunflag = "norebalance"\nfail = ["osd.1", "osd.2"]\n'
    (tmp_path / "halves.toml").write_text(text + '[[steps]]\nat = "2 h"\nflag = "noout"\n')
    plan = read_plan(tmp_path / "halves.toml")
    assert plan.name == "halves"
    told = [step.text for step in prepare(small_report(), plan, Request()).steps]
    assert told == ["norebalance is unset", "osd.1 fails", "osd.2 fails", "noout is set"]
    ready = prepared(add="1 host like node-000 in rack=rack-00", drain="host=node-000 @ 1 h")
    assert [one["kind"] for one in changes(ready)] == ["add", "crush_reweight"]
    assert changes(prepared(fail="root=default"))[0]["osds"] == list(range(36))
    ready = prepare(small_report(), plan_of_options({}), Request())
    assert (ready.plan, ready.steps, ready.input["plan"]) == ("as it is", (), [])
    assert set(CHANGES) == {kind.key for kind in KINDS}


@pytest.mark.parametrize(
    ("network", "rate"),
    # Of 1,538 B on the wire 1,448 are data (IEEE 802.3): 10 Gb/s pass 1.177 GB/s of it.
    [("", 1.25e9 * 1448 / 1538), ("25gbe", 3.125e9 * 1448 / 1538), ("8 Gb/s", 1e9)],
)
def test_a_network_is_of_the_catalog_or_a_rate(network: str, rate: float) -> None:
    found = prepared(asked=Request(network=network)).input["network"]
    assert found["host_bytes_per_second"] == pytest.approx(rate, rel=1e-3)
