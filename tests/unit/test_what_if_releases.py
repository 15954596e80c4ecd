"""Which release has what, and which form its command lines take there."""

import json
import re
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from resilver.importers.ceph import ClusterReport, ConfigEntry, OsdMetadata, PoolLimits
from resilver.whatif.options import Request
from tests.build import refused
from tests.unit.what_if_clusters import of_release, prepared, small_report

LUMINOUS = "set-require-min-compat-client luminous"


def lines(release: str, client: str = "luminous", **given: Any) -> list[str]:
    report = replace(small_report(), require_min_compat_client=client)
    ready = prepared(report, Request(release=release), **given)
    return [line for step in ready.steps for line in step.commands]


@pytest.mark.parametrize(
    ("option", "told", "kept"),
    [
        ("osd_max_backfills=4", ["osd.*"], "osd"),
        ("osd.3 osd_max_backfills=4", ["osd.3"], "osd.3"),
        ("osd/host:node-001 osd_max_backfills=4", [f"osd.{osd}" for osd in (4, 5, 6, 7)],
         "osd/host:node-001"),
        ("mon_osd_down_out_interval=900", ["mon.*"], "mon"),
        ("mon_max_pg_per_osd=400", ["mon.*", "osd.*"], "global"),
    ],
)  # fmt: skip
def test_a_setting_is_injected_before_the_monitors_keep_it(
    option: str, told: list[str], kept: str
) -> None:
    name, value = option.split()[-1].split("=")
    injected = [f"ceph tell {who} injectargs '--{name} {value}'" for who in told]
    assert lines("12.2.13", set_option=option) == injected
    assert lines("13.2.10", set_option=option) == [f"ceph config set {kept} {name} {value}"]


def test_an_option_of_a_module_is_kept_by_its_key_before_it_is_a_setting() -> None:
    option = "mgr/balancer/sleep_interval=30"
    key = "mgr/balancer/sleep_interval 30"
    assert lines("12.2.13", set_option=option) == [f"ceph config-key set {key}"]
    assert lines("13.2.10", set_option=option) == [f"ceph config set mgr {key}"]


@pytest.mark.parametrize(
    ("release", "client", "given", "wanted"),
    [
        ("18.2.4", "reef", {"upmap": "1.1a"}, "rm-pg-upmap-items 1.1a"),
        ("12.2.13", "jewel", {"upmap": ["1.1a 0 17", "1.1b 4 9"]},
         f"{LUMINOUS}; pg-upmap-items 1.1a 0 17; pg-upmap-items 1.1b 4 9"),
        ("14.2.22", "unknown", {"upmap": "1.1a"}, f"{LUMINOUS}; rm-pg-upmap-items 1.1a"),
        ("10.2.7", "", {"set_rule": "fast=vms_rule"}, "pool set fast crush_ruleset 0"),
        ("12.2.13", "", {"set_rule": "fast=vms_rule"}, "pool set fast crush_rule vms_rule"),
    ],
)  # fmt: skip
def test_lines_take_the_form_of_their_release(
    release: str, client: str, given: dict[str, Any], wanted: str
) -> None:
    assert lines(release, client, **given) == [f"ceph osd {line}" for line in wanted.split("; ")]


def test_a_balancer_is_turned_on_and_an_osd_started_as_the_release_does_it() -> None:
    on = ["ceph balancer mode upmap", "ceph balancer on"]
    assert lines("18.2.4", "mimic", balance="ceph") == on
    before = ["ceph mgr module enable balancer", f"ceph osd {LUMINOUS}"]
    assert lines("13.2.10", "", balance="ceph") == before + on
    assert lines("14.2.22", "", start="osd.3") == ["systemctl start ceph-osd@3  # on node-000"]


@pytest.mark.parametrize(
    ("release", "given", "says"),
    [
        ("10.2.7", {"upmap": "1.1a 0 17"}, "`ceph osd pg-upmap-items` since 12.2.0"),
        ("10.2.7", {"balance": "bytes"}, "`ceph osd pg-upmap-items` since 12.2.0"),
        ("10.2.7", {"balance": "ceph"}, "a balancer since 12.2.0"),
        ("10.2.7", {"balance": "off"}, "a balancer since 12.2.0"),
        ("10.2.7", {"force": "1.1a"}, "`ceph pg force-recovery` since 12.2.0"),
        ("13.2.10", {"force": "vms"}, "`ceph osd pool force-recovery` since 14.2.0"),
        ("13.2.10", {"pg_num": "vms=8"}, "merging of PGs (a smaller pg_num) since 14.2.0"),
        ("16.2.15", {"flag": "noautoscale"}, "the flag since 17.2.0"),
        ("15.2.14", {"set_option": "osd_mclock_profile=balanced"}, "osd_mclock_profile since 16.2"),
    ],
)
def test_what_a_release_lacks_is_refused_by_its_name(
    release: str, given: dict[str, Any], says: str
) -> None:
    said = refused(lines, release, **given)
    assert says in said and f", and this cluster runs {release}" in said


def test_an_operator_takes_steps_of_pg_num_before_the_manager_does() -> None:
    """A command splits off 32 PGs for each of 36 OSDs at the most: 1,152 more than before."""
    pool = next(pool for pool in small_report().pools if pool.name == "vms")
    first = pool.pg_num + 32 * 36
    assert first < 1500 < first + 32 * 36
    option = "mon_max_pg_per_osd=1000"
    steps = (f"pg_num {first}", "pg_num 1500", "pgp_num 1500")
    wanted = [f"ceph osd pool set vms {step}" for step in steps]
    assert lines("13.2.10", set_option=option, pg_num="vms=1500")[1:] == wanted
    assert lines("14.2.22", set_option=option, pg_num="vms=1500")[1:] == wanted[1:2]
    wider = [option, "mon_osd_max_split_count=64"]
    assert lines("13.2.10", set_option=wider, pg_num="vms=1500")[2:] == wanted[1:]


def total(but: str, of_rule: int | None = None) -> int:
    """Copies and shards of all pools but one, or of those of a rule."""
    return sum(
        pool.pg_num * pool.size
        for pool in small_report().pools
        if pool.name != but and of_rule in (None, pool.rule_id)
    )


@pytest.mark.parametrize(
    ("release", "osds", "others", "most"),
    [
        # Three copies of vms alone go by its rule, below whose root stand 24 disks.
        ((18, 2, 4), 24, 0, 250 * 24 + 23),
        # Before 17.2.6 all pools count, on all 36 OSDs.
        ((17, 2, 5), 36, total("vms"), 250 * 36),
        ((12, 2, 13), 36, total("vms"), 250 * 36),
        ((12, 2, 8), 36, total("vms"), 200 * 36),
    ],
)
def test_the_monitors_refuse_more_pgs_than_an_osd_may_have(
    release: Any, osds: int, others: int, most: int
) -> None:
    assert total("vms", 0) == 0
    largest = (most - others) // 3
    report = of_release(*release)
    assert prepared(report, pg_num=f"vms={largest}").steps
    said = refused(prepared, report, pg_num=f"vms={largest + 1}")
    assert "ERANGE" in said
    copies = others + 3 * (largest + 1)
    assert f"{copies:,} copies or shards" in said and f" on {osds} OSDs" in said
    assert f"a pg_num of up to {largest}" in said
    # What it says to set lets the command pass, as does the config dump.
    needed = re.search(r"--set-option (mon_max_pg_per_osd=(\d+))", said)
    assert prepared(report, pg_num=f"vms={largest + 1}", set_option=needed[1]).steps
    # So does a host more.
    host = "1 host like node-000 in rack=rack-00"
    assert prepared(report, add=host, pg_num=f"vms={largest + 1}").steps


def test_the_monitors_heed_configs_and_refuse_more_copies() -> None:
    for section in ("global", "mon"):
        entry = ConfigEntry(section, "", "mon_max_pg_per_osd", "400")
        report = of_release(18, 2, 4, config=(entry,))
        assert prepared(report, pg_num="vms=3200").steps
        assert "mon_max_pg_per_osd, 400" in refused(prepared, report, pg_num="vms=3300")
    # That of the OSDs is not the monitors'.
    other = of_release(18, 2, 4, config=(replace(entry, section="osd"),))
    assert "mon_max_pg_per_osd, 250" in refused(prepared, other, pg_num="vms=3200")
    line = "ceph osd pool set vms size 1"
    assert lines("14.2.4", pool_size="vms=1") == [line]
    assert lines("15.2.17", pool_size="vms=1") == [
        "ceph config set global mon_allow_pool_size_one true",
        f"{line} --yes-i-really-mean-it",
    ]
    report = of_release(18, 2, 4)
    ready = prepared(report, pg_num="vms=2000 @ 1 h", pool_size="vms=2 @ 2 h")
    assert ready.steps[0].text == "pool vms is to have 2,000 PGs"
    # 2,000 x 4 on 24 OSDs are 333 each.
    said = refused(prepared, report, pg_num="vms=2000 @ 1 h", pool_size="vms=4 @ 2 h")
    assert "size 4 of pool 'vms' would mean 333 PGs an OSD" in said
    # Before 12.2.1 the monitors only warned.
    assert prepared(of_release(12, 2, 0), pg_num="vms=60000").steps


def with_limits(release: tuple[int, int, int], **limits: Any) -> ClusterReport:
    """The cluster whose pool `vms` has limits."""
    report = of_release(*release)
    pools = [
        replace(pool, limits=PoolLimits(**limits)) if pool.name == "vms" else pool
        for pool in report.pools
    ]
    return replace(report, pools=tuple(pools))


@pytest.mark.parametrize(
    ("limits", "change", "says"),
    [
        ({"flags": ("nopgchange",)}, {"pg_num": "vms=256"}, "vms nopgchange false"),
        ({"flags": ("nosizechange",)}, {"pool_size": "vms=2"}, "vms nosizechange false"),
        ({"pg_num_min": 200}, {"pg_num": "vms=128"}, "pool's pg_num_min, 200"),
        ({"pg_num_max": 400}, {"pg_num": "vms=512"}, "pool's pg_num_max, 400"),
        ({}, {"pg_num": "vms=65537"}, "--set-option mon_max_pool_pg_num=65537"),
        ({}, {"set_rule": "vms=archive_rule"}, "'archive_rule' is for erasure pools"),
        ({}, {"set_rule": "archive=vms_rule"}, "'vms_rule' is for replicated pools"),
    ],
)
def test_the_monitors_refuse_what_a_pool_forbids(
    limits: dict[str, Any], change: dict[str, str], says: str
) -> None:
    said = refused(prepared, with_limits((18, 2, 4), **limits), **change)
    assert "the monitors refuse it (E" in said and says in said
    # Before Quincy the bounds bind the autoscaler alone.
    if "pg_num_min" in limits or "pg_num_max" in limits:
        assert prepared(with_limits((16, 2, 15), **limits), **change).steps


def test_rules_are_for_sizes_before_quincy() -> None:
    old, new = of_release(16, 2, 15), of_release(17, 2, 9)
    crushmap = old.crushmap.replace('"max_size":100', '"max_size":3')
    assert crushmap != old.crushmap
    said = refused(prepared, replace(old, crushmap=crushmap), pool_size="vms=4")
    assert "rule 'vms_rule' is for 1 to 3 copies or shards, and not for 4" in said
    assert prepared(replace(new, crushmap=crushmap), pool_size="vms=4").steps


# What replacing the devices of OSDs comes to.


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


def test_a_replaced_osd_is_like_its_class_with_the_settings_and_number_of_its_time() -> None:
    stated = ["osd.35 osd_max_backfills=5", "osd.35 osd_max_backfills=1 @ 1 h"]
    ready = prepared(set_option=stated, replace="osd.35=18 TB @ 2 h")
    changes = [step["change"] for step in ready.input["plan"]]
    (settings,) = [one["osd_settings"] for one in changes if one["kind"] == "settings"]
    ((new,),) = [one["osds"] for one in changes if one["kind"] == "replace"]
    assert settings[new["settings"]]["osd_max_backfills"] == 1
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

    def said(*release: int) -> bool:
        notes = prepared(of_release(*release), replace="osd.5,osd.6=18 TB").notes
        return any("takes the lowest free number" in note for note in notes)

    assert said(10, 2, 7) and not said(12, 2, 0)
