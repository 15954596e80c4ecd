"""The document that Python writes is the one that the page reads: the same fields, one by one."""

import re
from dataclasses import fields

import pytest

from resilver.explore.controls import Control, Group, Stop
from resilver.explore.document import (
    Change,
    Document,
    Film,
    Lines,
    Map,
    Part,
    Series,
    Shown,
    Waiting,
)
from resilver.explore.study_figures import WAITS
from tools.checkout import ROOT

_BESIDE = {"Document": {"version", "style"}}
"""What the page gets that is not of the class: `to_json` and `explore_page` add it."""

_CONTROL = Control("key", "Label", (Stop("label"),), "now").to_json()
_OF_CONTROLS = {"Control": set(_CONTROL), "Stop": set(_CONTROL["stops"][0])}
"""What the page gets of classes that hold more."""

_TEXT = (ROOT / "web" / "src" / "document.ts").read_text(encoding="utf-8")


WRITTEN = (Change, Control, Document, Film, Group, Lines, Map, Part, Series, Shown, Stop, Waiting)
_NAMES = {"Change": "ChangeKind", "Map": "MapShown", "Shown": "Figure"}
"""Interfaces of the page that are called otherwise than their class."""


@pytest.mark.parametrize("written", WRITTEN)
def test_the_page_reads_what_is_written(written: type) -> None:
    interface = _NAMES.get(written.__name__, written.__name__)
    found = re.search(rf"export interface {interface} \{{\n(.*?)\n\}}", _TEXT, re.DOTALL)
    read = set(re.findall(r"^  (\w+)\??:", found[1], re.MULTILINE))
    names = _OF_CONTROLS.get(interface) or {one.name for one in fields(written)}
    assert read == names | _BESIDE.get(interface, set())


def test_every_wait_has_words() -> None:
    """By the kinds that the core tells, as its source lists them."""
    source = ROOT / "crates" / "system" / "src" / "tables" / "limits.rs"
    kinds = re.findall(r'LimitKind::\w+ => "(\w+)"', source.read_text(encoding="utf-8"))
    assert len(kinds) > 9 and set(kinds) == set(WAITS)
