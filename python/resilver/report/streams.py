"""What streams of whole stripes got beside what the analytic model expects, whole and by group."""

from __future__ import annotations

from collections.abc import Sequence

from resilver.charts.idioms import points
from resilver.charts.named import bars
from resilver.charts.scales import rate_scale
from resilver.charts.style import BLUE, GREEN, INK, ORANGE, VERMILLION
from resilver.charts.vega import Chart, Spec, axis, marks
from resilver.report.arrays import rows_of_run
from resilver.study.results import StudyTables
from resilver.study.system_runs import Row, SystemRuns, number
from resilver.tables import Table, table_of
from resilver.units import format_rate
from resilver.words import against, listed, plural

KINDS = ("read", "write", "rebuild", "burst")
NOUNS = {"read": "reads", "write": "writes", "rebuild": "rebuilds", "burst": "bursts"}


Rates = list[tuple[str, float, float | None]]
"""Each kind that got anything or was expected to: its rate, and what the analytic model expects."""
Groups = Sequence[Row]
"""What each group of servers got: the rows of a run in the table `stripe_groups`."""


def streams(results: StudyTables, point: SystemRuns) -> Chart | None:
    """Rates of streams beside the analytic model, whole and by group; None without streams."""
    row = point.median
    groups = rows_of_run(results.stripe_groups, row["run"]).to_pylist()
    expected = {kind: number(row, f"analytic_{kind}_bytes_per_second") for kind in KINDS}
    rates: Rates = [
        (kind, got or 0.0, expected[kind] or None)
        for kind in KINDS
        if (got := number(row, f"{kind}_bytes_per_second")) or expected[kind]
    ]
    is_told = any(value is not None for value in expected.values())
    if not rates or not (groups or is_told):
        return None
    return Chart(
        "streams",
        _finding(rates),
        _text(rates, groups),
        lambda: _spec(rates, groups),
        _table(rates, groups),
        "rates of streams",
    )


def _kinds(groups: Groups) -> list[str]:
    """The kinds of which some group got anything."""
    return [kind for kind in KINDS if any(_rate(group, kind) for group in groups)]


def _rate(group: Row, kind: str) -> float:
    return number(group, f"{kind}_bytes_per_second") or 0.0


def _finding(rates: Rates) -> str:
    """What each kind got, against the analytic model where it says anything."""
    parts = []
    for kind, got, told in rates:
        text = f"{NOUNS[kind]} get {format_rate(got)}"
        text += f", {against(got / told, 'the analytic rate')}" if told else ""
        parts.append(text)
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}"


def _text(rates: Rates, groups: Groups) -> str:
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
    if groups:
        rebuilding = [f"{group['group']}" for group in groups if group["is_rebuilding"]]
        text += " Below, the same by group of servers"
        count = len(rebuilding)
        text += (
            f"; a ring is around the {plural(count, 'group')} that rebuild"
            f"{'s' if count == 1 else ''}: {listed(rebuilding)}."
            if count
            else "."
        )
    return text


def _table(rates: Rates, groups: Groups) -> Table:
    """A row a kind, and one a group and kind."""
    found: list[tuple[object, ...]] = [
        (NOUNS[kind], "all", got, told, got / told if told else None, None, None, "")
        for kind, got, told in rates
    ]
    found += [
        (
            *(NOUNS[kind], f"{group['group']}", _rate(group, kind), None, None),
            *(group["ports_working"], group["mean_delay_seconds"]),
            "rebuilds" if group["is_rebuilding"] else "",
        )
        for kind in _kinds(groups)
        for group in groups
    ]
    return table_of(
        found,
        ("kind", "kind", "text"),
        ("group", "group", "text"),
        ("bytes_per_second", "simulated", "rate"),
        ("analytic_bytes_per_second", "analytic", "rate"),
        ("of_analytic", "simulated over analytic", "share"),
        ("ports_working", "ports that work", "count"),
        ("mean_delay_seconds", "mean delay", "seconds"),
        ("state", "state", "text"),
    )


_COLOURS = {"read": BLUE, "write": VERMILLION, "rebuild": ORANGE, "burst": GREEN}
_MARKS = {"read": "circle", "write": "square", "rebuild": "diamond", "burst": "triangle-up"}
_ROOM = 80


def _spec(rates: Rates, groups: Groups) -> Spec:
    """Bars beside the analytic marks, and below them the groups, ringed where they rebuild."""
    scale = rate_scale(max(value or 0.0 for _, *both in rates for value in both))
    unit = scale.divisor
    data = marks(
        "name kind x mark text",
        (
            (
                *(NOUNS[kind], NOUNS[kind], got / unit, told / unit if told else None),
                f"{NOUNS[kind]}: {format_rate(got)}"
                + (f"; analytic {format_rate(told)}" if told else ""),
            )
            for kind, got, told in rates
        ),
    )
    kinds = [*dict.fromkeys([*(kind for kind, _, _ in rates), *_kinds(groups)])]
    named = {NOUNS[kind]: _COLOURS[kind] for kind in kinds}
    across = axis("x", f"all ({scale.unit})")
    whole = bars(data, across, named if groups else BLUE, step=36, room=_ROOM)
    return {"vconcat": [whole, _groups_view(groups, kinds, named)]} if groups else whole


def _groups_view(groups: Groups, kinds: list[str], named: dict[str, str]) -> Spec:
    """A mark a group and kind."""
    shown = _kinds(groups)
    scale = rate_scale(max(_rate(group, kind) for kind in shown for group in groups))
    data = marks(
        "x y kind ring text",
        (
            (
                *(group["group"], rate / scale.divisor, NOUNS[kind], group["is_rebuilding"]),
                f"group {group['group']}{', rebuilding' if group['is_rebuilding'] else ''}: "
                f"{NOUNS[kind]} {format_rate(rate)}, {group['ports_working']} ports work",
            )
            for kind in shown
            for group in groups
            for rate in [_rate(group, kind)]
            # A group that does not rebuild has no mark at zero for it.
            if rate or kind != "rebuild"
        ),
    )
    numbers = [group["group"] for group in groups]
    ends = (min(numbers) - 0.5, max(numbers) + 0.5)
    across = axis("x", "group", ends=ends, form=",d", tickMinStep=1)
    upwards = axis("y", f"of a group ({scale.unit})")
    ring = {"expr": "datum.ring ? 2.5 : 0"}
    shapes = [_MARKS[kind] for kind in kinds]
    view = points(
        data, across, upwards, named, size=70, marks=shapes, height=220, stroke=INK,
        strokeWidth=ring,
    )  # fmt: skip
    return view | {"room": (_ROOM, 24)}
