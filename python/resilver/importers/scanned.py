"""The table of a scan: a row for each file and folder below one, as Parquet.

Columns: ``folder`` (below the one scanned; empty is that one) and ``name``, which together are the
path; ``raw_path``, its bytes where they are no UTF-8 (which stand as ``\\xff`` in the others);
``kind`` (file, folder, link, special); ``size_bytes`` and ``allocated_bytes``; ``accessed``,
``modified`` and ``changed``; ``owner``, the number; ``links``, how many names it has; ``stripes``,
objects on Lustre's object targets, where that is known. The file's metadata say what was scanned,
when, and what was left out.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resilver.errors import show
from resilver.importers.parquet import MAGIC, reading
from resilver.importers.walk import KindTotal, LeftOut, TreeWalk, WalkProgress, printable
from resilver.record import record
from resilver.text import refuse

if TYPE_CHECKING:
    import pyarrow as pa

_KEY = b"resilver.scan"
_BATCHES_A_GROUP = 8
_COLUMNS = {
    "folder": "string",
    "name": "string",
    "kind": "string",
    "size_bytes": "int64",
    "allocated_bytes": "int64",
    "accessed": "timestamp[us, tz=UTC]",
    "modified": "timestamp[us, tz=UTC]",
    "changed": "timestamp[us, tz=UTC]",
    "owner": "int64",
    "stripes": "int32",
}
"""What is read of a scan, and its type."""
_REMEDY = "give what resilver scan -o wrote"


@dataclass(frozen=True)
class Scanned:
    """What a scan says of itself.

    Attributes:
        root: The folder that was scanned.
        begun_seconds: When it began, since 1970, by the clock of the machine that scanned.
        seconds: How long it took.
        totals: What was counted, by kind: file, folder, link, special.
        left_out: What was met and not counted.
    """

    root: str
    begun_seconds: float
    seconds: float
    totals: dict[str, KindTotal] = field(repr=False)
    left_out: LeftOut

    @property
    def size_bytes(self) -> int:
        """The apparent bytes of its files."""
        return self.totals["file"].size_bytes

    @property
    def allocated_bytes(self) -> int:
        """What all entries occupy: what `du` counts."""
        return sum(total.allocated_bytes for total in self.totals.values())

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON can carry it."""
        return {
            **record(self, "root", "begun_seconds", "seconds"),
            "totals": {kind: total._asdict() for kind, total in self.totals.items()},
            "allocated_bytes": self.allocated_bytes,
            "left_out": self.left_out.counts(),
            "unreadable_examples": list(self.left_out.examples),
        }


def scan(
    walk: TreeWalk,
    output: Path | None = None,
    progress: Callable[[WalkProgress], None] | None = None,
) -> Scanned:
    """Perform a walk, and write its table.

    Args:
        walk: The walk, which has rows if there is an output.
        output: The Parquet file to write; None to count only.
        progress: Called a few times a second.

    Raises:
        OSError: The file cannot be written.
    """
    begun = time.time()
    batches = walk.batches(progress)
    if output is None:
        for _ in batches:
            pass
    else:
        _write(walk, batches, output, begun)
    return _scanned(walk, begun)


def _scanned(walk: TreeWalk, begun: float) -> Scanned:
    root = printable(str(walk.root.absolute()))
    return Scanned(root, begun, walk.seconds, walk.totals(), walk.left_out())


def _write(walk: TreeWalk, batches: Iterator[pa.RecordBatch], output: Path, begun: float) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    repeated = ["folder", "kind", "owner", "links", "stripes", "allocated_bytes"]
    # A walk has the row of its own folder at least.
    first = next(batches)
    with pq.ParquetWriter(output, first.schema, compression="lz4", use_dictionary=repeated) as file:
        held = [first]
        for batch in batches:
            held.append(batch)
            if len(held) == _BATCHES_A_GROUP:
                file.write_table(pa.Table.from_batches(held).unify_dictionaries())
                held = []
        if held:
            file.write_table(pa.Table.from_batches(held).unify_dictionaries())
        said = _scanned(walk, begun).to_dict()
        file.add_key_value_metadata({_KEY: json.dumps(said).encode()})


def is_scan(path: Path) -> bool:
    """Whether a file begins as a table of a scan does."""
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except (OSError, ValueError):
        return False


def read_scanned(path: Path) -> Scanned:
    """What the table of a scan says of itself.

    Raises:
        ConfigError: It cannot be read, is no Parquet, or is not of a scan.
    """
    import pyarrow.parquet as pq

    with reading(path, _REMEDY), pq.ParquetFile(path) as file:
        return _told(file, path)


def scanned_batches(path: Path, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Rows of the table of a scan, in batches.

    Raises:
        ConfigError: It cannot be read, is no Parquet, or is not of a scan.
    """
    import pyarrow.parquet as pq

    with reading(path, _REMEDY), pq.ParquetFile(path) as file:
        _told(file, path)
        yield from file.iter_batches(columns=list(columns))


def _told(file: Any, path: Path) -> Scanned:
    for name, kind in _COLUMNS.items():
        at = file.schema_arrow.get_field_index(name)
        found = str(file.schema_arrow.field(at).type) if at >= 0 else "not there"
        if found != kind and f"values={kind}," not in found:
            refuse(path, f"the column {name} of a scan is {kind}, and here it is {found}", _REMEDY)
    try:
        said = json.loads((file.metadata.metadata or {})[_KEY])
        totals = {kind: KindTotal(**said["totals"][kind]) for kind in said["totals"]}
        left_out = LeftOut(**said["left_out"], examples=tuple(said["unreadable_examples"]))
        return Scanned(
            str(said["root"]),
            float(said["begun_seconds"]),
            float(said["seconds"]),
            totals,
            left_out,
        )
    except (AttributeError, KeyError, OSError, TypeError, ValueError) as error:
        refuse(path, f"it does not say when and what was scanned: {show(str(error))}", _REMEDY)
