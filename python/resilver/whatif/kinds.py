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
        "Set a Ceph option that the release has.",
        "osd_max_backfills=4",
    ),
    ChangeKind("flag", "FLAG", "Set a cluster flag.", "noout"),
    ChangeKind("unflag", "FLAG", "Unset a cluster flag.", "noout"),
    ChangeKind(
        "map",
        "FILE",
        "Replace the CRUSH map, in any format. In a plan, relative to the plan's folder.",
        "new.crush",
    ),
    ChangeKind(
        "reclassify",
        "WORDS",
        "Turn legacy trees into device classes, in the words of `crushtool --reclassify`.",
        "--reclassify-root default hdd --reclassify-bucket %-ssd ssd default",
    ),
    ChangeKind("crush_rename", "OLD NEW", "Rename a bucket of the CRUSH map.", "node3 node9"),
    ChangeKind(
        "crush_move",
        "NAME TYPE=NAME...",
        "Move an OSD or a bucket in the CRUSH map, with all it holds.",
        "node3 rack=r2",
    ),
    ChangeKind(
        "add",
        "WHAT",
        "Add hosts or OSDs like an existing one, or of another size.",
        "1 host with 10 x 18 TB in rack=r2",
    ),
    ChangeKind(
        "replace",
        "WHAT=SIZE",
        "Replace the devices of OSDs by empty ones of a size, under the same numbers.",
        "osd.12=18 TB",
    ),
    ChangeKind("set_rule", "POOL=RULE", "Change a pool's CRUSH rule.", "rbd=replicated_ssd"),
    ChangeKind(
        "pool_size", "POOL=SIZE[/MIN]", "Change size and min_size of a replicated pool.", "rbd=3/2"
    ),
    ChangeKind(
        "pg_num",
        "POOL=N",
        "Change a pool's pg_num; the manager does it step by step, before 14.2 the operator.",
        "rbd=2048",
    ),
    ChangeKind(
        "crush_reweight",
        "WHAT=WEIGHT",
        "Change the CRUSH weight of an OSD, or of each OSD below a bucket.",
        "osd.3=1.8",
    ),
    ChangeKind(
        "reweight",
        "WHAT=SHARE",
        "Reweight an OSD, or each OSD below a bucket, like `ceph osd reweight`.",
        "osd.3=0.8",
    ),
    ChangeKind(
        "drain",
        "WHAT",
        "Drain OSDs by a CRUSH weight of 0, as cephadm does before it removes them.",
        "host=node3",
    ),
    ChangeKind("in", "WHAT", "Mark OSDs in.", "osd.12"),
    ChangeKind("out", "WHAT", "Mark OSDs out.", "osd.12"),
    ChangeKind(
        "upmap", "PGID FROM TO...", "Set a PG's upmap entry; without pairs, remove it.", "3.1a 5 17"
    ),
    ChangeKind(
        "balance",
        "HOW",
        "Turn the balancer on (ceph) or off, or add upmap entries that balance bytes (bytes, or "
        "'bytes 50' for at most 50).",
        "ceph",
    ),
    ChangeKind(
        "force",
        "WHAT",
        "Force recovery of a pool's PGs, or of single PGs, before all others.",
        "rbd",
    ),
    ChangeKind(
        "slow",
        "WHAT=SHARE",
        "Slow the devices of OSDs to a share of their speed; 100% ends it.",
        "osd.12=30%",
    ),
    ChangeKind("start", "WHAT", "Start OSDs with the data they have.", "osd.12"),
    ChangeKind("stop", "WHAT", "Stop OSDs cleanly: they are down at once.", "host=node3"),
    ChangeKind(
        "fail",
        "WHAT",
        "Fail OSDs, by number or bucket: down after the heartbeat grace, out when the monitors "
        "mark them out.",
        "host=node3",
    ),
)
"""The kinds, in the order in which changes of one time are made on the command line."""

BY_KEY = {kind.key: kind for kind in KINDS}

MAP_KINDS = (
    "map", "reclassify", "crush_rename", "crush_move",
    "set_rule", "reweight", "crush_reweight", "drain", "in", "out",
)  # fmt: skip
"""The changes that change where the map places PGs, and nothing else. Of OSDs to be added nobody
knows the numbers, which CRUSH goes by."""
