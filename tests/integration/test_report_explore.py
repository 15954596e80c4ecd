"""The button of a report that opens its system in the page that computes."""

from pathlib import Path

import pytest

from resilver.explore import page
from resilver.study import Results
from tests.browser.explore_pages import built
from tests.integration.study_runs import LOST
from tests.terminal import output


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("explored")
    (folder / "study.toml").write_text(LOST, encoding="utf-8")
    output("run", folder / "study.toml", "-o", folder / "runs", "-q")
    return folder / "runs"


def test_a_report_opens_its_system_in_the_page_beside_it(runs: Path, tmp_path: Path) -> None:
    built()
    page = tmp_path / "a report & more.html"
    output("report", runs, "-o", page)
    assert 'href="a%20report%20%26%20more-explore.html"' in page.read_text(encoding="utf-8")
    other = tmp_path / "a report & more-explore.html"
    assert 'id="document"' in other.read_text(encoding="utf-8")


def test_a_large_system_has_no_page_beside_its_report(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built()
    results = Results.open(runs)
    assert page.explore_beside(results, tmp_path / "small.html") == "small-explore.html"
    monkeypatch.setattr(page, "DEVICES_MAX", 7)
    assert page.explore_beside(results, tmp_path / "report.html") == ""
    assert [one.name for one in tmp_path.iterdir()] == ["small-explore.html"]
