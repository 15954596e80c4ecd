"""What each class of traffic got of its lane, how long it waited, and who lent to whom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from resilver.report.arrays import rows_of_run
from resilver.report.chart import Chart
from resilver.report.scales import byte_scale
from resilver.report.source import ResultsLike, SystemRuns
from resilver.report.style import BLUE, GREEN, INK, ORANGE, PURPLE
from resilver.report.tables import Table, table
from resilver.report.vega import Spec, colours, level, rows
from resilver.report.vega import number as axis
from resilver.report.words import listed, percent, size_of
from resilver.units import format_duration

_NOUNS = {"rebuild": "rebuilds"}
"""Classes that a sentence has in the plural, as it has clients and bursts."""
_PARTS = {"links": "links", "interfaces": "network interfaces", "devices": "devices"}


@dataclass(frozen=True)
class LaneUse:
    """What one class got of one part of the system, summed over all its ports.

    Args:
        part: "links", "interfaces" or "devices".
        traffic_class: "clients", "rebuild" or "bursts".
        guaranteed: Its guaranteed share.
        carried_bytes: What was carried for it.
        carried_share: The same over what was carried for all classes.
        borrowed_bytes: How much of it took what others left unused.
        lent_bytes: What others carried in its unused share.
        busy_seconds: Time spent on it.
        mean_wait_seconds: How long one packet, message or request waited; None where none came.
        units: How many of them there were.
    """

    part: str
    traffic_class: str
    guaranteed: float
    carried_bytes: int
    carried_share: float
    borrowed_bytes: int
    lent_bytes: int
    busy_seconds: float
    mean_wait_seconds: float | None
    units: int

    @property
    def label(self) -> str:
        """The class and where, such as "rebuilds, links"."""
        return f"{self.traffic_class}, {_PARTS.get(self.part, self.part)}"

    @property
    def own_share(self) -> float:
        """What its own guarantee carried of all bytes."""
        borrowed = min(self.borrowed_bytes, self.carried_bytes)
        if not self.carried_bytes:
            return 0.0
        return self.carried_share * (1.0 - borrowed / self.carried_bytes)


@dataclass(frozen=True)
class Loan:
    """What one class left unused and another took.

    Args:
        part: "links", "interfaces" or "devices".
        lender: The class whose share it was.
        borrower: The class that used it.
        lent_bytes: How much.
    """

    part: str
    lender: str
    borrower: str
    lent_bytes: int

    @property
    def label(self) -> str:
        """Who to whom, and where."""
        return f"{self.lender} to {self.borrower}, {_PARTS.get(self.part, self.part)}"


@dataclass(frozen=True)
class LanesChart:
    """The lanes of one run.

    Args:
        lanes: A class of a part each; parts that carried nothing are left out.
        loans: The loans above zero, the largest first.
    """

    lanes: tuple[LaneUse, ...]
    loans: tuple[Loan, ...]


def lanes_of(results: ResultsLike, point: SystemRuns) -> LanesChart | None:
    """The lanes of the system's median run.

    Args:
        results: The study's results.
        point: The system.

    Returns:
        The numbers; None where its ports have no lanes, or carried nothing.
    """
    run = point.median["run"]
    rows = rows_of_run(results.lanes, run).to_pylist()
    totals: dict[str, int] = {}
    for row in rows:
        totals[row["part"]] = totals.get(row["part"], 0) + row["bytes"]
    lanes = tuple(
        _lane(row, totals[row["part"]])
        for row in rows
        if totals[row["part"]] and (row["bytes"] or row["share"])
    )
    if not lanes:
        return None
    loans = [
        Loan(
            row["part"],
            _NOUNS.get(row["lender"], row["lender"]),
            _NOUNS.get(row["borrower"], row["borrower"]),
            row["bytes"],
        )
        for row in rows_of_run(results.lending, run).to_pylist()
        if row["bytes"]
    ]
    return LanesChart(lanes, tuple(sorted(loans, key=lambda loan: -loan.lent_bytes)))


def _lane(row: dict[str, Any], total: int) -> LaneUse:
    wait = row["mean_wait_seconds"]
    return LaneUse(
        part=row["part"],
        traffic_class=_NOUNS.get(row["class"], row["class"]),
        guaranteed=row["share"],
        carried_bytes=row["bytes"],
        carried_share=row["bytes"] / total,
        borrowed_bytes=row["borrowed_bytes"],
        lent_bytes=row["lent_bytes"],
        busy_seconds=row["busy_seconds"],
        mean_wait_seconds=None if wait is None or wait != wait else wait,
        units=row["units"],
    )


def lanes(results: ResultsLike, point: SystemRuns) -> Chart | None:
    """What each class got of its lane, and who lent to whom; None without lanes.

    Args:
        results: The study's results.
        point: The system.
    """
    made = lanes_of(results, point)
    if made is None:
        return None
    return Chart(
        "lanes",
        _finding(made),
        _text(made),
        lambda: _spec(made),
        _table(made),
        "what each class got",
        is_for_experts=True,
    )


def _finding(made: LanesChart) -> str:
    """What each class got of the network against its share, and the largest loan."""
    first = made.lanes[0].part
    got = [
        f"{lane.traffic_class} get {percent(lane.carried_share)} (guaranteed "
        f"{percent(lane.guaranteed)})"
        for lane in made.lanes
        if lane.part == first
    ]
    text = f"On {_PARTS.get(first, first)}, {listed(got)}"
    top = next((loan for loan in made.loans if loan.part == first), None)
    if top is None:
        return f"{text}; nobody lends"
    return f"{text}; {top.lender} lend {size_of(top.lent_bytes)} to {top.borrower}"


def _text(made: LanesChart) -> str:
    """What is drawn, for the caption."""
    text = (
        "What each class of traffic carried of all bytes: the full part of a bar by its own "
        "guaranteed share, the pale part in what others left unused. The upright mark is the "
        "guaranteed share: a bar ends below it where the class asked for less, or its ports were "
        "not those that were busy."
    )
    text += " Beside it, who lent how much to whom." if made.loans else ""
    waits = [
        f"{lane.label} {format_duration(lane.mean_wait_seconds)}"
        for lane in made.lanes
        if lane.mean_wait_seconds is not None
    ]
    return f"{text} The mean wait for a turn: {listed(waits)}." if waits else text


def _table(made: LanesChart) -> Table:
    """A row a class and part."""
    lanes = made.lanes
    note = "; ".join(f"{loan.label}: {size_of(loan.lent_bytes)}" for loan in made.loans)
    return table(
        ("part", "part", "text", [lane.part for lane in lanes]),
        ("class", "class", "text", [lane.traffic_class for lane in lanes]),
        ("guaranteed_share", "guaranteed", "share", [lane.guaranteed for lane in lanes]),
        ("carried_share", "carried", "share", [lane.carried_share for lane in lanes]),
        ("bytes", "bytes", "bytes", [lane.carried_bytes for lane in lanes]),
        ("borrowed_bytes", "of them borrowed", "bytes", [lane.borrowed_bytes for lane in lanes]),
        ("lent_bytes", "lent to others", "bytes", [lane.lent_bytes for lane in lanes]),
        ("busy_seconds", "busy", "seconds", [lane.busy_seconds for lane in lanes]),
        ("mean_wait_seconds", "mean wait", "seconds", [lane.mean_wait_seconds for lane in lanes]),
        ("units", "packets, messages or requests", "count", [lane.units for lane in lanes]),
        note=f"Lent: {note}." if note else "",
    )


_CLASSES = {"clients": BLUE, "rebuilds": ORANGE, "bursts": GREEN}
_ROOM = (170, 14)


def _spec(made: LanesChart) -> Spec:
    """A bar a class and part, its own share full and what it borrowed pale; and the loans."""
    lanes = made.lanes
    own = [100.0 * lane.own_share for lane in lanes]
    known = {lane.traffic_class: _CLASSES.get(lane.traffic_class, PURPLE) for lane in lanes}
    named = colours([*known], [*known.values()]) | {"field": "kind"}
    data = rows(
        name=[lane.label for lane in lanes],
        kind=[lane.traffic_class for lane in lanes],
        own=own,
        all=[100.0 * lane.carried_share for lane in lanes],
        told=[100.0 * lane.guaranteed for lane in lanes],
        text=[
            f"{lane.label}: carried {percent(lane.carried_share)} of all bytes "
            f"({size_of(lane.carried_bytes)}), {size_of(lane.borrowed_bytes)} of them borrowed; "
            f"guaranteed {percent(lane.guaranteed)}"
            for lane in lanes
        ],
    )
    read = {"field": "text", "type": "nominal"}
    bar = {"type": "bar", "height": {"band": 0.6}}
    pale = bar | {"fillOpacity": 0.25, "strokeWidth": 1}
    tick = {"type": "tick", "thickness": 3, "color": INK, "size": 24}
    across = axis("own", "of all bytes carried (%)", ends=(0.0, 104.0))
    view: Spec = {
        "height": {"step": 34},
        "room": _ROOM,
        "data": data,
        "encoding": {"y": level(""), "x": across},
        "layer": [
            {"mark": bar, "encoding": {"color": named, "tooltip": read}},
            {
                "mark": pale,
                "encoding": {
                    "x2": {"field": "all"},
                    "color": named,
                    "stroke": named,
                    "tooltip": read,
                },
            },
            {"mark": tick, "encoding": {"x": {"field": "told"}, "tooltip": read}},
        ],
    }
    if not made.loans:
        return view
    scale = byte_scale(float(made.loans[0].lent_bytes))
    loans = rows(
        name=[loan.label.replace(", ", "\n") for loan in made.loans],
        kind=[loan.borrower for loan in made.loans],
        x=[loan.lent_bytes / scale.divisor for loan in made.loans],
        text=[f"{loan.label}: {size_of(loan.lent_bytes)}" for loan in made.loans],
    )
    lent: Spec = {
        "height": {"step": 34},
        "room": _ROOM,
        "data": loans,
        "mark": bar,
        "encoding": {
            "y": level("", labelExpr="split(datum.label, '\\n')"),
            "x": axis("x", f"lent ({scale.unit})"),
            "color": named,
            "tooltip": read,
        },
    }
    return {"hconcat": [view, lent]}
