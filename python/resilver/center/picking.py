"""Targets behind servers, in the order in which a job's streams should take them.

Streams are alike, and targets, servers and networks are nested. So each server takes its targets
where one more stream is served best, again and again; each network takes its servers likewise; and
the slowest of so many streams is then as fast as it can be.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from resilver.center.shares import Floats, Ints, Parts, least_pace

_NEAR = 1e-9


@dataclass(frozen=True, eq=False)
class Nested:
    """Targets, their servers and their networks.

    Attributes:
        targets: The targets.
        servers: The servers.
        server_of: The server of each target: shape (targets,).
        network_of: The network of each target, from 0: the same shape.
        is_open: Which targets may be used.
        networks: How many networks there are.
    """

    targets: Parts
    servers: Parts
    server_of: Ints
    network_of: Ints
    is_open: npt.NDArray[np.bool_]
    networks: int = 1

    @cached_property
    def _server_networks(self) -> Ints:
        found = np.zeros(len(self.servers.rates), dtype=np.int64)
        found[self.server_of] = self.network_of
        return found

    def room(self, pace: float, most: int) -> Floats:
        """How many streams each network's targets serve at a pace, no more than `most` each."""
        behind = np.bincount(
            self.server_of, weights=self._each(pace, most), minlength=len(self.servers.rates)
        )
        of_server = np.minimum(behind, self.servers.room(pace))
        found = np.bincount(self._server_networks, weights=of_server, minlength=self.networks)
        return found.astype(np.float64)

    def _each(self, pace: float, most: int) -> Floats:
        return np.where(self.is_open, np.minimum(self.targets.room(pace), most), 0.0)

    def pace_for(self, streams: int, most: int) -> float:
        """The least pace at which so many streams are served, to nine digits."""
        low, high = 0.0, float(self.targets.pace(np.ones(len(self.is_open))).max())
        while self.room(high, most).sum() < streams:
            low, high = high, 2.0 * high
        return least_pace(low, high, lambda pace: bool(self.room(pace, most).sum() >= streams))

    def in_order(self, pace: float, most: int, ranks: Ints) -> tuple[Ints, Floats]:
        """Every stream that is served at a pace, the best first.

        Args:
            pace: Time a byte.
            most: How many streams a target may have.
            ranks: In which order equal targets are taken: shape (targets,).

        Returns:
            The target of each stream, and the pace at which it is served: shape (streams,) each.
        """
        count = self._each(pace * (1.0 + _NEAR), most).astype(np.int64)
        target = np.repeat(np.arange(len(count)), count)
        begun = np.repeat(np.cumsum(count) - count, count)
        nth = np.arange(len(target)) - begun + 1.0
        chosen = Parts(*(column[target] for column in vars(self.targets).values()))
        own = chosen.pace(nth)
        # A server takes its targets in this order, so that the nth stream there is told.
        order = np.lexsort((ranks[target], own, self.server_of[target]))
        server = self.server_of[target][order]
        first = np.searchsorted(server, server)
        nth_behind = np.arange(len(order)) - first + 1.0
        behind = Parts(*(column[server] for column in vars(self.servers).values())).pace(nth_behind)
        reached = np.maximum(own[order], behind)
        best = np.lexsort((ranks[target][order], behind, reached))
        # What its server alone holds back comes behind targets that are slower themselves, which
        # are not among these.
        best = best[reached[best] <= pace * (1.0 + 8.0 * _NEAR)]
        return target[order][best], reached[best]


class Picker:
    """Which target of a network is taken next.

    Args:
        nested: The targets.
        streams: How many streams there are.
        most: How many streams a target may have: one of each file.
        ranks: In which order equal targets are taken: shape (targets,).
    """

    def __init__(self, nested: Nested, streams: int, most: int, ranks: Ints) -> None:
        self._nested, self._most, self._ranks = nested, most, ranks
        self._pace = nested.pace_for(streams, most)
        self.taken = [0] * nested.networks
        self._rows()

    def _rows(self) -> None:
        targets, paces = self._nested.in_order(self._pace, self._most, self._ranks)
        networks = self._nested.network_of[targets]
        order = np.argsort(networks, kind="stable")
        ends = np.cumsum(np.bincount(networks, minlength=len(self.taken)))[:-1]
        self._targets = [one.tolist() for one in np.split(targets[order], ends)]
        self._paces = [one.tolist() for one in np.split(paces[order], ends)]
        open_networks = self._nested.network_of[self._nested.is_open]
        self._full = np.bincount(open_networks, minlength=len(self.taken)) * self._most

    def peek(self, network: int) -> float:
        """The pace of a stream at the network's next target; infinite where there is none."""
        at = self.taken[network]
        while at >= len(self._paces[network]):
            if at >= self._full[network]:
                return float("inf")
            self._pace *= 2.0
            self._rows()
        return float(self._paces[network][at])

    def take(self, network: int) -> int:
        """Take the network's next target."""
        self.peek(network)
        self.taken[network] += 1
        return int(self._targets[network][self.taken[network] - 1])
