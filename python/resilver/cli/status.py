"""`resilver status`: how far the sweep of a run folder is, from anywhere."""

from __future__ import annotations

import json
import shlex
import sys
import time
from pathlib import Path

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.text import Text

from resilver.answer import Answer, Lines, Shown, sections_of
from resilver.answer.terminal import print_answer
from resilver.cli.console import EXIT_INCOMPLETE, output, print_json
from resilver.cli.progress_view import runs_table, shortened, study_line, time_left
from resilver.study import Counts, Status, StudyProgress
from resilver.study import status as read_status
from resilver.study.system_runs import format_swept, short_names
from resilver.tables import table
from resilver.units import format_duration

_SECONDS_BETWEEN_LOOKS = 2.0
_RUNS_SHOWN = 16
_FAILURES_SHOWN = 5


def status(folder: Path, *, watch: bool, as_json: bool) -> int:
    """Print how far the sweep of a folder is; while watching as JSON, an object a line."""
    if watch:
        last = _watch(folder, as_json=as_json)
    else:
        last = read_status(folder)
        if as_json:
            print_json(last.to_record())
        else:
            output().print(StatusView(last))
    return EXIT_INCOMPLETE if last.state in ("incomplete", "dead") else 0


def _watch(folder: Path, *, as_json: bool) -> Status:
    console = output()
    if as_json or not console.is_terminal:
        return _watch_in_lines(folder, as_json=as_json)
    last = read_status(folder)
    with Live(StatusView(last), console=console, auto_refresh=False) as live:
        while last.state == "running":
            time.sleep(_SECONDS_BETWEEN_LOOKS)
            last = read_status(folder)
            live.update(StatusView(last), refresh=True)
    return last


def _watch_in_lines(folder: Path, *, as_json: bool) -> Status:
    """A line whenever the number of ended runs or the state changes."""
    before: tuple[object, ...] = ()
    while True:
        last = read_status(folder)
        now = (last.state, last.finished, last.failed)
        if now != before:
            before = now
            text = json.dumps(last.to_record()) if as_json else in_a_line(last)
            sys.stdout.write(f"{text}\n")
            sys.stdout.flush()
        if last.state != "running":
            return last
        time.sleep(_SECONDS_BETWEEN_LOOKS)


def in_a_line(status: Status) -> str:
    """The status in a line.

    Returns:
        For example "running: 3 of 40 runs, 1 failed, 12 s left".
    """
    words = [f"{status.finished:,} of {status.total:,} runs"]
    if status.failed:
        words.append(f"{status.failed:,} failed")
    if status.progress is not None and status.progress.seconds_left is not None:
        words.append(f"{time_left(status.progress.seconds_left)} left")
    return f"{status.state}: {', '.join(words)}"


class StatusView:
    """The status of a sweep as a terminal shows it: the bar, the answer, and the runs under way.

    Args:
        status: the status.
    """

    def __init__(self, status: Status) -> None:
        self._status = status

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw them."""
        status, width = self._status, options.max_width
        share = status.finished / status.total if status.total else 1.0
        counts = Counts(status.total, status.finished, 0, status.failed)
        ended = StudyProgress(counts, {}, share, share, 0.0)
        yield study_line(status.progress or ended, width)
        with console.capture() as captured:
            print_answer(status_answer(status), console)
        yield Text.from_ansi(captured.get().rstrip("\n"), no_wrap=True, overflow="ignore")
        if status.progress is not None and status.progress.under_way:
            runs = list(status.progress.under_way.items())
            yield Text()
            yield runs_table(runs[:_RUNS_SHOWN], width)
            if len(runs) > _RUNS_SHOWN:
                hidden = len(runs) - _RUNS_SHOWN
                yield Text(f"... and {hidden:,} more under way; --json has all", style="dim")


def status_answer(status: Status) -> Answer:
    """How far a sweep is, and what to do next."""
    is_swept = any(point.swept for point in status.points)
    failures = [f"{shortened(label, 40)} {message}" for label, message in status.failures]
    command = ""
    if status.state in ("incomplete", "dead") and status.left:
        command = shlex.join(status.command)
    elif status.state == "complete":
        command = f"resilver report {shlex.quote(str(status.folder))}"
    notes = []
    if status.last_finished is not None:
        ago = _ago(max(0.0, time.time() - status.last_finished))
        notes.append(f"The last run finished {ago} ago.")
    if status.state in ("incomplete", "dead") and status.failed and not status.left:
        notes.append("All other runs are finished; those that failed would fail again.")
    return Answer(
        f"The sweep in {status.folder}",
        [_headline(status)],
        sections_of(
            ("Systems", [_points(status) if is_swept else None]),
            ("Failed", [Lines("failures", "Failed runs", failures, _FAILURES_SHOWN)]),
        ),
        status.to_record(),
        notes=notes,
    ).then([command] if command else [])


def _headline(status: Status) -> str:
    """Folder, state, and who performs the sweep."""
    text = f"{status.folder}: {status.state}"
    driver = status.driver
    if driver is None:
        return text
    who = f"process {driver.process} on {driver.host}"
    if driver.job:
        who += f", {driver.job}"
    if status.state != "running":
        ago = _ago(driver.silent_seconds)
        return f"{text}: {who} ended without a report; last sign of life {ago} ago"
    spent = "" if status.progress is None else f" for {_ago(status.progress.elapsed_seconds)}"
    return f"{text}{spent}: {who}"


def _points(status: Status) -> Shown:
    """A row a system of the sweep."""
    points, keys = status.points, list(status.points[0].swept)
    left = [one.runs - one.finished - one.failed - one.under_way for one in points]
    made = table(
        *(
            (key, name, "text", [format_swept(key, one.swept[key]) for one in points])
            for key, name in zip(keys, short_names(keys), strict=True)
        ),
        ("finished", "finished", "count", [one.finished for one in points]),
        ("runs", "of runs", "count", [one.runs for one in points]),
        ("failed", "failed", "count", [one.failed for one in points]),
        ("left", "left", "count", left),
        ("under_way", "under way", "count", [one.under_way for one in points]),
    )
    return Shown("systems", "Systems", made, keys=len(keys))


def _ago(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 59.5 else format_duration(seconds)
