"""The walk of a live tree of folders, which the core performs on many threads.

What a walk waits for is the file system: on one that answers over a network, more threads than
processors have the answers of many folders awaited at once. Symbolic links are not followed. Rows
come in batches, so that memory does not grow with their number.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from resilver.errors import ConfigError, show
from resilver.text import refuse

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class LeftOut:
    """What was met and not counted.

    Attributes:
        symbolic_links: Symbolic links, which are not followed.
        special_files: Sockets, pipes and devices.
        further_names: Further names of files that have several (hard links).
        other_file_systems: Folders on which another file system is mounted.
        unreadable: Folders and files that could not be read, such as for want of permission.
        vanished: Folders and files that were gone when their turn came.
        without_size: Entries of a listing that have no size, such as delete markers.
        too_large: Files above 1 PiB, which a population cannot have.
        examples: Some of what could not be read, each with the reason.
    """

    symbolic_links: int = 0
    special_files: int = 0
    further_names: int = 0
    other_file_systems: int = 0
    unreadable: int = 0
    vanished: int = 0
    without_size: int = 0
    too_large: int = 0
    examples: tuple[str, ...] = ()

    def counts(self) -> dict[str, int]:
        """The counts by name, those above zero."""
        found = {name: value for name, value in vars(self).items() if name != "examples"}
        return {name: value for name, value in found.items() if value}


def printable(text: str) -> str:
    """Text without the line ends and control characters that a file's name may have.

    >>> printable("a\\nb")
    'a\\\\nb'
    """
    clean = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
        for char in clean
    )


WORKERS_DEFAULT = 8
WORKERS_MAX = 256
_WAIT_MILLISECONDS = 100
_COLUMNS = (
    *("folder", "name", "raw_path", "kind", "size_bytes", "allocated_bytes"),
    *("accessed", "modified", "changed", "owner", "links", "stripes"),
)
_MAY_LACK = ("raw_path", "stripes")


class WalkProgress(NamedTuple):
    """How far a walk is; how much is left is not known before its end.

    Attributes:
        files: Files counted, and what else is no folder.
        folders: Folders read.
        pending: Folders found and not yet read.
        seconds: Time since the beginning.
    """

    files: int
    folders: int
    pending: int
    seconds: float


class KindTotal(NamedTuple):
    """Of one kind of entry: how many, their apparent bytes, and the bytes that they occupy."""

    entries: int
    size_bytes: int
    allocated_bytes: int


class TreeWalk:
    """A walk under way; a context, whose end ends it.

    Args:
        folder: The folder. It may be a symbolic link itself.
        workers: Threads that read folders.
        one_file_system: Stay out of folders on which another file system is mounted.
        every_name: Count a file of several names by each; otherwise by the first that is met.
        with_rows: Give rows; otherwise `batches` gives none, and totals alone are kept.

    Raises:
        ConfigError: The folder cannot be read, or there are no such numbers of threads.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        workers: int = WORKERS_DEFAULT,
        one_file_system: bool = True,
        every_name: bool = False,
        with_rows: bool = True,
    ) -> None:
        whole = isinstance(workers, int) and not isinstance(workers, bool)
        if not whole or not 1 <= workers <= WORKERS_MAX:
            rule = f"threads are a whole number from 1 to {WORKERS_MAX}"
            raise ConfigError(rule, key="threads", value=show(workers))
        # The core may not be built yet where only names are asked for, as in the documentation.
        from resilver import _core

        self.root = Path(folder).expanduser()
        self._begun = time.monotonic()
        self._seconds = 0.0
        place = printable(str(self.root))
        try:
            self._walk = _core.Walk(
                os.fsencode(self.root), workers, one_file_system, every_name, with_rows
            )
        except FileNotFoundError:
            refuse(place, "there is no such folder", "check the path")
        except NotADirectoryError:
            refuse(place, "this is not a folder", "a listing is read without --scan")
        except (OSError, ValueError) as error:
            refuse(place, f"the folder cannot be read: {_reason(error)}")

    def __enter__(self) -> Self:
        """The walk itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End it."""
        self._walk.stop()

    def batches(
        self, progress: Callable[[WalkProgress], None] | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Its rows until it ends; columns are those of `resilver.importers.scanned`.

        Args:
            progress: Called some ten times a second, and once at the end.
        """
        said = 0.0
        is_ended = False
        while not is_ended:
            columns, is_ended = self._walk.next(_WAIT_MILLISECONDS)
            self._seconds = time.monotonic() - self._begun
            if progress is not None and (is_ended or self._seconds - said >= 0.1):
                said = self._seconds
                files, folders, pending, _ = self._walk.progress()
                progress(WalkProgress(files, folders, pending, self._seconds))
            if columns is not None:
                yield _batch(columns)

    @property
    def seconds(self) -> float:
        """How long it has taken up to the batch taken last."""
        return self._seconds

    def totals(self) -> dict[str, KindTotal]:
        """What was counted, by kind: file, folder, link, special."""
        return {kind: KindTotal(*found) for kind, found in self._walk.totals().items()}

    def left_out(self, too_large: int = 0) -> LeftOut:
        """What was not counted, with the first of the reasons by name.

        Args:
            too_large: Files that the caller leaves out.
        """
        counts, examples = self._walk.left_out()
        totals = self.totals()
        said = []
        for path, number in examples:
            name = os.path.join(os.fsencode(self.root), path) if path else os.fsencode(self.root)
            said.append(f"{printable(os.fsdecode(name))}: {os.strerror(number)}")
        return LeftOut(
            symbolic_links=totals["link"].entries,
            special_files=totals["special"].entries,
            too_large=too_large,
            examples=tuple(said),
            **counts,
        )


def _batch(columns: dict[str, Any]) -> pa.RecordBatch:
    """Return the rows of the core's columns: texts are one string and its edges, without copies."""
    import pyarrow as pa

    def texts(name: str) -> pa.StringArray:
        edges, text = columns[name]
        return pa.StringArray.from_buffers(edges.size - 1, pa.py_buffer(edges), pa.py_buffer(text))

    raw: list[bytes | None] = [None] * columns["kind"].size
    for row, path in columns["raw_path"]:
        raw[row] = path
    arrays = {
        "folder": pa.DictionaryArray.from_arrays(columns["folder"], texts("folders")),
        "name": texts("name"),
        "raw_path": pa.array(raw, pa.binary()),
        "kind": pa.DictionaryArray.from_arrays(columns["kind"], pa.array(columns["kinds"])),
        "stripes": pa.array(columns["stripes"], mask=columns["stripes"] < 0),
    }
    for name in ("size_bytes", "allocated_bytes", "owner", "links"):
        arrays[name] = pa.array(columns[name])
    for name in ("accessed", "modified", "changed"):
        arrays[name] = pa.array(columns[name]).view(pa.timestamp("us", tz="UTC"))
    schema = pa.schema(
        [pa.field(name, arrays[name].type, nullable=name in _MAY_LACK) for name in _COLUMNS]
    )
    return pa.record_batch([arrays[name] for name in _COLUMNS], schema=schema)


def _reason(error: OSError | ValueError) -> str:
    number = getattr(error, "errno", None) or 0
    return os.strerror(number) if number in errno.errorcode else str(error)
