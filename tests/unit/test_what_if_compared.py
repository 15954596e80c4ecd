"""What is said of several what-ifs: plans, failures in turn, tried settings; and in a terminal."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from what_if_answers import ASSUMED, plans, ranking, search
from what_if_golden import RECORD, WIDTHS, shown

from resilver.report.whatif import (
    compared_sentences,
    ranking_sentences,
    search_sentences,
)
from resilver.report.whatif.comparison import compared_table, differing_table
from resilver.report.whatif.ranking import ranking_table, search_table


def test_the_best_of_plans_is_marked_among_those_that_end_whole() -> None:
    made = compared_table(plans())
    by_row = {row[0]: row[1:] for row in made.rows}
    assert by_row["whole after"] == ("9 h 10 min", "5 h 10 min *", "never")
    # The third moved least because it did not end: that is no merit.
    assert by_row["made anew"] == ("6.2 TiB", "6.2 TiB", "5.6 TiB")
    assert by_row["not clean at the end"] == ("0", "0", "4")


def test_plans_are_told_apart_by_who_is_whole_first() -> None:
    assert compared_sentences(plans())[0] == (
        "Plan quick.toml is whole first, after 5 h 10 min, plan slow.toml last, after 9 h 10 min; "
        "plan full.toml not at all."
    )


def test_settings_that_differ_between_plans_are_listed() -> None:
    first, second, third = plans().answers
    assert differing_table(plans()) is None
    other = replace(ASSUMED[0], value="4")
    two = replace(second, assumptions=(other, *ASSUMED[1:]))
    made = differing_table(replace(plans(), answers=(first, two, third)))
    assert made is not None
    assert [tuple(row) for row in made.rows] == [("osd_max_backfills", "1", "4", "1")]


def test_the_worst_part_leads_the_ranking() -> None:
    said = ranking_sentences(ranking())
    assert said[0] == (
        "Of 4 hosts, node-3 does most harm when it fails: 4 groups not clean at the end."
    )
    assert said[1] == (
        "With 1 of them groups are not clean at the end; with 3 of them an OSD gets to "
        "backfillfull."
    )
    # Of 9 h, 5 h and 2 h, each with 620 s before them.
    assert said[2] == "Of those that heal, half do so within 5 h 10 min, all within 9 h 10 min."
    assert [row[0] for row in ranking_table(ranking()).rows] == [
        "node-3", "node-0", "node-2", "node-1",
    ]  # fmt: skip


def test_single_osds_are_called_so() -> None:
    of = ranking("osd")
    healing = replace(of, harms=of.harms[1:])
    said = ranking_sentences(healing)
    assert said[0].startswith("Of 3 OSDs, node-0 does most harm when it fails: 3 groups inactive")
    assert said[2] == "Half of these failures heal within 5 h 10 min, all within 9 h 10 min."


def test_a_search_says_what_to_use_or_that_nothing_does() -> None:
    assert search_sentences(search())[0] == (
        "The aim, whole in 6 h, is met with osd_max_backfills = 4, osd_mclock_profile = balanced."
    )
    assert search_sentences(search(meets=False)) == [
        "None of 3 combinations of settings meets the aim, whole in 6 h.",
        "Nearest comes osd_max_backfills = 4, osd_mclock_profile = balanced.",
    ]
    met = replace(search(), trials=(replace(search().trials[0], in_force=True),))
    met = replace(met, best=met.trials[0])
    assert met.is_met_already and search_sentences(met) == [
        "The aim, whole in 6 h, is already met with osd_max_backfills = 4, "
        "osd_mclock_profile = balanced: nothing to change."
    ]
    made = search_table(search())
    assert [column.heading for column in made.columns[:3]] == [
        "osd_max_backfills", "osd_mclock_profile", "meets the aim",
    ]  # fmt: skip
    assert made.rows[0][:3] == ("4", "balanced", "yes")


def test_a_terminal_shows_what_was_recorded() -> None:
    """Recorded by `python -m tests.unit.what_if_golden`."""
    recorded = RECORD.read_text(encoding="utf-8")
    assert "".join(shown(width) for width in WIDTHS) == recorded


@pytest.mark.parametrize("width", WIDTHS)
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    lines = shown(width).splitlines()
    # Lines to paste stay whole.
    long = [line for line in lines if len(line) > width and not line.startswith("  ceph ")]
    assert long == []
