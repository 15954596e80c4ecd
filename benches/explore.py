"""What a reader of the page that computes waits for, in Chromium: made-up clusters of two sizes.

Opens each page from disk: how long until it is seen, until a failure is answered, how many frames a
second its map has while the time is scrubbed, and how long a cancelled run still keeps the page.
How long the failure takes natively stands beside, one run on one core.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from resilver.explore.cluster import cluster_document
from resilver.explore.document import FRAMES
from resilver.importers.ceph import read_cluster
from resilver.simulate.ceph import heal
from resilver.whatif.plan import plan_of_options
from resilver.whatif.request import Asked, prepare
from tests.browser.chromium import Page, chromium, find_chromium
from tests.browser.explore_pages import READY, click, opened, press, select, written
from tests.reference.ceph_cluster import write_cluster
from tests.reference.ceph_rows import Shape

SIZES = {
    "88 OSDs, 4,096 groups, an OSD fails": (
        Shape(osds=88, osds_per_host=8, racks=3, groups=4096, fill=0.5), "osd.3", 1.0,
    ),
    "1,000 OSDs, 32,768 groups, a host fails": (
        Shape(osds=1000, osds_per_host=20, racks=10, groups=32_768, fill=0.5), "node-003", 10.0,
    ),
}  # fmt: skip
GOAL_SIGHT, GOAL_FRAMES, GOAL_CANCEL, GOAL_BYTES = 1.0, 50.0, 0.1, 4e6
REPEATS = 3

_SCRUB = """
new Promise((done) => {
  const field = document.getElementById("time"), began = performance.now();
  let frames = 0;
  const next = () => {
    const share = (performance.now() - began) / 3000;
    if (share >= 1) return done(frames / 3);
    frames++;
    field.value = Math.round(share * 1000);
    field.dispatchEvent(new Event("input", { bubbles: true }));
    requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
})
"""
_ANSWER = """
new Promise((done) => {
  const began = performance.now();
  const line = () => document.querySelector(".answer .going").textContent;
  const before = line();
  document.querySelector("BUTTON").click();
  const look = () => line() !== before && line().includes("digest")
    ? requestAnimationFrame(() => done((performance.now() - began) / 1000)) : setTimeout(look, 2);
  look();
})
"""
_CANCEL = """
new Promise((done) => {
  const began = performance.now();
  document.querySelector(".answer .going button").click();
  const look = () => document.querySelector(".answer .going").textContent.startsWith("Cancelled")
    ? done((performance.now() - began) / 1000) : setTimeout(look, 1);
  look();
})
"""


def sight(page: Page, path: Path) -> float:
    """Seconds from the address to the page with its map."""
    page.call("Page.navigate", url="about:blank")
    start = time.perf_counter()
    page.call("Page.navigate", url=path.resolve().as_uri())
    page.wait(READY)
    return time.perf_counter() - start


def failed(page: Page, path: Path, part: str) -> dict[str, Any]:
    """What a reader waits for who fails a part; who undoes it, cancels it, and has it all the same.

    The page is opened anew, so that its core has computed nothing but how things are.
    """
    opened(page, path)
    select(page, part)
    found = {"answer": page.evaluate(_ANSWER.replace("BUTTON", "#chosen [data-change=fail]"))}
    found["frames"] = page.evaluate(_SCRUB)
    opened(page, path)
    select(page, part)
    click(page, "#chosen [data-change=fail]")
    page.wait("document.querySelector('.answer .going button') !== null")
    found["cancel"] = page.evaluate(_CANCEL)
    found["again"] = page.evaluate(_ANSWER.replace("BUTTON", ".answer .going button"))
    press(page, "Escape")
    return found


def native(bundle: Path, part: str) -> float:
    """Seconds of the same run on the native core, on one core."""
    what = part if part.startswith("osd.") else f"host={part}"
    asked = replace(Asked(), frames=FRAMES)
    ready = prepare(read_cluster(bundle), plan_of_options({"fail": [what]}), asked)
    start = time.perf_counter()
    heal(ready.text)
    return time.perf_counter() - start


def main() -> None:
    """Print each figure beside its goal."""
    program = find_chromium()
    if program is None:
        raise SystemExit("no Chromium on PATH")
    with tempfile.TemporaryDirectory() as folder, chromium(program) as page:
        for name, (shape, part, goal) in SIZES.items():
            bundle = write_cluster(Path(folder) / "bundle", shape)
            document = cluster_document(read_cluster(bundle), "bundle", Asked()).to_json()
            path = written(document, Path(folder) / "page.html")
            seen = statistics.median(sight(page, path) for _ in range(REPEATS))
            rows = [failed(page, path, part) for _ in range(REPEATS)]
            alone = statistics.median(native(bundle, part) for _ in range(REPEATS))
            of = {key: statistics.median(row[key] for row in rows) for key in rows[0]}
            print(
                f"{name}: page of {path.stat().st_size / 1e6:.2f} MB (goal {GOAL_BYTES / 1e6:g}), "
                f"seen in {seen:.2f} s (goal {GOAL_SIGHT:g}), "
                f"answered in {of['answer']:.2f} s (goal {goal:g}), "
                f"{of['again']:.2f} s after a cancel, {alone:.2f} s natively, "
                f"{of['frames']:.0f} frames a second (goal {GOAL_FRAMES:g}), "
                f"cancelled in {of['cancel'] * 1e3:.0f} ms (goal {GOAL_CANCEL * 1e3:g})"
            )


if __name__ == "__main__":
    main()
