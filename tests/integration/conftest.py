"""Clusters that several files of integration tests ask about."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from resilver.browser import CoreRequest
from resilver.data_loss import placed
from resilver.explore.native import Runs
from resilver.explore.serve import PageServer
from tests.explore_client import Client, page_of, quick_request
from tests.integration.file_kinds import write_kinds
from tests.reference.ceph_cluster import write_cluster
from tests.unit.what_if_clusters import SMALL

# All of these tests are of the core as well, or of commands whose process has imported it.
HAS_CORE = find_spec("resilver._core") is not None
collect_ignore_glob = [] if HAS_CORE else ["test_*.py"]


def pytest_report_header() -> str | None:
    """Says that these tests are left out where they are."""
    return None if HAS_CORE else "the native core is not built: tests/integration is left out"


@pytest.fixture(scope="session")
def report(shared_data: Path) -> Path:
    """A real cluster of 10.2.7: 88 OSDs on 10 hosts, 4,096 PGs of three copies, 20.6 TB stored.

    It is without `ceph osd df`.
    """
    return shared_data / "ceph" / "ceph-report-jewel-88osd.json"


@pytest.fixture(scope="session")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a right file of each kind, which tests read."""
    return write_kinds(tmp_path_factory.mktemp("kinds"))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The dumps of 36 OSDs on 9 hosts in 3 racks, with `ceph osd df`.

    A replicated pool, one on flash, and a coded one that needs all 6 hosts of disks.
    """
    return write_cluster(tmp_path_factory.mktemp("cluster") / "small", SMALL)


@pytest.fixture(scope="module")
def told() -> list[str]:
    """What the server of a page says of defects."""
    return []


@pytest.fixture(scope="module")
def server(told: list[str]) -> Iterator[PageServer]:
    with PageServer(page_of, 0, told.append, Runs(2)) as opened:
        yield opened


@pytest.fixture(scope="module")
def client(server: PageServer) -> Client:
    return Client.of(server)


@pytest.fixture(scope="module")
def quick() -> CoreRequest:
    return quick_request()


@pytest.fixture
def without_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    """A placement is judged without its loss in a year, which takes 8 s of a test of all else."""
    monkeypatch.setattr(placed, "placed_loss", lambda *_, **__: None)
