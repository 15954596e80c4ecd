"""The layers of a file system on a page: what each loses, what binds, and what was measured."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from resilver.answer.document import Document
from resilver.charts.chart import Chart
from resilver.charts.named import bars
from resilver.charts.scales import decimal_scale
from resilver.charts.style import BLUE, VERMILLION
from resilver.charts.vega import Spec, rows, tip
from resilver.charts.vega import number as axis
from resilver.report.benchmarks import cost_sentences, costs_table
from resilver.report.culled import culled_charts, culled_sentences
from resilver.report.judged import PageSection, write_judged
from resilver.tables import Table, cell_text, table_of
from resilver.words import plural

if TYPE_CHECKING:
    from resilver.center.layering import Layer, LayerProfile

_KINDS = ("passes", "binds")


def _rate(value: float) -> str:
    return cell_text(value, "TB/s")


def layer_sentences(found: LayerProfile) -> list[str]:
    """What the layers come to, a sentence each."""
    binding = found.binding
    each = plural(found.clients, "client")
    said = [f"{each} get {_rate(found.rate_bytes_per_second)} together."]
    if binding.layer == "clients":
        said.append("That is all that they ask for; no part binds them.")
    else:
        who = "all of them" if binding.bound == found.clients else f"{binding.bound:,} of them"
        first = f", most at {binding.binding}" if binding.parts > 1 and binding.binding else ""
        said.append(f"The {binding.layer} level binds {who}{first}.")
    worst = max(found.layers, key=lambda one: one.lost_bytes_per_second)
    if worst.lost_bytes_per_second > 0:
        lost = f"{_rate(worst.lost_bytes_per_second)}, {100 * worst.lost_share:.3g} %"
        said.append(f"Most is lost at {worst.layer}: {lost} of what those before it leave.")
    if found.target_bytes_per_second is not None:
        verdict = "is met" if found.is_met else "is not met"
        share = found.rate_bytes_per_second / found.target_bytes_per_second
        target = _rate(found.target_bytes_per_second)
        said.append(f"The target of {target} {verdict}: they get {100 * share:.4g} % of it.")
    said += _measured_sentences(found) + cost_sentences(found.costs)
    return said + culled_sentences(found)


def _measured_sentences(found: LayerProfile) -> list[str]:
    """What measured rates come to beside expected ones."""
    known = [one for one in found.measured if one.of_expected is not None]
    if not found.measured:
        return []
    if not known:
        return ["No measured rate is of the study's own requests, so none is compared."]
    least = min(known, key=lambda one: one.of_expected or 0.0)
    share = 100 * (least.of_expected or 0.0)
    text = f"Measured is furthest below expected at {least.layer}: {share:.3g} %"
    if share >= 100:
        text = f"Measured is nowhere below expected; nearest at {least.layer}: {share:.3g} %"
    return [f"{text}."]


def layers_table(found: LayerProfile) -> Table:
    """The layers, from devices to clients, a row each."""
    return table_of(
        found.layers,
        ("layer", "layer", "text"),
        ("alone_bytes_per_second", "alone", "TB/s"),
        ("stacked_bytes_per_second", "stacked", "TB/s"),
        ("lost_bytes_per_second", "lost", "TB/s"),
        ("lost_share", "share", "share"),
        ("parts", "parts", "count"),
        ("binding", "binds", "text"),
        note="Alone: where this layer is the only one. Stacked: behind all layers above it here.",
    )


def needed_table(found: LayerProfile) -> Table:
    """What each part must pass for the target."""
    return table_of(
        found.needed,
        ("level", "level", "text"),
        ("parts", "parts", "count"),
        ("each_bytes_per_second", "each needs", "TB/s"),
    )


def measured_table(found: LayerProfile) -> Table:
    """Measured rates beside expected ones; columns without a value are left out."""
    return table_of(
        found.measured,
        ("layer", "layer", "text"),
        ("rate_bytes_per_second", "measured", "TB/s"),
        ("expected_bytes_per_second", "expected", "TB/s"),
        ("of_expected", "of it", "share"),
        ("parts", "parts", "count"),
        ("mode", "mode", "text"),
        ("size", "size", "bytes"),
        filled=True,
    )


def layer_tables(found: LayerProfile) -> list[tuple[str, Table]]:
    """All tables of a profile, with their titles."""
    made = [("Layers", layers_table(found))]
    if found.needed:
        target = _rate(found.target_bytes_per_second or 0.0)
        made.append((f"What each part needs for {target}", needed_table(found)))
    if found.measured:
        made.append(("Measured beside expected", measured_table(found)))
    if found.costs:
        made.append(("What the layer above costs", costs_table(found.costs)))
    return made


def waterfall_chart(found: LayerProfile) -> Chart:
    """What each layer passes behind those below it, and what is lost there.

    Args:
        found: The profile.
    """
    binding = found.binding
    heading = f"Clients get {_rate(found.rate_bytes_per_second)}"
    if binding.layer != "clients":
        heading += f"; the {binding.layer} level binds"
    text = (
        "From devices to clients. A full bar is what is left behind this layer and all above it "
        "here, the pale end what is lost at it; the mark is what the layer would pass alone, where "
        "that is not beyond the chart. A layer that binds clients has its own colour."
    )
    return Chart(
        "layers", heading, text, lambda: _waterfall(found.layers), layers_table(found), "layers"
    )


def _waterfall(layers: tuple[Layer, ...]) -> Spec:
    shown = [one for one in layers if one.stacked_bytes_per_second is not None]
    stacked = [one.stacked_bytes_per_second or 0.0 for one in shown]
    # What is written behind the longest bar has room on the narrowest page too.
    most = 1.55 * max(stacked)
    scale = decimal_scale(most, "B/s")
    alone = [one.alone_bytes_per_second for one in shown]
    data = rows(
        name=[one.layer for one in shown],
        kind=[_KINDS[one.bound > 0] for one in shown],
        x=[value / scale.divisor for value in stacked],
        x2=[
            (value + one.lost_bytes_per_second) / scale.divisor
            for one, value in zip(shown, stacked, strict=True)
        ],
        mark=[
            None if value is None or value > 0.8 * most else value / scale.divisor
            for value in alone
        ],
        label=[_rate(value) for value in stacked],
        parts=[one.parts for one in shown],
    )
    across = axis("x", f"rate of all clients ({scale.unit})", ends=(0.0, most / scale.divisor))
    read = tip(("name", "layer"), ("parts", "parts"), ("x", scale.unit), ("mark", "alone"))
    kinds = dict(zip(_KINDS, (BLUE, VERMILLION), strict=True))
    return bars(data, across, kinds, room=110, read=read)


def write_layers(found: LayerProfile, path: str | Path, command: str = "") -> Path:
    """Write the page of a profile.

    Args:
        found: The profile.
        path: The file to write; it is replaced in one step.
        command: What makes it again.

    Raises:
        ConfigError: The file cannot be written.
    """
    page = Document()
    figure = page.figure(waterfall_chart(found))
    sections = []
    for rank, (heading, made) in enumerate(layer_tables(found)):
        parts = [figure] if rank == 0 else []
        parts.append(page.shown(f"table-{rank}", heading, made))
        sections.append(PageSection(heading, (), parts))
    if charts := culled_charts(found):
        figures = [page.figure(chart) for chart in charts]
        sections.append(PageSection("Disks before and after culling", (), figures))
    title = found.title or "The layers of a file system"
    told = {"Made by": command}
    if found.notes:
        sections.append(
            PageSection("What was left out of measured rates, and taken for what", found.notes)
        )
    return write_judged(page, path, title, layer_sentences(found), sections, told)
