"""The layers of a file system on a page: what each loses, what binds, what culling brings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from resilver.answer import Answer, Form, Part, Shown, sections_of
from resilver.charts.named import bars
from resilver.charts.scales import decimal_scale
from resilver.charts.style import BLUE, VERMILLION
from resilver.charts.vega import Chart, Spec, axis, rows, tip
from resilver.quantities import decimal_rate
from resilver.report.benchmarks import cost_sentences, costs_table
from resilver.report.culling import culling_sentence, heat_chart, rounds_chart
from resilver.tables import Table, table_of
from resilver.words import plural

if TYPE_CHECKING:
    from resilver.center.layering import Layer, LayerProfile


_KINDS = ("passes", "binds")


def layer_sentences(profile: LayerProfile) -> list[str]:
    """What clients get, the bottleneck, and where most is lost, a sentence each."""
    bottleneck, clients = profile.binding, plural(profile.clients, "client")
    said = [f"{clients} get {decimal_rate(profile.rate_bytes_per_second)} together."]
    if bottleneck.layer == "clients":
        said.append("They ask for no more; no part of the system is a bottleneck.")
    else:
        bound = bottleneck.bound
        of = "all clients" if bound == profile.clients else plural(bound, "client")
        most = f", of most {bottleneck.binding}" if bottleneck.parts > 1 else ""
        said.append(f"The bottleneck of {of} is the {bottleneck.layer} level{most}.")
    worst = max(profile.layers, key=lambda layer: layer.lost_bytes_per_second)
    if worst.lost_bytes_per_second > 0:
        lost = f"{decimal_rate(worst.lost_bytes_per_second)}, {100 * worst.lost_share:.3g} %"
        said.append(f"The {worst.layer} level loses most: {lost} of what the level below passes.")
    if profile.target_bytes_per_second is not None:
        verdict = "is met" if profile.is_met else "is not met"
        share = profile.rate_bytes_per_second / profile.target_bytes_per_second
        target = decimal_rate(profile.target_bytes_per_second)
        said.append(f"The target of {target} {verdict}: clients get {100 * share:.4g} % of it.")
    said += _measured_sentences(profile) + cost_sentences(profile.costs)
    return said + culled_sentences(profile)


def _measured_sentences(profile: LayerProfile) -> list[str]:
    """How far measured rates are below expected ones."""
    known = [one for one in profile.measured if one.of_expected is not None]
    if not profile.measured:
        return []
    if not known:
        return ["No measured rate is of the study's own requests, so none is compared."]
    least = min(known, key=lambda one: one.of_expected or 0.0)
    share = f"{100 * (least.of_expected or 0.0):.3g} % of expected"
    if (least.of_expected or 0.0) >= 1.0:
        return [f"No measured rate is below the expected one; {least.layer} is nearest: {share}."]
    return [f"Measured rates are lowest at {least.layer}: {share}."]


def layers_table(profile: LayerProfile) -> Table:
    """The layers, from devices to clients, a row each."""
    return table_of(
        profile.layers,
        ("layer", "layer", "text"),
        ("stacked_bytes_per_second", "stacked", "TB/s"),
        ("lost_bytes_per_second", "lost", "TB/s"),
        ("lost_share", "share", "share"),
        ("binding", "bottleneck", "text"),
        ("alone_bytes_per_second", "alone", "TB/s"),
        ("parts", "parts", "count"),
        note="Alone: if this layer were the only limit. Stacked: behind all layers above it here.",
    )


def waterfall_chart(found: LayerProfile) -> Chart:
    """What each layer passes behind those below it, and what is lost there."""
    binding = found.binding
    heading = f"Clients get {decimal_rate(found.rate_bytes_per_second)}"
    if binding.layer != "clients":
        heading += f"; the {binding.layer} level is the bottleneck"
    text = (
        "From devices to clients. A full bar is what this layer passes behind all above it here, "
        "the pale end what is lost at it; the mark is what the layer would pass alone, where that "
        "is not beyond the chart. A bottleneck has its own colour."
    )
    return Chart(
        "layers",
        heading,
        text,
        lambda: _waterfall(found.layers),
        layers_table(found),
        "Layers",
        printed=40,
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
        label=[decimal_rate(value) for value in stacked],
        parts=[one.parts for one in shown],
    )
    across = axis("x", f"rate of all clients ({scale.unit})", ends=(0.0, most / scale.divisor))
    read = tip(("name", "layer"), ("parts", "parts"), ("x", scale.unit), ("mark", "alone"))
    kinds = dict(zip(_KINDS, (BLUE, VERMILLION), strict=True))
    return bars(data, across, kinds, room=110, read=read)


def layers_answer(profile: LayerProfile) -> Answer:
    """The answer of a profile of layers."""
    culled, target = profile.culled, decimal_rate(profile.target_bytes_per_second or 0.0)
    made = table_of(
        profile.needed,
        ("level", "level", "text"),
        ("parts", "parts", "count"),
        ("each_bytes_per_second", "each needs", "TB/s"),
    )
    needed = Shown("needed", f"What each part needs for {target}", made)
    beside = table_of(
        profile.measured,
        ("layer", "layer", "text"),
        ("rate_bytes_per_second", "measured", "TB/s"),
        ("expected_bytes_per_second", "expected", "TB/s"),
        ("of_expected", "of it", "share"),
        ("parts", "parts", "count"),
        ("mode", "mode", "text"),
        ("size", "size", "bytes"),
        filled=True,
    )
    measured = Shown("measured", "Measured and expected rates", beside)
    costs = Shown("costs", "What the layer above costs", costs_table(profile.costs))
    return Answer(
        profile.title or "The layers of a file system",
        layer_sentences(profile),
        sections_of(
            ("Layers", [waterfall_chart(profile)]),
            ("What each part needs", [needed] if profile.needed else []),
            ("Measured rates", [measured] if profile.measured else []),
            ("What layers cost", [costs] if profile.costs else []),
            ("Disks before and after culling", culled_parts(profile)),
        ),
        profile.to_dict(),
        profile.holds,
        notes=profile.notes,
        forms={} if culled is None else {".toml": Form(lambda: culled.toml)},
    )


def culled_sentences(found: LayerProfile) -> list[str]:
    """What culling comes to, a sentence each; none where it was not asked."""
    from resilver.center.profiling import reference_words

    culled = found.culled
    if culled is None:
        return []
    first = culled.cullings[0]
    groups, within = plural(len(culled.groups), culled.level), f"{100 * culled.within:g} %"
    words = reference_words(culled.of)
    if len(first.rounds) == 1 and first.holds and len(culled.cullings) == 1:
        return [f"All {groups} are within {within} of {words}: no disk is replaced."]
    outside = first.rounds[1].outside if len(first.rounds) > 1 else 0
    are = "is" if outside == 1 else "are"
    said = [f"{outside:,} of {groups} {are} more than {within} below {words}."]
    said.append(culling_sentence(culled.cullings, culled.within, "drawn as the study's own"))
    before, after = found.rate_bytes_per_second, culled.after.rate_bytes_per_second
    gain = 100.0 * (after / before - 1.0) if before else 0.0
    rate = decimal_rate(after)
    if abs(gain) < 0.01:
        binding = culled.after.binding.layer
        why = f"the {binding} level is their bottleneck"
        why = "they ask for no more" if binding == "clients" else why
        said.append(f"Clients still get {rate}: {why}.")
    else:
        way = "more" if gain > 0 else "less"
        said.append(f"Clients then get {rate}, {abs(gain):.3g} % {way}.")
    return said


def culled_parts(found: LayerProfile) -> list[Part | None]:
    """The rounds and the groups before and after them, under the first seed."""
    culled = found.culled
    if culled is None:
        return []
    one = culled.cullings[0]
    heat = heat_chart(
        [("before", one.before), ("after", one.after)],
        culled.groups,
        [f"unit {unit}" for unit in culled.units],
        culled.within,
        culled.of,
    )
    if len(one.rounds) == 1:
        return [heat]
    return [rounds_chart(one), heat]
