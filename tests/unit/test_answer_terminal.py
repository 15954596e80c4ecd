"""What a terminal shows of an answer: whole words, and the columns that have room."""

import pytest

from resilver.answer import Answer, Case, Figures, KeyFigure, Lines, Section, Shown
from resilver.tables import table
from tests.terminal import printed

NAMES = ["node-0", "node-1", "node-2"]
TABLE = table(
    ("name", "host", "text", NAMES),
    ("stuck", "PGs stuck", "count", [225, 208, 0]),
    ("after", "healthy after", "text", ["never", "never", "9 h 10 min"]),
    ("peak", "fullest OSD", "fill", [0.848, 0.848, 0.848]),
    note="The worst first.",
)


def of(shown: Shown) -> Answer:
    """An answer of one table."""
    return Answer("title", ["Yes."], [Section("Hosts", (shown,))])


@pytest.mark.parametrize("width", [60, 28, 13])
def test_what_a_row_is_of_stays_and_a_note_goes_first(width: int) -> None:
    """Name, count and note need 6 + 3 + 9 + 3 + 18 columns; name and count 18; else a line each."""
    made = table(
        ("name", "host", "text", NAMES),
        ("stuck", "PGs stuck", "count", [225, 208, 0]),
        ("range", "quartiles", "note", ["from 200 to 230 PGs", "", ""]),
        ("more", "more", "text", ["x" * 20] * 3),
    )
    text = printed(of(Shown("hosts", "Hosts", made, keys=1)), width)
    assert ("from 200 to 230 PGs" in text) == (width == 60)
    assert all(name in text for name in NAMES)
    assert ("PGs stuck: 225" in " ".join(text.split())) == (width == 13)
    assert ("Not shown: more; --json has all." in " ".join(text.split())) == (width == 28)


def test_figures_are_a_line_each_and_of_a_case_the_chosen_one() -> None:
    figure = KeyFigure("Rebuild time", 39.1, "s", "39.1 s", "min 38.0 s, max 40.9 s")
    sections = [Section("F", (Figures(f"Figures {at}", [figure]),), case=at) for at in (0, 1)]
    cases = [Case("servers = 8", ["Slow."]), Case("servers = 16", ["Fast.", "No data is lost."])]
    answer = Answer("title", ["16 is faster."], sections, cases=cases, chosen=1)
    text = printed(answer, 60)
    assert "At servers = 16: Fast. No data is lost." in text and "Slow." not in text
    assert "Figures 1" in text and "Figures 0" not in text
    assert "Rebuild time  39.1 s  min 38.0 s, max 40.9 s" in text
    assert "Rebuild time: 39.1 s (min" in printed(answer, 40)


@pytest.mark.parametrize("width", [22, 30, 60])
def test_a_split_table_has_every_column_and_its_names_again(width: int) -> None:
    text = printed(of(Shown("hosts", "Hosts", TABLE, is_split=True)), width)
    assert "Not shown" not in text and text.count("84.8 %") == 3 and "9 h 10 min" in text
    assert text.count("node-2") > 1 or width == 60


def test_a_table_may_be_turned_folded_or_cut() -> None:
    lines = printed(of(Shown("hosts", "Hosts", TABLE, is_turned=True)), 60).splitlines()
    assert any(line.split() == ["node-0", "node-1", "node-2"] for line in lines)
    assert any(line.split() == ["PGs", "stuck", "225", "208", "0"] for line in lines)
    folded = Shown("hosts", "Hosts", TABLE, folded=True).read()
    assert [column.heading for column in folded.columns] == ["host", "PGs stuck", "healthy after"]
    assert folded.note == "The worst first. The same in every row: fullest OSD 84.8 %."
    text = printed(of(Shown("hosts", "Hosts", TABLE, folded=True)), 80)
    assert text.count("84.8 %") == 1 and "The worst first." in text
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
