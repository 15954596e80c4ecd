"""Measured rates of layers in tables and sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from resilver.tables import Cell, Table, cell_text, table
from resilver.words import plural

if TYPE_CHECKING:
    from resilver.center.benchmarks import LayerCost
    from resilver.importers.benchmarks import Benchmark

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
    columns: list[tuple[str, str, str, list[Cell]]] = [
        ("layer", "layer", "text", [one.layer for one in rows]),
        ("test", "test", "text", [one.test for one in rows]),
        ("request_bytes", "size", "bytes", [one.request_bytes for one in rows]),
        ("value", "rate", "text", [_rate(one) for one in rows]),
        ("device", "device", "text", [one.device or None for one in rows]),
        ("queue", "queue", "count", [one.queue for one in rows]),
        ("threads", "threads", "count", [one.threads for one in rows]),
        ("clients", "clients", "count", [one.clients for one in rows]),
        ("devices", "devices", "count", [one.devices for one in rows]),
        ("skew_bytes_per_second", "skew", "TB/s", [one.skew_bytes_per_second for one in rows]),
        ("program", "program", "text", [one.program for one in rows]),
    ]
    return table(*[one for one in columns if any(value is not None for value in one[3])])


def costs_table(costs: Sequence[LayerCost]) -> Table:
    """What layers cost, a row a mode, a size and a pair of layers."""
    return table(
        ("mode", "mode", "text", [one.mode for one in costs]),
        ("request_bytes", "size", "bytes", [one.request_bytes for one in costs]),
        ("above", "layer", "text", [one.above for one in costs]),
        ("above_bytes_per_second", "rate", "TB/s", [one.above_bytes_per_second for one in costs]),
        ("below", "below it", "text", [one.below for one in costs]),
        ("below_bytes_per_second", "rate", "TB/s", [one.below_bytes_per_second for one in costs]),
        ("cost", "cost", "text", [f"{100 * one.cost:.3g} %" for one in costs]),
        note="Cost: 1 less the rate over that of the layer below, of as many devices where known.",
    )
