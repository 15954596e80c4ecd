"""What is said of several what-ifs: plans, failures in turn, tried settings; and in a terminal."""

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from resilver.report.whatif import answer_of
from resilver.report.whatif.comparison import differing_table
from resilver.report.whatif.ranking import impact_chart
from resilver.whatif.several import FillSearch, FillTrial
from tests.build import CASES
from tests.terminal import printed
from tests.unit.what_if_answers import ASSUMED, answer, no_part_may_fail, plans, ranking, search

SENTENCES = tomllib.loads((CASES / "sentences.toml").read_text(encoding="utf-8"))
RECORD = Path(__file__).resolve().parents[1] / "golden" / "what-if.txt"


def test_answers_hold_are_recorded_and_list_what_differs() -> None:
    first, second, third = plans().answers
    assert differing_table(plans()) is None
    other = replace(ASSUMED[0], value="4")
    two = replace(second, assumptions=(other, *ASSUMED[1:]))
    made = differing_table(replace(plans(), answers=(first, two, third)))
    assert [tuple(row) for row in made.rows] == [("osd_max_backfills", "1", "4", "1")]
    for of in (plans(), ranking(), search(), search(meets=False), fill(*TRIALS), fill(TRIALS[2])):
        answer = answer_of(of)
        assert answer.holds is of.holds and answer.to_dict() == of.to_dict()


IN_FORCE = replace(search().trials[0], in_force=True)
HEALING = replace(ranking("osd"), harms=ranking("osd").harms[1:])
TRIALS = (FillTrial(0.5, HEALING), FillTrial(0.6, ranking()), FillTrial(0.7, None, "no room"))


def fill(*trials: FillTrial) -> FillSearch:
    """A search for a fill of a cluster that is 55 % full, and whose first OSD is full at 80 %."""
    return FillSearch("any host heals", "host", 0.55, 0.8, trials)


ANSWERS = {
    "failures that heal": HEALING,
    "failures after changes": replace(
        HEALING, today=ranking().harms, at_seconds=3600.0, is_settled=True
    ),
    "nothing may fail": replace(HEALING, harms=()),
    "no settings": search(meets=False),
    "settings in force": replace(search(), trials=(IN_FORCE,), best=IN_FORCE),
    "a fill that heals": fill(*TRIALS),
    "every fill heals": fill(TRIALS[0]),
    "no fill heals": fill(TRIALS[2]),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_of_several_says(name: str) -> None:
    verdict, says = answer_of(ANSWERS[name]).verdict, SENTENCES["what-ifs"][name]
    assert [text for text in verdict if text in says] == says, verdict


def test_parts_stand_by_their_impact_where_any_is_felt() -> None:
    """The one that leaves PGs stuck is first and beyond all others; times are hours."""
    of = ranking()
    chart = impact_chart(of)
    assert chart is not None and chart.heading.startswith("Worst host of 4: node-3 (4 PGs stuck")
    assert chart.description.endswith("What is so at the end of the run reaches beyond all others.")
    rows = chart.make()["data"]["values"]
    assert [row["part"] for row in rows] == [row[0] for row in chart.table.rows]
    stuck, *healthy = rows
    assert (stuck["part"], stuck["kind"], stuck["label"]) == ("node-3", "PGs stuck", "4 PGs stuck")
    assert {row["kind"] for row in healthy} == {"healthy again"}
    whole = [one.outcome.whole_seconds for one in of.harms[1:]]
    assert [3600.0 * row["x2"] for row in healthy] == pytest.approx(whole, rel=1e-5)
    assert stuck["x2"] > max(row["x2"] for row in healthy)
    assert all(row["x"] <= row["x2"] for row in rows)
    zero = {"at_risk_seconds": 0.0, "degraded_seconds": 0.0, "whole_seconds": 0.0}
    calm = replace(of.harms[-1], outcome=replace(of.harms[-1].outcome, **zero))
    assert impact_chart(replace(of, harms=(calm,))) is None
    # One alone is no chart, and is named in the first sentence.
    (chart, _) = answer_of(no_part_may_fail()).charts()
    assert [row[1] for row in chart.table.rows] == [16, 12, 8, 4]
    assert [row["x"] for row in chart.make()["data"]["values"]] == [16, 12, 8, 4]
    assert chart.heading == f"The failure of {chart.table.rows[0][0]} leaves most PGs stuck: 16"
    assert [one.name for one in answer_of(ranking()).charts()] == ["impact"]


def shown(width: int) -> str:
    """All kinds of answers as a terminal of this many columns shows them."""
    found: dict[str, Any] = {of: answer(of) for of in ("nothing", "whole", "stuck", "horizon")}
    found |= {"plans": plans(), "ranking": ranking(), "search": search()}
    return "".join(
        f"---- {name}, {width} columns\n{printed(answer_of(of), width)}\n"
        for name, of in found.items()
    )


def test_a_terminal_shows_what_was_recorded() -> None:
    """Recorded by `python -m tests.unit.test_what_if_compared`; review what differs before."""
    assert shown(80) == RECORD.read_text(encoding="utf-8")


if __name__ == "__main__":
    RECORD.write_text(shown(80), encoding="utf-8")
