"""The kinds of change that a plan may have: each once, for the command and for plan files."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ChangeKind:
    """A kind of change.

    Attributes:
        key: Its key in a plan file, and its option without the dashes.
        metavar: What its value is.
        sentence: What it does.
        example: A value.
    """

    key: str
    metavar: str
    sentence: str
    example: str

    @property
    def option(self) -> str:
        """Its option on the command line."""
        return "--" + self.key.replace("_", "-")


KINDS: tuple[ChangeKind, ...] = (
    ChangeKind(
        "set_option",
        "[WHO ]NAME=VALUE",
        "Sets one of Ceph's settings, which the release must have.",
        "osd_max_backfills=4",
    ),
    ChangeKind("flag", "FLAG", "Sets a flag of the cluster.", "noout"),
    ChangeKind("unflag", "FLAG", "Takes a flag away.", "noout"),
    ChangeKind(
        "map",
        "FILE",
        "Gives the cluster another CRUSH map, in any form; its path starts at the plan's folder.",
        "new.crush",
    ),
    ChangeKind(
        "add",
        "WHAT",
        "Adds hosts or OSDs, each like one that is there, with its OSDs, sizes and classes.",
        "4 hosts like node1 in rack=r2",
    ),
    ChangeKind("set_rule", "POOL=RULE", "Gives a pool another CRUSH rule.", "rbd=replicated_ssd"),
    ChangeKind(
        "pool_size",
        "POOL=SIZE[/MIN]",
        "Gives a replicated pool another number of copies, and of those it needs to serve.",
        "rbd=3/2",
    ),
    ChangeKind(
        "pg_num",
        "POOL=N",
        "Changes a pool's pg_num: the manager does it step by step, before 14.2 the operator.",
        "rbd=2048",
    ),
    ChangeKind(
        "crush_reweight",
        "WHAT=WEIGHT",
        "Gives an OSD, or each below a bucket, another CRUSH weight.",
        "osd.3=1.8",
    ),
    ChangeKind(
        "reweight",
        "WHAT=SHARE",
        "Gives an OSD, or each below a bucket, another reweight, as `ceph osd reweight` does.",
        "osd.3=0.8",
    ),
    ChangeKind(
        "drain",
        "WHAT",
        "Empties OSDs by a CRUSH weight of 0, as cephadm does before it removes them.",
        "host=node3",
    ),
    ChangeKind("in", "WHAT", "Marks OSDs in.", "osd.12"),
    ChangeKind("out", "WHAT", "Marks OSDs out.", "osd.12"),
    ChangeKind(
        "upmap",
        "PGID FROM TO...",
        "Writes a group's upmap entry; without pairs it is taken away.",
        "3.1a 5 17",
    ),
    ChangeKind(
        "balance",
        "HOW",
        "Turns the balancer on (ceph) or off, or writes upmap entries that even out bytes "
        "(bytes, or bytes 50 for so many).",
        "ceph",
    ),
    ChangeKind(
        "force", "WHAT", "Puts a pool's groups, or single groups, before all others.", "rbd"
    ),
    ChangeKind(
        "slow",
        "WHAT=SHARE",
        "Has the devices of OSDs work at a share of their rates from then on; 100% ends it.",
        "osd.12=30%",
    ),
    ChangeKind("start", "WHAT", "Starts OSDs again, with what they had.", "osd.12"),
    ChangeKind("stop", "WHAT", "Stops OSDs in order: they are down at once.", "host=node3"),
    ChangeKind(
        "fail",
        "WHAT",
        "OSDs die, by number or by bucket: they are down after the grace, and out when the "
        "monitors say so.",
        "host=node3",
    ),
)
"""The kinds, in the order in which changes of one time are made on the command line."""

BY_KEY = {kind.key: kind for kind in KINDS}
