"""The table of `resilver check` in terminals of several widths."""

from __future__ import annotations

import io
from typing import Any

from rich.console import Console

from resilver.cli.check import _table, estimates
from resilver.spec import Study
from tests.build import STREAMED, changed

SWEEP = {"sweep": {"lanes.clients": [0.9, 0.5], "cluster.attachment": ["local", "distributed"]}}


def table_at(width: int) -> str:
    """The table of a sweep of streams over two keys, as a terminal of so many columns has it."""
    keys: dict[str, Any] = {"placement__group_size": 6, "study": SWEEP}
    points = estimates(Study.from_dict(changed(STREAMED, **keys)).runs())
    console = Console(file=io.StringIO(), width=width)
    console.print(_table(points, width))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_wide_terminal_has_every_column() -> None:
    text = table_at(120)
    assert "packet hops" in text and "requests" in text and text.count("MiB") == 4


def test_a_narrow_terminal_keeps_its_numbers_whole() -> None:
    text = table_at(80)
    assert "hops" not in text and "events" in text
    # Memory is the last column, of four points: its unit is there in every row.
    assert text.count("MiB") == 4
    assert max(len(line.rstrip()) for line in text.splitlines()) <= 80
