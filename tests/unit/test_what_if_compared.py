"""What is said of several what-ifs: plans, failures in turn, tried settings; and in a terminal."""

from __future__ import annotations

from dataclasses import replace

import pytest

from resilver.report.whatif import (
    ranking_sentences,
    search_sentences,
)
from resilver.report.whatif.comparison import differing_table
from tests.unit.what_if_answers import ASSUMED, plans, ranking, search
from tests.unit.what_if_golden import RECORD, WIDTHS, shown


def test_settings_that_differ_between_plans_are_listed() -> None:
    first, second, third = plans().answers
    assert differing_table(plans()) is None
    other = replace(ASSUMED[0], value="4")
    two = replace(second, assumptions=(other, *ASSUMED[1:]))
    made = differing_table(replace(plans(), answers=(first, two, third)))
    assert made is not None
    assert [tuple(row) for row in made.rows] == [("osd_max_backfills", "1", "4", "1")]


def test_single_osds_are_called_so() -> None:
    of = ranking("osd")
    healing = replace(of, harms=of.harms[1:])
    said = ranking_sentences(healing)
    assert said[0].startswith(
        "Of 3 OSDs, node-0 has the greatest impact when it fails: 3 PGs inactive"
    )
    assert said[2] == "Half of these failures heal within 5 h 10 min, all within 9 h 10 min."


def test_a_search_says_that_nothing_meets_its_aim_or_that_it_is_met() -> None:
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
