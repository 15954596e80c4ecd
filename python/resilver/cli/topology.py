"""`resilver topology`: networks in numbers and pictures."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table
from rich.text import Text

from resilver.cli.console import output, print_json, say
from resilver.cli.options import Json
from resilver.cli.saving import check_writable, keep_inputs, save_whole
from resilver.errors import ConfigError, Problem, name_remedy, show
from resilver.request import argument, option

if TYPE_CHECKING:
    from resilver.simulate import Topology
    from resilver.spec.topology import TopologySpec

FORMATS = (".png", ".svg", ".pdf")
"""What a picture's name may end in."""

SKETCH_LINKS_MAX = 120
"""The most links of a network that is sketched in letters; more cover each other."""

_RADICES_SHOWN = 4


@dataclass(frozen=True)
class Asked:
    """What is asked about networks."""

    texts: tuple[str, ...] = argument(
        "TEXT",
        text='Topologies, such as "torus 16x16x16" or "graph network.graphml"; several are '
        "compared.",
        default=(),
    )
    routers: int | None = option(
        "--routers",
        metavar="N",
        min=0,
        text="Routers, where clients enter, instead of what each text says.",
    )
    seed: int = option(
        "--seed",
        metavar="N",
        min=0,
        text="Draws the routers' places.",
        default=1,
        show_default=True,
    )
    picture: Path | None = option(
        "--output",
        "-o",
        metavar="PICTURE.png",
        text="Draw the topology into this file, which ends in .png, .svg or .pdf.",
    )
    list_kinds: bool = option(
        "--list", text="List the kinds of topology and how each is written.", default=False
    )


def topology(asked: Asked, as_json: Json = False) -> None:
    """Build a network topology and show its parts, its diameter and its links.

    Examples:

      resilver topology "torus 16x16x16 routers 128" -o torus.png

      resilver topology "fat tree levels 3 ports 16" "dragonfly 33x8 hosts 4 global links 4"
    """
    from resilver import simulate

    if asked.list_kinds:
        _list_kinds(as_json=as_json)
        return
    if not asked.texts:
        rule = "no topology is named"
        remedy = 'write resilver topology "torus 16x16x16"; --list shows the kinds'
        raise ConfigError(Problem(rule, remedy))
    specs = _specs(asked.texts, asked.routers)
    picture = asked.picture
    if picture is not None:
        _check_picture(picture, len(specs))
        keep_inputs(picture, (word for text in asked.texts for word in text.split()))
    built = [simulate.topology(spec, seed=asked.seed) for spec in specs]
    if picture is not None:
        # Before the text, whose reader may leave before its end.
        _draw(built[0], picture)
    if as_json:
        rows = [_json(one) for one in built]
        print_json(rows[0] if len(rows) == 1 else rows)
    elif len(built) == 1:
        _print_one(built[0], picture)
    else:
        _print_several(built)
    if picture is not None:
        say(f"wrote {picture}")


def _list_kinds(*, as_json: bool) -> None:
    """Print the kinds of topology, how each is written, and an example."""
    from resilver.spec.topology_kinds import KINDS

    rows = [
        (kind.grammar.name, kind.grammar.form, kind.grammar.example, kind.about) for kind in KINDS
    ]
    about = "any network, from an edge list, GraphML or JSON"
    rows.append(("graph", "graph <file>", "graph network.graphml", about))
    if as_json:
        keys = ("kind", "form", "example", "about")
        print_json([dict(zip(keys, row, strict=True)) for row in rows])
        return
    console = output()
    for name, form, example, about in rows:
        console.print(Text.assemble((name, "bold"), f": {about}"), soft_wrap=True)
        console.print(Text(f"  {form}"), soft_wrap=True)
        console.print(Text(f'  resilver topology "{example}"', style="dim"), soft_wrap=True)


def _specs(texts: Sequence[str], routers: int | None) -> list[TopologySpec]:
    """The topologies; a text without quotes comes as its words, and is put together again."""
    from resilver.spec.topology import parse_topology

    try:
        return [parse_topology(text, routers=routers) for text in texts]
    except ConfigError:
        if len(texts) > 1:
            try:
                return [parse_topology(" ".join(texts), routers=routers)]
            except ConfigError:
                pass
        raise


def _check_picture(picture: Path, count: int) -> None:
    if count > 1:
        rule = f"a picture shows one topology, and there are {count}"
        raise ConfigError(Problem(rule, "draw each by a command of its own", key="--output"))
    if picture.suffix.lower() not in FORMATS:
        rule = "a picture's name ends in .png, .svg or .pdf"
        close = name_remedy(picture.suffix, FORMATS, "endings")
        raise ConfigError(Problem(rule, close, key="--output", value=show(str(picture))))
    check_writable(picture)


def _json(one: Topology) -> dict[str, Any]:
    return {
        "topology": one.spec.label,
        "kind": one.spec.kind,
        "seed": one.seed,
        "nodes": one.nodes,
        "hosts": one.hosts,
        "routers": one.routers,
        "switches": one.switches,
        "links": one.links,
        "ports": one.ports,
        "diameter": one.diameter,
        "mean_hops": one.mean_hops,
        "mean_router_disk_hops": one.mean_router_disk_hops,
        "bisection_links": one.bisection_links,
        "bisection_is_exact": one.bisection_is_exact,
        "max_radix": one.max_radix,
        "links_per_host": one.links / one.hosts,
        "ports_per_host": one.ports / one.hosts,
        "radices": [
            {"kind": kind, "ports": ports, "nodes": count}
            for (kind, ports), count in _radices(one).items()
        ],
        "oversubscription": _oversubscription(one),
    }


def _radices(one: Topology) -> dict[tuple[str, int], int]:
    """How many nodes of each kind have so many ports: routers and switches first."""
    counts = Counter(zip(one.kinds.tolist(), one.degrees.tolist(), strict=True))
    order = {"router": 0, "switch": 1, "host": 2}
    return dict(sorted(counts.items(), key=lambda item: (order[item[0][0]], -item[0][1])))


def _print_one(one: Topology, picture: Path | None) -> None:
    table = Table(title=one.spec.label, box=box.SIMPLE, title_justify="left", show_header=False)
    table.add_column("measure")
    table.add_column("value", justify="right")
    table.add_column("beside it", style="dim")
    for row in (*_sizes(one), *_distances(one), *_costs(one)):
        table.add_row(*row)
    console = output()
    console.print(table)
    # Dots of braille need an encoding that has them, and many links need a file's resolution.
    can_sketch = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    if one.links <= SKETCH_LINKS_MAX and can_sketch:
        from resilver.cli.topology_sketch import sketch

        for line in sketch(one.positions, one.ends):
            console.print(Text(f" {line}"), soft_wrap=True)
    elif picture is None:
        say("-o picture.png draws it")


def _sizes(one: Topology) -> list[tuple[str, str, str]]:
    own = int((one.kinds == "switch").sum())
    forwarding = one.switches - own
    switches = ""
    if forwarding:
        switches = f"{forwarding:,} are hosts, which forward" if own else "hosts, which forward"
    return [
        ("nodes", f"{one.nodes:,}", ""),
        ("hosts", f"{one.hosts:,}", "nodes with a device"),
        ("routers", f"{one.routers:,}", "nodes where clients enter"),
        ("switches", f"{one.switches:,}", switches),
        ("links", f"{one.links:,}", "full duplex"),
        ("ports", f"{one.ports:,}", "two a link"),
    ]


def _distances(one: Topology) -> list[tuple[str, str, str]]:
    mean = one.mean_router_disk_hops
    rows = [
        ("diameter", f"{one.diameter:,}", "hops"),
        ("mean hops", "-" if one.mean_hops is None else f"{one.mean_hops:.4f}", "between hosts"),
    ]
    if mean is not None:
        rows.append(("mean hops from routers", f"{mean:.4f}", "to hosts"))
    how = "links, exact" if one.bisection_is_exact else "links at most: the least cut found"
    return [*rows, ("bisection", f"{one.bisection_links:,}", how)]


def _costs(one: Topology) -> list[tuple[str, str, str]]:
    rows = [
        ("cables", f"{one.links:,}", f"{one.links / one.hosts:.2f} a host"),
        ("ports a host", f"{one.ports / one.hosts:.2f}", "of the whole network"),
    ]
    radices = _radices(one)
    for kind in ("router", "switch", "host"):
        here = [(ports, count) for (name, ports), count in radices.items() if name == kind]
        plural = {"switch": "switches"}.get(kind, f"{kind}s")
        for ports, count in here[:_RADICES_SHOWN]:
            rows.append((f"{plural} of {ports} port{'s'[: ports > 1]}", f"{count:,}", ""))
        rest = sum(count for _, count in here[_RADICES_SHOWN:])
        if rest:
            rows.append((f"{plural} of fewer ports", f"{rest:,}", ""))
    if ratios := _ratios(one):
        rows.append(("oversubscription", ratios, "links down to links up, from the hosts up"))
    return rows


def _oversubscription(one: Topology) -> list[float] | None:
    from resilver.spec.topology_kinds import oversubscription

    return oversubscription(one.spec.content())


def _ratios(one: Topology) -> str:
    """Links down to links up, level by level from the hosts up; empty where there are no levels."""
    return ", ".join(f"{ratio:.3g} : 1" for ratio in _oversubscription(one) or ())


_HEADINGS = (
    "hosts",
    "rou-\nters",
    "swit-\nches",
    "links",
    "diam-\neter",
    "mean\nhops",
    "router\nhops",
    "bisec-\ntion",
    "links\na host",
    "over-\nsub.",
)
_NUMBERS_WIDTH = 80
"""The room that the columns of numbers take for networks of a million links."""


def _print_several(built: Sequence[Topology]) -> None:
    """Print one row a topology, named by a number where its text leaves the columns no room."""
    labels = [one.spec.label for one in built]
    if max(map(len, labels)) + _NUMBERS_WIDTH > output().width:
        for number, label in enumerate(labels, 1):
            output().print(f"{number:>3}  {label}", highlight=False, soft_wrap=True)
        labels = [str(number) for number in range(1, len(built) + 1)]
    table = Table(box=box.SIMPLE, pad_edge=False, padding=(0, 0, 0, 1))
    table.add_column("", overflow="fold")
    for heading in _HEADINGS:
        table.add_column(heading, justify="right")
    for label, one in zip(labels, built, strict=True):
        mean = one.mean_router_disk_hops
        table.add_row(
            label,
            f"{one.hosts:,}",
            f"{one.routers:,}",
            f"{one.switches:,}",
            f"{one.links:,}",
            f"{one.diameter:,}",
            "" if one.mean_hops is None else f"{one.mean_hops:.3f}",
            "" if mean is None else f"{mean:.3f}",
            f"{'' if one.bisection_is_exact else '≤ '}{one.bisection_links:,}",
            f"{one.links / one.hosts:.2f}",
            # A level a line: with the others beside each other there would be no room.
            _ratios(one).replace(", ", "\n").replace(" ", "") or "-",
        )
    output().print(table)
    if not all(one.bisection_is_exact for one in built):
        say("≤: the least cut found; the bisection is at most this")


def _draw(one: Topology, picture: Path) -> None:
    from resilver.charts.vega import drawn
    from resilver.report.graph import graph_spec

    kinds = [str(kind) for kind in one.kinds]
    spec = graph_spec(one.positions, one.ends, kinds, labels=one.node_names)
    save_whole(picture, drawn(spec, picture.suffix.lower().lstrip("."), one.spec.label))
