"""What the browser tests share: one browser a file, and pages that compute."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from resilver.importers.ceph import ClusterReport, read_cluster
from tests.browser.chromium import chromium, find_chromium
from tests.browser.explore_pages import Reader, paged
from tests.reference.ceph_cluster import write_cluster
from tests.unit.what_if_clusters import SMALL


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Tests of every page are of each one that their file has."""
    if "pages" in metafunc.fixturenames and "name" in metafunc.fixturenames:
        metafunc.parametrize("name", metafunc.module.CHARTS_EXPECTED)


@pytest.fixture(scope="module")
def page() -> Iterator[Reader]:
    """One browser for all tests of this file."""
    program = find_chromium()
    if program is None:
        pytest.skip("no Chromium on PATH: install it (Debian: apt-get install chromium)")
    with chromium(program) as pipes:
        yield Reader(*pipes)


@pytest.fixture
def until(request: pytest.FixtureRequest) -> str:
    """What a file's pages wait for before they are judged."""
    return str(getattr(request.module, "UNTIL", "true"))


@pytest.fixture(scope="module")
def report(shared_data: Path) -> ClusterReport:
    """A real cluster of 88 OSDs."""
    return read_cluster(shared_data / "ceph" / "ceph-report-jewel-88osd.json")


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory, report: ClusterReport) -> Path:
    """The page of the real cluster that computes."""
    return paged(report, tmp_path_factory.mktemp("explore") / "real.html")


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a cluster so full that no host's data has a place elsewhere."""
    folder = tmp_path_factory.mktemp("explore")
    bundle = write_cluster(folder / "full", replace(SMALL, fill=0.76))
    return paged(replace(read_cluster(bundle), balancer=None), folder / "full.html")
