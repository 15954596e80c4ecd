"""What is said of durability: known digits alone, intervals beside, and a sentence for each end."""

import csv
import io
import json
import math
import tomllib
from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from resilver.answer import Shown, render
from resilver.data_loss.answer import Durabilities, Durability, Premise
from resilver.figure import Figure
from resilver.report.durability import durability_answer, words
from resilver.report.durability.charts import Point, named_points
from resilver.report.durability.tables import bursts_grid, compared_table
from resilver.report.durability.words import pareto
from resilver.tables import to_csv
from tests.build import CASES
from tests.unit.durability_answers import (
    YEAR,
    about,
    answer,
    bursts,
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
        (Figure(None, 0.0, 1.0, "simulated", None, 1), "unknown", ""),
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


def test_words_have_the_digits_and_units_that_are_known() -> None:
    exact = [words.nines_of(EXACT(chance)) for chance in (10.0**-8.5, 0.0, 1.0)]
    assert exact == ["8.5", "no loss", "0.0"]
    # -log10 of 3 in 57,000 is 4.279, of which no tenth may be added.
    assert words.nines_of(unseen(57_000)) == "over 4.2"
    # Half of its value known: from 6e-9 to 6e-11 is from 8.2 to 10.2 nines.
    assert words.nines_of(about(3e-9, 0.5)) == "8 to 10"
    missions = [words.mission(days * 86_400.0) for days in (365.25, 365.0, 3652.5, 30.0, 5.5 / 24)]
    assert missions == ["a year", "a year", "10 years", "30 days", "5.5 h"]
    assert words.span(EXACT(3.2e8 * YEAR)) == "3.2e8 years"
    assert words.span(EXACT(math.inf)) == "never"
    assert words.span_between(about(1.2e10, 0.2)) == "200 to 600 years"
    assert words.size(EXACT(1.2e-4)) == "1.2e-4 B"
    assert words.size(EXACT(1.3 * 2.0**20)) == "1.3 MiB"


SIGNLESS = {"factor": "the scrub interval", "elasticity": 0.1, "low": -0.2, "high": 0.4}
_, DECLUSTERED, RANDOM, RACKS = layouts().systems

ANSWERS: dict[str, Durability | Durabilities] = {
    "exact, of a year": answer(full=True),
    "simulated, of ten years": simulated(),
    "unknown": unknown(),
    "never": never(),
    "an effect whose sign is unknown": replace(
        answer(), sensitivity=pa.Table.from_pylist([SIGNLESS])
    ),
    "bursts that lose nothing": replace(answer(), bursts=bursts(failures=3)),
    "codes": codes(12),
    "systems of one overhead": layouts(),
    "intervals that overlap": Durabilities((RANDOM, DECLUSTERED), "layouts"),
    "two of three whose intervals overlap": Durabilities((RANDOM, DECLUSTERED, RACKS), "layouts"),
    "one of two unknown": Durabilities((unknown(), answer("rs 6+2", "rs 6+2", 8 / 6)), "systems"),
}
SENTENCES = tomllib.loads((CASES / "sentences.toml").read_text(encoding="utf-8"))["durability"]


@pytest.mark.parametrize(("name", "sentences"), SENTENCES.items())
def test_the_verdict_answers_in_plain_sentences(name: str, sentences: list[str]) -> None:
    assert list(durability_answer(ANSWERS[name]).verdict) == sentences


def test_systems_are_compared_where_all_is_known() -> None:
    # 1.2 PiB is 1.351 PB.
    verdict = durability_answer(replace(simulated(), is_decimal=True)).verdict
    assert "Expected loss within 10 years: 760 kB of 1.351 PB stored." in verdict
    # rs 16+4 gathers 16 pieces for one and copies 3 none but one, which one --repair hides.
    alike = [
        replace(one, premises=(Premise("repair", "1 d", "stated"),)) for one in codes(4).systems
    ]
    said = "All codes are compared at the same repair time."
    assert durability_answer(Durabilities(tuple(alike), "codes")).notes[0].startswith(said)
    alike[0] = replace(alike[0], premises=(Premise("repair", "2 d", "stated"),))
    for other in (Durabilities(tuple(alike), "codes"), codes(4), layouts()):
        assert said not in " ".join(durability_answer(other).notes)
    assert durability_answer(codes(4)).holds and not durability_answer(unknown()).holds
    assert not durability_answer(Durabilities((unknown(), answer()), "systems")).holds


def test_the_pareto_line_has_what_nothing_as_cheap_beats() -> None:
    # By its definition, over all pairs.
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
    # 10 letters of 6.3 pixels and a gap of 8 do not fit left of a point at 65 of 290 pixels.
    alone = Point("lrc 12+2+2", 1.333, 11.7, is_on_line=True)
    assert named_points([alone], (0.83, 3.08), (8.0, 12.0), 380) == [(alone, "right")]


def test_tables_have_every_digit_and_bursts_lie_side_by_side() -> None:
    made = compared_table((unknown(), answer("rs 6+2", "rs 6+2", 8 / 6)))
    assert [row[0] for row in made.rows] == ["rs 6+2 *", "cold store (rs 8+3)"]
    found = simulated()
    tables = durability_answer(found).tables()
    assert list(tables) == ["causes", "matters", "figures", "bursts", "heat", "at-once", "premises"]
    row = next(csv.DictReader(io.StringIO(to_csv(tables["figures"], None))))
    assert row["figure"] == "data lost within 10 years"
    assert float(row["si_value"]) == found.loss_probability.value
    assert float(row["si_value_high"]) == found.loss_probability.high
    of_all = durability_answer(layouts()).tables()
    assert {"systems", "causes", "sensitivity", "bursts", "premises", "differing"} <= set(of_all)
    # Four systems, each with 6 bursts of disks and 21 of disks in racks: 1 + 2 + ... + 6.
    assert len(of_all["bursts"].rows) == 4 * 27
    assert [row[2] for row in of_all["differing"].rows] == ["88", "1,088", "2,088", "3,088"]
    (shown,) = (
        part
        for part in durability_answer(codes(12)).parts()
        if isinstance(part, Shown) and part.name == "systems"
    )
    headings = [column.heading for column in shown.read().columns]
    assert headings == ["system", "storage overhead", "nines", "loss in a year", "MTTDL", "devices"]
    made = bursts_grid(simulated().bursts)
    # Four pieces lost at least, in as many racks.
    assert [column.heading for column in made.columns] == ["failures of", "4", "5", "6"]
    racks = [f"disks in {count} racks" for count in (4, 5, 6)]
    assert [row[0] for row in made.rows] == ["disks", *racks]
    assert list(made.rows[1]) == ["disks in 4 racks", "2.0e-5", "1.0e-4", "3.0e-4"]


def test_records_and_pages_have_every_figure_whole() -> None:
    endless = json.loads(json.dumps(durability_answer(never()).to_dict(), allow_nan=False))
    assert endless["nines"] is None and endless["mttdl_seconds"]["note"]
    read = json.loads(json.dumps(durability_answer(simulated()).to_dict()))
    assert read["loss_probability"]["trajectories"] == 400_000
    assert read["survival"][0] == {"time_seconds": 0.0, "survival": 1.0, "low": 1.0, "high": 1.0}
    head = render(durability_answer(simulated())).partition("<nav")[0].partition("</style>")[2]
    assert "2.3e\u20116" in head and "e-6" not in head


@pytest.mark.parametrize(
    ("yearly", "years", "is_drawn"),
    [
        # A straight line says nothing, nor does one digit of 1 - 3e-15.
        (3.1e-9, 1.0, False),
        (3e-15, 1.0, False),
        # 1 - exp(-1.5) is 0.777 and half as long gives 0.528, 68 % of it.
        (1.5, 1.0, True),
    ],
)
def test_a_course_is_drawn_where_it_is_no_straight_line(
    yearly: float, years: float, is_drawn: bool
) -> None:
    charts = durability_answer(answer(yearly=yearly, years=years, full=True)).charts()
    names = [one.name for one in charts]
    assert ("survival" in names) == is_drawn and names[0] == "causes"
    if is_drawn:
        assert charts[-1].heading == "78 % within a year, 68 % of it in the first half"
