"""The page that computes, in a real browser with the network off: what its readers do with it."""

import base64
import json
import shlex
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from resilver import Study
from resilver.explore.cluster import cluster_document
from resilver.importers.ceph import ClusterReport, read_cluster
from resilver.study import simulate
from resilver.whatif.each import rank_failures
from resilver.whatif.options import Request
from resilver.whatif.perform import answer_of, changes_of
from resilver.whatif.plan import plan_of_options
from tests.browser.chromium import chromium, find_chromium
from tests.browser.core_cases import REAL
from tests.browser.explore_pages import ANSWERED, READY, ROOT, Reader, built, paged, written
from tests.front_door import command as run_command
from tests.reference.ceph_cluster import write_cluster
from tests.unit.what_if_clusters import SMALL, small_report

SOURCE = "small"


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a small made-up cluster, which is in a folder beside it."""
    folder = tmp_path_factory.mktemp("explore")
    return paged(read_cluster(write_cluster(folder / SOURCE, SMALL)), folder / "small.html")


def silent(page: Reader, path: Path) -> None:
    """Nothing on the console, and no request but for the page itself."""
    assert page.complaints() == []
    own = {url for url in page.requests() if not url.startswith(("data:", "blob:", "about:"))}
    assert {url.partition("#")[0] for url in own} == {path.resolve().as_uri()}


def test_a_host_fails_by_mouse_and_by_keyboard_as_by_the_command(
    page: Reader, real: Path, report: ClusterReport
) -> None:
    page.visit(real)
    assert page.answer()["whole_seconds"] == "at once"
    # The label of the first host is at the top of its box: left of it no OSD lies.
    place = page.evaluate(
        "(() => { const box = document.getElementById('map').getBoundingClientRect();"
        " return [box.x, box.y]; })()"
    )
    page.click_at(place[0] + 12, place[1] + 24)
    page.wait("document.querySelector('#chosen')?.textContent.includes('host cloud3-1359')")
    page.click("#chosen [data-change=fail]")
    page.happens("cloud3-1359")
    by_mouse = page.answer()
    assert page.command() == "resilver what-if bundle --fail host=cloud3-1359"
    told = answer_of(report, changes_of({"fail": "host=cloud3-1359"}), Request())
    assert by_mouse["digest"] == told.digest

    page.press("z", control=True)
    page.wait("!document.querySelector('.happenings')")
    page.press("Escape")
    page.evaluate("document.getElementById('map').focus()")
    page.press("ArrowRight")
    page.press("ArrowUp", shift=True)
    page.press("f")
    page.happens("cloud3-1359")
    assert page.answer() == by_mouse
    silent(page, real)


def test_a_slider_and_times_make_what_the_command_makes(
    page: Reader, real: Path, shared_data: Path
) -> None:
    page.visit(real)
    page.change("osd.12", "fail")
    page.change("osd.40", "slow")
    page.change("osd.7", "drain")
    page.happens_after("Drain: osd.7", "0.05")
    page.turn("osd_max_backfills")
    page.turn("network")
    page.commanded("25gbe")
    page.commanded("180 s")
    words = shlex.split(page.command())
    assert words[:3] == ["resilver", "what-if", "bundle"]
    done = run_command("what-if", shared_data / REAL, *words[3:], "--json")
    told = json.loads(done.stdout)
    assert page.answer()["digest"] == told["digest"]
    assert "--slow" in words and "osd.40=10%" in words
    silent(page, real)


def test_the_time_is_scrubbed_on_the_map(page: Reader, real: Path) -> None:
    page.visit(real)
    page.fail("osd.12")
    pictures = set()
    for place in (0, 380, 500, 1000):
        page.scrub(place)
        pictures.add(page.evaluate("document.getElementById('map').toDataURL()"))
    assert len(pictures) >= 3
    said = page.scrub(500)
    reading = int(said.split(" OSDs read")[0].rsplit(" ", 1)[1])
    assert reading > 5
    assert "write" in said and "PGs wait" in said
    # Played, it comes to its end by itself.
    page.button("Play")
    page.wait("document.querySelector('.scrubber button').textContent === 'Pause'")
    page.wait("document.querySelector('.scrubber button').textContent === 'Play'", 40.0)
    silent(page, real)


def test_two_scenarios_stand_beside_each_other(page: Reader, small: Path) -> None:
    page.visit(small)
    page.change("osd.5", "fail")
    alone = page.answer()
    page.button("Compare with another")
    page.evaluate("document.getElementById('control-network').focus()")
    for _ in range(3):
        page.press("ArrowRight")
    page.wait(f"{ANSWERED} && document.querySelectorAll('.figures thead th').length === 4")
    rows = page.evaluate(
        "[...document.querySelectorAll('[data-figure=whole_seconds] td')]"
        ".map((cell) => cell.textContent)"
    )
    assert rows[0] == alone["whole_seconds"]
    assert rows[2] == "same" or rows[2].startswith("−")
    assert "100gbe" in page.command()
    page.button("A")
    page.wait("!document.getElementById('command').textContent.includes('100gbe')")
    page.button("Keep A alone")
    page.wait("document.querySelectorAll('.figures thead').length === 0")
    assert page.answer() == alone
    silent(page, small)


def test_a_link_opens_the_scenario_in_another_tab(page: Reader, small: Path) -> None:
    page.visit(small)
    page.change("osd.5", "fail")
    page.turn("mon_osd_down_out_interval", "ArrowLeft")
    held = page.answer(), page.command()
    link = page.evaluate("document.getElementById('link').value")
    assert link.startswith(small.resolve().as_uri() + "#")
    program = find_chromium()
    assert program is not None
    with chromium(program) as pipes:
        other = Reader(*pipes)
        other.visit(small, "#" + link.partition("#")[2])
        assert (other.answer(), other.command()) == held
        silent(other, small)


def test_a_broken_link_is_said_to_be_one(page: Reader, small: Path) -> None:
    """What is shown then is the system as things are, and the address stays until it changes."""
    page.visit(small)
    plain = page.answer()
    alert = "document.querySelector('header [role=alert]')?.textContent ?? ''"
    broken = ("a", "%00", "A" * 10_000, "eyJ2IjoxfQ", "eyJ2IjoxLCJhIjoxLCJzIjpbbnVsbF19")
    for fragment in ("", *broken):
        page.visit(small, "#" + fragment)
        assert page.answer() == plain
        assert page.evaluate(alert).startswith("The link is damaged" if fragment else "")
        is_broken = bool(fragment)
        assert bool(page.evaluate(alert)) == is_broken == bool(page.evaluate("location.hash"))
    page.change("osd.1", "out")
    page.commanded("osd.1")
    assert page.evaluate(alert) == "" and "osd.1" not in page.evaluate("location.hash")
    assert page.evaluate("location.hash").startswith("#eyJ2Ijox")
    assert page.complaints() == []


def test_what_a_link_names_that_is_not_here_is_said(page: Reader, small: Path) -> None:
    made: dict[str, Any] = {
        "v": 1, "a": 0,
        "s": [{
            "c": {"network": "<b>9 GbE</b>"},
            "h": [["fail", "osd=osd.999", 0, 1], ["fail", "osd=osd.1", -5, 1]],
        }],
    }  # fmt: skip
    text = json.dumps(made).encode()
    page.visit(small, "#" + base64.urlsafe_b64encode(text).decode().rstrip("="))
    said = page.evaluate("document.querySelector('header [role=alert]').textContent")
    assert "osd.999" in said and "osd.1" in said and "<b>9 GbE</b>" in said
    assert page.complaints() == []


def test_undo_goes_back_step_by_step_and_forth_again(page: Reader, small: Path) -> None:
    page.visit(small)
    seen = [page.command()]
    for name in ("osd.1", "osd.2", "osd.3"):
        page.change(name, "out")
        page.commanded(name)
        seen.append(page.command())
    for there in reversed(seen[:-1]):
        page.button("Undo")
        page.wait(f"document.getElementById('command').textContent.trim() === {json.dumps(there)}")
    for there in seen[1:]:
        page.press("z", control=True, shift=True)
        page.wait(f"document.getElementById('command').textContent.trim() === {json.dumps(there)}")
    assert page.evaluate("document.querySelectorAll('.happenings li').length") == 3


def test_hosts_are_ranked_by_harm_as_by_the_command(page: Reader, small: Path) -> None:
    page.visit(small)
    page.click("[data-level=host]")
    page.wait(
        "document.querySelector('.ranking [role=status]').textContent.startsWith('9 of 9')", 120
    )
    names = page.evaluate(
        "[...document.querySelectorAll('.ranking tbody th button')].map((one) => one.textContent)"
    )
    bundle = small.parent / SOURCE
    told = rank_failures(read_cluster(bundle), "host", plan_of_options({}), Request())
    assert names == [harm.name for harm in told.harms]
    assert page.complaints() == []


def test_csv_of_a_chart_is_the_table(page: Reader, small: Path) -> None:
    page.visit(small)
    page.fail("osd.5")
    page.evaluate(
        "globalThis.kept = null; URL.createObjectURL = (blob) => { blob.text()"
        ".then((text) => { globalThis.kept = text; }); return 'data:,'; }; 0"
    )
    page.evaluate("document.querySelector('[data-chart=groups] figcaption button').click()")
    page.wait("globalThis.kept !== null")
    lines = page.evaluate("globalThis.kept").strip().split("\n")
    bundle = small.parent / SOURCE
    told = answer_of(read_cluster(bundle), changes_of({"fail": "osd.5"}), Request())
    timeline = told.tables["timeline"]
    names = lines[0].split(",")
    assert len(lines) == 1 + timeline.num_rows
    for at, name in enumerate(names):
        cells = [float(line.split(",")[at]) for line in lines[1:]]
        assert cells == timeline[name].to_pylist()


def test_a_long_run_is_cancelled_at_once_and_may_go_on(page: Reader, tmp_path: Path) -> None:
    shape = replace(SMALL, osds=120, groups=4096)
    bundle = write_cluster(tmp_path / "large", shape)
    asked = Request(load=("vms: 900 reads/s of 16 KiB",), events=True, horizon="1 d")
    path = paged(read_cluster(bundle), tmp_path / "large.html", asked)
    page.look(path)
    page.wait(READY)
    page.button("Compute what")
    page.wait("document.querySelector('.going button')?.textContent === 'Cancel'")
    time.sleep(1.0)
    took = page.evaluate(
        "(() => { const began = performance.now();"
        " document.querySelector('.going button').click();"
        " return new Promise((done) => { const look = () =>"
        " document.querySelector('.going').textContent.startsWith('Cancelled')"
        " ? done(performance.now() - began) : setTimeout(look, 1); look(); }); })()"
    )
    assert took < 5_000  # The goal is 100 ms; benches measure it.
    page.evaluate("document.querySelector('.going button').click()")
    page.wait("document.querySelector('.going button')?.textContent === 'Cancel'")
    assert page.complaints() == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
def test_it_fits_and_axe_finds_nothing(page: Reader, small: Path, scheme: str, width: int) -> None:
    page.visit(small, width=width)
    page.view(width, 1000, scheme)
    page.change("osd.5", "fail")
    page.button("Compare with another")
    page.click("#chosen [data-change=drain]")
    page.answer()
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    page.wait("document.querySelectorAll('.plot canvas').length > 0")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.axe() == []
    assert page.complaints() == []


def test_hostile_names_do_nothing(page: Reader, tmp_path: Path) -> None:
    report = small_report()
    evil = "</script><img src=x onerror=window.broken=1><svg/onload=window.broken=1>"
    crushmap = json.loads(report.crushmap)
    for bucket in crushmap["buckets"]:
        if bucket["type_name"] == "host":
            bucket["name"] = evil + bucket["name"]
    pools = tuple(replace(pool, name=evil + pool.name) for pool in report.pools)
    hostile = replace(report, crushmap=json.dumps(crushmap), pools=pools, label=evil)
    path = written(cluster_document(hostile, evil, Request()).to_json(), tmp_path / "evil.html")
    page.visit(path)
    page.select("osd.5")
    page.button("Choose its host")
    page.wait("document.querySelector('#chosen')?.textContent.includes('onerror')")
    page.click("#chosen [data-change=fail]")
    page.answer()
    assert evil in shlex.split(page.command())[2]
    assert page.evaluate("window.broken === undefined && !document.querySelector('img, svg')")
    assert page.evaluate("document.title") == evil
    silent(page, path)


def test_a_study_is_explored_and_taken_along_as_a_file(page: Reader, tmp_path: Path) -> None:
    """A server fails, is slow, comes back; the code changes: the file gives the same digest."""
    study = tmp_path / "study.toml"
    text = (ROOT / "studies" / "demo" / "study.toml").read_text(encoding="utf-8")
    study.write_text(text.replace('"20 TiB"', '"64 GiB"'), encoding="utf-8")
    path = tmp_path / "study.html"
    built()
    done = run_command("explore", study, "-o", path, "-q")
    assert done.returncode == 0, done.stderr
    page.visit(path)
    page.change("server.7", "fail")
    page.change("server.9", "slow")
    page.click("#chosen [data-change=repair]")
    page.happens_after("Bring back: server.9", "36")
    page.evaluate("document.querySelector('.controls [id^=\"control-redundancy\"]').focus()")
    page.press("ArrowRight")
    page.wait("document.querySelector('.controls [data-changed=true]') !== null")
    page.evaluate("document.querySelector('.take details').open = true")
    found = page.answer()
    exported = tmp_path / "explored.toml"
    text = page.evaluate("document.getElementById('study').textContent")
    exported.write_text(text, encoding="utf-8")
    assert 'until = "36.0 s"' in text and "health = 0.1" in text
    assert page.command() == "resilver run study-explored.toml"
    run = Study.load(exported).runs()[0]
    assert found["digest"] == simulate(run.system, run.seed).metrics["digest"]
    silent(page, path)
