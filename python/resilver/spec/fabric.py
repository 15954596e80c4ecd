"""The fabric that joins the servers: LogGP, or switches that forward packets hop by hop.

LogGP takes a message as a whole and holds it back at the two ends alone. The switched fabric cuts
it into packets, which wait at every port for a link of its topology; its links and switches can
fail.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, PlainValidator, WithJsonSchema, model_validator

from resilver.errors import ConfigError, Problem, Problems, show
from resilver.importers.netgauge import LogGpTable
from resilver.quantities import LinkRate
from resilver.spec.loggp import LOGGP_SCHEMA, table_of
from resilver.spec.section import Count, Only, Positive, Section
from resilver.spec.topology import TOPOLOGY_SCHEMA, TopologySpec, topology_of
from resilver.units import Bytes, Seconds, format_duration

ROUTERS_MAX = 1_000_000
"""The most endpoints beside the servers where clients enter."""

HOP_LIMIT_MAX = 2**24 - 1
PACKET_MAX = 2**31 - 1
"""The most hops and bytes that the core counts for a packet."""

REAL_CLUSTER_NETWORK = "10gbe"
"""The network of a real cluster where the study says none: a single link of 10 Gb/s is the least
for storage hosts by the hardware guides of Red Hat Ceph Storage and IBM Storage Ceph.
"""

_PACKET_SECONDS_MAX = 3600.0


class Fabric(Section):
    """The network between servers. Each model has its keys; those of the other are None."""

    model: Literal["loggp", "switched"] = "loggp"
    """How messages take time: ``loggp``, as wholes held back at the two ends; or ``switched``, in
    packets that wait at every port for a link.
    """
    table: Annotated[
        Annotated[LogGpTable, PlainValidator(table_of), WithJsonSchema(LOGGP_SCHEMA)] | None,
        Only("loggp", default="qdr-infiniband"),
    ] = Field(default=None, examples=["qdr-infiniband"])
    """LogGP parameters by message size: a catalog name, ``{ netgauge = "file.dat" }`` or rows. Of a
    real cluster's network by default ``10gbe``, the least that Ceph's makers ask for.
    """
    routers: Annotated[int | None, Only("loggp", default=0)] = Field(
        default=None, strict=True, ge=0, le=ROUTERS_MAX, examples=[8]
    )
    """How many endpoints there are beside the servers, where clients enter; 0 is one for each port
    of a host where there are clients.
    """
    topology: Annotated[
        Annotated[TopologySpec, PlainValidator(topology_of), WithJsonSchema(TOPOLOGY_SCHEMA)]
        | None,
        Only("switched"),
    ] = Field(default=None, examples=["torus 16x16x16 routers 128"])
    """What is joined to what: a line of text, or a file with a graph. Switches need it."""
    link_rate: Annotated[Positive[LinkRate] | None, Only("switched")] = Field(
        default=None, examples=["1 Gb/s"]
    )
    """What a link sends a second, each way. Needed where a graph's file does not give the rates."""
    link_latency: Annotated[Seconds | None, Only("switched", default=Seconds(0))] = Field(
        default=None, examples=["1 us"]
    )
    """How long a bit is under way on a link."""
    switch_latency: Annotated[Seconds | None, Only("switched", default=Seconds(6e-6))] = None
    """How long a node takes to forward a packet."""
    packet_size: Annotated[Bytes | None, Only("switched", default=Bytes(64 * 1024))] = None
    """The most data in a packet."""
    packet_overhead: Annotated[Bytes | None, Only("switched", default=Bytes(38))] = None
    """What a packet takes on a link beside its data; Ethernet's by default."""
    routing: Annotated[
        Literal["adaptive", "deterministic"] | None, Only("switched", default="adaptive")
    ] = None
    """How a node chooses among links: by the state of its ports, or always the same way."""
    forwarding: Annotated[
        Literal["store_and_forward", "cut_through"] | None,
        Only("switched", default="store_and_forward"),
    ] = None
    """When a node passes a packet on: once it has all of it, or as it comes."""
    hop_limit: Annotated[Count | None, Only("switched")] = Field(
        default=None, le=HOP_LIMIT_MAX, examples=[64]
    )
    """After how many hops a packet is dropped. Default: four times the diameter, at least 255."""

    kind_key: ClassVar[str] = "model"

    @model_validator(mode="before")
    @classmethod
    def _refuse_lanes(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("lanes") is not None:
            rule, remedy = "lanes are a section of the study", "add [lanes] with clients = 0.9"
            raise ConfigError(rule, remedy, key="lanes", value=show(data["lanes"]))
        return data

    def _problems(self) -> Problems:
        if self.model == "loggp":
            return
        if self.topology is None:
            rule, remedy = "switches need a topology", 'such as topology = "torus 16x16x16"'
            yield Problem(rule, remedy, key="topology")
        if self.link_rate is None and not self.link_rates:
            rule = "switches need the rate of their links"
            yield Problem(rule, 'such as link_rate = "1 Gb/s"', key="link_rate")
        else:
            yield from self._packet_problems()

    def _packet_problems(self) -> Problems:
        size, overhead = self.packet_size or Bytes(0), self.packet_overhead or Bytes(0)
        slowest = min([*self.link_rates, *([self.link_rate] if self.link_rate else [])])
        if not 0 < size <= PACKET_MAX:
            rule = "a packet has data, and less than 2 GiB of it"
            yield self.problem("packet_size", rule, 'such as "64 KiB"')
        elif overhead > PACKET_MAX:
            rule = "a packet's overhead is below 2 GiB"
            yield self.problem("packet_overhead", rule, 'such as "38 B"')
        elif (seconds := (size + overhead) / slowest) > _PACKET_SECONDS_MAX:
            took = format_duration(seconds)
            rule = f"a packet would take {took} on a link, and an hour is the most"
            yield self.problem("packet_size", rule, "use smaller packets or faster links")

    @property
    def router_count(self) -> int:
        """How many endpoints there are beside the servers, where clients enter."""
        return self.topology.routers if self.topology is not None else self.routers or 0

    @property
    def link_rates(self) -> tuple[LinkRate, ...]:
        """The rate of each link where a graph's file says it; else none."""
        rates = self.topology.link_rates if self.topology is not None else ()
        return tuple(LinkRate(rate) for rate in rates)

    def content(self) -> dict[str, Any]:
        """What affects results, JSON-able: sizes in bytes, times in seconds."""
        if self.table is not None:
            rows = [
                [row.size_bytes, row.latency_seconds, row.gap_seconds, row.gap_per_byte_seconds]
                for row in self.table.rows
            ]
            table = {"label": self.table.label, "rows": rows}
            return {"model": self.model, "table": table, "routers": self.routers}
        keys = [*type(self).model_fields][4:]
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
