"""Codes as they are typed: ranges of them, and codes without quotes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product
from math import prod
from pathlib import Path

from resilver.errors import ConfigError

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
