"""The tables of an entry in DuckDB, which the queries of its numbers and pictures ask."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from resilver.columns import TABLE_NAMES
from resilver.errors import ConfigError, show

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection

Row = Mapping[str, Any]
"""A row by the names of its columns."""

_MACROS = """
-- The least of the values of some names over the greatest of those of others: above 1 where every
-- one of the first is above every one of the second. Nothing where a name has no value.
CREATE MACRO step(name, value, above, below) AS CASE WHEN
    count(DISTINCT name) FILTER (list_contains(above || below, name) AND value IS NOT NULL)
    = len(above || below)
  THEN min(value) FILTER (list_contains(above, name))
    / max(value) FILTER (list_contains(below, name)) END;
-- The rank of each value of a list; equal ones share the mean of theirs.
CREATE MACRO ranks(values) AS list_transform(values, lambda x:
  len(list_filter(values, lambda y: y < x)) + (len(list_filter(values, lambda y: y = x)) + 1) / 2);
-- Spearman's rank correlation of two lists: nothing of fewer than three, or where all are equal.
CREATE MACRO rank_correlation(above, across) AS CASE WHEN len(above) >= 3 THEN
  (SELECT corr(a, b) FROM (SELECT unnest(ranks(above)) AS a, unnest(ranks(across)) AS b)) END;
"""


class Tables:
    """An entry's tables, with the views that its study defines over them.

    Args:
        runs: The table ``runs``: a row a run, or a row a measurement.
        folder: The run folder, whose other tables are there by their names; None without one.
        views: SQL that defines views. One of them may be called ``runs`` again: the table itself is
            ``results.runs``.
        beside: The runs of other entries by name: each is the table ``runs`` of a schema so called.
    """

    def __init__(
        self,
        runs: pa.Table,
        folder: Path | None = None,
        views: Iterable[str] = (),
        beside: Mapping[str, pa.Table] | None = None,
    ) -> None:
        # Everything that queries need is part of the wheel: nothing is to be asked of a network.
        import duckdb

        self._connection = duckdb.connect(
            config={"autoinstall_known_extensions": False, "threads": 1}
        )
        self._connection.execute(_MACROS)
        for schema, table in {"results": runs, **(beside or {})}.items():
            self._connection.register("given", table)
            self._connection.execute(f'CREATE SCHEMA "{schema}"')
            self._connection.execute(f'CREATE TABLE "{schema}".runs AS FROM given')
            self._connection.unregister("given")
        if folder is not None:
            self._add(folder)
        self._connection.execute("SET search_path = 'main,results'")
        for text in views:
            self._execute(text)

    def _add(self, folder: Path) -> None:
        """The other tables of a run folder, of these runs alone."""
        for name in TABLE_NAMES:
            path = folder / f"{name}.parquet"
            if name != "runs" and path.exists():
                quoted = escape(str(path)).replace("'", "''")
                self._execute(
                    f"CREATE VIEW results.{name} AS FROM read_parquet('{quoted}') "
                    "SEMI JOIN results.runs USING (run)"
                )

    def _execute(self, text: str) -> DuckDBPyConnection:
        import duckdb

        try:
            return self._connection.execute(text)
        except duckdb.Error as error:
            rule = f"a query does not fit the runs: {str(error).splitlines()[0]}"
            remedy = "leave out the setting that changes their columns"
            raise ConfigError(rule, remedy, value=show(text)) from error

    def ask(self, query: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Do a query.

        Args:
            query: SQL that yields a table.

        Returns:
            The names of its columns, and its rows.

        Raises:
            ConfigError: It does not fit the tables, as of a study that was changed.

        >>> import pyarrow as pa
        >>> Tables(pa.table({"seed": [1, 2], "rate": [3.0, 5.0]})).ask("FROM runs SELECT max(rate)")
        (['max(rate)'], [(5.0,)])
        """
        made = self._execute(query)
        return [column[0] for column in made.description], made.fetchall()


def table_of(rows: Sequence[Row]) -> pa.Table:
    """Rows as a table with every column that any of them has.

    Args:
        rows: The rows; what one lacks is null.
    """
    names = dict.fromkeys(name for row in rows for name in row)
    return pa.table({name: [row.get(name) for row in rows] for name in names})
