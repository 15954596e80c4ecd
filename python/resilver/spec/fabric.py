"""The fabric that joins the servers: LogGP, or switches that forward packets hop by hop.

LogGP takes a message as a whole and holds it back at the two ends alone. The switched fabric cuts
it into packets, which wait at every port for a link of its topology; its links and switches can
fail.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal, Self

from pydantic import (
    Field,
    ModelWrapValidatorHandler,
    PlainValidator,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)

from resilver.errors import ConfigError, Problem, show
from resilver.importers.netgauge import LogGpTable
from resilver.spec.loggp import LOGGP_SCHEMA, table_of
from resilver.spec.section import Section
from resilver.spec.topology import TOPOLOGY_SCHEMA, TopologySpec, topology_of
from resilver.units import Bytes, BytesPerSecond, Seconds, exact_bytes, format_duration

ROUTERS_MAX = 1_000_000
"""The most endpoints beside the servers where clients enter."""

HOP_LIMIT_MAX = 2**24 - 1
PACKET_MAX = 2**31 - 1
"""The most hops and bytes that the core counts for a packet."""

_PACKET_SECONDS_MAX = 3600.0

# What a model's keys are when the study does not say; a key without a default is None.
_DEFAULTS: dict[str, dict[str, Any]] = {
    "loggp": {"table": "qdr-infiniband", "routers": 0},
    "switched": {
        "topology": None,
        "link_rate": None,
        "link_latency": Seconds(0),
        "switch_latency": Seconds(6e-6),
        "packet_size": Bytes(64 * 1024),
        "packet_overhead": Bytes(38),
        "routing": "adaptive",
        "forwarding": "store_and_forward",
        "hop_limit": None,
    },
}


def _table_or_none(value: object, info: ValidationInfo) -> LogGpTable | None:
    return None if value is None else table_of(value, info)


def _topology_or_none(value: object, info: ValidationInfo) -> TopologySpec | None:
    return None if value is None else topology_of(value, info)


class Fabric(Section):
    """The network between servers. Each model has its keys; those of the other are None.

    Args:
        model: ``loggp`` or ``switched``.
        table: Of LogGP: a catalog name, ``{ netgauge = "file.dat" }`` or rows.
        routers: Of LogGP: how many endpoints there are beside the servers, where clients enter.
        topology: Of switches: how nodes are linked, such as ``torus 16x16x16 routers 128``.
        link_rate: Of switches: what a link sends a second, each way.
        link_latency: Of switches: how long a bit is under way on a link.
        switch_latency: Of switches: how long a node takes to forward a packet.
        packet_size: Of switches: the most data in a packet.
        packet_overhead: Of switches: what a packet takes on a link beside its data.
        routing: Of switches: ``adaptive``, by the state of the ports, or ``deterministic``.
        forwarding: Of switches: ``store_and_forward`` or ``cut_through``.
        hop_limit: Of switches: after how many hops a packet is dropped; by default four times the
            diameter, at least 255.
    """

    model: Literal["loggp", "switched"] = Field(
        default="loggp", description="How messages take time."
    )
    table: Annotated[
        LogGpTable | None, PlainValidator(_table_or_none), WithJsonSchema(LOGGP_SCHEMA)
    ] = Field(default=None, examples=["qdr-infiniband"])
    routers: int | None = Field(
        default=None,
        strict=True,
        ge=0,
        le=ROUTERS_MAX,
        description="Endpoints beside the servers, where clients enter (LogGP). Default: 0.",
        examples=[8],
    )
    topology: Annotated[
        TopologySpec | None, PlainValidator(_topology_or_none), WithJsonSchema(TOPOLOGY_SCHEMA)
    ] = Field(default=None, examples=["torus 16x16x16 routers 128"])
    link_rate: BytesPerSecond | None = Field(
        default=None, description="What a link sends a second, each way.", examples=["1 Gb/s"]
    )
    link_latency: Seconds | None = Field(
        default=None, description="How long a bit is under way on a link. Default: 0 s."
    )
    switch_latency: Seconds | None = Field(
        default=None,
        description="How long a node takes to forward a packet. Default: 6 us.",
        examples=["6 us"],
    )
    packet_size: Bytes | None = Field(
        default=None,
        description="The most data in a packet. Default: 64 KiB.",
        examples=["64 KiB"],
    )
    packet_overhead: Bytes | None = Field(
        default=None,
        description="What a packet takes on a link beside its data. Default: 38 B, Ethernet's.",
        examples=["38 B"],
    )
    routing: Literal["adaptive", "deterministic"] | None = Field(
        default=None, description="How a node chooses among links. Default: adaptive."
    )
    forwarding: Literal["store_and_forward", "cut_through"] | None = Field(
        default=None, description="When a node passes a packet on. Default: store_and_forward."
    )
    hop_limit: int | None = Field(
        default=None,
        strict=True,
        ge=1,
        le=HOP_LIMIT_MAX,
        description="After how many hops a packet is dropped. Default: 4 diameters, at least 255.",
    )

    @model_validator(mode="wrap")
    @classmethod
    def _defaults(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        """Fill in the model's defaults, which do not count as given, and refuse another's keys."""
        if not isinstance(data, dict):
            return handler(data)
        given = {key: value for key, value in data.items() if value is not None}
        if "lanes" in given:
            rule, remedy = "lanes are a section of the study", "add [lanes] with clients = 0.9"
            raise ConfigError(Problem(rule, remedy, key="lanes", value=show(given["lanes"])))
        model = given.get("model", "loggp")
        defaults = _DEFAULTS.get(model) if isinstance(model, str) else None
        if defaults is None:
            return handler(given)
        problems = [
            _of_another(key, value, other, "model" in given)
            for other, keys in _DEFAULTS.items()
            if other != model
            for key, value in given.items()
            if key in keys
        ]
        if problems:
            raise ConfigError(problems)
        made = handler({**defaults, **given})
        made.model_fields_set.intersection_update(given)
        return made

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.model == "loggp":
            return self
        problems = []
        if self.topology is None:
            rule, remedy = "switches need a topology", 'such as topology = "torus 16x16x16"'
            problems.append(Problem(rule, remedy, key="topology"))
        if self.link_rate is None and not self.link_rates:
            rule = "switches need the rate of their links"
            problems.append(Problem(rule, 'such as link_rate = "1 Gb/s"', key="link_rate"))
        elif self.link_rate is not None and not 0 < self.link_rate < math.inf:
            value = show(f"{self.link_rate:g} B/s")
            remedy = 'such as "1 Gb/s"'
            problems.append(Problem("the rate must be above zero", remedy, "link_rate", value))
        else:
            problems += self._packet_problems()
        if problems:
            raise ConfigError(problems)
        return self

    def _packet_problems(self) -> list[Problem]:
        size, overhead = self.packet_size or Bytes(0), self.packet_overhead or Bytes(0)
        value, remedy = show(exact_bytes(size)), 'such as "64 KiB"'
        if not 0 < size <= PACKET_MAX:
            rule = "a packet has data, and less than 2 GiB of it"
            return [Problem(rule, remedy, "packet_size", value)]
        if overhead > PACKET_MAX:
            rule, value = "a packet's overhead is below 2 GiB", show(exact_bytes(overhead))
            return [Problem(rule, 'such as "38 B"', "packet_overhead", value)]
        slowest = min([*self.link_rates, *([self.link_rate] if self.link_rate else [])])
        seconds = (size + overhead) / slowest
        if seconds <= _PACKET_SECONDS_MAX:
            return []
        rule = f"a packet would take {format_duration(seconds)} on a link, and an hour is the most"
        return [Problem(rule, "use smaller packets or faster links", "packet_size", value)]

    @property
    def router_count(self) -> int:
        """How many endpoints there are beside the servers, where clients enter."""
        return self.topology.routers if self.topology is not None else self.routers or 0

    @property
    def link_rates(self) -> tuple[BytesPerSecond, ...]:
        """The rate of each link where a graph's file says it; else none."""
        rates = self.topology.link_rates if self.topology is not None else ()
        return tuple(BytesPerSecond(rate) for rate in rates)

    def content(self) -> dict[str, Any]:
        """What affects results, JSON-able: sizes in bytes, times in seconds."""
        if self.table is not None:
            rows = [
                [row.size_bytes, row.latency_seconds, row.gap_seconds, row.gap_per_byte_seconds]
                for row in self.table.rows
            ]
            table = {"label": self.table.label, "rows": rows}
            return {"model": self.model, "table": table, "routers": self.routers}
        keys = [key for key in _DEFAULTS[self.model] if key != "topology"]
        topology = self.topology
        described = {"label": topology.label, **topology.content()} if topology else None
        if described is not None and topology is not None and topology.graph is not None:
            # Results call nodes by the file's names and draw them where it says.
            described["names"] = list(topology.graph.names)
            described["positions"] = topology.graph.positions
        rates = list(self.link_rates)
        return {
            "model": self.model,
            "topology": described,
            **{key: getattr(self, key) for key in keys},
            **({"link_rates": rates} if rates else {}),
        }


def _of_another(key: str, value: object, other: str, is_given: bool) -> Problem:
    """The problem of a key that belongs to another model than the study's."""
    way = f'write model = "{other}"' if is_given else f'add model = "{other}"'
    rule = f'this is a key of model = "{other}"'
    return Problem(rule, f"{way}, or remove it", key=key, value=show(value))
