"""Ours beside a published number, by the command: its query, its deviation and its verdict."""

import json
from typing import Any

import pytest

from resilver.cli import run as command
from tests.unit.study_shelf import Shelf, shelf

__all__ = ["shelf"]

RATE = {"key": "rate", "what": "Rate", "select": "median(rate)", "unit": "GiB/s"}
CHECK = {**RATE, "kind": "own check"}
PREDICTED: dict[str, Any] = {
    **RATE,
    **{"kind": "predicted", "paper": 40, "within": 0.3, "why": "a few draws"},
    "source": "section 4",
}
GIB = 2**30
# Runs of three networks, with and without faults: of A two seeds, of B and C one.
NETWORKS = """SELECT * FROM (VALUES ('A', 'none', 10.0, 0.2), ('A', 'none', 12.0, 0.3),
  ('B', 'none', 8.0, 0.5), ('C', 'none', 4.0, 0.9)) AS t(name, faults, rate, busy)"""
MEDIANS = "(SELECT name, median(rate) AS rate, median(busy) AS busy FROM runs GROUP BY name)"


def rates(*of_servers: tuple[int, float | None]) -> str:
    """Runs of so many servers with rates in GiB/s."""
    rows = (f"({n}, {'NULL' if r is None else r * GIB})" for n, r in of_servers)
    return f"SELECT servers, rate::DOUBLE AS rate FROM (VALUES {', '.join(rows)}) t(servers, rate)"


class Asked:
    """Asks the command for the numbers of an entry."""

    def __init__(self, shelf: Shelf, capfd: pytest.CaptureFixture[str]) -> None:
        self.shelf, self.capfd, self.code, self.err = shelf, capfd, 0, ""
        self.last: dict[str, Any] = {}

    def __call__(self, runs: str, number: dict[str, Any]) -> dict[str, Any]:
        name = f"entry-{len(list(self.shelf.folder.iterdir()))}"
        self.shelf.put(name, runs, [{"key": "k", "what": "W", **number}])
        return self.record(name)["comparisons"][0]

    def record(self, name: str) -> dict[str, Any]:
        """What the command says of an entry."""
        self.code = command(["reproduce", name, "--json", "-q"])
        out, self.err = self.capfd.readouterr()
        self.last = json.loads(out)
        return self.last

    def number(self, runs: str, select: str, **more: Any) -> float | None:
        """One number of an entry."""
        return self(runs, {"select": select, **more})["ours"]


@pytest.fixture
def ask(shelf: Shelf, capfd: pytest.CaptureFixture[str]) -> Asked:
    return Asked(shelf, capfd)


def test_ours_is_the_median_of_the_rows_at_the_place(ask: Asked) -> None:
    # Of 30, 50 and 90 GiB/s the median is 50, a quarter above the paper's 40.
    runs = rates((8, 30.0), (8, 90.0), (8, 50.0), (8, None), (4, 1.0))
    made = ask(runs, {**PREDICTED, "where": "servers = 8"})
    assert (made["ours"], made["runs"], made["verdict"]) == (50.0, 3, "within tolerance")
    assert made["deviation"] == pytest.approx(0.25)
    assert (made["ours_least"], made["ours_most"]) == (30.0, 90.0)
    assert made["query"] == "SELECT median(rate) FROM runs WHERE servers = 8"


@pytest.mark.parametrize(
    ("ours", "relation", "verdict"),
    [
        (40.0, "", "within tolerance"),
        (52.0, "", "within tolerance"),
        (52.1, "", "differs"),
        (28.0, "", "within tolerance"),
        (27.9, "", "differs"),
        (90.0, "at least", "within tolerance"),
        (27.9, "at least", "differs"),
        (1.0, "at most", "within tolerance"),
        (52.1, "at most", "differs"),
    ],
)
def test_what_is_published_is_judged_by_the_published_number(
    ask: Asked, ours: float, relation: str, verdict: str
) -> None:
    # 30 % of 40 are 12: 28 to 52.
    made = ask(rates((8, ours)), {**PREDICTED, "relation": relation})
    assert (made["verdict"], ask.code) == (verdict, 4 if verdict == "differs" else 0)
    assert made["low"] == (None if relation == "at most" else 28.0)
    assert made["high"] == (None if relation == "at least" else 52.0)
    told = f"differs from the source: entry-0, Rate: {ours:.4g} GiB/s, published 40 GiB/s"
    assert (told in ask.err) == (verdict == "differs")


@pytest.mark.parametrize(
    ("number", "verdict", "code"),
    [
        (RATE, "measured", 0),
        ({**CHECK, "low": 50, "high": 50}, "passes", 0),
        ({**CHECK, "low": 50.1}, "fails", 1),
        ({**CHECK, "high": 49.9}, "fails", 1),
        ({**CHECK, "expected": 49, "within": 0.03}, "passes", 0),
        ({**CHECK, "expected": 49, "within": 0.01}, "fails", 1),
        ({**RATE, "kind": "goal", "high": 50}, "met", 0),
        ({**RATE, "kind": "goal", "high": 49}, "missed", 0),
        ({**PREDICTED, "kind": "by construction", "put_in": "a rate"}, "within tolerance", 0),
    ],
)
def test_each_kind_has_its_words_and_own_checks_alone_fail(
    ask: Asked, number: dict[str, Any], verdict: str, code: int
) -> None:
    made = ask(rates((8, 50.0)), number)
    assert (made["verdict"], ask.code) == (verdict, code)
    assert ("own check fails: entry-0, Rate: 50 GiB/s" in ask.err) == (code == 1)
    totals = ask.last["totals"]
    assert totals[made["kind"]][verdict] == 1
    assert sum(count for counts in totals.values() for count in counts.values()) == 1


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"kind": ""}, "kind: studies/e/published.csv, rate: every number has a kind"),
        ({"kind": "sound"}, "every number has a kind; give one of predicted, by construction"),
        ({"source": ""}, "source: studies/e/published.csv, rate: a published number has its place"),
        ({"kind": "own check"}, "have no published number"),
        ({"kind": "measured"}, "have no published number"),
        ({"within": "", "low": 30, "high": 60}, "a number to compare with has a tolerance"),
        ({"low": 30}, "limits of ours judge no known number"),
        ({"paper": ""}, "a number to compare with has a tolerance"),
        ({"paper": "", "within": ""}, "what is measured is judged by nothing, all else is"),
        ({"why": ""}, "a tolerance has a reason"),
        ({"put_in": "the rate of a disk"}, "numbers by construction name their input"),
        ({"kind": "by construction"}, "numbers by construction name their input"),
        ({"within": "a third"}, "this is a number; only low and high may be SQL"),
        ({"relation": "above"}, "give at least, at most, or nothing"),
        ({"expected": 40}, "own checks alone expect a value of ours"),
        ({"kind": "measured", "paper": "", "within": "", "low": 3}, "is judged by nothing"),
        ({"claim": "yes"}, "rate: a line has a field for each heading, and headings are columns"),
    ],
)
def test_a_number_that_breaks_a_rule_of_its_kind_is_refused(
    ask: Asked, shelf: Shelf, change: dict[str, Any], told: str
) -> None:
    shelf.put("e", rates((8, 50.0)), [{**PREDICTED, **change}])
    assert command(["reproduce", "e", "-q"]) == 2
    err = ask.capfd.readouterr().err.replace(str(shelf.folder), "studies")
    assert told in " ".join(err.split()) and "Traceback" not in err


def test_a_figure_judges_one_predicted_number(ask: Asked, shelf: Shelf) -> None:
    """Two programs' published rates are not both predicted by one rate of ours."""
    other = {**PREDICTED, "key": "other", "paper": 50}
    shelf.put("e", rates((8, 50.0)), [PREDICTED, other])
    assert command(["reproduce", "e", "-q"]) == 2
    err = " ".join(ask.capfd.readouterr().err.split())
    assert "published.csv, other: each predicted number is judged by its own figure" in err
    assert "and rate has this query" in err
    # What is put in, or a check of ours, may be of that figure; so may a number of other rows.
    put_in = {**other, "kind": "by construction", "put_in": "the rate"}
    own = {**CHECK, "key": "own", "low": 1}
    elsewhere = {**other, "key": "elsewhere", "where": "servers = 8"}
    shelf.put("f", rates((8, 50.0)), [PREDICTED, put_in, own, elsewhere])
    assert command(["reproduce", "f", "-q"]) == 0


def test_a_list_that_breaks_a_rule_of_its_form_is_refused(ask: Asked, shelf: Shelf) -> None:
    shelf.put("e", rates((8, 50.0)), [RATE])
    file = shelf.folder / "e" / "published.csv"
    file.write_text(file.read_text().replace("Rate", "Rate, of disks"))
    assert command(["reproduce", "e", "-q"]) == 2
    assert "quote a field that has a comma" in " ".join(ask.capfd.readouterr().err.split())
    shelf.put("f", rates((8, 50.0)), [RATE])
    file = shelf.folder / "f" / "reproduce.toml"
    file.write_text(file.read_text().replace("stand_ins = []\n", ""))
    assert command(["reproduce", "f", "-q"]) == 2
    assert "an entry lists the substituted inputs" in ask.capfd.readouterr().err
    shelf.put("g", "SELECT 'soon' AS rate", [{**RATE, "where": "rate > 1"}])
    assert command(["reproduce", "g", "-q"]) == 2
    err = ask.capfd.readouterr().err
    assert "a query does not fit the runs: Binder Error" in err and "Traceback" not in err


def test_a_number_without_rows_was_not_run_and_zero_is_a_number(ask: Asked) -> None:
    made = ask(rates((8, 50.0)), {**PREDICTED, "where": "servers = 16"})
    assert (made["ours"], made["deviation"], made["verdict"]) == (None, None, "not run")
    assert ask.code == 0
    zero = {**PREDICTED, "paper": 0}
    assert ask(rates((8, 0.0), (8, None)), zero)["ours"] == 0.0
    assert ask(rates((8, None)), zero)["verdict"] == "not run"
    assert ask.number(rates((8, 0.0)), "max(rate) / min(rate)") is None
    # Nine rows of deviation 13.5: the mean's is 4.5, so it lies within 13.5 of 192.
    reach = "3 * 13.5 / sqrt(count(*))"
    band = {"low": f"192 - {reach}", "high": f"192 + {reach}"}
    number = {"select": "avg(n)", "kind": "own check", **band}
    made = ask("SELECT 200 AS n FROM range(9)", number)
    assert (made["low"], made["high"], made["runs"]) == (178.5, 205.5, 9)


def test_orders_and_rank_correlations_are_those_of_lists(ask: Asked) -> None:
    # Medians: A 11, B 8, C 4. A over B and C is 11/8; C over A and B is 4/11.
    def step(above: str, below: str) -> float | None:
        return ask.number(NETWORKS, f"step(name, rate, {above}, {below})", **{"from": MEDIANS})

    assert step("['A']", "['B', 'C']") == pytest.approx(11 / 8)
    assert step("['C']", "['A', 'B']") == pytest.approx(4 / 11)
    assert step("['A']", "['D']") is None

    # Rates fall A, B, C as busy shares (0.25, 0.5, 0.9) rise.
    def correlation(across: str, table: str = MEDIANS) -> float | None:
        select = f"rank_correlation(list(rate), list({across}))"
        return ask.number(NETWORKS, select, **{"from": table})

    assert correlation("busy") == pytest.approx(-1.0)
    assert correlation("0 * busy") is None
    assert correlation("busy", f"(FROM {MEDIANS} LIMIT 2)") is None
    # Of four rows two are equal, and share the ranks 2 and 3: 1, 2.5, 2.5 and 4 beside 1 to 4.
    tied = "SELECT unnest([1, 2, 2, 3]) AS rate, unnest([1, 2, 3, 4]) AS busy"
    found = ask.number(tied, "rank_correlation(list(rate), list(busy))")
    assert found == pytest.approx(4.5 / (4.5 * 5.0) ** 0.5)


def test_a_conclusion_is_judged_by_its_numbers(ask: Asked, shelf: Shelf) -> None:
    lines: list[dict[str, Any]] = [
        {**PREDICTED, "key": "good"},
        {**PREDICTED, "key": "bad", "within": 0.1, "where": "servers = 8"},
        {**CHECK, "key": "passing", "low": 1},
        {**CHECK, "key": "failing", "low": 100},
        {**PREDICTED, "key": "put", "kind": "by construction", "put_in": "the rate"},
        {**RATE, "key": "plain"},
        {**PREDICTED, "key": "absent", "where": "servers = 9"},
    ]
    shelf.put("e", rates((8, 50.0)), lines)
    # What was put in, and arithmetic of ours that passes, tests nothing that a source concludes.
    expected = {
        "holds": (["good", "plain", "passing"],),
        "holds in part": (["good", "bad"], ["good", "failing"]),
        "does not hold": (["bad", "passing"], ["failing"]),
        "not tested": (["passing", "put"], ["plain", "other"]),
        "not run": (["absent"], ["other"]),
        "no model": ([],),
    }
    rests = [keys for several in expected.values() for keys in several]
    said = "".join(
        f'[[conclusions]]\nclaim = "It is so."\nwhere = "section 1"\n'
        f"rests_on = {[f'e/{key}' for key in keys]}\nwhy = 'so'\n"
        for keys in rests
    )
    shelf.put("all", "SELECT 1", pictures=said, kind='"collection"', members='["e"]')
    record = ask.record("all")
    verdicts = [one["verdict"] for one in record["conclusions"]]
    assert verdicts == [word for word, several in expected.items() for _ in several]
    assert record["conclusions"][1]["numbers"] == {"e/good": 50.0, "e/bad": 50.0}
