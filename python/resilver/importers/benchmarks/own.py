"""The table of benchmarks as CSV and Parquet: written, and read again."""

from __future__ import annotations

import csv
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any, get_type_hints

from resilver.errors import name_remedy, show
from resilver.importers.benchmarks.table import (
    COLUMNS,
    LAYERS,
    RATE_MOST,
    Benchmark,
    Benchmarks,
    Found,
    count_of,
)
from resilver.importers.csv_rows import plain_cell
from resilver.importers.fio import MODES
from resilver.importers.parquet import reading
from resilver.text import refuse

_KINDS = get_type_hints(Benchmark)
_REMEDY = "give the file as `resilver import benchmark -o` wrote it"


def to_csv(table: Benchmarks) -> str:
    """The table as CSV, with nothing where a value is not known."""
    text = StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for row in table.to_dicts():
        writer.writerow({name: plain_cell(cell) for name, cell in row.items()})
    return text.getvalue()


def to_parquet(table: Benchmarks) -> bytes:
    """The table as a Parquet file's bytes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {int | None: pa.int64(), float | None: pa.float64()}
    schema = pa.schema([(name, kinds.get(_KINDS[name], pa.string())) for name in COLUMNS])
    sink = BytesIO()
    pq.write_table(pa.Table.from_pylist(table.to_dicts(), schema=schema), sink)
    return sink.getvalue()


def is_own(text: str) -> bool:
    """Whether a text begins with the table's header."""
    return text.partition("\n")[0].strip() == ",".join(COLUMNS)


def read_own(text: str, path: Path) -> Found:
    """Read the table's CSV.

    Returns:
        Its rows, which name the files that they are of.

    Raises:
        ConfigError: A cell is not what its column says.
    """
    try:
        rows = list(csv.DictReader(StringIO(text), strict=True))
    except csv.Error as error:
        refuse(path, f"this is not valid CSV: {error}", "is the file cut off?")
    for row in rows:
        for name, cell in row.items():
            # `to_csv` wrote the quote.
            if isinstance(cell, str) and cell.startswith("'") and plain_cell(cell[1:]) == cell:
                row[name] = cell[1:]
    return _found(rows, path)


def read_own_parquet(data: bytes, path: Path) -> Found:
    """Read the table's Parquet file; see `read_own`."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with reading(path, _REMEDY):
        rows = pq.read_table(pa.BufferReader(data)).to_pylist()
    if rows and tuple(rows[0]) != COLUMNS:
        refuse(
            path,
            f"this is another table: its columns begin with {show(next(iter(rows[0])))}",
            _REMEDY,
        )
    texts = [
        {name: "" if cell is None else str(cell) for name, cell in row.items()} for row in rows
    ]
    return _found(texts, path)


def _found(rows: list[dict[str, Any]], path: Path) -> Found:
    found = Found(path, "")
    for number, row in enumerate(rows, start=2):
        place = f"{path}, line {number}"
        if None in row or None in row.values():
            refuse(place, f"it has not {len(COLUMNS)} values", _REMEDY)
        found.rows.append(Benchmark(**{name: _cell(row[name], name, place) for name in COLUMNS}))
        _check(found.rows[-1], place)
    return found.whole("there is no rate in it", _REMEDY)


def _cell(text: str, name: str, place: str) -> Any:
    kind = _KINDS[name]
    if kind is str:
        return text
    if not text:
        return None
    if kind == int | None:
        return count_of(text, place, name)
    if kind == float | None:
        try:
            value = float(text)
        except ValueError:
            refuse(place, f"{name} = {show(text)} is not a number", _REMEDY)
        least = 0.0
        if not (least <= value <= RATE_MOST) or (value == 0.0 and not name.startswith("skew")):
            refuse(place, f"{name} = {show(text)}: this is not measured", "such as 5.2e8")
        return value
    return text


def _check(row: Benchmark, place: str) -> None:
    """That a row is of a layer and has the rate that such a row has."""
    if row.layer not in LAYERS:
        refuse(place, f"layer = {show(row.layer)}", name_remedy(row.layer, LAYERS, "layers"))
    is_data = row.layer != "metadata"
    if is_data and row.mode not in MODES:
        refuse(place, f"mode = {show(row.mode)}", name_remedy(str(row.mode), MODES, "modes"))
    if (row.bytes_per_second is None) == is_data or (row.operations_per_second is None) != is_data:
        refuse(place, "data has bytes_per_second, and metadata has operations_per_second", _REMEDY)
