"""The network of a run: how busy each link and node is, and what became of packets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from resilver.charts.vega import Chart
from resilver.report.arrays import Flags, Floats, Integers, column, rows_of_run
from resilver.report.graph import graph_spec
from resilver.report.traffic_sentence import failed_disks, losses_by_server
from resilver.study.results import StudyTables
from resilver.study.system_runs import SystemRuns, number
from resilver.tables import Table, table, table_of
from resilver.words import percent, plural

HOTTEST = 10
"""Links and nodes that are named."""


@dataclass(frozen=True, eq=False)
class LinkMap:
    """The links of one run, one entry a link; of two directions where it says so.

    Args:
        ends: The two nodes of each link, by index into `node_names`; shape (links, 2).
        node_names: What the nodes are called.
        node_kinds: ``host``, ``router`` or ``switch`` for each of them.
        positions: Where each node is drawn, in the unit square; shape (nodes, 2).
        failed: Whether the link was down when the run ended.
        busy_share: Share of the time that each direction was sending; shape (links, 2), the first
            away from the first node.
        packets: Packets that each direction carried; shape (links, 2).
        queued: Those of them that found it busy; shape (links, 2).
        bytes: Bytes that each direction carried; shape (links, 2).
    """

    ends: Integers
    node_names: tuple[str, ...]
    node_kinds: tuple[str, ...]
    positions: Floats
    failed: Flags
    busy_share: Floats
    packets: Floats
    queued: Floats
    bytes: Floats

    @property
    def load(self) -> Floats:
        """The busy share of the busier direction of each link."""
        return np.asarray(self.busy_share.max(axis=1), dtype=np.float64)

    def name(self, link: int) -> str:
        """A link by its two nodes, the sender of the busier direction first."""
        first, second = self.ends[link]
        if self.busy_share[link, 1] > self.busy_share[link, 0]:
            first, second = second, first
        return f"{self.node_names[first]} to {self.node_names[second]}"

    @property
    def hottest(self) -> Integers:
        """The busiest links, busiest first: at most `HOTTEST`, none that carried nothing."""
        order = np.argsort(-self.load, kind="stable")[:HOTTEST]
        return order[self.load[order] > 0.0]


def link_map(results: StudyTables, point: SystemRuns) -> LinkMap | None:
    """The links of the system's median run; None where its network tells none apart."""
    table = rows_of_run(results.links, point.median["run"])
    seconds = number(point.median, "statistics_seconds")
    if not table.num_rows or not seconds:
        return None

    def both(of: str) -> Floats:
        pair = [np.nan_to_num(column(table, f"{way}_{of}")) for way in ("forward", "backward")]
        return np.stack(pair, axis=1)

    numbers = np.stack([column(table, "from"), column(table, "to")], axis=1).astype(np.int64)
    nodes, ends = np.unique(numbers, return_inverse=True)
    ends = ends.reshape(numbers.shape)
    names = [""] * nodes.size
    positions = np.zeros((nodes.size, 2))
    for side, end in enumerate(("from", "to")):
        xs, ys = column(table, f"{end}_x"), column(table, f"{end}_y")
        positions[ends[:, side]] = np.stack([xs, ys], axis=1)
        for node, name in zip(ends[:, side], table[f"{end}_name"].to_pylist(), strict=True):
            names[node] = str(name)
    return LinkMap(
        ends=ends,
        node_names=tuple(names),
        node_kinds=_kinds(point, nodes, names, ends),
        positions=positions,
        failed=np.array(table["failed"].to_pylist(), dtype=bool),
        busy_share=both("busy_seconds") / seconds,
        packets=both("packets"),
        queued=both("queued"),
        bytes=both("bytes"),
    )


def _kinds(point: SystemRuns, nodes: Integers, names: list[str], ends: Integers) -> tuple[str, ...]:
    """What each node is: as a graph of one's own says it, else as its name does."""
    topology = point.system.cluster.fabric.topology if point.system is not None else None
    graph = topology.graph if topology is not None else None
    if graph is not None:
        hosts, routers = set(graph.hosts), set(graph.routers)
        return tuple(
            "router" if at in routers else "host" if at in hosts else "switch"
            for at in map(int, nodes)
        )
    # Where the graph is not at hand, a node with one link is a host.
    links = np.bincount(ends.ravel(), minlength=len(names))
    return tuple(
        kind
        if (kind := name.partition(".")[0]) in ("host", "router", "switch")
        else ("switch" if count > 1 else "host")
        for name, count in zip(names, links, strict=True)
    )


def network(results: StudyTables, point: SystemRuns) -> Chart | None:
    """The topology with how busy its links were; None where no link is told apart, or all idle."""
    chart = link_map(results, point)
    if chart is None or not chart.packets.any():
        return None
    hottest = chart.hottest
    heading = "No link carried anything"
    if hottest.size:
        top = int(hottest[0])
        heading = (
            f"The busiest channel, {chart.name(top)}, sends {percent(float(chart.load[top]))} of "
            f"the time, the mean one {percent(float(chart.busy_share.mean()))}"
        )
    if failed := int(chart.failed.sum()):
        heading += f"; {plural(failed, 'link')} {'is' if failed == 1 else 'are'} down"
    return Chart(
        "network",
        heading,
        "The topology drawn. A link is the wider and warmer the busier its busier direction is; "
        "numbers mark the busiest ones, which the table names. Of a link that would cover others, "
        "as around the edge of a torus, only the two ends are drawn.",
        lambda: graph_spec(
            chart.positions,
            chart.ends,
            chart.node_kinds,
            load=np.minimum(chart.load, 1.0),
            failed=np.flatnonzero(chart.failed),
            labels=chart.node_names,
        ),
        links_table(chart),
        "the busiest links",
        is_for_experts=True,
    )


def links_table(chart: LinkMap) -> Table:
    """The hottest links: busy share, packets and those that waited, of the busier direction."""
    at = chart.hottest
    way = (chart.busy_share[at, 1] > chart.busy_share[at, 0]).astype(np.int64)
    packets = chart.packets[at, way]
    waited = np.divide(
        chart.queued[at, way], packets, out=np.full_like(packets, np.nan), where=packets > 0.0
    )
    return table(
        ("link", "channel", "text", [chart.name(int(link)) for link in at]),
        ("busy_share", "busy", "share", chart.busy_share[at, way]),
        ("packets", "packets", "count", packets),
        ("queued_share", "packets that waited", "share", waited),
        ("bytes", "bytes", "bytes", chart.bytes[at, way]),
        ("other_busy_share", "the other direction busy", "share", chart.busy_share[at, 1 - way]),
    )


def nodes_table(chart: LinkMap) -> Table:
    """The nodes that sent most packets, over all their ports."""
    size = len(chart.node_names)

    def sent(values: Floats) -> Floats:
        ways = (
            np.bincount(chart.ends[:, side], weights=values[:, side], minlength=size)
            for side in (0, 1)
        )
        return np.asarray(sum(ways), dtype=np.float64)

    packets, queued, carried = sent(chart.packets), sent(chart.queued), sent(chart.bytes)
    busy, ports = sent(chart.busy_share), sent(np.ones_like(chart.packets))
    order = np.argsort(-packets, kind="stable")[:HOTTEST]
    at = order[packets[order] > 0.0]
    return table(
        ("node", "node", "text", [chart.node_names[node] for node in at]),
        ("ports", "ports", "count", ports[at]),
        ("busy_share", "ports busy sending, mean", "share", busy[at] / ports[at]),
        ("packets", "packets sent", "count", packets[at]),
        ("queued_share", "packets that waited", "share", queued[at] / packets[at]),
        ("bytes", "bytes sent", "bytes", carried[at]),
    )


_FATES = (
    ("packets_delivered", "delivered"),
    ("packets_deviated", "of them by a way that is not a shortest one"),
    ("packets_dropped", "dropped"),
    ("packets_dropped_no_link", "dropped: no working link to go on by"),
    ("packets_dropped_hop_limit", "dropped: too many hops"),
    ("packets_dropped_cut", "dropped: cut off by a link or node that failed"),
)

_ALWAYS = ("packets_delivered", "packets_dropped")
"""Fates that are stated even where no packet met them."""


def fates_table(row: dict[str, Any]) -> Table | None:
    """What became of packets, from a run's row of `runs`; None where its network has no packets."""
    delivered = number(row, "packets_delivered")
    dropped = number(row, "packets_dropped") or 0.0
    if delivered is None:
        return None
    total = delivered + dropped
    found = [
        (words, count, count / total if total else None)
        for name, words in _FATES
        if (count := number(row, name)) is not None and (count or name in _ALWAYS)
    ]
    return table_of(
        found,
        ("fate", "packets", "text"),
        ("packets", "how many", "count"),
        ("share", "share", "share"),
    )


def losses_table(results: StudyTables, point: SystemRuns) -> Table | None:
    """Up to `HOTTEST` servers that lost requests in a median run, most first; None without any."""
    losing = losses_by_server(results, point)
    if not losing:
        return None
    gone, lost = failed_disks(results, point), sum(row["requests_lost"] for row in losing)
    hidden = len(losing) - HOTTEST
    more = f"{hidden:,} more {point.holder}s have losses; the table `servers` has all."
    return table_of(
        losing[:HOTTEST],
        ("server", point.holder, "text", lambda row: row["name"]),
        ("requests_lost", "requests lost", "count"),
        ("share", "share of all that are lost", "share", lambda row: row["requests_lost"] / lost),
        ("requests_completed", "requests completed", "count"),
        ("state", "state", "text", lambda row: "failed" if row["name"] in gone else "works"),
        note=more if hidden > 0 else "",
    )


def named_tables(results: StudyTables, point: SystemRuns) -> list[tuple[str, str, Table]]:
    """What a page names below a run's charts: (name, title, table) of nodes, fates and losses."""
    made: list[tuple[str, str, Table | None]] = []
    if (links := link_map(results, point)) is not None and links.packets.any():
        made.append(("nodes", "The nodes that send most packets", nodes_table(links)))
    made.append(("fates", "What became of packets", fates_table(point.median)))
    made.append(("losses", f"Requests lost by {point.holder}", losses_table(results, point)))
    return [(name, title, table) for name, title, table in made if table is not None]
