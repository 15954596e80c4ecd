"""A key of a study that a page lets its reader choose, and values of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, get_args

from resilver.explore.controls import Control, Stop
from resilver.spec.problems import kinds_in
from resilver.spec.section import Section, written
from resilver.spec.sections import Sections
from resilver.spec.sweep import section_models
from resilver.units import Bytes, BytesPerSecond

Amount = Bytes | BytesPerSecond
"""Quantities that are offered by their texts."""

FACTORS = (0.25, 0.5, 2.0, 4.0)
"""What loads and volumes are multiplied by."""


def stop_of(label: str, values: dict[str, Any], size: float | None = None) -> Stop:
    """A value by dotted key."""
    return Stop(label, tuple(values.items()), size)


def is_part_of(key: str, other: str) -> bool:
    """Whether one of two dotted keys is the other, or stands in it."""
    return f"{key}.".startswith(f"{other}.") or f"{other}.".startswith(f"{key}.")


def sentence_of(key: str) -> str:
    """What a dotted key means, as the reference says it."""
    name, *rest = key.split(",")[0].split(".")
    sentence = Sections.sentences().get(name, "")
    model: type[Section] | None = section_models()[name]
    for part in rest:
        if part.isdecimal() or model is None:
            continue
        field = model.names().get(part)
        if field is None:
            break
        sentence = model.sentences().get(field, sentence)
        kinds = kinds_in(model.model_fields[field].annotation)
        model = next((kind for kind in kinds if issubclass(kind, Section)), None)
    return _for_readers(sentence)


def _for_readers(text: str) -> str:
    """What a key's description says to someone who has no file to write in.

    How values are written goes, and so does the default, which the control tells itself.
    """
    kept = []
    for sentence in re.split(r"(?<=\.)\s+(?=[A-Z])", text.replace("`", "")):
        if sentence.startswith("Default"):
            continue
        what, colon, how = sentence.partition(":")
        kept.append(f"{what}." if colon and "{" in how else sentence)
    return " ".join(kept)


def words_of(model: type[Section], field: str) -> list[str]:
    """The words that a key may be."""

    def words(annotation: Any) -> Iterator[str]:
        for one in get_args(annotation):
            if isinstance(one, str):
                yield one
            else:
                yield from words(one)

    return list(words(model.model_fields[field].annotation))


def label_of(key: str, of: str = "") -> str:
    """A key in words, with the pool or class that it is of."""
    words = key.rpartition(".")[2].replace("_", " ").capitalize()
    return f"{words} of {of}" if of else words


def of_words(key: str, now: Any, words: Sequence[Any], of: str = "") -> Control:
    """A key that is one of some words, or true or false."""
    stops = tuple(stop_of(_shown(word), {key: word}) for word in words)
    return Control(key, label_of(key, of), stops, _shown(now))


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value).replace("_", " ")


def of_texts(
    key: str, now: Amount | None, texts: Sequence[str], kind: type[Amount], of: str = ""
) -> Control:
    """A key that is an amount, with amounts as a study file writes them."""
    stops = tuple(stop_of(text, {key: text}, float(kind.parse(text))) for text in texts)
    size = None if now is None else float(now)
    words = "none" if now is None else written(now)
    return Control(key, label_of(key, of), stops, words, size=size)


def scaled(
    key: str,
    now: float,
    write: Callable[[float], Any],
    of: str = "",
    inside: Callable[[Any], Any] = lambda value: value,
) -> Control:
    """A key with its value times some factors; `inside` makes the key's value of the amount."""
    values = [(now * factor, write(now * factor)) for factor in FACTORS]
    stops = tuple(stop_of(_count(one), {key: inside(one)}, size) for size, one in values)
    return Control(key, label_of(key, of), stops, _count(write(now)), size=now)


def _count(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def whole(value: float) -> int:
    """The nearest whole number from 1."""
    return max(1, round(value))
