"""Every relative link and picture of a page leads to a file of the checkout."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("studies/**/*.md")])
LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)\s#]+)")


def broken(page: Path) -> list[str]:
    prose = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    return [link for link in LINK.findall(prose) if not (page.parent / link).exists()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    assert broken(page) == []


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("[a](page.md) ![b](gone.png) [c](https://x.y) [d](#e)\n", encoding="utf-8")
    assert broken(page) == ["gone.png"]
