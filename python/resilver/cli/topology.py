"""`resilver topology`: networks in numbers and pictures."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from resilver.answer import Answer
from resilver.cli.options import file_output, stated
from resilver.cli.saving import PAGES, PICTURES
from resilver.errors import ConfigError
from resilver.request import argument, option

if TYPE_CHECKING:
    from resilver.spec.topology import TopologySpec


@dataclass(frozen=True)
class TopologyRequest:
    """What is asked about networks."""

    texts: tuple[str, ...] = argument(
        "TEXT",
        text='Topologies, such as "torus 16x16x16" or "graph network.graphml"; several are '
        "compared.",
        default=(),
    )
    routers: int | None = option(
        min=0,
        text="Routers, where clients enter, instead of what each text says.",
    )
    seed: int = stated(min=0, text="Draws the routers' places.", default=1)
    picture: Path | None = file_output(
        "PICTURE.png",
        "Draw the topology into this file, which ends in .png, .svg or .pdf; or write a page, "
        "which ends in .html.",
        (*PICTURES, *PAGES),
    )
    list_kinds: bool = option(
        "--list", text="List the kinds of topology and how each is written.", default=False
    )


def topology(request: TopologyRequest) -> Answer:
    """Build a network topology and show its parts, its diameter and its links.

    Examples:

      resilver topology "torus 16x16x16 routers 128" -o torus.png

      resilver topology "fat tree levels 3 ports 16" "dragonfly 33x8 hosts 4 global links 4"
    """
    from resilver import simulate
    from resilver.report.topology import kinds_answer, topology_answer

    if request.list_kinds:
        return kinds_answer()
    if not request.texts:
        rule = "no topology is named"
        remedy = 'write resilver topology "torus 16x16x16"; --list shows the kinds'
        raise ConfigError(rule, remedy)
    specs = _specs(request.texts, request.routers)
    picture = request.picture
    is_picture = picture is not None and picture.suffix.lower() in PICTURES
    if is_picture and len(specs) > 1:
        rule = f"a picture shows one topology, and there are {len(specs)}"
        remedy = "draw each by a command of its own, or write a page"
        raise ConfigError(rule, remedy, key="--output")
    # Dots of braille need an encoding that has them.
    has_braille = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    built = [simulate.topology(spec, seed=request.seed) for spec in specs]
    return topology_answer(built, sketched=has_braille and (picture is None or is_picture))


def _specs(texts: Sequence[str], routers: int | None) -> list[TopologySpec]:
    """The topologies; a text without quotes comes as its words, and is put together again."""
    from resilver.spec.topology import parse_topology

    try:
        return [parse_topology(text, routers=routers) for text in texts]
    except ConfigError:
        if len(texts) > 1:
            with suppress(ConfigError):
                return [parse_topology(" ".join(texts), routers=routers)]
        raise
