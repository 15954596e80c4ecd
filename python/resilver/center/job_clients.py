"""Which nodes of a machine a job runs on: read from a file, drawn, or one after another."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from resilver.center.machines import Machine
from resilver.errors import ConfigError, Problem, show
from resilver.text import read_text

Ints = npt.NDArray[np.int64]

_RANDOM = re.compile(r"random:(\d+)")
_JOB = re.compile(r"job:(\d+)@(\d+),(\d+),(\d+)")
_LIKE = re.compile(r"(random|job|placed):.*")
_FORMS = 'give a file, "random:N", "job:N@x,y,z" or "placed:N"'
_CLIENTS_PURPOSE = 0x636C6E74
"""The key of the streams that clients are drawn by."""


def job_clients(machine: Machine, clients: str | Path | Sequence[int | str], seed: int = 1) -> Ints:
    """The nodes of a job, in the order of its ranks.

    Args:
        clients: A file with the number or name of a node a line, or these themselves;
            ``random:N`` for N clients drawn without order; ``job:N@x,y,z`` for the N clients whose
            numbers follow one another from the first node of that chip, as schedulers hand them
            out.
        seed: Of what is drawn.

    Returns:
        Places in the machine's lists: shape (clients,).

    Raises:
        ConfigError: A node is unknown, named twice or does not compute, or there are not so many.

    >>> from resilver.center import machine
    >>> small = machine({"torus": [4, 4, 4], "routers": {"groups": [["x0y0z0n0"]]}})
    >>> [small.names[node] for node in job_clients(small, "job:3@0,0,2")]
    ['x0y0z2n0', 'x0y0z3n0', 'x0y1z0n0']
    """
    if not isinstance(clients, str | Path):
        named = [(f"client {rank}", str(name)) for rank, name in enumerate(clients)]
        return _named(machine, named, "the job has no clients")
    text = str(clients)
    if found := _RANDOM.fullmatch(text):
        count = clients_asked(machine, int(found[1]), text)
        draws = np.random.Generator(np.random.Philox(key=[seed, _CLIENTS_PURPOSE]))
        return np.asarray(draws.permutation(machine.clients)[:count])
    if found := _JOB.fullmatch(text):
        count, x, y, z = map(int, found.groups())
        clients_asked(machine, count, text)
        if not all(at < length for at, length in zip((x, y, z), machine.torus, strict=True)):
            rule = f"({x}, {y}, {z}) lies outside of the torus {list(machine.torus)}"
            raise ConfigError(rule, "places begin with 0", "--clients", show(text))
        first = np.flatnonzero((machine.places == (x, y, z)).all(axis=1))
        if not len(first):
            rule = f"no node is at ({x}, {y}, {z})"
            raise ConfigError(rule, "begin at another chip", "--clients", show(text))
        begin = np.searchsorted(machine.clients, first[0])
        return np.asarray(np.roll(machine.clients, -begin)[:count])
    if _LIKE.fullmatch(text):
        raise ConfigError("it says no such job", _FORMS, "--clients", show(text))
    path = Path(text).expanduser()
    lines = [
        (f"{path.name}, line {number}", line.partition("#")[0].strip())
        for number, line in enumerate(read_text(path).splitlines(), 1)
    ]
    return _named(machine, [one for one in lines if one[1]], f"{path.name} names no clients")


def clients_asked(machine: Machine, count: int, text: str) -> int:
    """A number of clients that the machine has.

    Args:
        count: How many.
        text: Where it was said.

    Raises:
        ConfigError: It is 0, or more than there are.
    """
    if not 1 <= count <= len(machine.clients):
        rule = f"the machine has {len(machine.clients):,} clients"
        raise ConfigError(rule, "ask for 1 to as many", "--clients", show(text))
    return count


def _named(machine: Machine, named: Sequence[tuple[str, str]], empty: str) -> Ints:
    """Nodes by their numbers or names."""
    if not named:
        raise ConfigError(empty, "name one at least", "--clients")
    by_name = {name: node for node, name in enumerate(machine.names)}
    by_number = {str(nid): node for node, nid in enumerate(machine.nids.tolist())}
    seen: dict[int, str] = {}
    problems = []
    for where, name in named:
        node = by_number.get(name, by_name.get(name))
        if node is None:
            rule = "the machine has no node of this number or name"
            remedy = f"numbers go to {machine.nids[-1]}, and names from {machine.names[0]}"
            problems.append(Problem(f"{rule}", remedy, value=show(name), place=where))
        elif not machine.computes[node]:
            rule = "the node does not compute, and is no client"
            problems.append(Problem(rule, "leave it out", value=show(name), place=where))
        elif node in seen:
            rule = f"{seen[node]} names the same node"
            problems.append(Problem(rule, "name each once", value=show(name), place=where))
        else:
            seen[node] = where
    if problems:
        raise ConfigError(problems[:_PROBLEMS_MAX])
    return np.array(list(seen), dtype=np.int64)


_PROBLEMS_MAX = 8
"""Problems that are told of one list: a file of another machine would have one a line."""
