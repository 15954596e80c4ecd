"""What `resilver profile` answers: the layers of a study, or groups of disks in an envelope."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from resilver import catalog
from resilver.catalog.entries import study_path
from resilver.center.culling import Reference
from resilver.center.layering import CulledLayers, Layer, LayerProfile, Needed, beside, needed_of
from resilver.center.measured import read_measured
from resilver.center.profiling import (
    SEEDS,
    WITHIN,
    LotProfile,
    MeasuredProfile,
    profile_lot,
    profile_rates,
)
from resilver.center.rates_file import LotFile, read_rates
from resilver.errors import ConfigError, show, under
from resilver.spec import Study, System
from resilver.study.culling import StudyDisks, check_draws
from resilver.text import read_toml
from resilver.units import BytesPerSecond


def profile(
    file: str | Path | Study,
    *,
    within: float | None = None,
    of: Reference = "average",
    code: str = "rs 8+2",
    seeds: int | None = None,
    overrides: Sequence[str] = (),
    measured: Sequence[str | Path] = (),
    target: str | BytesPerSecond | None = None,
) -> LayerProfile | MeasuredProfile | LotProfile:
    """Say what each layer of a file system loses, or hold groups of disks against an envelope.

    Args:
        file: A study, its file or its name in the catalog: its layers from devices to clients. Or a
            CSV of measured rates, or a lot of disks: groups against an envelope.
        within: How far a group may be below the reference, as a share of it; by default 0.05. Of a
            study, also replace slow disks of its RAID sets in rounds until all are within, under
            each of its seeds; by default they stay.
        of: The reference: the "fastest" group of its unit, or the "average" of all.
        code: The code of the groups, where disks were measured.
        seeds: How often disks are drawn, of rates and lots; by default 15.
        overrides: ``KEY=VALUE`` texts that replace keys of a study or a lot.
        measured: Of a study, files of measured rates to set beside the expected ones: CSV, or what
            benchmark programs wrote; see `resilver.center.measured.read_measured`.
        target: Of a study, the rate that clients should get, such as ``"1 TB/s"``.

    Returns:
        The layers of a study; of measured groups what is outside, what to replace next and what
        that gains; of a lot, closed forms and culling in rounds.

    Raises:
        ConfigError: A file cannot be read, or with every problem in it.

    >>> found = profile("center-spider-2-unit", target="27.8 GB/s")
    >>> found.binding.layer, found.holds
    ('controller', True)
    >>> found = profile("spider-2", of="fastest", seeds=3)
    >>> 1400 < found.cullings[0].replaced < 1750
    True
    """
    if not isinstance(file, Study) and not is_study(file):
        for name, value in {"measured": measured, "target": target}.items():
            if value:
                rule = "this is asked of the layers of a study, and the file is none"
                raise ConfigError(rule, "leave it out", name, show(str(value)))
        return _groups(file, within or WITHIN, of, code, seeds or SEEDS, overrides)
    check_draws(seeds)
    if isinstance(file, Study):
        if overrides:
            rule, remedy = "a study that is built has its keys", "give them to Study.load"
            raise ConfigError(rule, remedy, key="overrides", value=show(overrides[0]))
        study = given = file
    else:
        path = study_path(file)
        study = Study.load(path, overrides=[*overrides, 'traffic.engine="flows"'])
        given = study if within is None else Study.load(path, overrides)
    layers = profile_study(study, measured=measured, target=target)
    if within is None:
        return layers
    return replace(layers, culled=_culled(study, given, within, of, target))


def _groups(
    file: str | Path,
    within: float,
    of: Reference,
    code: str,
    seeds: int,
    overrides: Sequence[str],
) -> MeasuredProfile | LotProfile:
    """Groups of disks against an envelope: those of a lot, or measured ones."""
    path = Path(file).expanduser()
    is_rates = path.suffix.lower() in (".csv", ".gz")
    if not is_rates and (path.suffix.lower() == ".toml" or not path.is_file()):
        return profile_lot(LotFile.load(file, overrides), within, of, seeds)
    if overrides:
        rule = "a file of rates has no keys"
        raise ConfigError(rule, "leave it out", key="--set", value=show(overrides[0]))
    return profile_rates(read_rates(path, code), within, of, seeds)


def _culled(
    study: Study, given: Study, within: float, of: Reference, target: str | BytesPerSecond | None
) -> CulledLayers:
    """Culling of a study's RAID sets under each of its seeds, and its layers after the first.

    Args:
        study: The study, whose clients are flows.
        given: The same as it is written, of whatever engine.
        within, of: The envelope.
        target: The rate that clients should get.
    """
    of_seeds = [StudyDisks(study.runs()[0].system, seed) for seed in study.study.seeds]
    first, before = of_seeds[0], of_seeds[0].replaced.copy()
    cullings = tuple(disks.cull(within, of) for disks in of_seeds)
    level, side = first.tree.device_level, first.side
    times = first.replaced - before
    return CulledLayers(
        side.name,
        tuple(first.tree.name(side.name, number) for number in range(side.count)),
        tuple(first.units.tolist()),
        within,
        of,
        cullings,
        {f"{level}.{number}": int(times[number]) for number in times.nonzero()[0]},
        profile_study(first.culled(study), target=target),
        first.culled(given).to_toml(),
    )


def is_study(file: str | Path) -> bool:
    """Whether a file, or a name in the catalog, is of a study and not of a lot or of rates.

    Raises:
        ConfigError: It is TOML, and cannot be read.
    """
    path = study_path(file)
    if str(file) in catalog.list("lots") or path.suffix != ".toml" or not path.is_file():
        return False
    table = read_toml(path)
    return "cluster" in table and "lot" not in table


def profile_study(
    study: Study,
    *,
    measured: Sequence[str | Path] = (),
    target: str | BytesPerSecond | None = None,
    progress: Callable[[Any], bool] | None = None,
) -> LayerProfile:
    """Say what each layer of a study's file system loses before anything fails, by steady flows.

    Args:
        study: A study of one system whose clients are flows.
        measured: Files of measured rates, see `read_measured`.
        target: The rate that clients should get.
        progress: Told how far the run is; answers whether to go on.

    Raises:
        ConfigError: The study has several systems or no flows, or a file cannot be read.
    """
    from resilver.study import simulate

    of_target = None if target is None else float(_target(target))
    if len(study.points) > 1:
        swept = ", ".join(study.study.sweep)
        rule = f"a profile is of one system, and the study sweeps {swept}"
        raise ConfigError(rule, "say one with --set", key="study.sweep")
    run = study.runs()[0]
    system = run.system
    if all(pool.traffic is None or pool.traffic.engine != "flows" for pool in system.of_pools):
        rule = "a profile is of clients as steady flows"
        remedy = 'add [traffic] with engine = "flows", such as outstanding = 64'
        raise ConfigError(rule, remedy, key="traffic")
    rates = read_measured(measured, system.cluster.tree)
    found = simulate(system, run.seed, progress)
    flows = [row for row in found.flows.to_pylist() if row["start_seconds"] == 0.0]
    rows = [row for row in found.layers.to_pylist() if row["start_seconds"] == 0.0]
    layers = _layers(rows, flows)
    traffic = system.traffic
    reads = 0.5 if traffic is None else traffic.read_share
    # What was measured is of one size, and so of no mix.
    request = 0 if traffic is None or traffic.mix is not None else traffic.request_bytes
    return LayerProfile(
        study.study.title,
        sum(row["flows"] for row in flows),
        layers,
        () if of_target is None else needed_parts(system, of_target),
        beside(rates.rates, layers, reads, request),
        of_target,
        rates.costs,
        rates.notes,
    )


def _target(text: str | BytesPerSecond) -> BytesPerSecond:
    with under("target"):
        rate = BytesPerSecond.parse(text)
    if not rate > 0:
        rule, remedy = "a target is above zero", 'such as "1 TB/s"'
        raise ConfigError(rule, remedy, key="target", value=show(str(text)))
    return rate


def _layers(rows: list[dict[str, Any]], flows: list[dict[str, Any]]) -> tuple[Layer, ...]:
    """The rows of the table ``layers``, with a part of each that binds."""
    bound: dict[str, Counter[str]] = {}
    for flow in flows:
        bound.setdefault(flow["binding_level"], Counter())[flow["binding"]] += flow["flows"]
    layers: list[Layer] = []
    below: float | None = None
    for row in rows:
        lost = row["lost_bytes_per_second"] or 0.0
        # What is lost of rounding alone is nothing.
        lost = lost if below and lost > 1e-9 * below else 0.0
        most = bound.get(row["layer"], Counter()).most_common(1)
        layers.append(
            Layer(
                row["layer"],
                row["parts"],
                row["alone_bytes_per_second"],
                row["stacked_bytes_per_second"],
                lost,
                lost / below if below else 0.0,
                row["flows_bound"],
                most[0][0] if most else None,
            )
        )
        stacked = row["stacked_bytes_per_second"]
        below = below if stacked is None else stacked
    return tuple(layers)


def needed_parts(system: System, target: float) -> tuple[Needed, ...]:
    """What each part of each level must pass for a target, from the top of the tree to devices.

    Args:
        target: The rate of all clients, in bytes per second.
    """
    tree, code = system.cluster.tree, system.code
    if tree is None:
        counts = [("server", system.server_count)]
    else:
        levels = [(level.name, level.count) for level in tree.levels]
        sides = [(side.name, side.count) for side in tree.sides]
        counts = [*levels[:-1], *sides, levels[-1]]
    return needed_of(target, counts, None if code is None else (code.data, code.pieces))
