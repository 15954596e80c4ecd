"""What the tests of the page that computes share: its pages, and a reader's hands."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from resilver.explore.cluster import cluster_document
from resilver.explore.page import explore_page
from resilver.importers.ceph import ClusterReport
from resilver.whatif.options import Request
from tests.browser.chromium import Page
from tests.browser.core_answers import module
from tools import front

ROOT = Path(__file__).resolve().parents[2]
AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
READY = "document.documentElement?.dataset?.ready === 'true'"
GOING = "document.querySelector('.answer .going')?.textContent"
ANSWERED = f"{READY} && /digest [0-9a-f]{{16}}/.test({GOING})"

NONE = "\N{EN DASH}"
HEADLINE = "document.querySelector('.answer .headline').textContent"
CAVEAT = "document.querySelector('.answer .caveat')?.textContent ?? ''"
TOLD = "Object.fromEntries([...document.querySelectorAll('[data-figure]')].map((row) => "
TOLD += "[row.dataset.figure, [...row.querySelectorAll('td')].map((one) => one.textContent)]))"
"""What a page says: of none, in its headline, and in its figures."""


@cache
def built() -> None:
    """The page's script and core; a test that needs them is skipped where they were not built."""
    module()
    if front.is_outdated() or not all(
        (ROOT / "python" / "resilver" / "browser" / name).is_file() for name in front.BUILT
    ):
        pytest.skip("the page that computes is not built: run `python3 dev.py web`")


def written(document: Any, path: Path) -> Path:
    """The page of a document."""
    built()
    path.write_text(explore_page(document), encoding="utf-8")
    return path


def paged(report: ClusterReport, path: Path, asked: Request | None = None) -> Path:
    """The page of a real cluster."""
    return written(cluster_document(report, "bundle", asked or Request()).to_json(), path)


_NUMBERS = {
    "ArrowLeft": 37,
    "ArrowUp": 38,
    "ArrowRight": 39,
    "ArrowDown": 40,
    "Enter": 13,
    "Escape": 27,
    "Tab": 9,
}


class Reader(Page):
    """One who reads a page that computes: their hands, and what they see."""

    def look(self, path: Path, fragment: str = "", width: int = 1440) -> None:
        """Open a page afresh, and ask nothing of it."""
        self.view(width, 1000)
        self.call("Page.navigate", url="about:blank")
        self.events.clear()
        self.call("Page.navigate", url=path.resolve().as_uri() + fragment)

    def visit(self, path: Path, fragment: str = "", width: int = 1440) -> None:
        """Open a page as a reader does, and wait for its first answer."""
        self.look(path, fragment, width)
        self.compute()

    def compute(self) -> None:
        """Wait for the first answer; of a page of which nothing is asked, ask for what is."""
        self.wait(READY)
        self.evaluate(
            "[...document.querySelectorAll('.answer .going button')]"
            ".find((one) => one.textContent.startsWith('Compute what'))?.click()"
        )
        self.wait(ANSWERED)

    def click_at(self, x: float, y: float) -> None:
        """A click of the mouse at a place of the window."""
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def click(self, selector: str) -> None:
        """A click of the mouse in the middle of an element."""
        place = self.evaluate(
            f"(() => {{ const one = document.querySelector({json.dumps(selector)});"
            " one.scrollIntoView({block: 'center', behavior: 'instant'});"
            " const box = one.getBoundingClientRect();"
            " return [box.x + box.width / 2, box.y + box.height / 2]; })()"
        )
        self.click_at(*place)

    def button(self, text: str) -> None:
        """A click on the first button whose words begin so."""
        self.evaluate(
            "document.querySelector('[data-here]')?.removeAttribute('data-here');"
            "[...document.querySelectorAll('button')]"
            f".find((one) => one.textContent.trim().startsWith({json.dumps(text)}))"
            ".setAttribute('data-here', '')"
        )
        self.click("[data-here]")

    def press(self, key: str, *, shift: bool = False, control: bool = False) -> None:
        """A key, pressed and released, where the focus is."""
        held = 8 * shift + 2 * control
        text = "\r" if key == "Enter" else key if len(key) == 1 and not control else ""
        code = key if len(key) > 1 else f"Key{key.upper()}"
        for kind in ("keyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent", type=kind, key=key, code=code, modifiers=held,
                windowsVirtualKeyCode=_NUMBERS.get(key, ord(key[0].upper())),
                **({"text": text} if text and kind == "keyDown" else {}),
            )  # fmt: skip

    def turn(self, control: str, key: str = "ArrowRight") -> None:
        """Move a control, which has the focus then, by a key."""
        self.evaluate(f"document.getElementById('control-{control}').focus()")
        self.press(key)

    def scrub(self, place: int) -> str:
        """Put the time at a place of its slider, of 1,000; what is said of that moment."""
        said = self.evaluate(
            f"(() => {{ const field = document.getElementById('time'); field.value = {place};"
            " field.dispatchEvent(new Event('input', {bubbles: true}));"
            " return new Promise((done) => setTimeout(() =>"
            " done(document.querySelector('.moment').textContent), 100)); })()"
        )
        return str(said)

    def commanded(self, words: str) -> None:
        """Wait until the command that is offered has these words."""
        offered = "document.getElementById('command')?.textContent"
        self.wait(f"{offered}.includes({json.dumps(words)})")

    def happens(self, words: str) -> None:
        """Wait until what happens is said to be this."""
        self.wait(
            f"document.querySelector('.happenings')?.textContent.includes({json.dumps(words)})"
        )

    def answer(self) -> dict[str, str]:
        """The figures that the page shows of the scenario that is changed, and the digest."""
        self.wait(ANSWERED)
        found: dict[str, str] = self.evaluate(
            "Object.fromEntries([...document.querySelectorAll('[data-figure]')]"
            ".map((row) => [row.dataset.figure, row.querySelector('td').textContent]))"
        )
        line = self.evaluate("document.querySelector('.answer .going').textContent")
        return {**found, "digest": line.rpartition(" ")[2]}

    def command(self) -> str:
        """The command that the page offers."""
        return str(self.evaluate("document.getElementById('command').textContent.trim()"))

    def select(self, name: str) -> None:
        """Find a part by its name."""
        self.evaluate(
            "(() => { const field = document.querySelector('input[list]');"
            f" field.value = {json.dumps(name)}; field.dispatchEvent(new Event('change')); }})()"
        )
        self.wait(f"document.querySelector('#chosen')?.textContent.includes({json.dumps(name)})")

    def change(self, part: str, what: str) -> None:
        """Choose a part, and what becomes of it."""
        self.select(part)
        self.click(f"#chosen [data-change={what}]")

    def fail(self, part: str) -> None:
        """Choose a part, let it fail, and wait for the answer."""
        self.change(part, "fail")
        self.happens(part)
        self.answer()

    def happens_after(self, what: str, value: str) -> None:
        """State another time of something that happens, in its unit."""
        selector = f'[aria-label="Time of {what}"]'
        field = f"document.querySelector({json.dumps(selector)})"
        self.wait(f"{field} !== null")
        self.evaluate(
            f"(() => {{ const field = {field}; field.value = {json.dumps(value)};"
            " field.dispatchEvent(new Event('change', {bubbles: true})); })()"
        )

    def axe(self) -> list[str]:
        """What axe-core says is wrong; a test is skipped where it was not fetched."""
        if not AXE.is_file():
            pytest.skip("axe-core is not there: run `python3 dev.py web`")
        self.evaluate(AXE.read_text(encoding="utf-8") + "; 0")
        found = self.evaluate("axe.run().then((one) => one.violations)")
        return [f"{one['id']}: {one['nodes'][0]['html']}" for one in found]
