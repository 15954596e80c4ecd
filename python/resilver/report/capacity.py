"""How full a file system gets, on a page and in words: days, ages, and what targets gain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from resilver.answer import Section, Shown, sections_of
from resilver.answer.model import figures_shown
from resilver.charts.idioms import columns, data_of, levels, lines, points, series
from resilver.charts.scales import decimal_scale
from resilver.charts.vega import Chart, Spec, axis, rows, tip
from resilver.quantities import DAY_SECONDS, daily, decimal_bytes, duration
from resilver.tables import Table, table, table_of
from resilver.words import plural

if TYPE_CHECKING:
    from resilver.center import FillOutlook, Outlook, Sizing, Trend
    from resilver.report.arrays import Floats

_REACH = 10
"""A series tells of no more than so many times its own length."""
_DAYS_SHOWN = 90

STAND_IN_NOTE = (
    "How much slower a full file system is, is published nowhere that could be read. The curve is "
    "an assumption: a straight line from the first knee to a full file system, and what it loses "
    "there is swept. The one series that could be read shows no knee: of 162 runs of one benchmark "
    "on one file system (Cori's scratch, 2017 to 2018, pytokio's example), 41 to 67 % full, those "
    "were slow beside which others ran (rank correlation -0.47), and fullness showed nothing "
    "(+0.04). So nothing measured says that rates fall below 67 %: measure yours, and say "
    "capacity.rate_at_fill."
)


def capacity_sentences(sizing: Sizing) -> list[str]:
    """What the days, the listing and the series say, a sentence each."""
    found = sizing.outlook
    said = []
    if found is not None and (year := found.year) is not None:
        figures = {figure.key: figure for figure in found.figures}
        text = f"In {len(year.fill):,} days it is {100 * figures['most_fill'].value:.3g} % full at "
        text += "most"
        for knee in sizing.file.knees:
            days = figures[f"days_above_{100 * knee:g}_percent"].value
            when = f"on {plural(days, 'day')}" if days else "never"
            text += f", above {100 * knee:g} % {when}"
        if "refused_bytes" in figures:
            text += (
                f"; {decimal_bytes(figures['refused_bytes'].value)} find no room, "
                f"{figures['refused_bytes'].derivation}"
            )
        said.append(text + ".")
    if found is not None and found.listing is not None:
        wanted = _purge_days(sizing)
        days, files, size, owners = next(one for one in found.purges if one[0] == wanted)
        of = "" if owners is None else f" of {plural(owners, 'owner')}"
        said.append(
            f"A purge of {days} d now frees {decimal_bytes(size)} in {plural(files, 'file')}{of}."
        )
        if found.listing.future_files:
            many = plural(found.listing.future_files, "file")
            size_words = decimal_bytes(found.listing.future_bytes)
            said.append(f"{many} ({size_words}) with times after the scan count as just used.")
        if found.listing.scanned_seconds is not None and not found.listing.is_scan_told:
            said.append("The listing does not say when it was made: its newest time stands for it.")
    for one in found.fills if found is not None else ():
        said.append(fill_sentence(one, sizing.file.knees[-1:] or (1.0,)))
    if sizing.dealt is not None:
        text = f"The fullest or busiest of {sizing.dealt.count} namespaces has "
        text += f"{sizing.dealt.worst:.3f} of an equal share"
        best = sizing.dealt.optimum
        said.append(text + ("." if best is None else f"; the least possible is {best:.3f}."))
    return said


def _purge_days(sizing: Sizing) -> int:
    """The age of the files that a purge deletes, by default 14 days."""
    purge = sizing.file.capacity.purge if sizing.file.capacity else None
    return 14 if purge is None else purge.days


def slope_words(found: Trend) -> str:
    """What a series gains a day, with its interval."""
    verb, sign = ("gains", 1) if found.slope >= 0 else ("loses", -1)
    low, high = map(daily, sorted((sign * found.low, sign * found.high)))
    return f"{verb} {daily(abs(found.slope))} ({low} to {high})"


def fill_sentence(one: FillOutlook, levels: tuple[float, ...]) -> str:
    """What a series says of its file system."""
    text = f"{one.series.name}: {100 * one.fill:.3g} % full, {slope_words(one.trend)}"
    span = duration(one.trend.span_seconds)
    if not one.trend.is_clear:
        text += f"; {span} show no clear trend"
    else:
        level = next((level for level in levels if level > one.fill), 1.0)
        when = one.trend.seconds_to(level * one.size_bytes)
        if when is not None and one.trend.slope > 0:
            least, most = when
            until = " or more" if most is None else f" to {_days(most)}"
            words = "full" if level == 1.0 else f"{100 * level:g} % full"
            text += f"; {words} in {_days(least)}{until} if it goes on so"
            if least > _REACH * one.trend.span_seconds:
                text += f", of which {span} tell little"
    if one.series.left_out:
        text += f"; without {plural(len(one.series.left_out), 'target')} not active throughout"
    return text + "."


def _days(seconds: float) -> str:
    """A time far ahead, in whole days where that says enough."""
    days = seconds / DAY_SECONDS
    return duration(seconds) if days < 10 else f"{days:,.0f} d"


def capacity_sections(sizing: Sizing) -> list[Section]:
    """What an answer shows of time."""
    found, dealt = sizing.outlook, sizing.dealt
    spaces = dealt and Shown("namespaces", "Projects by namespace", namespaces_table(sizing))
    if found is None:
        return sections_of(("Namespaces", [spaces]))
    year, listing = found.year, found.listing
    is_measured = bool(found.rates) and found.rates[0].is_measured
    slopes = (
        "Slopes are Theil and Sen's, with an interval of 95 % that takes the snapshots for "
        "independent: it is too narrow where use comes in waves longer than their distance."
    )
    filling = [
        year and fill_chart(found, sizing.file.knees),
        figures_shown("capacity", "Fill over time", found.figures),
    ]
    shares = table_of(
        found.rates,
        ("curve", "if", "text"),
        ("mean_share", "on average", "share", lambda one: one.mean),
        ("least_share", "on the fullest day", "share", lambda one: one.least),
    )
    rates = Shown("rates", "Share of the bandwidth", shares)
    purges = Shown("purges", "What a purge frees now", purges_table(found))
    of_systems = table_of(
        found.fills,
        ("file_system", "file system", "text", lambda one: one.series.name),
        ("targets", "targets", "count", lambda one: len(one.targets)),
        ("left_out", "left out", "count", lambda one: len(one.series.left_out)),
        ("size_bytes", "size", "TB"),
        ("fill", "full", "share"),
        ("slope", "trend", "text", lambda one: slope_words(one.trend)),
        ("snapshots", "snapshots", "count", lambda one: one.trend.points),
        ("span", "span", "text", lambda one: duration(one.trend.span_seconds)),
    )
    fills = Shown("file-systems", "The file systems", of_systems)
    ages = [ages_chart(listing.bytes_by_day, _purge_days(sizing)), purges] if listing else []
    return sections_of(
        ("Fill over time", filling),
        (
            "What the fill leaves of the bandwidth",
            [rates] if found.rates else [],
            "" if is_measured else STAND_IN_NOTE,
        ),
        ("Ages", ages),
        ("What targets gain", [targets_chart(found), fills] if found.fills else [], slopes),
        ("Namespaces", [spaces]),
    )


def fill_chart(found: Outlook, knees: tuple[float, ...]) -> Chart:
    """How full it is on each day, with the knees.

    Args:
        found: What the section came to, with days.
        knees: The fills beyond which it is slower.
    """
    assert found.year is not None
    fill = 100.0 * found.year.fill
    days = list(range(1, len(fill) + 1))
    heading = f"It is {fill.max():.3g} % full at most, and {fill[-1]:.3g} % on the last day"
    text = "How full the file system is on each day, before that day's purge; dashed, the knees."

    made = table(
        ("day", "day", "count", days),
        ("fill", "full", "share", found.year.fill.tolist()),
        ("stored_bytes", "stored after the purge", "TB", found.year.stored_bytes.tolist()),
        ("purged_bytes", "purged", "TB", found.year.purged_bytes.tolist()),
        ("refused_bytes", "refused", "TB", found.year.refused_bytes.tolist()),
    )

    def spec() -> Spec:
        ends = (0.0, max(100.0 * max(knees, default=0.0), float(fill.max())) * 1.1)
        across = axis("x", "day", ends=(1.0, float(max(days[-1], 2))))
        marked = {100.0 * one: f"{100 * one:g} %" for one in knees}
        data = data_of(made, x="day", y="fill")
        return lines(data, across, axis("y", "full (%)", ends=ends), over=[levels(marked)])

    return Chart("fill", heading, text, spec, made, "fill by day")


def ages_chart(by_day: Floats, days: int) -> Chart:
    """What is stored by days since its last use, and what a purge frees.

    Args:
        by_day: Bytes by age in days, the last of all older: shape (days,).
        days: From which age on files are purged.
    """
    shown = [*by_day[:_DAYS_SHOWN].tolist(), float(by_day[_DAYS_SHOWN:].sum())]
    size, stored = float(by_day[days:].sum()), float(by_day.sum())
    share = size / stored if stored else 0.0
    heading = (
        f"A purge of {days} d frees {decimal_bytes(size)}, {100 * share:.3g} % of what is stored"
    )
    text = (
        f"Bytes by days since files were last read, changed or written; the last bar holds all of "
        f"{_DAYS_SHOWN} days and more."
    )
    kinds = ("kept", f"{days} d and older")

    def spec() -> Spec:
        scale = decimal_scale(max(shown), "B")
        data = rows(
            x=[day + 0.45 for day in range(len(shown))],
            y=[one / scale.divisor for one in shown],
            kind=[kinds[day >= days] for day in range(len(shown))],
            day=range(len(shown)),
        )
        across = axis("x", "days since the last use", ends=(0.0, float(len(shown))))
        read = tip(("day", "days"), ("y", scale.unit))
        upwards = axis("y", f"stored ({scale.unit})")
        return columns(data, across, upwards, series(kinds), wide=0.9, read=read)

    made = table(("days", "days", "count", range(len(shown))), ("bytes", "stored", "TB", shown))
    return Chart("ages", heading, text, spec, made, "stored by age")


def targets_chart(found: Outlook) -> Chart:
    """Each target's fill, and what it gains.

    Args:
        found: What the section came to, with series.
    """
    names = [one.series.name for one in found.fills]
    every = [(one.series.name, of) for one in found.fills for of in one.targets]
    fills = [100.0 * of.fill for _, of in every]
    gains = [of.trend.slope * DAY_SECONDS / 1e12 for _, of in every]
    heading = f"{plural(len(every), 'target')} are {min(fills):.3g} to {max(fills):.3g} % full"

    def spec() -> Spec:
        text = [f"{name} {of.target}" for name, of in every]
        data = rows(kind=[name for name, _ in every], text=text, x=fills, y=gains)
        room = 0.05 * (max(fills) - min(fills) + 1.0)
        across = axis("x", "full (%)", ends=(min(fills) - room, max(fills) + room))
        read = tip(("text", "target"), ("x", "full (%)"), ("y", "TB a day"))
        upwards = axis("y", "gains (TB a day)")
        return points(data, across, upwards, series(names), height=300, read=read)

    made = table(
        ("file_system", "file system", "text", [name for name, _ in every]),
        ("target", "target", "text", [of.target for _, of in every]),
        ("fill", "full", "share", [of.fill for _, of in every]),
        ("slope_bytes_per_second", "gains", "text", [slope_words(of.trend) for _, of in every]),
    )
    text = "Each target's fill at the end of the series, and what it gains or loses a day."
    return Chart("targets", heading, text, spec, made, "targets")


def purges_table(found: Outlook) -> Table:
    """What purges of several ages free now."""
    return table_of(
        found.purges,
        ("days", "not used for, days", "count"),
        ("files", "files", "count"),
        ("bytes", "frees", "TB"),
        ("owners", "owners", "count"),
        filled=True,
    )


def namespaces_table(sizing: Sizing) -> Table:
    """Which projects are where, a row a project, by namespace."""
    assert sizing.dealt is not None and sizing.file.namespaces is not None
    dealt = zip(sizing.dealt.namespace, sizing.file.namespaces.projects, strict=True)
    rows_of = [(place, one.name, one.capacity, one.bandwidth) for place, one in dealt]
    return table_of(
        sorted(rows_of, key=lambda row: row[0]),
        ("namespace", "namespace", "count"),
        ("project", "project", "text"),
        ("capacity_bytes", "capacity", "TB"),
        ("bandwidth_bytes_per_second", "bandwidth", "TB/s"),
    )
