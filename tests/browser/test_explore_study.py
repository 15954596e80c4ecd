"""The page that computes of a study: clients that it had not, and its rebuild on the map."""

import re
import tomllib
from pathlib import Path

import pytest

from resilver import Study
from resilver.explore.study import study_document
from resilver.study import simulate
from tests.browser.chromium import Page
from tests.browser.explore_pages import (
    HEADLINE,
    NONE,
    TOLD,
    answer,
    button,
    opened,
    scrub,
    select,
    turn,
    written,
)

pytestmark = pytest.mark.browser

STUDY = {
    "cluster": {"servers": 16, "device": "jbod10-sata"},
    "population": {"file_size": "64 MiB", "bytes_per_server": "8 GiB"},
    "placement": {"algorithm": "crush", "bucket": "straw2"},
    "redundancy": {"replicas": 3},
    "faults": [{"at": "2 s", "part": {"server": ["server.5"]}}],
}


def test_clients_are_added_to_a_study_that_has_none(page: Page, tmp_path: Path) -> None:
    path = written(study_document(Study.from_dict(STUDY)).to_json(), tmp_path / "study.html")
    opened(page, path)
    assert not [key for key in page.evaluate(TOLD) if "throughput" in key]
    turn(page, "traffic")
    page.wait("document.querySelector('[data-figure=during_p99_read_delay_seconds]') !== null")
    text = page.evaluate("document.getElementById('study').textContent")
    assert "outstanding = 16" in text
    run = Study.from_dict(tomllib.loads(text)).runs()[0]
    done = simulate(run.system, run.seed)
    assert answer(page)["digest"] == done.metrics["digest"]
    assert "clients get" in page.evaluate(HEADLINE)
    # Beside a scenario without clients theirs are neither better nor worse.
    button(page, "Compare with another")
    turn(page, "traffic", "ArrowLeft")
    second = "document.querySelector('[data-figure=requests_lost] td:nth-of-type(2)')"
    page.wait(f"{second}.textContent === '{NONE}'")
    told = page.evaluate(TOLD)
    assert told["during_p99_read_delay_seconds"][1:] == [NONE, NONE]
    assert told["requests_lost"] == ["0", NONE, NONE]
    assert page.complaints() == []


def test_the_rebuild_of_a_study_plays_on_the_map(page: Page, tmp_path: Path) -> None:
    """Who reads, who writes and who waits for whom, and who failed by the study itself."""
    study = Study.from_dict(STUDY)
    path = written(study_document(study).to_json(), tmp_path / "study.html")
    opened(page, path)
    assert page.evaluate("document.querySelector('.moment').textContent").endswith("nothing moves.")
    pictures = set()
    for place in (0, 400, 550, 700):
        scrub(page, place)
        pictures.add(page.evaluate("document.getElementById('map').toDataURL()"))
    assert len(pictures) == 4
    page.wait("/ servers? reads?, /.test(document.querySelector('.moment').textContent)")
    select(page, "server.3")
    said = page.evaluate("document.querySelector('#chosen').textContent")
    assert "reads " in said and "writes " in said
    assert re.search(r", \d+ buffers? waits? for server\.\d+", said)
    moment = page.evaluate("document.querySelector('.moment').textContent")
    assert re.search(r"and [\d,]+ buffers wait for what others have yet to send\.$", moment)
    run = study.runs()[0]
    assert answer(page)["digest"] == simulate(run.system, run.seed).metrics["digest"]
    assert page.complaints() == []
