"""Who sends how much to whom in a rebuild, merged until a person can tell the parts apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from resilver.report.arrays import Floats, Integers, column, rows_of_run
from resilver.study.results import StudyTables
from resilver.study.system_runs import SystemRuns

if TYPE_CHECKING:
    import pyarrow as pa

ARCS_MAX = 64
"""More arcs than this leave no room for their names around a circle of a laptop's height."""
RIBBONS_MAX = 400
"""More ribbons than this cover each other, so the arcs are merged until fewer remain."""


@dataclass(frozen=True, eq=False)
class Flows:
    """Bytes from each sender to each receiver.

    Args:
        labels: One name an arc: a server, a host, or a block of servers.
        matrix: Bytes, shape (arcs, arcs), row = source, column = destination.
        servers_per_arc: The most servers that one arc stands for; 1 if arcs are servers.
        kind: What an arc is: "server", "host" or "block of servers".
        pairs: The number of (source, destination) server pairs with traffic.
    """

    labels: tuple[str, ...]
    matrix: Floats
    servers_per_arc: int
    kind: str
    pairs: int

    @property
    def sent(self) -> Floats:
        """Bytes sent by each arc."""
        return np.asarray(self.matrix.sum(axis=1))

    @property
    def received(self) -> Floats:
        """Bytes received by each arc."""
        return np.asarray(self.matrix.sum(axis=0))


def flows(results: StudyTables, point: SystemRuns) -> Flows:
    """The flows of the system's median run, merged until a person can tell the arcs apart.

    Up to `ARCS_MAX` servers and `RIBBONS_MAX` ribbons, an arc is a server. Beyond, arcs are hosts
    if the cluster has several servers on each, else blocks of servers with neighbouring indices,
    doubled in size until both limits hold.
    """
    run = point.median["run"]
    servers = rows_of_run(results.servers, run)
    transfers = rows_of_run(results.transfers, run)
    names = [str(name) for name in servers["name"].to_pylist()]
    index_of = {int(number): row for row, number in enumerate(servers["server"].to_pylist())}
    source = np.array([index_of[int(s)] for s in transfers["source"].to_pylist()], dtype=np.int64)
    target = np.array(
        [index_of[int(d)] for d in transfers["destination"].to_pylist()], dtype=np.int64
    )
    moved = np.nan_to_num(column(transfers, "bytes"))
    keep = moved > 0.0
    source, target, moved = source[keep], target[keep], moved[keep]
    for way in _groupings(names, servers):
        kind, group, labels = way
        arcs, between = np.unique(np.stack((group[source], group[target])), return_inverse=True)
        rows, columns = between.reshape(2, -1)
        ribbons = np.unique(rows * arcs.size + columns).size
        if arcs.size <= ARCS_MAX and ribbons <= RIBBONS_MAX:
            break
    # The last grouping is one block of all servers, so the loop always ends with `break`; only
    # then is a square matrix made, which for many thousand servers would not fit.
    matrix = np.zeros((arcs.size, arcs.size))
    np.add.at(matrix, (rows, columns), moved)
    size = int(np.bincount(group).max()) if group.size else 1
    return Flows(tuple(labels[arc] for arc in arcs), matrix, size, kind, int(moved.size))


def _groupings(names: list[str], servers: pa.Table) -> list[tuple[str, Integers, list[str]]]:
    """The ways to merge servers, finest first: (kind, arc of each server, label of each arc)."""
    count = len(names)
    ways = [("server", np.arange(count), names)]
    hosts = [str(host) for host in servers["host"].to_pylist()]
    distinct = list(dict.fromkeys(hosts))
    if 1 < len(distinct) < count:
        position = {host: row for row, host in enumerate(distinct)}
        ways.append(("host", np.array([position[host] for host in hosts]), distinct))
    size = 2
    while size < 2 * count:
        group = np.arange(count) // size
        labels = []
        for block in range(-(-count // size)):
            last = min(count, (block + 1) * size) - 1
            labels.append(_block_label(names[block * size], names[last]))
        ways.append(("block of servers", group, labels))
        size *= 2
    return ways


def _block_label(first: str, last: str) -> str:
    """`server.16-31` for `server.16` to `server.31`; both names in full if they share no stem."""
    stem, dot, _ = first.rpartition(".")
    other, _, tail = last.rpartition(".")
    if first == last:
        return first
    return f"{first}-{tail}" if dot and stem == other else f"{first} to {last}"
