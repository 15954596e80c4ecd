"""The options of `resilver place`, by what they are for."""

# Each call declares one field, and none of them shares what it returns.
# ruff: noqa: RUF009

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from resilver.cli.crush.options import Reading
from resilver.cli.options import file_output
from resilver.failure_rates import FailedShare, LongSeconds
from resilver.request import Quantity, argument, option, size

_input = partial(option, rich_help_panel="Input")
_where = partial(option, rich_help_panel="Where data is")
_quality = partial(option, rich_help_panel="Quality")
_rule = partial(option, rich_help_panel="Rules of a CRUSH map", of=("--quality", "--compare"))
_compare = partial(option, rich_help_panel="Comparison")
_balance = partial(option, rich_help_panel="Balance")


FORMS = {
    "--groups": ("groups", "groups"),
    "--object": ("groups", "object_name"),
    "--affected": ("affected", "affected"),
    "--room": ("room", "room"),
    "--quality": ("quality", "quality"),
    "--compare": ("compare", "compare"),
    "--balance": ("balance", "balance"),
}
"""What may be asked: the module that answers it, and the field that asks."""


@dataclass(frozen=True)
class Asked(Reading):
    """All that may be asked of a placement: the options of each panel, in its order."""

    words: tuple[str, ...] = argument(
        "FILE",
        text="A folder or archive of a cluster's dumps, a `ceph report`, a `ceph osd dump`, a "
        "binary osdmap, a CRUSH map or a study; two with --compare.",
        default=(),
    )
    pool: str | None = _input(metavar="POOL", text="A pool's name or number. Default: all.")
    weights: tuple[str, ...] = _input(
        "--weight",
        "-w",
        metavar="OSD W",
        text="Reweight of an OSD, 0 to 1, as `ceph osd reweight` sets it; with --compare, of those "
        "after. Repeatable.",
        default=(),
    )
    seed: int = _input(min=0, text="Seed of a study.", default=1, show_default=True)
    groups: bool = _where(text="List every PG with its up set.", default=False)
    object_name: str | None = _where("--object", metavar="NAME", text="Locate an object of --pool.")
    affected: bool = _where(
        text="List the PGs, or sum the objects, that lose data when the --fail parts fail.",
        default=False,
    )
    room: bool = _where(
        text="Show how much more fits into each pool until an OSD is nearfull and full, beside "
        "Ceph's MAX AVAIL.",
        default=False,
    )
    grow: tuple[str, ...] = _where(
        metavar="[POOL=]GROWTH",
        text="Growth of a pool, or of all: 'rbd=2%/week' of what it stores, or 'rbd=1 TiB/d'. "
        "Shows when the first OSD is nearfull and full. Repeatable.",
        default=(),
        of=("--room",),
    )
    grow_from: Path | None = _where(
        metavar="OLDER",
        text="Dumps of the same cluster of an earlier day: pools grow as since then.",
        default=None,
        of=("--room",),
    )
    fail: tuple[str, ...] = _where(
        metavar="WHAT",
        text="What fails: osd.12, host=NAME, rack=NAME. Repeatable.",
        default=(),
        of=("--affected",),
    )
    quality: bool = _quality(
        text="Measure balance, scatter width, rebuild parallelism and data loss.",
        default=False,
    )
    fatal: int | None = _quality(
        min=1,
        text="Members of a set whose loss loses data. Default: all copies.",
        of=("--quality",),
    )
    afr: str = _quality(
        metavar="SHARE",
        text="Annual failure rate of devices.",
        default="1.36 %",
        show_default=True,
        quantity=Quantity(FailedShare.parse, "1.36 %"),
        of=("--quality",),
    )
    repair: str = _quality(
        metavar="TIME",
        text="Time until all data of a failed device is repaired.",
        default="10 h",
        show_default=True,
        quantity=Quantity(LongSeconds.parse, "10 h"),
        of=("--quality",),
    )
    repair_order: Literal["priority", "device"] | None = _quality(
        text="priority: PG by PG, the fewest copies left first, as Ceph does; device: each device "
        "as a whole at the end of its repair. Default: as the system does.",
        of=("--quality",),
    )
    rule: str | None = _rule(metavar="RULE", text="A rule's number or name; else all.")
    copies: int | None = _rule("--num-rep", min=1, max=64, text="Copies of an input. Default: 3.")
    first: int | None = _rule("--min-x", metavar="X", min=0, text="First input. Default: 0.")
    last: int | None = _rule(
        "--max-x", metavar="X", min=0, text="Last input. Default: some 100 copies a device."
    )
    compare: bool = _compare(
        text="Show what moves from the first FILE to the second.", default=False
    )
    balance: Literal["ceph", "bytes", "read"] | None = _balance(
        text="Find upmap entries: ceph as Ceph's balancer does, by PGs; bytes our own, by bytes; "
        "read other primaries, so that reads are even and no data moves.",
    )
    entries: int | None = _balance(
        min=1,
        text="Most copies that move, by default 100; with read, most PGs, by default all.",
        of=("--balance",),
    )
    deviation: int | None = _balance(
        metavar="PGS",
        min=1,
        text="PGs by which an OSD may miss its target. Default: 5.",
        of=("--balance ceph",),
    )
    within: float | None = _balance(
        metavar="PERCENT",
        min=0,
        max=100,
        text="Percent of capacity by which fill may differ. Default: 1.",
        of=("--balance bytes",),
    )
    move_at_most: str | None = _balance(
        text="Most data that moves, such as 10 TiB.",
        quantity=size("10 TiB"),
        of=("--balance bytes",),
    )
    output: Path | None = file_output(
        "FILE",
        "Write the answer as a page (.html), the table of --affected (.csv, .parquet) or the "
        "script of --balance (any other name) there.",
        endings=None,
        rich_help_panel="Output",
    )
