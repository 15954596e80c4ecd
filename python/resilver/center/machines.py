"""A torus of nodes with routers among them: where each node is, and what it does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from resilver.center.machine_file import CAGES, SLOTS, MachineFile
from resilver.errors import ConfigError, Problem, raise_all, show
from resilver.text import read_text, refuse

Ints = npt.NDArray[np.int64]

_NAMED_MAX = 8
_COLUMNS = ("nid", "name", "type", "x", "y", "z")


@dataclass(frozen=True)
class Machine:
    """The nodes of a machine.

    Attributes:
        file: What it was read from.
        torus: The lengths of its rings, in chips.
        nids: The nodes' numbers, rising: shape (nodes,).
        names: Their names.
        places: Their chips: shape (nodes, 3).
        computes: Which of them compute, and so are clients: shape (nodes,).
        routers: The routers, as places in these lists: shape (groups, modules, nodes of a module);
            -1 where a group has fewer modules than another.
        networks: The network of each router: the same shape; -1 where there is none.
    """

    file: MachineFile
    torus: tuple[int, int, int]
    nids: Ints = field(repr=False)
    names: tuple[str, ...] = field(repr=False)
    places: Ints = field(repr=False)
    computes: npt.NDArray[np.bool_] = field(repr=False)
    routers: Ints = field(repr=False)
    networks: Ints = field(repr=False)

    @property
    def clients(self) -> Ints:
        """The nodes that compute, as places in the lists."""
        return np.flatnonzero(self.computes)

    @property
    def network_numbers(self) -> Ints:
        """The networks' numbers, rising."""
        return np.unique(self.networks[self.networks >= 0])

    def channel_rates(self, axis: int) -> npt.NDArray[np.float64]:
        """What each channel of an axis passes, in bytes per second; infinite where it is not told.

        Args:
            axis: 0 to 2 for X, Y and Z.

        Returns:
            Shape (2, X, Y, Z): upwards and downwards, by the chip that the channel leaves.
        """
        rates = np.array(self.file.rates.along[axis] or (np.inf,), dtype=np.float64)
        up = np.resize(rates, self.torus[axis])
        # Downwards from a place is the cable that leads upwards from the one below.
        shape = [length if at == axis else 1 for at, length in enumerate(self.torus)]
        both = np.stack([up.reshape(shape), np.roll(up, 1).reshape(shape)])
        return np.broadcast_to(both, (2, *self.torus))

    def routers_of(self, network: int) -> Ints:
        """The routers of a network, group by group and module by module."""
        return np.asarray(self.routers[self.networks == network])

    def node(self, given: str) -> int:
        """The place in the lists of a node given by its number or name.

        Raises:
            ConfigError: There is none.
        """
        if given.isdecimal() and len(found := np.flatnonzero(self.nids == int(given))):
            return int(found[0])
        if given in self.names:
            return self.names.index(given)
        first, last = self.names[0], self.names[-1]
        rule = "the machine has no node of this number or name"
        remedy = f"numbers go to {int(self.nids[-1])}, and names from {first} to {last}"
        raise ConfigError(rule, remedy, value=show(given))


def machine(given: str | Path | dict[str, Any] | MachineFile) -> Machine:
    """The nodes of a machine.

    Args:
        given: A machine file, its path or content, or the name of one in the catalog: ``titan``.

    Raises:
        ConfigError: It cannot be read, or with every problem in it.

    >>> titan = machine("titan")
    >>> titan.torus, len(titan.clients), titan.routers.size
    ((25, 16, 24), 18688, 432)
    """
    file = MachineFile.of(given)
    if file.map is not None:
        nids, names, places, computes = _read_map(file)
    elif file.cabinets is not None:
        nids, names, places = _cabinet_nodes(file)
        computes = np.ones(len(nids), dtype=bool)
    else:
        nids, names, places = _plain_nodes(file)
        computes = np.ones(len(nids), dtype=bool)
    at = {name: place for place, name in enumerate(names)}
    blades = modules_of(names)
    problems: list[Problem] = []
    for number, name in enumerate(file.service):
        for node in _nodes_of(name, at, blades, f"service.{number}", problems):
            computes[node] = False
    routers, networks = _routers(file, at, blades, problems)
    found = routers[routers >= 0]
    if file.map is not None:
        working = [names[node] for node in found if computes[node]]
        if working:
            rule = f"the map says that these routers compute: {', '.join(working[:_NAMED_MAX])}"
            problems.append(Problem(rule, "change their type, or leave them out", "routers.groups"))
    problems += _network_problems(file)
    raise_all(problems)
    computes[found] = False
    if not computes.any():
        raise ConfigError("no node computes", "leave some out of service", "service")
    return Machine(file, file.torus, nids, names, places, computes, routers, networks)


def _plain_nodes(file: MachineFile) -> tuple[Ints, tuple[str, ...], Ints]:
    """Nodes named by their places."""
    chips = np.stack(np.meshgrid(*map(np.arange, file.torus), indexing="ij"), -1).reshape(-1, 3)
    places = np.repeat(chips, file.nodes, axis=0)
    names = tuple(
        f"x{x}y{y}z{z}n{node}" for x, y, z in chips.tolist() for node in range(file.nodes)
    )
    return np.arange(len(places)), names, places


def _cabinet_nodes(file: MachineFile) -> tuple[Ints, tuple[str, ...], Ints]:
    """Nodes of Cray XK cabinets with folded cables."""
    length_x, length_y, length_z = file.torus
    names, places = [], []
    is_upward = True
    for step in range(length_x):
        # Numbers begin at X = 0 and go on downwards, on a path that turns at every end.
        x = -step % length_x
        planes = range(length_y) if step % 2 == 0 else range(length_y - 1, -1, -1)
        for y in planes:
            heights = range(length_z) if is_upward else range(length_z - 1, -1, -1)
            is_upward = not is_upward
            for z in heights:
                blade, plane = _blade(file.torus, x, y, z)
                names += [f"{blade}n{2 * plane}", f"{blade}n{2 * plane + 1}"]
                places += [(x, y, z), (x, y, z)]
    return np.arange(len(names)), tuple(names), np.array(places)


def _blade(torus: tuple[int, int, int], x: int, y: int, z: int) -> tuple[str, int]:
    """The blade that a chip is on, and which of its two chips it is."""
    column = _unfolded(-x % torus[0], torus[0])
    pair, plane = divmod(y, 2)
    row = _unfolded(pair, torus[1] // 2)
    level, slot = divmod(z, SLOTS)
    # Through the cages upwards in one pair of planes, downwards in the next; the middle one is
    # passed the other way, so that each ring's cables are short.
    cage = level if pair % 2 == 0 else CAGES - 1 - level
    if level % 2:
        slot = SLOTS - 1 - slot
    return f"c{column}-{row}c{cage}s{slot}", plane


def _unfolded(step: int, length: int) -> int:
    """Which of so many in a row a ring comes to: over every other one, and back over the rest."""
    there = (length + 1) // 2
    return 2 * step if step < there else 2 * (length - 1 - step) + 1


def _read_map(file: MachineFile) -> tuple[Ints, tuple[str, ...], Ints, npt.NDArray[np.bool_]]:
    """Nodes of a map file, by number."""
    assert file.map is not None
    lines = [
        (number, line.split())
        for number, line in enumerate(read_text(file.map).splitlines(), 1)
        if line.strip() and not line.startswith("#")
    ]
    if lines and lines[0][1][0].lower() == "nid":
        lines = lines[1:]
    nodes: dict[int, tuple[str, bool, tuple[int, ...]]] = {}
    named: dict[str, int] = {}
    on_chip: Counter[tuple[int, ...]] = Counter()
    for number, fields in lines:
        where = f"{file.map.name}, line {number}"
        if len(fields) != len(_COLUMNS):
            refuse(where, f"a node has {', '.join(_COLUMNS)}", f"not {len(fields)} fields")
        try:
            nid, place = int(fields[0]), tuple(map(int, fields[3:]))
        except ValueError:
            refuse(where, "numbers and coordinates are whole numbers", "correct the line")
        if nid in nodes or fields[1] in named:
            what = f"number {nid}" if nid in nodes else f"name {fields[1]}"
            refuse(where, f"two nodes have the {what}", "remove one")
        if not all(0 <= at < length for at, length in zip(place, file.torus, strict=True)):
            rule = f"{place} lies outside of the torus {list(file.torus)}"
            refuse(where, rule, "move the node, or enlarge the torus")
        on_chip[place] += 1
        if on_chip[place] > file.nodes:
            rule = f"{place} has more than {file.nodes} nodes"
            refuse(where, rule, f"raise nodes = {file.nodes}, or correct the line")
        nodes[nid], named[fields[1]] = (fields[1], fields[2] == "compute", place), nid
    if not nodes:
        refuse(file.map, "it has no nodes", "add lines of nid, name, type, x, y, z")
    order = sorted(nodes)
    return (
        np.array(order),
        tuple(nodes[nid][0] for nid in order),
        np.array([nodes[nid][2] for nid in order]),
        np.array([nodes[nid][1] for nid in order]),
    )


def modules_of(names: Sequence[str]) -> dict[str, list[int]]:
    """The nodes of each module: those whose names differ in the number behind the last n alone.

    Returns:
        The places of its nodes by the module's name, in the order of these numbers.
    """
    found: dict[str, dict[int, int]] = {}
    for place, name in enumerate(names):
        blade, _, number = name.rpartition("n")
        if blade and number.isdecimal():
            found.setdefault(blade, {})[int(number)] = place
    return {blade: [nodes[number] for number in sorted(nodes)] for blade, nodes in found.items()}


def _nodes_of(
    name: str, at: dict[str, int], blades: dict[str, list[int]], key: str, problems: list[Problem]
) -> list[int]:
    """The nodes of a module, or one node."""
    if name in at:
        return [at[name]]
    if name not in blades:
        rule = "the machine has no module or node of this name"
        remedy = f"such as {next(iter(blades), next(iter(at)))}"
        problems.append(Problem(rule, remedy, key, show(name)))
    return blades.get(name, [])


def _network_problems(file: MachineFile) -> list[Problem]:
    """Networks that routers of two groups would have, and those of servers that none has."""
    seen: dict[int, str] = {}
    for group in range(len(file.routers.groups)):
        for place, first in enumerate(file.routers.networks):
            here = f"node {place} of the modules of group {group}"
            if (other := seen.setdefault(group + first, here)) != here:
                rule = f"{other} and {here} would be routers of network {group + first}"
                value = show(list(file.routers.networks))
                return [Problem(rule, "move them apart", "routers.networks", value)]
    if file.storage is not None:
        without = [number for number in file.storage.networks if number not in seen]
        if without:
            named = ", ".join(map(str, without[:_NAMED_MAX]))
            rule = f"leaf switches have networks without routers: {named}"
            value, key = show(file.storage.network), "storage.network"
            return [Problem(rule, "add routers, or correct the number", key, value)]
    return []


def _routers(
    file: MachineFile, at: dict[str, int], blades: dict[str, list[int]], problems: list[Problem]
) -> tuple[Ints, Ints]:
    """The routers and their networks, by group, module and node of the module."""
    groups, offsets = file.routers.groups, file.routers.networks
    shape = (len(groups), max(map(len, groups)), len(offsets))
    routers, networks = np.full(shape, -1), np.full(shape, -1)
    seen: dict[int, str] = {}
    for group, modules in enumerate(groups):
        if not modules:
            rule = "the group has no modules, and its networks no routers"
            problems.append(Problem(rule, "add some", f"routers.groups.{group}"))
        for module, name in enumerate(modules):
            key = f"routers.groups.{group}.{module}"
            nodes = _nodes_of(name, at, blades, key, problems)
            if not nodes:
                continue
            if len(nodes) < len(offsets):
                rule = f"it has {len(nodes)} nodes, and routers.networks {len(offsets)}"
                problems.append(Problem(rule, "make them as many", key, show(name)))
                continue
            for place, offset in enumerate(offsets):
                if nodes[place] in seen:
                    rule = f"it is a router of {seen[nodes[place]]} already"
                    problems.append(Problem(rule, "name each once", key, show(name)))
                    break
                seen[nodes[place]] = f"routers.groups.{group}.{module}"
                routers[group, module, place] = nodes[place]
                networks[group, module, place] = group + offset
    return routers, networks
