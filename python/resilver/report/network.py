"""The network of a run: how busy each link and node is, and what became of packets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from operator import itemgetter
from statistics import fmean
from typing import Any

import numpy as np

from resilver.charts.vega import Chart
from resilver.report.arrays import rows_of_run
from resilver.report.graph import graph_spec
from resilver.report.traffic_sentence import failed_disks, losses_by_server
from resilver.study.results import StudyTables
from resilver.study.system_runs import Row, SystemRuns, number
from resilver.tables import Table, table_of
from resilver.words import percent, plural

HOTTEST = 10
"""Links and nodes that are named."""
_CARRIED = ("packets", "queued", "bytes")


def link_rows(results: StudyTables, point: SystemRuns) -> list[Row]:
    """The links of the system's median run, rows of `links` with their channels, the busier first.

    A channel is one direction: who sends, its busy share of the time, its packets, those of them
    that found it busy, and their bytes.

    Returns:
        A row a link; none where its network tells none apart, or nothing was sent.
    """
    rows: list[Row] = rows_of_run(results.links, point.median["run"]).to_pylist()
    seconds = number(point.median, "statistics_seconds")
    if not seconds:
        return []
    for row in rows:
        ways = (("forward", "from", "to"), ("backward", "to", "from"))
        channels = [
            {
                "name": f"{row[f'{sender}_name']} to {row[f'{receiver}_name']}",
                "sender": row[sender],
                "busy_share": (row[f"{way}_busy_seconds"] or 0.0) / seconds,
                **{key: row[f"{way}_{key}"] or 0 for key in _CARRIED},
            }
            for way, sender, receiver in ways
        ]
        row["channels"] = sorted(channels, key=lambda one: -one["busy_share"])
    return rows if any(one["packets"] for row in rows for one in row["channels"]) else []


def node_rows(links: Sequence[Row], point: SystemRuns) -> dict[int, Row]:
    """What links join, by number, rising: its name, its place in the unit square, and its kind.

    The kind is what a graph of one's own says, else what the name does.
    """
    ends = [(link[end], end, link) for end in ("from", "to") for link in links]
    degrees = Counter(node for node, _, _ in ends)
    topology = point.system.cluster.fabric.topology if point.system is not None else None
    graph = topology.graph if topology is not None else None
    found: dict[int, Row] = {}
    for node, end, link in sorted(ends, key=lambda one: one[0]):
        name = str(link[f"{end}_name"])
        kind = name.partition(".")[0]
        if graph is not None:
            kind = graph.kinds[node]
        elif kind not in ("host", "router", "switch"):
            # Where the graph is not at hand, a node with one link is a host.
            kind = "switch" if degrees[node] > 1 else "host"
        place = (link[f"{end}_x"], link[f"{end}_y"])
        found[node] = {"name": name, "place": place, "kind": kind}
    return found


def network(results: StudyTables, point: SystemRuns) -> Chart | None:
    """The topology with how busy its links were; None where no link is told apart, or all idle."""
    links = link_rows(results, point)
    if not links:
        return None
    nodes = node_rows(links, point)
    at = {number: rank for rank, number in enumerate(nodes)}
    load = [link["channels"][0]["busy_share"] for link in links]
    heading = "No link carried anything"
    if hottest := _hottest(links):
        (top, _), *_ = hottest
        mean = fmean(one["busy_share"] for link in links for one in link["channels"])
        heading = (
            f"The busiest channel, {top['name']}, sends {percent(top['busy_share'])} of the time, "
            f"the mean one {percent(mean)}"
        )
    failed = [rank for rank, link in enumerate(links) if link["failed"]]
    if failed:
        heading += f"; {plural(len(failed), 'link')} {'is' if len(failed) == 1 else 'are'} down"
    return Chart(
        "network",
        heading,
        "The topology drawn. A link is the wider and warmer the busier its busier direction is; "
        "numbers mark the busiest ones, which the table names. Of a link that would cover others, "
        "as around the edge of a torus, only the two ends are drawn.",
        lambda: graph_spec(
            [node["place"] for node in nodes.values()],
            [(at[link["from"]], at[link["to"]]) for link in links],
            [node["kind"] for node in nodes.values()],
            load=np.minimum(load, 1.0),
            failed=failed,
            labels=[node["name"] for node in nodes.values()],
        ),
        links_table(links),
        "the busiest links",
        is_for_experts=True,
    )


def _hottest(links: Sequence[Row]) -> list[list[Row]]:
    """The channels of the busiest links, at most `HOTTEST`, none that carried nothing."""
    busy = [link["channels"] for link in links if link["channels"][0]["busy_share"] > 0.0]
    return sorted(busy, key=lambda one: -one[0]["busy_share"])[:HOTTEST]


def _waited(one: Row) -> float | None:
    """The share of packets that found their channel busy."""
    return one["queued"] / one["packets"] if one["packets"] else None


def links_table(links: Sequence[Row]) -> Table:
    """The hottest links: busy share, packets and those that waited, of the busier direction."""
    return table_of(
        [{**one, "other_busy_share": other["busy_share"]} for one, other in _hottest(links)],
        ("link", "channel", "text", itemgetter("name")),
        ("busy_share", "busy", "share"),
        ("packets", "packets", "count"),
        ("queued_share", "packets that waited", "share", _waited),
        ("bytes", "bytes", "bytes"),
        ("other_busy_share", "the other direction busy", "share"),
    )


def nodes_table(links: Sequence[Row], nodes: dict[int, Row]) -> Table:
    """The nodes that sent most packets, over all their ports."""
    sent: dict[int, list[Row]] = {node: [] for node in nodes}
    for link in links:
        for one in link["channels"]:
            sent[one["sender"]].append(one)
    rows = [
        {
            "node": nodes[node]["name"],
            "ports": len(ports),
            "busy_share": fmean(one["busy_share"] for one in ports),
            **{key: sum(one[key] for one in ports) for key in _CARRIED},
        }
        for node, ports in sent.items()
    ]
    rows.sort(key=lambda row: -row["packets"])
    return table_of(
        [row for row in rows[:HOTTEST] if row["packets"]],
        ("node", "node", "text"),
        ("ports", "ports", "count"),
        ("busy_share", "ports busy sending, mean", "share"),
        ("packets", "packets sent", "count"),
        ("queued_share", "packets that waited", "share", _waited),
        ("bytes", "bytes sent", "bytes"),
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
    if links := link_rows(results, point):
        nodes = nodes_table(links, node_rows(links, point))
        made.append(("nodes", "The nodes that send most packets", nodes))
    made.append(("fates", "What became of packets", fates_table(point.median)))
    made.append(("losses", f"Requests lost by {point.holder}", losses_table(results, point)))
    return [(name, title, table) for name, title, table in made if table is not None]
