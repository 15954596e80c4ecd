"""Listings as streams of records, of any length and in bounded memory, gzipped or not."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple, NoReturn, Protocol

from resilver.text import refuse

HEAD_BYTES = 1 << 16
"""How much of a listing its format is told from."""

_CHUNK_BYTES = 1 << 20
_GZIP_MAGIC = b"\x1f\x8b"


class Readable(Protocol):
    """What bytes can be read from."""

    def read(self, size: int, /) -> bytes:
        """Up to so many bytes, none at the end."""
        ...


class Batch(NamedTuple):
    """Consecutive records.

    Attributes:
        first: The number of the first of them in the listing, from 1.
        records: The records, without their ends.
    """

    first: int
    records: list[bytes]


class Listing:
    """A listing that is being read.

    Args:
        stream: Where it comes from.
        place: What it is called in messages.

    Attributes:
        head: Its first bytes, unpacked; they are read again by `batches`.
        place: What it is called in messages.
    """

    def __init__(self, stream: BinaryIO, place: str) -> None:
        self.place = place
        self._source: Readable = stream
        self.head = self._read(HEAD_BYTES)
        if self.head.startswith(_GZIP_MAGIC):
            # GzipFile asks for no more than read(), which is why it takes what is no whole file.
            packed: BinaryIO = _Rejoined(self.head, stream)  # type: ignore[assignment]
            self._source = gzip.GzipFile(fileobj=packed)
            self.head = self._read(HEAD_BYTES)

    @property
    def separator(self) -> bytes:
        """What ends a record: a zero byte in the listings of ``find -print0`` and its like."""
        return b"\0" if b"\0" in self.head else b"\n"

    def batches(self) -> Iterator[Batch]:
        """The records, about a megabyte of them at a time.

        Raises:
            ConfigError: The listing cannot be read to its end, or a record is too long to be one.
        """
        number = 1
        for block in self.blocks():
            batch = self.batch(number, block)
            yield batch
            number += len(batch.records)

    def batch(self, first: int, block: bytes) -> Batch:
        """The records of a block, of which the first has this number."""
        records = block.split(self.separator)
        if not records[-1]:
            records.pop()
        return Batch(first, records)

    def blocks(self) -> Iterator[bytes]:
        """Whole records with their ends, about a megabyte at a time; the last end may be missing.

        Raises:
            ConfigError: The listing cannot be read to its end, or a record is too long to be one.
        """
        separator = self.separator
        chunk, rest, number = self.head, b"", 1
        while chunk:
            whole, end, rest = (rest + chunk).rpartition(separator)
            if len(rest) > _CHUNK_BYTES:
                line = number + whole.count(separator) + len(end)
                refuse(
                    f"{self.place}, line {line}",
                    f"the line is longer than {_CHUNK_BYTES} bytes",
                    "is this a listing, with one file a line?",
                )
            if end:
                number += whole.count(separator) + 1
                yield whole + end
            chunk = self._read(_CHUNK_BYTES)
        if rest:
            yield rest

    def refuse(self, line: int, rule: str, remedy: str = "") -> NoReturn:
        """Raise a `ConfigError` about a line, counted from 1."""
        refuse(f"{self.place}, line {line}", rule, remedy)

    def _read(self, size: int) -> bytes:
        """So many bytes unless the end comes before."""
        parts: list[bytes] = []
        while size > 0:
            try:
                part = self._source.read(size)
            except (EOFError, zlib.error) as error:
                refuse(
                    self.place, f"the gzipped data is damaged or cut off: {error}", "fetch it again"
                )
            except (OSError, ValueError) as error:
                refuse(
                    self.place, f"it cannot be read: {getattr(error, 'strerror', None) or error}"
                )
            if not part:
                break
            parts.append(part)
            size -= len(part)
        return b"".join(parts)


class _Rejoined:
    """A stream with the bytes in front that were already read from it."""

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self._head = head
        self._rest = rest

    def read(self, size: int, /) -> bytes:
        if self._head:
            part, self._head = self._head[:size], self._head[size:]
            return part
        return self._rest.read(size)
