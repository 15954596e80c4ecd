"""The placement groups of a real cluster, and the one that holds an object."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from resilver.cli.console import print_json
from resilver.cli.place.inputs import NONE, bracketed
from resilver.cli.place.options import Judging
from resilver.errors import ConfigError

if TYPE_CHECKING:
    from resilver.cli.place.source import ClusterSource
    from resilver.importers import ClusterReport, PoolInfo


def print_groups(source: ClusterSource, judging: Judging, *, as_json: bool) -> None:
    """Print where every group is.

    Args:
        source: The cluster.
        judging: The pool, if one alone is wanted.
        as_json: Print JSON instead of text.

    Raises:
        ConfigError: There is no such pool.
    """
    pools = source.pools(judging.pool)
    rows = [row for pool in pools for row in _groups(source.report, pool)]
    if as_json:
        print_json(rows)
        return
    width = max((len(row["pgid"]) for row in rows), default=0)
    sys.stdout.write("".join(f"{row['pgid']:<{width}}  {_in_words(row)}\n" for row in rows))


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


def _in_words(row: dict[str, Any]) -> str:
    """The up set; what is not as usual after it: another primary than the first, another acting
    set.
    """
    text = bracketed(row["up"])
    if row["up_primary"] != next((osd for osd in row["up"] if osd >= 0), -1):
        text += f" primary {row['up_primary']}"
    if row["acting"] != row["up"]:
        text += f" acting {bracketed(row['acting'])}"
    if row["acting_primary"] != row["up_primary"]:
        text += f" acting primary {row['acting_primary']}"
    return text


def print_object(source: ClusterSource, judging: Judging, *, as_json: bool) -> None:
    """Print where one object is.

    Args:
        source: The cluster.
        judging: The object's name and its pool.
        as_json: Print JSON instead of text.

    Raises:
        ConfigError: The pool is not given, or there is none such.
    """
    from resilver.simulate import object_group

    if judging.pool is None:
        names = ", ".join(pool.name for pool in source.report.pools)
        raise ConfigError(f"--object needs --pool POOL; this report has the pools {names}")
    name = judging.object_name or ""
    pool = source.pools(judging.pool)[0]
    rows = list(_groups(source.report, pool))
    row = rows[object_group(pool, name)]
    if as_json:
        print_json({"object": name, "pool": pool.name, **row})
        return
    where = f"group {row['pgid']} -> up {_in_words(row)}"
    sys.stdout.write(f"pool '{pool.name}' ({pool.id}) object '{name}' -> {where}\n")


def _present(devices: list[int]) -> list[int]:
    """A set without the -1 that pads a short one; holes stay, for a position has a meaning."""
    return [device for device in devices if device != NONE]
