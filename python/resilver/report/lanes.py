"""What each class of traffic got of its lane, how long it waited, and who lent to whom."""

from __future__ import annotations

from collections import Counter
from typing import Any

from resilver.charts.named import bars
from resilver.charts.scales import byte_scale
from resilver.charts.style import BLUE, GREEN, ORANGE, PURPLE
from resilver.charts.vega import Chart, Spec, axis, rows
from resilver.report.arrays import rows_of_run
from resilver.study.results import StudyTables
from resilver.study.system_runs import SystemRuns
from resilver.tables import Column, Table
from resilver.units import format_duration
from resilver.words import listed, percent, size_of

_NOUNS = {"rebuild": "rebuilds"}
"""Classes that a sentence has in the plural, as it has clients and bursts."""
_PARTS = {"links": "links", "interfaces": "network interfaces", "devices": "devices"}


Lanes = list[dict[str, Any]]
"""A row a class of a part, or a row a loan, the largest first."""

_COLUMNS = (
    Column("part", "part", "text"),
    Column("class", "class", "text"),
    Column("guaranteed_share", "guaranteed", "share"),
    Column("carried_share", "carried", "share"),
    Column("bytes", "bytes", "bytes"),
    Column("borrowed_bytes", "of them borrowed", "bytes"),
    Column("lent_bytes", "lent to others", "bytes"),
    Column("busy_seconds", "busy", "seconds"),
    Column("mean_wait_seconds", "mean wait", "seconds"),
    Column("units", "packets, messages or requests", "count"),
)


def lanes(results: StudyTables, point: SystemRuns) -> Chart | None:
    """What each class got of its lane, and who lent to whom; None without lanes."""
    made, loans = _lanes(results, point), _loans(results, point)
    if not made:
        return None
    note = "; ".join(f"{loan['label']}: {size_of(loan['bytes'])}" for loan in loans)
    rows = [[lane[column.name] for column in _COLUMNS] for lane in made]
    return Chart(
        "lanes",
        _finding(made, loans),
        _text(made, loans),
        lambda: _spec(made, loans),
        Table(_COLUMNS, rows, f"Lent: {note}." if note else ""),
        "what each class got",
        is_for_experts=True,
    )


def _lanes(results: StudyTables, point: SystemRuns) -> Lanes:
    """What each class got of each part, over all its ports; parts that carried nothing left out."""
    found = rows_of_run(results.lanes, point.median["run"]).to_pylist()
    totals: dict[str, int] = Counter()
    for row in found:
        totals[row["part"]] += row["bytes"]
    made = []
    for row in found:
        carried, wait = row["bytes"], row["mean_wait_seconds"]
        if totals[row["part"]] and (carried or row["share"]):
            share, noun = carried / totals[row["part"]], _NOUNS.get(row["class"], row["class"])
            borrowed = min(row["borrowed_bytes"], carried) / carried if carried else 0.0
            more = {
                "class": noun,
                "label": f"{noun}, {_PARTS.get(row['part'], row['part'])}",
                "guaranteed_share": row["share"],
                "carried_share": share,
                # What its own guarantee carried of all bytes.
                "own_share": share * (1.0 - borrowed),
                "mean_wait_seconds": None if wait is None or wait != wait else wait,
            }
            made.append({**row, **more})
    return made


def _loans(results: StudyTables, point: SystemRuns) -> Lanes:
    """What one class left unused and another took."""
    made = []
    for row in rows_of_run(results.lending, point.median["run"]).to_pylist():
        lender, borrower = (_NOUNS.get(row[end], row[end]) for end in ("lender", "borrower"))
        label = f"{lender} to {borrower}, {_PARTS.get(row['part'], row['part'])}"
        more = {"lender": lender, "borrower": borrower, "label": label}
        made += [{**row, **more}] if row["bytes"] else []
    return sorted(made, key=lambda loan: -loan["bytes"])


def _finding(lanes: Lanes, loans: Lanes) -> str:
    """What each class got of the network against its share, and the largest loan."""
    first = lanes[0]["part"]
    got = [
        f"{lane['class']} get {percent(lane['carried_share'])} (guaranteed "
        f"{percent(lane['guaranteed_share'])})"
        for lane in lanes
        if lane["part"] == first
    ]
    text = f"On {_PARTS.get(first, first)}, {listed(got)}"
    top = next((loan for loan in loans if loan["part"] == first), None)
    if top is None:
        return f"{text}; nobody lends"
    return f"{text}; {top['lender']} lend {size_of(top['bytes'])} to {top['borrower']}"


def _text(lanes: Lanes, loans: Lanes) -> str:
    """What is drawn, for the caption."""
    text = (
        "What each class of traffic carried of all bytes: the full part of a bar by its own "
        "guaranteed share, the pale part in what others left unused. The upright mark is the "
        "guaranteed share: a bar ends below it where the class asked for less, or its ports were "
        "not those that were busy."
    )
    text += " Beside it, who lent how much to whom." if loans else ""
    waits = [
        f"{lane['label']} {format_duration(lane['mean_wait_seconds'])}"
        for lane in lanes
        if lane["mean_wait_seconds"] is not None
    ]
    return f"{text} The mean wait for a turn: {listed(waits)}." if waits else text


_CLASSES = {"clients": BLUE, "rebuilds": ORANGE, "bursts": GREEN}
_ROOM = 170


def _spec(lanes: Lanes, loans: Lanes) -> Spec:
    """A bar a class and part, its own share full and what it borrowed pale; and the loans."""
    kinds = {lane["class"]: _CLASSES.get(lane["class"], PURPLE) for lane in lanes}
    data = rows(
        name=[lane["label"] for lane in lanes],
        kind=[lane["class"] for lane in lanes],
        x=[100.0 * lane["own_share"] for lane in lanes],
        x2=[100.0 * lane["carried_share"] for lane in lanes],
        mark=[100.0 * lane["guaranteed_share"] for lane in lanes],
        text=[
            f"{lane['label']}: carried {percent(lane['carried_share'])} of all bytes "
            f"({size_of(lane['bytes'])}), {size_of(lane['borrowed_bytes'])} of them borrowed; "
            f"guaranteed {percent(lane['guaranteed_share'])}"
            for lane in lanes
        ],
    )
    across = axis("x", "of all bytes carried (%)", ends=(0.0, 104.0))
    view = bars(data, across, kinds, room=_ROOM)
    if not loans:
        return view
    scale = byte_scale(float(loans[0]["bytes"]))
    data = rows(
        name=[loan["label"].replace(", ", "\n") for loan in loans],
        kind=[loan["borrower"] for loan in loans],
        x=[loan["bytes"] / scale.divisor for loan in loans],
        text=[f"{loan['label']}: {size_of(loan['bytes'])}" for loan in loans],
    )
    split = "split(datum.label, '\\n')"
    lent = bars(data, axis("x", f"lent ({scale.unit})"), kinds, room=_ROOM, labelExpr=split)
    return {"hconcat": [view, lent]}
