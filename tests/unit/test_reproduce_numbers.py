"""Ours beside a published number, by the command: its query, its deviation and its verdict."""

from __future__ import annotations

import doctest
import importlib
import json
from typing import Any

import pytest

from resilver.cli import run as command
from tests.unit.study_shelf import Shelf, shelf

__all__ = ["shelf"]

RATE = {"key": "rate", "what": "Rate", "select": "median(rate)", "unit": "GiB/s", "paper": 40}
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

    def __call__(self, runs: str, number: dict[str, Any]) -> dict[str, Any]:
        name = f"entry-{len(list(self.shelf.folder.iterdir()))}"
        self.shelf.put(name, runs, [{"key": "k", "what": "W", **number}])
        first: dict[str, Any] = self.record(name)["comparisons"][0]
        return first

    def record(self, name: str) -> dict[str, Any]:
        """What the command says of an entry."""
        self.code = command(["reproduce", name, "--json", "-q"])
        out, self.err = self.capfd.readouterr()
        made: dict[str, Any] = json.loads(out)
        return made

    def number(self, runs: str, select: str, **more: Any) -> float | None:
        """One number of an entry."""
        ours: float | None = self(runs, {"select": select, **more})["ours"]
        return ours


@pytest.fixture
def ask(shelf: Shelf, capfd: pytest.CaptureFixture[str]) -> Asked:
    return Asked(shelf, capfd)


def test_ours_is_the_median_of_the_rows_at_the_place(ask: Asked) -> None:
    # Of 30, 50 and 90 GiB/s the median is 50, a quarter above the paper's 40.
    runs = rates((8, 30.0), (8, 90.0), (8, 50.0), (8, None), (4, 1.0))
    made = ask(runs, {**RATE, "where": "servers = 8", "low": 45, "high": 55})
    assert (made["ours"], made["runs"], made["verdict"]) == (50.0, 3, "holds")
    assert made["deviation"] == pytest.approx(0.25)
    assert (made["ours_least"], made["ours_most"]) == (30.0, 90.0)
    assert made["query"] == "SELECT median(rate) FROM runs WHERE servers = 8"


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        ("", "", "compared only"),
        (50, 50, "holds"),
        (50.1, "", "does not hold"),
        ("", 49.9, "does not hold"),
        ("", 50, "holds"),
        (50, "", "holds"),
    ],
)
def test_the_limits_belong_to_the_band(ask: Asked, low: Any, high: Any, verdict: str) -> None:
    made = ask(rates((8, 50.0)), {**RATE, "low": low, "high": high})
    assert made["verdict"] == verdict
    assert ask.code == (1 if verdict == "does not hold" else 0)
    assert ("does not hold: entry-0, Rate: 50 GiB/s" in ask.err) == bool(ask.code)


def test_a_number_without_rows_was_not_run_and_does_not_fail(ask: Asked) -> None:
    made = ask(rates((8, 50.0)), {**RATE, "where": "servers = 16", "low": 1})
    assert (made["ours"], made["deviation"], made["verdict"]) == (None, None, "not run")
    assert ask.code == 0


def test_zero_is_a_number_and_what_is_no_number_is_none(ask: Asked) -> None:
    zero = {**RATE, "paper": 0, "low": 0, "high": 0}
    assert ask(rates((8, 0.0), (8, None)), zero)["ours"] == 0.0
    assert ask(rates((8, None)), zero)["verdict"] == "not run"
    assert ask.number(rates((8, 0.0)), "max(rate) / min(rate)") is None


def test_a_band_may_be_a_share_of_the_published_number(ask: Asked) -> None:
    # 1 % of 200 is 2: 198 to 202.
    made = ask(rates((8, 198.5)), {**RATE, "paper": 200, "within": 0.01})
    assert (made["low"], made["high"], made["verdict"]) == (198.0, 202.0, "holds")


def test_a_band_may_depend_on_the_runs(ask: Asked) -> None:
    # Nine rows of deviation 13.5: the mean's is 4.5, so it lies within 13.5 of 192.
    reach = "3 * 13.5 / sqrt(count(*))"
    band = {"low": f"192 - {reach}", "high": f"192 + {reach}"}
    made = ask("SELECT 200 AS n FROM range(9)", {"select": "avg(n)", **band})
    assert (made["low"], made["high"], made["runs"]) == (178.5, 205.5, 9)


def test_a_claim_of_the_source_differs_and_fails_nothing(ask: Asked) -> None:
    made = ask(rates((8, 50.0)), {**RATE, "low": 100, "claim": "yes"})
    assert (made["verdict"], ask.code) == ("differs", 0)


def test_an_order_is_the_least_of_some_over_the_greatest_of_others(ask: Asked) -> None:
    # Medians: A 11, B 8, C 4. A over B and C is 11/8; C over A and B is 4/11.
    def step(above: str, below: str) -> float | None:
        return ask.number(NETWORKS, f"step(name, rate, {above}, {below})", **{"from": MEDIANS})

    assert step("['A']", "['B', 'C']") == pytest.approx(11 / 8)
    assert step("['C']", "['A', 'B']") == pytest.approx(4 / 11)
    assert step("['A']", "['D']") is None


def test_a_rank_correlation_is_that_of_lists(ask: Asked) -> None:
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


def test_a_query_that_does_not_fit_the_runs_is_told(ask: Asked, shelf: Shelf) -> None:
    shelf.put("e", "SELECT 'soon' AS rate", [{**RATE, "where": "rate > 1"}])
    assert command(["reproduce", "e", "-q"]) == 2
    err = ask.capfd.readouterr().err
    assert "a query does not fit the runs: Binder Error" in err and "Traceback" not in err


def test_a_conclusion_is_judged_by_its_numbers(ask: Asked, shelf: Shelf) -> None:
    lines = [
        {**RATE, "key": "good", "low": 1},
        {**RATE, "key": "bad", "low": 100, "claim": "yes"},
        {**RATE, "key": "plain"},
    ]
    shelf.put("e", rates((8, 50.0)), lines)
    rests = (["good", "plain"], ["good", "bad"], ["bad"], ["plain", "other"])
    said = "".join(
        f'[[conclusions]]\nclaim = "It is so."\nwhere = "section 1"\n'
        f"rests_on = {[f'e/{key}' for key in keys]}\n"
        for keys in rests
    )
    shelf.put("all", "SELECT 1", pictures=said, kind='"collection"', members='["e"]')
    record = ask.record("all")
    verdicts = [one["verdict"] for one in record["conclusions"]]
    assert verdicts == ["holds", "holds in part", "does not hold", "not run"]
    assert record["conclusions"][1]["numbers"] == {"e/good": 50.0, "e/bad": 50.0}


@pytest.mark.parametrize(
    "name",
    ["", ".compare", ".conclusions", ".entries", ".page", ".published", ".tables", ".words"],
)
def test_examples_of_docstrings_are_true(name: str) -> None:
    result = doctest.testmod(importlib.import_module(f"resilver.reproduce{name}"))
    assert result.attempted > 0 and result.failed == 0
