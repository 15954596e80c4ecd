"""`resilver reproduce`: a study that ships, with ours beside the published numbers."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from resilver.cli.console import EXIT_DIFFERS, EXIT_FAILED, make_folder, output, print_json, say
from resilver.cli.options import (
    FigureFormat,
    Json,
    Quiet,
    Verbose,
    Where,
    figure_format,
    figures_output,
    overrides,
)
from resilver.cli.replying import reply, written
from resilver.errors import ConfigError, show
from resilver.record import record
from resilver.request import argument, option

if TYPE_CHECKING:
    from resilver.reproduce import Comparison, Entry, Reproduction
    from resilver.spec import Study
    from resilver.study import Results
    from resilver.study.executors import ExecutorChoice

FOLDER = Path("runs") / "reproduce"
"""Where run folders go by default: all entries share it, so that none runs twice."""


@dataclass(frozen=True)
class Request:
    """What is reproduced."""

    name: str | None = argument("NAME", text="What to reproduce; see --list.", default=None)
    figure: str | None = argument(
        "FIGURE", text="One figure or table, such as 8 or 'Table II'.", default=None
    )
    listing: bool = option(
        "--list", text="List what can be reproduced, with its figures and times.", default=False
    )
    folder: Path | None = option(
        "--output", "-o", metavar="DIR", text="Runs and page; by default runs/reproduce."
    )
    seeds: int | None = option(min=1, text="Seeds a point; by default the study's own.")
    settings: tuple[str, ...] = overrides("the study", "cluster.servers=128")
    figures: Path | None = figures_output()
    figure_format: FigureFormat = figure_format()


def reproduce(
    request: Request,
    where: Where,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> int:
    """Reproduce the figures of a published study, next to the published numbers.

    Exits with 1 if a check of our own fails, with 4 if a published number differs from ours by more
    than its tolerance. Ctrl-C keeps finished runs; the same command does the rest.

    Examples:

    resilver reproduce --list

    resilver reproduce rebuild-scaling

    resilver reproduce rebuild-scaling 8 --seeds 3 -o runs/figure-8

    resilver reproduce rebuild-scaling --cluster tcp://node1:8786
    """
    if request.listing:
        return list_entries(as_json=as_json)
    from resilver.study.executors import choose

    if request.name is None:
        remedy = "give one of `resilver reproduce --list`, such as rebuild-scaling"
        raise ConfigError("what to reproduce is missing", remedy, "NAME")
    # Before anything is read: in an allocation, this is where all tasks but the driver's stay.
    with closing(
        choose(where.cluster, workers=where.workers, cluster_config=where.cluster_config)
    ) as choice:
        made = _made(request, where, choice, quiet=quiet, verbose=verbose)
    return _answered(request, made, as_json=as_json, quiet=quiet)


def list_entries(*, as_json: bool) -> int:
    """Print what can be reproduced, with the figure or table of each and its expected time."""
    from resilver.reproduce import entry, names

    entries = [entry(name) for name in names()]
    if as_json:
        print_json([_listed(one) for one in entries])
        return 0
    console = output()
    for heading, group in _groups(entries).items():
        # One table a source: in each, the names take no more room than its own need.
        table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
        table.add_column("name", no_wrap=True)
        table.add_column("about", justify="right", no_wrap=True)
        table.add_column("what it is")
        for one in group:
            indent = "" if one.kind == "collection" else "  "
            took = one.expected_seconds
            seconds = f"{took:.0f} s" if took < 90 else f"{took / 60:.0f} min"
            table.add_row(indent + one.name, seconds, f"{one.title}{_answers_to(one)}")
        console.print(Text(heading, style="bold"))
        console.print(table)
        console.print()
    say(
        "times are for two cores and the seeds of each study, with the runs that it compares with, "
        "which a collection makes once; `resilver reproduce NAME` makes one"
    )
    return 0


def _groups(entries: Sequence[Entry]) -> dict[str, list[Entry]]:
    """The entries by who published their numbers: a collection, its members, what else there is."""
    groups: dict[str, list[Entry]] = {}
    left = {one.name: one for one in entries}
    for whole in [one for one in entries if one.kind == "collection"]:
        # A collection may be one of another's, whose members are listed with the first.
        members = [left.pop(name) for name in (whole.name, *whole.members) if name in left]
        short = tuple({one.source for one in members[1:]})
        others = [name for name, one in left.items() if short and one.source.startswith(short)]
        group = groups.setdefault(_source(whole.source), [])
        group += [*members, *map(left.pop, others)]
    for one in left.values():
        groups.setdefault(_source(one.source), []).append(one)
    return groups


def _source(text: str) -> str:
    """Who published something, or that nobody did."""
    return f"No paper: {text.removeprefix('none: ')}" if text.startswith("none: ") else text


def _answers_to(one: Entry) -> str:
    """The figures and tables of an entry in brackets, numbers in a row as ranges."""
    from resilver.report.provenance import seed_ranges

    if one.kind == "collection" or not one.figures:
        return ""
    numbers = [int(name.split()[1]) for name in one.figures if name.startswith("Figure ")]
    tables = [name for name in one.figures if not name.startswith("Figure ")]
    drawn = [f"Fig. {seed_ranges(numbers).replace(' to ', '-')}"] if numbers else []
    return f" ({', '.join([*drawn, *tables])})"


def _listed(one: Entry) -> dict[str, Any]:
    """An entry as JSON."""
    from resilver.reproduce import entry
    from resilver.reproduce.published import KINDS

    parts = [entry(name) for name in one.members] or [one]
    return {
        **record(one, "name", "kind", "title", "source", "figures", "members"),
        **record(one, "expected_seconds", "stand_ins"),
        "numbers": {
            kind: sum(number.kind == kind for part in parts for number in part.published)
            for kind in KINDS
        },
    }


def _made(
    request: Request, where: Where, choice: ExecutorChoice, *, quiet: bool, verbose: bool
) -> Reproduction:
    """Make what is asked for."""
    from resilver.cli.running import perform
    from resilver.reproduce import Wishes, chosen
    from resilver.reproduce import reproduce as make
    from resilver.reproduce.make import beside_unchanged

    assert request.name is not None
    one = chosen(request.name, request.figure)
    wishes = Wishes(request.seeds, request.settings, where.workers)
    if request.settings and not (one.has_runs or one.members):
        rule = f"{one.name} measures without a study, so it has no settings"
        raise ConfigError(rule, "leave --set out", "--set", show(request.settings[0]))
    folder = _folder_of(request)
    if request.settings and not quiet:
        changed = " ".join(f"--set {quote(setting)}" for setting in request.settings)
        say(f"not the study as it ships: {changed}; runs and page go to {folder}")

    def run(study: Study, path: Path, workers: int | None) -> Results:
        # A measurement says itself how many workers it has, and they are this machine's.
        place = choice if workers is None else None
        return perform(
            study, path, place, where.split, workers=workers, quiet=quiet, verbose=verbose
        )

    def begin(part: Entry, runs: int) -> None:
        if not quiet:
            counted = f", {runs} {'run' if runs == 1 else 'runs'}" if runs else ""
            say(f"{part.name}: {part.title}{counted}")
            if part.workers is not None and where.workers not in (None, part.workers):
                say(f"{part.name} is a measurement: {part.workers} run at a time, not --workers")
            if where.cluster is not None and (part.workers is not None or not part.has_runs):
                say(f"{part.name} is measured on this machine, not on --cluster")

    make_folder(folder, "--output")
    made = make(one, folder, wishes, run, begin)
    if request.settings:
        own = FOLDER if request.folder is None else folder / "unchanged"
        made = beside_unchanged(made, own, run)
    return made


def _answered(request: Request, made: Reproduction, *, as_json: bool, quiet: bool) -> int:
    """Write the page and the pictures, and print the numbers beside the published ones."""
    from resilver.reproduce import reproduction_answer

    figure = "-".join(made.entry.figures).replace(" ", "-").casefold() if request.figure else ""
    page = _folder_of(request) / f"{'-'.join(filter(None, [made.entry.name, figure]))}.html"
    answer, folder, ending = reproduction_answer(made), request.figures, request.figure_format
    charts = answer.charts() if folder is not None else []
    files = [str(folder / f"{chart.name}.{ending}") for chart in charts if folder is not None]
    record = _record(made) | {"page": str(page), "figures_written": files}
    said = written(answer, {"--output": page, "--figures": folder, "--format": ending})
    reply(replace(answer, record=record), said, as_json=as_json, quiet=quiet)
    return _judged(made)


def _folder_of(request: Request) -> Path:
    """Where the runs go: those of a study that was changed stay apart from the study's own."""
    if request.folder is not None:
        return request.folder
    if not request.settings:
        return FOLDER
    text = "\n".join(sorted(request.settings))
    return FOLDER.with_name(f"{FOLDER.name}-{sha256(text.encode()).hexdigest()[:8]}")


def _record(made: Reproduction) -> dict[str, Any]:
    """What came of it, as JSON."""
    from resilver.reproduce.entries import stand_in

    stand_ins = map(stand_in, made.entry.stand_ins)
    return {
        **_listed(made.entry),
        "holds": made.holds,
        "totals": made.totals,
        "settings": made.wishes.overrides,
        "comparisons": [one.as_record() for one in made.comparisons],
        "conclusions": [one.as_record() for one in made.conclusions],
        "measured": {
            part.entry.name: {one.key: one.ours for one in part.comparisons} for part in made.parts
        },
        "stand_ins": [record(one, "name", "instead_of", "used") for one in stand_ins],
        "seconds": sum(part.seconds for part in made.parts),
    }


def _judged(made: Reproduction) -> int:
    """The exit code, with a list of own checks that fail and published numbers that differ."""
    for one in made.failures:
        say(f"own check fails: {_line(one)}")
    for one in made.differences:
        say(f"differs from the source: {_line(one)}")
    if made.failures:
        return EXIT_FAILED
    return EXIT_DIFFERS if made.differences else 0


def _line(one: Comparison) -> str:
    from resilver.reproduce.words import allowed_words, number_words

    assert one.ours is not None
    figure = f" ({one.figure})" if one.figure else ""
    ours = number_words(one.ours, one.unit)
    published = "" if one.paper is None else f", published {number_words(one.paper, one.unit)}"
    return f"{one.entry}, {one.what}{figure}: {ours}{published}, allowed {allowed_words(one)}"
