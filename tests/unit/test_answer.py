"""Answers: one verdict, the same tables in a terminal of any width, on a page and in a notebook."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from resilver.answer import (
    Answer,
    Case,
    Figures,
    Form,
    KeyFigure,
    Lines,
    Section,
    Shown,
    render,
    sections_of,
)
from resilver.charts.vega import Chart
from resilver.cli.replying import reply, written
from resilver.errors import ConfigError
from resilver.tables import Table, table
from tests import terminal

NAMES = ("drive", "raid set", "object storage server")
HEADINGS = ["layer", "alone", "what is lost there", "parts", "binds most at"]


def layers(rows: int = 3) -> Table:
    """A table of texts and numbers, wider than 60 letters."""
    names = [NAMES[at % 3] for at in range(rows)]
    return table(
        ("layer", HEADINGS[0], "text", names),
        ("alone", HEADINGS[1], "TB/s", [1.25e12] * rows),
        ("lost", HEADINGS[2], "TB/s", [123.4e9] * rows),
        ("parts", HEADINGS[3], "count", [20160] * rows),
        ("binding", HEADINGS[4], "text", [f"{name}.{at}" for at, name in enumerate(names)]),
        note="Alone: where nothing else binds.",
    )


def chart(name: str = "layers") -> Chart:
    """A chart of a point."""
    data = {"values": [{"x": 1}]}
    spec = {"data": data, "mark": "point", "encoding": {"x": {"field": "x"}}}
    return Chart(name, "Servers bind", "A bar a layer.", lambda: spec, layers(), "layers")


def answer(*parts: Shown | Lines | Chart, **more: object) -> Answer:
    """An answer of one section."""
    told = ("Clients get 1.25 TB/s.", "The server level binds all of them.")
    made = Answer("Layers", told, [Section("The layers", parts)], {"rate": 1.25e12})
    return replace(made, **more)  # type: ignore[arg-type]


def shown(**more: object) -> Shown:
    return replace(Shown("layers", "What layers pass", layers()), **more)  # type: ignore[arg-type]


def printed(made: Answer, width: int = 80) -> str:
    """What a terminal of so many columns shows; no line is longer but those to copy."""
    text = terminal.printed(made, width)
    has_lines = any(isinstance(part, Lines) for part in made.parts())
    assert has_lines or max(map(len, text.splitlines())) <= width
    return text


def test_sections_tables_and_charts_are_those_that_show_anything() -> None:
    kept = sections_of(("One", [None, shown()]), ("Two", [None]), Section("Three", (), ("Text.",)))
    assert [one.heading for one in kept] == ["One", "Three"] and len(kept[0].parts) == 1
    assert Section("What each part needs, for 1 TB/s").anchor == "what-each-part-needs-for-1-tb-s"
    made = answer(shown(), chart(), Lines("run", "Commands", ["a"]))
    assert list(made.tables()) == ["layers"] and [one.name for one in made.charts()] == ["layers"]
    assert "What layers pass" not in printed(answer(shown(printed=0), chart()))
    assert "What layers pass" not in printed(answer(shown(table=layers(0))))


@pytest.mark.parametrize(("width", "fit"), [(41, 3), (42, 4), (54, 4), (55, 5), (60, 5), (120, 5)])
def test_columns_without_room_are_dropped_from_the_last_on_and_named(width: int, fit: int) -> None:
    """Least widths are 8, 9, 10, 6 and 10, with three blanks between: 42 letters of four."""
    text = printed(answer(shown()), width)
    head = text.partition("What layers pass")[2].partition("─")[0]
    assert sorted(head.split()) == sorted(" ".join(HEADINGS[:fit]).split())
    left_out = HEADINGS[fit:]
    said = f"Not shown: {', '.join(left_out)}; --json has all."
    assert (said in " ".join(text.split())) == bool(left_out)
    assert "Alone: where nothing else binds." in text


@pytest.mark.parametrize("width", range(24, 130, 7))
def test_no_word_and_no_number_is_broken(width: int) -> None:
    """Every run of letters of a line is one of the table's words, at any width."""
    text = printed(answer(shown()), width)
    made = layers()
    words = {"1.25", "TB/s", "123.4", "GB/s", "20,160"}
    words |= {word for row in made.rows for cell in row for word in str(cell).split()}
    words |= {word for heading in HEADINGS for word in heading.split()}
    body = text.partition("What layers pass")[2].partition("Not shown")[0].partition("Alone:")[0]
    assert set(body.replace("─", " ").split()) <= words
    # A number and its unit stay on one line.
    assert len(re.findall(r"1\.25 TB/s", body)) == 3


def test_lines_to_copy_and_long_words_stay_whole() -> None:
    address = "x" * 200
    made = table(("at", "at", "text", [address]), ("parts", "parts", "count", [7]))
    text = printed(answer(Shown("at", "Where", made)), 60)
    assert text.count("x") == 200 and "7" in text
    line = "ceph osd pg-upmap-items " + " ".join(f"1.{at}" for at in range(40))
    text = printed(answer(Lines("commands", "Commands", [line, "b", "c"], printed=2)), 60)
    assert f"  {line}" in text.splitlines() and "... and 1 more" in text
    assert "Commands" not in printed(answer(Lines("commands", "Commands", [])))
    text = printed(answer(shown(), notes=["Rates of disks are assumed."]))
    first, second, third = text.splitlines()[:3]
    assert (first, second) == ("Clients get 1.25 TB/s.", "The server level binds all of them.")
    assert third == "Rates of disks are assumed."


def test_pages_and_notebooks_show_what_terminals_do() -> None:
    table = render(answer(shown(is_turned=True))).partition('<div class="shown">')[2]
    heads = re.findall(r"<th[^>]*>([^<]*)</th>", table.partition("</thead>")[0])
    assert heads == ["", *(str(row[0]) for row in layers().rows)]
    text = answer(shown(), shown(name="other", printed=0, title="Hidden"))._repr_html_()
    assert "<p>Clients get 1.25 TB/s.</p>" in text and "What layers pass" in text
    assert "Hidden" not in text and "<script" not in text


def test_the_page_has_the_verdict_tables_charts_figures_and_sources() -> None:
    figure = KeyFigure("rate", 1.25e12, "B/s", "1.25 TB/s", "of all clients")
    made = answer(
        shown(columns=2),
        chart("waterfall"),
        Lines("again", "Commands", ["resilver profile x"]),
        notes=["Rates of disks are <assumed>."],
        figures=[figure],
        source={"Study": "x.toml", "Nothing": ""},
    )
    text = render(made, {"Made by": "resilver profile x.toml"})
    for words in (
        '<p class="lead answer">Clients get 1.25 TB/s.</p>',
        "of all clients",
        '<section id="the-layers">',
        "chart-waterfall",
        "resilver profile x</pre>",
        "What this rests on",
        "Rates of disks are &lt;assumed&gt;.",
        "<dt>Study</dt><dd>x.toml</dd><dt>Made by</dt><dd>resilver profile x.toml</dd>",
        "Alone: where nothing else binds.",
    ):
        assert words in text, words
    assert "<dt>Nothing</dt>" not in text
    # The CSV has every column; the table that people read has two.
    carried = json.loads(text.partition('id="page">')[2].partition("</script>")[0])
    assert carried["csv"]["layers"].startswith("layer,alone,lost,parts,binding\n")
    assert '<th scope="col">layer</th><th scope="col" class="n">alone</th></tr>' in text


def test_a_reply_is_text_or_the_record_or_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert reply(answer(shown())) == 0
    assert "Clients get 1.25 TB/s." in capsys.readouterr().out
    assert reply(answer(shown(), holds=False), as_json=True) == 1
    assert json.loads(capsys.readouterr().out) == {"rate": 1.25e12}
    assert reply(answer(), ["wrote table.csv"], quiet=True) == 0
    assert capsys.readouterr() == ("", "")
    assert reply(answer(), ["wrote table.csv; read it"]) == 0
    assert capsys.readouterr().err == "wrote table.csv; read it\n"
    # Where the answer is no, a script's log says so in a line.
    assert reply(answer(holds=False), quiet=True) == 1
    assert capsys.readouterr() == ("", "Clients get 1.25 TB/s.\n")


def test_a_reply_writes_its_page_its_charts_and_files_by_their_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, folder = tmp_path / "a.html", tmp_path / "charts"
    places = {"--output": page, "--figures": folder, "--format": "svg"}
    made = answer(chart())
    reply(made, written(made, places, "resilver x"), as_json=True)
    out, err = capsys.readouterr()
    assert json.loads(out) == {"rate": 1.25e12}
    assert f"wrote {page}\n" in err and f"wrote {folder}\n" in err
    assert "<dd>resilver x</dd>" in page.read_text(encoding="utf-8")
    assert (folder / "layers.svg").read_text(encoding="utf-8").startswith("<svg")
    forms = {".toml": Form(lambda: "a = 1\n", "a study reads {}"), ".csv": Form(lambda: b"a\n1\n")}
    made = answer(chart(), forms=forms)
    paths = [tmp_path / f"a.{ending}" for ending in ("toml", "csv", "svg", "html")]
    said = written(made, {"--output": tuple(paths), "--tables": None})
    toml, csv, svg, page = (path.read_bytes() for path in paths)
    assert (toml, csv, svg[:4], page[:9]) == (b"a = 1\n", b"a\n1\n", b"<svg", b"<!DOCTYPE")
    assert said[:2] == [f"wrote {paths[0]}; a study reads a.toml", f"wrote {paths[1]}"]
    with pytest.raises(ConfigError, match="cannot be written"):
        written(answer(), {"--output": tmp_path / "none" / "a.html"})


NODES = ["node-0", "node-1", "node-2"]
TABLE = table(
    ("name", "host", "text", NODES),
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
        ("name", "host", "text", NODES),
        ("stuck", "PGs stuck", "count", [225, 208, 0]),
        ("range", "quartiles", "note", ["from 200 to 230 PGs", "", ""]),
        ("more", "more", "text", ["x" * 20] * 3),
    )
    text = printed(of(Shown("hosts", "Hosts", made, keys=1)), width)
    assert ("from 200 to 230 PGs" in text) == (width == 60)
    assert all(name in text for name in NODES)
    assert ("PGs stuck: 225" in " ".join(text.split())) == (width == 13)
    assert ("Not shown: more; --json has all." in " ".join(text.split())) == (width == 28)


def test_figures_and_inner_answers_are_printed_with_their_headings() -> None:
    figure = KeyFigure("Rebuild time", 39.1, "s", "39.1 s", "min 38.0 s, max 40.9 s")
    sections = [Section("F", (Figures(f"Figures {at}", [figure]),), case=at) for at in (0, 1)]
    cases = [Case("servers = 8", ["Slow."]), Case("servers = 16", ["Fast.", "No data is lost."])]
    answer = Answer("title", ["16 is faster."], sections, cases=cases, chosen=1)
    text = printed(answer, 60)
    assert "At servers = 16: Fast. No data is lost." in text and "Slow." not in text
    assert "Figures 1" in text and "Figures 0" not in text
    assert "Rebuild time  39.1 s  min 38.0 s, max 40.9 s" in text
    assert "Rebuild time: 39.1 s (min" in printed(answer, 40)
    inner = Section("With these settings", texts=["Healthy after 5 h."], printed=True)
    quiet = Section("A page alone", texts=["Not here."])
    lines = Lines("commands", "Commands", ["ceph osd set noout"])
    answer = Answer("title", ["Yes."], [inner, quiet], notes=["Assumed: a disk."], basis=[lines])
    text = printed(answer, 80)
    assert "With these settings:\nHealthy after 5 h.\n" in text and "Not here" not in text
    assert text.index("Assumed") < text.index("With") < text.index("ceph osd set noout")


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
