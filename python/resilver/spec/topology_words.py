"""The words of a topology's text: a kind, its size, and options that are a word and a number."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from resilver.errors import ConfigError, name_remedy, show

TEXT_LENGTH_MAX = 1000
"""The longest text of a topology; a fat tree of ten levels takes a hundred characters."""


@dataclass(frozen=True)
class Grammar:
    """What the text of one kind of topology may hold.

    Args:
        name: The kind, in lower case and with blanks, such as ``fat tree``.
        form: How a text of this kind is built, brackets around what may be left out.
        example: A text of this kind.
        size: What follows the name, such as ``its sides``; empty where nothing does.
        options: The option words; each stands for the option that it is mapped to.
        choices: For options whose value is not a number, the values.
    """

    name: str
    form: str
    example: str
    size: str
    options: Mapping[str, str]
    choices: Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Words:
    """A topology's text, taken apart.

    Args:
        grammar: The grammar of its kind.
        text: The text as it was written.
        size: What follows the name, or None.
        options: The value of each option that stands in the text, as written.
    """

    grammar: Grammar
    text: str
    size: str | None
    options: Mapping[str, str]

    def refuse(self, rule: str, remedy: str = "") -> ConfigError:
        """The error that this text breaks `rule`; without a remedy, it shows how one is built."""
        shown = f'write "{self.grammar.form}", such as "{self.grammar.example}"'
        return ConfigError(rule, remedy or shown, value=show(self.text))

    def number(self, option: str, default: int | None = None, *, least: int = 1) -> int:
        """The whole number of an option.

        Args:
            default: Its value where the text does not have it; None where it must.
            least: The smallest value.

        Raises:
            ConfigError: The option is missing, no whole number, or too small.
        """
        value = self.options.get(option)
        if value is None:
            if default is None:
                raise self.refuse(f"a {self.grammar.name} needs its {option}")
            return default
        return self.numbers(value, option, least=least, count=1)[0]

    def numbers(
        self,
        value: str,
        what: str,
        *,
        separator: str = ",",
        least: int = 1,
        count: int | None = None,
    ) -> list[int]:
        """The whole numbers of a list.

        Args:
            value: The list, as written.
            what: What it is, for the message.
            separator: What stands between two numbers.
            least: The smallest number.
            count: How many there must be, or None for any number of them.

        Raises:
            ConfigError: One is no whole number or too small, or there are more or fewer.
        """
        parts = value.split(separator)
        for part in parts:
            # Nine digits are above every limit, and below what takes long to read.
            if not re.fullmatch(r"[0-9]{1,9}", part):
                rule = f'{what}: "{(part or value)[:40]}" is not a whole number below 10^9'
                raise self.refuse(rule)
            if int(part) < least:
                raise self.refuse(f"{what}: {part} is below {least}")
        if count is not None and len(parts) != count:
            raise self.refuse(f"{what}: {count} numbers are needed, and there are {len(parts)}")
        return [int(part) for part in parts]

    def choice(self, option: str) -> str | None:
        """The value of an option that is a word, with underscores, or None where there is none."""
        value = self.options.get(option)
        return None if value is None else value.replace(" ", "_")


def take_apart(text: str, grammars: Sequence[Grammar]) -> Words:
    """The kind, size and options of a topology's text; case, hyphens and underscores are free.

    Args:
        text: One line, such as ``torus 16x16x16 routers 128``.
        grammars: The kinds there are.

    Raises:
        ConfigError: The kind or a word is unknown, or a value is missing.
    """
    words = _split(text)
    grammar, words = _grammar_of(words, text, grammars)
    size = None
    if words and grammar.size and words[0][0].isdigit():
        size, words = words[0], words[1:]
    found = Words(grammar, text, size, {})
    options: dict[str, str] = {}
    while words:
        phrase = _leading(words, grammar.options)
        if phrase is None:
            raise _unknown_word(found, words[0])
        option, words = grammar.options[phrase], words[len(phrase.split()) :]
        if option in options:
            raise found.refuse(f'"{option}" stands twice', "keep one")
        value = words[0] if words else None
        choices = grammar.choices.get(option)
        if choices is not None:
            value = _leading(words, choices)
            if value is None:
                written = words[0] if words else ""
                remedy = name_remedy(written, [name.replace(" ", "_") for name in choices])
                raise found.refuse(f'"{option}" has no value "{written}"', remedy)
        if value is None:
            raise found.refuse(f'"{option}" needs a number after it')
        options[option], words = value, words[len(value.split()) :]
    return Words(grammar, text, size, options)


def _split(text: str) -> list[str]:
    """The words in lower case: hyphens and underscores in words are blanks, lists have none."""
    line = text.casefold()
    line = re.sub(r"(?<=[a-z])[-_](?=[a-z])", " ", line)
    # "16 x 16" and "1, 32" are one value each. A cross and a multiplication sign mean the same.
    line = re.sub(r"(?<=\d)\s*[x\u00d7*]\s*(?=\d)", "x", line)
    # A comma before a word only parts it from what stands before.
    line = re.sub(r",\s*(?=[a-z]|$)", " ", line)
    return re.sub(r"\s*,\s*", ",", line).split()


def _grammar_of(
    words: list[str], text: str, grammars: Sequence[Grammar]
) -> tuple[Grammar, list[str]]:
    """The kind that the words begin with, "fattree" being "fat tree", and the words behind it."""
    # A longer name first: "torus of trees" is no torus.
    for grammar in sorted(grammars, key=lambda grammar: -len(grammar.name)):
        name = grammar.name.split()
        for spelling in (name, ["".join(name)]):
            if words[: len(spelling)] == spelling:
                return grammar, words[len(spelling) :]
    names = [grammar.name for grammar in grammars]
    written = " ".join(words[:2]) if len(words) > 1 and words[1].isalpha() else "".join(words[:1])
    remedy = name_remedy(written, [*names, "graph"], "kinds")
    if remedy.startswith("did"):
        close = next((item for item in grammars if f'"{item.name}"' in remedy), None)
        remedy += f' For example "{close.example}"' if close else ""
    rule = "there is no such topology" if words else "a topology needs its kind"
    raise ConfigError(rule, remedy, value=show(text))


def _leading(words: Sequence[str], phrases: Mapping[str, str] | Sequence[str]) -> str | None:
    """The longest phrase that the words begin with."""
    fitting = [phrase for phrase in phrases if list(words[: len(phrase.split())]) == phrase.split()]
    return max(fitting, key=len, default=None)


def _unknown_word(found: Words, word: str) -> ConfigError:
    known = list(dict.fromkeys(found.grammar.options.values()))
    if not word[0].isalpha():
        where = f"its {found.grammar.size} or an option" if found.grammar.size else "an option"
        return found.refuse(f'"{word[:40]}" stands where {where} belongs')
    remedy = f'{name_remedy(word, known, "words")}; the form is "{found.grammar.form}"'
    return found.refuse(f'a {found.grammar.name} has no word "{word[:40]}"', remedy)
