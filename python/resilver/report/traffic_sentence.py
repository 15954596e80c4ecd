"""What clients got of a system, in words: during its faults, and against the time before."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pyarrow as pa

from resilver.quantities import decimal_bytes
from resilver.report.arrays import rows_of_run
from resilver.report.jobs import jobs_sentence
from resilver.study.results import StudyTables
from resilver.study.system_runs import Row, SystemRuns, number
from resilver.units import format_duration, format_rate
from resilver.words import listed, percent, plural, size_of

_NAMES_SHOWN_MAX = 3


def traffic_sentence(results: StudyTables, point: SystemRuns) -> str:
    """What clients got of a system: medians over its seeds, in two or three sentences.

    Where something fails it is what they got from the first fault to the end of its recovery, as a
    mean over the whole run would mix in the time before and after.

    Args:
        point: A system with clients.
    """
    during = point.middle("during_throughput_bytes_per_second")
    when, rate = "", point.middle("throughput_bytes_per_second")
    if during is not None:
        is_rebuilt = any(number(row, "rebuilt_pieces") for row in point.rows)
        when = " during the rebuild" if is_rebuilt else " during the faults"
        rate = during
    findings = (
        jobs_sentence(results, point),
        binding_sentence(results, point),
        _behind(point),
        losses_sentence(results, point),
        _bursts(point),
    )
    losses = " ".join(filter(None, findings))
    if not rate and point.system is not None and point.system.has_bursts:
        return losses or "Bursts are all that is asked for."
    done = _operations(point, "" if during is None else "during_")
    if not rate and not done:
        return f"No request of a client completes{when}{_against_before(point)}. {losses}"
    if rate:
        text = f"Clients get {format_rate(rate)}{when}{_against_before(point)}"
    else:
        before = None if during is None else _operations(point, "before_")
        beside = f", {percent(done / before)} of the {before:,.4g} before" if before else ""
        text = f"Clients complete {done:,.4g} operations a second{when}{beside}"
    if during is None:
        delays = [_delay(point, "mean_delay_seconds", "p99_delay_seconds", "")]
    else:
        delays = [
            _delay(
                point, f"during_mean_{kind}_delay_seconds", f"during_p99_{kind}_delay_seconds", kind
            )
            for kind in ("read", "write")
        ]
    words = ", ".join(filter(None, delays))
    return f"{text}; {words}. {losses}" if words else f"{text}. {losses}"


def _bursts(point: SystemRuns) -> str:
    """Whether a burst is written, and drained, before the next; empty where neither is at issue."""
    streams = point.system.streams if point.system is not None else None
    bursts = streams.bursts if streams is not None else None
    takes, most = point.middle("mean_burst_delay_seconds"), point.middle("undrained_bytes_max")
    carried, left = point.middle("carried_bytes"), point.middle("undrained_bytes")
    if bursts is None:
        return ""
    if takes is not None and takes > bursts.every:
        every = format_duration(bursts.every)
        return f"A burst takes {format_duration(takes)}, longer than the {every} between bursts."
    if most is None or bursts.drain is None:
        return ""
    if takes is None:
        return "No burst is written before the run ends."
    drained = float(bursts.drain) * point.devices * float(bursts.every)
    if drained < bursts.volume:
        return (
            f"Each burst writes {size_of(bursts.volume)}, and only {size_of(drained)} is drained "
            f"before the next: the backlog grows by {size_of(bursts.volume - drained)} a burst."
        )
    if carried:
        return (
            f"A burst is not drained before the next, though the drain's rate allows it: up to "
            f"{size_of(carried)} waits when the next begins."
        )
    if carried is None and left:
        return (
            f"The run ends before the second burst, with {size_of(left)} of the first not drained; "
            "a longer traffic.duration shows whether the drain keeps up."
        )
    return f"A burst is drained before the next; at most {size_of(most)} waits."


def _operations(point: SystemRuns, period: str) -> float:
    """How many requests complete a second; 0 where clients have no operations on files."""
    pools = point.system.of_pools if point.system is not None else ()
    if not any(pool.traffic is not None and pool.traffic.has_operations for pool in pools):
        return 0.0
    done = point.middle(f"{period}requests_completed")
    lasts = point.middle(f"{period}seconds" if period else "statistics_seconds")
    return done / lasts if done and lasts else 0.0


def _behind(point: SystemRuns) -> str:
    """What clients have asked for and not got in the end, where they are flows that do not wait."""
    left = point.middle("backlog_bytes")
    if not left:
        return ""
    return f"They ask for more than they get: {decimal_bytes(left)} wait at the end."


def _against_before(point: SystemRuns) -> str:
    """How what clients get during the faults compares with what they got before."""
    if point.middle("during_seconds") is None:
        return ""
    before = point.middle("before_throughput_bytes_per_second")
    ratio = point.middle("during_before_throughput_ratio")
    if before is None or ratio is None:
        return " (nothing was measured before)"
    return f", {percent(ratio)} of the {format_rate(before)} before"


def _delay(point: SystemRuns, mean_name: str, tail_name: str, what: str) -> str:
    """The mean and the tail of delays; empty where nothing of the kind completed."""
    mean, tail = point.middle(mean_name), point.middle(tail_name)
    if mean is None:
        return ""
    text = f"mean {what} latency {format_duration(mean)}".replace("  ", " ")
    return text if tail is None else f"{text} (p99 {format_duration(tail)})"


def _hanging(row: Row) -> str:
    """What waits at the end for what will never answer, in a sentence; empty where nothing does."""
    count = number(row, "requests_hanging")
    if not count:
        return ""
    one = count == 1.0
    return (
        f"{plural(count, 'request')} {'hangs' if one else 'hang'} at the end, waiting for "
        "undetected failures: the clients have no timeout."
    )


def _retried(row: Row) -> str:
    """What was retried because its server was gone; empty where nothing was."""
    count = number(row, "requests_retried")
    if not count:
        return ""
    verb = "was" if count == 1.0 else "were"
    return f"{plural(count, 'request')} {verb} retried after a failure."


def losses_sentence(results: StudyTables, point: SystemRuns) -> str:
    """Which requests were lost, of which servers, and what became of packets, in the median run.

    Args:
        point: A system with clients.
    """
    lost = [number(row, "requests_lost") or 0.0 for row in point.rows]
    row = point.median
    if not any(lost):
        dropped = _drops(row)
        though = f", though packets are: {listed(dropped)}" if dropped else ""
        # What hangs is as good as lost, and nobody ever learns of it.
        hanging = _hanging(row) or f"No request is lost{though}."
        return f"{hanging} {_retried(row)}".rstrip()
    return " ".join(filter(None, (_lost(results, point, lost), _hanging(row), _retried(row))))


def _lost(results: StudyTables, point: SystemRuns, lost: list[float]) -> str:
    """Which requests were lost, of which servers, or why."""
    row = point.median
    count = number(row, "requests_lost") or 0.0
    if not count:
        return f"Requests are lost in {sum(map(bool, lost)):,} of {len(lost):,} seeds."
    total = count + (number(row, "requests_completed") or 0.0)
    verb = "is" if count == 1.0 else "are"
    text = f"{plural(count, 'request')} ({percent(count / total)}) {verb} lost"
    named = losses_by_server(results, point)
    if named:
        shown = [row["name"] for row in named[:_NAMES_SHOWN_MAX]]
        more = len(named) - len(shown)
        if more:
            shown.append(f"{more:,} more")
        text += f", sent to {listed(shown)}"
        gone = failed_disks(results, point)
        if all(row["name"] in gone for row in named):
            return f"{text}, whose {'disk' if len(named) == 1 else 'disks'} had failed."
    causes = _drops(row)
    if causes:
        return f"{text}: {listed(causes)}."
    late = number(row, "requests_late")
    return f"{text}; they timed out" + (f", and {late:,.0f} answers came late." if late else ".")


def _drops(row: Row) -> list[str]:
    """How many packets of a run were dropped, and why, in words."""
    return [
        f"{plural(packets, 'packet')} {why}"
        for name, why in (
            ("packets_dropped_cut", "cut off by a failure"),
            ("packets_dropped_no_link", "without a live link"),
            ("packets_dropped_hop_limit", "over the hop limit"),
        )
        if (packets := number(row, name))
    ]


def failed_disks(results: StudyTables, point: SystemRuns) -> set[str]:
    """The servers whose disks had failed by the end of the median run."""
    table = rows_of_run(results.servers, point.median["run"])
    names, failed = table["name"].to_pylist(), table["failed"].to_pylist()
    gone = {str(name) for name, is_failed in zip(names, failed, strict=True) if is_failed}
    return gone | set(re.split(r"[,\s]+", str(point.median.get("failed_disks") or "")))


def losses_by_server(results: StudyTables, point: SystemRuns) -> list[Row]:
    """The servers whose requests were lost in the median run, rows of `servers`, most first."""
    found = rows_of_run(results.servers, point.median["run"]).to_pylist()
    losing = [row for row in found if number(row, "requests_lost")]
    return sorted(losing, key=lambda row: -row["requests_lost"])


_STRETCHES_SHOWN_MAX = 3
# What clients have under way, and the rate that they ask for, by what says it.
_OWN = ("outstanding", "window")
_OWN_RATE = ("client_rate", "rate", "arrivals", "signature")


def binding_sentence(results: StudyTables, point: SystemRuns) -> str:
    """What binds most clients of the median run between its faults; empty where they are no flows.

    Args:
        point: A system with clients.
    """
    table: pa.Table | None = getattr(results, "flows", None)
    rows = [] if table is None else rows_of_run(table, point.median["run"]).to_pylist()
    starts = sorted({row["start_seconds"] for row in rows})
    told: list[tuple[float, str]] = []
    # What is asked for a volume or at a rate may be several flows of one client.
    noun = "client" if all(row["backlog_bytes"] is None for row in rows) else "flow"
    for start in starts:
        words = _bound([row for row in rows if row["start_seconds"] == start], noun)
        if not told or words != told[-1][1]:
            told.append((start, words))
    if len(told) < 2:
        text = "".join(words for _, words in told)
    else:
        shown = told[:_STRETCHES_SHOWN_MAX]
        text = "; ".join(f"from {format_duration(start)} on {words}" for start, words in shown)
        more = len(told) - len(shown)
        text += f"; {plural(more, 'change')} more" if more else ""
    return f"{text[0].upper()}{text[1:]}." if text else ""


def _bound(rows: list[dict[str, Any]], noun: str) -> str:
    """What binds most of the flows of a stretch of time."""
    counts: Counter[tuple[str, str, int]] = Counter()
    for row in rows:
        full = row["full_parts"]
        # Several that are full are told of together.
        counts[row["binding"] if full < 2 else "", row["binding_level"], full] += row["flows"]
    (name, level, full), bound = counts.most_common(1)[0]
    total = sum(counts.values())
    who = f"all {noun}s" if bound == total else f"{bound:,} of {plural(total, noun)}"
    if name in _OWN_RATE:
        return f"{who} have the rate that they ask for"
    if name in _OWN:
        return f"{who} get what they ask for, one answer after another"
    if full > 1:
        return f"{who} are bound by {plural(full, level)}, which are full"
    return f"{who} are bound by {name}, which is full"
