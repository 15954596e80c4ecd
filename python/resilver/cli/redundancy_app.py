"""The command `resilver redundancy` and its options."""

from __future__ import annotations

from typing import Annotated

import typer

from resilver.cli.options import Json

Bursts = Annotated[
    int | None,
    typer.Option(
        "--bursts",
        metavar="FAILURES",
        help="How likely data are lost when 1, 2, ... FAILURES random devices fail at once.",
        show_default=False,
    ),
]
Groups = Annotated[
    int | None,
    typer.Option(
        "--groups",
        metavar="COUNT",
        help="How many groups of devices they fall on, each with a stripe's pieces. [default: 1]",
        show_default=False,
    ),
]
Across = Annotated[
    int | None,
    typer.Option(
        "--across",
        metavar="ENCLOSURES",
        help="How likely one lost enclosure loses data, each group dealt over so many.",
        show_default=False,
    ),
]
Rebuilding = Annotated[
    int | None,
    typer.Option(
        "--rebuilding",
        metavar="COUNT",
        help="How many groups lack a random piece at that time. [default: 0]",
        show_default=False,
    ),
]


def redundancy(
    texts: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="CODE...",
            help='Codes: "rs 8+3", "lrc 8+5 local 4", "copies 3", "product rs 4+2 x rs 3+1", or '
            'one over another: "rs 17+3 over rs 8+2"; several are compared.',
            show_default=False,
        ),
    ] = None,
    lost: Annotated[
        str | None,
        typer.Option(
            "--lost",
            metavar="PIECES",
            help="Pieces that are lost, such as 0,3,12: whether the data survive, and what repairs "
            "gather.",
            show_default=False,
        ),
    ] = None,
    bursts: Bursts = None,
    groups: Groups = None,
    across: Across = None,
    rebuilding: Rebuilding = None,
    as_json: Json = False,
) -> None:
    """Say what codes cost, what they survive, and what reads, writes and rebuilds move.

    Examples:

      resilver redundancy "rs 8+3" "lrc 8+5 local 4"

      resilver redundancy "lrc 8+5 local 4" --lost 0,3,12

      resilver redundancy "rs 17+3 over rs 8+2" --lost 0,1,2 --bursts 40

      resilver redundancy "rs 8+2" --across 5 --rebuilding 2
    """
    from resilver.cli.redundancy import show_codes
    from resilver.cli.redundancy_losses import Asked

    asked = Asked(bursts, groups, across, rebuilding)
    show_codes(texts or [], lost, asked, as_json=as_json)
