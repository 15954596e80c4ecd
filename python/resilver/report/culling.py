"""Slow disks on a page: groups against the envelope, before and after, and rounds of culling."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from resilver.answer import Answer, Part, Shown, sections_of
from resilver.answer.figure_tables import figures_table
from resilver.charts.chart import Chart
from resilver.charts.idioms import curve, lines, points, series
from resilver.charts.vega import Spec, axis, rows, tip
from resilver.report.arrays import Floats
from resilver.report.group_heat import heat_chart
from resilver.tables import Table, table, table_of
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
            f"New disks {new} do not bring all groups within {100 * within:g} %: they spread too "
            "widely themselves."
        )
    replaced = [one.replaced for one in cullings]
    rounds = [len(one.rounds) - 1 for one in cullings]
    middle, turns = statistics.median(replaced), statistics.median(rounds)
    count = len(replaced)
    ends = f" (min {min(replaced):,}, max {max(replaced):,} of {count} draws)" * (count > 1)
    disks, were = ("disk", "is") if middle == 1 else ("disks", "are")
    return (
        f"{middle:,.0f} {disks}{ends} {were} replaced in {turns:g} round{'s' * (turns != 1)} until "
        f"all groups are within {100 * within:g} %, with new disks {new}."
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
    several = len(set(found.rates.units)) > 1
    return table_of(
        found.next,
        ("unit", "unit", "text", lambda one: one.unit if several else None),
        ("group", "group", "text"),
        ("rate_bytes_per_second", "rate", "TB/s"),
        ("least_bytes_per_second", "least", "TB/s"),
        ("disk", "slowest disk", "text"),
        ("disk_bytes_per_second", "its rate", "TB/s"),
        filled=True,
    )


def rounds_table(one: Culling) -> Table:
    """The rounds of one draw."""
    mean = one.rounds[0].mean
    return table_of(
        list(enumerate(one.rounds)),
        ("round", "round", "count", lambda row: row[0]),
        ("outside", "outside", "count", lambda row: row[1].outside),
        ("replaced", "replaced so far", "count", lambda row: row[1].replaced),
        ("mean_share", "mean group", "number", lambda row: row[1].mean / mean),
        ("slowest", "slowest group", "number", lambda row: row[1].slowest / mean),
        note="Rates over the mean group's before any round.",
    )


def rounds_chart(one: Culling) -> Chart:
    """The mean and the slowest group by round."""
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

    return Chart("rounds", heading, text, spec, rounds_table(one), "Rounds", printed=40)


def envelope_chart(found: MeasuredProfile) -> Chart:
    """Measured groups from the slowest to the fastest, with what each must have."""
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


def measured_answer(profile: MeasuredProfile) -> Answer:
    """The answer of measured groups against an envelope."""
    from resilver.center.profiling import median_draw

    judged = profile.judged
    following = Shown("next", "What to replace next", next_table(profile), printed=20)
    rounds: list[Part] = []
    states = [("as measured", judged.rates)]
    if profile.cullings:
        median = median_draw(profile.cullings)
        states = [("before", median.before), ("after", median.after)]
        rounds = [rounds_chart(median)]
    text = (
        "New disks are drawn from the measured ones; of several draws, the one whose number of "
        "replaced disks is the median."
    )
    groups, units = profile.rates.groups, profile.rates.units
    return Answer(
        "Groups against the envelope",
        measured_sentences(profile),
        sections_of(
            ("The groups", [envelope_chart(profile), _figures(profile)]),
            ("What to replace next", [following] if profile.next else []),
            ("Rounds to come", rounds, text),
            ("Every group", [heat_chart(states, groups, units, judged.within, judged.of)]),
        ),
        profile.to_dict(),
        profile.holds,
    )


def lot_answer(profile: LotProfile) -> Answer:
    """The answer of a lot against an envelope."""
    from resilver.center.profiling import median_draw

    median, lot = median_draw(profile.cullings), profile.file.lot.lot
    names = [f"group {number}" for number in range(lot.groups)]
    units = [f"unit {number // (lot.groups // lot.units)}" for number in range(lot.groups)]
    states = [("before", median.before), ("after", median.after)]
    heat = heat_chart(states, names, units, profile.within, profile.of)
    return Answer(
        profile.file.description.rstrip(".") or "Slow disks of a lot",
        lot_sentences(profile),
        sections_of(
            ("Rounds of culling", [rounds_chart(median), heat]),
            ("Figures", [_figures(profile)]),
        ),
        profile.to_dict(),
        profile.holds,
        source={"Source": profile.file.source},
    )


def _figures(profile: MeasuredProfile | LotProfile) -> Shown:
    return Shown("figures", "Figures", figures_table(profile.figures), 3)
