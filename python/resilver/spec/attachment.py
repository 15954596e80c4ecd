"""Which places of the first-level switches the ports of each server take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from resilver.errors import Problem, show

if TYPE_CHECKING:
    from resilver.spec.cluster import Cluster
    from resilver.spec.placement import Placement

AttachmentKind = Literal["local", "distributed"]


@dataclass(frozen=True)
class Attachment:
    """How servers with several ports hang at the first-level switches of a two-level tree.

    The switches are dealt in *sets* of as many neighbours as a server has ports, and port j of a
    server is at switch j of its set, always at the same slot. *Local* fills one set after another
    with the servers in their order, so a group of neighbours meets few switches. *Distributed*
    deals each group over all sets, equally many servers to each.

    Args:
        kind: ``local`` or ``distributed``.
        leaves: How many first-level switches there are.
        slots: How many places for a port each of them has.
        ports: How many ports a server has.
        group_size: How many servers form a group; servers are grouped in their order.

    Source: the local and distributed allocations of Gonsiorowski et al. (2017), section 6.1, with
    the numbering that `docs/decisions` states.

    Range: the sets divide the leaves, and a distributed group divides over the sets;
    `attachment_problems` says which rule is broken.

    >>> study = Attachment("distributed", leaves=24, slots=24, ports=2, group_size=24)
    >>> study.sets, study.servers, study.groups
    (12, 288, 12)
    >>> study.host(server=27, port=1)  # member 3 of group 1: set 1, slot 3, switch 3
    75
    """

    kind: AttachmentKind
    leaves: int
    slots: int
    ports: int
    group_size: int

    @property
    def sets(self) -> int:
        """How many sets of switches there are."""
        return self.leaves // self.ports

    @property
    def servers(self) -> int:
        """How many servers have a place."""
        return self.sets * self.slots

    @property
    def groups(self) -> int:
        """How many groups of servers have a place."""
        return self.servers // self.group_size

    def place(self, server: int) -> tuple[int, int]:
        """The set of switches that a server hangs at, and its slot at each of them.

        Args:
            server: Its number, below `servers`.

        Returns:
            The set's number and the slot's.
        """
        if self.kind == "local":
            return server // self.slots, server % self.slots
        group, member = divmod(server, self.group_size)
        in_set = self.group_size // self.sets
        return member * self.sets // self.group_size, group * in_set + member % in_set

    def host(self, server: int, port: int) -> int:
        """The network's host that a port of a server is; hosts are numbered leaf by leaf.

        Args:
            port: The port's, from 0.
        """
        at, slot = self.place(server)
        return (at * self.ports + port) * self.slots + slot

    def switches(self, server: int) -> range:
        """The first-level switches that a server's ports are at."""
        first = self.place(server)[0] * self.ports
        return range(first, first + self.ports)

    def group(self, number: int) -> range:
        """The servers of a group."""
        return range(number * self.group_size, (number + 1) * self.group_size)


def attachment_problems(attachment: Attachment, servers: int) -> list[Problem]:
    """Which rules an attachment breaks.

    Args:
        servers: How many servers there are to attach.

    Returns:
        A problem for each broken rule, with the keys of a cluster's section.
    """
    leaves, ports = attachment.leaves, attachment.ports
    if leaves % ports:
        rule = f"{leaves} first-level switches do not divide into sets of {ports} ports of a server"
        return [Problem(rule, f"use a multiple of {ports} switches", key="ports", value=str(ports))]
    if servers > attachment.servers:
        rule = (
            f"{servers} servers of {ports} ports are more than the {leaves * attachment.slots} "
            "hosts of the topology"
        )
        remedy = f"use at most {attachment.servers}, or a larger topology"
        return [Problem(rule, remedy, key="servers", value=str(servers))]
    if attachment.kind == "local":
        return []
    size, sets = attachment.group_size, attachment.sets
    if size % sets:
        rule = f"a distributed group of {size} servers does not divide over {sets} sets of switches"
        remedy = f"use groups of a multiple of {sets} servers, or the attachment local"
        return [Problem(rule, remedy, key="attachment", value='"distributed"')]
    if servers != attachment.servers or servers % size:
        rule = (
            f"distributed groups take every place, and {servers} servers in groups of {size} do "
            f"not fill the {attachment.servers} places for them"
        )
        remedy = f"use {attachment.servers} servers in whole groups, or the attachment local"
        return [Problem(rule, remedy, key="servers", value=str(servers))]
    return []


def attachment_of(cluster: Cluster, placement: Placement | None) -> Attachment | None:
    """How a cluster's servers hang at the first-level switches of its network.

    Args:
        placement: Where data goes, whose groups of servers a distributed attachment deals out.

    Returns:
        The attachment; None where the network has no two levels of switches alike, in which the
        ports of a server are hosts in a row.
    """
    topology = cluster.fabric.topology
    machines = cluster.machine_count
    if topology is None or topology.kind != "leaf_spine" or not machines:
        return None
    content = topology.content()
    slots = int(content["hosts_per_leaf"])
    size = getattr(placement, "group_size", None) or slots
    return Attachment(
        cluster.attachment, int(content["leaves"]), slots, cluster.port_count, min(size, machines)
    )


def port_problems(cluster: Cluster, placement: Placement | None) -> list[Problem]:
    """What is wrong with the ports of servers and the places they take."""
    if cluster.port_count == 1 and cluster.attachment == "local":
        return []
    is_dealt = cluster.attachment == "distributed"
    attachment = attachment_of(cluster, placement)
    key, value = "attachment", show(cluster.attachment)
    if attachment is None:
        rule = "servers are dealt over the first-level switches of a leaf spine"
        remedy = 'use a topology such as "leaf spine 24x24 hosts 24 entries 24", or local'
        problems = [Problem(rule, remedy, key=key, value=value)] if is_dealt else []
    elif cluster.fabric.topology is not None and cluster.fabric.topology.content()["routers"]:
        rule = "routers at places of hosts leave switches with unlike numbers of them"
        remedy = 'use "entries" of the leaf spine in place of "routers"'
        shown = show(cluster.fabric.topology.label)
        problems = [Problem(rule, remedy, key="fabric.topology", value=shown)]
    elif is_dealt and getattr(placement, "group_size", None) is None:
        rule = "a distributed attachment deals groups of servers, and there are none"
        remedy = 'use placement.algorithm = "groups" with a group_size, or local'
        problems = [Problem(rule, remedy, key=key, value=value)]
    else:
        problems = attachment_problems(attachment, cluster.machine_count)
    return [problem.under("cluster") for problem in problems]
