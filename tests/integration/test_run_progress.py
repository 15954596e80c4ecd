"""How far a cluster's run says that it is, held to the work that it takes in all.

Work is counted by the core (`effort`, steps of like cost), so nothing here depends on a clock.
"""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from resilver import _core
from resilver.importers.ceph import ClusterReport, read_cluster
from resilver.whatif.options import Request
from resilver.whatif.plan import plan_of_options
from resilver.whatif.request import prepare
from tests.reference.ceph_cluster import write_cluster
from tests.unit.what_if_clusters import SMALL


def estimates(report: ClusterReport, **changes: str) -> list[tuple[float, float]]:
    """At each look at a run: the share of its work that was done, and the work in all that the
    share which it told would have made of that, in units of the work in all."""
    plan = plan_of_options({key: [value] for key, value in changes.items()})
    healing = _core.Healing(json.dumps(prepare(report, plan, Request()).input))
    looks: list[tuple[int, float]] = []
    goes_on = True
    while goes_on:
        goes_on, _, _, _, fraction = healing.advance()
        looks.append((healing.effort(), fraction))
    total, last = looks[-1]
    assert last == 1.0
    return [(done / total, done / told / total) for done, told in looks if told > 0]


def halfway(looks: list[tuple[float, float]]) -> float:
    share, estimate = min(looks, key=lambda one: abs(one[0] - 0.5))
    assert 0.4 < share < 0.6
    return estimate


@pytest.mark.parametrize("change", ["fail", "drain"])
def test_half_way_the_work_in_all_of_a_real_cluster_is_known_within_twice(
    change: str, report: Path
) -> None:
    looks = estimates(read_cluster(report), **{change: "host=cloud3-1359"})
    assert 0.5 < halfway(looks) < 2.0


@pytest.mark.parametrize("changes", [{}, {"fail": "osd.12"}])
def test_half_way_the_work_of_a_balancer_counts(changes: dict[str, str], tmp_path: Path) -> None:
    """Its moves come up one by one: by the PGs that are not clean, of the most that were not, half
    of the work is 0.09 to 0.27 of it."""
    shape = replace(SMALL, osds=240, osds_per_host=20, racks=2, groups=8192)
    report = read_cluster(write_cluster(tmp_path / "bundle", shape))
    assert report.balancer is not None and report.balancer.active
    looks = estimates(report, **changes)
    assert 0.5 < halfway(looks) < 2.0
    assert all(estimate < 3.0 for _, estimate in looks)
