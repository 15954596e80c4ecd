"""`resilver what-if` of clusters whose PGs need OSDs at several sites to serve.

Stretch mode has two sites, and the monitors let one serve alone while the other is down; a pool's
own stretch set (`ceph osd pool stretch set`) has any number, and no such mode.
"""

import functools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from resilver.importers import read_cluster
from tests.reference.ceph_bundles import Bundle, up_sets, write_bundle
from tests.terminal import command, json_output, refusal

ZONE = 9
TWO_SITES = Bundle(
    hosts={f"h{at}": [4.0] * 3 for at in range(8)},
    zones={"z1": ["h0", "h1", "h2", "h3"], "z2": ["h4", "h5", "h6", "h7"]},
    steps=("take default", "choose firstn 0 type zone", "chooseleaf firstn 2 type host", "emit"),
    pool={
        "size": 4,
        "min_size": 2,
        "is_stretch_pool": True,
        "peering_crush_bucket_count": 2,
        "peering_crush_bucket_target": 2,
        "peering_crush_bucket_barrier": ZONE,
        "peering_crush_bucket_mandatory_member": 2**31 - 1,
    },
    osdmap={
        "stretch_mode": {
            "stretch_mode_enabled": True,
            "stretch_bucket_count": 2,
            "degraded_stretch_mode": 0,
            "recovering_stretch_mode": 0,
            "stretch_mode_bucket": ZONE,
        }
    },
)
PLAIN = replace(TWO_SITES, pool={"size": 4, "min_size": 2}, osdmap={})
THREE_SITES = Bundle(
    hosts={f"h{at}": [4.0] * 2 for at in range(9)},
    zones={f"z{at + 1}": [f"h{3 * at + host}" for host in range(3)] for at in range(3)},
    steps=TWO_SITES.steps,
    pool={
        "size": 6,
        "min_size": 2,
        "peering_crush_bucket_count": 2,
        "peering_crush_bucket_target": 3,
        "peering_crush_bucket_barrier": ZONE,
    },
)


def host_of(osd: int, bundle: Bundle) -> str:
    names = [name for name, osds in bundle.hosts.items() for _ in osds]
    return names[osd]


def zone_of(osd: int, bundle: Bundle) -> str:
    host = host_of(osd, bundle)
    return next(zone for zone, hosts in bundle.zones.items() if host in hosts)


def in_too_few_zones(dumps: Path, bundle: Bundle, dead: set[str], needed: int) -> int:
    """How many of the map's own sets keep OSDs in fewer zones once these hosts are dead."""
    sets = up_sets(read_cluster(dumps))
    left = [[osd for osd in row if host_of(osd, bundle) not in dead] for row in sets]
    return sum(len({zone_of(osd, bundle) for osd in row}) < needed for row in left)


def fails(*hosts: str, verb: str = "--fail", time: str = "") -> list[str]:
    return [word for host in hosts for word in (verb, f"host={host}{time}")]


answered = functools.partial(json_output, "what-if", code=None)


def said(found: dict[str, Any], words: str) -> list[float]:
    rows = found["tables"]["history"]
    return [row["time_seconds"] for row in rows if words in row["what"]]


def most_inactive(found: dict[str, Any]) -> int:
    return max(row["inactive_groups"] for row in found["tables"]["timeline"])


@pytest.fixture(scope="module")
def stretched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bundle(tmp_path_factory.mktemp("two") / "stretch", TWO_SITES)


# Rule: a PG whose copies at one site are all gone serves nobody until CRUSH has given it another
# there and that is whole, though it has min_size copies at the other site.
def test_half_a_site_takes_the_pgs_along_that_had_both_copies_there(
    stretched: Path, tmp_path: Path
) -> None:
    expected = in_too_few_zones(stretched, TWO_SITES, {"h0", "h1"}, 2)
    assert 30 < expected < 60
    page = tmp_path / "page.html"
    found = answered(stretched, *fails("h0", "h1"), "-o", page)
    pool = found["tables"]["pools"][0]
    assert most_inactive(found) == expected
    # Down after 20 s, out after 600 s more, and then every copy there is copied.
    assert 620 < pool["inactive_seconds"] <= pool["whole_seconds"]
    assert not said(found, "degraded stretch mode")
    assert "every PG serves clients throughout" not in page.read_text(encoding="utf-8")

    # Without the fields the same cluster serves throughout.
    found = answered(write_bundle(tmp_path / "plain", PLAIN), *fails("h0", "h1"))
    assert most_inactive(found) == 0 and found["tables"]["pools"][0]["inactive_seconds"] == 0


# Rule: what keeps PGs from serving at the end is said, with what they have and what they need.
def test_a_site_that_gets_no_copy_is_named(stretched: Path) -> None:
    found = answered(stretched, *fails("h0", "h1"), "--flag", "noout", "--horizon", "1 h")
    reasons = [row["reason"] for row in found["tables"]["stuck"] if "peered" in row["state"]]
    assert len(reasons) == in_too_few_zones(stretched, TWO_SITES, {"h0", "h1"}, 2)
    said = "needs OSDs in 2 buckets of type zone to serve, and has them in 1"
    assert all(said in one for one in reasons)


# Rule: a whole site down is what stretch mode is for: the other serves alone from when the
# monitors know it, with half of min_size, and both are needed again once all copies are back.
def test_a_site_that_is_down_begins_degraded_stretch_mode_and_its_return_ends_it(
    stretched: Path,
) -> None:
    site = TWO_SITES.zones["z1"]
    words = [*fails(*site, verb="--stop"), *fails(*site, verb="--start", time=" @ 1 h")]
    found = answered(stretched, *words, "--load", "rbd: 100 writes/s of 4 KiB")
    (begun,) = said(found, "enter degraded stretch mode: z2 serves alone")
    (back,) = said(found, "is back and recovers")
    (ended,) = said(found, "leave degraded stretch mode")
    whole = found["tables"]["pools"][0]["whole_seconds"]
    assert begun == 0 and back == 3600 and ended >= max(whole, 3600 + 15)
    # Two copies are left of each PG, which is half of what min_size 2 asks of both sites.
    assert most_inactive(found) == 0 and found["tables"]["pools"][0]["inactive_seconds"] == 0
    # The other site serves from the moment that the answer says.
    words = ("--fail", "zone=z1", "--horizon", "10 min")
    rows = answered(stretched, *words)["tables"]["timeline"]
    rows = [row for row in rows if row["time_seconds"] >= 20]
    assert rows[0]["time_seconds"] == 20 and not any(row["inactive_groups"] for row in rows)
    shown = " ".join(command("what-if", stretched, *words).stdout.split())
    # Dead at 0, down after osd_heartbeat_grace.
    assert "After 20 s the monitors enter degraded stretch mode: z2 serves alone." in shown
    assert "leave degraded" not in shown


def test_one_more_host_of_the_last_site_stops_nothing_in_degraded_stretch_mode(
    stretched: Path,
) -> None:
    words = [*fails(*TWO_SITES.zones["z1"], verb="--stop"), "--flag", "noout", "--horizon", "1 h"]
    # More than 70 % of OSDs are to be marked down.
    words += ["--set-option", "mon_osd_min_up_ratio=0.1"]
    # One copy of each PG that had one on h4 is left, and min_size is 1.
    found = answered(stretched, *words, *fails("h4", verb="--stop", time=" @ 10 min"))
    assert most_inactive(found) == 0
    dead = {*TWO_SITES.zones["z1"], "h4", "h5"}
    lost = in_too_few_zones(stretched, TWO_SITES, dead, 1)
    two = answered(stretched, *words, *fails("h4", "h5", verb="--stop", time=" @ 10 min"))
    assert most_inactive(two) == lost > 0


def test_a_cluster_that_begins_in_degraded_stretch_mode_leaves_it(tmp_path: Path) -> None:
    mode = {**TWO_SITES.osdmap["stretch_mode"], "degraded_stretch_mode": 1}
    member = json.loads((write_bundle(tmp_path / "two", TWO_SITES) / "crush.json").read_text())
    (z2,) = [bucket["id"] for bucket in member["buckets"] if bucket["name"] == "z2"]
    pool = {
        **TWO_SITES.pool,
        "min_size": 1,
        "peering_crush_bucket_count": 1,
        "peering_crush_bucket_mandatory_member": z2,
    }
    bundle = replace(TWO_SITES, pool=pool, osdmap={"stretch_mode": mode})
    dumps = write_bundle(tmp_path / "degraded", bundle)
    # All OSDs are up, so it is a start of one that makes more of them up than before.
    words = [*fails("h0", verb="--stop"), *fails("h0", verb="--start", time=" @ 1 min")]
    found = answered(dumps, *words)
    assert said(found, "is back and recovers") == [60.0]
    assert said(found, "leave degraded stretch mode") == [75.0]
    # The mandatory site is z2: without it a PG serves nobody, however many copies z1 has.
    alone = answered(dumps, *fails(*TWO_SITES.zones["z2"], verb="--stop"), "--horizon", "1 min")
    assert most_inactive(alone) == TWO_SITES.pg_num


# Rule: a pool's own stretch set has no degraded mode: with fewer sites than its count it stops.
def test_a_pool_over_three_sites_outlives_one_of_them_and_no_two(tmp_path: Path) -> None:
    dumps = write_bundle(tmp_path / "three", THREE_SITES)
    zones = THREE_SITES.zones
    one = answered(dumps, *fails(*zones["z1"], verb="--stop"), "--horizon", "1 h")
    assert most_inactive(one) == 0
    dead = [*zones["z1"], *zones["z2"]]
    two = answered(dumps, *fails(*dead, verb="--stop"), "--horizon", "1 h")
    # Two copies are left, which is min_size; but they are at one site, and the count is 2.
    assert most_inactive(two) == in_too_few_zones(dumps, THREE_SITES, set(dead), 2) == 256
    assert not said(two, "stretch mode")
    part = [*zones["z1"], *zones["z2"][:2]]
    expected = in_too_few_zones(dumps, THREE_SITES, set(part), 2)
    some = answered(dumps, *fails(*part, verb="--stop"), "--flag", "noout", "--horizon", "1 h")
    assert most_inactive(some) == expected and 0 < expected < 256


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("peering_crush_bucket_count", 5),
        ("peering_crush_bucket_target", 0),
        ("peering_crush_bucket_barrier", 77),
        ("peering_crush_bucket_barrier", "zone"),
        ("peering_crush_bucket_mandatory_member", "z1"),
        ("peering_crush_bucket_mandatory_member", -999),
    ],
)
def test_what_a_stretch_pool_cannot_ask_is_refused(
    stretched: Path, tmp_path: Path, key: str, value: object
) -> None:
    for name in ("crush.json", "pg_dump.json"):
        (tmp_path / name).write_bytes((stretched / name).read_bytes())
    osdmap = json.loads((stretched / "osd_dump.json").read_text())
    osdmap["pools"][0][key] = value
    (tmp_path / "osd_dump.json").write_text(json.dumps(osdmap))
    assert key in refusal("what-if", tmp_path, "--fail", "osd.0")
