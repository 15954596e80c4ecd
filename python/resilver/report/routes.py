"""Routes in tables and charts: who serves whom, how far away, and what each channel carries."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from resilver.charts.idioms import coloured, data_of, fields, frame, heat, lines, series
from resilver.charts.style import GREY, INK
from resilver.charts.vega import Chart, Spec, axis, rows, tip
from resilver.tables import Table, table, table_of

if TYPE_CHECKING:
    from resilver.center.machines import Machine
    from resilver.center.routes import RouteFigures, Routes
    from resilver.center.siting import Sites
    from resilver.center.torus import ChannelLoads

WORDS = {
    "fine_grained": "fine-grained",
    "nearest": "nearest",
    "round_robin": "round robin",
    "balanced": "balanced",
}
"""The policies in words."""

_CABINET = re.compile(r"c(\d+)-(\d+)")
_AXES = ("X", "Y", "Z")


def answer_sentences(figures: Sequence[RouteFigures]) -> list[str]:
    """The answer: how far clients are from their routers, and what the policies differ in."""
    first = figures[0]
    name = WORDS[first.policy].capitalize()
    least, _, most = first.clients_a_router
    shared = f"{least:,.0f} to {most:,.0f}" if most - least >= 0.5 else f"{least:,.0f}"
    said = [
        f"{name}: a client is {first.mean_hops:.2f} hops from its router on average, "
        f"and a router has {shared} clients."
    ]
    for other in figures[1:]:
        ratio = first.mean_hops / other.mean_hops if other.mean_hops else float("nan")
        loads = [
            one / of if of else float("nan")
            for one, of in zip(first.largest_loads, other.largest_loads, strict=True)
        ]
        said.append(
            f"Against {WORDS[other.policy]}: {ratio:.2f} of its hops, "
            f"{first.mean_cost / other.mean_cost:.2f} of its cost; the busiest channels carry "
            + ", ".join(f"{load:.2f} in {name}" for load, name in zip(loads, _AXES, strict=True))
            + " of what they carry there."
        )
    return said


def policies_table(figures: Sequence[RouteFigures]) -> Table:
    """The policies, a row each."""
    axes = tuple(enumerate(_AXES))
    return table_of(
        figures,
        ("policy", "policy", "text", lambda one: WORDS[one.policy]),
        ("mean_hops", "mean hops", "number"),
        *(
            (
                f"hops_{name.lower()}",
                f"hops in {name}",
                "number",
                lambda one, at=at: one.mean_hops_by_axis[at],
            )
            for at, name in axes
        ),
        ("mean_cost", "mean cost", "number"),
        ("least_cost", "least cost", "number"),
        ("most_cost", "most cost", "number"),
        ("spread_cost", "standard deviation", "number"),
        ("clients_least", "fewest clients a router", "number", lambda one: one.clients_a_router[0]),
        ("clients_mean", "mean clients a router", "number", lambda one: one.clients_a_router[1]),
        ("clients_most", "most clients a router", "number", lambda one: one.clients_a_router[2]),
        *(
            (
                f"load_{name.lower()}",
                f"busiest {name} channel",
                "number",
                lambda one, at=at: one.largest_loads[at],
            )
            for at, name in axes
        ),
    )


def node_table(routes: Routes, node: int) -> Table:
    """Which routers serve a node, network by network.

    Args:
        node: The node, as a place in the machine's lists.
    """
    from resilver.center.torus import hops

    machine = routes.machine
    picked = routes.router(int(np.searchsorted(machine.clients, node)))
    apart = hops(machine.places[node], machine.places[picked], machine.torus)
    cost = apart @ np.array(machine.file.weights)
    return table(
        ("network", "network", "count", routes.networks.tolist()),
        ("router", "router", "text", [machine.names[router] for router in picked]),
        ("nid", "number", "count", machine.nids[picked].tolist()),
        ("hops", "hops", "count", apart.sum(axis=1).tolist()),
        ("cost", "cost", "number", cost.tolist()),
    )


def node_policies_table(routes: Sequence[Routes], node: int) -> Table:
    """Which routers serve a node by every policy, side by side.

    Args:
        routes: A choice for each policy.
        node: The node, as a place in the machine's lists.
    """
    made = [node_table(one, node) for one in routes]
    columns: list[tuple[str, str, str, list[object]]] = [
        ("network", "network", "count", [row[0] for row in made[0].rows])
    ]
    for one, own in zip(routes, made, strict=True):
        name = WORDS[one.policy]
        # Of routers that are used in turn none is the node's own.
        routers = [row[1] if one.chosen is not None else "all in turn" for row in own.rows]
        apart = [row[3] if one.chosen is not None else None for row in own.rows]
        columns.append((f"{one.policy}_router", name, "text", list(routers)))
        columns.append((f"{one.policy}_hops", "hops", "count", list(apart)))
    return table(*columns)


def routes_table(routes: Routes) -> Table:
    """Every client with its routers: a row each, networks in their order."""
    machine = routes.machine
    clients = machine.clients
    picked = [machine.nids[routes.router(at)] for at in range(len(clients))]
    columns = np.stack(picked, axis=1)
    return table(
        ("client", "client", "count", machine.nids[clients].tolist()),
        *(
            (f"network_{int(number)}", f"{int(number)}", "count", column.tolist())
            for number, column in zip(routes.networks, columns, strict=True)
        ),
    )


def sites_sentence(sites: Sites) -> str:
    """What new modules cost beside the machine's own and random ones, each for its clients."""
    least, most = min(sites.random_costs), max(sites.random_costs)
    saved = 1.0 - sites.cost / sites.own_cost
    gain = "no better" if round(saved, 3) <= 0.0 else f"{saved:.1%} better"
    return (
        f"A client's path to its nearest router costs {sites.cost:.2f} on average: {gain} than "
        f"with the machine's own modules ({sites.own_cost:.2f}). With modules placed at random it "
        f"costs {least:.2f} to {most:.2f}."
    )


def sites_table(sites: Sites) -> Table:
    """Where modules should stand, a row a group."""
    return table(
        ("group", "group", "text", [_letter(at) for at in range(len(sites.modules))]),
        ("modules", "modules", "text", [", ".join(group) for group in sites.modules]),
    )


def cabinet_chart(machine: Machine) -> Chart:
    """Where the router modules stand, by X and Y, coloured by their group."""
    groups, found = machine.routers, []
    for group in range(len(groups)):
        for module in groups[group, :, 0]:
            if module >= 0:
                x, y, z = machine.places[module].tolist()
                cabinet = _CABINET.match(machine.names[module])
                where = cabinet.group(0) if cabinet else machine.names[module]
                found.append((x, y, z, _letter(group), where, machine.names[module]))
    heads = ("x", "y", "z", "group", "cabinet", "router")
    made = table(
        *(
            (name, name, "count" if name in "xyz" else "text", column)
            for name, column in zip(heads, zip(*found, strict=True), strict=True)
        )
    )
    heading = f"{len(found)} modules of {groups[groups >= 0].size} routers in {len(groups)} groups"
    text = "Each square is a module of routers on the torus, seen along Z. Its letter is its "
    text += "group, whose modules serve the same networks."
    return Chart("modules", heading, text, lambda: _cabinets(machine, found), made, "modules")


def _letter(group: int) -> str:
    return chr(ord("A") + group) if group < 26 else str(group)


def _cabinets(machine: Machine, found: Sequence[tuple[int, int, int, str, str, str]]) -> Spec:
    length_x, length_y, _ = machine.torus
    x, y, z, group, where, name = zip(*found, strict=True)
    kinds = list(dict.fromkeys(group))
    # What stands behind one another along Z is drawn side by side.
    seen: Counter[tuple[int, int]] = Counter()
    beside = []
    for place in zip(x, y, strict=True):
        beside.append(seen[place])
        seen[place] += 1
    width = 0.9 / max(seen.values())
    left = [
        at + (rank - (seen[at, up] - 1) / 2) * width
        for at, up, rank in zip(x, y, beside, strict=True)
    ]
    across = axis("left", "X", ends=(-0.7, length_x - 0.3))
    upright = axis("y", "Y", ends=(-0.7, length_y - 0.3))
    read = tip(("group", "group"), ("name", "router"), ("where", "stands in"), ("z", "Z"))
    # On a narrow screen those that stand side by side are drawn as small as they must be.
    size = {"expr": "width < 400 ? 45 : 150"}
    letter = {"type": "text", "fontSize": {"expr": "width < 400 ? 6 : 10"}, "color": INK}
    letters = {"mark": letter, "encoding": {"text": {"field": "group", "type": "nominal"}}}
    data = rows(left=left, y=y, z=z, kind=group, group=group, where=where, name=name)
    square = {"type": "square", "size": size, "fillOpacity": 0.3, "strokeWidth": 1}
    marks = coloured(square, series(kinds), tooltip=read)
    # Letters tell groups apart; a legend would repeat them.
    marks["encoding"]["color"]["legend"] = None
    return frame(data, across, upright, [marks, letters], 330)


def hops_chart(routes: Sequence[Routes]) -> Chart:
    """How many hops lie between clients and their routers, a line a policy."""
    from resilver.center.torus import hops

    found = []
    for one in routes:
        apart = hops(one.ways.source, one.ways.target, one.machine.torus).sum(axis=1)
        counts = np.bincount(apart, weights=one.ways.amount)
        share = counts / counts.sum()
        found += [(WORDS[one.policy], at, float(part)) for at, part in enumerate(share)]
    kinds, at, share = zip(*found, strict=True)
    made = table(
        ("policy", "policy", "text", kinds),
        ("hops", "hops", "count", at),
        ("share", "share of clients", "share", share),
    )
    names = [WORDS[one.policy] for one in routes]

    def spec() -> Spec:
        data = data_of(made, kind="policy", x="hops", y="share")
        across, upwards = axis("x", "hops to the router"), axis("y", "% of clients and networks")
        return lines(data, across, upwards, series(names), noun="policy", steps="step", height=240)

    farthest = max(place for place, part in zip(at, share, strict=True) if part > 0)
    heading = f"No client is farther than {farthest} hops from its router"
    text = "Hops between a client and its router, over all clients and networks."
    return Chart("hops", heading, text, spec, made, "hops")


def served_chart(routes: Sequence[Routes]) -> Chart:
    """How many clients routers have, from the fewest to the most, a line a policy."""
    kinds: list[str] = []
    ranks: list[int] = []
    served: list[float] = []
    for one in routes:
        ordered = np.sort(one.served).tolist()
        kinds += [WORDS[one.policy]] * len(ordered)
        ranks += range(1, len(ordered) + 1)
        served += ordered
    made = table(
        ("policy", "policy", "text", kinds),
        ("router", "router, by its clients", "count", ranks),
        ("clients", "clients", "number", served),
    )
    names = [WORDS[one.policy] for one in routes]

    def spec() -> Spec:
        data = data_of(made, kind="policy", x="router", y="clients")
        across = axis("x", "routers, that of the fewest clients first", zero=False)
        upwards = axis("y", "clients", zero=False)
        return lines(data, across, upwards, series(names), noun="policy", steps="step", height=240)

    spread = [float(one.served.max() / one.served.mean() - 1.0) for one in routes]
    worst = int(np.argmax(spread))
    heading = f"{names[worst].capitalize()}: the router of the most clients has "
    heading += f"{100 * spread[worst]:.0f} % more than the mean"
    text = "How many clients each router has; of those that all use in turn, its share of them."
    return Chart("served", heading, text, spec, made, "clients a router")


def heat_charts(routes: Sequence[Routes]) -> list[Chart]:
    """What the channels in X and Y carry: the largest along Z at each X and Y, a chart a policy.

    All have one scale, so that one policy's colours say the same as another's.
    """
    from resilver.center.routes import channel_loads

    loads = [channel_loads(one) for one in routes]
    top = max(max(one.largest()[:2]) for one in loads)
    return [_heat_chart(*one, top) for one in zip(routes, loads, strict=True)]


def _heat_chart(routes: Routes, loads: ChannelLoads, top: float) -> Chart:
    found = []
    for at, name in enumerate(_AXES[:2]):
        largest = loads.of(at).max(axis=(0, 3))
        found += [
            (name, x, y, float(largest[x, y]))
            for x in range(largest.shape[0])
            for y in range(largest.shape[1])
        ]
    kinds, x, y, load = zip(*found, strict=True)
    made = table(
        ("axis", "axis", "text", kinds),
        ("x", "x", "count", x),
        ("y", "y", "count", y),
        ("load", "clients of a network", "number", load),
    )
    policy = WORDS[routes.policy]

    def spec() -> Spec:
        read = tip(("x", "X"), ("y", "Y"), ("depth", "clients of a network"))
        edge: Spec = {"stroke": GREY, "strokeWidth": 0.2}
        upwards = fields("y", "Y", "descending")
        views = []
        for name in _AXES[:2]:
            own = [one for one in found if one[0] == name]
            _, x, y, load = zip(*own, strict=True)
            data = rows(x=x, y=y, depth=load)
            across, ends = fields("x", "X"), (0.0, top)
            view = heat(data, across, upwards, ends, legend="clients", read=read, **edge)
            views.append(view | {"title": f"channels in {name}"})
        return {"vconcat": views}

    x_most, y_most, _ = loads.largest()
    heading = f"{policy.capitalize()}: the busiest channel carries {x_most:,.0f} clients in X, "
    heading += f"{y_most:,.0f} in Y"
    text = "The busiest of the channels at each X and Y, whatever its Z, in clients of a network; "
    text += "full colour is the busiest of all policies."
    return Chart(f"heat-{routes.policy}", heading, text, spec, made, f"channels, {policy}")
