"""What is said of durability: known digits alone, intervals beside, and a sentence for each end."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resilver.data_loss.answer import Durabilities
from resilver.figure import Figure
from resilver.report.durability import (
    answer_sentences,
    charts,
    compared_sentences,
    durability_tables,
    words,
    write_durability,
)
from resilver.report.durability.source import pareto
from resilver.report.durability.tables import bursts_grid, compared_table, compared_words
from resilver.tables import to_csv
from tests.unit.durability_answers import (
    YEAR,
    about,
    answer,
    codes,
    layouts,
    never,
    simulated,
    unknown,
    unseen,
)

EXACT = Figure.exact


@pytest.mark.parametrize(
    ("figure", "told", "between"),
    [
        (EXACT(3.1234e-9), "3.1e-9", ""),
        (EXACT(0.0012345), "0.12 %", ""),
        (EXACT(9.99e-4), "1.0e-3", ""),
        (EXACT(0.123), "12 %", ""),
        (EXACT(0.0), "0", ""),
        (EXACT(1.0), "100 %", ""),
        # What is left to 1, 0.0055, has the two digits.
        (EXACT(0.9945), "99.45 %", ""),
        (EXACT(0.99997), "over 99.99 %", ""),
        # 1.96 x 5 % of 3.12e-9 is 0.306e-9: 2.814e-9 to 3.426e-9, rounded outwards.
        (about(3.12e-9, 0.05), "3.1e-9", "2.8e-9 to 3.5e-9"),
        # A standard error of 0.47e-9 leaves the second digit of 9.4e-9 unknown.
        (about(9.4e-9, 0.05), "9e-9", "8e-9 to 1.1e-8"),
        # 3e-9 to a factor of two either way: one digit, and an interval that does not end at 0.
        (about(3e-9, 0.5), "3e-9", "6e-11 to 6e-9"),
        (about(0.3, 0.01), "30 %", "29 % to 31 %"),
        # Nothing seen in 100,000 missions: 3 / 100,000.
        (unseen(), "at most 3.0e-5", ""),
        (Figure(None, 0.0, 1.0, "simulated", None, 1), "not known", ""),
    ],
)
def test_a_probability_has_the_digits_that_are_known(
    figure: Figure, told: str, between: str
) -> None:
    assert (words.chance(figure), words.chance_between(figure)) == (told, between)


@given(st.floats(1e-30, 0.5), st.floats(1e-4, 0.6))
def test_intervals_are_rounded_outwards_and_values_within_a_standard_error(
    value: float, error: float
) -> None:
    """What is told is off by no more than what is not known, or by half of its second digit."""
    figure = about(value, error)
    told = _number(words.chance(figure))
    step = 0.5 * 10.0 ** (math.floor(math.log10(value)) - 1)
    assert abs(told - value) <= max(2.0 * error * value, step) * (1.0 + 1e-6)
    low, high = words.chance_between(figure).split(" to ")
    assert _number(low) <= figure.low * (1.0 + 1e-9)
    assert _number(high) >= min(figure.high, 0.9999) * (1.0 - 1e-9)


def _number(text: str) -> float:
    text = text.removeprefix("over ")
    return float(text.removesuffix(" %")) / 100.0 if text.endswith("%") else float(text)


@pytest.mark.parametrize(
    ("figure", "told"),
    [
        (EXACT(10.0**-8.5), "8.5"),
        (EXACT(0.0), "no loss"),
        (EXACT(1.0), "0.0"),
        # -log10 of 3e-5 is 4.523, of which no tenth may be added.
        (unseen(), "over 4.5"),
        # Half of its value known: from 6e-9 to 6e-11 is from 8.2 to 10.2 nines.
        (about(3e-9, 0.5), "8 to 10"),
    ],
)
def test_nines_are_told_to_a_tenth_where_it_is_known(figure: Figure, told: str) -> None:
    assert words.nines_of(figure) == told


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (YEAR, "a year"),
        (365.0 * 86_400.0, "a year"),
        (10.0 * YEAR, "10 years"),
        (30.0 * 86_400.0, "30 days"),
        (5.5 * 3600.0, "5.5 h"),
    ],
)
def test_missions_are_told_in_the_units_that_people_use(seconds: float, told: str) -> None:
    assert words.mission(seconds) == told


def test_times_and_sizes_have_units_and_may_be_below_one() -> None:
    assert words.span(EXACT(3.2e8 * YEAR)) == "3.2e8 years"
    assert words.span(EXACT(math.inf)) == "never"
    assert words.span_between(about(1.2e10, 0.2)) == "200 to 600 years"
    assert words.size(EXACT(1.2e-4)) == "1.2e-4 B"
    assert words.size(EXACT(1.3 * 2.0**20)) == "1.3 MiB"


def test_the_first_sentence_says_what_loses_data_how_likely_and_by_what() -> None:
    first, *rest = answer_sentences(answer(full=True))
    assert first == (
        "rs 8+3 on 88 devices loses data within a year with a probability of 3.1e-9 (8.5 nines), "
        "mostly by bursts in racks (62 % of the lost pieces)."
    )
    # 1 / 3.1e-9; and 1.1 to the power of 3.9 is 1.450.
    assert rest == [
        "The mean time to data loss is 3.2e8 years.",
        "Most depends on the failure rate of disks: 10 % more of it makes a loss 45 % more likely.",
    ]


def test_a_simulated_answer_has_its_interval_and_its_year() -> None:
    # 2.3e-7 a year for ten years, known to 4.8 %: 2.3e-6 x (1 +- 0.094).
    said = answer_sentences(simulated())
    assert said[0] == (
        "cold store (rs 8+3) on 88 devices loses data within 10 years with a probability of 2.3e-6 "
        "(95 %: 2.0e-6 to 2.6e-6), 2.3e-7 a year (6.6 nines), mostly by bursts in racks (62 % of "
        "the lost pieces)."
    )
    # An effective sample of 1 / 0.048^2 = 434.
    assert said[-1] == (
        "By 400,000 simulated missions: a relative standard error of 4.8 %, an effective sample of "
        "434 losses."
    )


def test_what_is_not_known_is_told_as_a_bound() -> None:
    first, *rest = answer_sentences(unknown())
    assert first == (
        "How likely cold store (rs 8+3) on 88 devices loses data within 10 years is not known: in "
        "100,000 simulated missions nothing was lost, so the probability is at most 3.0e-5 (95 %)."
    )
    assert rest == []


def test_what_cannot_happen_is_by_the_model() -> None:
    said = answer_sentences(never())
    assert said == ["rs 8+3 on 88 devices loses no data within a year, by this model."]


def test_an_effect_whose_sign_is_unknown_is_no_finding() -> None:
    import pyarrow as pa

    rows = [{"factor": "the scrub interval", "elasticity": 0.1, "low": -0.2, "high": 0.4}]
    said = answer_sentences(replace(answer(), sensitivity=pa.Table.from_pylist(rows)))
    assert not any("depends" in text for text in said)


def test_the_pareto_line_has_what_nothing_as_cheap_beats() -> None:
    """By its definition, over all pairs."""
    systems = codes(60).systems
    line = pareto(systems)
    for one in systems:
        is_beaten = any(
            other.overhead <= one.overhead
            and other.annual.value <= one.annual.value  # type: ignore[operator]
            and (other.overhead, other.annual.value) != (one.overhead, one.annual.value)
            for other in systems
        )
        assert (one in line) == (not is_beaten), one.name


def test_codes_are_told_from_safest_to_least_safe_and_along_the_line() -> None:
    first, second = compared_sentences(codes(12))
    assert first == (
        "rs 4+4 (1.5e-14 a year, 13.8 nines) loses data least, at 2 bytes kept for a byte; rs 5+1 "
        "(1.9e-4 a year, 3.7 nines) most, at 1.2."
    )
    assert second.startswith("7 of 12 are on the Pareto line, where nothing as cheap is safer")


def test_systems_of_one_overhead_are_told_by_how_many_times() -> None:
    # 4.4e-6 / 2e-7; the first is apart from all others, whose intervals are 12 % either way.
    assert compared_sentences(layouts())[0] == (
        "copysets (2.0e-7 a year; 95 %: 1.7e-7 to 2.3e-7; 6.7 nines) loses data least; racks "
        "(4.4e-6 a year; 95 %: 3.8e-6 to 5.0e-6; 5.4 nines) most, 22 times as often."
    )


def test_systems_whose_intervals_overlap_are_not_told_apart() -> None:
    _, declustered, random, racks = layouts().systems
    near = Durabilities((random, declustered), "layouts")
    assert compared_sentences(near) == ["The differences are not significant: about 2.1e-6 a year."]
    three = Durabilities((random, declustered, racks), "layouts")
    assert "(not significantly less than random); racks" in compared_sentences(three)[0]


def test_unknown_systems_are_named_and_stand_last() -> None:
    found = Durabilities((unknown(), answer("rs 6+2", "rs 6+2", 8 / 6)), "systems")
    assert compared_sentences(found)[-1] == (
        "Not known is the probability of cold store (rs 8+3): nothing was lost."
    )
    made = compared_table(found.systems)
    assert [row[0] for row in made.rows] == ["rs 6+2 *", "cold store (rs 8+3)"]


def test_bursts_lie_side_by_side_from_the_fewest_that_lose_data_on() -> None:
    made = bursts_grid(simulated().bursts)
    assert made is not None
    # Four pieces lost at least, in as many racks.
    assert [column.heading for column in made.columns] == ["failures of", "4", "5", "6"]
    assert [row[0] for row in made.rows] == [
        "disks",
        "disks in 4 racks",
        "disks in 5 racks",
        "disks in 6 racks",
    ]
    assert list(made.rows[1]) == ["disks in 4 racks", "2.0e-5", "1.0e-4", "3.0e-4"]


def test_csv_has_every_digit_and_si_units() -> None:
    tables = durability_tables(simulated())
    assert list(tables) == ["systems", "causes", "survival", "bursts", "sensitivity", "premises"]
    row = next(csv.DictReader(io.StringIO(to_csv(tables["systems"], None))))
    found = simulated()
    assert float(row["loss_probability"]) == found.loss_probability.value
    assert float(row["loss_probability_high"]) == found.loss_probability.high
    assert float(row["mttdl_seconds"]) == found.mttdl_seconds.value  # type: ignore[union-attr]


def test_tables_for_people_end_where_numbers_for_machines_begin() -> None:
    made = compared_table(codes(12).systems)
    shown = [column.heading for column in made.columns[: compared_words(made)]]
    assert shown == ["system", "overhead", "nines", "lost a year", "MTTDL"]


def test_json_has_every_figure_and_no_infinity() -> None:
    import json

    endless = json.loads(json.dumps(never().to_dict(), allow_nan=False))
    assert endless["nines"] is None and endless["mttdl_seconds"]["note"]
    read = json.loads(json.dumps(simulated().to_dict()))
    assert read["loss_probability"]["trajectories"] == 400_000
    assert read["survival"][0] == {"time_seconds": 0.0, "survival": 1.0, "low": 1.0, "high": 1.0}


def test_exponents_on_a_page_are_not_broken(tmp_path: Path) -> None:
    page = write_durability(simulated(), tmp_path / "page.html").read_text(encoding="utf-8")
    head = page.partition("<nav")[0].partition("</style>")[2]
    assert "2.3e\u20116" in head and "e-6" not in head


def test_a_course_below_what_floats_resolve_is_not_drawn() -> None:
    """1 - 3e-15 has one digit of its difference to 1."""
    names = [one.name for one in charts(answer(yearly=3e-15, full=True))]
    assert "survival" not in names and "causes" in names
