"""The command `resilver topology` and its options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from resilver.cli.options import Json


def topology(
    texts: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TEXT...",
            help='Topologies, such as "torus 16x16x16" or "graph network.graphml"; several are '
            "compared.",
            show_default=False,
        ),
    ] = None,
    routers: Annotated[
        int | None,
        typer.Option(
            "--routers",
            metavar="N",
            min=0,
            help="Routers, where clients enter, instead of what each text says.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", min=0, help="Draws the routers' places.")
    ] = 1,
    picture: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="PICTURE.png",
            help="Draw the topology into this file, which ends in .png, .svg or .pdf.",
        ),
    ] = None,
    list_kinds: Annotated[
        bool, typer.Option("--list", help="List the kinds of topology and how each is written.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Build a network's topology: what there is, how far it is across, and what it costs.

    Examples:

      resilver topology "torus 16x16x16 routers 128" -o torus.png

      resilver topology "fat tree levels 3 ports 16" "dragonfly 33x8 hosts 4 global links 4"
    """
    from resilver.cli.topology import list_topologies, show_topologies

    if list_kinds:
        list_topologies(as_json=as_json)
    else:
        show_topologies(texts or [], routers, seed, picture, as_json=as_json)
