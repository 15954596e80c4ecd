"""The file system behind a machine's routers: its servers and targets, and their networks."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from resilver.center.machines import Machine
from resilver.errors import ConfigError

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Storage:
    """Which server each target has, and over which network it is reached.

    Attributes:
        server_blocks: The building block of each server, row by row from 0: shape (servers,).
        server_networks: The network of each server's leaf switch: the same shape.
        target_servers: The server of each target: shape (targets,).
        target_namespaces: The namespace of each target, from 0: the same shape.
    """

    server_blocks: Ints = field(repr=False)
    server_networks: Ints = field(repr=False)
    target_servers: Ints = field(repr=False)
    target_namespaces: Ints = field(repr=False)

    @property
    def target_networks(self) -> Ints:
        """The network over which each target is reached: shape (targets,)."""
        return np.asarray(self.server_networks[self.target_servers])


def storage(machine: Machine) -> Storage:
    """The servers and targets behind a machine's routers.

    Targets are numbered in turn over the servers of a namespace: with s of them, server i has the
    targets i, i + s, i + 2 s and so on of its namespace.

    Raises:
        ConfigError: Its file does not tell of any.

    >>> from resilver.center import machine
    >>> spider = storage(machine("titan"))
    >>> spider.target_servers[:3].tolist(), spider.target_networks[3:6].tolist()
    ([0, 1, 2], [201, 202, 202])
    """
    side = machine.file.storage
    if side is None:
        rule = "the machine's file does not tell of servers and targets"
        raise ConfigError(rule, "add [storage] with blocks, servers and targets", "storage")
    servers = np.arange(side.rows * side.blocks * side.servers)
    blocks = servers // side.servers
    row, block = blocks // side.blocks, blocks % side.blocks
    further = np.array(side.leaves or (0,) * side.servers)[servers % side.servers]
    networks = side.network + row * side.blocks + (block + further) % side.blocks
    each = len(servers) // side.namespaces
    targets = np.arange(len(servers) * side.targets)
    namespaces = targets // (each * side.targets)
    return Storage(blocks, networks, namespaces * each + targets % each, namespaces)
