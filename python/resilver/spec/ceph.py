"""A real Ceph cluster in a study file: one report, or the dumps that say the same together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationInfo

from resilver.errors import ConfigError, PlacementError, Problem, raise_all, show
from resilver.importers.ceph import MDS_PLUGINS, ClusterReport, PoolInfo, read_cluster
from resilver.spec.problems import unknown_key
from resilver.spec.section import TEXT, FilePath, either, file_path

_SOURCES = ("report", "osd_dump", "osdmap")
"""What has the OSD map: a `ceph report`, a `ceph osd dump`, or a binary map."""

_BESIDE = ("crush", "pg_dump", "osd_df")
"""What may stand beside it."""

CEPH_SCHEMA = either({f"{name}?": TEXT for name in (*_SOURCES, *_BESIDE)})
"""The JSON schema of the key ``ceph``."""


@dataclass(frozen=True)
class CephCluster:
    """A real cluster, read from its dumps.

    Attributes:
        report: What they say.
        files: The file of each, by its key in the study file.
    """

    report: ClusterReport
    files: Mapping[str, Path] = field(compare=False)

    @property
    def plain(self) -> str | dict[str, str]:
        """The cluster as a study file names it: the path of its report, or a table of files."""
        if set(self.files) == {"report"}:
            return FilePath(self.files["report"])
        return {name: FilePath(path) for name, path in self.files.items()}


def ceph_of(value: object, info: ValidationInfo) -> CephCluster | None:
    """The cluster that a study file's ``ceph`` means.

    Args:
        value: The path of a report, a table of files, a `CephCluster`, or None.

    Raises:
        ConfigError: A file cannot be used, or one is missing.
    """
    if value is None or isinstance(value, CephCluster):
        return value
    files = _files(value if isinstance(value, dict) else {"report": value}, info)
    source = next(name for name in files if name in _SOURCES)
    path = files[source]
    try:
        report = read_cluster(path, **{name: files[name] for name in _BESIDE if name in files})
    except PlacementError as error:
        raise ConfigError(str(error), place=str(files.get("crush", path))) from None
    coded = [pool for pool in report.pools if pool.kind == "erasure"]
    problems = [_code_problem(pool, path) for pool in coded if pool.code is None]
    raise_all(problems)
    # Reading the loads here reports a lack of them with the file's name, and before anything runs.
    _ = report.loads
    return CephCluster(report, files)


def _code_problem(pool: PoolInfo, path: Path) -> Problem:
    """What is wrong with an erasure-coded pool that cannot be simulated."""
    profile = pool.profile
    if profile is None:
        rule = f'pool "{pool.name}" is erasure coded, and the osdmap does not hold its profile'
        remedy = "use a report or osd dump with its erasure_code_profiles"
    else:
        rule = (
            f'pool "{pool.name}" is coded by the plugin "{profile.plugin}", which is not modelled'
        )
        remedy = (
            f"use a cluster whose pools are coded by {', '.join(MDS_PLUGINS)}, lrc, clay or shec"
        )
    return Problem(rule, remedy, place=str(path))


def _files(table: dict[Any, Any], info: ValidationInfo) -> dict[str, Path]:
    """The files of a table, one of them with the OSD map and first."""
    known = (*_SOURCES, *_BESIDE)
    problems = [
        unknown_key(str(key), list(known), show(value))
        for key, value in table.items()
        if key not in known
    ]
    sources = [name for name in _SOURCES if name in table]
    if not problems and len(sources) != 1:
        problems = [
            Problem(
                f"exactly one of {', '.join(_SOURCES)} says what the OSD map is",
                'write { osd_dump = "osd.json", crush = "crush.json", pg_dump = "pg.json" }',
                value=show(table),
            )
        ]
    raise_all(problems)
    return {name: file_path(table[name], info) for name in (*sources, *_BESIDE) if name in table}
