"""The options of `resilver crush`, which are crushtool's."""

# Each call declares one field, and none of them shares what it returns.
# ruff: noqa: RUF009

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Literal

from resilver.request import SEPARATOR, argument, names_of, option

_read = partial(option, rich_help_panel="Input")
_build = partial(option, rich_help_panel="Read or build")
_change = partial(option, rich_help_panel="Edit", default=())
_test = partial(option, rich_help_panel="Test a rule")
_show = partial(option, rich_help_panel="Show", default=False)
_write = partial(option, rich_help_panel="Output")

_of_rule = partial(_test, metavar="R", min=0)
_of_copies = partial(_test, metavar="N", min=1, max=64)
_of_input = partial(_test, metavar="X", min=0)

MapFormat = Literal["text", "json", "binary"]
"""Forms of a CRUSH map."""


@dataclass(frozen=True)
class Reading:
    """What completes the files that are named."""

    crush: Path | None = _read(
        metavar="FILE",
        text="The CRUSH map of a `ceph osd dump`.",
    )
    pg_dump: Path | None = _read(metavar="FILE", text="`ceph pg dump`: bytes of PGs.")
    osd_df: Path | None = _read(metavar="FILE", text="`ceph osd df`: reweights and use.")
    settings: tuple[str, ...] = _read(
        "--set",
        metavar="KEY=VALUE",
        text="Override a key of a study.",
        default=(),
    )


@dataclass(frozen=True)
class Inputs:
    """Which inputs of which rules, and what to show of them."""

    test: bool = _test(text="End with 1 on bad input, as crushtool does.", default=False)
    rule: str | None = _test(metavar="RULE", text="A rule's number or name; else all.")
    min_rule: int | None = _of_rule(text="First rule.")
    max_rule: int | None = _of_rule(text="Last rule.")
    copies: int | None = _of_copies(
        "--num-rep", text="Devices an input; with --show options the rule's own sizes, else 3."
    )
    min_copies: int | None = _of_copies("--min-rep", text="From so many devices.")
    max_copies: int | None = _of_copies("--max-rep", text="To so many.")
    x: int | None = _of_input(text="One input.")
    first: int | None = _of_input("--min-x", text="First input. Default: 0.")
    last: int | None = _of_input("--max-x", text="Last input. Default: 1023.")
    pool_id: int | None = _test(text="Mix this pool's number into inputs.")
    weights: tuple[str, ...] = _test(
        "--weight",
        "-w",
        metavar="OSD W",
        text="Reweight of a device, 0 to 1. Repeatable.",
        default=(),
    )
    compare: Path | None = _test(
        metavar="FILE",
        text="Count the inputs that this map places elsewhere; exits with 1 if there are any.",
    )
    mappings: bool = _show("--show-mappings", text="Where each input goes.")
    statistics: bool = _show("--show-statistics", text="How many inputs got how many devices.")
    utilization: bool = _show("--show-utilization", text="Stored and expected, by device.")
    utilization_all: bool = _show(
        "--show-utilization-all", text="The same, with devices of weight zero."
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
        return self.shows or self.test or self.compare is not None


@dataclass(frozen=True)
class Editing:
    """How a map is read or built, and changed; where it goes."""

    words: tuple[str, ...] = argument(
        "FILE",
        text="A CRUSH map (text, JSON, compiled) or a cluster's dumps; -i before it may stand. "
        "With --build: the layers, each TYPE KIND SIZE, size 0 for all.",
        default=(),
    )
    compile: bool = _build("--compile", "-c", text="Write the map compiled to -o.", default=False)
    decompile: bool = _build(
        "--decompile", "-d", text="Print the map as text, or write it to -o.", default=False
    )
    build: bool = _build(text="Build a map of layers.", default=False)
    devices: int | None = _build("--num-osds", min=1, text="Devices of the map.", of=("--build",))
    add_item: tuple[str, ...] = _change(
        metavar="ID WEIGHT NAME",
        text="Add a device at --loc. Edits are repeatable and made in their order.",
    )
    update_item: tuple[str, ...] = _change(metavar="ID WEIGHT NAME", text="Add, or move and weigh.")
    remove_item: tuple[str, ...] = _change(metavar="NAME", text="Remove an item.")
    move: tuple[str, ...] = _change(metavar="NAME", text="Move an item to --loc.")
    reweight_item: tuple[str, ...] = _change(metavar="NAME WEIGHT", text="Set an item's weight.")
    location: tuple[str, ...] = _change(
        "--loc", metavar="TYPE NAME", text="Where the item before it goes. Repeatable."
    )
    edit_files: tuple[Path, ...] = _change(
        "--edits",
        metavar="FILE",
        text="Make the edits of a file here, one a line: add-item 16 1.0 osd.16 --loc host h4.",
    )
    reclassify: bool = option(
        rich_help_panel="Edit",
        text="Turn legacy trees into device classes, after all other edits.",
        default=False,
    )
    subtree_class: tuple[str, ...] = _change(
        "--set-subtree-class",
        metavar="NAME CLASS",
        text="Give all devices below a bucket a class first.",
        of=("--reclassify",),
    )
    reclassify_root: tuple[str, ...] = _change(
        metavar="NAME CLASS",
        text="Let rules that take this tree take its devices of a class.",
        of=("--reclassify",),
    )
    reclassify_bucket: tuple[str, ...] = _change(
        metavar="MATCH CLASS PARENT",
        text="Merge buckets such as %-ssd into those without it, the bucket of a whole name into "
        "PARENT.",
        of=("--reclassify",),
    )
    reweight: bool = option(
        rich_help_panel="Edit", text="Recompute all buckets' weights.", default=False
    )
    tree: bool = _show(text="Print the map as a tree.")
    dump: bool = _show(text="Print the map as JSON.")
    output: Path | None = _write("--output", "--outfn", "-o", metavar="FILE", text="Write the map.")
    file_format: MapFormat | None = _write(
        "--format",
        text="Of -o. Default: by its suffix .txt text, .json JSON, else compiled.",
        of=("--output",),
    )

    @property
    def tokens(self) -> list[tuple[str, tuple[str, ...]]]:
        """The edits' options with their words, in the order in which they stand."""
        found = []
        for field in fields(self):
            name = next(iter(names_of(field)), "")
            for value in getattr(self, field.name) if name in WORDS else ():
                place, *words = value.split(SEPARATOR)
                found.append((int(place), name, tuple(words)))
        return [(name, words) for _, name, words in sorted(found)]

    @property
    def prints(self) -> bool:
        """Whether the map itself is wanted, on stdout or in a file."""
        return self.decompile or self.dump or self.tree or self.output is not None


WORDS: dict[str, list[str]] = {
    names_of(field)[0]: field.metadata["metavar"].split()
    for field in fields(Editing)
    if field.default == () and field.type == "tuple[str, ...]" and names_of(field)
}
"""The edits, each with the words that it takes."""
