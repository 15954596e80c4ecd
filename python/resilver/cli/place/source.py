"""What the command was given: a CRUSH map, a real cluster, or a study's system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from resilver.cli.loading import load_study
from resilver.cli.place.request import PlaceRequest
from resilver.cli.place.structure import MapStructure
from resilver.errors import ConfigError

if TYPE_CHECKING:
    from resilver.importers import ClusterReport, PoolInfo
    from resilver.simulate import CrushMap
    from resilver.spec import System

_GZIP_MAGIC = b"\x1f\x8b"

_KINDS = (
    "a CRUSH map (text, JSON or binary), a `ceph report`, a `ceph osd dump`, a binary osdmap or a "
    "STUDY.toml"
)


@dataclass(frozen=True)
class MapSource:
    """A CRUSH map.

    Attributes:
        label: The file's name.
        crush: The map.
    """

    label: str
    crush: CrushMap

    @cached_property
    def structure(self) -> MapStructure:
        """Its devices, buckets and rules."""
        return MapStructure(self.crush.to_json())


@dataclass(frozen=True)
class ClusterSource(MapSource):
    """A real cluster, which has a CRUSH map.

    Attributes:
        report: What is known of it.
    """

    report: ClusterReport

    def pools(self, wanted: str | None) -> list[PoolInfo]:
        """The pools asked for, by number.

        Args:
            wanted: A pool's name or number; all of them when None.

        Raises:
            ConfigError: There is no such pool.
        """
        from resilver.errors import name_remedy

        pools = sorted(self.report.pools, key=lambda pool: pool.id)
        found = [pool for pool in pools if wanted in (None, pool.name, str(pool.id))]
        if wanted is not None and not found:
            remedy = name_remedy(wanted, [pool.name for pool in pools], "pools")
            raise ConfigError(f'--pool = "{wanted}": the report has no such pool; {remedy}')
        return found


@dataclass(frozen=True)
class StudySource:
    """The system of a study.

    Attributes:
        label: The file's name.
        system: The system.
    """

    label: str
    system: System

    def pools(self, wanted: str | None) -> list[System]:
        """The system as each of the pools asked for has it.

        Args:
            wanted: A pool's name; all of them when None.

        Raises:
            ConfigError: There is no such pool.
        """
        from resilver.errors import name_remedy

        named = list(zip(self.system.pool_names, self.system.of_pools, strict=True))
        found = [system for name, system in named if wanted in (None, name)]
        if not found:
            remedy = name_remedy(str(wanted), [name for name, _ in named], "pools")
            raise ConfigError(f'--pool = "{wanted}": the study has no such pool; {remedy}')
        return found


Source = MapSource | StudySource


def open_source(path: Path, request: PlaceRequest) -> Source:
    """Read a file of any kind, told by its content.

    Args:
        path: The file.
        request: The other files that complete a cluster, and the settings of a study.

    Returns:
        What is in it.

    Raises:
        ConfigError: It cannot be read, or is none of the known kinds.
        PlacementError: It is a map that cannot be used.
    """
    from resilver.importers.text import CRUSH_MAGIC, decode, parse_json, read_bytes

    if path.suffix.lower() == ".toml":
        return _study(path, request)
    if request.settings:
        raise ConfigError(
            f"--set {request.settings[0]}: it changes a key of a study, and {str(path)!r} is none; "
            "leave it out, or name a STUDY.toml"
        )
    data = read_bytes(path)
    if not data.strip():
        raise ConfigError(f"{str(path)!r} is empty; fetch or write it again: give {_KINDS}")
    if data.startswith(_GZIP_MAGIC):
        raise ConfigError(f"{str(path)!r} is compressed with gzip; unpack it first with `gunzip`")
    if data.startswith(CRUSH_MAGIC):
        return _map(path, request)
    # Text has no zero bytes, and an encoded osdmap has hundreds.
    if b"\0" in data[:4096]:
        return _cluster(path, request)
    try:
        text = decode(data, path)
    except ConfigError:
        raise ConfigError(
            f"{str(path)!r} is neither text nor a binary form that is known; give {_KINDS}"
        ) from None
    if not text.lstrip().startswith(("{", "[")):
        return _map(path, request)
    document = parse_json(text, path)
    keys = set(document) if isinstance(document, dict) else set()
    if {"osdmap", "crushmap"} <= keys or {"pools", "osds"} <= keys:
        return _cluster(path, request)
    if {"buckets", "rules"} <= keys or "crushmap" in keys or "trees" in keys:
        return _map(path, request)
    raise ConfigError(
        f"{str(path)!r} is JSON, but neither a `ceph report` (osdmap, crushmap) nor a "
        "`ceph osd crush dump` (buckets, rules) nor a `ceph osd dump` (pools, osds); give one of "
        f"these, or another of: {_KINDS}"
    )


def open_map(path: Path, request: PlaceRequest) -> MapSource:
    """Read a file that must hold a CRUSH map, as a map's own file or a cluster's.

    Args:
        path: The file.
        request: The options, for the message and the other files.

    Returns:
        The map.

    Raises:
        ConfigError: A study was given, or the file cannot be used.
    """
    source = open_source(path, request)
    if isinstance(source, StudySource):
        raise ConfigError(
            f"{str(path)!r} is a study, which has no CRUSH rules of its own; use --quality, "
            "--compare or --affected, or give a CRUSH map"
        )
    return source


def open_cluster(path: Path, request: PlaceRequest, option: str) -> ClusterSource:
    """Read a file that must describe a real cluster.

    Args:
        path: The file.
        request: The options, for the other files.
        option: What needs a cluster, for the message.

    Returns:
        The cluster.

    Raises:
        ConfigError: The file is of another kind, or cannot be used.
    """
    source = open_source(path, request)
    if isinstance(source, ClusterSource):
        return source
    kind = "a study" if isinstance(source, StudySource) else "a CRUSH map"
    raise ConfigError(
        f"{option}: {str(path)!r} is {kind} and has no pools; "
        "give the JSON that `ceph report` prints, or ask for --rule RULE"
    )


def _map(path: Path, request: PlaceRequest) -> MapSource:
    from resilver.simulate import CrushMap

    _without_dumps(path, request, "a CRUSH map")
    return MapSource(path.name, CrushMap.read(path))


def _cluster(path: Path, request: PlaceRequest) -> ClusterSource:
    from resilver.importers import read_cluster
    from resilver.simulate import CrushMap

    report = read_cluster(path, crush=request.crush, pg_dump=request.pg_dump, osd_df=request.osd_df)
    return ClusterSource(path.name, CrushMap.from_json(report.crushmap), report)


def _without_dumps(path: Path, request: PlaceRequest, kind: str) -> None:
    """Refuse what completes a cluster beside a file that is none."""
    # One of two files that are compared may be the cluster.
    if request.compare:
        return
    given = {"--crush": request.crush, "--pg-dump": request.pg_dump, "--osd-df": request.osd_df}
    for option, other in given.items():
        if other is not None:
            raise ConfigError(
                f"{option} = '{other}': it completes a cluster, and {str(path)!r} is {kind}; leave "
                "it out, or give a `ceph osd dump`, a `ceph report` or a binary osdmap"
            )


def _study(path: Path, request: PlaceRequest) -> Source:
    """A study's system; where its cluster is a real one, that cluster."""
    from resilver.simulate import CrushMap

    _without_dumps(path, request, "a study")
    system = _system(path, request.settings)
    if system.report is None:
        return StudySource(path.name, system)
    return ClusterSource(path.name, CrushMap.from_json(system.report.crushmap), system.report)


def _system(path: Path, settings: Sequence[str]) -> System:
    """The one system of a study; a sweep has several, of which --set chooses."""
    from resilver.simulate import validate

    study = load_study(path, settings)
    runs = study.runs()
    swept = runs[0].swept
    if any(run.swept != swept for run in runs):
        key, value = next(iter(swept.items()))
        raise ConfigError(
            f"study.sweep sweeps {', '.join(swept)}: place looks at one system, and this study has "
            f"several; choose one with --set {quote(f'{key}={value}')}"
        )
    validate([runs[0].system])
    return runs[0].system
