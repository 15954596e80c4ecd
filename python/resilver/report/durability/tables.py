"""Tables of durability: words for people first, then the same in SI units for the CSV."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from resilver.data_loss.answer import Durability, Premise, nines
from resilver.figure import TOO_FEW, Figure
from resilver.report.durability import words
from resilver.tables import Table, table

if TYPE_CHECKING:
    import pyarrow as pa

_MTTDL = "MTTDL: mean time to data loss, the inverse of its rate; no system lasts that long."
_STARRED = "* Pareto-optimal: none with the same or lower storage overhead is safer."
ANSWER_WORDS, SENSITIVITY_WORDS = 4, 3
"""Columns of these tables that are for people; the rest are in SI units, for the CSV."""


def nines_between(figure: Figure) -> str:
    """The 95 % interval of nines; empty where it has none."""
    if not figure.has_interval:
        return TOO_FEW
    if not figure.value or not figure.low < figure.high:
        return ""
    ends = [nines(end) or 0.0 for end in (figure.high, figure.low)]
    least, most = (max(0.0, end) for end in ends)
    if figure.low <= 0.0:
        return f"over {least:.1f}"
    digits = 1 if f"{least:.1f}" != f"{most:.1f}" else 2
    return f"{least:.{digits}f} to {most:.{digits}f}"


Shows = tuple[Callable[[Figure], str], Callable[[Figure], str]]
"""What says a figure, and what says its 95 % interval."""
CHANCE: Shows = (words.chance, words.chance_between)
NINES: Shows = (words.nines_of, nines_between)
SPAN: Shows = (words.span, words.span_between)


def sizes(found: Durability) -> Shows:
    """The same of bytes, in the units in which sizes were given."""
    size, between = words.size, words.size_between
    return partial(size, is_decimal=found.is_decimal), partial(between, is_decimal=found.is_decimal)


def answer_table(found: Durability) -> Table:
    """The figures of one answer, a row each: what, value, 95 % interval, how."""
    rows: list[tuple[str, str, str, Figure]] = []

    def add(what: str, figure: Figure | None, shown: Shows) -> None:
        # Of what is not known the probability of a loss alone has a bound.
        if figure is not None and (figure.value is not None or figure.high < 1.0):
            value, between = shown
            rows.append((what, value(figure), between(figure), figure))

    mission = words.within(found)
    add(f"data lost {mission}", found.loss_probability, CHANCE)
    if not words.is_yearly(found):
        add("data lost in a year", found.annual, CHANCE)
    add("nines", found.annual, NINES)
    add("mean time to data loss", found.mttdl_seconds, SPAN)
    add(f"expected loss {mission}", found.expected_lost_bytes, sizes(found))
    add(f"a given object lost {mission}", found.object_loss_probability, CHANCE)
    return table(
        ("figure", "figure", "text", [row[0] for row in rows]),
        ("value", "value", "text", [row[1] for row in rows]),
        ("interval", "95 %", "text", [row[2] or None for row in rows]),
        ("method", "how", "text", [row[3].method for row in rows]),
        *_raw("si_value", [row[3] for row in rows]),
    )


def _raw(name: str, figures: Sequence[Figure | None]) -> list[tuple[str, str, str, list[Any]]]:
    """Columns of figures in SI units: the value and its interval, null where it has none."""

    def of(figure: Figure | None, end: str) -> float | None:
        found = None if figure is None else getattr(figure, end)
        return None if found is None or math.isnan(found) else found

    return [
        (column, heading, "number", [of(one, end) for one in figures])
        for end, column, heading in (
            ("value", name, "in SI units"),
            ("low", f"{name}_low", "low"),
            ("high", f"{name}_high", "high"),
        )
    ]


def compared_table(systems: Sequence[Durability]) -> Table:
    """Systems below each other, the safest first: what they cost, and how likely they lose data.

    Its first `compared_words` columns are for people.
    """
    named = dict(zip(map(id, systems), words.labels(systems), strict=True))
    unknown = [one for one in systems if one.annual.value is None]
    ordered = words.known(systems) + unknown
    line = [id(one) for one in words.pareto(systems)]
    texts = [column for column in _columns(ordered) if any(value for value in column[3])]
    if len(ordered) > 1 and words.have_one_overhead(ordered):
        texts = [column for column in texts if column[0] != "overhead"]
    stars = [] if words.have_one_overhead(ordered) else line
    names = [f"{named[id(one)]}{' *' * (id(one) in stars)}" for one in ordered]
    first = ("system", "system", "text", names)
    more: list[tuple[str, str, str, list[Any]]] = [
        ("code", "code", "text", [one.code for one in ordered]),
        ("groups", "groups", "count", [one.groups for one in ordered]),
        ("is_on_pareto_line", "Pareto-optimal", "count", [int(id(one) in line) for one in ordered]),
        ("nines", "nines", "number", [one.nines for one in ordered]),
        *_raw("annual_loss_probability", [one.annual for one in ordered]),
        *_raw("loss_probability", [one.loss_probability for one in ordered]),
        *_raw("mttdl_seconds", [one.mttdl_seconds for one in ordered]),
        *_raw("expected_lost_bytes", [one.expected_lost_bytes for one in ordered]),
        *_raw("object_loss_probability", [one.object_loss_probability for one in ordered]),
    ]
    notes = [_STARRED] * bool(stars)
    shown = {name for name, *_ in texts}
    notes += [_MTTDL] * ("mttdl" in shown)
    if shown & {"bytes", "object"}:
        lost = " Object lost: the probability that one given object is." * ("object" in shown)
        notes.append(f"Losses of bytes and objects are {words.within(ordered[0])}.{lost}")
    devices = ("devices", "devices", "count", [one.devices for one in ordered])
    return table(first, *texts, devices, *more, note=" ".join(notes))


def compared_words(made: Table) -> int:
    """How many columns of such a table are for people."""
    return [column.name for column in made.columns].index("code")


def _columns(ordered: Sequence[Durability]) -> list[tuple[str, str, str, list[Any]]]:
    """The columns for people, some of which may be empty."""

    def cells(name: str, text: Callable[[Figure], str]) -> list[str | None]:
        figures = [getattr(one, name) for one in ordered]
        return [None if one is None else text(one) or None for one in figures]

    are_alone = all(one.object_loss_probability == one.loss_probability for one in ordered)
    columns: list[tuple[str, str, str, list[Any]]] = [
        ("overhead", "storage overhead", "number", [one.overhead for one in ordered]),
        ("nines_words", "nines", "text", cells("annual", words.nines_of)),
        ("annual_words", "loss in a year", "text", cells("annual", words.chance)),
        ("interval", "95 %", "text", cells("annual", words.chance_between)),
        ("mttdl", "MTTDL", "text", cells("mttdl_seconds", words.span)),
        ("bytes", "expected loss", "text", [words.lost_size(one) for one in ordered]),
        ("object", "object lost", "text", cells("object_loss_probability", words.chance)),
    ]
    return columns[:-1] if are_alone else columns


def causes_table(systems: Sequence[Durability]) -> Table:
    """By what data is lost, the most frequent first; a column a system."""
    names = words.labels(systems)
    causes = cause_names(systems)
    heads = names if len(names) > 1 else ["share of losses"]
    columns = [
        (f"share_{rank}", head, "share", [one.causes.get(cause) for cause in causes])
        for rank, (head, one) in enumerate(zip(heads, systems, strict=True), 1)
    ]
    return table(("cause", "cause", "text", causes), *columns)


def cause_names(systems: Sequence[Durability]) -> list[str]:
    """The causes of all systems, those of most losses first."""
    found = dict.fromkeys(cause for one in systems for cause, share in one.causes.items() if share)
    return sorted(found, key=lambda cause: -sum(one.causes.get(cause, 0.0) for one in systems))


def premises_table(premises: Sequence[Premise]) -> Table:
    """What an answer rests on: what, value, origin, source."""
    return table(
        ("premise", "input", "text", [one.name for one in premises]),
        ("stated", "value", "text", [one.value for one in premises]),
        ("origin", "from", "text", [one.origin for one in premises]),
        ("source", "source", "text", [one.source or None for one in premises]),
    )


def sensitivity_rows(found: pa.Table | None) -> list[dict[str, Any]]:
    """What matters, the weightiest first."""
    rows = [] if found is None else found.to_pylist()
    rows = [one for one in rows if one["elasticity"] is not None]
    return sorted(rows, key=lambda one: -abs(one["elasticity"]))


def sensitivity_table(found: pa.Table | None) -> Table:
    """By what percentage a loss becomes likelier with one percent more of each rate."""
    rows = sensitivity_rows(found)
    return table(
        ("factor", "1 % more of", "text", [one["factor"] for one in rows]),
        ("effect", "changes it by", "text", [f"{one['elasticity']:+.1f} %" for one in rows]),
        ("interval", "95 %", "text", [_effect_between(one) for one in rows]),
        ("elasticity", "elasticity", "number", [one["elasticity"] for one in rows]),
        ("low", "low", "number", [one["low"] for one in rows]),
        ("high", "high", "number", [one["high"] for one in rows]),
    )


def _effect_between(one: dict[str, Any]) -> str | None:
    if one["low"] is None or one["high"] is None or not one["low"] < one["high"]:
        return None
    return f"{one['low']:+.1f} to {one['high']:+.1f} %"


def burst_words(row: dict[str, Any]) -> str:
    """The chance of a burst's loss, with its error where it was sampled."""
    value, error = row["loss_probability"], row["standard_error"] or 0.0
    return words.chance(burst_figure(value, error)) if value is not None else words.UNKNOWN


def burst_figure(value: float, error: float) -> Figure:
    """A sampled chance with its interval; exact where it has no error."""
    if not error:
        return Figure.exact(value)
    low, high = max(0.0, value - 1.96 * error), min(1.0, value + 1.96 * error)
    return Figure(value, low, high, "simulated", error / value if value else None)


def bursts_table(found: pa.Table) -> Table:
    """Failures at one moment: of what, how many, in how many parts, and how likely data is lost."""
    rows = found.to_pylist()
    figures = [burst_figure(one["loss_probability"], one["standard_error"] or 0.0) for one in rows]
    return table(
        ("failures", "failures", "count", [one["failures"] for one in rows]),
        ("level", "of", "text", [one["level"] for one in rows]),
        ("within", "in", "text", [within_words(one) for one in rows]),
        ("lost", "data lost", "text", [words.chance(one) for one in figures]),
        ("interval", "95 %", "text", [words.chance_between(one) or None for one in figures]),
        ("loss_probability", "probability", "number", [one["loss_probability"] for one in rows]),
        ("standard_error", "standard error", "number", [one["standard_error"] for one in rows]),
    )


def within_words(row: dict[str, Any]) -> str:
    """Where failures lie: ``anywhere``, ``3 racks``."""
    within = row["within"]
    if within is None:
        return "anywhere"
    return f"{within:,} {across_words(row) if within > 1 else row.get('across') or 'part'}"


def across_words(row: dict[str, Any]) -> str:
    """The parts that failures lie in, by what they are called."""
    return plural_of(str(row.get("across") or "part"))


def plural_of(level: str) -> str:
    """The plural of a level's name, if it is not one already."""
    return level if level.endswith("s") else f"{level}s"


def bursts_grid(found: pa.Table) -> Table | None:
    """The chances of bursts by where they lie and how many they are; None where all are 0.

    Columns are numbers of failures, from the fewest that lose data on.
    """
    rows = [one for one in found.to_pylist() if one["loss_probability"] is not None]
    counts = sorted({one["failures"] for one in rows if one["loss_probability"] > 0.0})
    if not counts:
        return None
    of = {(_place(one), one["failures"]): burst_words(one) for one in rows}
    places = list(dict.fromkeys(_place(one) for one in rows if one["loss_probability"] > 0.0))
    columns = [
        (
            f"failures_{count}",
            f"{count:,}",
            "text",
            [of.get((place, count), "n/a") for place in places],
        )
        for count in range(counts[0], max(one["failures"] for one in rows) + 1)
        if any((place, count) in of for place in places)
    ]
    note = "No other combination loses data."
    return table(("where", "failures of", "text", places), *columns, note=note)


def _place(row: dict[str, Any]) -> str:
    where = "" if row["within"] is None else f" in {within_words(row)}"
    return f"{plural_of(str(row['level']))}{where}"
