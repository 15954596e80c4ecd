"""The options of `resilver place`: their names, panels and help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from resilver.cli.place.edits import SEPARATOR, WORDS
from resilver.cli.place.request import MapFormat

_INPUT = "What to read"
_CEPH = "Where things are in a cluster"
_TEST = "Inputs of a rule, in crushtool's words"
_SHOW = "What crushtool shows"
_JUDGE = "Judgement"
_EDIT = "Building and editing a map"
_WRITE = "Writing a map"

# Options of several words, which the parser knows as one.
_WORDS = {"--weight": 2, "-w": 2, **{option: len(words) for option, words in WORDS.items()}}

# Ceph's tools take an underscore for a dash within an option's name; these have both spellings in
# the field's scripts.
_CEPH_NAMES = ("--show_", "--min_", "--max_", "--num_", "--pool_")
_CEPH_EDITS = ("--add_", "--update_", "--remove_", "--reweight_")


class PlaceCommand(TyperCommand):
    """A command with crushtool's ways on top of the usual ones.

    Options of several words (``--weight OSD W``) may stand more than once, and those that edit a
    map keep their order; the dashes of names may be written as underscores, and ``-i`` may stand
    before the file.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Join the words of options that take several, then parse as ever."""
        words: list[str] = []
        rest = [_dashed(word) for word in args]
        while rest:
            word = rest.pop(0)
            option, equals, value = word.partition("=")
            if word == "-i":
                continue
            if option not in _WORDS:
                words.append(word)
                continue
            given = [value] if equals else []
            while rest and len(given) < _WORDS[option] and not _is_option(rest[0]):
                given.append(rest.pop(0))
            place = [str(len(words))] if option in WORDS else []
            # An option without any word is the parser's to refuse.
            words += [option, SEPARATOR.join([*place, *given])] if given else [option]
        return super().parse_args(ctx, words)


def _is_option(word: str) -> bool:
    """Whether it begins an option, as -1 does not."""
    return word.startswith("--") or (word[:1] == "-" and word[1:2].isalpha())


def _dashed(word: str) -> str:
    name, equals, value = word.partition("=")
    if name.startswith((*_CEPH_NAMES, *_CEPH_EDITS)):
        name = name.replace("_", "-")
    return name + equals + value


def _option(*names: str, panel: str, metavar: str | None = None, **more: Any) -> Any:
    text = more.pop("text")
    return typer.Option(
        *names, metavar=metavar, help=text, rich_help_panel=panel, show_default=False, **more
    )


def _flag(name: str, panel: str, text: str) -> Any:
    return _option(name, panel=panel, text=text)


Words = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FILE...",
        help="A CRUSH map (text, JSON, binary), a `ceph report`, a `ceph osd dump`, a binary "
        "osdmap or a STUDY.toml; two with --compare. With --build: the layers.",
        show_default=False,
    ),
]
Crush = Annotated[
    Path | None,
    _option("--crush", panel=_INPUT, metavar="FILE", text="The CRUSH map of a `ceph osd dump`."),
]
PgDump = Annotated[
    Path | None,
    _option("--pg-dump", panel=_INPUT, metavar="FILE", text="`ceph pg dump`: the groups' bytes."),
]
OsdDf = Annotated[
    Path | None,
    _option("--osd-df", panel=_INPUT, metavar="FILE", text="`ceph osd df`: reweights and use."),
]
StudySettings = Annotated[
    list[str] | None,
    _option("--set", panel=_INPUT, metavar="KEY=VALUE", text="Override a key of a study."),
]
Groups = Annotated[bool, _flag("--groups", _CEPH, "Every placement group, with its up set.")]
ObjectName = Annotated[
    str | None,
    _option("--object", panel=_CEPH, metavar="NAME", text="Where one object of --pool is."),
]
Pool = Annotated[
    str | None, _option("--pool", panel=_CEPH, metavar="POOL", text="A pool's name or number.")
]
Affected = Annotated[
    bool, _flag("--affected", _CEPH, "What loses copies when the --fail parts fail.")
]
Fail = Annotated[
    list[str] | None,
    _option(
        "--fail", panel=_CEPH, metavar="WHAT", text="osd.12, host=NAME, rack=NAME. Repeatable."
    ),
]
Test = Annotated[
    bool,
    _flag("--test", _TEST, "Answer as `crushtool --test` does, exit codes included."),
]
RuleName = Annotated[
    str | None,
    _option("--rule", panel=_TEST, metavar="RULE", text="A rule's number or name; else all."),
]
MinRule = Annotated[
    int | None, _option("--min-rule", panel=_TEST, metavar="R", min=0, text="First rule.")
]
MaxRule = Annotated[
    int | None, _option("--max-rule", panel=_TEST, metavar="R", min=0, text="Last rule.")
]
Copies = Annotated[
    int | None,
    _option(
        "--num-rep",
        panel=_TEST,
        metavar="N",
        min=1,
        max=64,
        text="Devices an input; with --show options the rule's own sizes, else 3.",
    ),
]
MinCopies = Annotated[
    int | None,
    _option("--min-rep", panel=_TEST, metavar="N", min=1, max=64, text="From so many devices."),
]
MaxCopies = Annotated[
    int | None,
    _option("--max-rep", panel=_TEST, metavar="N", min=1, max=64, text="To so many."),
]
X = Annotated[int | None, _option("--x", panel=_TEST, metavar="X", min=0, text="One input.")]
First = Annotated[
    int | None,
    _option("--min-x", panel=_TEST, metavar="X", min=0, text="First input; by default 0."),
]
Last = Annotated[
    int | None,
    _option("--max-x", panel=_TEST, metavar="X", min=0, text="Last input; by default 1023."),
]
PoolId = Annotated[
    int | None,
    _option("--pool-id", panel=_TEST, metavar="N", text="Mix this pool's number into inputs."),
]
Weights = Annotated[
    list[str] | None,
    _option("--weight", "-w", panel=_TEST, metavar="OSD W", text="Reweight, 0 to 1. Repeatable."),
]
Mappings = Annotated[bool, _flag("--show-mappings", _SHOW, "Where each input goes.")]
Statistics = Annotated[bool, _flag("--show-statistics", _SHOW, "How many inputs got how many.")]
Utilization = Annotated[bool, _flag("--show-utilization", _SHOW, "Stored and expected a device.")]
UtilizationAll = Annotated[
    bool, _flag("--show-utilization-all", _SHOW, "The same, devices of weight zero too.")
]
BadMappings = Annotated[bool, _flag("--show-bad-mappings", _SHOW, "Inputs that came up short.")]
QualityFlag = Annotated[
    bool, _flag("--quality", _JUDGE, "Balance, scatter width, rebuild parallelism, loss.")
]
Fatal = Annotated[
    int | None,
    _option(
        "--fatal",
        panel=_JUDGE,
        metavar="N",
        min=1,
        text="Members of a set whose loss loses data; by default all of a replica set.",
    ),
]
Compare = Annotated[
    bool, _flag("--compare", _JUDGE, "What moves from the first FILE to the second.")
]
Seed = Annotated[
    int,
    typer.Option("--seed", metavar="N", min=0, help="A study's seed.", rich_help_panel=_JUDGE),
]
Build = Annotated[
    int | None,
    _option(
        "--build",
        panel=_EDIT,
        metavar="N",
        min=1,
        text="A map of N devices; layers follow: TYPE KIND SIZE ..., size 0 for all.",
    ),
]
AddItem = Annotated[
    list[str] | None,
    _option(
        "--add-item",
        panel=_EDIT,
        metavar="ID WEIGHT NAME",
        text="Add a device at --loc. Edits are repeatable, and made in their order.",
    ),
]
UpdateItem = Annotated[
    list[str] | None,
    _option("--update-item", panel=_EDIT, metavar="ID WEIGHT NAME", text="Add, or move and weigh."),
]
RemoveItem = Annotated[
    list[str] | None, _option("--remove-item", panel=_EDIT, metavar="NAME", text="Remove an item.")
]
Move = Annotated[
    list[str] | None, _option("--move", panel=_EDIT, metavar="NAME", text="Move an item to --loc.")
]
ReweightItem = Annotated[
    list[str] | None,
    _option("--reweight-item", panel=_EDIT, metavar="NAME WEIGHT", text="Set an item's weight."),
]
Reweight = Annotated[bool, _flag("--reweight", _EDIT, "Sum all buckets' weights anew.")]
Location = Annotated[
    list[str] | None,
    _option(
        "--loc", panel=_EDIT, metavar="TYPE NAME", text="Where the item before it goes. Repeatable."
    ),
]
Output = Annotated[
    Path | None,
    _option(
        "--output", "-o", panel=_WRITE, metavar="FILE", text="Write the map (or the table) there."
    ),
]
Format = Annotated[
    MapFormat | None,
    _option(
        "--format",
        panel=_WRITE,
        text="Of -o; by default its suffix says: .txt text, .json JSON, else binary.",
    ),
]
Decompile = Annotated[bool, _flag("--decompile", _WRITE, "Print the map as text.")]
Dump = Annotated[bool, _flag("--dump", _WRITE, "Print the map as JSON.")]
Tree = Annotated[bool, _flag("--tree", _WRITE, "Print the map as a tree.")]
