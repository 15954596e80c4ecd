"""Slow disks on a page: groups against the envelope, before and after, and rounds of culling."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from resilver.answer.document import Document
from resilver.answer.figure_tables import figures_table
from resilver.charts.chart import Chart
from resilver.charts.idioms import curve, lines, points, series
from resilver.charts.vega import Spec, rows, tip
from resilver.charts.vega import number as axis
from resilver.report.arrays import Floats
from resilver.report.group_heat import heat_chart
from resilver.report.judged import PageSection, write_judged
from resilver.tables import Cell, Table, table
from resilver.words import plural

if TYPE_CHECKING:
    from resilver.center.culling import Culling
    from resilver.center.profiling import LotProfile, MeasuredProfile


def measured_sentences(found: MeasuredProfile) -> list[str]:
    """What measured groups come to, a sentence each."""
    within, groups = f"{100 * found.judged.within:g} %", len(found.rates.groups)
    of = "the fastest of its unit" if found.judged.of == "fastest" else "the average"
    if found.holds:
        return [f"All {plural(groups, 'group')} are within {within} of {of}."]
    figures = {figure.key: figure.value for figure in found.figures}
    text = f"{len(found.next):,} of {plural(groups, 'group')} are more than {within} below {of}"
    first = found.next[0]
    what = f"group {first.group}" if first.disk is None else f"disk {first.disk} of {first.group}"
    said = [f"{text}; replace {what} first."]
    at_least = "at least " if found.rates.disk_rates is None else ""
    said.append(
        f"Replacing the slowest of each gains {at_least}{100 * figures['slowest_gain']:.3g} % for "
        f"a file over all groups, and {100 * figures['mean_gain']:.3g} % on average."
    )
    if found.cullings:
        said.append(culling_sentence(found.cullings, found.judged.within))
    return said


def culling_sentence(
    cullings: Sequence[Culling], within: float, new: str = "of the same lot"
) -> str:
    """How many disks are replaced in how many rounds.

    Args:
        cullings: One a draw.
        within: The envelope.
        new: What new disks are.
    """
    if not all(one.holds for one in cullings):
        return (
            f"New disks do not bring all groups within {100 * within:g} %: where they are {new}, "
            "their own spread is too wide."
        )
    replaced = [one.replaced for one in cullings]
    rounds = [len(one.rounds) - 1 for one in cullings]
    middle, turns = statistics.median(replaced), statistics.median(rounds)
    count = len(replaced)
    ends = f" (min {min(replaced):,}, max {max(replaced):,} of {count} draws)" * (count > 1)
    disks, were = ("disk", "is") if middle == 1 else ("disks", "are")
    return (
        f"Until all are within {100 * within:g} %, {middle:,.0f} {disks}{ends} {were} replaced in "
        f"{turns:g} round{'s' if turns != 1 else ''}, where new disks are {new}."
    )


def lot_sentences(found: LotProfile) -> list[str]:
    """What a lot comes to, a sentence each."""
    figures = {figure.key: figure.value for figure in found.figures}
    said = [culling_sentence(found.cullings, found.within)]
    if found.holds:
        said.append(
            f"The mean group gains {100 * figures['drawn_gain']:.3g} %, and a file over all groups "
            f"{100 * figures['drawn_slowest_gain']:.3g} %."
        )
    return said


def next_table(found: MeasuredProfile) -> Table:
    """What to replace next, the slowest first."""
    these = found.next
    columns: list[tuple[str, str, str, list[Cell]]] = [
        ("group", "group", "text", [one.group for one in these]),
        ("rate_bytes_per_second", "rate", "TB/s", [one.rate_bytes_per_second for one in these]),
        ("least_bytes_per_second", "least", "TB/s", [one.least_bytes_per_second for one in these]),
    ]
    if len(set(found.rates.units)) > 1:
        columns.insert(0, ("unit", "unit", "text", [one.unit for one in these]))
    if found.rates.disk_rates is not None:
        rates: list[Cell] = [one.disk_bytes_per_second for one in these]
        columns.append(("disk", "slowest disk", "text", [one.disk for one in these]))
        columns.append(("disk_bytes_per_second", "its rate", "TB/s", rates))
    return table(*columns)


def rounds_table(one: Culling) -> Table:
    """The rounds of one draw."""
    top = one.rounds[0]
    return table(
        ("round", "round", "count", range(len(one.rounds))),
        ("outside", "outside", "count", [each.outside for each in one.rounds]),
        ("replaced", "replaced so far", "count", [each.replaced for each in one.rounds]),
        ("mean_share", "mean group", "number", [each.mean / top.mean for each in one.rounds]),
        ("slowest", "slowest group", "number", [each.slowest / top.mean for each in one.rounds]),
        note="Rates over the mean group's before any round.",
    )


def rounds_chart(one: Culling) -> Chart:
    """The mean and the slowest group by round.

    Args:
        one: The draw.
    """
    base = one.rounds[0].mean
    heading = (
        f"{one.replaced:,} disks in {len(one.rounds) - 1} rounds bring the slowest group "
        f"{100 * (one.slowest_gain - 1):.3g} % up"
    )
    text = (
        "The rate of the mean and of the slowest group by disks replaced, over the mean group's "
        "before; a point is a round. A file over all groups moves at the slowest group's rate."
    )
    kinds = ("mean group", "slowest group")

    def spec() -> Spec:
        data = rows(
            kind=[kind for kind in kinds for _ in one.rounds],
            x=[each.replaced for each in one.rounds] * 2,
            y=[each.mean / base for each in one.rounds]
            + [each.slowest / base for each in one.rounds],
            text=[f"round {number}" for number in range(len(one.rounds))] * 2,
        )
        read = tip(("text", "round"), ("x", "replaced"), ("y", "rate"))
        upwards = axis("y", "rate of a group", zero=False)
        return lines(
            data, axis("x", "disks replaced"), upwards, series(kinds), dots="true", read=read
        )

    return Chart("rounds", heading, text, spec, rounds_table(one), "rounds")


def envelope_chart(found: MeasuredProfile) -> Chart:
    """Measured groups from the slowest to the fastest, with what each must have.

    Args:
        found: The profile.
    """
    order = np.argsort(found.judged.rates, kind="stable")
    rates: Floats = found.judged.rates[order] / 1e6
    least: Floats = found.judged.least[order] / 1e6
    outside = len(found.next)
    heading = f"{outside:,} of {plural(len(rates), 'group')} lie below the envelope"
    text = "Groups from the slowest to the fastest, and dashed the least that each must move."
    kinds = ("within", "outside")

    def spec() -> Spec:
        ranks = range(1, len(rates) + 1)
        data = rows(
            x=ranks,
            y=rates,
            least=least,
            kind=[kinds[bool(a < b)] for a, b in zip(rates, least, strict=True)],
            text=[found.rates.groups[int(at)] for at in order],
        )
        across = axis("x", "group, from the slowest", ends=(0.0, len(rates) + 1.0))
        upwards = axis("y", "rate (MB/s)", zero=False)
        read = tip(("text", "group"), ("y", "MB/s"), ("least", "least"))
        over = [curve(ranks, least.tolist(), interpolate="step")]
        return points(data, across, upwards, series(kinds), read=read, over=over)

    made = table(
        ("group", "group", "text", [found.rates.groups[int(at)] for at in order]),
        ("rate_bytes_per_second", "rate", "TB/s", (1e6 * rates).tolist()),
        ("least_bytes_per_second", "least", "TB/s", (1e6 * least).tolist()),
    )
    return Chart("envelope", heading, text, spec, made, "groups by rate")


def write_measured(found: MeasuredProfile, path: str | Path, command: str = "") -> Path:
    """Write the page of measured groups.

    Args:
        found: The profile.
        path: The file to write; it is replaced in one step.
        command: What makes it again.

    Raises:
        ConfigError: The file cannot be written.
    """
    from resilver.center.profiling import median_draw

    page = Document()
    parts = [page.figure(envelope_chart(found))]
    parts.append(page.shown("figures", "What it comes to", figures_table(found.figures), 3))
    sections = [PageSection("The groups", (), parts)]
    if found.next:
        made = page.shown("next", "The slowest first", next_table(found))
        sections.append(PageSection("What to replace next", (), [made]))
    groups, units = found.rates.groups, found.rates.units
    states = [("as measured", found.judged.rates)]
    if found.cullings:
        one = median_draw(found.cullings)
        states = [("before", one.before), ("after", one.after)]
        text = "New disks are drawn among the measured ones; of several draws, the one whose "
        text += "number of replaced disks is the median."
        parts = [page.figure(rounds_chart(one))]
        sections.append(PageSection("Rounds to come", (text,), parts))
    heat = heat_chart(states, groups, units, found.judged.within, found.judged.of)
    if heat is not None:
        sections.append(PageSection("Every group", (), [page.figure(heat)]))
    told = {"Made by": command}
    title = "Groups against the envelope"
    return write_judged(page, path, title, measured_sentences(found), sections, told)


def write_lot(found: LotProfile, path: str | Path, command: str = "") -> Path:
    """Write the page of a lot.

    Args:
        found: The profile.
        path: The file to write; it is replaced in one step.
        command: What makes it again.

    Raises:
        ConfigError: The file cannot be written.
    """
    from resilver.center.profiling import median_draw

    page = Document()
    one, lot = median_draw(found.cullings), found.file.lot.lot
    names = [f"group {number}" for number in range(lot.groups)]
    units = [f"unit {number // (lot.groups // lot.units)}" for number in range(lot.groups)]
    states = [("before", one.before), ("after", one.after)]
    charts = [rounds_chart(one), heat_chart(states, names, units, found.within, found.of)]
    parts = [page.figure(chart) for chart in charts if chart is not None]
    figures = page.shown("figures", "Closed forms and draws", figures_table(found.figures), 3)
    sections = [
        PageSection("Rounds of culling", (), parts),
        PageSection("Figures", (), [figures]),
    ]
    told = {"Source": found.file.source, "Made by": command}
    title = found.file.description.rstrip(".") or "Slow disks of a lot"
    return write_judged(page, path, title, lot_sentences(found), sections, told)
