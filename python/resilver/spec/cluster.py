"""What exists and where it sits: equal servers, a tree of parts, or a real Ceph cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, PlainValidator, WithJsonSchema, model_validator

from resilver import catalog
from resilver.errors import Problem, raise_all, show
from resilver.spec.ceph import CEPH_SCHEMA, CephCluster, ceph_of
from resilver.spec.device import Device, DeviceClasses, DeviceService, device_or_classes
from resilver.spec.fabric import Fabric
from resilver.spec.osd_devices import osd_devices
from resilver.spec.parts import PartLevel, device_parts, part_problems, tree_of
from resilver.spec.section import Count, Positive, Section
from resilver.spec.tree import Level, Tree, number_of
from resilver.units import Bytes

SERVERS_MAX = 1_000_000
"""The most servers of a synthetic cluster."""

BUCKETS_MAX = 2**20 - 1
"""The most buckets of a CRUSH map, its root among them; the core numbers them in 20 bits."""


@dataclass(frozen=True)
class DeviceKind:
    """A kind of devices.

    Attributes:
        device_class: Its class, or None.
        device: Its service times.
        queue: In which order it serves requests.
        spread: Standard deviation of the devices' speeds.
    """

    device_class: str | None
    device: Device
    queue: str
    spread: float

    @property
    def serves_metadata(self) -> bool:
        """Whether these serve operations on files, and hold no data."""
        return isinstance(self.device, DeviceService) and self.device.operations is not None


_SAID_BY = {
    "device": "; ceph.devices says others",
    "queue": "; ceph.settings has Ceph's own queues",
    "fabric": "; ceph.network says another",
}
"""What says of a real cluster what a key says of a synthetic one."""


class Replaced(dict[str, int]):
    """How often devices were replaced, by name; like the section it is in, it never changes."""

    def __hash__(self) -> int:  # type: ignore[override]
        """Equal ones are alike, so that a section may be a key."""
        return hash(frozenset(self.items()))


class Cluster(Section):
    """The servers, their failure domains, devices and network."""

    servers: Count | None = Field(default=None, le=SERVERS_MAX, examples=[64])
    """How many servers a synthetic cluster has; by default the hosts of its topology."""
    racks: Count | None = Field(default=None, examples=[4])
    """How many racks the servers stand in, equally many in each; failure domains above them."""
    rows: Count | None = Field(default=None, examples=[2])
    """How many rows the racks stand in, equally many in each; failure domains above them."""
    parts: tuple[PartLevel, ...] = ()
    """Instead of servers, racks and rows: the levels of a tree, whose devices may be of classes."""
    ports: Count = Field(default=1, le=8)
    """Network ports of each server, each a host of the topology. Streams and rebuilds use them all;
    requests of clients go by the first.
    """
    attachment: Literal["local", "distributed"] = Field(default="local", examples=["distributed"])
    """Which hosts of a leaf spine these are, which has sets of as many neighbouring leaves as a
    server has ports: ``local``, one set of leaves after another; or ``distributed``, each group of
    servers dealt over all sets. Elsewhere they are hosts in a row.
    """
    ceph: Annotated[CephCluster | None, PlainValidator(ceph_of), WithJsonSchema(CEPH_SCHEMA)] = (
        Field(default=None, examples=["report.json"])
    )
    """Instead of these: a real cluster, as a bundle of its dumps (a folder, an archive), its `ceph
    report`, or a table of dumps (``osd_dump`` or binary ``osdmap``, with ``crush``, ``pg_dump``,
    ``osd_df``). Its OSDs are the devices.
    """
    device: Annotated[
        Device | DeviceClasses,
        PlainValidator(device_or_classes, json_schema_input_type=str),
        WithJsonSchema(
            {
                "examples": ["jbod10-sata"],
                "anyOf": [
                    {"type": "string", "examples": catalog.list("devices")},
                    {"type": "object"},
                ],
            }
        ),
    ] = Field(default="jbod10-sata", examples=["jbod10-sata"])  # type: ignore[assignment]
    """The disk of every server: a catalog name, ``{ file = ... }`` or a table. Where devices have
    classes, one for each: ``{ hdd = ..., ssd = ... }``. By default that of a real cluster's OSD is
    the catalog's for its class and size.
    """
    capacity: Positive[Bytes] | None = Field(default=None, examples=["20 TB"])
    """What each device holds, to which the population is held. Default: what the data sheet of its
    device states.
    """
    queue: Literal["fifo", "reads_first"] = "fifo"
    """In which order a device serves requests: as they came, or reads before writes. Where devices
    have lanes, it is the order within each.
    """
    replaced: Annotated[dict[str, Count], AfterValidator(Replaced)] = Field(
        default_factory=Replaced, examples=[{"drive.17": 1}]
    )
    """Of parts whose devices have a spread: how often each of some has been replaced. Each time its
    speed is drawn anew, as `resilver profile --within` does.
    """
    fabric: Fabric = Field(default_factory=Fabric)
    """The network between servers."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        topology = self.fabric.topology
        if not (self.ceph or self.parts or self.servers) and topology is not None:
            # The hosts stand in for servers that no study gives; they do not count as given.
            object.__setattr__(self, "servers", topology.hosts // self.ports)
        if self.ceph is not None:
            problems = [
                Problem(
                    "a real cluster has this from its dumps",
                    f"remove it{_SAID_BY.get(key, '')}",
                    key=key,
                )
                for key in self.given()
                if key != "ceph"
            ]
            # What is chosen by the report does not count as given.
            object.__setattr__(self, "device", osd_devices(self.ceph.report))
        elif self.parts:
            problems = self._part_problems()
        elif self.servers is None:
            problems = [
                Problem(
                    "a cluster needs servers, or ceph, or a fabric with a topology, or parts",
                    'add servers = 64, or ceph = "report.json"',
                )
            ]
        else:
            problems = self._hierarchy_problems(self.servers)
        if self.replaced and not (self.parts or self.ceph):
            rule, remedy = "only parts with a spread differ", "declare cluster.parts, or remove it"
            problems.append(Problem(rule, remedy, key="replaced"))
        if not (self.ceph or (problems and self.parts)):
            problems += self._class_problems() + self._host_problems()
        raise_all(problems)
        return self

    def _class_problems(self) -> list[Problem]:
        """Classes that have no device, and devices of classes that there are not."""
        if not isinstance(self.device, DeviceClasses):
            return []
        if not self.parts:
            rule = "servers have no classes"
            return [Problem(rule, "give one device, or declare cluster.parts", key="device")]
        own = device_parts(self.parts)
        of_device = [(part.level, part.device_class) for part in own if part.device is None]
        known = sorted({name for _, name in of_device if name is not None})
        listed = f"the classes are {', '.join(known)}" if known else "no device has a class"
        problems = [
            Problem(f"no device has this class, and {listed}", "remove it", key=f"device.{name}")
            for name in self.device.names
            if name not in known
        ]
        missing = [name for name in known if name not in self.device.names]
        if missing:
            rule = f"devices of class {missing[0]} have no table"
            problems.append(Problem(rule, f"add {missing[0]} = ...", key="device"))
        if bare := [name for name, given in of_device if given is None]:
            rule = f"{bare[0]} has no class to choose a table by"
            problems.append(Problem(rule, "give one device for all", key="device"))
        return problems

    def _part_problems(self) -> list[Problem]:
        """What is wrong with a tree of parts, and what else says the same as it."""
        problems = [
            Problem("the parts say this", f"remove it, or {remedy}", key=name, value=show(value))
            for name, remedy in (
                ("servers", "the parts"),
                ("racks", "declare a level of them"),
                ("rows", "declare a level of them"),
                ("ports", "give it to the level that has them"),
                ("attachment", "use servers instead of parts"),
            )
            if (value := getattr(self, name)) != Cluster.model_fields[name].default
        ]
        problems += part_problems(self.parts)
        return problems or self._replaced_problems()

    def _replaced_problems(self) -> list[Problem]:
        """Devices that were replaced and that there are not, or that differ in nothing."""
        tree = tree_of(self.parts)
        problems = []
        for name in self.replaced:
            number = number_of(name, tree.device_level, tree.devices)
            if number is None:
                rule = f"there is no such {tree.device_level}"
                remedy = f"they are {tree.device_level}.0 to {tree.device_level}.{tree.devices - 1}"
            elif not device_parts(self.parts)[tree.kind(number)].spread:
                rule, remedy = (
                    "all of its kind are as fast",
                    "give its level a spread, or remove it",
                )
            else:
                continue
            problems.append(Problem(rule, remedy, key=f'replaced."{name}"'))
        return problems[:5]

    def _hierarchy_problems(self, servers: int) -> list[Problem]:
        problems = []
        if self.racks is not None and servers % self.racks:
            rule = f"racks hold equally many, and {servers} servers do not divide by {self.racks}"
            remedy = f"use a divisor of {servers}, or another number of servers"
            problems.append(Problem(rule, remedy, key="racks", value=show(self.racks)))
        if self.rows is not None and self.racks is None:
            rule = "rows hold racks"
            problems.append(Problem(rule, "add racks", key="rows", value=show(self.rows)))
        elif self.rows is not None and self.racks is not None and self.racks % self.rows:
            rule = f"rows hold equally many, and {self.racks} racks do not divide by {self.rows}"
            remedy = f"use a divisor of {self.racks}, or another number of racks"
            problems.append(Problem(rule, remedy, key="rows", value=show(self.rows)))
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
        whole = not self.parts and "servers" not in self.model_fields_set
        if topology.hosts == 0 or (whole and topology.hosts > SERVERS_MAX):
            rule = f"this topology has {topology.hosts} hosts, and a cluster 1 to {SERVERS_MAX}"
            value = show(topology.label)
            remedy = "use another topology, or give cluster.servers"
            return [Problem(rule, remedy, key="fabric.topology", value=value)]
        machines, key, value = self.machine_count, "servers", show(self.servers)
        remedy = f"use at most {topology.hosts // self.port_count}, or a larger topology"
        if self.parts:
            key, value = "fabric.topology", show(topology.label)
        if machines * self.port_count <= topology.hosts and (machines or not whole):
            return []
        of_ports = "" if self.port_count == 1 else f" of {self.port_count} ports"
        what = f"parts of level {self.tree.port_level}" if self.parts and self.tree else "servers"
        rule = (
            f"{machines} {what}{of_ports} are more than the {topology.hosts} hosts of the topology"
        )
        return [Problem(rule, remedy, key=key, value=value)]

    @property
    def server_count(self) -> int:
        """How many devices there are: servers of a synthetic cluster, OSDs of a real one."""
        if self.ceph:
            return len(self.ceph.report.osds)
        return self.tree.devices if self.tree else 0

    @property
    def tree(self) -> Tree | None:
        """The tree of a synthetic cluster, of which servers, racks and rows are the short form."""
        if self.parts:
            return tree_of(self.parts)
        if self.ceph is not None or self.servers is None:
            return None
        counts = (("row", self.rows), ("rack", self.racks), ("server", self.servers))
        levels = tuple(Level(name, count) for name, count in counts if count)
        return Tree(levels, "server", self.ports)

    @property
    def machine_count(self) -> int:
        """How many parts of a synthetic cluster have network ports."""
        return self.tree.machines if self.tree else 0

    @property
    def port_count(self) -> int:
        """How many network ports each of them has."""
        return self.tree.ports if self.tree else self.ports

    @property
    def device_kinds(self) -> tuple[DeviceKind, ...]:
        """The kinds of devices, which the tree's ``kinds`` number."""
        if not self.parts and isinstance(self.device, DeviceClasses):
            return tuple(
                DeviceKind(name, device, self.queue, 0.0) for name, device in self.device.by_class
            )
        if not self.parts:
            return (DeviceKind(None, self._device_of(None), self.queue, 0.0),)
        return tuple(
            DeviceKind(
                part.device_class,
                part.device or self._device_of(part.device_class),
                part.queue or self.queue,
                part.spread or 0.0,
            )
            for part in device_parts(self.parts)
        )

    def _device_of(self, name: str | None) -> Device:
        """The device of a class where the cluster says one for each, else of all."""
        if not isinstance(self.device, DeviceClasses):
            return self.device
        return self.device.of(name) or self.device.by_class[0][1]

    def is_of_class(self, name: str | None) -> list[bool]:
        """Whether each device of a synthetic cluster has a class; all have where it is None."""
        fits = [name is None or kind.device_class == name for kind in self.device_kinds]
        return [fits[kind] for kind in self.kind_of]

    @property
    def kind_of(self) -> list[int]:
        """The kind of every device, by number; none of a real cluster."""
        tree = self.tree
        return [tree.kind(device) for device in range(tree.devices)] if tree else []

    def metadata_servers(self, name: str | None = None) -> list[int]:
        """The numbers of the devices that serve operations on files: all, or those of a class."""
        serves = [
            kind.serves_metadata and name in (None, kind.device_class) for kind in self.device_kinds
        ]
        if not any(serves):
            return []
        return [device for device, kind in enumerate(self.kind_of) if serves[kind]]

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
        parts = {"parts": [part.content() for part in self.parts]} if self.parts else {}
        replaced = {"replaced": dict(sorted(self.replaced.items()))} if self.replaced else {}
        return {
            "servers": self.servers,
            "racks": self.racks,
            "rows": self.rows,
            **ports,
            **dealt,
            **parts,
            **replaced,
            "ceph": ceph,
            "device": self.device.content(),
            "queue": self.queue,
            "fabric": self.fabric.content(),
        }
