"""What streams of whole stripes got beside what the analytic model expects, whole and by group."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from resilver.charts.idioms import points
from resilver.charts.named import bars
from resilver.charts.scales import rate_scale
from resilver.charts.style import BLUE, GREEN, INK, ORANGE, VERMILLION
from resilver.charts.vega import Chart, Spec, axis, rows
from resilver.report.arrays import Flags, Floats, column, rows_of_run
from resilver.study.results import StudyTables
from resilver.study.system_runs import SystemRuns, number
from resilver.tables import Table, table
from resilver.units import format_rate
from resilver.words import against, listed, plural

KINDS = ("read", "write", "rebuild", "burst")
NOUNS = {"read": "reads", "write": "writes", "rebuild": "rebuilds", "burst": "bursts"}


@dataclass(frozen=True, eq=False)
class GroupRates:
    """What each group of servers got, one entry a group.

    Args:
        group: Its number.
        rebuilding: Whether it rebuilds.
        ports_working: How many of its ports work.
        rates: For each kind with any, bytes a second.
        mean_delay_seconds: The mean delay of its stripe operations; NaN where there are none.
    """

    group: Floats
    rebuilding: Flags
    ports_working: Floats
    rates: dict[str, Floats]
    mean_delay_seconds: Floats

    def shown(self) -> list[tuple[str, Floats]]:
        """The rates that are drawn: a group that does not rebuild has no mark at zero for it."""
        return [
            (kind, np.where(values > 0.0, values, np.nan) if kind == "rebuild" else values)
            for kind, values in self.rates.items()
        ]


Rates = list[tuple[str, float, float | None]]
"""Each kind that got anything or was expected to: its rate, and what the analytic model expects."""


def streams(results: StudyTables, point: SystemRuns) -> Chart | None:
    """Rates of streams beside the analytic model, whole and by group; None without streams."""
    row = point.median
    groups = _groups(results, str(row["run"]))
    expected = {kind: number(row, f"analytic_{kind}_bytes_per_second") for kind in KINDS}
    rates: Rates = [
        (kind, got or 0.0, expected[kind] or None)
        for kind in KINDS
        if (got := number(row, f"{kind}_bytes_per_second")) or expected[kind]
    ]
    is_told = any(value is not None for value in expected.values())
    if not rates or (groups is None and not is_told):
        return None
    return Chart(
        "streams",
        _finding(rates),
        _text(rates, groups),
        lambda: _spec(rates, groups),
        _table(rates, groups),
        "rates of streams",
    )


def _groups(results: StudyTables, run: str) -> GroupRates | None:
    table = rows_of_run(results.stripe_groups, run)
    if not table.num_rows:
        return None
    rates = {kind: np.nan_to_num(column(table, f"{kind}_bytes_per_second")) for kind in KINDS}
    return GroupRates(
        group=column(table, "group"),
        rebuilding=np.array(table["is_rebuilding"].to_pylist(), dtype=bool),
        ports_working=column(table, "ports_working"),
        rates={kind: values for kind, values in rates.items() if values.any()},
        mean_delay_seconds=column(table, "mean_delay_seconds"),
    )


def _finding(rates: Rates) -> str:
    """What each kind got, against the analytic model where it says anything."""
    parts = []
    for kind, got, told in rates:
        text = f"{NOUNS[kind]} get {format_rate(got)}"
        text += f", {against(got / told, 'the analytic rate')}" if told else ""
        parts.append(text)
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}"


def _text(rates: Rates, groups: GroupRates | None) -> str:
    """What is drawn, for the caption."""
    text = (
        "User data of completed stripe operations a second, and bytes of strips rebuilt by "
        "rebuilds."
    )
    if any(told for _, _, told in rates):
        text += (
            " The upright mark at a bar is what the analytic model expects, in which the "
            "servers' own ports are the only limit."
        )
    if groups is not None:
        count = int(groups.rebuilding.sum())
        text += " Below, the same by group of servers"
        names = [f"{at:.0f}" for at in groups.group[groups.rebuilding]]
        text += (
            f"; a ring is around the {plural(count, 'group')} that rebuild"
            f"{'s' if count == 1 else ''}: {listed(names)}."
            if count
            else "."
        )
    return text


def _table(rates: Rates, groups: GroupRates | None) -> Table:
    """A row a kind, and one a group and kind."""
    found: list[tuple[object, ...]] = []
    for kind, got, told in rates:
        share = got / told if told else None
        found.append((NOUNS[kind], "all", got, told, share, None, None, ""))
    if groups is not None:
        for kind, values in groups.rates.items():
            found += [
                (
                    NOUNS[kind],
                    f"{groups.group[at]:.0f}",
                    values[at],
                    None,
                    None,
                    groups.ports_working[at],
                    groups.mean_delay_seconds[at],
                    "rebuilds" if groups.rebuilding[at] else "",
                )
                for at in range(groups.group.size)
            ]
    kinds, of, got_all, told_all, shares, ports, waits, states = zip(*found, strict=True)
    return table(
        ("kind", "kind", "text", kinds),
        ("group", "group", "text", of),
        ("bytes_per_second", "simulated", "rate", got_all),
        ("analytic_bytes_per_second", "analytic", "rate", told_all),
        ("of_analytic", "simulated over analytic", "share", shares),
        ("ports_working", "ports that work", "count", ports),
        ("mean_delay_seconds", "mean delay", "seconds", waits),
        ("state", "state", "text", states),
    )


_COLOURS = {"read": BLUE, "write": VERMILLION, "rebuild": ORANGE, "burst": GREEN}
_MARKS = {"read": "circle", "write": "square", "rebuild": "diamond", "burst": "triangle-up"}
_ROOM = 80


def _spec(rates: Rates, groups: GroupRates | None) -> Spec:
    """Bars beside the analytic marks, and below them the groups, ringed where they rebuild."""
    scale = rate_scale(max(value or 0.0 for _, *both in rates for value in both))
    nouns = [NOUNS[kind] for kind, _, _ in rates]
    data = rows(
        name=nouns,
        kind=nouns,
        x=[got / scale.divisor for _, got, _ in rates],
        mark=[told / scale.divisor if told else None for _, _, told in rates],
        text=[
            f"{NOUNS[kind]}: {format_rate(got)}"
            + (f"; analytic {format_rate(told)}" if told else "")
            for kind, got, told in rates
        ],
    )
    kinds = [*dict.fromkeys([*(kind for kind, _, _ in rates), *(groups.rates if groups else ())])]
    named = {NOUNS[kind]: _COLOURS[kind] for kind in kinds}
    across = axis("x", f"all ({scale.unit})")
    whole = bars(data, across, named if groups else BLUE, step=36, room=_ROOM)
    return whole if groups is None else {"vconcat": [whole, _groups_view(groups, kinds, named)]}


def _groups_view(groups: GroupRates, kinds: list[str], named: dict[str, str]) -> Spec:
    """A mark a group and kind."""
    scale = rate_scale(max(float(values.max()) for values in groups.rates.values()))
    marks = [
        (
            groups.group[at],
            values[at] / scale.divisor,
            NOUNS[kind],
            bool(groups.rebuilding[at]),
            f"group {groups.group[at]:.0f}{', rebuilding' if groups.rebuilding[at] else ''}: "
            f"{NOUNS[kind]} {format_rate(float(values[at]))}, {groups.ports_working[at]:.0f} ports "
            "work",
        )
        for kind, values in groups.shown()
        for at in range(groups.group.size)
        if not np.isnan(values[at])
    ]
    columns = dict(zip(("x", "y", "kind", "ring", "text"), zip(*marks, strict=True), strict=True))
    ends = (float(groups.group.min()) - 0.5, float(groups.group.max()) + 0.5)
    across = axis("x", "group", ends=ends, form=",d", tickMinStep=1)
    upwards = axis("y", f"of a group ({scale.unit})")
    ring = {"expr": "datum.ring ? 2.5 : 0"}
    shapes = [_MARKS[kind] for kind in kinds]
    view = points(
        rows(**columns), across, upwards, named, size=70, marks=shapes, height=220, stroke=INK,
        strokeWidth=ring,
    )  # fmt: skip
    return view | {"room": (_ROOM, 24)}
