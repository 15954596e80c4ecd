"""The key figures of a study, for the terminal and for the head of the page."""

from __future__ import annotations

import statistics
from dataclasses import replace

from resilver.answer import KeyFigure as KeyFigure
from resilver.report.findings import busiest_words, nothing_rebuilt
from resilver.report.servers import devices
from resilver.study.results import StudyTables
from resilver.study.system_runs import SystemRuns, largest, number, serves_only, systems
from resilver.tables import cell_text
from resilver.words import percent

_KINDS = {"s": "seconds", "B/s": "rate", "B": "bytes", "share": "share"}

_CODED = (
    ("rebuild_p50_seconds", "50 % rebuilt after", "s"),
    ("rebuild_p99_seconds", "99 % rebuilt after", "s"),
    ("gathered_bytes", "Read to rebuild", "B"),
    ("decoded_bytes", "Decoded", "B"),
    ("network_bytes", "Sent over the network", "B"),
)
"""What a rebuild moves beside what it makes: column, label and unit."""
_OF_DECODING = frozenset({"gathered_bytes", "decoded_bytes"})

CLIENTS = (
    ("during_throughput_bytes_per_second", "Goodput during faults", "B/s"),
    ("before_throughput_bytes_per_second", "Goodput before faults", "B/s"),
    ("during_before_throughput_ratio", "During relative to before", "share"),
    ("after_throughput_bytes_per_second", "Goodput after faults", "B/s"),
    ("throughput_bytes_per_second", "Goodput, whole run", "B/s"),
    ("analytic_read_bytes_per_second", "Reads, analytic model", "B/s"),
    ("analytic_write_bytes_per_second", "Writes, analytic model", "B/s"),
    ("rebuild_bytes_per_second", "Strips rebuilt", "B/s"),
    ("analytic_rebuild_bytes_per_second", "Rebuilt strips, analytic model", "B/s"),
    ("burst_bytes_per_second", "Bursts written", "B/s"),
    ("mean_burst_delay_seconds", "Mean burst time", "s"),
    ("drain_bytes_per_second", "Drained", "B/s"),
    ("undrained_bytes_max", "Most written and not drained", "B"),
    ("carried_bytes", "Not drained when the next burst begins, at most", "B"),
    ("undrained_bytes", "Not drained at the end", "B"),
    ("during_mean_read_delay_seconds", "Mean read latency during faults", "s"),
    ("during_p99_read_delay_seconds", "p99 read latency during faults", "s"),
    ("during_mean_write_delay_seconds", "Mean write latency during faults", "s"),
    ("during_p99_write_delay_seconds", "p99 write latency during faults", "s"),
    ("mean_delay_seconds", "Mean latency, whole run", "s"),
    ("p99_delay_seconds", "p99 latency, whole run", "s"),
    ("requests_completed", "Requests completed", "requests"),
    ("requests_lost", "Requests lost", "requests"),
    ("requests_retried", "Requests retried after a failure", "requests"),
    ("requests_hanging", "Requests that hang", "requests"),
    ("degraded_reads", "Degraded reads", "requests"),
    ("lent_bytes", "Lent among lanes", "B"),
    ("mean_hops", "Mean hops", "hops"),
    ("packets_queued_fraction", "Packets queued", "share"),
    ("link_busy_fraction_max", "Busiest link direction", "share"),
    ("device_busy_fraction", "Devices busy", "share"),
    ("write_backlog_requests", "Writes waiting at the end", "requests"),
)
"""What clients got: column, label and unit."""

_ALWAYS = frozenset({"requests_lost", "requests_completed"})
"""What is stated of clients even where it is zero."""
_WHOLE = {
    "Goodput, whole run": "Goodput",
    "Mean latency, whole run": "Mean latency",
    "p99 latency, whole run": "p99 latency",
}
"""Other labels where nothing failed while clients were counted: there is one time to speak of."""


def client_figures(point: SystemRuns) -> list[KeyFigure]:
    """The key figures of what clients got; none without clients."""
    if not any(number(row, "requests_completed") is not None for row in point.rows):
        return []
    has_faults = any(number(row, "during_seconds") for row in point.rows)
    found = []
    for name, label, unit in CLIENTS:
        if not has_faults and name.startswith(("before_", "during_", "after_")):
            continue
        if name in _ALWAYS or any(number(row, name) for row in point.rows):
            found.append(
                _median(point, name, label if has_faults else _WHOLE.get(label, label), unit)
            )
    return [figure for figure in found if figure is not None]


def key_figures(results: StudyTables, system: SystemRuns | None = None) -> list[KeyFigure]:
    """The key figures that one system has, most important first: medians over its seeds.

    Args:
        results: The study's results.
        system: Which system; the largest swept one by default.

    Raises:
        ConfigError: There is no finished run.
    """
    point = system or largest(systems(results))
    if serves_only(point.rows):
        return client_figures(point)
    figures = [
        _median(point, "rebuild_seconds", "Rebuild time", "s"),
        _median(point, "detection_seconds", "Detection time", "s"),
        _lost(point),
        _median(point, "aggregate_bytes_per_second", "Rebuild rate", "B/s"),
        _median(point, "rebuilt_bytes", "Data rebuilt", "B"),
        _median(point, "rebuilt_pieces", f"{point.piece.capitalize()}s rebuilt", f"{point.piece}s"),
        _redundant(point),
        _groups(point),
        _spread(results, point),
    ]
    figures += [
        _median(point, *one)
        for one in _CODED
        if any(number(row, one[0]) for row in point.rows)
        and (point.is_coded or one[0] not in _OF_DECODING)
    ]
    for name, label in (
        ("unreachable_objects", "Unreachable objects"),
        ("undersized_replicas", f"{point.piece.capitalize()}s without a target"),
        ("returned_pieces", "Returned with their parts"),
        ("remapped_bytes", "Moved without being lost"),
        ("push_backlog_bytes", "Largest backlog of pushed writes"),
        ("false_alarms", "False alarms before the failure"),
    ):
        unit = {"_bytes": "B", "pieces": f"{point.piece}s", "alarms": "alarms"}.get(
            name[-6:], "objects"
        )
        figure = _median(point, name, label, unit)
        if figure is not None and any(number(row, name) for row in point.rows):
            figures.append(figure)
    return [*(figure for figure in figures if figure is not None), *client_figures(point)]


def summary(results: StudyTables) -> list[tuple[str, str]]:
    """The key figures of the largest system as (label, value) pairs of words.

    Returns:
        Pairs such as ("Rebuild time", "5.2 h (min 5.1 h, max 5.4 h of 5 seeds)").

    Raises:
        ConfigError: There is no finished run.
    """
    return [
        (figure.label, f"{figure.text} ({figure.detail})" if figure.detail else figure.text)
        for figure in key_figures(results)
    ]


def _words(value: float, unit: str) -> str:
    """A number of one of the units of `KeyFigure` for people."""
    return f"{value:,.2f}" if unit == "hops" else cell_text(value, _KINDS.get(unit, "count"))


def _median(point: SystemRuns, name: str, label: str, unit: str) -> KeyFigure | None:
    """The median of a metric over the seeds, with its range; None where no run has it."""
    values = point.known(name)
    if not values:
        return None
    middle = float(statistics.median(values))
    text = _words(middle, unit)
    low, high = _words(min(values), unit), _words(max(values), unit)
    detail = "" if low == high else f"min {low}, max {high}"
    return KeyFigure(label, middle, unit, text, detail)


def _lost(point: SystemRuns) -> KeyFigure | None:
    """Objects of which too little is left, and their bytes; None if no run lost any."""
    figure = _median(point, "unrecoverable_objects", "Objects lost", "objects")
    if figure is None or not any(number(row, "unrecoverable_objects") for row in point.rows):
        return None
    volume = _median(point, "unrecoverable_bytes", "", "B")
    words = [figure.detail, volume.text if volume is not None else ""]
    return replace(figure, detail="; ".join(word for word in words if word))


def _redundant(point: SystemRuns) -> KeyFigure | None:
    """When the first object had all its copies again, and when the last had."""
    first = _median(point, "first_redundant_seconds", "First object fully redundant", "s")
    if first is None:
        return None
    last = _median(point, "last_redundant_seconds", "", "s")
    return replace(first, detail=f"last after {last.text}" if last is not None else "")


def _groups(point: SystemRuns) -> KeyFigure | None:
    """How many placement groups had a replica on what failed, of how many."""
    figure = _median(point, "placement_groups_affected", "Placement groups affected", "groups")
    total = number(point.median, "placement_groups")
    if figure is None or not total:
        return None
    return replace(figure, detail=f"{percent(figure.value / total)} of {total:,.0f}")


def _spread(results: StudyTables, point: SystemRuns) -> KeyFigure | None:
    """The busiest device's share of the work against the mean, in the median run."""
    if nothing_rebuilt(point) is not None:
        return None
    alive = [row for row in devices(results, point) if not row["failed"]]
    amounts = [row["rebuilt_bytes"] for row in alive]
    found = busiest_words([row["name"] for row in alive], amounts)
    if found is None:
        return None
    text, detail = found
    ratio = max(amounts) / statistics.fmean(amounts)
    return KeyFigure(f"Most loaded {point.holder}", ratio, "1", text, detail)
