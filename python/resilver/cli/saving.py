"""Files that commands write: whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from resilver.errors import ConfigError
from resilver.words import either

PAGES = (".html", ".htm")
TABLES = (".csv", ".parquet")
PICTURES = (".png", ".svg", ".pdf")


def save_whole(path: Path, content: bytes | str) -> None:
    """Write a file whole or not at all.

    Args:
        path: A file; a link is followed, and a device or a pipe is written in place.
        content: Its bytes, or its text, which is written as UTF-8, other bytes as in `write_page`.

    Raises:
        ConfigError: It cannot be written.
    """
    from resilver.study.files import replace_file

    data = content.encode(errors="backslashreplace") if isinstance(content, str) else content
    try:
        if path.is_file() or not path.exists():
            replace_file(path.resolve(), lambda temporary: temporary.write_bytes(data))
        else:
            path.write_bytes(data)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(
            f"'{path}' cannot be written: {reason}; name a file in a folder that exists and is "
            "yours"
        ) from error


def keep_inputs(output: Path | None, inputs: Iterable[Path | str | None]) -> None:
    """Refuse to write over a file that the same command reads.

    Args:
        output: The file to be written; None is none.
        inputs: The files that are read; None among them is passed over, and so is ``-``.

    Raises:
        ConfigError: The output is one of them, by whatever name.
    """
    if output is None or not output.exists():
        return
    for path in (Path(given) for given in inputs if given is not None):
        # A word that is too long for a name is no file.
        if os.path.exists(path) and path.samefile(output):
            rule = f"'{path}' is read by this command, and would be lost"
            raise ConfigError(rule, "name another file", key="--output", value=str(output))


def check_output(
    path: Path | None,
    suffixes: Sequence[str] = PAGES,
    reads: Iterable[Path | str | None] = (),
    option: str = "--output",
) -> None:
    """Refuse a place where an answer cannot go, before anything is computed for it.

    Args:
        path: The file to be written; None for none.
        suffixes: The endings of names that the answer is written by; none where all are.
        reads: The files that the command reads; None among them is passed over, and so is ``-``.
        option: What names the place.

    Raises:
        ConfigError: The command reads it, its name ends otherwise, or it cannot be written.
    """
    if path is None:
        return
    try:
        path.resolve().exists()
    except (OSError, RuntimeError) as error:
        # A link to itself, or a name that is too long.
        rule = f"it cannot be written: {getattr(error, 'strerror', None) or error}"
        raise ConfigError(rule, "choose another place", place=str(path)) from None
    keep_inputs(path, reads)
    is_file = path.is_file() or not path.exists()
    if suffixes and is_file and path.suffix.lower() not in suffixes:
        rule = f"the answer is written as {either(suffixes)}"
        remedy = f'use a name such as "{path.stem}{suffixes[0]}"'
        raise ConfigError(rule, remedy, key=option, value=f'"{path}"')
    rule = ""
    if path.is_dir():
        rule = "this is a folder, not a file"
    elif not path.parent.is_dir():
        rule = f"there is no folder {path.parent}"
    elif not os.access(path if path.exists() else path.parent, os.W_OK):
        rule = "it cannot be written"
    if rule:
        raise ConfigError(rule, "choose another place", place=str(path))
