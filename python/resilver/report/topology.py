"""The answer of `resilver topology`: networks in numbers and pictures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from resilver.answer import Answer, Lines, Part, Section, Shown
from resilver.charts.vega import Chart
from resilver.record import record
from resilver.report.graph import graph_spec
from resilver.report.topology_lines import sketch
from resilver.spec.topology_kinds import KINDS, oversubscription
from resilver.tables import Table, table_of
from resilver.words import plural

if TYPE_CHECKING:
    from resilver.simulate import Topology

SKETCH_LINKS_MAX = 120
"""The most links of a network that is sketched in letters; more cover each other."""

_RADICES_SHOWN = 4
_SPARES = "of these, used only by packets that met a failed link"
Row = tuple[str, str, str]
"""What is measured, its value, and what that is of."""


def topology_answer(built: Sequence[Topology], sketched: bool = True) -> Answer:
    """The answer about one network or several.

    Args:
        sketched: Whether a small one may be sketched in letters.
    """
    records = [measures(one) for one in built]
    if len(built) > 1:
        shown = Shown("topologies", "Side by side", _compared(built), is_split=True)
        sections = [Section("Side by side", (shown,))]
        return Answer("Topologies", _best(built), sections, records)
    one = built[0]
    columns = [(name, name, "text") for name in ("measure", "value", "of")]
    parts: list[Part] = [
        Shown(name, title, table_of(rows, *columns))
        for name, title, rows in (
            ("sizes", "Sizes", _sizes(one)),
            ("distances", "Distances", _distances(one)),
            ("ports", "Ports", _ports(one)),
        )
    ]
    is_small = sketched and one.links <= SKETCH_LINKS_MAX
    if is_small:
        parts.append(Lines("sketch", "Sketch", sketch(one.positions, one.ends)))
    text = "Each node and each link; links that would run over nodes are bowed, or stubs."
    kinds = [str(kind) for kind in one.kinds]
    drawn = Chart(
        "network",
        one.spec.label,
        text,
        lambda: graph_spec(one.positions, one.ends, kinds, labels=one.node_names),
        _radix_table(one),
        "Nodes by kind and ports",
    )
    return Answer(
        one.spec.label,
        [_summary(one)],
        [Section("The network", parts), Section("Picture", (drawn,))],
        records[0],
        notes=() if is_small or not sketched else ("To draw it, add -o picture.png.",),
    )


def kinds_answer() -> Answer:
    """The kinds of topology, how each is written, and an example."""
    rows = [
        {"kind": one.grammar.name, "form": one.grammar.form, "example": one.grammar.example,
         "about": one.about}
        for one in KINDS
    ]  # fmt: skip
    about = "any network, from an edge list, GraphML or JSON"
    rows.append(
        {"kind": "graph", "form": "graph <file>", "example": "graph network.graphml",
         "about": about}
    )  # fmt: skip
    parts = [
        Lines(
            row["kind"].replace(" ", "-"),
            f"{row['kind']}: {row['about']}",
            (row["form"], f'resilver topology "{row["example"]}"'),
        )
        for row in rows
    ]
    said = f"{len(rows)} kinds of topology, each with its form and an example."
    return Answer("Kinds of topology", [said], [Section("Kinds", parts)], rows)


def measures(one: Topology) -> dict[str, Any]:
    """A network's measures, JSON-able."""
    return {
        "topology": one.spec.label,
        "kind": one.spec.kind,
        **record(one, "seed", "nodes", "hosts", "routers", "switches", "links"),
        **record(one, "spare_links", "ports", "diameter", "mean_hops", "mean_router_disk_hops"),
        **record(one, "bisection_links", "bisection_is_exact", "max_radix"),
        "links_per_host": one.links / one.hosts,
        "ports_per_host": one.ports / one.hosts,
        "radices": [
            {"kind": kind, "ports": ports, "nodes": count}
            for (kind, ports), count in _radices(one).items()
        ],
        "oversubscription": oversubscription(one.spec.content()),
    }


def _summary(one: Topology) -> str:
    """How many hosts a network joins by how many links, and how far apart they are."""
    routers = f" and {plural(one.routers, 'router')}" if one.routers else ""
    mean = "" if one.mean_hops is None else f", {one.mean_hops:.4g} hops between hosts on average"
    return (
        f"{one.spec.label}: {plural(one.hosts, 'host')}{routers} on {plural(one.links, 'link')}; "
        f"diameter {plural(one.diameter, 'hop')}{mean}, bisection {_bisection(one)} links."
    )


def _best(built: Sequence[Topology]) -> list[str]:
    """Which network is nearest, widest and smallest."""
    by_hops = [one for one in built if one.mean_hops is not None]
    said = []
    if by_hops:
        near = min(by_hops, key=lambda one: one.mean_hops or 0.0)
        said.append(f"Shortest paths: {near.spec.label}, {near.mean_hops:.4g} hops on average.")
    wide = max(built, key=lambda one: one.bisection_links)
    few = min(built, key=lambda one: one.links)
    said.append(f"Widest bisection: {wide.spec.label}, {_bisection(wide)} links.")
    return [*said, f"Fewest links: {few.spec.label}, {few.links:,}."]


def _bisection(one: Topology) -> str:
    return f"{'' if one.bisection_is_exact else '≤ '}{one.bisection_links:,}"


def _sizes(one: Topology) -> list[Row]:
    own = int((one.kinds == "switch").sum())
    forwarding = one.switches - own
    switches = "nodes that only forward"
    if forwarding:
        switches = f"{forwarding:,} are hosts, which forward" if own else "hosts, which forward"
    return [
        ("nodes", f"{one.nodes:,}", "all"),
        ("hosts", f"{one.hosts:,}", "nodes with a device"),
        ("routers", f"{one.routers:,}", "nodes where clients enter"),
        ("switches", f"{one.switches:,}", switches),
        ("links", f"{one.links:,}", f"full duplex, {one.links / one.hosts:.2f} a host"),
        *([("spare links", f"{one.spare_links:,}", _SPARES)] if one.spare_links else []),
        ("ports", f"{one.ports:,}", f"two a link, {one.ports / one.hosts:.2f} a host"),
    ]


def _distances(one: Topology) -> list[Row]:
    hops, mean = one.mean_hops, one.mean_router_disk_hops
    rows = [
        ("diameter", f"{one.diameter:,}", "hops"),
        ("mean hops", "n/a" if hops is None else f"{hops:.4f}", "between hosts"),
    ]
    if mean is not None:
        rows.append(("mean hops from routers", f"{mean:.4f}", "to hosts"))
    how = "links, exact" if one.bisection_is_exact else "links at most: the least cut found"
    return [*rows, ("bisection", f"{one.bisection_links:,}", how)]


def _ports(one: Topology) -> list[Row]:
    rows, radices = [], _radices(one)
    for kind in ("router", "switch", "host"):
        here = [(ports, count) for (name, ports), count in radices.items() if name == kind]
        for ports, count in here[:_RADICES_SHOWN]:
            rows.append((plural(2, kind)[2:], f"{count:,}", f"of {plural(ports, 'port')}"))
        if rest := sum(count for _, count in here[_RADICES_SHOWN:]):
            rows.append((plural(2, kind)[2:], f"{rest:,}", "of fewer ports"))
    if ratios := _ratios(one):
        rows.append(("oversubscription", ratios, "links down to links up, from the hosts up"))
    return rows


def _radices(one: Topology) -> Mapping[tuple[str, int], int]:
    """How many nodes of each kind have so many ports: routers and switches first."""
    counts = Counter(zip(one.kinds.tolist(), one.degrees.tolist(), strict=True))
    order = {"router": 0, "switch": 1, "host": 2}
    return dict(sorted(counts.items(), key=lambda item: (order[item[0][0]], -item[0][1])))


def _radix_table(one: Topology) -> Table:
    radices = _radices(one)
    return table_of(
        [(kind, ports, count) for (kind, ports), count in radices.items()],
        ("kind", "kind", "text"),
        ("ports", "ports", "count"),
        ("nodes", "nodes", "count"),
    )


def _ratios(one: Topology) -> str:
    """Links down to links up, level by level from the hosts up; empty where there are no levels."""
    ratios = oversubscription(one.spec.content()) or ()
    return ", ".join(f"{ratio:.3g} : 1" for ratio in ratios)


def _compared(built: Sequence[Topology]) -> Table:
    """A row a network; what bounds a bisection from above is marked."""
    is_bound = not all(one.bisection_is_exact for one in built)
    return table_of(
        built,
        ("topology", "topology", "text", lambda one: one.spec.label),
        *((noun, noun, "count") for noun in ("hosts", "routers", "switches", "links", "diameter")),
        ("mean_hops", "mean hops", "number"),
        ("router_hops", "router hops", "number", lambda one: one.mean_router_disk_hops),
        ("value", "bisection", "text", _bisection),
        ("links_per_host", "links a host", "number", lambda one: one.links / one.hosts),
        (
            "oversubscription",
            "oversubscription",
            "text",
            lambda one: _ratios(one).replace(" : ", ":") or "n/a",
        ),
        note="≤: the least cut found; the bisection is at most this." if is_bound else "",
    )
