"""What is said of a what-if: a sentence for each way that it may end, and the rows behind them."""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from what_if_answers import ASSUMED, OUT_SECONDS, answer

from resilver.report.whatif import (
    answer_sentences,
    write_answer,
    write_compared,
)
from resilver.report.whatif.course import course_chart, rates_chart, shown_moments
from resilver.report.whatif.fill import fills
from resilver.report.whatif.page import upmap_lines
from resilver.report.whatif.sentences import assumption_sentences, question
from resilver.report.whatif.source import LEVELS, Facts, is_under_way
from resilver.report.whatif.tables import (
    crossings_table,
    history_table,
    places,
    pools_table,
    stuck_summary,
)
from resilver.units import format_bytes
from resilver.whatif.answer import PlannedStep, WhatIf
from resilver.whatif.columns import TABLES, conform
from resilver.whatif.several import PlansCompared

MARKED = "Detected after 20 s, marked out after 10 min 20 s"
FIRST = f"{MARKED}, healthy after 9 h 10 min"


def changed(of: WhatIf, table: str, **columns: Any) -> WhatIf:
    """An answer of which a table has other columns."""
    made = of.tables[table]
    for name, values in columns.items():
        field = TABLES[table].field(name)
        made = made.set_column(
            made.schema.get_field_index(name), field, pa.array(values, field.type)
        )
    return replace(of, tables={**of.tables, table: made})


def without(of: WhatIf, table: str) -> WhatIf:
    return replace(of, tables={**of.tables, table: conform(table, None)})


def test_where_nothing_happens_no_figure_of_healing_is_told() -> None:
    first, *rest = answer_sentences(answer("nothing"))
    assert first == "Nothing moves: the cluster is clean, and nothing is to be done."
    assert rest == [
        "osd.4 is the fullest, at 69.2 %; no OSD gets to nearfull (0.85).",
        "Clients of pool rbd wait as before, 99 % of requests up to 38.0 ms.",
    ]
    facts = Facts(answer("nothing"))
    assert course_chart(facts) is None and rates_chart(facts) is None


def test_a_whole_cluster_is_told_with_its_time() -> None:
    # Out after 620 s, then 9 h: 33,020 s are 9 h 10 min 20 s.
    said = answer_sentences(answer("whole"))
    assert said[0] == FIRST + " (copying takes 9 h)."
    assert any(text.startswith("6.2 TiB of lost copies are made anew") for text in said)


def test_the_chance_of_further_failures_says_until_when_and_what_it_takes() -> None:
    ends = (
        "data is lost before all copies and pieces are back is 3.2e-6, if 1.36 % of OSDs fail a "
        "year, each by itself; for a time the loss of any one of 7 OSDs is enough."
    )
    assert f"The chance that further OSDs fail and {ends}" in answer_sentences(answer())
    # What is not whole at the end is followed to the horizon.
    stuck = changed(answer("stuck"), "risks", fewest_failures=[2, 2])
    said = " ".join(answer_sentences(stuck))
    assert "within 30 d is 3.2e-6, if" in said and "itself; it takes 2 more." in said
    assert not any("further OSDs" in text for text in answer_sentences(answer("nothing")))


def test_what_is_whole_later_than_degraded_says_both_times() -> None:
    made = changed(answer(), "pools", degraded_seconds=[3600.0, 0.0])
    said = answer_sentences(made)[0]
    assert said == FIRST + " (copying takes 9 h); nothing is degraded after 1 h."


def test_a_plan_that_begins_later_says_how_long_it_takes() -> None:
    steps = (PlannedStep(7200.0, "osd.1 fails"),)
    said = answer_sentences(replace(answer(), steps=steps))[0]
    # 9 h 10 min 20 s, of which 2 h are before the change.
    assert said == FIRST + ", 7 h 10 min from the first change on (copying takes 9 h)."


def test_what_happens_alike_to_many_osds_is_one_row() -> None:
    made = history_table(Facts(answer()))
    assert [tuple(row) for row in made.rows] == [
        (0.0, "osd.0 died, and 2 more alike", 100),
        (20.0, "the monitors mark osd.0 down, and 2 more alike", 101),
        (OUT_SECONDS, "the monitors mark osd.0 out, and 2 more alike", 102),
    ]


def test_a_move_alone_never_lacks_a_copy() -> None:
    made = changed(answer(), "pools", degraded_seconds=[0.0, 0.0])
    said = answer_sentences(made)[0]
    assert said == "All data is in its place after 9 h 10 min, and no object ever lacks a copy."


def test_a_cluster_that_waits_for_ever_says_so_with_state_and_reason() -> None:
    said = answer_sentences(answer("stuck"))
    assert said[0] == (
        "The cluster does not get whole: 4 of 320 groups are not clean, and after 9 h 10 min "
        f"nothing moves any more. {MARKED}."
    )
    assert (
        "4 groups (1.0, 1.1, 1.2, ...) stay active+undersized+degraded+remapped+backfill_toofull: "
        "the target osd.3 would be 91.2 % full, above backfillfull (90 %)."
    ) in said


def test_osds_without_space_are_named_together() -> None:
    reasons = [f"osd.{osd} has no space for it" for osd in (7, 7, 9, 3)]
    said = answer_sentences(changed(answer("stuck"), "stuck", reason=reasons))
    assert any(
        text.endswith(": osd.7 has no space for it (2 of them); likewise osd.9 (1) and osd.3 (1).")
        for text in said
    )


def test_a_run_that_ends_first_is_not_called_stuck() -> None:
    said = answer_sentences(answer("horizon"))
    assert said[0] == (
        "The cluster is not whole within 9 h 10 min: 40 of 320 groups are not clean yet (6 move "
        f"data, 34 wait). {MARKED}."
    )
    assert not any("stay" in text for text in said)
    pools = pools_table(Facts(answer("horizon"))).rows
    assert pools[0][1] == "over 9 h 10 min" and pools[0][4] == "over 9 h 10 min"


def test_groups_that_a_flag_holds_wait_for_ever() -> None:
    """Their state is backfill_wait; the run ended since nothing could happen."""
    held = ["active+remapped+backfill_wait"] * 4
    one = changed(answer("stuck"), "stuck", state=held, reason=["a flag holds it"] * 4)
    said = answer_sentences(one)
    assert said[0].startswith("The cluster does not get whole: 4 of 320 groups")
    assert (
        "4 groups (1.0, 1.1, 1.2, ...) stay active+remapped+backfill_wait: a flag holds it." in said
    )


def test_two_rows_of_the_first_moment_are_before_and_after() -> None:
    """What is used at the start is counted once."""
    one = answer()
    fill = one.tables["fill"]
    twice = pa.concat_tables([fill.slice(0, 12), fill])
    timeline = pa.concat_tables([one.tables["timeline"].slice(0, 1), one.tables["timeline"]])
    both = replace(one, tables={**one.tables, "fill": twice, "timeline": timeline})
    assert Facts(both).held.tolist() == Facts(one).held.tolist()
    assert answer_sentences(both) == answer_sentences(one)
    assert rates_chart(Facts(both)) is not None


def test_rates_come_to_what_was_written() -> None:
    """However few intervals are drawn: 7.3 TB came within 9 h at an even rate."""
    for points in (40, 2000):
        facts = Facts(answer(points=points))
        chart = rates_chart(facts)
        assert chart is not None
        rows = chart.make()["data"]["values"]
        hours = [row["b"] - row["a"] for row in rows[:-1]]
        rates = [row["v00"] for row in rows[:-1]]
        # MiB/s times hours, in bytes; axes have six digits.
        sums = sum(rate * 2**20 * 3600 * h for rate, h in zip(rates, hours, strict=True))
        assert sums == pytest.approx(facts.answer.outcome.recovered_bytes, rel=1e-4)


def test_lost_data_comes_first() -> None:
    said = answer_sentences(changed(answer(), "pools", lost_groups=[3, 0]))
    assert said[0].startswith("Data is lost: what runs of 3 groups of pool rbd")


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


def test_copies_that_only_go_are_told_as_room() -> None:
    """A smaller pool: every group stays clean, and half of what is used goes."""
    one = answer("nothing")
    used = one.tables["fill"]["used_bytes"].to_pylist()
    half = [*used[:12], *(size // 2 for size in used[12:])]
    made = changed(one, "fill", used_bytes=half)
    made = changed(made, "timeline", deleting_groups=[256, 0])
    freed = sum(used[:12]) - sum(half[12:])
    said = answer_sentences(made)
    assert said[0] == "Every group stays active+clean."
    assert f"{format_bytes(freed)} are freed." in said


def test_inactive_groups_and_their_end_are_told() -> None:
    said = answer_sentences(answer("whole"))[1]
    # Three groups, until the OSDs are out.
    assert said.endswith("up to 3 groups are inactive and serve nobody, until 10 min 20 s.")
    calm = changed(answer(), "timeline", inactive_groups=[0] * 40, at_risk_groups=[0] * 40)
    assert answer_sentences(calm)[1] == (
        "No group is ever one loss from losing data; every group serves clients once the failure "
        "is detected."
    )


def test_each_ratio_is_told_with_the_first_osd_to_pass_it() -> None:
    one = answer()
    seconds = one.tables["osds"]["nearfull_seconds"].to_pylist()
    assert sum(at is not None for at in seconds) == 1
    seconds[5], seconds[6] = 0.0, 7200.0
    said = answer_sentences(changed(one, "osds", nearfull_seconds=seconds))[3]
    # osd.5 is beyond it from the start, osd.6 after 2 h, osd.4 later.
    assert said.endswith(
        "3 OSDs get to nearfull (0.85), 1 at the start already, osd.6 first after 2 h."
    )
    assert "1 OSD gets to backfillfull (0.90: no further backfill comes), osd.4 after" in said


def test_an_osd_that_only_empties_is_fullest_at_the_start() -> None:
    one = answer()
    start = one.tables["osds"]["used_start_bytes"].to_pylist()
    half = [used // 2 for used in start]
    made = changed(one, "osds", peak_used_bytes=start, used_end_bytes=half)
    never = {f"{of}_seconds": [None] * 12 for of in LEVELS}
    assert (
        "No OSD gets fuller than osd.4 at the start, 69.2 % (34.6 % at the end); no OSD gets to "
        "nearfull (0.85)."
    ) in answer_sentences(changed(made, "osds", **never))


def test_crossings_are_those_of_the_osds_table() -> None:
    made = crossings_table(Facts(answer()))
    assert [column.heading for column in made.columns[:4]] == [
        "OSD", "peak", "nearfull 0.85", "backfillfull 0.90",
    ]  # fmt: skip
    assert [row[0] for row in made.rows] == ["osd.4"]


def test_bytes_of_places_sum_to_those_of_osds() -> None:
    facts = Facts(answer())
    osds = sum(osd["received_bytes"] for osd in facts.osds)
    for level, count in (("host", 4), ("rack", 2), ("OSD", 12)):
        found = places(facts, level)
        assert len(found) == count
        assert sum(one.received_bytes for one in found) == osds
        assert sum(one.sent_bytes for one in found) == osds


def test_what_is_written_is_told_beside_the_least() -> None:
    made = changed(answer(), "pools", least_bytes=[1 << 40, 1 << 40], recovered_bytes=[0, 0])
    made = changed(made, "pools", moved_bytes=[3 << 40, 0])
    said = answer_sentences(made)
    assert "3.0 TiB of whole ones move, 1.5 times the least possible (2.0 TiB)." in said


def test_copies_that_are_in_two_places_take_room_on_the_way() -> None:
    one = answer()
    used = one.tables["fill"]["used_bytes"].to_pylist()
    # At the 20th of 40 moments each of 12 OSDs holds 100 GiB beyond what it does at the end.
    for at in range(19 * 12, 20 * 12):
        used[at] = used[39 * 12 + at % 12] + (100 << 30)
    said = answer_sentences(changed(one, "fill", used_bytes=used))
    # 12 x 100 GiB are 1.2 TiB.
    assert any(
        text.endswith(
            "on the way old and new copies take up to 1.2 TiB more than before and after."
        )
        for text in said
    )
    assert not any("on the way" in text for text in answer_sentences(one))


def test_clients_without_a_load_are_not_spoken_of() -> None:
    assert not any("Clients" in text for text in answer_sentences(answer(load=False)))


def test_clients_of_whom_nothing_is_served_have_no_delay() -> None:
    one = answer()
    none = [None] * one.tables["clients"].num_rows
    said = answer_sentences(
        changed(one, "clients", p99_seconds=none, served_share=[0.0] * len(none))
    )
    assert said[-1].startswith("Clients of pool rbd ask more than the cluster serves")
    assert "0 % of requests are served" in said[-1]


def test_the_question_names_the_changes() -> None:
    assert question(answer("nothing")) == "How bundle.tar.zst heals as it is"
    assert question(answer()) == "What if host node-0 fails, and 1 h later noout is set?"
    steps = tuple(PlannedStep(0.0, f"osd.{at} fails") for at in range(3))
    assert question(replace(answer(), steps=steps)) == "What if osd.0 fails, and 2 more changes?"


def test_upmaps_are_lines_to_paste() -> None:
    # 26 is 1a in Ceph's names of groups.
    assert upmap_lines(answer()) == ["ceph osd pg-upmap-items 1.1a 4 7"]
    none = changed(answer(), "upmaps", pairs=[""])
    assert upmap_lines(none) == ["ceph osd rm-pg-upmap-items 1.1a"]


def test_assumptions_are_told_by_their_origin() -> None:
    assert assumption_sentences(ASSUMED) == [
        "Assumed: device of class hdd nl-sas-4tb (12 OSDs); AFR of class hdd 1.36 %.",
        "Set in `config dump`: osd_mclock_profile high_recovery_ops.",
        "The release's own: 1 setting.",
    ]


def test_stuck_groups_are_counted_by_state_and_reason() -> None:
    made = stuck_summary(Facts(answer("stuck")))
    assert [(row[0], row[1], row[4]) for row in made.rows] == [(4, "rbd", "1.0")]


def test_the_fill_of_an_osd_is_what_it_had_used() -> None:
    one = answer()
    facts = Facts(one)
    found = fills(facts)
    assert facts.moments.size == 40 and found.shape == (40, 12)
    for at, osd in enumerate(facts.osds):
        assert found[0, at] == pytest.approx(osd["used_start_bytes"] / 4e12)
        assert found[:, at].max() == pytest.approx(osd["peak_used_bytes"] / 4e12)


def test_an_added_osd_has_no_fill_before_it_is_there() -> None:
    one = answer()
    fill = one.tables["fill"]
    late = fill.filter(pa.compute.invert(pa.compute.and_(  # type: ignore[attr-defined]
        pa.compute.equal(fill["osd"], 3), pa.compute.less(fill["time_seconds"], 1000.0)
    )))  # fmt: skip
    facts = Facts(replace(one, tables={**one.tables, "fill": late}))
    found = fills(facts)
    at = [osd["osd"] for osd in facts.osds].index(3)
    missing = (found[:, at] != found[:, at]).tolist()
    assert missing == (facts.moments < 1000.0).tolist() and sum(missing) == 2


def test_groups_that_move_or_wait_stand_on_each_other() -> None:
    chart = course_chart(Facts(answer("stuck")))
    assert chart is not None
    for row in chart.make()["data"]["values"]:
        # The third panel: backfilling, backfill_wait, backfill_toofull.
        assert row["s22"] == pytest.approx(row["v20"] + row["v21"] + row["v22"])
        assert row["s20"] == row["v20"]


def test_long_courses_keep_their_first_and_last_moment() -> None:
    times = Facts(answer(points=2000)).times
    at = shown_moments(times)
    assert at[0] == 0 and at[-1] == times.size - 1 and at.size <= 403
    gaps = [float(times[b] - times[a]) for a, b in pairwise(at)]
    assert max(gaps) <= 2.0 * float(times[-1]) / 400 + OUT_SECONDS


@pytest.mark.parametrize("table", [*TABLES, *[[*TABLES]]], ids=str)
@pytest.mark.filterwarnings("error")
def test_any_table_may_be_empty(table: str | list[str], tmp_path: Path) -> None:
    """A cluster may have no OSD that exists, no load, no history; a run may not even begin."""
    names = [table] if isinstance(table, str) else table
    for regime in ("nothing", "whole", "stuck"):
        one = answer(regime)
        tables = {**one.tables, **{name: conform(name, None) for name in names}}
        bare = replace(one, tables=tables)
        write_answer(bare, tmp_path / "page.html")
        write_compared(PlansCompared((one, bare)), tmp_path / "page.html")
        assert answer_sentences(bare)
