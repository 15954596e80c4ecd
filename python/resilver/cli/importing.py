"""`resilver import`: what was measured elsewhere, as the inputs of studies."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rich.console import Console
from rich.live import Live
from rich.text import Text

from resilver.cli.console import messages, print_json, say
from resilver.cli.saving import keep_inputs, save_whole
from resilver.errors import ConfigError, Problem
from resilver.units import format_bytes

if TYPE_CHECKING:
    from resilver.importers.sizes import Bin, MeasuredSizes
    from resilver.importers.sizes.formats import Format
    from resilver.importers.sizes.tree import WalkProgress

_WITHIN = 0.01
"""By how much a histogram's volume may be off before the command suggests finer bins."""

_WORDS = {
    "symbolic_links": "symbolic links (not followed)",
    "special_files": "sockets, pipes and devices",
    "further_names": "further names of files that have several",
    "other_file_systems": "folders of other file systems",
    "unreadable": "folders and files that cannot be read",
    "vanished": "folders and files that vanished meanwhile",
    "without_size": "entries without a size",
    "too_large": "files above 1 PiB, which a population cannot have",
}


def import_sizes(
    listings: list[Path],
    scan: Path | None,
    output: Path | None,
    *,
    format: Format | None,
    field: int | None,
    columns: str | None,
    bins: int,
    plain_edges: bool,
    one_file_system: bool,
    hard_links: Literal["once", "each"],
    threads: int,
    quiet: bool,
    as_json: bool,
) -> None:
    """Measure file sizes and write them as a histogram.

    Args:
        listings: Listings, ``-`` for stdin; none with `scan`.
        scan: The folder whose tree is measured.
        output: The file to write; stdout if there is none.
        format: The format of the listings; told from their beginnings by default.
        field: Which word of a line is the size.
        columns: The names of CSV's columns.
        bins: Bins a power of two of sizes.
        plain_edges: Leave bins their plain edges, which does not keep the volume.
        one_file_system: Stay on the folder's file system.
        hard_links: Whether a file of several names counts once or by each.
        threads: How many threads read folders.
        quiet: No progress and no summary.
        as_json: Print what was measured as JSON on stdout.

    Raises:
        ConfigError: There is not one kind of source, it cannot be read, or the file not be written.
    """
    from resilver import importers

    source = _source(listings, scan)
    keep_inputs(output, listings)
    start = time.monotonic()
    with _walk_display(quiet=quiet or scan is None) as show_progress:
        measured = importers.import_sizes(
            source,
            format=format,
            field=field,
            columns=columns,
            one_file_system=one_file_system,
            hard_links=hard_links,
            threads=threads,
            progress=show_progress,
        )
    seconds = time.monotonic() - start
    chosen = measured.bins(bins, keep_volume=not plain_edges)
    if output is not None:
        save_whole(output, measured.text(chosen))
    if as_json:
        print_json(_as_json(measured, chosen, bins, output, seconds))
    elif output is None:
        sys.stdout.write(measured.text(chosen))
    if not quiet:
        _summarise(measured, chosen, bins, seconds)
        if output is not None:
            say(f'wrote {output}; use it as population.histogram = {{ file = "{output}" }}')


def _source(listings: list[Path], scan: Path | None) -> Any:
    if (scan is None) == (not listings):
        given = "both are given" if listings else "neither is given"
        raise ConfigError(
            Problem(
                f"sizes come from listings or from a folder, and {given}",
                "name listings (- is stdin), or a folder with --scan DIR",
            )
        )
    if scan is not None:
        if not scan.expanduser().is_dir():
            rule = "there is no such folder" if not scan.exists() else "this is not a folder"
            raise ConfigError(Problem(rule, "check the path", "--scan", f'"{scan}"'))
        return scan
    if listings == [Path("-")]:
        return sys.stdin.buffer
    if Path("-") in listings:
        raise ConfigError(Problem("stdin is read alone", "leave out -, or the other listings"))
    for path in listings:
        if path.is_dir():
            rule, remedy = "this is a folder, not a listing", f"measure it with --scan {path}"
            raise ConfigError(Problem(rule, remedy, place=str(path)))
    return listings


def _as_json(
    measured: MeasuredSizes,
    chosen: tuple[Bin, ...],
    per_doubling: int,
    output: Path | None,
    seconds: float,
) -> dict[str, Any]:
    plain = measured.bins(per_doubling, keep_volume=False)
    return {
        "source": measured.source,
        "files": measured.files,
        "bytes": measured.bytes,
        "volume_error": measured.volume_error(chosen),
        "plain_volume_error": measured.volume_error(plain),
        "left_out": measured.left_out.counts(),
        "unreadable_examples": list(measured.left_out.examples),
        "seconds": seconds,
        "output": None if output is None else str(output),
        "bins": [list(item) for item in chosen],
    }


def _summarise(
    measured: MeasuredSizes, chosen: tuple[Bin, ...], per_doubling: int, seconds: float
) -> None:
    rate = f", {measured.files / seconds:,.0f} files a second" if seconds >= 0.5 else ""
    say(
        f"{measured.files:,} {'file' if measured.files == 1 else 'files'}, "
        f"{format_bytes(measured.bytes)}, in {len(chosen)} "
        f"{'bin' if len(chosen) == 1 else 'bins'}{rate}"
    )
    if measured.given is None:
        _say_volume(measured, chosen, per_doubling)
    for name, count in measured.left_out.counts().items():
        say(f"left out: {_WORDS[name]}: {count:,}")
    for example in measured.left_out.examples:
        say(f"  {example}")


def _say_volume(measured: MeasuredSizes, chosen: tuple[Bin, ...], per_doubling: int) -> None:
    """How close the volume of files drawn from the bins is, and what would bring it closer."""
    if measured.bytes == 0:
        say("all files are empty, and each is drawn as one byte")
        return
    error = measured.volume_error(chosen)
    plain_bins = measured.bins(per_doubling, keep_volume=False)
    text = f"files drawn from these bins are expected to hold {_percent(error)} of that volume"
    if chosen != plain_bins:
        text += f"; from bins with plain edges, {_percent(measured.volume_error(plain_bins))}"
    say(text)
    if abs(error) <= _WITHIN:
        return
    if chosen == plain_bins != measured.bins(per_doubling):
        more = ", or use more bins with --bins 8" if per_doubling < 8 else ""
        say(f"  more than 1 % off: leave out --plain-edges{more}")
    else:
        say("  more than 1 % off: the files are so small that it tells that edges are whole bytes")
        say("  and that an empty file is drawn as one byte")


def _percent(error: float) -> str:
    return f"{100 * (1 + error):.4g} %" if abs(error) >= 5e-5 else "100.00 %"


@contextlib.contextmanager
def _walk_display(*, quiet: bool, console: Console | None = None) -> Iterator[Any]:
    """One line on a terminal that says how far a walk is; nothing elsewhere."""
    screen = console or messages()
    if quiet or not screen.is_terminal:
        yield None
        return
    with Live(console=screen, refresh_per_second=10, transient=True) as live:

        def show_progress(progress: WalkProgress) -> None:
            live.update(Text(_progress_line(progress), style="cyan", no_wrap=True))

        yield show_progress


def _progress_line(progress: WalkProgress) -> str:
    rate = progress.files / progress.seconds if progress.seconds > 0 else 0.0
    return (
        f"{progress.files:,} files in {progress.folders:,} folders, {rate:,.0f} files a second; "
        f"{progress.pending:,} folders known and not yet read"
    )
