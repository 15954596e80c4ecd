"""Where a job's files should go, by what is busy and full in a file system now."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from resilver.center.assigning import Reach, assign
from resilver.center.expected import Expected, RoundRobin, expect, expect_round_robin
from resilver.center.job_clients import job_clients
from resilver.center.layers import Given, Layers, layers_of
from resilver.center.load_state import LoadState, read_state
from resilver.center.machines import Machine, machine
from resilver.center.picking import Nested, Picker
from resilver.center.routes import Routes, route
from resilver.center.shares import Floats, Ints
from resilver.errors import ConfigError, Problem, ResilverError, raise_all, show
from resilver.importers.log_rows import DEGRADED, UP
from resilver.record import record

_STREAMS_MAX = 1_000_000


class NoTargetError(ResilverError):
    """No target is left to write to, or fewer than a file has stripes."""


@dataclass(frozen=True, eq=False)
class Advice:
    """Where a job's files should go, and what that brings.

    Attributes:
        state: What was busy and full before.
        layers: The targets and what lies before them.
        placed: The targets of each file, as places in the state: shape (files, stripes).
        clients: The client of each file, as places among the machine's clients, or None.
        client_names: The names of these clients; empty without a machine.
        order: All targets, best first: those that are used, those left, those not to be used.
        expected: What the job gets.
        round_robin: What it would get from the file system's own round robin.
    """

    state: LoadState = field(repr=False)
    layers: Layers = field(repr=False)
    placed: Ints = field(repr=False)
    clients: Ints | None = field(repr=False)
    client_names: tuple[str, ...] = field(repr=False)
    order: Ints = field(repr=False)
    expected: Expected
    round_robin: RoundRobin

    @property
    def targets(self) -> tuple[tuple[str, ...], ...]:
        """The targets of each file, by name."""
        names = self.state.targets
        return tuple(tuple(names[at] for at in row) for row in self.placed.tolist())

    @property
    def streams(self) -> Ints:
        """How many streams of the job each target gets: shape (targets,)."""
        return np.bincount(self.placed.reshape(-1), minlength=len(self.state.targets))

    @property
    def after(self) -> LoadState:
        """The state with this job in it, for the next one that asks."""
        routers, used = self.state.advised_routers, self._router_streams()
        if used is not None:
            routers = used if routers is None else routers + used
        advised = self.state.advised + self.streams
        return replace(self.state, advised=advised, advised_routers=routers)

    def _router_streams(self) -> Floats | None:
        layers = self.layers
        if layers.routers is None or layers.ways is None or self.clients is None:
            return None
        by = layers.ways[self.clients[:, None], layers.nested.network_of[self.placed]]
        count = len(layers.routers.rates)
        return np.bincount(by.reshape(-1), minlength=count).astype(np.float64)

    def layer_loads(self) -> list[dict[str, Any]]:
        """The load of every layer before and with the job.

        Returns:
            A row a layer and part: ``layer``, ``part``, ``before``, ``after``: by how many streams
            a part seems to be shared for one that joins, which at an idle part is 1. Targets that
            cannot be written are left out.
        """
        writable = [
            name if state in (UP, DEGRADED) else ""
            for name, state in zip(self.state.targets, self.state.states, strict=True)
        ]
        layers = self.layers
        nested = layers.nested
        behind = np.bincount(nested.server_of, weights=self.streams).astype(np.int64)
        of_layer = [("targets", nested.targets, tuple(writable), self.streams)]
        if layers.servers:
            of_layer.insert(0, ("servers", nested.servers, layers.servers, behind))
        used = self._router_streams()
        if layers.routers is not None and used is not None:
            streams = used.astype(np.int64)
            of_layer.insert(0, ("routers", layers.routers, layers.router_names, streams))
        rows = []
        for layer, parts, names, streams in of_layer:
            before = parts.pace(np.ones(len(names))) * parts.rates
            after = parts.pace(streams + 1) * parts.rates
            rows += [
                {"layer": layer, "part": name, "before": one, "after": other}
                for name, one, other in zip(names, before.tolist(), after.tolist(), strict=True)
                if name
            ]
        return rows

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        files = [
            {"file": at, "targets": list(targets)} | self._client(at)
            for at, targets in enumerate(self.targets)
        ]
        return {
            "files": files,
            "order": [self.state.targets[at] for at in self.order.tolist()],
            "remarks": {
                name: reason
                for name, reason in zip(self.state.targets, self.layers.reasons, strict=True)
                if reason
            },
            "rate_bytes_per_second": self.layers.rate,
            **record(self, "expected", "round_robin"),
            "layers": self.layer_loads(),
            "notes": list(self.layers.notes),
        }

    def _client(self, file: int) -> dict[str, str]:
        return {"client": self.client_names[file]} if self.client_names else {}


def advise(
    state: LoadState | str | Path | Sequence[str | Path],
    *,
    files: int,
    stripe: int = 1,
    rate: float | None = None,
    server_rate: float | None = None,
    router_rate: float | None = None,
    machine: str | Path | Machine | Routes | None = None,
    clients: str | Path | Sequence[int | str] | None = None,
    avoid: float | None = None,
    filesystem: str | None = None,
    namespace: int = 0,
    seed: int | None = None,
) -> Advice:
    """Say where a job's files should go so that its slowest file is as fast as can be.

    Without a machine the answer is the best there is, as streams are alike, and servers and targets
    nested. With routers before them exchanges follow; tests hold it to a maximum flow's. Targets
    that are over 80 % full, or whose server has others' too, are used where the job would else be
    slower than by round robin.

    Args:
        state: What is busy and how full, or the logs that say so (see `read_state`).
        files: How many files the job writes.
        stripe: Over how many targets each file is striped.
        rate: What a target moves by itself, in bytes/s; by default the machine's, else what the
            busiest moves.
        server_rate: The same of a server; by default the machine's, else that of its targets.
        router_rate: The same of a router; by default the machine's, else a share of the targets'.
        machine: The machine whose nodes write, or who serves whom on it (see `route`).
        clients: The nodes that write, as `job_rates` takes them; by default all.
        avoid: Targets that are fuller than this share are not used.
        filesystem: Which file system, where the state has several.
        namespace: Which of the machine's file systems it is, from 0.
        seed: Draws the order of equal targets, so that jobs which ask at once do not all get the
            same ones; by default that of their numbers.

    Raises:
        NoTargetError: No target is left, or fewer than a file has stripes.
        ConfigError: A number is out of range, or what is given does not fit together.

    >>> advise(LoadState.of(4, streams=[3, 0, 1, 0]), files=2).targets
    (('OST0001',), ('OST0003',))
    """
    _check(files, stripe, avoid, (rate, server_rate, router_rate), seed)
    state = _one_file_system(_state(state), filesystem)
    routes = _routes(machine)
    layers = layers_of(state, Given(rate, server_rate, router_rate, avoid), routes, namespace)
    _refuse_none(layers, stripe, len(state.targets))
    ranks = np.arange(len(state.targets))
    if seed is not None:
        ranks = np.random.Generator(np.random.Philox(key=seed)).permutation(len(ranks))
    writers, names = (None, ()) if routes is None else _writers(routes, clients, files)
    if clients is not None and routes is None:
        rule = "clients reach targets by the routers of a machine"
        raise ConfigError(rule, "give --machine", "--clients")
    other = expect_round_robin(layers, files, stripe, writers)
    for nested in _tiers(layers, stripe):
        placed = _placed(layers, nested, writers, (files, stripe), ranks)
        expected = expect(layers, placed, writers)
        if expected.slowest >= other.most:
            break
    order = _order(layers, placed)
    return Advice(state, layers, placed, writers, names, order, expected, other)


def _tiers(layers: Layers, stripe: int) -> Iterator[Nested]:
    """The targets that do not come last, where these will do; then all."""
    nested = layers.nested
    is_first = nested.is_open & ~layers.is_last
    behind = len(np.unique(nested.network_of[is_first]))
    if layers.is_last.any() and (behind if layers.ways is not None else is_first.sum()) >= stripe:
        yield replace(nested, is_open=is_first)
    yield nested


def _placed(
    layers: Layers, nested: Nested, writers: Ints | None, shape: tuple[int, int], ranks: Ints
) -> Ints:
    """The targets of each file: shape (files, stripes). Of equal ones the last come last."""
    files, stripe = shape
    ranks = ranks + len(ranks) * layers.is_last
    if writers is None or layers.routers is None or layers.ways is None:
        taken, _ = nested.in_order(nested.pace_for(files * stripe, files), files, ranks)
        return _dealt(taken[: files * stripe], files)
    each = np.repeat(np.arange(files), stripe)
    networks = assign(Reach(layers.routers, layers.ways, writers[each], each), nested, ranks)
    picker = Picker(nested, files * stripe, files, ranks)
    return np.array([picker.take(network) for network in networks.tolist()]).reshape(shape)


def _check(
    files: int, stripe: int, avoid: float | None, rates: Sequence[float | None], seed: int | None
) -> None:
    problems = []
    for key, value in (("files", files), ("stripe", stripe)):
        if value < 1:
            problems.append(Problem("it is 1 at least", "", f"--{key}", show(value)))
    if not problems and files * stripe > _STREAMS_MAX:
        rule = f"files times stripes are {_STREAMS_MAX:,} at most"
        problems.append(Problem(rule, "", "--files", show(files)))
    if avoid is not None and not 0.0 <= avoid <= 1.0:
        problems.append(Problem("a fill is 0 to 100 %", "", "--avoid", show(avoid)))
    for key, rate in zip(("--rate", "--server-rate", "--router-rate"), rates, strict=True):
        if rate is not None and not 0.0 < rate < float("inf"):
            problems.append(Problem("a rate is above 0", "", key, show(rate)))
    if seed is not None and not 0 <= seed < 2**64:
        problems.append(Problem("a seed is 0 to 2^64 - 1", "", "--seed", show(seed)))
    raise_all(problems)


def _state(given: LoadState | str | Path | Sequence[str | Path]) -> LoadState:
    if isinstance(given, LoadState):
        return given
    return read_state([given] if isinstance(given, str | Path) else given)


def _one_file_system(state: LoadState, filesystem: str | None) -> LoadState:
    names = state.filesystems
    if filesystem is not None:
        return state.only(filesystem)
    if len(names) > 1:
        rule = f"the state has {len(names)} file systems, and a job writes to one"
        raise ConfigError(rule, f"name one: {', '.join(names)}", "--filesystem")
    return state


def _routes(given: str | Path | Machine | Routes | None) -> Routes | None:
    if given is None or isinstance(given, Routes):
        return given
    return route(given if isinstance(given, Machine) else machine(given))


def _refuse_none(layers: Layers, stripe: int, targets: int) -> None:
    """Say why no target is left."""
    is_open = layers.nested.is_open
    if not is_open.any():
        reasons = [re.split("[:,]", reason)[0] for reason in layers.reasons]
        told = ", ".join(f"{reasons.count(one)} {one}" for one in dict.fromkeys(reasons))
        raise NoTargetError(f"all {targets} targets are ruled out: {told}")
    left = int(is_open.sum())
    if left < stripe:
        raise NoTargetError(
            f"a file of {stripe} stripes needs as many targets, and {left} are left"
        )
    networks = len(np.unique(layers.nested.network_of[is_open]))
    if layers.ways is not None and networks < stripe:
        rule = (
            f"by routers a file has one stripe a network at most, and targets are behind {networks}"
        )
        raise ConfigError(rule, "lower it, or leave out --machine", "--stripe", show(stripe))


def _writers(
    routes: Routes, given: str | Path | Sequence[int | str] | None, files: int
) -> tuple[Ints, tuple[str, ...]]:
    """The client that writes each file, and its name."""
    found = routes.machine
    if str(given).startswith("placed:"):
        rule = "advice is for nodes that a job has"
        raise ConfigError(
            rule, "give a file, random:N or job:N@x,y,z", "--clients", show(str(given))
        )
    nodes = found.clients if given is None else job_clients(found, given)
    # Where there are fewer files than clients, writers are spread evenly among these.
    turn = np.arange(files)
    turn = turn % len(nodes) if files >= len(nodes) else turn * len(nodes) // files
    chosen = nodes[turn]
    names = tuple(found.names[node] for node in chosen.tolist())
    return np.searchsorted(found.clients, chosen), names


def _dealt(taken: Ints, files: int) -> Ints:
    """Streams dealt to files so that none has a target twice, best targets first.

    A target has as many streams as there are files at most, and its streams stand together: every
    so many-th place is one file's.
    """
    targets, first, count = np.unique(taken, return_index=True, return_counts=True)
    order = np.argsort(first, kind="stable")
    return np.repeat(targets[order], count[order]).reshape(-1, files).T.copy()


def _order(layers: Layers, placed: Ints) -> Ints:
    """All targets: those used, then by what a next stream would get; last ones behind these."""
    nested = layers.nested
    streams = np.bincount(placed.reshape(-1), minlength=len(nested.is_open))
    used = np.full(len(streams), placed.size)
    targets, first = np.unique(placed.T.reshape(-1), return_index=True)
    used[targets] = first
    return np.lexsort((nested.targets.pace(streams + 1), used, layers.is_last, ~nested.is_open))
