"""Measured rates of layers in tables and sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from resilver.answer import Answer, Form, Shown, sections_of
from resilver.tables import Table, cell_text, table_of
from resilver.words import plural

if TYPE_CHECKING:
    from resilver.center.benchmarks import LayerCost
    from resilver.importers.benchmarks import Benchmark, Benchmarks

MODE_WORDS = {
    "read": "sequential reads",
    "write": "sequential writes",
    "randread": "random reads",
    "randwrite": "random writes",
}
"""The modes in words."""


def layer_sentences(rows: Sequence[Benchmark], costs: Sequence[LayerCost]) -> list[str]:
    """What was measured, and where the layer above costs most, a sentence each."""
    counts = Counter((one.layer, one.program) for one in rows)
    said = [
        f"{plural(count, 'rate')} of {layer} by {program}."
        for (layer, program), count in counts.items()
    ]
    return said + cost_sentences(costs)


def cost_sentences(costs: Sequence[LayerCost]) -> list[str]:
    """Where each layer costs most of the one below it, a sentence a layer."""
    said = []
    for above in dict.fromkeys(one.above for one in costs):
        worst = max((one for one in costs if one.above == above), key=lambda one: one.cost)
        kind = f"{MODE_WORDS[worst.mode]} of {cell_text(worst.request_bytes, 'bytes')}"
        below = f"what {worst.below} measures"
        text = f"The {above} costs most at {kind}: {100 * worst.cost:.3g} % of {below}."
        if worst.cost <= 0.0:
            text = f"The {above} costs nothing: it is nowhere slower than {below}."
        said.append(text)
    return said


def _rate(one: Benchmark) -> str:
    """A rate of data or of operations for people."""
    if one.bytes_per_second is not None:
        return cell_text(one.bytes_per_second, "TB/s")
    return f"{one.operations_per_second or 0.0:,.0f}/s"


def benchmarks_table(rows: Sequence[Benchmark]) -> Table:
    """The rates, a row each; columns that no row fills are left out."""
    return table_of(
        rows,
        ("layer", "layer", "text"),
        ("test", "test", "text"),
        ("request_bytes", "size", "bytes"),
        ("value", "rate", "text", _rate),
        ("device", "device", "text", lambda one: one.device or None),
        ("queue", "queue", "count"),
        ("threads", "threads", "count"),
        ("clients", "clients", "count"),
        ("devices", "devices", "count"),
        ("skew_bytes_per_second", "skew", "TB/s"),
        ("program", "program", "text"),
        filled=True,
    )


def costs_table(costs: Sequence[LayerCost]) -> Table:
    """What layers cost, a row a mode, a size and a pair of layers."""
    return table_of(
        costs,
        ("mode", "mode", "text"),
        ("request_bytes", "size", "bytes"),
        ("above", "layer", "text"),
        ("below", "below it", "text"),
        ("cost", "cost", "text", lambda one: f"{100 * one.cost:.3g} %"),
        ("above_bytes_per_second", "rate", "TB/s"),
        ("below_bytes_per_second", "rate below it", "TB/s"),
        note="Cost: 1 - the rate / that of the layer below, of as many devices where known.",
    )


def benchmarks_answer(found: Benchmarks, costs: Sequence[LayerCost]) -> Answer:
    """The answer of what benchmark programs wrote."""
    from resilver.importers.benchmarks import own

    use = "resilver profile STUDY --measured reads it"
    rates = Shown("rates", "Rates", benchmarks_table(found.rows))
    above = Shown("costs", "What the layer above costs", costs_table(costs))
    return Answer(
        "Measured rates of layers",
        layer_sentences(found.rows, costs),
        sections_of(("Rates", [rates]), ("What layers cost", [above] if costs else [])),
        {
            "rates": found.to_dicts(),
            "costs": [{**asdict(one), "cost": one.cost} for one in costs],
            "notes": list(found.notes),
        },
        notes=found.notes,
        forms={
            ".csv": Form(lambda: own.to_csv(found), use),
            ".parquet": Form(lambda: own.to_parquet(found), use),
        },
    )
