"""The machine file: a torus of nodes, which of them compute, and which are routers of what."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, PlainValidator, WithJsonSchema

from resilver.center.given import GivenFile
from resilver.errors import ConfigError, Problem, Problems, show
from resilver.spec.section import AnyFile, Count, Positive, Section
from resilver.units import BytesPerSecond

CAGES, SLOTS = 3, 8
"""Cages of a cabinet and blades of a cage of a Cray XK; a blade has two router chips."""

_Side = Annotated[int, Field(strict=True, ge=2, le=1024)]
_Whole = Annotated[int, Field(strict=True, ge=0, le=10_000)]
_NODES_MAX = 10_000_000
_TARGETS_MAX = 1_000_000


class Cabinets(Section):
    """Rows and columns of Cray XK cabinets, cabled so that no cable of a ring is long.

    Along X, a ring leads over every other column and back over those between; along Y it does so
    over the rows, each of which has two planes; Z runs through the cages, forward and back by
    turns. Nodes are numbered along a path that passes all chips of one X before the next.
    """

    columns: _Side = Field(examples=[25])
    """How many columns: the length of the torus in X."""
    rows: _Side = Field(examples=[8])
    """How many rows, each of two planes: half the length in Y."""


class RouterModules(Section):
    """Which nodes are routers, and of which networks of the file system."""

    groups: tuple[tuple[str, ...], ...] = Field(
        min_length=1, max_length=1000, examples=[[["c7-2c2s0", "c23-2c1s7"]]]
    )
    """Groups of modules, each in the order in which zones are made of it. A module is named as its
    nodes are up to their own number, or is a node.
    """
    networks: tuple[_Whole, ...] = Field(default=(0,), min_length=1, examples=[[201, 219]])
    """Of each node of a module, what is added to its group's number to give its network's."""


class FineGrained(Section):
    """How fine-grained routing chooses a module of each group."""

    zone: Count = Field(default=3, examples=[3])
    """How many modules, in their order, make a zone."""
    window: tuple[int, int] = Field(default=(-1, 2), examples=[[-1, 2]])
    """How far a client may lie from its zone's first router in Y, in chips: least and most."""

    def _problems(self) -> Problems:
        if self.window[0] > self.window[1]:
            yield self.problem("window", "the least stands before the most", "such as [-1, 2]")


class StorageSide(Section):
    """The file system's side: rows of building blocks, their servers, and these servers' targets.

    Each block has a leaf switch with a network of its own. The rows are shared evenly among the
    namespaces, in order; targets are numbered in turn over all servers of a namespace, and
    namespace by namespace.
    """

    rows: Count = Field(default=1, examples=[4])
    """How many rows of building blocks."""
    blocks: Count = Field(examples=[9])
    """How many building blocks a row has."""
    servers: Count = Field(examples=[8])
    """How many servers a building block has."""
    targets: Count = Field(examples=[7])
    """How many targets a server has."""
    namespaces: Count = Field(default=1, examples=[2])
    """Over how many namespaces the rows are shared."""
    leaves: tuple[_Whole, ...] = Field(default=(), examples=[[0, 0, 0, 0, 1, 1, 1, 1]])
    """Of each server of a block, how many blocks on in its row, cyclically, stands the one whose
    leaf switch it is cabled to. Default: each to its own block's.
    """
    network: _Whole = Field(default=0, examples=[201])
    """The network of the first block's leaf switch; the others' follow block by block."""

    @property
    def networks(self) -> range:
        """The networks of all leaf switches."""
        return range(self.network, self.network + self.rows * self.blocks)

    def _problems(self) -> Problems:
        if (count := self.rows * self.blocks * self.servers * self.targets) > _TARGETS_MAX:
            rule = f"a file system has at most {_TARGETS_MAX:,} targets, and this {count:,}"
            yield self.problem("targets", rule, "have fewer")
        if self.rows % self.namespaces:
            rule = f"the {self.rows} rows are shared evenly among the namespaces"
            yield self.problem("namespaces", rule, "divide them")
        if self.leaves and len(self.leaves) != self.servers:
            rule = f"it has a number for each of the {self.servers} servers of a block"
            yield self.problem("leaves", rule, "such as 0 for each")
        if any(leaf >= self.blocks for leaf in self.leaves):
            rule = f"a row of {self.blocks} blocks has no leaf so far on"
            yield self.problem("leaves", rule, f"from 0 to {self.blocks - 1}")


def _along(value: object) -> tuple[BytesPerSecond, ...] | None:
    """The rates of a ring's channels: one, or some that follow one another along it."""
    if value is None:
        return None
    given = tuple(value) if isinstance(value, list | tuple) else (value,)
    rates = tuple(BytesPerSecond.parse(one) for one in given)
    if not rates or not all(0 < rate < float("inf") for rate in rates):
        rule = "it is a rate above zero, or a list of them"
        raise ConfigError(rule, 'such as "4.7 GB/s"', value=show(value))
    return rates


_RATE_SCHEMA = {"type": "string", "examples": ["4.7 GB/s"]}
_Along = Annotated[
    tuple[BytesPerSecond, ...] | None,
    PlainValidator(_along),
    WithJsonSchema({"anyOf": [_RATE_SCHEMA, {"type": "array", "items": _RATE_SCHEMA}]}),
]
_Rate = Positive[BytesPerSecond] | None


class PartRates(Section):
    """What parts pass at most; one whose rate is not told limits nobody.

    A channel's rate may depend on where it is on its ring: those of a list follow one another from
    the channel between the places 0 and 1, and begin anew at its end. Both directions are alike.
    """

    x: _Along = Field(default=None, examples=["9.4 GB/s"])
    """Of the channels in X: one rate, or a list."""
    y: _Along = Field(default=None, examples=[["9.4 GB/s", "4.7 GB/s"]])
    """Of the channels in Y: one rate, or a list."""
    z: _Along = Field(default=None, examples=[["15 GB/s", "15 GB/s", "15 GB/s", "9.4 GB/s"]])
    """Of the channels in Z: one rate, or a list."""
    client: _Rate = Field(default=None, examples=["5 GB/s"])
    """Of a client."""
    router: _Rate = Field(default=None, examples=["2.6 GB/s"])
    """Of a router."""
    server: _Rate = Field(default=None, examples=["5 GB/s"])
    """Of a server."""
    target: _Rate = Field(default=None, examples=["500 MB/s"])
    """Of a target."""
    source: str = Field(default="", examples=["Measured by obdfilter-survey in May 2026."])
    """Where the rates are from, as it is told beside what follows from them."""

    @property
    def along(self) -> tuple[tuple[BytesPerSecond, ...], ...]:
        """The rates of channels by axis."""
        return self.x or (), self.y or (), self.z or ()


class MachineFile(GivenFile):
    """A computer whose nodes reach a file system by routers among them."""

    catalog_kind = "machines"
    called = "machine"

    torus: tuple[_Side, _Side, _Side] = Field(examples=[[25, 16, 24]])
    """The lengths of its rings in X, Y and Z, in router chips."""
    nodes: Annotated[int, Field(strict=True, ge=1, le=64)] = Field(default=1, examples=[2])
    """How many nodes share a router chip."""
    cabinets: Cabinets | None = Field(default=None, examples=[{"columns": 25, "rows": 8}])
    """Where chips stand and what their nodes are called. Default: ``x0y0z0n0`` and so on, numbered
    in this order.
    """
    map: AnyFile | None = Field(default=None, examples=["nodes.tsv"])
    """Instead: a file with a line a node: its number, name, type (``compute`` or another), x, y and
    z. Default: none.
    """
    service: tuple[str, ...] = Field(default=(), examples=[["c0-0c0s0"]])
    """Modules or nodes that do not compute, beside the routers."""
    routers: RouterModules = Field(examples=[{"groups": [["x0y0z0n0"]]}])
    """Which nodes are routers."""
    weights: tuple[float, float, float] = Field(default=(1.0, 1.0, 1.0), examples=[[4, 8, 1]])
    """What a hop costs in X, Y and Z."""
    fine_grained: FineGrained = Field(default=FineGrained(), examples=[{"zone": 3}])
    """How fine-grained routing chooses."""
    storage: StorageSide | None = Field(
        default=None, examples=[{"blocks": 4, "servers": 2, "targets": 6}]
    )
    """The file system that the routers lead to. Default: none, so that ways end at routers."""
    rates: PartRates = Field(default=PartRates(), examples=[{"router": "2.6 GB/s"}])
    """What channels, routers, servers and targets pass."""

    def _problems(self) -> Problems:
        x, y, z = self.torus
        if x * y * z * self.nodes > _NODES_MAX:
            rule = f"a machine has at most {_NODES_MAX:,} nodes"
            yield self.problem("torus", rule, "shorten its rings")
        if self.cabinets is not None and self.map is not None:
            rule = "the map says where nodes are"
            yield Problem(rule, "remove one of them", "cabinets")
        elif self.cabinets is not None:
            expected = (self.cabinets.columns, 2 * self.cabinets.rows, CAGES * SLOTS)
            if self.torus != expected or self.nodes != 2:
                rule = f"such cabinets make a torus of {list(expected)} with 2 nodes a chip"
                yield self.problem("torus", rule, "change one of them")
        for axis, length, rates in zip("xyz", self.torus, self.rates.along, strict=True):
            if rates and length % len(rates):
                rule = f"{len(rates)} rates do not follow one another round a ring of {length}"
                remedy = f"give a number of them that divides {length}"
                yield Problem(rule, remedy, f"rates.{axis}")
        if any(not 0 <= weight <= 1e6 for weight in self.weights):
            yield self.problem("weights", "a hop costs from 0 to 1,000,000", "such as [4, 8, 1]")
