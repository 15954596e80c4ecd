"""The finished runs of a sweep that is under way or was left, read from their shards."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from resilver.columns import SHARD_SCHEMAS
from resilver.errors import ConfigError
from resilver.study.provenance import SHARDS_FOLDER, read_provenance, refuse_other_folders
from resilver.study.results import StudyTables, with_costs
from resilver.study.shards import Shards
from resilver.study.tables import swept_columns, with_swept


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


def _by_run(provenance: dict[str, Any]) -> Iterable[tuple[str, dict[str, Any]]]:
    """Every run's key and the system of it, in the order of the study."""
    points = [point for point in provenance["points"] for _ in range(point["runs"])]
    return zip(provenance["run_keys"], points, strict=True)
