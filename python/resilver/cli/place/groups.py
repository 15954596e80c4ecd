"""The PGs of a real cluster, and the one that holds an object."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from resilver.answer import Answer, Section, Shown
from resilver.cli.crush.inputs import NONE, bracketed
from resilver.cli.crush.source import ClusterSource, as_cluster, open_source
from resilver.cli.place.options import Asked
from resilver.errors import ConfigError
from resilver.tables import Table, table
from resilver.words import plural

if TYPE_CHECKING:
    from resilver.importers import ClusterReport, PoolInfo


def _opened(asked: Asked, option: str) -> ClusterSource:
    return as_cluster(open_source(asked.words[0], asked), option).reweighted(asked.weights)


def groups_answer(asked: Asked) -> Answer:
    """Where every PG is.

    Raises:
        ConfigError: The file is no cluster's, or there is no such pool.
    """
    source = _opened(asked, "--groups")
    pools = source.pools(asked.pool)
    rows = [row for pool in pools for row in _groups(source.report, pool)]
    moving = sum(map(_is_remapped, rows))
    text = f"{plural(len(rows), 'PG')} in {plural(len(pools), 'pool')}"
    text += f"; {moving:,} have an acting set other than the up set." if moving else "."
    shown = Shown("pgs", "PGs", _table(rows), rows=2000)
    return Answer(f"PGs of {source.label}", [text], [Section("PGs", (shown,))], rows)


def _table(rows: list[dict[str, Any]]) -> Table:
    columns = [
        ("pgid", "PG", "text", [row["pgid"] for row in rows]),
        ("up", "up", "text", [bracketed(row["up"]) for row in rows]),
        ("up_primary", "primary", "text", [row["up_primary"] for row in rows]),
    ]
    if any(map(_is_remapped, rows)):
        columns += [
            ("acting", "acting", "text", [bracketed(row["acting"]) for row in rows]),
            ("acting_primary", "acting primary", "text", [row["acting_primary"] for row in rows]),
        ]
    return table(*columns)


def _is_remapped(row: dict[str, Any]) -> bool:
    return bool((row["acting"], row["acting_primary"]) != (row["up"], row["up_primary"]))


def _groups(report: ClusterReport, pool: PoolInfo) -> Iterator[dict[str, Any]]:
    from resilver.simulate import group_sets

    sets = group_sets(report, pool.id)
    columns = (sets.up, sets.up_primary, sets.acting, sets.acting_primary)
    for number, (up, up_primary, acting, acting_primary) in enumerate(
        zip(*(column.tolist() for column in columns), strict=True)
    ):
        yield {
            "pgid": f"{pool.id}.{number:x}",
            "up": _present(up),
            "up_primary": up_primary,
            "acting": _present(acting),
            "acting_primary": acting_primary,
        }


def object_answer(asked: Asked) -> Answer:
    """Where one object is.

    Raises:
        ConfigError: The pool is not given, or there is none such.
    """
    from resilver.crush import object_group

    source = _opened(asked, "--object")
    if asked.pool is None:
        names = ", ".join(pool.name for pool in source.report.pools)
        raise ConfigError(f"--object needs --pool POOL; this cluster has the pools {names}")
    name = asked.object_name or ""
    pool = source.pools(asked.pool)[0]
    row = list(_groups(source.report, pool))[object_group(pool, name)]
    text = f"Object '{name}' of pool '{pool.name}' ({pool.id}) is in PG {row['pgid']}: up "
    text += f"{bracketed(row['up'])}, primary {row['up_primary']}"
    if _is_remapped(row):
        text += f"; acting {bracketed(row['acting'])}, primary {row['acting_primary']}"
    return Answer(f"Object {name}", [f"{text}."], (), {"object": name, "pool": pool.name, **row})


def _present(devices: list[int]) -> list[int]:
    """A set without the -1 that pads a short one; holes stay, for a position has a meaning."""
    return [device for device in devices if device != NONE]
