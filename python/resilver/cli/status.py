"""`resilver status`: how far the sweep of a run folder is, from anywhere."""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.live import Live
from rich.table import Table
from rich.text import Text

from resilver.cli.console import EXIT_INCOMPLETE, output, print_json
from resilver.cli.progress_view import runs_table, shortened, study_line, time_left
from resilver.cli.summary import short_names
from resilver.study import Counts, Status, StudyProgress
from resilver.study import status as read_status
from resilver.units import format_duration

_SECONDS_BETWEEN_LOOKS = 2.0
_POINTS_SHOWN = 40
_RUNS_SHOWN = 16
_FAILURES_SHOWN = 5


def status(folder: Path, *, watch: bool, as_json: bool) -> int:
    """Print how far the sweep of a folder is.

    Args:
        folder: the run folder.
        watch: go on until the sweep ends.
        as_json: print JSON; while watching, an object a line whenever it changes.

    Returns:
        The exit code: 3 for a sweep that was left incomplete, else 0.

    Raises:
        ConfigError: it is no run folder.
    """
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

    Args:
        status: the status.

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
    """The status of a sweep as a terminal shows it.

    Args:
        status: the status.
    """

    def __init__(self, status: Status) -> None:
        self._status = status

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw the headline, the bar, the systems, the runs under way and the failures."""
        status, width = self._status, options.max_width
        yield _headline(status)
        yield study_line(status.progress or _standing(status), width)
        if any(point.swept for point in status.points):
            yield Group(_points_table(status))
            if len(status.points) > _POINTS_SHOWN:
                hidden = len(status.points) - _POINTS_SHOWN
                yield Text(f"and {hidden:,} more systems; --json has all", style="dim")
        if status.progress is not None and status.progress.under_way:
            runs = list(status.progress.under_way.items())
            if not any(point.swept for point in status.points):
                yield Text()
            yield runs_table(runs[:_RUNS_SHOWN], width)
            if len(runs) > _RUNS_SHOWN:
                hidden = len(runs) - _RUNS_SHOWN
                yield Text(f"and {hidden:,} more runs under way; --json has all", style="dim")
        if status.failures:
            yield Text()
            for label, message in status.failures[:_FAILURES_SHOWN]:
                line = (shortened(label, 40), "bold red")
                yield Text.assemble(line, f" {message}")
            if status.failed > _FAILURES_SHOWN:
                yield Text(f"and {status.failed - _FAILURES_SHOWN:,} more failures", style="dim")
        yield Text()
        yield from _foot(status)


def _standing(status: Status) -> StudyProgress:
    """What the bar shows of a sweep that is not running."""
    share = status.finished / status.total if status.total else 1.0
    counts = Counts(status.total, status.finished, 0, status.failed)
    return StudyProgress(counts, {}, share, share, 0.0)


_COLOURS = {"running": "cyan", "complete": "green", "incomplete": "yellow", "dead": "red"}


def _headline(status: Status) -> Text:
    """Folder, state, and who performs the sweep."""
    text = Text.assemble((f"{status.folder}", "bold"), ": ", (status.state, _COLOURS[status.state]))
    driver = status.driver
    if driver is None:
        return text
    who = f"process {driver.process} on {driver.host}"
    if driver.job:
        who += f", {driver.job}"
    if status.state == "running" and status.progress is not None:
        text.append(f" for {_ago(status.progress.elapsed_seconds)}: {who}")
    elif status.state == "running":
        text.append(f": {who}")
    else:
        ago = _ago(driver.silent_seconds)
        text.append(f": {who} is gone without a word; its last sign is {ago} old")
    return text


def _points_table(status: Status) -> Table:
    """A row a system of the sweep."""
    keys = list(status.points[0].swept)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for heading in [*short_names(keys), "runs", "finished", "under way", "failed", "left"]:
        table.add_column(heading, justify="right", overflow="fold")
    for point in status.points[:_POINTS_SHOWN]:
        left = point.runs - point.finished - point.failed - point.under_way
        counts = [point.finished, point.under_way, point.failed, left]
        cells = [f"{count:,}" if count else "-" for count in counts]
        if point.failed:
            cells[2] = f"[red]{cells[2]}[/red]"
        swept = [_value(key, point.swept[key]) for key in keys]
        table.add_row(*swept, f"{point.runs:,}", *cells)
    return table


def _value(key: str, value: object) -> Text:
    from resilver.report.source import format_swept

    return Text(format_swept(key, value))


def _foot(status: Status) -> Iterator[Text]:
    """When a run last finished, and what to do next."""
    if status.last_finished is not None:
        ago = max(0.0, time.time() - status.last_finished)
        yield Text(f"The last run finished {_ago(ago)} ago.", style="dim")
    if status.state in ("incomplete", "dead"):
        command = shlex.join(status.command)
        if status.left:
            # Never broken into lines, so that it can be copied.
            yield Text(f"Do the rest with: {command}", no_wrap=True, overflow="ignore")
        elif status.failed:
            yield Text("All other runs are finished; those that failed would fail again.")
    elif status.state == "complete":
        yield Text(f"Next: resilver report {shlex.quote(str(status.folder))}")


def _ago(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 59.5 else format_duration(seconds)
