"""The command `resilver redundancy` and its options."""

from __future__ import annotations

from typing import Annotated

import typer

from resilver.cli.options import Json


def redundancy(
    texts: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="CODE...",
            help='Codes: "rs 8+3", "lrc 8+5 local 4", "copies 3"; several are compared.',
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
    as_json: Json = False,
) -> None:
    """Say what codes cost, what they survive, and what reads, writes and rebuilds move.

    Examples:

      resilver redundancy "rs 8+3" "lrc 8+5 local 4"

      resilver redundancy "lrc 8+5 local 4" --lost 0,3,12
    """
    from resilver.cli.redundancy import show_codes

    show_codes(texts or [], lost, as_json=as_json)
