"""How a study under way looks in a terminal: a line for the study, a row for each run."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, RenderResult
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from resilver.units import format_duration

if TYPE_CHECKING:
    from resilver.study import RunProgress, StudyProgress

# A terminal of this width has room for bars and for whole labels in the rows of the runs.
_WIDE = 110
_LABEL_WIDTH, _LABEL_WIDTH_WIDE = 19, 34
_BAR_WIDTHS = (8, 40)
_ROW_BAR_WIDTH = 16
_STEP_BAR_WIDTH = 32

# Lines around the rows of the runs: the study's, the headings, "and more", and the prompt's.
_LINES_AROUND = 5


class ProgressView:
    """A study's progress as wide and as high as the terminal allows.

    Args:
        progress: how far the study is.
    """

    def __init__(self, progress: StudyProgress) -> None:
        self._progress = progress

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw the line of the study and the rows of the runs under way."""
        width = options.max_width
        yield study_line(self._progress, width)
        runs = list(self._progress.under_way.items())
        # A single row more takes the line that would say so.
        room = max(1, console.height - _LINES_AROUND)
        shown = runs if len(runs) <= room + 1 else runs[:room]
        if shown:
            yield runs_table(shown, width)
        if len(shown) < len(runs):
            yield Text(f"and {len(runs) - len(shown)} more runs under way", style="dim")


def study_line(progress: StudyProgress, width: int) -> Table:
    """The line of the study: runs, bar, share, rates and time left, as far as they fit."""
    counts = progress.counts
    noun = "run" if counts.total == 1 else "runs"
    cells = [Text(f"{counts.finished:,} of {counts.total:,} {noun}", style="bold")]
    if counts.failed:
        cells.append(Text(f"{counts.failed:,} failed", style="bold red"))
    tail = [Text(f"{100.0 * progress.fraction:.0f} %")]
    if progress.seconds_left is not None and progress.fraction < 1.0:
        tail.append(Text(f"{time_left(progress.seconds_left)} left"))
    extras = []
    if progress.runs_per_second:
        extras.append(Text(run_rate(progress.runs_per_second), style="dim"))
    if progress.events_per_second:
        words = f"{short_count(progress.events_per_second)} events/s"
        extras.append(Text(words, style="dim"))
    low, high = _BAR_WIDTHS

    def room(texts: list[Text]) -> int:
        return width - sum(len(text) + 2 for text in texts)

    # The rates give way before the bar does.
    while extras and room([*cells, *tail, *extras]) < 2 * low:
        extras.pop()
    bar_width = min(high, max(low, room([*cells, *tail, *extras])))
    line = Table.grid(padding=(0, 2, 0, 0))
    for _ in range(len(cells) + 1 + len(tail) + len(extras)):
        line.add_column(no_wrap=True)
    line.add_row(*cells, _bar(progress.fraction, bar_width), *tail, *extras)
    return line


def step_line(name: str, fraction: float, seconds_left: float | None) -> Table:
    """A line for what has no runs: its name, bar, share, and time left."""
    line = Table.grid(padding=(0, 2, 0, 0))
    left = "" if seconds_left is None else f"{time_left(seconds_left)} left"
    line.add_row(name, _bar(fraction, _STEP_BAR_WIDTH), f"{100.0 * fraction:.0f} %", left)
    return line


def runs_table(runs: Iterable[tuple[str, RunProgress]], width: int) -> Table:
    """A row for each run under way.

    Returns:
        The table, with bars where the terminal is wide.
    """
    wide = width >= _WIDE
    table = Table.grid(padding=(0, 2, 0, 0))
    # The least widths keep the columns in place while their numbers change.
    columns = [("run", 12), *([("", _ROW_BAR_WIDTH)] if wide else []), ("phase", 10), ("", 5)]
    runs = list(runs)
    # A run that only starts does not tell yet what it will count.
    begun = [run.state.phase for _, run in runs if run.state.phase != "starting"]
    kinds = {"requests" if phase == "serving" else "rebuilt" for phase in begun}
    counted = kinds.pop() if len(kinds) == 1 else "done"
    columns += [("events/s", 8), ("simulated", 9), (counted, 14 if wide else 11), ("left", 6)]
    for heading, least in columns:
        left = heading in ("run", "phase")
        table.add_column(justify="left" if left else "right", no_wrap=True, min_width=least)
    table.add_row(*(Text(heading, style="dim") for heading, _ in columns))
    for label, run in runs:
        name = shortened(label, _LABEL_WIDTH_WIDE if wide else _LABEL_WIDTH)
        bar = [_bar(run.fraction, _ROW_BAR_WIDTH)] if wide else []
        table.add_row(Text(name), *bar, *(Text(cell) for cell in _cells(run, wide=wide)))
    return table


def _cells(run: RunProgress, *, wide: bool) -> list[str]:
    """Phase, share of it, events a second, simulated time, objects or requests, time left."""
    state = run.state
    share = f"{100.0 * state.fraction:.0f} %" if state.phase not in ("starting", "storing") else ""
    rate = short_count(run.events_per_second) if state.moves and run.events_per_second else ""
    simulated = format_duration(state.simulated_seconds) if state.moves else ""
    done = ""
    if state.phase == "serving" and state.requests_completed:
        done = short_count(state.requests_completed)
    elif state.moves and state.pieces_to_rebuild:
        done = count_of(state.rebuilt_pieces, state.pieces_to_rebuild, wide=wide)
    left = time_left(run.seconds_left) if run.seconds_left is not None else ""
    return [state.phase, share, rate, simulated, done, left]


def _bar(fraction: float, width: int) -> ProgressBar:
    return ProgressBar(
        total=1.0, completed=fraction, width=width, complete_style="cyan", finished_style="cyan"
    )


def short_count(value: float) -> str:
    """A count in three figures, with an SI prefix from a thousand on.

    Example:
        >>> short_count(512), short_count(9996.0), short_count(18_249_000), short_count(0.25)
        ('512', '10.0 k', '18.2 M', '0.25')
    """
    for size, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        # 999.5 of a unit prints as 1.00 of the next.
        if value >= 0.9995 * size:
            return f"{_three_figures(value / size)} {prefix}"
    return f"{value:.0f}" if value >= 10 or value == int(value) else f"{value:.2g}"


def count_of(part: int, whole: int, *, wide: bool) -> str:
    """How many of how many, in one unit.

    Args:
        wide: whether there is room for the word "of".

    Example:
        >>> count_of(1_204_000, 3_810_000, wide=True), count_of(7, 90, wide=False)
        ('1.20 of 3.81 M', '7/90')
    """
    number, _, prefix = short_count(whole).partition(" ")
    size = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}.get(prefix)
    digits = len(number.partition(".")[2])
    first = f"{part / size:.{digits}f}" if size else f"{part}"
    words = f"{first} of {number}" if wide else f"{first}/{number}"
    return f"{words} {prefix}" if prefix else words


def time_left(seconds: float) -> str:
    """A time left in words that do not flicker: whole seconds, then two units.

    Example:
        >>> time_left(0.3), time_left(12.4), time_left(192.0)
        ('1 s', '12 s', '3 min 12 s')
    """
    return f"{max(1, round(seconds))} s" if seconds < 59.5 else format_duration(seconds)


def run_rate(runs_per_second: float) -> str:
    """How many runs finish in a second, a minute or an hour.

    Returns:
        The rate in the shortest of these times in which at least one finishes.

    Example:
        >>> run_rate(12.34), run_rate(0.05), run_rate(1e-4)
        ('12.3 runs/s', '3.00 runs/min', '0.36 runs/h')
    """
    for seconds, unit in ((1.0, "s"), (60.0, "min")):
        if runs_per_second * seconds >= 1.0:
            return f"{_three_figures(runs_per_second * seconds)} runs/{unit}"
    return f"{runs_per_second * 3600.0:.2g} runs/h"


def _three_figures(value: float) -> str:
    return f"{value:.{2 if value < 9.995 else 1 if value < 99.95 else 0}f}"


def shortened(label: str, width: int) -> str:
    """A run's label in the width of a column.

    Args:
        label: swept keys with their values, and the seed.
        width: the most characters.

    Returns:
        The label with the last words of its keys where they tell the keys apart. The seed at its
        end tells runs apart, so a label that is still too long loses its beginning.

    Example:
        >>> shortened("cluster.servers=64 seed=3", 20)
        'servers=64 seed=3'
    """
    keys = re.findall(r"(?:^| )([\w.]+)=", label)
    last = [key.rpartition(".")[2] for key in keys]
    if len(set(last)) == len(last):
        label = re.sub(r"(^| )[\w.]+\.(\w+)=", r"\1\2=", label)
    return label if len(label) <= width else "..." + label[3 - width :]
