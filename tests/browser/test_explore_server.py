"""A page from the server asks for runs in a browser; other pages get nothing of it."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from resilver.explore.native import Runs
from resilver.explore.serve import PageServer
from tests.browser.chromium import Page
from tests.explore_client import long_request, page_of, quick_request, wait_for

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("explore server")]


@pytest.fixture(scope="module")
def server() -> Iterator[PageServer]:
    with PageServer(page_of, 0, print, Runs(2)) as opened:
        yield opened


def test_a_page_that_is_left_ends_its_run(page: Page, server: PageServer) -> None:
    page.call("Page.navigate", url=server.address)
    page.wait(f"document.title === {json.dumps(server.token)}")
    headers = {"Content-Type": "application/json", "Resilver-Token": server.token}
    asked = {"method": "POST", "headers": headers, "body": long_request().to_json()}
    page.evaluate(f"void fetch('/run', {json.dumps(asked)})")
    wait_for(lambda: server.runs.live == 1)
    page.call("Page.navigate", url="about:blank")
    wait_for(lambda: server.runs.live == 0)


def test_another_page_is_told_nothing(page: Page, server: PageServer, tmp_path: Path) -> None:
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
