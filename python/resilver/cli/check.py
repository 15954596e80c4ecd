"""`resilver check`: is a study right, what is it exactly, and what will it cost."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table
from rich.text import Text

from resilver.cli.console import EXIT_FAILED, output, print_json
from resilver.cli.loading import load_study
from resilver.study.machine import machine_memory, memory_problems
from resilver.units import format_bytes, format_duration

if TYPE_CHECKING:
    from resilver.spec import Run, Study, System


# A sweep of more points than this is not read in a terminal.
_POINTS_SHOWN = 40

# What a row of the table holds: the cost of one run, in the width of a terminal.
_COLUMNS = {
    "runs": "runs",
    "objects": "objects",
    "raw_bytes_a_device": "raw a device",
    "bytes_to_move": "to move",
    "requests": "requests",
    "packet_hops": "packet hops",
    "events": "events",
    "seconds": "a run takes",
    "memory_bytes": "memory",
}

# What a narrow terminal does without, one after another.
_LEFT_OUT_FIRST = ("packet_hops", "requests", "objects")

# Figures of a rebuild, of clients and of a network of packets, left out where there is none.
_OF_REBUILD = ("objects", "replicas_to_move", "bytes_to_move", "buffers", "placement_groups")
_OF_SOME = (
    "raw_bytes_a_device",
    "requests",
    "packet_hops",
    "rebuilding_seconds",
    "serving_seconds",
)

# By the figure, and whether it is not known.
_REMARKS = {
    ("raw_bytes_a_device", False): " with redundancy; bytes_per_server is user data",
    ("capacity_bytes", True): "; state cluster.capacity for a limit",
}


def check(study_file: Path, settings: list[str], *, as_json: bool) -> int:
    """Validate, resolve and estimate.

    Args:
        study_file: the study file.
        settings: overrides as KEY=VALUE.
        as_json: print JSON instead of text.

    Returns:
        The exit code: 1 if a run needs more memory than this machine has, else 0.
    """
    from resilver.simulate import validate_runs

    study = load_study(study_file, settings)
    runs = study.runs()
    validate_runs(runs)
    if study.durability is not None:
        from resilver.data_loss.systems import refuse_study

        refuse_study(study)
    points = estimates(runs)
    refused = memory_problems([one["memory_bytes"] for one in points], _names(points))
    if as_json:
        print_json(
            {
                "study": study.resolved(),
                "runs": len({run.key for run in runs}),
                "estimate": points,
                "assumptions": [asdict(one) for one in _assumed(study)],
                "chances": list(study.chances()),
                "notes": [*notes(study), *crowding_notes(points)],
                "problems": [str(problem) for problem in refused],
            }
        )
        return EXIT_FAILED if refused else 0
    console = output()
    console.print(
        _coloured(study) if console.is_terminal else Text(study.to_toml()), soft_wrap=True
    )
    console.print(_table(points, console.width) if len(points) > 1 else _list(points[0]))
    if len(points) > _POINTS_SHOWN:
        console.print(f"and {len(points) - _POINTS_SHOWN} more points; --json has them all")
    console.print()
    console.print(_assumptions(study))
    console.print()
    for note in [*notes(study), *crowding_notes(points)]:
        for line in textwrap.wrap(f"Note: {note}", width=min(console.width, 100)):
            console.print(Text(line), soft_wrap=True)
    for problem in refused:
        for line in textwrap.wrap(f"Too large: {problem}", width=min(console.width, 100)):
            console.print(Text(line, style="bold red"), soft_wrap=True)
    total = _total(points, len({run.key for run in runs}), is_too_large=bool(refused))
    console.print(Text(total), soft_wrap=True)
    return EXIT_FAILED if refused else 0


def _coloured(study: Study) -> Any:
    from rich.syntax import Syntax

    return Syntax(study.to_toml(), "toml", theme="ansi_dark", background_color="default")


def _names(points: Sequence[Mapping[str, Any]]) -> list[str]:
    """What tells the systems of a sweep apart, in words; empty for the only one."""
    from resilver.report.source import format_swept

    return [
        ", ".join(f"{key} = {format_swept(key, value)}" for key, value in point["swept"].items())
        for point in points
    ]


def crowding_notes(points: Sequence[Mapping[str, Any]]) -> list[str]:
    """That runs at once need more memory than is free, where one alone has enough.

    Args:
        points: the estimates, as `estimates` gives them.
    """
    memory = machine_memory()
    need = max(point["memory_bytes"] for point in points)
    at_once = min(os.cpu_count() or 1, sum(point["runs"] for point in points))
    if memory is None or need > memory.total_bytes or at_once * need <= memory.available_bytes:
        return []
    fitting = max(int(memory.available_bytes // need), 1)
    free = format_bytes(memory.available_bytes)
    return [
        f"{at_once} {'run' if at_once == 1 else 'runs at once'} of {format_bytes(need)} need more "
        f"memory than the {free} that are free; use --workers {fitting}."
    ]


def _assumed(study: Study) -> Sequence[Any]:
    """What the results will rest on; of a real cluster what its what-if rests on."""
    first = study.runs()[0]
    if first.system.report is None:
        return study.assumptions()
    from resilver.whatif.studied import made_ready

    return made_ready(first.system, first.seed).assumptions


def _assumptions(study: Study) -> Table:
    """A row for each thing that the results will rest on, and who says it."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for heading in ("assumption", "value", "from"):
        table.add_column(heading)
    for one in _assumed(study):
        table.add_row(one.name, one.value, one.origin)
    return table


def notes(study: Study) -> list[str]:
    """What a person may not have meant: a study that does nothing, and seeds that change nothing.

    Args:
        study: the study.

    Returns:
        Sentences, the weightiest first.
    """
    from resilver.spec.idle import idle_note
    from resilver.words import listed

    systems = {id(run.system): run.system for run in study.runs()}
    found = []
    if study.durability is not None:
        found.append("no run depends on [durability]; resilver durability asks it.")
    if note := idle_note(list(systems.values())):
        return [note, *found]
    drawn, seeds = study.chances(), len(study.study.seeds)
    if drawn and seeds == 1:
        found.append(f"the seed draws {listed(list(drawn))}; one seed shows no spread.")
    elif not drawn and seeds > 1:
        found.append(f"there is no chance in it, so all {seeds} seeds give the same run.")
    elif not drawn:
        found.append("there is no chance in it: any seed gives the same run.")
    return found


def estimates(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """The estimated cost of each swept point.

    Args:
        runs: the study's runs, in order.

    Returns:
        For each point, its swept values, the number of its runs, and the estimate of one run.
    """
    from resilver.estimate import estimate

    points: dict[str, dict[str, Any]] = {}
    for run in runs:
        name = repr(run.swept)
        if name not in points:
            points[name] = {
                "swept": dict(run.swept),
                "runs": 0,
                "servers": run.system.server_count,
                "placement_groups": run.system.placement_group_count,
                **_stored(run.system),
                **estimate(run.system),
            }
        points[name]["runs"] += 1
    return list(points.values())


def _stored(system: System) -> dict[str, Any]:
    """What a device stores with redundancy and what it holds, of the kind that stores most."""
    from resilver.spec.capacity import stored_of

    kinds = stored_of(system)
    if not kinds:
        return {"raw_bytes_a_device": None, "capacity_bytes": None}
    fullest = max(kinds, key=lambda one: (one.share or 0.0, one.raw_bytes))
    raw, capacity = round(fullest.raw_bytes), fullest.capacity
    return {
        "raw_bytes_a_device": raw,
        "capacity_bytes": None if capacity is None else int(capacity),
    }


def _table(points: Sequence[Mapping[str, Any]], width: int) -> Table:
    """A row a point: its swept values, then what one of its runs is expected to cost.

    Args:
        points: The points.
        width: The columns of the terminal.
    """
    from resilver.cli.summary import short_names
    from resilver.report.source import format_swept

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    swept = list(points[0]["swept"])
    columns = {
        key: name for key, name in _COLUMNS.items() if any(_applies(key, point) for point in points)
    }
    rows = [
        [
            *(format_swept(key, point["swept"][key]) for key in swept),
            *(_words(key, point.get(key)) for key in columns),
        ]
        for point in points[:_POINTS_SHOWN]
    ]
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    names = [*short_names(swept), *columns.values()]
    shown = _fitting([*swept, *columns], names, widths, width)
    # In a narrow terminal the headings break, and the numbers stay whole.
    is_narrow = sum(max(widths[place], len(names[place])) + 3 for place in shown) > width
    for place in shown:
        heading = names[place].replace(" ", "\n") if is_narrow else names[place]
        table.add_column(heading, justify="right", min_width=widths[place])
    for row in rows:
        table.add_row(*(row[place] for place in shown))
    return table


def _fitting(
    keys: Sequence[str], names: Sequence[str], widths: Sequence[int], width: int
) -> list[int]:
    """Places of the columns that fit a terminal; `--json` has those that are left out."""
    shown = list(range(len(keys)))

    def needed(place: int) -> int:
        # A heading breaks between its words, and two blanks stand before the next column.
        return max(widths[place], *map(len, names[place].split())) + 3

    for key in _LEFT_OUT_FIRST:
        if sum(map(needed, shown)) <= width:
            break
        shown = [place for place in shown if keys[place] != key]
    return shown


def _list(point: Mapping[str, Any]) -> Table:
    """The only point of a study, a line a figure."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim")
    table.add_column(style="bold")
    for key, value in point.items():
        if key != "swept" and _applies(key, point):
            table.add_row(
                _heading(key), _words(key, value) + _REMARKS.get((key, value is None), "")
            )
    return table


def _applies(key: str, point: Mapping[str, Any]) -> bool:
    """Whether a figure says something of a point."""
    if key == "capacity_bytes":
        return point.get("raw_bytes_a_device") is not None
    if key in _OF_SOME:
        return point.get(key) is not None
    return key not in _OF_REBUILD or point.get("serving_seconds") is None


def _heading(name: str) -> str:
    """What a figure of the estimate is called in a line of its own."""
    headings = {
        "capacity_bytes": "A device holds",
        "seconds": "Time of a run",
        "rebuilding_seconds": "Rebuilding among it",
        "serving_seconds": "Serving clients among it",
        "memory_bytes": "Memory of a run",
    }
    words = name.replace("_", " ")
    return headings.get(name, words[0].upper() + words[1:])


def _words(name: str, value: Any) -> str:
    if value is None:
        return "n/a" if name == "capacity_bytes" else "-"
    if name.endswith("seconds"):
        return format_duration(value)
    if "bytes" in name:
        return format_bytes(value)
    return _counted(value) if isinstance(value, (int, float)) else str(value)


def _counted(value: float) -> str:
    """An expected count: every digit while there are few, then three of them and an SI prefix."""
    if value < 100_000:
        return f"{value:,.0f}"
    for size, name in ((1e12, "T"), (1e9, "G"), (1e6, "M")):
        if value >= size:
            return f"{value / size:.3g} {name}"
    return f"{value / 1e3:.0f},000"


def _total(points: Sequence[Mapping[str, Any]], runs: int, *, is_too_large: bool) -> str:
    seconds = sum(point.get("seconds", 0.0) * point["runs"] for point in points)
    but = ", but too large for this machine" if is_too_large else ""
    text = f"The study is valid{but}: {runs} {'run' if runs == 1 else 'runs'}"
    if seconds:
        text += f", about {format_duration(seconds)} of one processor"
    return text + "."
