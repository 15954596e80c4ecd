"""Writing TOML, and reading the values of command-line overrides."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any

from resilver.errors import ConfigError, show

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_LINE_WIDTH = 100


def write_toml(tables: Mapping[str, Any]) -> str:
    """A TOML document.

    Args:
        tables: Top-level tables and arrays of tables, of text, numbers, booleans, lists and
            dictionaries.

    Returns:
        The document: a header for each table and one line a key; a table within one has a header of
        its own where its line would be long.
    """
    blocks = []
    for name, table in tables.items():
        many = isinstance(table, list)
        for item in table if many else [table]:
            header = f"[[{write_key(name)}]]" if many else f"[{write_key(name)}]"
            long = {} if many else {key: value for key, value in item.items() if _is_long(value)}
            lines = [
                f"{write_key(key)} = {_wrapped(value)}"
                for key, value in item.items()
                if key not in long
            ]
            blocks.append("\n".join([header, *lines]))
            for key, inside in long.items():
                blocks.append(
                    f"[{write_key(name)}.{write_key(key)}]\n{write_keys(inside)}".rstrip()
                )
    return "\n\n".join(blocks) + "\n"


def write_keys(table: Mapping[str, Any]) -> str:
    """A TOML document of keys alone, without a header.

    Args:
        table: Text, numbers, booleans, lists and dictionaries by key.

    Returns:
        The document: one line a key, and one an item of a long list.
    """
    return "".join(f"{write_key(key)} = {_wrapped(value)}\n" for key, value in table.items())


def write_value(value: Any) -> str:
    """A value as TOML writes it, on one line.

    Args:
        value: Text, a number, a boolean, a list or a dictionary.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # JSON's escapes are TOML's too, but TOML also wants DEL escaped.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(write_value(item) for item in value) + "]"
    if isinstance(value, Mapping):
        inside = ", ".join(f"{write_key(key)} = {write_value(item)}" for key, item in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    raise TypeError(f"a {type(value).__name__} has no form in TOML")


def write_key(key: str) -> str:
    """A key as TOML writes it: in quotes where it needs them."""
    return key if _BARE_KEY.fullmatch(key) else write_value(key)


def _is_long(value: Any) -> bool:
    return isinstance(value, Mapping) and len(write_value(value)) > _LINE_WIDTH


def _wrapped(value: Any) -> str:
    """A value, with a long list on lines of its own items; inline tables must stay on one line."""
    text = write_value(value)
    if len(text) <= _LINE_WIDTH or not isinstance(value, list | tuple):
        return text
    return "[\n" + "".join(f"  {write_value(item)},\n" for item in value) + "]"


def split_override(text: str) -> tuple[list[str], Any]:
    """The key and the value of an override such as ``cluster.servers=128``.

    Args:
        text: KEY=VALUE. A part of the key that has dots of its own stands in quotes.

    Returns:
        The parts of the key, and the value: as TOML where it is TOML, else as text.

    Raises:
        ConfigError: It is not KEY=VALUE.
    """
    match = re.match(r"""((?:"[^"]*"|'[^']*'|[^"'=])+)=(.*)""", text, re.DOTALL)
    if match is None:
        remedy = "write it as in cluster.servers=128"
        raise ConfigError("an override is KEY=VALUE", remedy, key="--set", value=show(text))
    key, value = match.group(1).strip(), match.group(2).strip()
    parts = split_key(key)
    if not all(parts):
        raise ConfigError("the key has an empty part", key="--set", value=show(text))
    if not value:
        remedy = f'give one, or write {key}="" for empty text'
        raise ConfigError("the value is missing", remedy, key="--set", value=show(text))
    return parts, parse_value(value)


def split_key(key: str) -> list[str]:
    """The parts of a dotted key, quotes removed.

    >>> split_key('study.sweep."cluster.servers"')
    ['study', 'sweep', 'cluster.servers']
    """
    parts = re.findall(r"""(?:"[^"]*"|'[^']*'|[^".'])+|(?<=\.)(?=\.|$)|^(?=\.)""", key)
    return [part.strip().strip("\"'") for part in parts]


def parse_value(text: str) -> Any:
    """A value as TOML reads it, or `text` itself where it is not TOML.

    >>> parse_value("128"), parse_value('["a"]'), parse_value("20 TiB")
    (128, ['a'], '20 TiB')
    """
    try:
        table = tomllib.loads(f"value = {text}")
    except (tomllib.TOMLDecodeError, RecursionError):
        return text
    return table["value"] if list(table) == ["value"] else text
