"""Answers as bytes, as the core in a page writes them: its `decode` reads both.

The form is that of `crates/web/src/answer.rs`: 4 bytes that say how long the header is, the header
in JSON with blanks up to a multiple of 8 bytes, and behind it the arrays of columns.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from resilver.errors import ConfigError, PlacementError, ResilverError

_ALIGNMENT = 8

_CLASSES = {ConfigError: "config", PlacementError: "placement", ResilverError: "simulation"}


def encode_state(state: str, **values: Any) -> bytes:
    """An answer without tables: how far a run is, or what is wrong.

    Args:
        state: Such as ``working`` or ``healing``.
        values: What else the header says, JSON-able.
    """
    return _packed({"state": state, **values}, [])


def encode_failure(error: ResilverError) -> bytes:
    """The answer that says why there is no run, or no more of it.

    Args:
        error: What ended it.
    """
    return encode_state("failed", **told(error))


def told(error: ResilverError) -> dict[str, str]:
    """An error as a page reads it.

    Returns:
        Its ``class``, which is the core's word for it, and its ``message``.
    """
    word = next(word for of, word in _CLASSES.items() if isinstance(error, of))
    return {"class": word, "message": str(error)}


def encode_done(digest: str, tables: Mapping[str, pa.Table]) -> bytes:
    """The answer of a run that came to its end.

    Args:
        digest: The run's digest.
        tables: Its tables by name, with columns of whole numbers of 32 or 64 bits, floating-point
            numbers, flags and texts.

    Raises:
        TypeError: A column has another type, which the form does not know.
    """
    columns = _Columns()
    entries = [
        {
            "name": name,
            "rows": table.num_rows,
            "columns": [columns.add(one, table[one]) for one in table.column_names],
        }
        for name, table in tables.items()
    ]
    return _packed({"state": "done", "digest": digest, "tables": entries}, columns.parts)


def _packed(header: Mapping[str, Any], arrays: list[bytes]) -> bytes:
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode(errors="replace")
    text += b" " * (-(4 + len(text)) % _ALIGNMENT)
    return b"".join([len(text).to_bytes(4, "little"), text, *arrays])


class _Columns:
    """Arrays behind each other, each at a multiple of 8 bytes."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self._length = 0

    def _put(self, *parts: bytes) -> int:
        """Add one array; return where it begins."""
        blank = bytes(-self._length % _ALIGNMENT)
        offset = self._length + len(blank)
        self.parts += [blank, *parts]
        self._length = offset + sum(map(len, parts))
        return offset

    def add(self, name: str, column: pa.ChunkedArray) -> dict[str, Any]:
        """Add a column; return its entry in the header."""
        kind = _kind(name, column.type)
        if kind == "null":
            return {"name": name, "kind": kind, "offset": 0, "valid": None}
        if kind == "text":
            offset = self._put(*_texts(column))
        else:
            blank, of_bytes = _NUMBERS[kind]
            cells = pc.fill_null(column, blank).to_numpy()
            offset = self._put(np.ascontiguousarray(cells, of_bytes).tobytes())
        valid = None
        # A number that is not one says by itself that there is none.
        if column.null_count and kind != "float64":
            valid = self._put(np.asarray(pc.is_valid(column)).astype("u1").tobytes())
        return {"name": name, "kind": kind, "offset": offset, "valid": valid}


_NUMBERS: dict[str, tuple[Any, str]] = {
    "int32": (0, "<i4"),
    "int64": (0, "<i8"),
    "float64": (float("nan"), "<f8"),
    "flag": (False, "u1"),
}
"""By kind, what stands where there is no value, and the bytes of one value."""

_KINDS = {
    pa.int32(): "int32",
    pa.int64(): "int64",
    pa.uint64(): "int64",
    pa.float64(): "float64",
    pa.bool_(): "flag",
    pa.string(): "text",
    pa.null(): "null",
}


def _kind(name: str, type: pa.DataType) -> str:
    if type not in _KINDS:
        known = ", ".join(map(str, _KINDS))
        raise TypeError(f"column {name}: {type}: an answer's columns are of {known}; cast it")
    return _KINDS[type]


def _texts(column: pa.ChunkedArray) -> tuple[bytes, bytes]:
    """Where each text begins and the last one ends, and all texts."""
    texts = [text.encode() for text in pc.fill_null(column, "").to_pylist()]
    ends = np.cumsum([0, *map(len, texts)], dtype="<u4")
    return ends.tobytes(), b"".join(texts)
