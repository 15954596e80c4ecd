"""What the browser tests share: one browser a file, and pages that compute."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from resilver.importers.ceph import ClusterReport, read_cluster
from tests.browser.chromium import Page, chromium, find_chromium
from tests.browser.explore_pages import paged
from tests.reference.ceph_cluster import write_cluster
from tests.unit.what_if_clusters import SMALL


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    """One browser for all tests of this file."""
    program = find_chromium()
    if program is None:
        pytest.skip("no Chromium on PATH: install it (Debian: apt-get install chromium)")
    with chromium(program) as opened:
        yield opened


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory, shared_data: Path) -> tuple[ClusterReport, Path]:
    """A real cluster of 88 OSDs, and its page that computes."""
    report = read_cluster(shared_data / "ceph" / "ceph-report-jewel-88osd.json")
    return report, paged(report, tmp_path_factory.mktemp("explore") / "real.html")


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a cluster so full that no host's data has a place elsewhere."""
    folder = tmp_path_factory.mktemp("explore")
    bundle = write_cluster(folder / "full", replace(SMALL, fill=0.76))
    return paged(replace(read_cluster(bundle), balancer=None), folder / "full.html")
