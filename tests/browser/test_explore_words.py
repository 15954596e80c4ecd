"""The page that computes, as an operator reads it for the first time: words, hints and limits."""

import base64
import json
import time
from dataclasses import replace
from pathlib import Path

from resilver.explore.cluster import cluster_document
from resilver.importers.ceph import ClusterReport, read_cluster
from resilver.whatif.options import Request
from resilver.whatif.perform import answer_of, changes_of
from resilver.whatif.plan import plan_of_options
from tests.browser.explore_pages import (
    ANSWERED,
    CAVEAT,
    HEADLINE,
    READY,
    TOLD,
    Reader,
    paged,
    written,
)
from tests.reference.ceph_cluster import write_cluster
from tests.unit.what_if_clusters import SMALL, of_release, small_report


def test_what_is_lost_for_ever_is_not_told_as_a_while(page: Reader, real: Path) -> None:
    page.visit(real)
    page.fail("default")
    said = page.evaluate(HEADLINE)
    assert said.startswith("4,096 PGs lose data; the cluster never becomes healthy.")
    assert "for up to" not in said and "at risk" not in said
    told = page.evaluate(TOLD)
    assert told["whole_seconds"] == ["never"]
    assert told["degraded_seconds"] == ["to the end"]


def test_overload_is_told_from_healing(page: Reader, real: Path, report: ClusterReport) -> None:
    load = ("cephstor3: 7040 reads/s of 16 KiB, 3520 writes/s of 4 KiB",)
    asked = Request(load=load)
    path = paged(report, real.with_name("loaded.html"), asked)
    page.visit(path)
    page.fail("osd.12")
    clients = answer_of(report, changes_of({"fail": "osd.12"}), asked).tables["clients"].to_pylist()
    least = min(row["served_share"] for row in clients)
    assert clients[0]["served_share"] < 0.5
    # More than 1 % is not served, so that there is no p99.
    assert all(row.get("p99_seconds") is None for row in clients)
    told = page.evaluate(TOLD)
    before = f"{100 * clients[0]['served_share']:.1f} %"
    assert told["served_share"] == [f"{100 * least:.1f} % ({before} before)"]
    assert told["p99_seconds"] == ["more is asked than served"]
    assert "clients ask for more than there is even before" in page.evaluate(HEADLINE)
    assert not page.evaluate(CAVEAT)


def test_alike_is_the_same_and_b_is_told_to_be_as_a(page: Reader, real: Path) -> None:
    page.visit(real)
    page.fail("osd.12")
    page.button("Compare with another")
    page.wait("document.querySelector('.alike') !== null")
    assert {row[2] for row in page.evaluate(TOLD).values()} == {"same"}
    page.button("Or let A be as things are")
    page.wait(f"document.querySelector('.alike') === null && {ANSWERED}")
    told = page.evaluate(TOLD)
    assert told["whole_seconds"][:2] == ["at once", "16 min 19 s"]
    assert told["lost_groups"] == ["0", "0", "same"]
    assert page.evaluate("document.querySelector('.alike button')") is None


def test_the_answer_is_copied_as_lines(page: Reader, real: Path) -> None:
    page.visit(real)
    page.evaluate(
        "Object.defineProperty(navigator, 'clipboard', { value: {"
        " writeText: async (text) => { globalThis.kept = text; } } }); 0"
    )
    page.fail("osd.12")
    page.button("Copy the answer")
    page.wait("globalThis.kept !== undefined")
    text = page.evaluate("globalThis.kept")
    assert "\nFail osd.12\n" in text
    assert page.evaluate(HEADLINE) in text
    assert "- Healthy after: 16 min 19 s\n" in text
    assert page.command() in text and page.answer()["digest"] in text
    assert page.evaluate(CAVEAT) in text
    assert ": 88 OSDs, 4,096 PGs, release 10.2.7\n" in text
    assert "\nAs things are: Network of a host 10 GbE; " in text
    assert "osd_max_backfills 1; " in text and "\nAssumed of it: " in text
    page.button("Compare with another")
    page.turn("network")
    page.commanded("25gbe")
    page.answer()
    page.button("Copy the answer")
    page.wait("globalThis.kept.includes('Scenario B')")
    both = page.evaluate("globalThis.kept")
    assert text.split("\n", 2)[2].split("\nAs things are")[0].strip() in both
    # Where nothing differs nothing is said of A.
    assert "against A" not in both
    assert "Network of a host: 25 GbE, instead of 10 GbE" in both


def test_who_gets_full_only_then_is_worse_off(page: Reader, tmp_path: Path) -> None:
    """A ratio that is passed never is better than one that is passed late."""
    report = read_cluster(write_cluster(tmp_path / "fuller", replace(SMALL, fill=0.6)))
    page.visit(paged(replace(report, balancer=None), tmp_path / "fuller.html"))
    page.button("Compare with another")
    page.fail("node-002")
    row = "document.querySelector('[data-figure=nearfull_seconds]')"
    page.wait(f"{row} !== null")
    assert page.evaluate(TOLD)["nearfull_seconds"][0] == "never"
    assert page.evaluate(TOLD)["nearfull_seconds"][2] == "worse"
    assert page.evaluate(f"{row}.querySelector('td:last-child').className") == "n bad"


def test_a_ranking_says_what_all_have_in_common(page: Reader, full: Path) -> None:
    page.visit(full)
    page.click("[data-level=host]")
    page.wait(
        "document.querySelector('.ranking')?.textContent.includes('Whichever host fails')", 60
    )
    said = page.evaluate("document.querySelector('.ranking').textContent")
    assert "does not become healthy by itself" in said
    heads = page.evaluate(
        "[...document.querySelectorAll('.ranking thead th')].map((one) => one.textContent)"
    )
    assert {"PGs lost", "PGs stuck", "PGs inactive"} <= set(heads)
    first = page.evaluate("document.querySelector('.ranking tbody th').textContent")
    page.click(".ranking tbody td button")
    page.happens(first)
    assert page.evaluate("document.activeElement.id") == "map"
    page.answer()
    assert "become clean" in page.evaluate(HEADLINE)


def test_a_page_runs_nothing_until_it_is_asked(
    page: Reader, real: Path, report: ClusterReport
) -> None:
    """No worker begins; undoing all leads back to that. These dumps know no fill."""
    page.look(real)
    page.wait(READY)
    page.evaluate(
        "(() => { const Own = Worker; globalThis.begun = 0; globalThis.Worker ="
        " function (...all) { globalThis.begun++; return new Own(...all); }; })()"
    )
    assert (len(report.osds), sum(pool.pg_num for pool in report.pools)) == (88, 4096)
    said = page.evaluate(HEADLINE)
    assert said.startswith("88 OSDs, 4,096 PGs. Nothing has failed yet")
    time.sleep(1.0)
    assert page.evaluate("begun") == 0
    assert page.evaluate("document.querySelector('.figures').hidden")
    page.fail("osd.12")
    assert page.evaluate("begun") == 1
    page.button("Undo")
    page.wait(f"{HEADLINE} === {json.dumps(said)}")
    assert page.complaints() == []


def test_a_run_of_much_memory_asks_and_goes_on(page: Reader, tmp_path: Path) -> None:
    """The page asks from 1 MiB on here, which any core has; without leave there is no answer."""
    report, plan = small_report(), changes_of({"fail": "host=node-000"})
    asked = Request(events=True, horizon="30 min")
    document = cluster_document(report, "small", asked).to_json()
    unasked = {"seconds": 60.0, "bytes": 2.0**20}
    path = written({**document, "unasked": unasked}, tmp_path / "asks.html")
    made = {"v": 1, "a": 0, "s": [{"c": {}, "h": [["fail", "host=node-000", 0, 1]]}]}
    link = base64.urlsafe_b64encode(json.dumps(made).encode()).decode().rstrip("=")
    page.look(path, f"#{link}")
    going = "document.querySelector('.answer .going')?.textContent"
    page.wait(f"/^This takes [0-9.]+ MiB of memory or more/.test({going} ?? '')")
    page.button("Compute it")
    assert page.answer()["digest"] == answer_of(report, plan, asked).digest
    assert page.complaints() == []


def test_a_failed_osd_is_answered_with_what_limits_and_when_it_ends(
    page: Reader, real: Path, report: ClusterReport
) -> None:
    """Times count from the failure, and what is without clients says so where anything heals."""
    page.visit(real)
    assert "limit" not in page.evaluate(TOLD) and not page.evaluate(CAVEAT)
    page.fail("osd.12")
    assert page.evaluate(CAVEAT).startswith("That is without clients")
    limits = (
        answer_of(report, changes_of({"fail": "osd.12"}), Request()).tables["limits"].to_pylist()
    )
    sums = dict.fromkeys((row["kind"] for row in limits), 0.0)
    for row in limits:
        sums[row["kind"]] += row["share"]
    kind = max(sums, key=lambda one: sums[one])
    assert kind == "reservation of a primary"
    expected = f"{kind} (osd_max_backfills), {100 * sums[kind]:.0f} % of the time"
    assert page.evaluate(TOLD)["limit"] == [expected]
    moment = "document.querySelector('.moment').textContent"
    assert page.evaluate(moment) == "After 16 min 19 s nothing moves."
    assert "1 OSD reads, 1 writes" in page.scrub(980)
    page.happens_after("Fail: osd.12", "2")
    page.commanded("7200 s")
    page.answer()
    said = page.evaluate(HEADLINE)
    assert said.startswith("Healthy 16 min 19 s after the failure (at 2 h 16 min)")
    # What heals nothing is slowed by nobody.
    page.button("As things are")
    page.change("osd.12", "start")
    page.happens("Start again")
    page.answer()
    assert not page.evaluate(CAVEAT)


def test_under_mclock_backfills_are_set_with_what_lets_them_be(
    page: Reader, tmp_path: Path
) -> None:
    report = of_release(18, 2, 4)
    path = paged(report, tmp_path / "reef.html")
    page.visit(path)
    page.fail("osd.5")
    before = page.answer()
    field = "document.getElementById('control-osd_max_backfills')"
    page.evaluate(f"{field}.focus()")
    page.press("ArrowRight")
    page.commanded("osd_max_backfills")
    words = page.command()
    assert "osd_mclock_override_recovery_settings=true" in words
    found = page.answer()
    assert found["digest"] != before["digest"]
    values = [word for word in words.split() if "=" in word and word.startswith("osd_")]
    plan = plan_of_options({"fail": ["osd.5"], "set_option": values})
    assert found["digest"] == answer_of(report, plan, Request()).digest


def test_who_does_nothing_is_told_what_moves_by_itself(page: Reader, tmp_path: Path) -> None:
    bundle = write_cluster(tmp_path / "small", replace(SMALL, osds=72, groups=1024))
    report = read_cluster(bundle)
    path = paged(report, tmp_path / "small.html")
    page.visit(path)
    found = answer_of(report, plan_of_options({}), Request()).outcome
    assert found.moved_bytes > 0 and found.recovered_bytes == 0
    assert "nothing fails, but" in page.evaluate(HEADLINE).lower()
    assert page.evaluate(READY)
