"""The options of `resilver place`: what is read, crushtool's words, judging, and editing."""

# Each call declares one field, and none of them shares what it returns.
# ruff: noqa: RUF009

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum
from functools import partial
from pathlib import Path

from resilver.cli.options import RepairOrder
from resilver.request import argument, option

SEPARATOR = "\x1f"
"""Joins the words of an option that takes several; no name can contain it."""

_read = partial(option, rich_help_panel="What to read")
_where = partial(option, rich_help_panel="Where things are in a cluster")
_test = partial(option, rich_help_panel="Inputs of a rule, in crushtool's words")
_show = partial(option, rich_help_panel="What crushtool shows", default=False)
_balance = partial(option, rich_help_panel="Evening out with upmap entries")
_judge = partial(option, rich_help_panel="Judgement")
_edit = partial(option, rich_help_panel="Building and editing a map")
_write = partial(option, rich_help_panel="Writing a map")

_of_rule = partial(_test, metavar="R", min=0)
_of_copies = partial(_test, metavar="N", min=1, max=64)
_of_input = partial(_test, metavar="X", min=0)


_ENTRIES = 100

# Edits, whose place among each other counts: their metavar says which words they take.
_change = partial(_edit, default=())


class MapFormat(StrEnum):
    """Forms of a CRUSH map."""

    text = "text"
    json = "json"
    binary = "binary"


@dataclass(frozen=True)
class Reading:
    """What the command reads."""

    words: tuple[str, ...] = argument(
        "FILE",
        text="A CRUSH map (text, JSON, binary), a folder or archive of a cluster's dumps, a "
        "`ceph report`, a `ceph osd dump`, a binary osdmap or a STUDY.toml; two with --compare. "
        "With --build: the layers.",
        default=(),
    )
    crush: Path | None = _read(
        "--crush", metavar="FILE", text="The CRUSH map of a `ceph osd dump`."
    )
    pg_dump: Path | None = _read(
        "--pg-dump", metavar="FILE", text="`ceph pg dump`: the PGs' bytes."
    )
    osd_df: Path | None = _read(
        "--osd-df", metavar="FILE", text="`ceph osd df`: reweights and use."
    )
    settings: tuple[str, ...] = _read(
        "--set", metavar="KEY=VALUE", text="Override a key of a study.", default=()
    )

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files named; with --build the words are layers instead."""
        return tuple(map(Path, self.words))


@dataclass(frozen=True)
class Inputs:
    """Which inputs of which rules, and what to show of them: crushtool's words."""

    test: bool = _test(
        "--test", text="Answer as `crushtool --test` does, exit codes included.", default=False
    )
    rule: str | None = _test("--rule", metavar="RULE", text="A rule's number or name; else all.")
    min_rule: int | None = _of_rule("--min-rule", text="First rule.")
    max_rule: int | None = _of_rule("--max-rule", text="Last rule.")
    copies: int | None = _of_copies(
        "--num-rep", text="Devices an input; with --show options the rule's own sizes, else 3."
    )
    min_copies: int | None = _of_copies("--min-rep", text="From so many devices.")
    max_copies: int | None = _of_copies("--max-rep", text="To so many.")
    x: int | None = _of_input("--x", text="One input.")
    first: int | None = _of_input("--min-x", text="First input; by default 0.")
    last: int | None = _of_input("--max-x", text="Last input; by default 1023.")
    pool_id: int | None = _test(
        "--pool-id", metavar="N", text="Mix this pool's number into inputs."
    )
    weights: tuple[str, ...] = _test(
        "--weight",
        "-w",
        metavar="OSD W",
        text="Reweight, 0 to 1, as `ceph osd reweight` has it; of a cluster's PGs too, and with "
        "--compare of those after. Repeatable.",
        default=(),
    )
    mappings: bool = _show("--show-mappings", text="Where each input goes.")
    statistics: bool = _show("--show-statistics", text="How many inputs got how many.")
    utilization: bool = _show("--show-utilization", text="Stored and expected a device.")
    utilization_all: bool = _show(
        "--show-utilization-all", text="The same, devices of weight zero too."
    )
    bad_mappings: bool = _show("--show-bad-mappings", text="Inputs that came up short.")

    @property
    def shows(self) -> bool:
        """Whether crushtool's lines are wanted."""
        return self.mappings or self.bad_mappings or self.counts

    @property
    def counts(self) -> bool:
        """Whether the header and the counts of sizes are wanted: utilisation brings them along."""
        return self.statistics or self.utilization or self.utilization_all

    @property
    def as_crushtool(self) -> bool:
        """Whether what is not given is as crushtool takes it."""
        return self.shows or self.test


@dataclass(frozen=True)
class Judging:
    """Where things are, how good that is, and what a change or a failure does."""

    groups: bool = _where("--groups", text="Every PG, with its up set.", default=False)
    object_name: str | None = _where(
        "--object", metavar="NAME", text="Where one object of --pool is."
    )
    pool: str | None = _where("--pool", metavar="POOL", text="A pool's name or number.")
    affected: bool = _where(
        "--affected", text="What loses copies when the --fail parts fail.", default=False
    )
    fail: tuple[str, ...] = _where(
        "--fail", metavar="WHAT", text="osd.12, host=NAME, rack=NAME. Repeatable.", default=()
    )
    quality: bool = _judge(
        "--quality", text="Balance, scatter width, rebuild parallelism, loss.", default=False
    )
    fatal: int | None = _judge(
        "--fatal",
        metavar="N",
        min=1,
        text="Members of a set whose loss loses data; by default all of a replica set.",
    )
    afr: str = _judge(
        "--afr",
        metavar="SHARE",
        text="--quality: how many devices fail a year.",
        default="1.36 %",
        show_default=True,
    )
    repair: str = _judge(
        "--repair",
        metavar="TIME",
        text="--quality: until all that a failed device held is repaired.",
        default="10 h",
        show_default=True,
    )
    repair_order: RepairOrder | None = _judge(
        "--repair-order",
        text="--quality: priority, PG by PG with the fewest copies left first, as Ceph does; or "
        "device, each back as a whole at the end of its repair. By default as the system does.",
    )
    compare: bool = _judge(
        "--compare",
        text="What moves from the first FILE to the second, or by the edits of one.",
        default=False,
    )
    seed: int = _judge(
        "--seed", metavar="N", min=0, text="A study's seed.", default=1, show_default=True
    )


class Balance(StrEnum):
    """By what a cluster is evened out."""

    ceph = "ceph"
    bytes = "bytes"


@dataclass(frozen=True)
class Balancing:
    """Which upmap entries are wanted."""

    balance: Balance | None = _balance(
        "--balance",
        text="Entries as Ceph's balancer writes them, by PGs, or our own, by bytes.",
    )
    entries: int = _balance(
        "--entries",
        metavar="N",
        min=1,
        text="Pieces that move, at most.",
        default=_ENTRIES,
        show_default=True,
    )
    deviation: int | None = _balance(
        "--deviation",
        metavar="PGS",
        min=1,
        text="Of ceph: an OSD may miss its target by so many; by default 5.",
    )
    within: float | None = _balance(
        "--within",
        metavar="PERCENT",
        min=0,
        max=100,
        text="Of bytes: fill may differ by so much of the capacity; by default 1.",
    )
    move_at_most: str | None = _balance(
        "--move-at-most", metavar="SIZE", text="Of bytes: move no more, as 10 TiB."
    )

    @property
    def options(self) -> list[tuple[str, Balance | None, bool]]:
        """Its options: name, the way that each is of (None for both), and whether it is given."""
        return [
            ("--entries", None, self.entries != _ENTRIES),
            ("--deviation", Balance.ceph, self.deviation is not None),
            ("--within", Balance.bytes, self.within is not None),
            ("--move-at-most", Balance.bytes, self.move_at_most is not None),
        ]


@dataclass(frozen=True)
class Editing:
    """How a map is built and changed, and where it goes."""

    build: int | None = _edit(
        "--build",
        metavar="N",
        min=1,
        text="A map of N devices; layers follow: TYPE KIND SIZE ..., size 0 for all.",
    )
    add_item: tuple[str, ...] = _change(
        "--add-item",
        metavar="ID WEIGHT NAME",
        text="Add a device at --loc. Edits are repeatable, and made in their order.",
    )
    update_item: tuple[str, ...] = _change(
        "--update-item", metavar="ID WEIGHT NAME", text="Add, or move and weigh."
    )
    remove_item: tuple[str, ...] = _change("--remove-item", metavar="NAME", text="Remove an item.")
    move: tuple[str, ...] = _change("--move", metavar="NAME", text="Move an item to --loc.")
    reweight_item: tuple[str, ...] = _change(
        "--reweight-item", metavar="NAME WEIGHT", text="Set an item's weight."
    )
    location: tuple[str, ...] = _change(
        "--loc", metavar="TYPE NAME", text="Where the item before it goes. Repeatable."
    )
    edit_files: tuple[Path, ...] = _edit(
        "--edits",
        metavar="FILE",
        text="Make the edits of a file here, one a line: add-item 16 1.0 osd.16 --loc host h4.",
        default=(),
    )
    reweight: bool = _edit("--reweight", text="Sum all buckets' weights anew.", default=False)
    output: Path | None = _write(
        "--output", "-o", metavar="FILE", text="Write the map (or the table) there."
    )
    file_format: MapFormat | None = _write(
        "--format", text="Of -o; by default its suffix says: .txt text, .json JSON, else binary."
    )
    decompile: bool = _write("--decompile", text="Print the map as text.", default=False)
    dump: bool = _write("--dump", text="Print the map as JSON.", default=False)
    tree: bool = _write("--tree", text="Print the map as a tree.", default=False)

    @property
    def tokens(self) -> list[tuple[str, tuple[str, ...]]]:
        """The edits' options with their words, in the order in which they stand."""
        found = []
        for field in fields(self):
            name = field.metadata["names"][0]
            for value in getattr(self, field.name) if name in WORDS else ():
                place, *words = value.split(SEPARATOR)
                found.append((int(place), name, tuple(words)))
        return [(name, words) for _, name, words in sorted(found)]

    @property
    def changes(self) -> bool:
        """Whether the map is built or changed before anything else."""
        return self.build is not None or self.reweight or bool(self.edit_files) or bool(self.tokens)

    @property
    def views(self) -> bool:
        """Whether the map itself is wanted on stdout."""
        return self.decompile or self.dump or self.tree


WORDS: dict[str, list[str]] = {
    field.metadata["names"][0]: field.metadata["metavar"].split()
    for field in fields(Editing)
    if field.default == () and field.type == "tuple[str, ...]"
}
"""The edits, each with the words that it takes."""
