"""Lines of a listing with ages by the block: columns of numbers, where every line is a plain one.

What is plain is read by Arrow. A block with anything else in it (a comment, a tab, a field that is
no number, a line with too few) is told from plain ones and left to be read line by line, which says
what is wrong and where; a test holds both to the same answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv as csv

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_NEWLINE, _SPACE, _DASH = b"\n -"
# Bytes that end a line or part words for the reader of lines, and for Arrow mean something else.
_ODD = (b"\r", b"\t", b"\v", b"\f", b"\0")
_OWNERS = pa.dictionary(pa.int32(), pa.binary())


@dataclass(frozen=True)
class Columns:
    """The files of a block.

    Attributes:
        sizes: Bytes: shape (files,).
        times: The latest time, or the age in days: shape (files,).
        owners: The number of each file's owner among `names`: shape (files,).
        names: The owners; one without a name where the listing has none.
    """

    sizes: Ints
    times: Floats
    owners: Ints
    names: list[bytes]


def ne2scan_columns(block: bytes) -> Columns | None:
    """Lines of ne2scan: ``atime|ctime|mtime|uid|gid|mode|size|...``.

    Args:
        block: Whole lines.

    Returns:
        Their columns; None where some line is not plain.
    """
    table = _heads(block, "|", "iiio..i..")
    if table is None:
        return None
    times = np.maximum(np.maximum(_of(table, 0), _of(table, 1)), _of(table, 2))
    return _checked(_of(table, 6), times.astype(np.float64), table.column("3"))


def find_columns(block: bytes) -> Columns | None:
    """Lines of ``find -printf '%s %A@ %C@ %T@ %U %p\\n'``; see `ne2scan_columns`."""
    table = _heads(block, " ", "ifffo")
    if table is None:
        return None
    times = np.maximum(np.maximum(_of(table, 1), _of(table, 2)), _of(table, 3))
    found = _checked(_of(table, 0), times, table.column("4"))
    # An owner without a name is a second space, which parts words as one does.
    return None if found is None or b"" in found.names else found


def gpfs_columns(block: bytes) -> Columns | None:
    """Lines of a list of GPFS: ``inode generation snapshot size days [days ...] -- path``.

    See `ne2scan_columns`.
    """
    letters = np.frombuffer(block, dtype=np.uint8)
    starts, ends = _lines(letters)
    is_end = (letters[:-3] == _SPACE) & (letters[3:] == _SPACE)
    is_end &= (letters[1:-2] == _DASH) & (letters[2:-1] == _DASH)
    cuts = np.flatnonzero(is_end)
    which = np.searchsorted(cuts, starts)
    if not len(starts) or which[-1] >= len(cuts) or (cuts[which] >= ends).any():
        return None
    heads = _cut(letters, starts, cuts[which], ends)
    # Words may stand several spaces apart.
    words = np.frombuffer(heads, dtype=np.uint8)
    is_space = words == _SPACE
    before = np.concatenate(([True], is_space[:-1] | (words[:-1] == _NEWLINE)))
    after = np.append(words[1:] == _NEWLINE, True)
    heads = words[~(is_space & (before | after))].tobytes()
    count = heads[: heads.find(b"\n")].count(b" ") + 1
    if count < 5:
        return None
    table = _read(heads, " ", "iiii" + "ii"[: count - 4] + "." * (count - 6))
    if table is None or (_of(table, 0) < 0).any() or (_of(table, 1) < 0).any():
        return None
    ages = _of(table, 4) if count == 5 else np.minimum(_of(table, 4), _of(table, 5))
    return _checked(_of(table, 3), ages.astype(np.float64), None)


def _lines(letters: npt.NDArray[np.uint8]) -> tuple[Ints, Ints]:
    """Where lines begin and end."""
    ends = np.flatnonzero(letters == _NEWLINE)
    if len(letters) and letters[-1] != _NEWLINE:
        ends = np.append(ends, len(letters))
    starts = np.concatenate(([0], ends[:-1] + 1)) if len(ends) else ends
    return starts.astype(np.int64), ends.astype(np.int64)


def _heads(block: bytes, delimiter: str, kinds: str) -> pa.Table | None:
    """The first fields of every line as `_read` gives them; what follows may hold the delimiter."""
    letters = np.frombuffer(block, dtype=np.uint8)
    starts, ends = _lines(letters)
    parts = np.flatnonzero(letters == ord(delimiter))
    first = np.searchsorted(parts, starts)
    last = first + len(kinds) - 1
    if not len(starts) or last[-1] >= len(parts):
        return None
    cuts = parts[last]
    if (cuts >= ends).any():
        return None
    each = np.diff(first, append=len(parts))
    if (each == each[0]).all() and not _is_odd(block):
        return _read(block, delimiter, kinds + "." * (int(each[0]) + 1 - len(kinds)))
    return _read(_cut(letters, starts, cuts, ends), delimiter, kinds)


def _cut(letters: npt.NDArray[np.uint8], starts: Ints, cuts: Ints, ends: Ints) -> bytes:
    """Lines from their start up to a cut, each with its end."""
    step = np.zeros(len(letters) + 1, dtype=np.int8)
    step[starts] = 1
    step[cuts] -= 1
    is_kept = np.cumsum(step[:-1], dtype=np.int8).view(bool)
    is_kept[ends[ends < len(letters)]] = True
    return bytes(letters[is_kept].tobytes())


def _read(heads: bytes, delimiter: str, kinds: str) -> pa.Table | None:
    """Fields as columns: i whole numbers, f numbers, o owners, and others left out."""
    if _is_odd(heads) or heads.startswith(b"#") or b"\n#" in heads:
        return None
    names = [str(number) for number in range(len(kinds))]
    types = {"i": pa.int64(), "f": pa.float64(), "o": _OWNERS}
    wanted = {name: types[kind] for name, kind in zip(names, kinds, strict=True) if kind in types}
    try:
        return csv.read_csv(
            pa.BufferReader(heads),
            csv.ReadOptions(use_threads=False, block_size=2**30, column_names=names),
            csv.ParseOptions(delimiter=delimiter, quote_char=False, ignore_empty_lines=False),
            csv.ConvertOptions(
                column_types=wanted, include_columns=list(wanted), null_values=[], check_utf8=False
            ),
        )
    except pa.ArrowInvalid:
        return None


def _is_odd(text: bytes) -> bool:
    return any(odd in text for odd in _ODD)


def _of(table: pa.Table, number: int) -> Any:
    return table.column(str(number)).to_numpy()


def _checked(sizes: Ints, times: Floats, owners: pa.ChunkedArray | None) -> Columns | None:
    """The columns, unless a size is below zero or a time is none."""
    if (sizes < 0).any() or not (np.abs(times) < 2**53).all():
        return None
    if owners is None:
        return Columns(sizes, times, np.zeros(len(sizes), dtype=np.int64), [b""])
    whole = owners.combine_chunks()
    whole = whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole
    numbers = np.asarray(whole.indices.to_numpy(zero_copy_only=False), dtype=np.int64)
    return Columns(sizes, times, numbers, whole.dictionary.to_pylist())
