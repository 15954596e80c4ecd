"""The transport problem of clients and routers: least cost, no router above its even share.

Clients begin at their cheapest router, which is the optimum while shares are ignored. What is above
its share then goes on, each time along the chain of changes that adds least to the cost: successive
shortest paths (Ahuja, Magnanti and Orlin, *Network Flows*, 9.7), whose result is the optimum. As
routers are few and costs are few different numbers, each step moves many clients.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def even_share(clients: int, routers: int) -> int:
    """The most clients that a router has where all have as many as can be."""
    return -(-clients // routers)


def balanced(costs: npt.NDArray[Any], supply: npt.NDArray[Any]) -> Ints:
    """Give every client a router, at the least cost at which none has more than its even share.

    Args:
        costs: What it costs clients of each chip to use each router: shape (chips, routers).
        supply: How many clients each chip has: shape (chips,).

    Returns:
        The router of each client, chip by chip: shape (clients,).
    """
    chips, routers = costs.shape
    share = even_share(int(supply.sum()), routers)
    # How many clients of each chip use each router.
    flow = np.zeros((chips, routers), dtype=np.int64)
    flow[np.arange(chips), costs.argmin(axis=1)] = supply
    load = flow.sum(axis=0)
    while (load > share).any():
        chain = _cheapest_chain(_changes(costs, flow), load > share, load < share)
        amount = min(int(load[chain[0]]) - share, share - int(load[chain[-1]]))
        moves = []
        for old, new in pairwise(chain):
            extra = np.where(flow[:, old] > 0, costs[:, new] - costs[:, old], np.inf)
            rows = np.flatnonzero(extra == extra.min())
            amount = min(amount, int(flow[rows, old].sum()))
            moves.append((old, new, rows))
        for old, new, rows in moves:
            _move(flow, rows, old, new, amount)
        load = flow.sum(axis=0)
    return np.repeat(np.tile(np.arange(routers), chips), flow.reshape(-1))


def _changes(costs: npt.NDArray[Any], flow: Ints) -> Floats:
    """The least that it adds to the cost if a client changes from one router to another."""
    routers = costs.shape[1]
    least = np.full((routers, routers), np.inf)
    for old in range(routers):
        rows = flow[:, old] > 0
        if rows.any():
            least[old] = (costs[rows] - costs[rows, old, None]).min(axis=0)
    return least


def _cheapest_chain(
    changes: Floats, is_above: npt.NDArray[np.bool_], is_below: npt.NDArray[np.bool_]
) -> list[int]:
    """From a router above its share to one below, along which changes add least (Bellman, Ford)."""
    distance = np.where(is_above, 0.0, np.inf)
    before = np.full(len(distance), -1)
    for _ in distance:
        through = distance[:, None] + changes
        nearest = through.argmin(axis=0)
        reached = through[nearest, np.arange(len(distance))]
        # Costs are sums of few numbers, so that only rounding makes a smaller difference.
        is_nearer = reached < distance - 1e-9
        if not is_nearer.any():
            break
        distance = np.where(is_nearer, reached, distance)
        before = np.where(is_nearer, nearest, before)
    chain = [int(np.where(is_below, distance, np.inf).argmin())]
    while before[chain[0]] >= 0:
        chain.insert(0, int(before[chain[0]]))
    return chain


def _move(flow: Ints, rows: Ints, old: int, new: int, amount: int) -> None:
    """Let so many clients of these chips change, the first ones first."""
    there = flow[rows, old]
    before = np.cumsum(there) - there
    moved = np.clip(amount - before, 0, there)
    flow[rows, old] -= moved
    flow[rows, new] += moved
