"""A study file as a page puts it together: blocks of keys, and what each choice makes of them.

A *block* is a table of the file with its header; its keys are dotted, each with its value as TOML
writes it. An *edit* says by dotted keys what goes, and which lines come in its place:

    {"clear": ["recovery.bandwidth"],
     "put": [["recovery", "[recovery]", "bandwidth", "\\"50 MiB/s\\""]]}

What goes is every block of that name or below it, and every key of another block that is named so
or below it. A line goes into the block of its name, which comes at the end where there is none yet;
one without a key is only the block.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from resilver.spec.section import Section
from resilver.spec.study import with_files
from resilver.spec.tables import to_plain
from resilver.spec.toml import write_key, write_value

Block = dict[str, Any]
Edit = dict[str, Any]


def stated(value: Any) -> Any:
    """What a study states of a section, without defaults, as a TOML file would hold it."""
    if isinstance(value, Section):
        plain = to_plain(value)
        if not isinstance(plain, dict) or "label" in type(value).model_fields:
            # A word, or a device, which is a name of the catalog or a table of its own.
            return plain
        given = {**value.given(), **(value.model_extra or {})}
        return {key: stated(one) for key, one in given.items() if key in plain}
    if isinstance(value, tuple | list) and any(isinstance(one, Section) for one in value):
        return [stated(one) for one in value]
    return to_plain(value)


def beside(value: Any, folder: Path) -> Any:
    """A plain value whose files are named as seen from the study's folder."""
    return with_files(value, lambda path: os.path.relpath(path, folder))


def blocks_of(tables: Mapping[str, Any]) -> list[Block]:
    """The blocks of the plain tables of a study."""
    blocks: list[Block] = []
    for name, table in tables.items():
        if isinstance(table, list):
            blocks += _listed(name, table)
            continue
        apart = {key: one for key, one in table.items() if _is_list_of_tables(one)}
        rest = {key: one for key, one in table.items() if key not in apart}
        blocks.append({"name": name, "header": f"[{name}]", "keys": list(_lines(rest))})
        for key, tables_below in apart.items():
            blocks += _listed(f"{name}.{key}", tables_below)
    return blocks


def edit_of(blocks: Iterable[Block], key: str, value: Any) -> Edit:
    """What another value of a dotted key makes of a study's blocks.

    Args:
        blocks: The blocks as they are.
        value: The plain value; None takes it away.
    """
    put: list[list[str]] = []
    if isinstance(value, list) and "." not in key:
        for block in _listed(key, value):
            put += _as_lines(block)
    elif isinstance(value, dict) and "." not in key:
        put += _as_lines({"name": key, "header": f"[{key}]", "keys": list(_lines(value))})
    elif value is not None:
        named = [one for one in blocks if key.startswith(f"{one['name']}.")]
        name = key.partition(".")[0]
        home = max(
            named, key=lambda one: len(one["name"]), default={"name": name, "header": f"[{name}]"}
        )
        below = key[len(home["name"]) + 1 :]
        put += [
            [home["name"], home["header"], *line] for line in _lines({below: value}, dotted=True)
        ]
    return {"clear": [key], "put": put}


def _is_list_of_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def _listed(name: str, tables: list[Any]) -> list[Block]:
    return [
        {"name": f"{name}.{at}", "header": f"[[{name}]]", "keys": list(_lines(table))}
        for at, table in enumerate(tables)
    ]


def _as_lines(block: Block) -> list[list[str]]:
    """The lines that put a whole block: first the block itself."""
    first = [block["name"], block["header"]]
    return [[*first, "", ""], *([*first, key, text] for key, text in block["keys"])]


def _lines(
    table: Mapping[str, Any], above: str = "", *, dotted: bool = False
) -> Iterator[list[str]]:
    """The dotted keys of a table with their values; its own keys may have dots already."""
    for key, value in table.items():
        name = above + (key if dotted else write_key(key))
        if isinstance(value, dict) and value:
            yield from _lines(value, f"{name}.")
        else:
            yield [name, write_value(value)]
