"""A page from the server asks runs in a browser, from a worker; other pages get nothing of it."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from resilver.browser import CoreRequest, system_request
from resilver.explore.native import Runs
from resilver.explore.serve import PageServer
from resilver.simulate.from_page import perform
from tests.browser.chromium import Page
from tests.browser.core_answers import CORE
from tests.browser.core_cases import demo
from tests.explore_client import long_request, quick_request, wait_for

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("explore server")]

READER = """
/** The answers of a run, one after the other. */
async function* answers(address, token, request) {
  const headers = { "Content-Type": "application/json", "Resilver-Token": token };
  const response = await fetch(address, { method: "POST", headers, body: JSON.stringify(request) });
  if (!response.ok) throw new Error((await response.json()).message);
  let bytes = new Uint8Array(0);
  for await (const part of response.body) {
    const all = new Uint8Array(bytes.length + part.length);
    all.set(bytes);
    all.set(part, bytes.length);
    bytes = all;
    while (bytes.length >= 4) {
      const end = 4 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
      if (bytes.length < end) break;
      yield decode(bytes.slice(4, end).buffer);
      bytes = bytes.slice(end);
    }
  }
}
onmessage = async ({ data: { address, token, requests } }) => {
  try {
    const digests = [];
    for (const request of requests) {
      let last;
      for await (last of answers(address, token, request)) postMessage({ state: last.state });
      digests.push(last.digest ?? last.message);
    }
    postMessage({ digests });
  } catch (error) {
    postMessage({ error: String(error) });
  }
};
"""

PAGE = """<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; connect-src 'self';
 script-src 'unsafe-inline' blob:; worker-src blob:; img-src data:"><title>A page</title>
<script type="module">
const source = new Blob([@SOURCE@], { type: "text/javascript" });
const worker = new Worker(URL.createObjectURL(source), { type: "module" });
globalThis.states = [];
worker.onmessage = ({ data }) => {
  if (data.state) globalThis.states.push(data.state);
  else globalThis.told = JSON.stringify(data);
};
globalThis.ask = (requests, address = location.origin + @PATH@, token = @TOKEN@) => {
  globalThis.told = undefined;
  worker.postMessage({ address, token, requests });
};
</script>"""


def page_of(token: str, path: str) -> str:
    source = CORE.read_text(encoding="utf-8") + READER
    page = PAGE.replace("@PATH@", json.dumps(path)).replace("@TOKEN@", json.dumps(token))
    # A text in a script must not end it.
    return page.replace("@SOURCE@", json.dumps(source).replace("<", "\\u003c"))


@pytest.fixture(scope="module")
def server() -> Iterator[PageServer]:
    with PageServer(page_of, 0, print, Runs(2)) as opened:
        yield opened


def opened(page: Page, server: PageServer) -> None:
    page.call("Page.navigate", url=server.address)
    page.wait("globalThis.ask !== undefined")


def ask(page: Page, *requests: CoreRequest, more: str = "") -> None:
    values = ",".join(one.to_json() for one in requests)
    page.evaluate(f"void ask([{values}]{more})")


def test_a_worker_of_the_page_is_answered_as_natively(page: Page, server: PageServer) -> None:
    """A system with its maps and a cluster, one after the other, without a complaint."""
    run = demo()
    requests = [system_request(run.system, run.seed), quick_request()]
    opened(page, server)
    ask(page, *requests)
    page.wait("globalThis.told !== undefined")
    found = json.loads(page.evaluate("globalThis.told"))
    expected = [perform(one.kind, one.input, one.maps).digest for one in requests]
    assert found == {"digests": expected}
    assert page.complaints() == []


def test_a_page_that_is_left_ends_its_run(page: Page, server: PageServer) -> None:
    opened(page, server)
    ask(page, long_request())
    page.wait("globalThis.states.includes('working')")
    assert server.runs.live == 1
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
