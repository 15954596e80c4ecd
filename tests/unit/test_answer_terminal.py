"""What a terminal shows of an answer: whole words, and the columns that have room."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from resilver.answer import Answer, Lines, Section, Shown
from resilver.answer.terminal import print_answer
from resilver.tables import table

NAMES = ["node-0", "node-1", "node-2"]
TABLE = table(
    ("name", "host", "text", NAMES),
    ("stuck", "PGs stuck", "count", [225, 208, 0]),
    ("after", "healthy after", "text", ["never", "never", "9 h 10 min"]),
    ("peak", "fullest OSD", "fill", [0.848, 0.848, 0.848]),
    note="The worst first.",
)


def printed(answer: Answer, width: int) -> str:
    """What a terminal of this many columns shows."""
    text = io.StringIO()
    print_answer(answer, Console(file=text, width=width, color_system=None))
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines())


def of(shown: Shown) -> Answer:
    """An answer of one table."""
    return Answer("title", ["Yes."], [Section("Hosts", (shown,))])


def test_columns_without_room_are_named() -> None:
    """20 columns have room for the names and one number: 6 + 3 + 5."""
    text = printed(of(Shown("hosts", "Hosts", TABLE)), 20)
    assert "225" in text and "84.8" not in text
    said = " ".join(text.split())
    assert "Not shown: healthy after, fullest OSD; --json has all." in said


@pytest.mark.parametrize("width", [22, 30, 60])
def test_a_split_table_has_every_column_and_its_names_again(width: int) -> None:
    text = printed(of(Shown("hosts", "Hosts", TABLE, is_split=True)), width)
    assert "Not shown" not in text and text.count("84.8 %") == 3 and "9 h 10 min" in text
    assert text.count("node-2") > 1 or width == 60


def test_a_turned_table_has_a_column_a_row() -> None:
    lines = printed(of(Shown("hosts", "Hosts", TABLE, is_turned=True)), 60).splitlines()
    assert any(line.split() == ["node-0", "node-1", "node-2"] for line in lines)
    assert any(line.split() == ["PGs", "stuck", "225", "208", "0"] for line in lines)


def test_a_column_of_one_value_is_a_note() -> None:
    folded = Shown("hosts", "Hosts", TABLE, folded=True).read()
    assert [column.heading for column in folded.columns] == ["host", "PGs stuck", "healthy after"]
    assert folded.note == "The worst first. The same in every row: fullest OSD 84.8 %."
    text = printed(of(Shown("hosts", "Hosts", TABLE, folded=True)), 80)
    assert text.count("84.8 %") == 1 and "The worst first." in text


def test_rows_beyond_what_is_printed_are_counted() -> None:
    text = printed(of(Shown("hosts", "Hosts", TABLE, printed=1)), 80)
    assert "node-0" in text and "node-1" not in text and "... and 2 more; --json has all" in text


def test_an_answer_in_another_is_printed_with_its_heading() -> None:
    inner = Section("With these settings", texts=["Healthy after 5 h."], printed=True)
    quiet = Section("A page alone", texts=["Not here."])
    lines = Lines("commands", "Commands", ["ceph osd set noout"])
    answer = Answer("title", ["Yes."], [inner, quiet], notes=["Assumed: a disk."], basis=[lines])
    text = printed(answer, 80)
    assert "With these settings:\nHealthy after 5 h.\n" in text and "Not here" not in text
    assert text.index("Assumed") < text.index("With") < text.index("ceph osd set noout")
