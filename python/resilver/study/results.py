"""Results of a study, read from its run folder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from resilver.answer.document import rendered
from resilver.columns import METRICS, SHARD_SCHEMAS, TABLE_NAMES, TABLES_ADDED_IN
from resilver.errors import ConfigError, name_remedy
from resilver.result_tables import ResultTables
from resilver.spec import RESULTS_SCHEMA_VERSION, Study
from resilver.spec.sweep import Point
from resilver.study.provenance import (
    SHARDS_FOLDER,
    STUDY_FILE,
    read_provenance,
    refuse_other_folders,
)
from resilver.study.shards import Shards
from resilver.study.system_runs import format_swept, swept_keys, systems
from resilver.study.tables import COSTS, PHASE_COSTS, read_parquet, swept_columns, with_swept
from resilver.tables import cell_text

if TYPE_CHECKING:
    import pandas as pd

    from resilver.study.effects import Effect


def _by_run(provenance: dict[str, Any]) -> Iterable[tuple[str, dict[str, Any]]]:
    """Every run's key and the system of it, in the order of the study."""
    points = [point for point in provenance["points"] for _ in range(point["runs"])]
    return zip(provenance["run_keys"], points, strict=True)


class StudyTables(ResultTables):
    """What results have in common, wherever their tables are read from."""

    folder: Path
    provenance: dict[str, Any]
    runs: pa.Table
    """A row a run."""

    @property
    def study(self) -> dict[str, Any]:
        """The study as resolved: every default filled in, quantities as SI numbers."""
        return dict(self.provenance["study"])

    @property
    def title(self) -> str:
        """The study's title; empty where it has none."""
        return str(self.study.get("study", {}).get("title") or "")

    @cached_property
    def study_file(self) -> str:
        """The study as TOML, as it stands in the folder; empty where it does not."""
        try:
            return (self.folder / STUDY_FILE).read_text(encoding="utf-8")
        except OSError:
            return ""

    @cached_property
    def systems(self) -> tuple[Point, ...]:
        """The swept systems as the study declares them; none where its inputs are not at hand."""
        try:
            return Study.load(self.folder / STUDY_FILE).points
        except ConfigError:
            return ()


class Results(StudyTables):
    """The tables of a study and what is known about how they came to be.

    Args:
        folder: a run folder.
        provenance: the content of its provenance.json.

    Example:
        >>> results = Results.open("runs/demo")  # doctest: +SKIP
        >>> results.to_pandas("runs")["rebuild_seconds"].median()  # doctest: +SKIP
    """

    def __init__(self, folder: Path, provenance: dict[str, Any]) -> None:
        self.folder = folder
        self.provenance = provenance

    @classmethod
    def open(cls, folder: str | Path, *, partial: bool = False) -> Results:
        """Open a run folder.

        Args:
            folder: where `resilver run` or `execute` put its results.
            partial: accept a sweep that was interrupted; its tables hold the finished runs.

        Returns:
            The results; tables are read when they are asked for.

        Raises:
            ConfigError: there is no such folder, it is no run folder, or the sweep is incomplete.
        """
        path = Path(folder)
        refuse_other_folders(path)
        provenance = read_provenance(path)
        if provenance["state"] != "complete" and not partial:
            total = len(set(provenance["run_keys"]))
            raise ConfigError(
                f"run folder {str(path)!r} is incomplete: {len(provenance['runs'])} of {total} "
                "runs are in its tables; finish it by calling `resilver run` again, or look at "
                f"what is there with `resilver report {path} --watch`"
            )
        needed = set(TABLE_NAMES) - _not_yet(provenance)
        missing = [
            name
            for name in TABLE_NAMES
            if name in needed and not (path / f"{name}.parquet").exists()
        ]
        if missing:
            raise ConfigError(
                f"run folder {str(path)!r} has no {missing[0]}.parquet; "
                "put it together again by calling `resilver run`"
            )
        return cls(path, provenance)

    @property
    def swept_keys(self) -> list[str]:
        """The keys that the study sweeps, which are columns of `runs`."""
        return list(self.provenance["swept_keys"])

    @cached_property
    def sensitivity(self) -> list[Effect]:
        """What each assumption is worth, the weightiest first; none where that was not asked."""
        from resilver.study.effects import read_effects

        return read_effects(self.folder, self.provenance["run_keys"])

    @property
    def complete(self) -> bool:
        """Whether every run of the study is in the tables."""
        return bool(self.provenance["state"] == "complete")

    @cached_property
    def runs(self) -> pa.Table:
        """A row a run: key, swept keys, seed, metrics, and what the run cost to simulate."""
        table = self._read("runs")
        # Folders of earlier versions lack the metrics that were added since.
        for field in METRICS:
            if field.name not in table.column_names:
                table = table.append_column(field, pa.nulls(table.num_rows, field.type))
        return with_costs(table, self.provenance["runs"])

    def __repr__(self) -> str:
        """The folder and how many runs it has."""
        count = len(self.provenance["runs"])
        state = "" if self.complete else f" of {len(set(self.provenance['run_keys']))}"
        return f"<Results {str(self.folder)!r}: {count}{state} runs>"

    def _repr_html_(self) -> str:
        """A row a system, as a notebook shows it."""
        return results_html(self)

    def to_pandas(self, name: str) -> pd.DataFrame:
        """One table as a pandas data frame.

        Args:
            name: "runs", "servers", "transfers", "timeline", "links", "distributions", "traffic",
                "request_classes", "lanes", "lending", "stripe_groups", "pools", "parts", "limits",
                "flows", "layers", "jobs", "detection" or "answers".

        Returns:
            The data frame.

        Raises:
            ConfigError: there is no such table, or pandas is not installed.
        """
        if name not in TABLE_NAMES:
            raise ConfigError(f"there is no table {name!r}; {name_remedy(name, TABLE_NAMES)}")
        try:
            return getattr(self, name).to_pandas()
        except ImportError as error:
            rule = "to_pandas needs pandas; install it with `pip install pandas`"
            raise ConfigError(rule) from error

    def to_records(self) -> list[dict[str, Any]]:
        """The runs as flat dictionaries, as `resilver run --json` prints them.

        Returns:
            One dictionary a run; a metric that its system does not have is None.
        """
        return list(self.runs.to_pylist())

    def _read(self, name: str) -> pa.Table:
        path = self.folder / f"{name}.parquet"
        if name in _not_yet(self.provenance) and not path.exists():
            return SHARD_SCHEMAS[name].empty_table()
        try:
            return read_parquet(path)
        except (OSError, pa.ArrowInvalid) as error:
            raise ConfigError(
                f"{str(path)!r} cannot be read ({error}); "
                "put it together again by calling `resilver run`"
            ) from error


def _not_yet(provenance: Mapping[str, Any]) -> set[str]:
    """The tables that a folder's version of the results did not have."""
    version = provenance.get("schema_version", RESULTS_SCHEMA_VERSION)
    return {name for name, since in TABLES_ADDED_IN.items() if version < since}


def with_costs(runs: pa.Table, costs: Mapping[str, Mapping[str, Any]]) -> pa.Table:
    """The runs with what each cost to simulate.

    Args:
        runs: a row a run, with its key in column `run`.
        costs: the record of `Cost` by run key; what a record leaves out is null.

    Returns:
        The table with the columns `wall_seconds`, `peak_rss_bytes`, `placing_seconds`,
        `scanning_seconds`, `rebuilding_seconds` and `serving_seconds` after its own.
    """
    records = [costs.get(key, {}) for key in runs["run"].to_pylist()]
    phases = [record.get("phase_seconds", {}) for record in records]
    for field in COSTS:
        values = [record.get(field.name) for record in records]
        runs = runs.append_column(field, pa.array(values, type=field.type))
    for field in PHASE_COSTS:
        values = [record.get(field.name.removesuffix("_seconds")) for record in phases]
        runs = runs.append_column(field, pa.array(values, type=field.type))
    return runs


_ROWS_MAX = 100
_COLUMNS = (
    ("rebuild time", "rebuild_seconds", "seconds"),
    ("rebuild rate", "aggregate_bytes_per_second", "rate"),
    ("rebuilt", "rebuilt_bytes", "bytes"),
    ("goodput", "throughput_bytes_per_second", "rate"),
)
"""Headings with their metrics; a bar stands for the first that there is."""


def results_html(results: StudyTables) -> str:
    """A table of the systems of a study.

    Returns:
        HTML: a row a system with medians over its seeds, as far as they have any, and a bar for the
        first of them; everything that comes from files is escaped.
    """
    points = systems(results)
    shown = [one for one in _COLUMNS if any(point.known(one[1]) for point in points)]
    bars = [point.middle(shown[0][1]) or 0.0 for point in points] if shown else []
    most = max(bars, default=0.0)
    rows = [
        (
            [*(format_swept(*one) for one in point.swept.items()), len(point.rows)],
            (bars[at] / most if most else 0.0) if shown else None,
            [cell_text(point.middle(name), kind) for _, name, kind in shown],
        )
        for at, point in enumerate(points[:_ROWS_MAX])
    ]
    return rendered(
        "notebook.html",
        said=repr(results),
        heads=[*swept_keys(results), "runs", "", *(heading for heading, _, _ in shown)],
        rows=rows,
        more=len(points) - _ROWS_MAX,
    )


class PartialResults(StudyTables):
    """What `Results` is, of the runs that are finished so far.

    The tables of a folder are put together when its sweep ends; until then its shards hold them.
    The large ones are read for the runs alone that `holding` names.

    Args:
        folder: the run folder.
        keys: the finished runs.
        held: the runs whose tables other than `runs` are wanted.

    Raises:
        ConfigError: it is no run folder, or one from before its swept values were recorded.
    """

    def __init__(self, folder: Path, keys: Iterable[str], held: Iterable[str] = ()) -> None:
        self.folder = folder
        refuse_other_folders(folder)
        self.provenance = read_provenance(folder)
        if "points" not in self.provenance:
            raise ConfigError(
                f"run folder {str(folder)!r} is of an earlier resilver; "
                "call `resilver run` again to do the rest, and report on it then"
            )
        finished = set(keys)
        self._held = tuple(held)
        self._rows = [
            (str(key), point["swept"]) for key, point in _by_run(self.provenance) if key in finished
        ]
        self._shards = Shards(folder / SHARDS_FOLDER)

    def holding(self, keys: Iterable[str]) -> PartialResults:
        """The same results with the large tables of some runs.

        Args:
            keys: the runs.

        Returns:
            Results whose tables other than `runs` have rows of these runs alone.
        """
        return PartialResults(self.folder, (key for key, _ in self._rows), keys)

    @cached_property
    def runs(self) -> pa.Table:
        """A row a finished run, in the order of the study, with its swept values and its cost."""
        stored = [self._shards.table("runs", key) for key, _ in self._rows]
        table = pa.concat_tables(stored) if stored else SHARD_SCHEMAS["runs"].empty_table()
        # A swept column's type follows from all values of the sweep, as in the whole tables.
        order = self.provenance["swept_keys"]
        swept = [
            {key: point["swept"][key] for key in order} for point in self.provenance["points"]
        ] + [{key: values[key] for key in order} for _, values in self._rows]
        first = len(self.provenance["points"])
        columns = {key: column[first:] for key, column in swept_columns(swept).items()}
        costs = {key: self._shards.cost(key).record() for key, _ in self._rows}
        return with_costs(with_swept(table, columns), costs)

    def _read(self, name: str) -> pa.Table:
        if not self._held:
            return SHARD_SCHEMAS[name].empty_table()
        return pa.concat_tables([self._shards.table(name, key) for key in self._held])
