"""Which network each stream of a job goes to, where clients reach networks by routers of their own.

A client has one router of each network, so that a stream's way is told by its client and its
network: client, router, network, and behind it servers and targets that are nested. Streams go one
after the other to the network where the slowest part of their way is fastest. Exchanges follow:
for a pace below the one reached, streams that exceed what parts serve at it are moved along chains
of others (augmenting paths: Ford and Fulkerson 1956), until none is left over or no chain is found.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resilver.center.picking import Nested, Picker
from resilver.center.shares import Floats, Ints, Parts, least_pace

_TRIES = 12
"""How many paces exchanges are tried for: each halves the distance to the bound."""

_LOOKS = 100_000
"""How many streams' ways are looked at in all exchanges of one advice."""

_NEAR = 1e-9
_LITTLE = 1e-3
"""How much the sum of paces counts beside the longest: it tells equal ways apart."""


@dataclass(frozen=True, eq=False)
class Reach:
    """The streams of a job and the routers that they may go by.

    Attributes:
        routers: The routers.
        ways: The router of each client and network: shape (clients, networks).
        clients: The client of each stream, as a row of `ways`: shape (streams,).
        files: The file of each stream: the same shape; each goes to a network once.
    """

    routers: Parts
    ways: Ints
    clients: Ints
    files: Ints


def assign(reach: Reach, nested: Nested, ranks: Ints) -> Ints:
    """Choose the network of each stream.

    Args:
        reach: The streams and their routers.
        nested: The networks' servers and targets.
        ranks: In which order equal targets are taken: shape (targets,).

    Returns:
        Shape (streams,).
    """
    most = int(reach.files[-1]) + 1
    networks = _greedy(reach, Picker(nested, len(reach.clients), most, ranks))
    return _Exchange(reach, nested, networks, most).improve()


def _greedy(reach: Reach, picker: Picker) -> Ints:
    """Each stream in turn where its way's slowest part is fastest; of equal ones the emptier."""
    count = reach.ways.shape[1]
    best = np.array([picker.peek(network) for network in range(count)])
    own = reach.routers
    rates, left = own.rates.tolist(), (own.rates - own.busy).tolist()
    greedy, others = own.greedy.tolist(), own.others.tolist()
    paces = own.pace(np.ones(len(rates)))
    taken = [1] * len(rates)
    chosen = np.empty(len(reach.clients), dtype=np.int64)
    by, keys, sums = np.empty(count), np.empty(count), np.empty(count)
    used, file = np.zeros(count, dtype=bool), -1
    for stream, (client, its_file) in enumerate(
        zip(reach.clients.tolist(), reach.files.tolist(), strict=True)
    ):
        way = reach.ways[client]
        paces.take(way, out=by, mode="clip")
        np.maximum(by, best, out=keys)
        np.add(by, best, out=sums)
        sums *= _LITTLE
        keys += sums
        if its_file != file:
            file = its_file
            used[:] = False
        else:
            keys[used] = np.inf
        network = int(keys.argmin())
        used[network] = True
        chosen[stream] = network
        picker.taken[network] += 1
        best[network] = picker.peek(network)
        router = int(way[network])
        taken[router] += 1
        ours = taken[router] + greedy[router]
        shared = (ours + others[router]) / rates[router]
        paces[router] = min(ours / left[router], shared) if left[router] > 0.0 else shared
    return chosen


class _Exchange:
    """Streams moved from networks and routers that are over a pace to others.

    Args:
        reach: The streams and their routers.
        nested: What lies behind networks.
        networks: The network of each stream, to begin with.
        most: How many streams a target may have.
    """

    def __init__(self, reach: Reach, nested: Nested, networks: Ints, most: int) -> None:
        self.reach, self.nested, self.most = reach, nested, most
        self.networks = networks
        self.looks = _LOOKS

    def improve(self) -> Ints:
        """The networks after exchanges."""
        least, reached = self._bound(), self._reached(self.networks)
        aim = least
        for _ in range(_TRIES):
            if reached <= least * (1.0 + 1e-6) or self.looks <= 0:
                break
            found = self._at(aim)
            if found is None:
                least = aim
            else:
                self.networks, reached = found, min(aim, self._reached(found))
            aim = (least + reached) / 2
        return self.networks

    def _routers(self, networks: Ints) -> Ints:
        return np.asarray(self.reach.ways[self.reach.clients, networks])

    def _reached(self, networks: Ints) -> float:
        """The pace of the slowest stream."""
        counts = np.bincount(self._routers(networks), minlength=len(self.reach.routers.rates))
        paces = self.reach.routers.pace(counts)[counts > 0]
        streams = np.bincount(networks, minlength=self.reach.ways.shape[1])
        low, high = 0.0, float(paces.max(initial=0.0))
        if (self.nested.room(high, self.most) >= streams).all():
            return high
        while (self.nested.room(high, self.most) < streams).any():
            low, high = high, 2.0 * high + 1e-30
        return least_pace(
            low, high, lambda pace: bool((self.nested.room(pace, self.most) >= streams).all())
        )

    def _bound(self) -> float:
        """A pace below which the parts of the layers together serve too few streams."""
        ways, routers = self.reach.ways, self.reach.routers
        owner = np.full(len(routers.rates), -1)
        for network in range(ways.shape[1]):
            owner[ways[:, network]] = network
        is_used = owner >= 0

        def serves(pace: float) -> bool:
            by = np.bincount(
                owner[is_used], weights=routers.room(pace)[is_used], minlength=ways.shape[1]
            )
            served = np.minimum(by, self.nested.room(pace, self.most))
            return bool(served.sum() >= len(self.reach.clients))

        return least_pace(0.0, self._reached(self.networks), serves)

    def _at(self, pace: float) -> Ints | None:
        """The networks with no part over a pace; None where exchanges do not come there."""
        pace *= 1.0 + 10 * _NEAR
        room = self.nested.room(pace, self.most)
        chains = _Chains(self.reach, self.networks, self.reach.routers.room(pace), room)
        for stream in chains.over():
            if not chains.place(stream, self):
                return None
        return chains.networks


class _Chains:
    """Streams at routers and networks of limited room.

    Args:
        reach: The streams and their routers.
        networks: The network of each stream.
        router_room: How many streams each router takes.
        room: How many each network takes.
    """

    def __init__(self, reach: Reach, networks: Ints, router_room: Floats, room: Floats) -> None:
        self.reach, self.networks = reach, networks.copy()
        self.routers = reach.ways[reach.clients, networks]
        self.router_room = router_room.astype(np.int64)
        self.room = room.astype(np.int64)
        self.is_alone = len(np.unique(reach.files)) == len(reach.files)

    def over(self) -> list[int]:
        """Take out the streams that there is no room for; the first ones keep theirs."""
        kept = _places(self.routers) < self.router_room[self.routers]
        at = np.flatnonzero(kept)
        kept[at] = _places(self.networks[at]) < self.room[self.networks[at]]
        self.networks[~kept] = self.routers[~kept] = -1
        self.router_room -= np.bincount(self.routers[kept], minlength=len(self.router_room))
        self.room -= np.bincount(self.networks[kept], minlength=len(self.room))
        return [int(stream) for stream in np.flatnonzero(~kept)]

    def _move(self, stream: int, network: int) -> None:
        """Put a stream elsewhere; the room that it leaves is there again."""
        if (left := self.networks[stream]) >= 0:
            self.room[left] += 1
            self.router_room[self.routers[stream]] += 1
        router = self.reach.ways[self.reach.clients[stream], network]
        self.networks[stream], self.routers[stream] = network, router
        self.room[network] -= 1
        self.router_room[router] -= 1

    def place(self, stream: int, budget: _Exchange) -> bool:
        """Find a stream a place, by moving others where needed."""
        before: dict[int, tuple[int, int]] = {stream: (-1, -1)}
        queue: deque[int] = deque()
        new = [stream]
        seen_routers = np.zeros(len(self.router_room), dtype=bool)
        seen_networks = np.zeros(len(self.room), dtype=bool)
        while budget.looks > 0:
            if (end := self._free(new)) is not None:
                return self._follow(*end, before)
            budget.looks -= len(new)
            queue += new
            new = []
            while queue and not new:
                one = queue[0]
                way, may = self.reach.ways[self.reach.clients[one]], self._may(one)
                # Who is at a full router, or in a full network, may make room there.
                is_full = self.router_room[way] <= 0
                networks = np.flatnonzero(
                    may & ((is_full & ~seen_routers[way]) | (~is_full & ~seen_networks))
                )
                if not len(networks):
                    queue.popleft()
                    continue
                network = int(networks[0])
                if is_full[network]:
                    seen_routers[way[network]] = True
                    moved = self.routers == way[network]
                else:
                    seen_networks[network] = True
                    moved = self.networks == network
                new = [other for other in np.flatnonzero(moved).tolist() if other not in before]
                before.update(dict.fromkeys(new, (one, network)))
            if not new:
                return False
        return False

    def _free(self, streams: list[int]) -> tuple[int, int] | None:
        """A stream and a network that takes it as it is."""
        ways = self.reach.ways[self.reach.clients[streams]]
        there = (self.router_room[ways] > 0) & (self.room > 0)
        for at in np.flatnonzero(there.any(axis=1)).tolist():
            if (found := there[at] & self._may(streams[at])).any():
                return streams[at], int(found.argmax())
        return None

    def _may(self, stream: int) -> npt.NDArray[np.bool_]:
        """The networks that no other stream of its file is in."""
        may = np.ones(len(self.room), dtype=bool)
        if not self.is_alone:
            taken = self.networks[self.reach.files == self.reach.files[stream]]
            may[taken[taken >= 0]] = False
        return may

    def _follow(self, last: int, network: int, before: dict[int, tuple[int, int]]) -> bool:
        """Move every stream of a chain, from its end."""
        chain = [(last, network)]
        while (previous := before[chain[-1][0]])[0] >= 0:
            chain.append(previous)
        if len({int(self.reach.files[one]) for one, _ in chain}) < len(chain):
            # Two streams of one file might meet in a network.
            return False
        for one, to in chain:
            self._move(one, to)
        return True


def _places(groups: Ints) -> Ints:
    """Which of its group each is, from 0, in the order given."""
    order = np.argsort(groups, kind="stable")
    ordered = groups[order]
    places = np.empty(len(groups), dtype=np.int64)
    places[order] = np.arange(len(groups)) - np.searchsorted(ordered, ordered)
    return places
