"""What an answer of a what-if says: a sentence for each way that it may end, and its tables."""

import re
import tomllib
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from resilver.answer import Lines
from resilver.answer.page import render
from resilver.report.whatif import answer_of
from resilver.report.whatif.comparison import differing_table
from resilver.report.whatif.course import course_chart, rates_chart, shown_moments
from resilver.report.whatif.fill import fills
from resilver.report.whatif.ranking import impact_chart
from resilver.report.whatif.sentences import GOVERNS
from resilver.report.whatif.source import LEVELS, Facts, is_under_way
from resilver.report.whatif.tables import history_table, places, stuck_summary
from resilver.units import format_bytes
from resilver.whatif.answer import PlannedStep, WhatIf
from resilver.whatif.columns import TABLES, conform
from resilver.whatif.declared import SETTINGS
from resilver.whatif.several import FillSearch, FillTrial, PlansCompared
from tests.build import CASES
from tests.terminal import printed
from tests.unit.what_if_answers import (
    ASSUMED,
    OUT_SECONDS,
    answer,
    no_part_may_fail,
    plans,
    ranking,
    search,
)

SENTENCES = tomllib.loads((CASES / "sentences.toml").read_text(encoding="utf-8"))


def changed(of: WhatIf, table: str, **columns: Any) -> WhatIf:
    """An answer of which a table has other columns."""
    made = of.tables[table]
    for name, values in columns.items():
        field = TABLES[table].field(name)
        made = made.set_column(
            made.schema.get_field_index(name), field, pa.array(values, field.type)
        )
    return replace(of, tables={**of.tables, table: made})


AS_IT_IS, WHOLE, STUCK = answer("nothing"), answer(), answer("stuck")
STARTS = WHOLE.tables["osds"]["used_start_bytes"].to_pylist()
EMPTIED = changed(WHOLE, "osds", peak_used_bytes=STARTS, used_end_bytes=[u // 2 for u in STARTS])
USED = WHOLE.tables["fill"]["used_bytes"].to_pylist()
# At the 20th of 40 moments each of 12 OSDs holds 100 GiB beyond what it does at the end: 1.2 TiB.
ON_THE_WAY = [
    USED[39 * 12 + at % 12] + (100 << 30) if 19 * 12 <= at < 20 * 12 else used
    for at, used in enumerate(USED)
]
LEAST = changed(WHOLE, "pools", least_bytes=[1 << 40, 1 << 40], recovered_bytes=[0, 0])
NONE = [None] * 40
# osd.5 is beyond it from the start, osd.6 after 2 h, osd.4 later.
NEARFULL = WHOLE.tables["osds"]["nearfull_seconds"].to_pylist()
NEARFULL[5:7] = 0.0, 7200.0
HELD = {"state": ["active+remapped+backfill_wait"] * 4, "reason": ["a flag holds it"] * 4}
NO_SPACE = [f"osd.{osd} has no space for it" for osd in (7, 7, 9, 3)]


CALM = {"inactive_groups": [0] * 40, "at_risk_groups": [0] * 40}
NO_OSD = {f"{of}_seconds": [None] * 12 for of in LEVELS}
ANSWERS = {
    "another risk": changed(STUCK, "risks", fewest_failures=[2, 2]),
    "degraded for an hour": changed(WHOLE, "pools", degraded_seconds=[3600.0, 0.0]),
    "a later change": replace(WHOLE, steps=(PlannedStep(7200.0, "osd.1 fails"),)),
    "never degraded": changed(WHOLE, "pools", degraded_seconds=[0.0, 0.0]),
    "no space": changed(STUCK, "stuck", reason=NO_SPACE),
    "held by a flag": changed(STUCK, "stuck", **HELD),
    "lost": changed(WHOLE, "pools", lost_groups=[3, 0]),
    "never at risk": changed(WHOLE, "timeline", **CALM),
    "three are nearfull": changed(WHOLE, "osds", nearfull_seconds=NEARFULL),
    "emptied": changed(EMPTIED, "osds", **NO_OSD),
    "more than the least": changed(LEAST, "pools", moved_bytes=[3 << 40, 0]),
    "both copies": changed(WHOLE, "fill", used_bytes=ON_THE_WAY),
    "overloaded": changed(WHOLE, "clients", p99_seconds=NONE, served_share=[0.0] * 40),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_says(name: str) -> None:
    """What the plain answers say is recorded: `test_a_terminal_shows_what_was_recorded`."""
    said = "\n".join(answer_of(ANSWERS[name]).verdict)
    assert all(sentence in said for sentence in SENTENCES["what-if"][name])


@pytest.mark.parametrize(
    ("of", "words"),
    [
        (AS_IT_IS, "Probability"),
        (answer("horizon"), "stay"),
        (WHOLE, "on the way"),
        (answer(load=False), "Client"),
    ],
)
def test_an_answer_does_not_say(of: WhatIf, words: str) -> None:
    assert words not in "\n".join(answer_of(of).verdict)


def test_what_is_lost_comes_first_and_copies_that_only_go_are_room() -> None:
    lost = changed(WHOLE, "pools", lost_groups=[3, 0])
    assert answer_of(lost).verdict[0].startswith("Data is lost")
    # A smaller pool: every PG stays clean, and half of what is used goes.
    one = answer("nothing")
    used = one.tables["fill"]["used_bytes"].to_pylist()
    half = [*used[:12], *(size // 2 for size in used[12:])]
    made = changed(one, "fill", used_bytes=half)
    made = changed(made, "timeline", deleting_groups=[256, 0])
    freed = sum(used[:12]) - sum(half[12:])
    said = answer_of(made).verdict
    assert said[0] == "Every PG stays active+clean."
    assert f"{format_bytes(freed)} is freed." in said


def test_two_rows_of_a_moment_are_before_and_after_and_rates_add_up() -> None:
    """What is used at the start is counted once."""
    one = answer()
    fill = one.tables["fill"]
    twice = pa.concat_tables([fill.slice(0, 12), fill])
    timeline = pa.concat_tables([one.tables["timeline"].slice(0, 1), one.tables["timeline"]])
    both = replace(one, tables={**one.tables, "fill": twice, "timeline": timeline})
    assert Facts(both).held.tolist() == Facts(one).held.tolist()
    assert answer_of(both).verdict == answer_of(one).verdict
    assert rates_chart(Facts(both)) is not None
    calm = Facts(AS_IT_IS)
    assert course_chart(calm) is None and rates_chart(calm) is None
    # However few intervals are drawn: 7.3 TB came within 9 h at an even rate.
    for points in (40, 2000):
        facts = Facts(answer(points=points))
        chart = rates_chart(facts)
        rows = chart.make()["data"]["values"]
        hours = [row["b"] - row["a"] for row in rows[:-1]]
        rates = [row["v00"] for row in rows[:-1]]
        # MiB/s times hours, in bytes; axes have six digits.
        sums = sum(rate * 2**20 * 3600 * h for rate, h in zip(rates, hours, strict=True))
        assert sums == pytest.approx(facts.answer.outcome.recovered_bytes, rel=1e-4)


@pytest.mark.parametrize(
    ("state", "ends"),
    [
        ("active+remapped+backfilling", True),
        ("active+undersized+degraded+remapped+backfill_wait", True),
        ("active+recovery_wait+degraded", True),
        ("active+undersized+degraded+remapped+backfill_toofull", False),
        ("active+undersized+degraded", False),
        ("down", False),
    ],
)
def test_states_that_end_by_themselves(state: str, ends: bool) -> None:
    assert is_under_way(state) is ends


def test_fills_and_places_add_up_to_what_osds_had_used() -> None:
    facts = Facts(answer())
    osds = sum(osd["received_bytes"] for osd in facts.osds)
    for level, count in (("host", 4), ("rack", 2), ("OSD", 12)):
        found = places(facts, level)
        assert len(found) == count
        assert sum(one["received_bytes"] for one in found) == osds
        assert sum(one["sent_bytes"] for one in found) == osds
    one = answer()
    facts = Facts(one)
    found = fills(facts)
    assert facts.moments.size == 40 and found.shape == (40, 12)
    for at, osd in enumerate(facts.osds):
        assert found[0, at] == pytest.approx(osd["used_start_bytes"] / 4e12)
        assert found[:, at].max() == pytest.approx(osd["peak_used_bytes"] / 4e12)
    fill = one.tables["fill"]
    late = fill.filter(pa.compute.invert(pa.compute.and_(
        pa.compute.equal(fill["osd"], 3), pa.compute.less(fill["time_seconds"], 1000.0)
    )))  # fmt: skip
    facts = Facts(replace(one, tables={**one.tables, "fill": late}))
    found, at = fills(facts), [osd["osd"] for osd in facts.osds].index(3)
    missing = (found[:, at] != found[:, at]).tolist()
    assert missing == (facts.moments < 1000.0).tolist() and sum(missing) == 2


def test_titles_histories_and_commands_say_the_first_of_many() -> None:
    steps = tuple(PlannedStep(0.0, f"osd.{at} fails") for at in range(3))
    title = answer_of(replace(answer(), steps=steps)).title
    assert title == "What if osd.0 fails, and 2 more changes?"
    none = answer_of(changed(answer(), "upmaps", pairs=[""]))
    lines = {part.name: list(part.lines) for part in none.parts() if isinstance(part, Lines)}
    assert lines["upmaps"] == ["ceph osd rm-pg-upmap-items 1.1a"]
    made = stuck_summary(Facts(answer("stuck")))
    assert [(row[0], row[1], row[4]) for row in made.rows] == [(4, "rbd", "1.0")]
    made = history_table(Facts(answer()))
    assert [tuple(row) for row in made.rows] == [
        (0.0, "osd.0 died, and 2 more", 100),
        (20.0, "the monitors mark osd.0 down, and 2 more", 101),
        (OUT_SECONDS, "the monitors mark osd.0 out, and 2 more", 102),
    ]


def test_courses_stand_on_each_other_and_keep_their_ends() -> None:
    chart = course_chart(Facts(answer("stuck")))
    for row in chart.make()["data"]["values"]:
        # The third panel: backfilling, backfill_wait, backfill_toofull.
        assert row["s22"] == pytest.approx(row["v20"] + row["v21"] + row["v22"])
        assert row["s20"] == row["v20"]
    times = Facts(answer(points=2000)).times
    at = shown_moments(times)
    assert at[0] == 0 and at[-1] == times.size - 1 and at.size <= 403
    gaps = [float(times[b] - times[a]) for a, b in pairwise(at)]
    assert max(gaps) <= 2.0 * float(times[-1]) / 400 + OUT_SECONDS


@pytest.mark.parametrize("table", [*TABLES, *[[*TABLES]]], ids=str)
@pytest.mark.filterwarnings("error")
def test_any_table_may_be_empty(table: str | list[str]) -> None:
    """A cluster may have no OSD that exists, no load, no history; a run may not even begin."""
    names = [table] if isinstance(table, str) else table
    for regime in ("nothing", "whole", "stuck"):
        one = answer(regime)
        tables = {**one.tables, **{name: conform(name, None) for name in names}}
        bare = replace(one, tables=tables)
        assert render(answer_of(bare)) and render(answer_of(PlansCompared((one, bare))))
        assert answer_of(bare).verdict


# Words that the core tells and a page explains are the same, and so are names of settings.


CRATE = Path(__file__).parents[2] / "crates" / "ceph" / "src" / "healing"


def test_every_limit_that_is_explained_is_the_core_s_and_of_a_setting() -> None:
    told = {
        word
        for path in CRATE.rglob("*.rs")
        for word in re.findall(r'"([a-z ]+)"', path.read_text(encoding="utf-8"))
    }
    assert set(GOVERNS) <= told, sorted(set(GOVERNS) - told)
    for name in GOVERNS.values():
        assert name in SETTINGS or name.endswith(" ratio"), name


# Several what-ifs: plans, failures in turn, tried settings; and in a terminal.


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


SEVERAL = {
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


@pytest.mark.parametrize("name", SEVERAL)
def test_an_answer_of_several_says(name: str) -> None:
    verdict, says = answer_of(SEVERAL[name]).verdict, SENTENCES["what-ifs"][name]
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
    """All kinds of answers as a terminal of this many columns shows them.

    The room for more data, entries of the balancer and commands for later are alike in all: those
    of the first two stand for them.
    """
    found: dict[str, Any] = {"nothing": AS_IT_IS, "whole": WHOLE}
    for of in ("stuck", "horizon"):
        one = answer(of, steps=WHOLE.steps[:1])
        bare = {name: conform(name, None) for name in ("room", "upmaps")}
        found[of] = replace(one, tables={**one.tables, **bare})
    found |= {"plans": plans(), "ranking": ranking()}
    # The answer within is shown as one alone: of the shortest all kinds of parts are there too.
    found["search"] = replace(search(), answer=replace(AS_IT_IS, steps=WHOLE.steps[1:]))
    return "".join(
        f"---- {name}, {width} columns\n{printed(answer_of(of), width)}\n"
        for name, of in found.items()
    )


def test_a_terminal_shows_what_was_recorded() -> None:
    """Recorded by `python -m tests.unit.test_what_if_shown`; review what differs before."""
    assert shown(80) == RECORD.read_text(encoding="utf-8")


# Counterfactuals: the bottleneck, what helps less, and that nothing does.


def rerun(of: WhatIf, **columns: list[float]) -> WhatIf:
    """An answer whose reruns came to other figures."""
    rows = of.tables["counterfactuals"].to_pydict() | columns
    made = pa.table(rows, schema=TABLES["counterfactuals"])
    return replace(of, tables={**of.tables, "counterfactuals": made})


def test_a_bottleneck_is_named_by_a_rerun_and_never_by_who_waits() -> None:
    # 4 h 35 min 10 s are half of 9 h 10 min 20 s; of PGs' time 41 % is waiting for slots.
    said = answer_of(answer()).verdict
    assert (
        "The bottleneck: devices. Twice as fast, the cluster is healthy after 4 h 35 min, 50 % "
        "sooner."
    ) in said
    bare: dict[str, list[float]] = {name: [] for name in TABLES["counterfactuals"].names}
    text = " ".join(answer_of(rerun(answer(), **bare)).verdict)
    assert "bottleneck" not in text and "limit" not in text


@pytest.mark.parametrize(
    ("shares", "freed", "says"),
    [
        ([0.19, 0.1, 0.0], 0, "No bottleneck alone; what helps most: devices. Twice as fast"),
        ([0.049, 0.01, -0.1], 0, "Nothing on the list helps by 5 %: devices, backfill and"),
        ([-0.1, 0.01, 0.0], 3, "What helps most: devices. Twice as fast, 3 PGs"),
    ],
)
def test_what_helps_less_is_called_no_bottleneck(
    shares: list[float], freed: int, says: str
) -> None:
    made = rerun(answer(), sooner_share=shares, freed_groups=[freed, 0, 0])
    assert any(text.startswith(says) for text in answer_of(made).verdict)


if __name__ == "__main__":
    RECORD.write_text(shown(80), encoding="utf-8")
