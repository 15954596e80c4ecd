"""What Ceph's autoscaler would make of pools, as `autoscale-status` printed it and by hand."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from resilver.importers.ceph import ClusterReport, PoolLimits, read_cluster
from tests.unit.what_if_clusters import of_release, prepared

BULK = PoolLimits(flags=("bulk",))
EXPECTED: Any = {"target_size_bytes": 160 * 10**12}


def rows(report: ClusterReport, **changes: str) -> dict[str, dict[str, Any]]:
    return {str(row["name"]): dict(row) for row in prepared(report, **changes).autoscaler}


def notes(report: ClusterReport, **changes: str) -> list[str]:
    return [note for note in prepared(report, **changes).notes if "autoscaler" in note]


def limited(release: tuple[int, int, int], **limits: PoolLimits) -> ClusterReport:
    report = of_release(*release)
    pools = [replace(pool, limits=limits.get(pool.name, pool.limits)) for pool in report.pools]
    return replace(report, pools=tuple(pools))


def test_a_real_cluster_is_scaled_as_its_own_manager_says(shared_data: Path) -> None:
    modern = shared_data / "ceph" / "modern"
    stated = json.loads((modern / "ceph_osd_pool_autoscale-status.json").read_bytes())
    found = rows(read_cluster(modern))
    assert {one["pool_name"]: one["pg_num_final"] for one in stated} == {
        name: row["start_wanted_groups"] for name, row in found.items()
    }
    assert not any(one["would_adjust"] for one in stated) and not notes(read_cluster(modern))


# By hand: 24 disks of 16 TB have 2,400 PGs to give. Their bytes are 15 % those of `vms`, in three
# copies, and 35 % those of `archive`, in six shards of a quarter.
@pytest.mark.parametrize(
    ("release", "limits", "wanted"),
    [
        # 0.15 x 2,400 / 3 = 120 and 0.35 x 2,400 / 6 = 140.
        ((16, 2, 15), {}, (128, 128)),
        # 1.5 times as many are 210; since Quincy 178, the second's share of what the first leaves.
        ((16, 2, 15), {"archive": PoolLimits(autoscale_bias=1.5)}, (128, 256)),
        ((18, 2, 4), {"archive": PoolLimits(autoscale_bias=1.5)}, (128, 128)),
        ((18, 2, 4), {"vms": PoolLimits(pg_num_min=512)}, (512, 128)),
        ((18, 2, 4), {"vms": PoolLimits(pg_num_max=100)}, (100, 128)),
        # Of flag bulk it gets all that the other leaves, 2,040 / 6 = 340.
        ((18, 2, 4), {"archive": BULK}, (128, 256)),
        ((16, 2, 15), {"archive": BULK}, (128, 128)),
        # Both half of 2,400: / 3 = 400, / 6 = 200.
        ((18, 2, 4), {"vms": BULK, "archive": BULK}, (512, 256)),
        # 160 TB, 240 with parity, are 0.625 of 384: 1,500 / 6 = 250, and the rest 900 / 3 = 300.
        ((18, 2, 4), {"vms": BULK, "archive": replace(BULK, **EXPECTED)}, (256, 256)),
        # A ratio is a share of all ratios: 2,400 / 3 = 800.
        ((16, 2, 15), {"vms": PoolLimits(target_size_ratio=0.2)}, (1024, 128)),
        # Of what target_size_bytes leave: 0.375 x 2,400 / 3 = 300.
        (
            (16, 2, 15),
            {"vms": PoolLimits(target_size_ratio=0.2), "archive": PoolLimits(**EXPECTED)},
            (256, 256),
        ),
    ],
)  # fmt: skip
def test_pools_get_their_shares_of_the_pgs_of_their_disks(
    release: Any, limits: dict[str, PoolLimits], wanted: tuple[int, int]
) -> None:
    found = rows(limited(release, **limits))
    assert tuple(found[name]["end_wanted_groups"] for name in ("vms", "archive")) == wanted


def test_it_is_said_what_the_autoscaler_undoes() -> None:
    on = limited((18, 2, 4), vms=PoolLimits(autoscale_mode="on"))
    assert rows(on)["vms"]["start_groups"] == 64 and not notes(on)
    # 1,024 is more than three times 128, and 256 is not.
    (said,) = notes(on, pg_num="vms=1024")
    assert "has 1,024 PGs and should have 128" in said and "vms pg_autoscale_mode off" in said
    assert not notes(on, pg_num="vms=256")
    assert not notes(on, pg_num="vms=1024", flag="noautoscale")
    warns = limited((18, 2, 4), vms=PoolLimits(autoscale_mode="warn"))
    assert "will warn that pool 'vms' has 1,024" in notes(warns, pg_num="vms=1024")[0]
    assert not notes(limited((18, 2, 4)), pg_num="vms=1024")
    assert not rows(of_release(14, 2, 22))


def test_pools_whose_roots_share_osds_are_left_alone_since_pacific() -> None:
    report = of_release(18, 2, 4)
    crushmap = report.crushmap.replace('"item_name":"default~hdd"', '"item_name":"default"', 1)
    assert crushmap != report.crushmap
    assert not rows(replace(report, crushmap=crushmap))
    octopus = rows(replace(report, crushmap=crushmap, release=(15, 2, 17)))
    assert set(octopus) == {"vms", "archive", "fast"}
