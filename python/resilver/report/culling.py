"""Slow disks on a page: groups against the envelope, before and after, and rounds of culling."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from resilver.answer import Answer, Part, Shown, sections_of
from resilver.answer.model import figures_shown
from resilver.charts.idioms import curve, fields, heat, lines, points, series, side_by_side
from resilver.charts.style import BLUE, VERMILLION
from resilver.charts.vega import Chart, Spec, axis, rows, tip
from resilver.report.arrays import Floats
from resilver.tables import Table, table, table_of
from resilver.words import plural

if TYPE_CHECKING:
    from resilver.center.culling import Culling, Reference
    from resilver.center.profiling import LotProfile, MeasuredProfile

_GROUPS_MAX = 6000
"""Groups whose heat map a page carries."""
_ACROSS_MAX = 64
"""Groups of a unit side by side; on a telephone each is then five pixels wide."""
_KINDS = ("within the envelope", "outside")


def heat_chart(
    states: Sequence[tuple[str, Floats]],
    groups: Sequence[str],
    units: Sequence[str],
    within: float,
    of: Reference,
) -> Chart | None:
    """Every group, a row a unit, by its rate over the reference; one scale for all states.

    The hue says on which side of the envelope a group is, the depth how far it is below the
    reference, so that either can be read without the other.

    Args:
        states: What each is called, such as before and after culling, and the groups' rates then.
        groups: The groups' names.
        units: The unit of each.

    Returns:
        The chart; None of more groups than a page should carry.
    """
    from resilver.center.culling import judge
    from resilver.center.profiling import reference_words

    if len(groups) > _GROUPS_MAX:
        return None
    judged = [judge(rates, within, of, np.asarray(units)) for _, rates in states]
    shares = [one.rates / one.reference for one in judged]
    outside = [one.rates < one.least for one in judged]
    counts = [int(one.sum()) for one in outside]
    across, down = _places(units)
    ends = [min(float(one.min()) for one in shares), max(float(one.max()) for one in shares)]
    words = [f"{count:,} {title}" for (title, _), count in zip(states, counts, strict=True)]
    heading = f"Outside the envelope, of {len(groups):,} groups: {', '.join(words)}"
    rows_are = "Rows are units. " if len(set(units)) > 1 else ""
    text = (
        f"Each field is a group. {rows_are}The deeper a field, the slower the group: full colour "
        f"is {100 * ends[0]:.3g} % of {reference_words(of)} in the same state, the palest "
        f"{100 * ends[1]:.3g} %, in all states alike."
    )

    names = [f"{unit} {group}".strip() for unit, group in zip(units, groups, strict=True)]

    def spec() -> Spec:
        views = []
        for (title, _), share, is_outside in zip(states, shares, outside, strict=True):
            kinds = [_KINDS[int(one)] for one in is_outside]
            data = rows(x=across, y=down, depth=100 * share, kind=kinds, text=names)
            views.append(_view(title, data, max(down) + 1, ends))
        return {"hconcat": views}

    titles = [title for title, _ in states]
    made = table(
        ("unit", "unit", "text", units),
        ("group", "group", "text", groups),
        *((title, title, "number", share) for title, share in zip(titles, shares, strict=True)),
        note="Rates over the reference.",
    )
    return Chart("groups", heading, text, spec, made, "groups by their rate over the reference")


def _view(title: str, data: Spec, lines: int, ends: Sequence[float]) -> Spec:
    """The fields of one state, whose shares lie between these ends in some state."""
    named = dict(zip(_KINDS, (BLUE, VERMILLION), strict=True))
    made = heat(
        data,
        fields("x", None),
        fields("y", None),
        (100 * ends[0], 100 * ends[1]),
        named,
        depths=(1.0, 0.12),
        height=max(90, 9 * lines),
        read=tip(("text", "group"), ("depth", "% of the reference")),
    )
    return made | {"title": {"text": title, "fontSize": 12}, "room": (8, 8)}


def _places(units: Sequence[str]) -> tuple[list[int], list[int]]:
    """The column and the row of each group: a row a unit, or several of a large one."""
    sizes = Counter(units)
    most = max(sizes.values())
    # One unit alone would be a single long row.
    width = math.ceil(math.sqrt(2 * most)) if len(sizes) == 1 else min(most, _ACROSS_MAX)
    width = min(width, _ACROSS_MAX)
    lines = math.ceil(most / width)
    first = {unit: lines * number for number, unit in enumerate(sizes)}
    met: Counter[str] = Counter()
    across, down = [], []
    for unit in units:
        line, column = divmod(met[unit], width)
        across.append(column)
        down.append(first[unit] + line)
        met[unit] += 1
    return across, down


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
    base = one.rounds[0].mean
    return table_of(
        [
            (number, each.outside, each.replaced, each.mean / base, each.slowest / base)
            for number, each in enumerate(one.rounds)
        ],
        ("round", "round", "count"),
        ("outside", "outside", "count"),
        ("replaced", "replaced so far", "count"),
        ("mean_share", "mean group", "number"),
        ("slowest", "slowest group", "number"),
        note="Rates over the mean group's before any round.",
    )


def rounds_chart(one: Culling) -> Chart:
    """The mean and the slowest group by round."""
    heading = (
        f"{one.replaced:,} disks in {len(one.rounds) - 1} rounds bring the slowest group "
        f"{100 * (one.slowest_gain - 1):.3g} % up"
    )
    text = (
        "The rate of the mean and of the slowest group by disks replaced, over the mean group's "
        "before; a point is a round. A file over all groups moves at the slowest group's rate."
    )
    made, kinds = rounds_table(one), {"mean_share": "mean group", "slowest": "slowest group"}

    def spec() -> Spec:
        data = side_by_side(made, "y", kinds, x="replaced", round="round")
        read = tip(("round", "round"), ("x", "replaced"), ("y", "rate"))
        across, upwards = axis("x", "disks replaced"), axis("y", "rate of a group", zero=False)
        return lines(data, across, upwards, series(kinds.values()), dots="true", read=read)

    return Chart("rounds", heading, text, spec, made, "Rounds", printed=40)


def envelope_chart(found: MeasuredProfile) -> Chart:
    """Measured groups from the slowest to the fastest, with what each must have."""
    order = np.argsort(found.judged.rates, kind="stable")
    rates: Floats = found.judged.rates[order] / 1e6
    least: Floats = found.judged.least[order] / 1e6
    outside = len(found.next)
    heading = f"{outside:,} of {plural(len(rates), 'group')} lie below the envelope"
    text = "Groups from the slowest to the fastest, and dashed the least that each must move."
    kinds, groups = ("within", "outside"), [found.rates.groups[int(at)] for at in order]

    def spec() -> Spec:
        ranks = range(1, len(rates) + 1)
        kind = [kinds[bool(rate < lowest)] for rate, lowest in zip(rates, least, strict=True)]
        data = rows(x=ranks, y=rates, least=least, kind=kind, text=groups)
        across = axis("x", "group, from the slowest", ends=(0.0, len(rates) + 1.0))
        upwards = axis("y", "rate (MB/s)", zero=False)
        read = tip(("text", "group"), ("y", "MB/s"), ("least", "least"))
        over = [curve(ranks, least.tolist(), interpolate="step")]
        return points(data, across, upwards, series(kinds), read=read, over=over)

    made = table(
        ("group", "group", "text", groups),
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
            (
                "The groups",
                [envelope_chart(profile), figures_shown("figures", "Figures", profile.figures)],
            ),
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
            ("Figures", [figures_shown("figures", "Figures", profile.figures)]),
        ),
        profile.to_dict(),
        profile.holds,
        source={"Source": profile.file.source},
    )
