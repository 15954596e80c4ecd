"""How the words of `resilver crush` are read: crushtool's ways on top of the usual ones."""

from __future__ import annotations

import re
import shlex
from dataclasses import fields
from pathlib import Path
from typing import Any

from resilver.cli.command import Command
from resilver.cli.crush.options import WORDS, Editing, Inputs
from resilver.cli.place.options import FORMS, Asked
from resilver.errors import ConfigError, Problem, name_remedy, raise_all, show
from resilver.request import SEPARATOR, names_of

# Options of several words, which the parser knows as one.
_COUNTS = {"--weight": 2, "-w": 2, **{name: len(words) for name, words in WORDS.items()}}

# Ceph's tools take an underscore for a dash within an option's name; these have both spellings in
# the field's scripts.
_CEPH_NAMES = ("--show_", "--min_", "--max_", "--num_", "--pool_")
_CEPH_EDITS = ("--add_", "--update_", "--remove_", "--reweight_", "--reclassify_", "--set_subtree_")


class CrushCommand(Command):
    """A command in whose words options of several words may stand more than once.

    Those that edit a map keep their order, and those of a file stand where the file is named; the
    dashes of names may be written as underscores, and ``-i`` may stand before the file.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Join the words of options that take several, then parse as ever."""
        words: list[str] = []
        rest = [dashed(word) for word in args]
        while rest:
            word = rest.pop(0)
            option, equals, value = word.partition("=")
            if word in ("-i", "--infn"):
                continue
            given = [value] if equals else []
            if option == "--edits":
                given = given or [rest.pop(0) for _ in rest[:1]]
                words += [option, *given]
                rest = [*(_words_of(Path(given[0])) if given else ()), *rest]
                continue
            if option not in _COUNTS:
                words.append(word)
                continue
            while rest and len(given) < _COUNTS[option] and not _is_option(rest[0]):
                given.append(rest.pop(0))
            place = [str(len(words))] if option in WORDS else []
            # An option without any word is the parser's to refuse.
            words += [option, SEPARATOR.join([*place, *given])] if given else [option]
        return super().parse_args(ctx, words)


def _is_option(word: str) -> bool:
    """Whether it begins an option, as -1 does not."""
    return word.startswith("--") or (word[:1] == "-" and word[1:2].isalpha())


def dashed(word: str) -> str:
    """A word with the dashes that Ceph's tools let one write as underscores."""
    name, equals, value = word.partition("=")
    if name.startswith((*_CEPH_NAMES, *_CEPH_EDITS)):
        name = name.replace("_", "-")
    return name + equals + value


def _words_of(path: Path) -> list[str]:
    """The edits of a file, as the command line would have them."""
    from resilver.text import read_text

    words: list[str] = []
    problems = []
    for number, line in enumerate(read_text(path).splitlines(), 1):
        place = f"{path}, line {number}"
        try:
            first, *others = shlex.split(line, comments=True) or [""]
        except ValueError as error:
            problems.append(Problem(f"this is no line of words: {error}", "close it", place=place))
            continue
        option = dashed(f"--{first.removeprefix('--')}")
        if option in WORDS:
            words += [option, *others]
        elif first:
            remedy = name_remedy(option, list(WORDS), "edits")
            value = show(first)
            problems.append(Problem("this is no edit of a map", remedy, place=place, value=value))
    raise_all(problems)
    return words


def _names(*kinds: type) -> set[str]:
    return {name for kind in kinds for field in fields(kind) for name in names_of(field)}


_MOVED = _names(Editing, Inputs) - _names(Asked) | {"-i"}
"""Options of crushtool, which `resilver crush` has."""


class PlaceCommand(CrushCommand):
    """A command whose --weight takes two words."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse crushtool's options, then parse as ever."""
        options = [dashed(word).partition("=")[0] for word in args]
        moved = [option for option in options if option in _MOVED]
        if moved:
            rule = "this is an option of crushtool, which `resilver crush` has"
            raise ConfigError(rule, _remedy(args, options), moved[0])
        return super().parse_args(ctx, args)


def _remedy(args: list[str], options: list[str]) -> str:
    """The same command under its new name; where it does more, the two commands that do it."""
    if "--compare" in options and "--test" in options:
        return "`resilver crush BEFORE --compare AFTER`"
    if set(FORMS) & {*options}:
        return "write a map with `resilver crush FILE ... -o MAP`, then ask `resilver place` of it"
    words = re.sub(r"--build[ =](?=\d)", "--build --num-osds ", shlex.join(args))
    return f"`resilver crush {words}`"
