"""What the command was given: a CRUSH map, a real cluster, or a study's system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from resilver.cli.crush.options import Inputs, Reading
from resilver.cli.crush.structure import MapStructure
from resilver.cli.loading import load_study
from resilver.errors import ConfigError, name_remedy

if TYPE_CHECKING:
    from resilver.crush import CrushMap
    from resilver.importers import ClusterReport, PoolInfo
    from resilver.spec import System

_KINDS = (
    "a CRUSH map (text, JSON or binary), a `ceph report`, a `ceph osd dump`, a binary osdmap, a "
    "folder or an archive of a cluster's dumps, or a STUDY.toml"
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
        return MapStructure(self.crush.document())


@dataclass(frozen=True)
class ClusterSource(MapSource):
    """A real cluster, which has a CRUSH map.

    Attributes:
        report: What is known of it.
    """

    report: ClusterReport

    def pools(self, wanted: str | None) -> list[PoolInfo]:
        """The pools asked for, by number, of which `wanted` is a name or number; None is all.

        Raises:
            ConfigError: There is no such pool.
        """
        pools = sorted(self.report.pools, key=lambda pool: pool.id)
        found = [pool for pool in pools if wanted in (None, pool.name, str(pool.id))]
        _check_pool(found, wanted, [pool.name for pool in pools], "report")
        return found

    def reweighted(self, weights: Sequence[str]) -> ClusterSource:
        """The cluster after the ``ceph osd reweight`` that each --weight stands for.

        Raises:
            ConfigError: A device is unknown, or a weight is no number.
        """
        from resilver.cli.crush.inputs import reweights_of

        if not weights:
            return self
        given = Inputs(weights=tuple(weights))
        values = reweights_of(self, given, self.report.osd_states.reweights).tolist()
        # An OSD of no weight is out, as the monitors hold it.
        osds = tuple(
            replace(osd, reweight=values[osd.id], in_cluster=values[osd.id] > 0)
            if osd.id < len(values) and values[osd.id] != self.report.osd_states.reweights[osd.id]
            else osd
            for osd in self.report.osds
        )
        return replace(self, report=replace(self.report, osds=osds))


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
        """The system as each pool asked for has it, of which `wanted` is a name; None is all.

        Raises:
            ConfigError: There is no such pool.
        """
        named = list(zip(self.system.pool_names, self.system.of_pools, strict=True))
        found = [system for name, system in named if wanted in (None, name)]
        _check_pool(found, wanted, [name for name, _ in named], "study")
        return found


def _check_pool(found: Sequence[object], wanted: str | None, names: list[str], what: str) -> None:
    if wanted is not None and not found:
        remedy = name_remedy(wanted, names, "pools")
        raise ConfigError(f'--pool = "{wanted}": the {what} has no such pool; {remedy}')


Source = MapSource | StudySource


def reweighted(source: Source, weights: Sequence[str]) -> Source:
    """A cluster with the reweights of --weight; maps as they are, whose inputs have their own.

    Raises:
        ConfigError: A device is unknown, a weight is no number, or a study has none.
    """
    if isinstance(source, ClusterSource):
        return source.reweighted(weights)
    if weights and isinstance(source, StudySource):
        raise ConfigError("--weight: a study's devices have no reweights; leave it out")
    return source


def open_source(path: Path | str, reading: Reading, *, alone: bool = True) -> Source:
    """Read a file of any kind, told by its content.

    Args:
        reading: The other files that complete a cluster, and the settings of a study.
        alone: Whether it is the only file, whose cluster those others complete.

    Raises:
        ConfigError: It cannot be read, or is none of the known kinds.
        PlacementError: It is a map that cannot be used.
    """
    from resilver.importers.ceph import is_crush_text, kind_of, looks_like_dump, parse_dump
    from resilver.importers.packed import is_packed
    from resilver.text import CRUSH_MAGIC, decode, read_bytes

    path = Path(path)
    if path.suffix.lower() == ".toml":
        return _study(path, reading, alone)
    if reading.settings:
        raise ConfigError(
            f"--set {reading.settings[0]}: it changes a key of a study, and {str(path)!r} is none; "
            "leave it out, or name a STUDY.toml"
        )
    if path.is_dir():
        return _cluster(path, reading)
    data = read_bytes(path)
    if is_packed(data):
        return _cluster(path, reading)
    if not data.strip():
        raise ConfigError(f"{str(path)!r} is empty; fetch or write it again: give {_KINDS}")
    if data.startswith(CRUSH_MAGIC):
        return _map(path, reading, alone)
    # Text has no zero bytes, and an encoded osdmap has hundreds.
    if b"\0" in data[:4096]:
        return _cluster(path, reading)
    try:
        decode(data, path)
    except ConfigError:
        raise ConfigError(
            f"{str(path)!r} is neither text nor a binary form that is known; give {_KINDS}"
        ) from None
    if is_crush_text(data) or not looks_like_dump(data):
        return _map(path, reading, alone)
    document = parse_dump(data, path)
    kind = kind_of(document)
    if kind in ("report", "osd_dump", "state"):
        return _cluster(path, reading)
    if kind == "crush" or (isinstance(document, dict) and {"crushmap", "trees"} & set(document)):
        return _map(path, reading, alone)
    raise ConfigError(
        f"{str(path)!r} is JSON, but neither a `ceph report` (osdmap, crushmap) nor a "
        "`ceph osd crush dump` (buckets, rules) nor a `ceph osd dump` (pools, osds); give one of "
        f"these, or another of: {_KINDS}"
    )


def open_map(path: Path | str) -> MapSource:
    """Read a file that must hold a CRUSH map, as a map's own file or a cluster's.

    Raises:
        ConfigError: A study was given, or the file cannot be used.
    """
    source = open_source(path, Reading())
    if isinstance(source, StudySource):
        raise ConfigError(
            f"{str(path)!r} is a study, which has no CRUSH rules of its own; `resilver place` "
            "judges it, or give a CRUSH map"
        )
    return source


def as_cluster(source: Source, option: str) -> ClusterSource:
    """The source that must describe a real cluster, which `option` needs.

    Raises:
        ConfigError: It is of another kind.
    """
    if isinstance(source, ClusterSource):
        return source
    kind = "a study" if isinstance(source, StudySource) else "a CRUSH map"
    raise ConfigError(
        f"{option}: {source.label!r} is {kind} and has no pools of PGs; give the JSON that "
        "`ceph report` prints"
    )


def _map(path: Path, reading: Reading, alone: bool) -> MapSource:
    from resilver.crush import CrushMap

    _without_dumps(path, reading, "a CRUSH map", alone)
    return MapSource(path.name, CrushMap.read(path))


def _cluster(path: Path, reading: Reading) -> ClusterSource:
    from resilver.crush import CrushMap
    from resilver.importers import read_cluster

    report = read_cluster(path, crush=reading.crush, pg_dump=reading.pg_dump, osd_df=reading.osd_df)
    return ClusterSource(path.name, CrushMap.from_json(report.crushmap), report)


def _without_dumps(path: Path, reading: Reading, kind: str, alone: bool) -> None:
    """Refuse what completes a cluster beside a file that is none."""
    given = {"--crush": reading.crush, "--pg-dump": reading.pg_dump, "--osd-df": reading.osd_df}
    for name, other in given.items():
        if other is not None and alone:
            raise ConfigError(
                f"{name} = '{other}': it completes a cluster, and {str(path)!r} is {kind}; leave "
                "it out, or give a `ceph osd dump`, a `ceph report` or a binary osdmap"
            )


def _study(path: Path, reading: Reading, alone: bool) -> Source:
    """A study's system; where its cluster is a real one, that cluster."""
    from resilver.crush import CrushMap

    _without_dumps(path, reading, "a study", alone)
    system = _system(path, reading.settings)
    if system.report is None:
        return StudySource(path.name, system)
    return ClusterSource(path.name, CrushMap.from_json(system.report.crushmap), system.report)


def _system(path: Path, settings: Sequence[str]) -> System:
    """The one system of a study; a sweep has several, of which --set chooses."""
    study = load_study(path, settings)
    runs = study.runs()
    swept = runs[0].swept
    if any(run.swept != swept for run in runs):
        key, value = next(iter(swept.items()))
        raise ConfigError(
            f"study.sweep sweeps {', '.join(swept)}: place looks at one system, and this study has "
            f"several; choose one with --set {quote(f'{key}={value}')}"
        )
    return runs[0].system
