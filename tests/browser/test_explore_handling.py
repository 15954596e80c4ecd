"""The page that computes, as an operator handles it for the first time: finding, times, undo.

Of a study: clients that it had not, and its rebuild on the map.
"""

import json
import re
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from resilver import Study
from resilver.explore.study import study_document
from resilver.importers.ceph import read_cluster
from resilver.study import simulate
from tests.browser.explore_pages import HEADLINE, NONE, TOLD, Reader, paged, written
from tests.reference.ceph_cluster import write_cluster
from tests.unit.what_if_clusters import SMALL, small_report


def test_where_healing_stalls_the_answer_says_when(page: Reader, full: Path) -> None:
    """So that of two scenarios that both stall it is seen which one takes longer."""
    page.visit(full)
    page.fail("node-000")
    headline = page.evaluate(HEADLINE)
    assert re.search(r"^[\d,]+ of 320 PGs do not become clean", headline)
    assert "; nothing moves any more after " in headline
    rests = page.evaluate(TOLD)["rests_seconds"][0]
    assert f"after {rests}" in headline
    # At the end nobody reads or writes, and they wait on.
    moment = page.evaluate("document.querySelector('.moment').textContent")
    assert " 0 OSDs read, 0 write, and " in moment and " wait for a turn or for space." in moment


def test_a_part_is_found_by_what_one_would_type(page: Reader, real: Path) -> None:
    """Who has found it goes on on the map, and what is chosen moves nothing below it."""
    page.visit(real)
    height = "document.querySelector('.controls').getBoundingClientRect().top + scrollY"
    before = page.evaluate(height)

    def look_for(text: str) -> str:
        page.evaluate("document.querySelector('input[list]').focus()")
        page.evaluate(f"document.querySelector('input[list]').value = {json.dumps(text)}")
        page.press("Enter")
        return str(page.evaluate(
            "new Promise((done) => setTimeout(() => done("
            "document.querySelector('.map .chosen').textContent), 100))"
        ))  # fmt: skip

    assert look_for("12").startswith("osd.12 ")
    assert page.evaluate("document.activeElement.id") == "map"
    assert page.evaluate(height) == before
    assert look_for("OSD.13").startswith("osd.13 ")
    assert look_for("1456").startswith("host cloud3-1456")
    # What is not there is not the one before.
    assert look_for("osd.999").startswith("There is no part osd.999. Nothing is chosen")
    assert look_for("cloud3-13").startswith("cloud3-13 may be cloud3-13")
    assert look_for("osd.12").startswith("osd.12 ")
    assert page.evaluate("document.querySelector('.map .chosen [role=alert]')") is None
    page.press("f")
    page.happens("osd.12")


def test_what_happens_next_is_said_with_its_time(page: Reader, real: Path) -> None:
    """Where the time stands, and after a fresh start at the start again; ranked is then too."""
    page.visit(real)
    page.fail("osd.12")
    page.scrub(500)
    when = "document.querySelector('#chosen .when')?.textContent"
    page.wait(f"{when}.startsWith('After ')")
    page.click("[data-level=host]")
    status = "document.querySelector('.ranking [role=status]').textContent"
    page.wait(f"{status}.startsWith('10 of 10')", 120)
    assert re.search(r"Each fails after .*, beside what happens", page.evaluate(status))
    page.button("As things are")
    page.select("osd.12")
    page.wait(f"{when} === 'At the start:'")


def test_to_look_at_the_other_is_nothing_to_undo(page: Reader, tmp_path: Path) -> None:
    path = paged(small_report(), tmp_path / "small.html")
    page.visit(path)
    page.fail("osd.1")
    page.button("Compare with another")
    page.fail("osd.2")
    both = page.command()
    for side in ("A", "B", "A", "B"):
        page.button(side)
    assert page.command() == both
    page.button("Undo")
    page.wait("!document.getElementById('command').textContent.includes('osd.2')")


@pytest.mark.parametrize(
    ("typed", "rule"),
    [
        ("-5", "a number"), ("", "a number"), ("02:00", "a number"), ("1e3", "a number"),
        ("99999999", "below 30 d"), ("720", "below 30 d"),
    ],
)  # fmt: skip
def test_a_time_that_no_run_has_is_refused_in_sight(
    page: Reader, real: Path, typed: str, rule: str
) -> None:
    page.visit(real)
    page.fail("osd.12")
    page.happens_after("Fail: osd.12", typed)
    page.wait("document.querySelector('.happenings [role=alert]') !== null")
    said = page.evaluate("document.querySelector('.happenings [role=alert]').textContent")
    assert said.strip().startswith(f"A time is {rule}")
    # What was there before stays.
    assert page.evaluate("document.querySelector('.happenings input').value") == "0"
    page.happens_after("Fail: osd.12", "1,5")
    page.commanded("5400 s")
    page.answer()


def test_what_is_down_already_is_said_to_have_no_effect(page: Reader, real: Path) -> None:
    page.visit(real)
    page.fail("osd.12")
    once = page.answer()["digest"]
    page.click("#chosen [data-change=fail]")
    page.wait("document.querySelectorAll('.happenings li').length === 2")
    rows = "[...document.querySelectorAll('.happenings li')].map((one) => one.textContent)"
    first, second = page.evaluate(rows)
    assert "no effect" in second and "no effect" not in first
    assert page.answer()["digest"] != "" and once


def test_a_map_that_does_not_fit_shows_what_is_chosen(page: Reader, tmp_path: Path) -> None:
    shape = replace(
        SMALL, osds=2000, osds_per_host=5, racks=40, groups=4096, fill=0.3, balancer=False
    )
    report = read_cluster(write_cluster(tmp_path / "wide", shape))
    page.visit(paged(report, tmp_path / "wide.html"))
    place = "document.querySelector('.frame')"
    assert page.evaluate(f"{place}.scrollHeight > {place}.clientHeight + 500")
    assert page.evaluate(f"{place}.clientHeight <= 704")
    page.select("osd.1999")
    page.wait(f"{place}.scrollTop > 300")
    page.select("osd.0")
    page.wait(f"{place}.scrollTop < 300")
    assert page.complaints() == []


def test_on_a_phone_the_answer_stays_in_sight(page: Reader, real: Path) -> None:
    """In a wide window it does not have to, and charts are as wide as their place."""
    page.visit(real, width=390)
    page.fail("osd.12")
    page.wait("document.querySelector('.plot canvas') !== null")
    page.evaluate("document.getElementById('map').scrollIntoView({ block: 'start' })")
    top = "document.querySelector('.brief').getBoundingClientRect().top"
    page.wait(f"Math.abs({top}) < 1")
    assert page.evaluate("document.querySelector('.brief').textContent").strip() == page.evaluate(
        HEADLINE
    )
    page.view(1440, 1000)
    assert page.evaluate("getComputedStyle(document.querySelector('.brief')).display") == "none"
    page.wait(
        "(() => { const place = document.querySelector('[data-chart=groups] .plot');"
        " const drawn = place.querySelector('canvas').getBoundingClientRect().width;"
        " return place.clientWidth > 500 && Math.abs(drawn - place.clientWidth) < 2; })()"
    )


STUDY = {
    "cluster": {"servers": 16, "device": "jbod10-sata"},
    "population": {"file_size": "64 MiB", "bytes_per_server": "8 GiB"},
    "placement": {"algorithm": "crush", "bucket": "straw2"},
    "redundancy": {"replicas": 3},
    "faults": [{"at": "2 s", "part": {"server": ["server.5"]}}],
}


def test_clients_are_added_to_a_study_that_has_none(page: Reader, tmp_path: Path) -> None:
    path = written(study_document(Study.from_dict(STUDY)).to_json(), tmp_path / "study.html")
    page.visit(path)
    assert not [key for key in page.evaluate(TOLD) if "throughput" in key]
    page.turn("traffic")
    page.wait("document.querySelector('[data-figure=during_p99_read_delay_seconds]') !== null")
    text = page.evaluate("document.getElementById('study').textContent")
    assert "outstanding = 16" in text
    run = Study.from_dict(tomllib.loads(text)).runs()[0]
    done = simulate(run.system, run.seed)
    assert page.answer()["digest"] == done.metrics["digest"]
    assert "clients get" in page.evaluate(HEADLINE)
    # Beside a scenario without clients theirs are neither better nor worse.
    page.button("Compare with another")
    page.turn("traffic", "ArrowLeft")
    second = "document.querySelector('[data-figure=requests_lost] td:nth-of-type(2)')"
    page.wait(f"{second}.textContent === '{NONE}'")
    told = page.evaluate(TOLD)
    assert told["during_p99_read_delay_seconds"][1:] == [NONE, NONE]
    assert told["requests_lost"] == ["0", NONE, NONE]
    assert page.complaints() == []


def test_the_rebuild_of_a_study_plays_on_the_map(page: Reader, tmp_path: Path) -> None:
    """Who reads, who writes and who waits for whom, and who failed by the study itself."""
    study = Study.from_dict(STUDY)
    path = written(study_document(study).to_json(), tmp_path / "study.html")
    page.visit(path)
    assert page.evaluate("document.querySelector('.moment').textContent").endswith("nothing moves.")
    pictures = set()
    for place in (0, 400, 550, 700):
        page.scrub(place)
        pictures.add(page.evaluate("document.getElementById('map').toDataURL()"))
    assert len(pictures) == 4
    page.wait("/ servers? reads?, /.test(document.querySelector('.moment').textContent)")
    page.select("server.3")
    said = page.evaluate("document.querySelector('#chosen').textContent")
    assert "reads " in said and "writes " in said
    assert re.search(r", \d+ buffers? waits? for server\.\d+", said)
    moment = page.evaluate("document.querySelector('.moment').textContent")
    assert re.search(r"and [\d,]+ buffers wait for what others have yet to send\.$", moment)
    run = study.runs()[0]
    assert page.answer()["digest"] == simulate(run.system, run.seed).metrics["digest"]
    assert page.complaints() == []
