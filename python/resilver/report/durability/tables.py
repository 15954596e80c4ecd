"""Tables of durability: words for people first, then the same in SI units for the CSV."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from resilver.data_loss.answer import Durabilities, Durability, Premise, nines
from resilver.figure import TOO_FEW, Figure
from resilver.report.durability import words
from resilver.report.durability.source import have_one_overhead, is_yearly, labels, pareto, within
from resilver.tables import Column, Table, table

if TYPE_CHECKING:
    import pyarrow as pa

_ORIGINS = {
    "stated": "as asked",
    "study": "study",
    "catalog": "catalog",
    "simulated": "simulated",
    "dump": "dump",
    "default": "default",
    "assumed": "assumed",
}
_STARRED = (
    "Overhead is bytes kept for a byte of data. * is on the Pareto line: nothing as cheap is safer."
)
ANSWER_WORDS, PREMISE_WORDS, CAUSE_WORDS, SENSITIVITY_WORDS, BURST_WORDS = 4, 4, 2, 3, 5
"""Columns of these tables that are for people; the rest are in SI units, for the CSV."""


def answer_table(found: Durability) -> Table:
    """The figures of one answer, a row each: what, value, 95 % interval, how."""
    rows: list[tuple[str, str, str, Figure]] = []

    def add(what: str, figure: Figure | None, value: Any, between: Any) -> None:
        # Of what is not known the probability of a loss alone has a bound.
        if figure is not None and (figure.value is not None or figure.high < 1.0):
            rows.append((what, value(figure), between(figure), figure))

    mission = within(found)
    add(f"data lost {mission}", found.loss_probability, words.chance, words.chance_between)
    if not is_yearly(found):
        add("data lost in a year", found.annual, words.chance, words.chance_between)
    add("nines of a year", found.annual, words.nines_of, nines_between)
    add("mean time to data loss", found.mttdl_seconds, words.span, words.span_between)
    add(f"bytes lost {mission}", found.expected_lost_bytes, words.size, words.size_between)
    add(
        f"a given object lost {mission}",
        found.object_loss_probability,
        words.chance,
        words.chance_between,
    )
    return table(
        ("figure", "figure", "text", [row[0] for row in rows]),
        ("value", "value", "text", [row[1] for row in rows]),
        ("interval", "95 %", "text", [row[2] or None for row in rows]),
        ("method", "how", "text", [row[3].method for row in rows]),
        *_raw("si_value", [row[3] for row in rows]),
    )


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
    named = dict(zip(map(id, systems), labels(systems), strict=True))
    unknown = [one for one in systems if one.annual.value is None]
    ordered = sorted(
        (one for one in systems if one.annual.value is not None),
        key=lambda one: (one.annual.value or 0.0, one.overhead),
    )
    ordered += unknown
    line = [id(one) for one in pareto(systems)]
    texts = [column for column in _columns(ordered) if any(value for value in column[3])]
    if len(ordered) > 1 and have_one_overhead(ordered):
        texts = [column for column in texts if column[0] != "overhead"]
    stars = [] if have_one_overhead(ordered) else line
    names = [f"{named[id(one)]}{' *' * (id(one) in stars)}" for one in ordered]
    first = ("system", "system", "text", names)
    more: list[tuple[str, str, str, list[Any]]] = [
        ("code", "code", "text", [one.code for one in ordered]),
        ("devices", "devices", "count", [one.devices for one in ordered]),
        ("groups", "groups", "count", [one.groups for one in ordered]),
        ("is_on_pareto_line", "on the line", "count", [int(id(one) in line) for one in ordered]),
        ("nines", "nines", "number", [one.nines for one in ordered]),
        *_raw("annual_loss_probability", [one.annual for one in ordered]),
        *_raw("loss_probability", [one.loss_probability for one in ordered]),
        *_raw("mttdl_seconds", [one.mttdl_seconds for one in ordered]),
        *_raw("expected_lost_bytes", [one.expected_lost_bytes for one in ordered]),
        *_raw("object_loss_probability", [one.object_loss_probability for one in ordered]),
    ]
    note = (
        "Overhead is bytes kept for a byte of data. * is on the Pareto line: nothing as cheap is "
    )
    note += "safer."
    notes = [_STARRED] * bool(stars)
    if any(name in ("bytes", "object") for name, *_ in texts):
        notes.append(f"Bytes and objects are those lost {within(ordered[0])}.")
    return table(first, *texts, *more, note=" ".join(notes))


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
        ("overhead", "overhead", "number", [one.overhead for one in ordered]),
        ("nines_words", "nines", "text", cells("annual", words.nines_of)),
        ("annual_words", "lost a year", "text", cells("annual", words.chance)),
        ("interval", "95 %", "text", cells("annual", words.chance_between)),
        ("mttdl", "MTTDL", "text", cells("mttdl_seconds", words.span)),
        ("bytes", "bytes lost", "text", cells("expected_lost_bytes", words.size)),
        ("object", "object lost", "text", cells("object_loss_probability", words.chance)),
    ]
    return columns[:-1] if are_alone else columns


def causes_table(systems: Sequence[Durability]) -> Table:
    """By what data is lost, the most frequent first; a column a system."""
    names = labels(systems)
    causes = cause_names(systems)
    heads = names if len(names) > 1 else ["of lost pieces"]
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
    """What an answer rests on: what, value, whose, why."""
    return table(
        ("premise", "what", "text", [one.name for one in premises]),
        ("stated", "value", "text", [one.value for one in premises]),
        ("origin", "from", "text", [_ORIGINS[one.origin] for one in premises]),
        ("source", "why", "text", [one.source or None for one in premises]),
    )


def shared_premises(systems: Sequence[Durability]) -> list[Premise]:
    """The premises that all systems have alike."""
    first, *rest = (one.premises for one in systems)
    return [one for one in first if all(one in of for of in rest)]


def differing_premises_table(systems: Sequence[Durability]) -> Table | None:
    """What systems do not rest on alike, a row a system and premise; None where all is alike."""
    shared = shared_premises(systems)
    rows = [
        (name, one)
        for name, of in zip(labels(systems), systems, strict=True)
        for one in of.premises
        if one not in shared
    ]
    if not rows:
        return None
    made = premises_table([one for _, one in rows])
    named = [(name, *row) for (name, _), row in zip(rows, made.rows, strict=True)]
    return Table((Column("system", "system", "text"), *made.columns), named)


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
    return "anywhere" if row["within"] is None else f"{row['within']:,} {across_words(row)}"


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
        (f"failures_{count}", f"{count:,}", "text", [of.get((place, count)) for place in places])
        for count in range(counts[0], max(one["failures"] for one in rows) + 1)
        if any((place, count) in of for place in places)
    ]
    note = "No other of these bursts loses data."
    return table(("where", "failures of", "text", places), *columns, note=note)


def _place(row: dict[str, Any]) -> str:
    where = "" if row["within"] is None else f" in {within_words(row)}"
    return f"{plural_of(str(row['level']))}{where}"


def durability_tables(found: Durability | Durabilities) -> dict[str, Table]:
    """All tables of an answer by name, each with a column that names the system.

    Args:
        found: The answer for one system or several.
    """
    systems = (found,) if isinstance(found, Durability) else found.systems
    made = {
        "systems": compared_table(systems),
        "causes": _together(systems, lambda one: causes_table((one,)) if one.causes else None),
        "survival": _together(systems, lambda one: _arrow(one.survival)),
        "bursts": _together(systems, lambda one: one.bursts and bursts_table(one.bursts)),
        "sensitivity": _together(
            systems, lambda one: one.sensitivity and sensitivity_table(one.sensitivity)
        ),
        "premises": _together(systems, lambda one: premises_table(one.premises)),
    }
    return {name: one for name, one in made.items() if one is not None and one.rows}


def _together(
    systems: Sequence[Durability], of: Callable[[Durability], Table | None]
) -> Table | None:
    """The tables of systems below each other."""
    made = [(name, of(one)) for name, one in zip(labels(systems), systems, strict=True)]
    found = [(name, one) for name, one in made if one is not None]
    if not found:
        return None
    rows = [(name, *row) for name, one in found for row in one.rows]
    return Table((Column("system", "system", "text"), *found[0][1].columns), rows)


def _arrow(found: pa.Table | None) -> Table | None:
    """A table of Arrow as it is."""
    if found is None:
        return None
    columns = tuple(Column(name, name, "number") for name in found.column_names)
    return Table(columns, [list(row.values()) for row in found.to_pylist()])
