"""What exists and where it sits: a synthetic cluster of equal servers, or a real Ceph cluster."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, PlainValidator, WithJsonSchema, model_validator

from resilver import catalog
from resilver.errors import ConfigError, Problem, show
from resilver.spec.ceph import CEPH_SCHEMA, CephCluster, ceph_of
from resilver.spec.device import Device, device_of
from resilver.spec.fabric import Fabric
from resilver.spec.section import Section

SERVERS_MAX = 1_000_000
"""The most servers of a synthetic cluster."""

BUCKETS_MAX = 2**20 - 1
"""The most buckets of a CRUSH map, its root among them; the core numbers them in 20 bits."""


class Cluster(Section):
    """The servers, their failure domains, devices and network.

    Args:
        servers: How many servers a synthetic cluster has; by default the hosts of its topology.
        racks: Failure domains above the server, each with equally many servers.
        rows: Failure domains above the rack, each with equally many racks.
        ports: Network ports of each server, each a host of the topology. Streams and rebuilds use
            them all; requests of clients go by the first.
        attachment: Which hosts of a leaf spine these are, which has sets of as many neighbouring
            leaves as a server has ports: ``local``, one set of leaves after another; or
            ``distributed``, each group of servers dealt over all sets. Elsewhere they are hosts in
            a row.
        ceph: Instead of these: the `ceph report` of a real cluster, or a table of its dumps
            (``osd_dump`` or binary ``osdmap``, with ``crush``, ``pg_dump``, ``osd_df``). Its OSDs
            are the devices.
        device: The disk of every server: a catalog name, ``{ file = ... }`` or a table.
        queue: In which order a device serves requests: as they came, or reads before writes.
        fabric: The network.
    """

    servers: int | None = Field(
        default=None,
        strict=True,
        ge=1,
        le=SERVERS_MAX,
        description="How many servers there are.",
        examples=[64],
    )
    racks: int | None = Field(
        default=None,
        strict=True,
        ge=1,
        description="How many racks the servers stand in, evenly.",
        examples=[4],
    )
    rows: int | None = Field(
        default=None,
        strict=True,
        ge=1,
        description="How many rows the racks stand in, evenly.",
        examples=[2],
    )
    ports: int = Field(
        default=1, strict=True, ge=1, le=8, description="Network ports of each server."
    )
    attachment: Literal["local", "distributed"] = Field(
        default="local",
        description="How a group's servers are dealt over the first-level switches.",
        examples=["distributed"],
    )
    ceph: Annotated[
        CephCluster | None,
        PlainValidator(ceph_of),
        WithJsonSchema(CEPH_SCHEMA),
    ] = None
    device: Annotated[
        Device,
        PlainValidator(device_of, json_schema_input_type=str),
        WithJsonSchema(
            {
                "description": "Every server's disk: a name of the catalog, a file or a table.",
                "examples": ["jbod10-sata"],
                "anyOf": [
                    {"type": "string", "examples": catalog.list("devices")},
                    {"type": "object"},
                ],
            }
        ),
    ] = Field(default="jbod10-sata", examples=["jbod10-sata"])  # type: ignore[assignment]
    queue: Literal["fifo", "reads_first"] = Field(
        default="fifo", description="In which order a device serves its requests."
    )
    fabric: Fabric = Field(default_factory=Fabric, description="The network between servers.")

    @model_validator(mode="after")
    def _check(self) -> Self:
        topology = self.fabric.topology
        if self.ceph is None and self.servers is None and topology is not None:
            # The hosts stand in for servers that no study gives; they do not count as given.
            object.__setattr__(self, "servers", topology.hosts // self.ports)
        if self.ceph is not None:
            problems = [
                Problem(
                    "a real cluster's servers are the report's",
                    "remove it",
                    key=name,
                    value=show(value),
                )
                for name in ("servers", "racks", "rows", "ports", "attachment")
                if (value := getattr(self, name)) != Cluster.model_fields[name].default
            ]
        elif self.servers is None:
            problems = [
                Problem(
                    "a cluster needs servers, or ceph, or a fabric with a topology",
                    'add servers = 64, or ceph = "report.json"',
                )
            ]
        else:
            problems = self._hierarchy_problems(self.servers)
        problems += self._host_problems()
        if problems:
            raise ConfigError(problems)
        return self

    def _hierarchy_problems(self, servers: int) -> list[Problem]:
        problems = []
        if self.racks is not None and servers % self.racks:
            problems.append(
                Problem(
                    f"racks hold equally many, and {servers} servers do not divide by {self.racks}",
                    f"use a divisor of {servers}, or another number of servers",
                    key="racks",
                    value=show(self.racks),
                )
            )
        if self.rows is not None and self.racks is None:
            problems.append(
                Problem("rows hold racks", "add racks", key="rows", value=show(self.rows))
            )
        elif self.rows is not None and self.racks is not None and self.racks % self.rows:
            problems.append(
                Problem(
                    f"rows hold equally many, and {self.racks} racks do not divide by {self.rows}",
                    f"use a divisor of {self.racks}, or another number of racks",
                    key="rows",
                    value=show(self.rows),
                )
            )
        buckets = (self.racks or 0) + (self.rows or 0) + 1
        if not problems and buckets > BUCKETS_MAX:
            rule = f"racks, rows and their root are {buckets} buckets, and a map has at most "
            remedy = "use fewer racks or rows"
            value = show(self.racks)
            problems.append(Problem(f"{rule}{BUCKETS_MAX}", remedy, key="racks", value=value))
        return problems

    def _host_problems(self) -> list[Problem]:
        topology = self.fabric.topology
        if topology is None:
            return []
        whole = self.ceph is None and "servers" not in self.model_fields_set
        if topology.hosts == 0 or (whole and topology.hosts > SERVERS_MAX):
            rule = f"this topology has {topology.hosts} hosts, and a cluster 1 to {SERVERS_MAX}"
            value = show(topology.label)
            remedy = "use another topology, or give cluster.servers"
            return [Problem(rule, remedy, key="fabric.topology", value=value)]
        if self.ceph is not None:
            machines = len({osd.host or osd.name for osd in self.ceph.report.osds})
            key, value = "fabric.topology", show(topology.label)
            remedy = "use a larger topology"
        else:
            machines, key, value = self.servers or 0, "servers", show(self.servers)
            remedy = f"use at most {topology.hosts // self.ports}, or a larger topology"
        if machines * self.ports <= topology.hosts and (machines or not whole):
            return []
        of_ports = "" if self.ports == 1 else f" of {self.ports} ports"
        rule = (
            f"{machines} servers{of_ports} are more than the {topology.hosts} hosts of the topology"
        )
        return [Problem(rule, remedy, key=key, value=value)]

    @property
    def server_count(self) -> int:
        """How many devices there are: servers of a synthetic cluster, OSDs of a real one."""
        return len(self.ceph.report.osds) if self.ceph else self.servers or 0

    def content(self) -> dict[str, Any]:
        """What affects results, JSON-able: the report by its hash, the tables in full."""
        ceph = (
            {
                "label": self.ceph.report.label,
                "sha256": self.ceph.report.sha256,
                "groups": len(self.ceph.report.loads),
                "groups_measured": sum(load.measured for load in self.ceph.report.loads),
            }
            if self.ceph
            else None
        )
        # Left out where they say nothing, so that runs without them keep their keys.
        ports = {} if self.ports == 1 else {"ports": self.ports}
        dealt = {} if self.attachment == "local" else {"attachment": self.attachment}
        return {
            "servers": self.servers,
            "racks": self.racks,
            "rows": self.rows,
            **ports,
            **dealt,
            "ceph": ceph,
            "device": self.device.content(),
            "queue": self.queue,
            "fabric": self.fabric.content(),
        }
