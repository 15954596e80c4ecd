"""The commands of `resilver import` and their options."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Turn what was measured elsewhere into the inputs of studies.",
)


class SizeFormat(StrEnum):
    """Formats of listings of files."""

    sizes = "sizes"
    gpfs = "gpfs"
    csv = "csv"
    s3_ls = "s3-ls"
    histogram = "histogram"


class HardLinks(StrEnum):
    """How files of several names count."""

    once = "once"
    each = "each"


@app.callback()
def _root() -> None:
    pass


Listings = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="LISTING",
        help="Listings of one format, gzipped or not; - is stdin.",
        show_default=False,
    ),
]
Scan = Annotated[
    Path | None,
    typer.Option("--scan", metavar="DIR", help="Measure the files below a folder instead."),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", metavar="FILE", help="The histogram to write; by default stdout."
    ),
]
ListingFormat = Annotated[
    SizeFormat | None,
    typer.Option(
        "--format",
        help="Format of the listings, by default told from their beginning: sizes (find "
        "-printf '%s %p\\n'), gpfs (mmapplypolicy), csv (S3 inventory), s3-ls, histogram.",
    ),
]
Field = Annotated[
    int | None,
    typer.Option("--field", metavar="N", min=1, max=1000, help="Which word of a line is the size."),
]
Columns = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="NAMES",
        help="CSV's columns, such as 'Bucket, Key, Size' (fileSchema of an S3 inventory).",
    ),
]
Bins = Annotated[
    int, typer.Option("--bins", metavar="N", help="Bins a power of two of sizes, 1 to 64.")
]
PlainEdges = Annotated[
    bool,
    typer.Option(
        "--plain-edges",
        help="Leave bins their plain edges; by default they are narrowed to keep the volume.",
    ),
]
OneFileSystem = Annotated[
    bool,
    typer.Option("--one-file-system", "-x", help="Stay on the file system of the folder."),
]
Links = Annotated[HardLinks, typer.Option("--hard-links", help="How files of several names count.")]
Threads = Annotated[
    int,
    typer.Option("--threads", metavar="N", min=1, max=256, help="Folders read at once."),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON on stdout.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no summary.")]


@app.command()
def sizes(
    listings: Listings = None,
    scan: Scan = None,
    output: Output = None,
    listing_format: ListingFormat = None,
    field: Field = None,
    columns: Columns = None,
    bins: Bins = 1,
    plain_edges: PlainEdges = False,
    one_file_system: OneFileSystem = False,
    hard_links: Links = HardLinks.once,
    threads: Threads = 8,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Make a histogram of file sizes from a live tree or from listings of files.

    Examples:

    resilver import sizes --scan . -o sizes.txt

    find . -type f -printf '%s\\n' | resilver import sizes - -o sizes.txt

    resilver import sizes inventory/*.csv.gz --columns 'Bucket, Key, Size' -o sizes.txt
    """
    from resilver.cli.importing import import_sizes
    from resilver.importers.sizes.formats import known_format

    import_sizes(
        listings or [],
        scan,
        output,
        format=known_format(None if listing_format is None else listing_format.value),
        field=field,
        columns=columns,
        bins=bins,
        plain_edges=plain_edges,
        one_file_system=one_file_system,
        hard_links="each" if hard_links is HardLinks.each else "once",
        threads=threads,
        quiet=quiet,
        as_json=as_json,
    )
