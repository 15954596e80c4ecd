"""Quotas, bounds, flags and the autoscaler of pools, as an operator meets them in the command."""

from pathlib import Path

import pytest

from tests.reference.ceph_cluster import edited
from tests.terminal import json_output, output, refusal, with_page

TIB = 2**40


@pytest.fixture(scope="module")
def limited(small: Path) -> Path:
    """The cluster, whose pool `vms` has a quota, bounds and a flag, and the autoscaler on."""
    with edited(small / "ceph_osd_dump.json") as dump:
        pools = {pool["pool_name"]: pool for pool in dump["pools"]}
        vms, fast = pools["vms"], pools["fast"]
        vms |= {"quota_max_bytes": 20 * TIB, "pg_autoscale_mode": "on"}
        vms["options"] = {**vms.get("options", {}), "pg_num_max": 2048}
        fast["flags_names"] += ",nopgchange"
        fast["quota_max_objects"] = 2
    return small


def test_a_quota_is_said_with_the_room(limited: Path) -> None:
    vms, archive, _ = json_output("place", limited, "--room")["pools"]
    assert vms["quota_left_bytes"] == 20 * TIB - vms["stored_bytes"] < vms["full_bytes"]
    assert archive["quota_left_bytes"] is None
    said = output("place", limited, "--room")
    assert "Its quota lets in" in " ".join(said.split()) and "until its" in said


def test_a_pool_at_its_quota_and_the_autoscaler_stand_in_the_notes(
    limited: Path, tmp_path: Path
) -> None:
    found = json_output("what-if", limited, "--pg-num", "vms=1024", "--horizon", "1 h", code=None)
    notes = " ".join(found["notes"])
    assert "Pool 'fast' is at its quota, 2 objects" in notes and "Pool 'vms' is at" not in notes
    assert "will set pg_num back, as pool 'vms' has 1,024 PGs and should have 128" in notes
    (row,) = (row for row in found["tables"]["autoscaler"] if row["name"] == "vms")
    assert (row["start_groups"], row["end_groups"], row["end_wanted_groups"]) == (64, 1024, 128)
    words = ("--grow", "vms=+30%", "--pg-num", "vms=1000", "--horizon", "1 h")
    _, text = with_page(tmp_path, "what-if", limited, *words, code=None)
    assert "Pool 'vms' is at its quota, 20 TiB" in text.replace("&#39;", "'")
    assert "1,000 PGs of pool vms are no power of two" in text
    assert "s autoscaler aims at" in text and "pg_autoscale_mode" in text


def test_what_the_monitors_refuse_is_refused_with_the_command_that_allows_it(
    limited: Path,
) -> None:
    said = refusal("what-if", limited, "--pg-num", "fast=256")
    assert "pool 'fast' has the flag nopgchange" in said
    assert "ceph osd pool set fast nopgchange false" in said
    said = refusal("what-if", limited, "--pg-num", "vms=4096")
    assert "the pool's pg_num_max, 2048" in said and "ceph osd pool set vms pg_num_max 4096" in said
    # What it says to set is enough.
    options = ("mon_max_pool_pg_num=70000", "mon_max_pg_per_osd=20000")
    words = ["--horizon", "10 s", *(word for one in options for word in ("--set-option", one))]
    assert "70,000 PGs" in output(
        "what-if", limited, "--pg-num", "archive=70000", *words, code=None
    )
    said = refusal("what-if", limited, "--set-rule", "vms=archive_rule")
    assert "EINVAL" in said and "is for erasure pools" in said
