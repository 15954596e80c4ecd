"""Reading text, TOML and JSON files, with errors that name the file and the position.

A file whose name ends in ``.gz`` is read as what gzip compressed in it.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import math
import re
import tomllib
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from resilver.errors import ConfigError

CRUSH_MAGIC = b"\x00\x00\x01\x00"
"""What a binary CRUSH map begins with: 0x00010000, little-endian (Ceph, crush/crush.h)."""

INPUT_MAX = 2**30
"""The most bytes of a file that is read whole: no map or report of a cluster comes near."""

KEPT_FOLDER = "inputs"
"""The folder in a run folder where the files are that its study read."""

KEPT_DIGITS = 16
"""How many digits of the SHA-256 of such a file its name begins with."""

_KEPT = re.compile(rf"(?P<hash>[0-9a-f]{{{KEPT_DIGITS}}})-(?P<name>.+?)(?:\.gz)?", re.DOTALL)

_SPACES = re.compile(r"[ \t\r\n]*")

_REST = re.compile(r"[ \t\r]*(?:\n|\Z)(?!(?s:.*)^[ \t]*[\[{]\s*[\"{])", re.MULTILINE)
"""What may follow a document on its lines: nothing, and after them no other document."""

_DOTS_MAX = 64

_DOTTED = re.compile(rf"(?<![^\n=,{{[])(?:[^\n.=,[\]{{}}]*+\.){{{_DOTS_MAX + 1}}}")
"""A key of so many dots that `tomllib`, whose time is their square, hangs."""

_TOML_TEXTS = re.compile(
    r""""{3}(?:\\.|[^\\])*?"{3}|'{3}.*?'{3}|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|#[^\n]*""", re.DOTALL
)
"""Texts and comments of TOML, in which dots mean nothing."""

_TOML_POSITION = re.compile(
    r"^(.*) \(at (?:line (\d+), column (\d+)|end of document)\)$", re.DOTALL
)


def read_text(path: Path) -> str:
    """The text of a UTF-8 file, without a byte order mark.

    Args:
        path: The file.

    Returns:
        Its whole text.

    Raises:
        ConfigError: It is missing, a folder, unreadable or not UTF-8.
    """
    return decode(read_bytes(path), path)


def name_of(path: Path) -> str:
    """The name of an input file, without what a run folder adds where it keeps it.

    >>> name_of(Path("inputs/0123456789abcdef-report.json.gz"))
    'report.json'
    """
    kept = _kept(path)
    return kept["name"] if kept else path.name


def stands_in_run_folder(path: Path) -> bool:
    """Whether a path is that of an input as a run folder keeps it."""
    return _kept(path) is not None


def _kept(path: Path) -> re.Match[str] | None:
    """The hash and the name in the name of a file that a run folder keeps; None for others."""
    return _KEPT.fullmatch(path.name) if path.parent.name == KEPT_FOLDER else None


def read_bytes(path: Path) -> bytes:
    """The bytes of a file, of one that gzip compressed those within.

    Args:
        path: The file.

    Returns:
        Its whole content.

    Raises:
        ConfigError: It is missing, a folder or unreadable; or it stands for an input that a run
            folder keeps, and is another.
    """
    kept = _kept(path)
    try:
        with path.open("rb") as plain:
            file = gzip.GzipFile(fileobj=plain) if path.suffix == ".gz" else plain
            data = file.read(INPUT_MAX + 1)
    except FileNotFoundError:
        if kept:
            rule = "the run folder does not hold this input of its study"
            what = f'"{kept["name"]}" whose SHA-256 begins with {kept["hash"]}'
            refuse(path, rule, f"put the {what} there under this name")
        refuse(
            path,
            "there is no such file",
            "check the path; in a study file it is relative to the folder that the file is in",
        )
    except IsADirectoryError:
        refuse(path, "this is a folder, not a file", "name a file in it")
    except (gzip.BadGzipFile, EOFError, zlib.error):
        refuse(path, "this is not what gzip writes, or not all of it", "fetch the file again")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        refuse(path, f"the file cannot be read: {reason}")
    if len(data) > INPUT_MAX:
        refuse(path, "it holds more than 1 GiB, or never ends", "give a file of the cluster")
    if kept and not hashlib.sha256(data).hexdigest().startswith(kept["hash"]):
        rule = "this is not the input that the study was run with: its SHA-256 is another"
        refuse(path, rule, f'put the right "{kept["name"]}" there')
    return data


def decode(data: bytes, path: Path | str) -> str:
    """`data`, read from `path`, as UTF-8 text.

    Args:
        data: The bytes.
        path: Where they came from, for the message.

    Returns:
        The text, without a byte order mark.

    Raises:
        ConfigError: The bytes are not UTF-8.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        refuse(
            path,
            f"the file is not UTF-8 text: byte {error.start} is 0x{data[error.start]:02x}",
            "save it as UTF-8",
        )


def parse_toml(text: str, path: Path) -> dict[str, Any]:
    """The tables of a TOML document.

    Args:
        text: The document.
        path: Where it came from, for the message.

    Returns:
        Its top-level table.

    Raises:
        ConfigError: A syntax error, with its line and column.
    """
    if _DOTTED.search(_TOML_TEXTS.sub("text", text)):
        refuse(path, f"not usable TOML: a key has more than {_DOTS_MAX} dots", "write shorter keys")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        match = _TOML_POSITION.match(str(error))
        if match is None:
            refuse(path, f"not valid TOML: {error}")
        what, line, column = match.groups()
        place = f"{path}, line {line}, column {column}" if line else f"{path}, at its end"
        raise ConfigError(f"not valid TOML: {what[0].lower()}{what[1:]}", place=place) from None
    except RecursionError:
        refuse(path, "not usable TOML: its values are nested too deeply")


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a TOML file; see `parse_toml`.

    Args:
        path: The file.

    Returns:
        Its top-level table.

    Raises:
        ConfigError: The file cannot be read, or has a syntax error.
    """
    return parse_toml(read_text(path), path)


def parse_json(
    text: str,
    path: Path | str,
    *,
    begin: int = 0,
    slim: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
) -> Any:
    """The value of a JSON document; NaN and infinities, which Python would accept, are refused.

    Args:
        text: The document. With `begin` or `slim`, lines of other text may follow it.
        path: Where it came from, for the message.
        begin: Where in the text it begins.
        slim: What makes of each object the one that is kept.

    Returns:
        The value.

    Raises:
        ConfigError: A syntax error, with its line, its column and what was expected there.
    """

    def number(digits: str) -> float:
        value = float(digits)
        if not math.isfinite(value):
            raise _NotFinite(digits)
        return value

    def constant(name: str) -> NoReturn:
        raise _NotFinite(name)

    decoder = json.JSONDecoder(object_hook=slim, parse_float=number, parse_constant=constant)
    try:
        if not begin and slim is None:
            return decoder.decode(text)
        value, end = decoder.raw_decode(text, _SPACES.match(text, begin).end())  # type: ignore[union-attr]
        if not _REST.match(text, end):
            raise json.JSONDecodeError("Extra data", text, end)
        return value
    except json.JSONDecodeError as error:
        place = f"{path}, line {error.lineno}, column {error.colno}"
        cut = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")
        what = _lower(error.msg).replace("expecting", "expected")
        if error.msg.startswith("Unterminated string"):
            what = "the text that begins here has no closing quote"
        remedy = "the file seems to be cut off; fetch it again" if cut else ""
        raise ConfigError(f"not valid JSON: {what}", remedy, place=place) from None
    except _NotFinite as error:
        position = text.find(error.token)
        line = text.count("\n", 0, position) + 1
        column = position - text.rfind("\n", 0, position)
        place = f"{path}, line {line}, column {column}"
        raise ConfigError(
            f"{error.token[:40]} is not a JSON number", "expected a finite number", place=place
        ) from None
    except RecursionError:
        refuse(path, "not usable JSON: its values are nested too deeply")
    except ValueError as error:  # An integer of more digits than Python converts.
        refuse(path, f"not usable JSON: {_lower(str(error))}")


def refuse(path: Path | str, rule: str, remedy: str = "") -> NoReturn:
    """Raise a `ConfigError` about a file or a position in one.

    Args:
        path: The file, or text such as ``sizes.txt, line 3``.
        rule: What is wrong.
        remedy: What to do about it.

    Raises:
        ConfigError: Always.
    """
    raise ConfigError(rule, remedy, place=str(path))


class _NotFinite(Exception):
    def __init__(self, token: str) -> None:
        super().__init__(token)
        self.token = token


def _lower(message: str) -> str:
    return message[:1].lower() + message[1:]
