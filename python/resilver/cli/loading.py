"""Study files that commands read, with the keys that the command line replaces."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

from resilver.cli.console import say
from resilver.errors import ConfigError
from resilver.text import read_toml

if TYPE_CHECKING:
    from resilver.spec import Study


_RANGE = re.compile(r"(\d{1,6})\.\.(\d{1,6})")
_CODES_MAX = 2000
"""Codes that ranges name; more points than these are no picture."""


def codes_of(words: Sequence[str]) -> list[str]:
    """The codes that words name: each of a range; ``rs 8+3`` without quotes is put together.

    Args:
        words: Codes, or the words of one; names of files among them are kept.

    Raises:
        ConfigError: A range falls, or there are too many codes.

    >>> codes_of(["rs", "4..5+2"])
    ['rs 4+2', 'rs 5+2']
    """
    if any(Path(word).exists() for word in words):
        return [one for word in words for one in ([word] if Path(word).exists() else _each(word))]
    if len(words) > 1 and not all(map(_is_code, words)) and _is_code(" ".join(words)):
        return _each(" ".join(words))
    return [one for word in words for one in _each(word)]


def _is_code(text: str) -> bool:
    from resilver.simulate import code_tree

    try:
        code_tree(_each(text)[0])
    except ConfigError:
        return False
    return True


def _each(word: str) -> list[str]:
    """The codes that one text names: ``rs 4..6+2`` is three of them."""
    parts = _RANGE.split(word)
    ends = list(zip(map(int, parts[1::3]), map(int, parts[2::3]), strict=True))
    count = prod(last - first + 1 for first, last in ends)
    if any(first > last for first, last in ends) or count > _CODES_MAX:
        rule = f"a range rises, and all together are at most {_CODES_MAX:,} codes"
        raise ConfigError(rule, 'such as "rs 4..12+2..4"', value=f'"{word}"')
    chosen = product(*(range(first, last + 1) for first, last in ends))
    return [
        "".join(text + str(number) for text, number in zip(parts[::3], (*numbers, ""), strict=True))
        for numbers in chosen
    ]


def load_study(path: Path, settings: Sequence[str]) -> Study:
    """A study with its overrides; a sweep that an override ends is told of.

    Args:
        path: The study file, or the name of a study in the catalog.
        settings: Overrides as KEY=VALUE.

    Raises:
        ConfigError: The file cannot be read, or with every problem in it.
    """
    from resilver.catalog.entries import study_path
    from resilver.spec import Study
    from resilver.spec.ensemble import keys_of

    path = study_path(path)
    study = Study.load(path, overrides=settings)
    if settings:
        # As the file has them: without its overrides the study may be none.
        written = read_toml(path.expanduser()).get("study", {}).get("sweep", {})
        for swept in (name for name in written if name not in study.study.sweep):
            for setting in settings:
                if setting.partition("=")[0].strip() in keys_of(swept):
                    say(f"note: the study sweeps {swept}; --set {setting} takes the place of that")
    return study
