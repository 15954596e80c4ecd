"""How the words of `resilver place` are read: crushtool's are refused, and `crush` is named."""

from __future__ import annotations

import re
import shlex
from dataclasses import fields
from typing import Any

from resilver.cli.crush.options import Editing, Inputs
from resilver.cli.crush.words import CrushCommand, dashed
from resilver.cli.place.options import FORMS, Asked
from resilver.errors import ConfigError
from resilver.request import names_of


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
