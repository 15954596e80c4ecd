"""Maps built and changed, then written as a file or printed as crushtool prints them."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from resilver.cli.console import print_json, say
from resilver.cli.crush.inputs import number
from resilver.cli.crush.options import WORDS, Editing, MapFormat
from resilver.cli.crush.source import MapSource, open_map
from resilver.cli.crush.structure import tree_lines, tree_rows
from resilver.cli.saving import save_whole
from resilver.errors import ConfigError, PlacementError, Problem, name_remedy

if TYPE_CHECKING:
    from resilver.crush import CrushMap

_BUCKET_KINDS = ("uniform", "list", "tree", "straw", "straw2", "vring")
_FORMATS: dict[str, MapFormat] = {".txt": "text", ".text": "text", ".json": "json"}
_PLACED = ("--add-item", "--update-item", "--move")
_AT_THE_END = ("--set-subtree-class", "--reclassify-root", "--reclassify-bucket")
_ID_MAX = 2**31


@dataclass
class Edit:
    """One edit: its option, what that was given, and where the item goes, a name by its type."""

    option: str
    words: tuple[str, ...]
    location: dict[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """As it was written."""
        return " ".join([self.option, *self.words])

    def made(self, crush: CrushMap) -> CrushMap:
        """The map after the edit.

        Raises:
            ConfigError: A number is none.
            PlacementError: The edit cannot be made.
        """
        match self.option, self.words:
            case "--add-item" | "--update-item", (id, weight, name):
                made = crush.with_item if self.option == "--add-item" else crush.with_item_updated
                device = self._id(id)
                return made(name, number(weight, self.option), self.location, id=device)
            case "--remove-item", (name,):
                return crush.without_item(name)
            case "--reweight-item", (name, weight):
                return crush.reweighted(name, number(weight, self.option))
            case _, (name, *_):
                return crush.moved(name, self.location)
        raise AssertionError(self.option)

    def _id(self, text: str) -> int:
        if text.isascii() and text.isdecimal() and int(text) < _ID_MAX:
            return int(text)
        raise ConfigError(f'{self.text}: "{text}" is not a number of a device; write one, as 16')


def edits_of(editing: Editing) -> tuple[list[Edit], list[Problem]]:
    """The edits in the order in which they stand, each with the places that are its own.

    A ``--loc`` belongs to the edit before it, or to the first one where it stands before all.

    Returns:
        The edits, and what is wrong with them.
    """
    edits: list[Edit] = []
    problems = []
    first: dict[str, str] = {}
    for option, words in editing.tokens:
        count = len(WORDS[option])
        if len(words) != count:
            remedy = " ".join(["write", option, *WORDS[option]])
            key = " ".join([option, *words])
            problems.append(Problem(f"it takes {count} words", remedy, key))
        elif option != "--loc":
            edits.append(Edit(option, words))
        else:
            placed = [edit for edit in edits if edit.option in _PLACED]
            (placed[-1].location if placed else first)[words[0]] = words[1]
    if editing.reclassify and not {edit.option for edit in edits} & {*_AT_THE_END[1:]}:
        rule, remedy = "nothing is reclassified", f"add {' or '.join(_AT_THE_END[1:])}"
        problems.append(Problem(rule, remedy, "--reclassify"))
    if problems:
        return edits, problems
    placed = [edit for edit in edits if edit.option in _PLACED]
    if first and not placed:
        remedy = "add --add-item, --update-item or --move, whose place it is"
        problems.append(Problem("it means nothing by itself", remedy, "--loc"))
    elif first:
        placed[0].location = {**first, **placed[0].location}
    problems += [
        Problem("it does not say where the item goes", "write --loc TYPE NAME behind it", edit.text)
        for edit in placed
        if not edit.location
    ]
    return edits, problems


def edited(editing: Editing) -> MapSource:
    """The map of a file or of --build, with its edits made in the order in which they stand.

    Raises:
        ConfigError: The file cannot be used, or the layers are no layers.
        PlacementError: An edit cannot be made.
    """
    if editing.build:
        source = MapSource("--build", _built(editing.devices or 0, editing.words))
        _note_roots(source.crush)
    else:
        source = open_map(editing.words[0])
    crush = source.crush
    for edit in edits_of(editing)[0]:
        if edit.option in _AT_THE_END:
            continue
        try:
            crush = edit.made(crush)
        except PlacementError as error:
            remedy = _known_names(crush, edit)
            raise PlacementError(f"{source.label}: {error}{remedy}") from None
        if edit.option == "--add-item":
            _note_second_place(crush, edit)
    if editing.reclassify:
        words = [[row for name, row in editing.tokens if name == one] for one in _AT_THE_END]
        try:
            crush = crush.reclassified(*words)
        except PlacementError as error:
            raise PlacementError(f"{source.label}: {error}") from None
    if editing.reweight:
        crush = crush.recomputed()
    return source if crush is source.crush else MapSource(source.label, crush)


def _note_second_place(crush: CrushMap, edit: Edit) -> None:
    """Say where else a device stands that was added; crushtool allows it, and few mean it."""
    id, _, name = edit.words
    buckets = crush.document()["buckets"]
    holders = [
        f"{bucket['type_name']} {bucket['name']}"
        for bucket in buckets
        if "~" not in bucket["name"] and any(item["id"] == int(id) for item in bucket["items"])
    ]
    if len(holders) > 1:
        say(
            f"note: {edit.text}: {name} now stands in {' and in '.join(sorted(holders))}, and "
            f"counts in each; use --move {name} to have it in one"
        )


def _note_roots(crush: CrushMap) -> None:
    """Warn where the layers leave several roots: the rule takes the first one only."""
    buckets = crush.document()["buckets"]
    children = {item["id"] for bucket in buckets for item in bucket["items"]}
    roots = [bucket["name"] for bucket in buckets if bucket["id"] not in children]
    if len(roots) > 1:
        say(
            f"note: --build: the map has {len(roots)} roots ({', '.join(roots[:3])}"
            f"{', ...' if len(roots) > 3 else ''}), and its rule places data only below "
            f"{roots[0]}; add a last layer of size 0, such as `root straw2 0`, to join them"
        )


def _known_names(crush: CrushMap, edit: Edit) -> str:
    """What the item of an edit may have been meant to be, where the map has none of its name."""
    if edit.option not in ("--remove-item", "--move", "--reweight-item"):
        return ""
    document = crush.document()
    names = [one["name"] for one in (*document["devices"], *document["buckets"])]
    # The shadow trees of device classes are nobody's to edit.
    names = [name for name in names if "~" not in name]
    return "" if edit.words[0] in names else f"; {name_remedy(edit.words[0], names)}"


def _built(devices: int, words: tuple[str, ...]) -> CrushMap:
    from resilver.crush import CrushMap

    if not words or len(words) % 3:
        raise ConfigError(
            f"--build {' '.join(words)}: a layer is a type, a bucket kind and a size; for example "
            f"`--build --num-osds {devices} host straw2 16 rack straw2 8 root straw2 0`"
        )
    layers = []
    for name, kind, size in zip(words[::3], words[1::3], words[2::3], strict=True):
        if kind not in _BUCKET_KINDS:
            remedy = name_remedy(kind, _BUCKET_KINDS, "kinds")
            raise ConfigError(f'--build: "{kind}" of layer "{name}" is not a bucket kind; {remedy}')
        if not (size.isascii() and size.isdecimal() and len(size) < 10):
            raise ConfigError(
                f'--build: "{size}" of layer "{name}" is not a number of items; write one, 0 for '
                "all that there are"
            )
        layers.append((name, kind, int(size)))
    return CrushMap.build(devices, layers)


def save(source: MapSource, editing: Editing) -> None:
    """Write a map into the file that -o names, if it does.

    Raises:
        ConfigError: The file cannot be written.
    """
    if editing.output is not None:
        save_whole(editing.output, _content(source.crush, _form(editing.output, editing)))
        for reason in map(source.structure.why_empty, source.structure.rules.values()):
            if reason:
                say(f"note: {reason}")


def show(source: MapSource, editing: Editing, *, as_json: bool) -> None:
    """Print a map as far as that was asked for, and say what was written.

    Args:
        as_json: Say what was written, and print the tree, as JSON.
    """
    crush, output = source.crush, editing.output
    if editing.tree:
        if as_json:
            print_json(tree_rows(crush.document()))
        else:
            sys.stdout.write("".join(f"{line}\n" for line in tree_lines(crush.document())))
    if editing.dump:
        # crushtool ends its dump with an empty line.
        sys.stdout.write(_terminated(crush.to_json()) + "\n")
    if editing.decompile and output is None:
        sys.stdout.write(_terminated(crush.to_text()))
    if output is None:
        return
    form = _form(output, editing)
    if as_json and not editing.tree:
        print_json({"map": str(output), "format": form})
    else:
        say(f"{form} map written to {output}")


def _form(output: Path, editing: Editing) -> MapFormat:
    if editing.file_format is not None:
        return editing.file_format
    if editing.compile or editing.decompile:
        return "text" if editing.decompile else "binary"
    return _FORMATS.get(output.suffix.lower(), "binary")


def _terminated(text: str) -> str:
    return text if text.endswith("\n") else text + "\n"


def _content(crush: CrushMap, form: MapFormat) -> bytes:
    if form == "binary":
        return crush.to_bytes()
    text = crush.to_text() if form == "text" else crush.to_json()
    return _terminated(text).encode()
