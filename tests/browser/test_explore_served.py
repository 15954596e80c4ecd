"""`resilver explore --serve`: the page, computed natively here; other pages get nothing of it."""

import json
import os
import re
import signal
import subprocess
import sys
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from resilver import ConfigError, Study
from resilver.browser import browser_file
from resilver.explore.native import Runs
from resilver.explore.serve import PageServer
from resilver.importers.ceph import read_cluster
from resilver.study import simulate
from tests.browser.explore_pages import GOING, HEADLINE, READY, Reader
from tests.explore_client import SECONDS, long_request, page_of, quick_request, wait_for
from tests.front_door import command, environment
from tests.integration.study_runs import LOST
from tests.reference.ceph_cluster import write_cluster
from tests.unit.what_if_clusters import SMALL

pytestmark = pytest.mark.xdist_group("explore served")

DIGEST = "/digest ([0-9a-f]{16})/.exec(document.body?.innerText ?? '')?.[1]"


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    try:
        browser_file("page.js")
    except ConfigError as error:
        pytest.skip(str(error))
    return write_cluster(tmp_path_factory.mktemp("served") / "small", SMALL)


@pytest.fixture(scope="module")
def served(bundle: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command, and the address that it tells."""
    with serving(bundle) as found:
        yield found


@contextmanager
def serving(path: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command for a bundle or a study, and the address that it tells."""
    process = subprocess.Popen(
        [sys.executable, "-m", "resilver", "explore", path, "--serve"],
        env=environment(), stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert process.stderr is not None
    line = process.stderr.readline()
    try:
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=\S+ is the page; .*\n", line)
        yield process, line.split()[0]
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def digest_of(page: Reader, address: str) -> str:
    """The digest of the answer that a page comes to show."""
    page.call("Page.navigate", url="about:blank")
    page.call("Page.navigate", url=address)
    page.compute()
    found: str = page.evaluate(DIGEST)
    return found


def linked(osd: str) -> str:
    """The fragment of a scenario in which an OSD fails at the start."""
    scenarios = {"v": 1, "a": 0, "s": [{"c": {}, "h": [["fail", f"osd={osd}", 0, 1]]}]}
    return urlsafe_b64encode(json.dumps(scenarios).encode()).decode("ascii").rstrip("=")


def test_the_served_page_answers_as_the_command(
    page: Reader, bundle: Path, served: tuple[subprocess.Popen[str], str]
) -> None:
    """As things are, and with an OSD that fails, to the digest; without a complaint, and without
    a request to anywhere else.
    """
    _, address = served
    plain, failed = digest_of(page, address), digest_of(page, f"{address}#{linked('osd.3')}")
    for digest, changes in ((plain, ()), (failed, ("--fail", "osd.3"))):
        printed = command("what-if", bundle, *changes, "--json")
        assert json.loads(printed.stdout)["digest"] == digest, changes
    assert plain != failed
    assert page.complaints() == []
    origin = address.partition("?")[0]
    ours = (origin, "about:", "data:", f"blob:{origin}")
    assert [one for one in page.requests() if not one.startswith(ours)] == []


def test_a_served_study_answers_as_its_run(page: Reader, bundle: Path, tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text(LOST)
    run = Study.load(study).runs()[0]
    with serving(study) as (_, address):
        assert digest_of(page, address) == simulate(run.system, run.seed).metrics["digest"]
        page.wait("document.querySelector('.moment')?.textContent.endsWith('nothing moves.')")
    assert page.complaints() == []


def test_a_page_runs_nothing_until_it_is_asked(
    page: Reader, bundle: Path, served: tuple[subprocess.Popen[str], str]
) -> None:
    """Opened, it says how the cluster stands (36 OSDs, 320 PGs) and asks the server for no run."""
    _, address = served
    page.events.clear()
    page.call("Page.navigate", url="about:blank")
    page.call("Page.navigate", url=address)
    page.wait(READY)
    page.wait("/^fill: 0/.test(document.querySelector('.legend').textContent.trim())")
    usage = read_cluster(bundle).usage
    fills = [one.used_bytes / one.capacity_bytes for one in usage]
    mean, most = (f"{100 * one:.0f}" for one in (sum(fills) / len(fills), max(fills)))
    said = page.evaluate(HEADLINE)
    full = rf"{mean}[0-9.]*\s% full on average, {most}[0-9.]*\s% at the most\. Nothing has failed"
    assert re.match(f"36 OSDs, 320 PGs, {full}", said), said
    run = f"{address.partition('?')[0]}run"
    assert run not in page.requests()
    page.button("Compute what")
    page.wait(f"Boolean({DIGEST})")
    assert page.requests().count(run) == 1
    assert page.complaints() == []


@pytest.mark.usefixtures("bundle")
def test_a_long_served_run_tells_how_long_the_rest_takes(page: Reader, tmp_path: Path) -> None:
    """The page's clock runs 1,000 times as fast here, so that part of a second is minutes."""
    path = write_cluster(tmp_path / "larger", replace(SMALL, osds=240, groups=8192))
    host = {"v": 1, "a": 0, "s": [{"c": {}, "h": [["fail", "host=node-001", 0, 1]]}]}
    text = urlsafe_b64encode(json.dumps(host).encode()).decode("ascii").rstrip("=")
    with serving(path) as (_, address):
        page.call("Page.navigate", url=address)
        page.wait(READY)
        page.evaluate(
            "(() => { const now = performance.now.bind(performance);"
            " performance.now = () => 1000 * now(); })()"
        )
        page.evaluate(f"void (location.hash = {json.dumps(text)})")
        page.wait(f"/PGs to go after .*; about .* more to compute/.test({GOING})")
        page.wait(f"Boolean({DIGEST})")
        found = page.evaluate(DIGEST)
    printed = command("what-if", path, "--fail", "host=node-001", "--json")
    assert json.loads(printed.stdout)["digest"] == found
    assert page.complaints() == []


def test_an_interrupt_ends_the_command_and_is_told_by_the_page(
    page: Reader, served: tuple[subprocess.Popen[str], str]
) -> None:
    """No process of it is left, and a page that is still open says that there is no server."""
    process, address = served
    digest_of(page, address)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(SECONDS) == 130
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
    page.evaluate(f"void (location.hash = {json.dumps(linked('osd.5'))})")
    page.wait("document.body.innerText.includes('the server does not answer')")


@pytest.fixture(scope="module")
def server() -> Iterator[PageServer]:
    with PageServer(page_of, 0, print, Runs(2)) as opened:
        yield opened


def test_a_page_that_is_left_ends_its_run(page: Reader, server: PageServer) -> None:
    page.call("Page.navigate", url=server.address)
    page.wait(f"document.title === {json.dumps(server.token)}")
    headers = {"Content-Type": "application/json", "Resilver-Token": server.token}
    asked = {"method": "POST", "headers": headers, "body": long_request().to_json()}
    page.evaluate(f"void fetch('/run', {json.dumps(asked)})")
    wait_for(lambda: server.runs.live == 1)
    page.call("Page.navigate", url="about:blank")
    wait_for(lambda: server.runs.live == 0)


def test_another_page_is_told_nothing(page: Reader, server: PageServer, tmp_path: Path) -> None:
    """Not even one from this machine that has the token, by no way to ask that a browser has."""
    page.events.clear()
    asked = f"http://127.0.0.1:{server.port}"
    script = f"""
      const [page, run] = [{json.dumps(server.address)}, {json.dumps(asked + "/run")}];
      const headers = {{ "Content-Type": "application/json", "Resilver-Token": "{server.token}" }};
      const body = {json.dumps(quick_request().to_json())};
      const ways = [
        () => fetch(page),
        () => fetch(page, {{ mode: "no-cors" }}),
        () => fetch(run, {{ method: "POST", headers, body }}),
        () => fetch(run, {{ method: "POST", mode: "no-cors", body }}),
      ];
      const told = [];
      for (const way of ways) {{
        try {{
          told.push(await (await way()).text());
        }} catch (error) {{
          told.push(error.name);
        }}
      }}
      const frame = document.body.appendChild(document.createElement("iframe"));
      frame.onload = () => (globalThis.told = told);
      frame.src = page;
    """
    file = tmp_path / "other.html"
    file.write_text(f'<!doctype html><body><script type="module">{script}</script>')
    page.call("Page.navigate", url=file.as_uri())
    page.wait("globalThis.told !== undefined")
    assert page.evaluate("globalThis.told") == ["TypeError"] * 4
    answers = [one["params"] for one in page.events if one["method"] == "Network.responseReceived"]
    statuses = [
        one["response"]["status"] for one in answers if one["response"]["url"].startswith(asked)
    ]
    assert statuses and set(statuses) <= {403, 405}
    assert server.runs.live == 0
