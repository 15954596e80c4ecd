"""Clusters that several files of integration tests ask about."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reference.ceph_cluster import write_cluster
from tests.unit.what_if_clusters import SMALL


@pytest.fixture(scope="session")
def report(shared_data: Path) -> Path:
    """A real cluster of 10.2.7: 88 OSDs on 10 hosts, 4,096 PGs of three copies, 20.6 TB stored.

    It is without `ceph osd df`.
    """
    return shared_data / "ceph" / "ceph-report-jewel-88osd.json"


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The dumps of 36 OSDs on 9 hosts in 3 racks, with `ceph osd df`.

    A replicated pool, one on flash, and a coded one that needs all 6 hosts of disks.
    """
    return write_cluster(tmp_path_factory.mktemp("cluster") / "small", SMALL)
