"""`--affected`: what loses copies when parts of a cluster fail at once."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from resilver.cli.console import print_json, say
from resilver.cli.place.inputs import bracketed
from resilver.cli.place.request import PlaceRequest
from resilver.cli.place.source import ClusterSource, Source, StudySource
from resilver.errors import ConfigError
from resilver.units import format_bytes

if TYPE_CHECKING:
    import pyarrow as pa

    from resilver.spec.code import ErasureCode

_SUFFIXES = (".parquet", ".csv")


def print_affected(source: Source, request: PlaceRequest, *, as_json: bool) -> None:
    """Say what the failed parts held.

    Args:
        source: A cluster, whose groups are listed, or a study, whose objects are.
        request: What fails, and a file for the table.
        as_json: Print JSON: the groups, or the sums over a study's objects.

    Raises:
        ConfigError: A part is unknown, or the source is a bare map, which holds nothing.
    """
    if request.output is not None and request.output.suffix.lower() not in _SUFFIXES:
        raise ConfigError(
            f"-o {request.output}: the table is written as Parquet or CSV; name a file that ends "
            "in .parquet or .csv"
        )
    # Known before minutes of work, which would be lost.
    if request.output is not None and not request.output.parent.is_dir():
        raise ConfigError(
            f"-o {request.output}: there is no folder {str(request.output.parent)!r}; make it "
            "first, or choose another"
        )
    if isinstance(source, StudySource):
        _of_study(source, request, as_json=as_json)
    elif isinstance(source, ClusterSource):
        _of_cluster(source, request, as_json=as_json)
    else:
        raise ConfigError(
            f"--affected: {source.label!r} is a CRUSH map, which holds no data; give a "
            "`ceph report` or a STUDY.toml"
        )


def _of_study(source: StudySource, request: PlaceRequest, *, as_json: bool) -> None:
    from resilver.simulate import affected

    pools = source.pools(request.pool)
    if len(pools) > 1:
        names = ", ".join(source.system.pool_names)
        raise ConfigError(f"--affected: the study has the pools {names}; choose with --pool POOL")
    source = StudySource(source.label, pools[0])
    with _naming_the_option():
        table = affected(source.system, list(request.fail), seed=request.seed)
    code = source.system.code
    sums, words = (
        _sums_of_copies(table) if code is None else _sums_of_pieces(source, request, table, code)
    )
    _save(table, request.output)
    if as_json:
        print_json({"failed": list(request.fail), **sums})
        return
    sys.stdout.write(words + "\n")


def _sums_of_copies(table: pa.Table) -> tuple[dict[str, int], str]:
    """What lost copies come to, and a sentence of it."""
    import pyarrow.compute as pc

    sizes, lost = table["size_bytes"].to_numpy(), table["lost"].to_numpy()
    left = pc.list_value_length(table["survivors"]).to_numpy()
    sums = {
        "objects": table.num_rows,
        "bytes": int(sizes.sum()),
        "copies_lost": int(lost.sum()),
        "bytes_to_rebuild": int((sizes * lost)[left > 0].sum()),
        "objects_without_survivor": int(np.count_nonzero(left == 0)),
        "bytes_without_survivor": int(sizes[left == 0].sum()),
    }
    words = (
        f"{sums['objects']:,} objects ({format_bytes(sums['bytes'])}) lose "
        f"{sums['copies_lost']:,} copies; {format_bytes(sums['bytes_to_rebuild'])} to rebuild; "
        f"{sums['objects_without_survivor']:,} objects "
        f"({format_bytes(sums['bytes_without_survivor'])}) have no copy left"
    )
    return sums, words


def _sums_of_pieces(
    source: StudySource, request: PlaceRequest, table: pa.Table, code: ErasureCode
) -> tuple[dict[str, int], str]:
    """What lost pieces of a code come to, and a sentence of it."""
    from resilver.simulate import unrecoverable

    sizes, lost = table["size_bytes"].to_numpy(), table["lost"].to_numpy()
    objects = table["object"].to_numpy()
    gone = unrecoverable(source.system, objects, list(request.fail), seed=request.seed)
    # A piece is an object's size over the data pieces, rounded up.
    piece_bytes = -(-sizes // code.data)
    sums = {
        "objects": table.num_rows,
        "bytes": int(sizes.sum()),
        "pieces_lost": int(lost.sum()),
        "bytes_to_rebuild": int((piece_bytes * lost)[~gone].sum()),
        "objects_unrecoverable": int(np.count_nonzero(gone)),
        "bytes_unrecoverable": int(sizes[gone].sum()),
    }
    words = (
        f"{sums['objects']:,} objects ({format_bytes(sums['bytes'])}) lose "
        f"{sums['pieces_lost']:,} pieces; {format_bytes(sums['bytes_to_rebuild'])} to rebuild; "
        f"{sums['objects_unrecoverable']:,} objects "
        f"({format_bytes(sums['bytes_unrecoverable'])}) cannot be decoded any more"
    )
    return sums, words


@contextmanager
def _naming_the_option() -> Iterator[None]:
    """What a function calls `failed`, the command line calls --fail."""
    try:
        yield
    except ConfigError as error:
        text = str(error)
        if not text.startswith("failed = "):
            raise
        raise ConfigError(f"--fail{text.removeprefix('failed')}") from None


def _of_cluster(source: ClusterSource, request: PlaceRequest, *, as_json: bool) -> None:
    from resilver.simulate import affected_groups

    wanted = {pool.id for pool in source.pools(request.pool)}
    with _naming_the_option():
        table = affected_groups(source.report, list(request.fail))
    rows = [
        {"pgid": f"{row['pool']}.{row['group']:x}", **row}
        for row in table.to_pylist()
        if row["pool"] in wanted
    ]
    _save(table, request.output)
    if as_json:
        print_json(rows)
        return
    width = max((len(row["pgid"]) for row in rows), default=0)
    for row in rows:
        left, homes = bracketed(row["survivors"]), bracketed(row["homes"])
        sys.stdout.write(f"{row['pgid']:<{width}}  lost {row['lost']}  left {left}  to {homes}\n")
    sys.stdout.flush()
    amount = format_bytes(sum(row["bytes"] for row in rows))
    gone = sum(not row["survivors"] for row in rows)
    say(
        f"{', '.join(dict.fromkeys(request.fail))}: {len(rows):,} groups ({amount}) lose copies, "
        f"{gone:,} have none left"
    )


def _save(table: pa.Table, path: Path | None) -> None:
    if path is None:
        return
    from resilver.study.files import replace_file

    csv = path.suffix.lower() == ".csv"
    write = _write_csv if csv else _write_parquet
    try:
        replace_file(path.resolve(), lambda temporary: write(table, temporary))
    except OSError as error:
        raise ConfigError(
            f"'{path}' cannot be written: {error.strerror or error}; choose another with -o FILE"
        ) from error
    say(f"{table.num_rows:,} rows written to {path}")


def _write_csv(table: pa.Table, path: Path) -> None:
    from pyarrow import csv

    csv.write_csv(_without_lists(table), path)


def _write_parquet(table: pa.Table, path: Path) -> None:
    from pyarrow import parquet

    parquet.write_table(table, path)


def _without_lists(table: pa.Table) -> pa.Table:
    """Lists as text with spaces between, since CSV has no lists."""
    import pyarrow as pa

    for index, field in enumerate(table.schema):
        if pa.types.is_list(field.type):
            texts = [" ".join(map(str, one or ())) for one in table[field.name].to_pylist()]
            table = table.set_column(index, field.name, pa.array(texts, pa.string()))
    return table
