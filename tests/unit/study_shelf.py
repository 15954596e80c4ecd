"""Entries to reproduce that a test writes, and runs of those that ship that nobody simulated."""

import csv
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from resilver.columns import METRICS, SHARD_SCHEMAS
from resilver.reproduce import entries
from resilver.reproduce.evidence import Evidence, shipped_study
from resilver.reproduce.tables import table_of
from resilver.study.tables import COSTS, PHASE_COSTS

HEAD = 'title = "A study"\nsource = "Somebody (2020)"\nexpected_seconds = 1\n'


class Shelf:
    """A folder of entries, which the command finds.

    Args:
        folder: The folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(
        self,
        name: str,
        runs: str,
        numbers: Sequence[dict[str, Any]] = (),
        pictures: str = "",
        **more: str,
    ) -> None:
        """Put an entry there that needs no simulation.

        Args:
            name: Its name.
            runs: The rows of its table `runs`, as SQL.
            numbers: The lines of its published.csv; measured where they give no kind.
            pictures: The pictures, as TOML.
            more: Further keys of its reproduce.toml, as TOML writes their values.
        """
        folder = self.folder / name
        folder.mkdir()
        (folder / "runs.sql").write_text(f"CREATE TABLE runs AS {runs};")
        keys = {"kind": '"codes"', "codes": '["rs 2+1"]', "views": f'["{name}/runs.sql"]'}
        keys |= {"stand_ins": "[]", **more}
        lines = "".join(f"{key} = {value}\n" for key, value in keys.items())
        (folder / "reproduce.toml").write_text(f"{HEAD}{lines}\n{pictures}")
        numbers = [{"kind": "measured", **number} for number in numbers]
        columns = list(dict.fromkeys(key for number in numbers for key in number))
        with (folder / "published.csv").open("w", newline="") as file:
            table = csv.DictWriter(file, columns)
            table.writeheader()
            table.writerows(numbers)


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shelf]:
    """An empty shelf; the working folder is the test's own."""
    folder = tmp_path / "studies"
    folder.mkdir()
    monkeypatch.setattr(entries, "_folder", lambda: folder)
    monkeypatch.chdir(tmp_path)
    for kept in (entries.entry, entries.names):
        kept.cache_clear()
    yield Shelf(folder)
    for kept in (entries.entry, entries.names):
        kept.cache_clear()


def invented(name: str, folder: Path, *, known: bool) -> Evidence:
    """The runs of a shipped study as if they were done, each with one row in every other table.

    Args:
        name: The study.
        folder: Where the other tables go.
        known: Whether anything was measured: numbers that differ a little from run to run, in
            nobody's unit, and 20 bins of a distribution of what pictures show; else all is null.
    """
    runs = shipped_study(name).runs()
    keys = [run.key for run in runs]

    def column(field: pa.Field) -> pa.Array:
        number = pa.types.is_integer(field.type) or pa.types.is_floating(field.type)
        if not (known and number):
            return pa.nulls(len(runs), field.type)
        return pa.array([1.0 + 0.01 * rank for rank in range(len(runs))]).cast(field.type, False)

    for table, schema in SHARD_SCHEMAS.items():
        columns = {field.name: column(field) for field in schema}
        pq.write_table(pa.table({**columns, "run": keys}), folder / f"{table}.parquet")
    if known:
        quantities = ("read_delay_seconds", "write_delay_seconds", "channel_busy_fraction")
        bins = [(key, quantity, k) for key in keys for quantity in quantities for k in range(20)]
        names = ("run", "quantity", "low", "high", "count")
        rows = [(key, of, 0.05 * k, 0.05 * (k + 1), 1 + k) for key, of, k in bins]
        table = pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
        pq.write_table(table, folder / "distributions.parquet")
    made = table_of(
        [
            {"run": run.key, "seed": run.seed, "system": json.dumps(run.system.resolved())}
            | {**run.swept, "servers": run.system.server_count}
            for run in runs
        ]
    )
    for field in (*METRICS, *COSTS, *PHASE_COSTS):
        if field.name not in made.column_names:
            made = made.append_column(field, column(field))
    results: Any = SimpleNamespace(folder=folder)
    return Evidence(made, results)
