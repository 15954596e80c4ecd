"""`resilver import`: what was measured elsewhere, as the inputs of studies."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from resilver.cli.console import print_json, say
from resilver.cli.options import Json, Quiet, stated
from resilver.cli.progress import Display
from resilver.cli.saving import keep_inputs, save_whole
from resilver.errors import ConfigError
from resilver.record import record
from resilver.request import argument, option
from resilver.units import format_bytes

if TYPE_CHECKING:
    from resilver.importers.sizes import Bin, MeasuredSizes
    from resilver.importers.walk import LeftOut, WalkProgress

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


@dataclass(frozen=True)
class Asked:
    """Where sizes come from, how they are read, and what is made of them."""

    listings: tuple[Path, ...] = argument(
        "LISTING", text="Listings of one format, gzipped or not; - is stdin.", default=()
    )
    scan: Path | None = option(metavar="DIR", text="Measure the files below a folder instead.")
    output: Path | None = option(
        "--output", "-o", metavar="FILE", text="The histogram to write; by default stdout."
    )
    format: Literal["sizes", "gpfs", "csv", "s3-ls", "histogram"] | None = option(
        text="Format of the listings, by default recognized by their first lines: sizes (find "
        "-printf '%s %p\\n'), gpfs (mmapplypolicy), csv (S3 inventory), s3-ls, histogram.",
    )
    field: int | None = option(min=1, max=1000, text="Which word of a line is the size.")
    columns: str | None = option(
        metavar="NAMES",
        text="CSV's columns, such as 'Bucket, Key, Size' (fileSchema of an S3 inventory).",
    )
    bins: int = stated(text="Bins a power of two of sizes, 1 to 64.", default=1)
    plain_edges: bool = option(
        text="Leave bins their plain edges; by default they are narrowed to keep the volume.",
        default=False,
    )
    one_file_system: bool = option(
        "--one-file-system", "-x", text="Stay on the file system of the folder.", default=False
    )
    hard_links: Literal["once", "each"] = stated(
        text="How files of several names count.", default="once"
    )
    threads: int = stated(min=1, max=256, text="Folders read at once.", default=8)


def sizes(asked: Asked, as_json: Json = False, quiet: Quiet = False) -> None:
    """Make a histogram of file sizes from a live tree or from listings of files.

    Examples:

    resilver import sizes --scan . -o sizes.txt

    find . -type f -printf '%s\\n' | resilver import sizes - -o sizes.txt

    resilver import sizes inventory/*.csv.gz --columns 'Bucket, Key, Size' -o sizes.txt
    """
    from resilver import importers

    source = _source(asked.listings, asked.scan)
    keep_inputs(asked.output, asked.listings)
    start = time.monotonic()
    with Display(quiet=quiet or asked.scan is None) as display:
        measured = importers.import_sizes(
            source,
            format=asked.format,
            field=asked.field,
            columns=asked.columns,
            one_file_system=asked.one_file_system,
            hard_links=asked.hard_links,
            threads=asked.threads,
            progress=lambda state: display.show(walk_line(state)),
        )
    seconds = time.monotonic() - start
    chosen = measured.bins(asked.bins, keep_volume=not asked.plain_edges)
    if asked.output is not None:
        save_whole(asked.output, measured.text(chosen))
    if as_json:
        print_json(_as_json(measured, chosen, asked.bins, asked.output, seconds))
    elif asked.output is None:
        sys.stdout.write(measured.text(chosen))
    if not quiet:
        _summarise(measured, chosen, asked.bins, seconds)
        if asked.output is not None:
            use = f'use it as population.histogram = {{ file = "{asked.output}" }}'
            say(f"wrote {asked.output}; {use}")


def _source(listings: tuple[Path, ...], scan: Path | None) -> Any:
    if (scan is None) == (not listings):
        given = "both are given" if listings else "neither is given"
        raise ConfigError(
            f"sizes come from listings or from a folder, and {given}",
            "name listings (- is stdin), or a folder with --scan DIR",
        )
    if scan is not None:
        if not scan.expanduser().is_dir():
            rule = "there is no such folder" if not scan.exists() else "this is not a folder"
            raise ConfigError(rule, "check the path", "--scan", f'"{scan}"')
        return scan
    if listings == (Path("-"),):
        return sys.stdin.buffer
    if Path("-") in listings:
        raise ConfigError("stdin is read alone", "leave out -, or the other listings")
    for path in listings:
        if path.is_dir():
            rule, remedy = "this is a folder, not a listing", f"measure it with --scan {path}"
            raise ConfigError(rule, remedy, place=str(path))
    return list(listings)


def _as_json(
    measured: MeasuredSizes,
    chosen: tuple[Bin, ...],
    per_doubling: int,
    output: Path | None,
    seconds: float,
) -> dict[str, Any]:
    plain = measured.bins(per_doubling, keep_volume=False)
    return {
        **record(measured, "source", "files", "bytes"),
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
    say_left_out(measured.left_out)


def say_left_out(left_out: LeftOut) -> None:
    """Say what was not counted, with some of what could not be read."""
    for name, count in left_out.counts().items():
        say(f"left out: {_WORDS[name]}: {count:,}")
    for example in left_out.examples:
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


def walk_line(progress: WalkProgress) -> str:
    """How far a walk is."""
    rate = progress.files / progress.seconds if progress.seconds > 0 else 0.0
    return (
        f"{progress.files:,} files in {progress.folders:,} folders, {rate:,.0f} files a second; "
        f"{progress.pending:,} folders known and not yet read"
    )
