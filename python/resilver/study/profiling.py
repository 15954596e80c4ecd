"""What `resilver profile` answers: the layers of a study, or groups of disks in an envelope."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from resilver import catalog, center
from resilver.catalog.entries import STUDY_FILE
from resilver.center.culling import Reference
from resilver.center.layering import (
    Layer,
    LayerProfile,
    Needed,
    beside,
    needed_of,
    read_measured,
)
from resilver.center.profiling import SEEDS, LotProfile, MeasuredProfile
from resilver.errors import ConfigError, Problem, show
from resilver.importers.text import read_toml
from resilver.spec import Study, System
from resilver.units import BytesPerSecond


def profile(
    file: str | Path | Study,
    *,
    within: float = 0.05,
    of: Reference = "average",
    code: str = "rs 8+2",
    seeds: int = SEEDS,
    overrides: Sequence[str] = (),
    measured: Sequence[str | Path] = (),
    target: str | BytesPerSecond | None = None,
) -> LayerProfile | MeasuredProfile | LotProfile:
    """Say what each layer of a file system loses, or hold groups of disks against an envelope.

    Args:
        file: A study, its file or its name in the catalog: its layers from devices to clients. Or a
            CSV of measured rates, or a lot of disks: groups against an envelope.
        within: How far a group may be below the reference, as a share of it.
        of: The reference: the "fastest" group of its unit, or the "average" of all.
        code: The code of the groups, where disks were measured.
        seeds: How often disks are drawn.
        overrides: ``KEY=VALUE`` texts that replace keys of a study or a lot.
        measured: Of a study, CSV files of measured rates to set beside the expected ones.
        target: Of a study, the rate that clients should get, such as ``"1 TB/s"``.

    Returns:
        The layers of a study; of measured groups what is outside, what to replace next and what
        that gains; of a lot, closed forms and culling in rounds.

    Raises:
        ConfigError: A file cannot be read, or with every problem in it.

    >>> found = profile("center-spider-2-unit", target="27.8 GB/s")
    >>> found.binding.layer, found.holds
    ('controller', True)
    """
    if not isinstance(file, Study) and not is_study(file):
        given = {"measured": measured, "target": target}
        for name, value in given.items():
            if value:
                rule = "this is asked of the layers of a study, and the file is none"
                raise ConfigError(Problem(rule, "leave it out", name, show(str(value))))
        return center.profile(
            file, within=within, of=of, code=code, seeds=seeds, overrides=overrides
        )
    if isinstance(file, Study):
        if overrides:
            rule, remedy = "a study that is built has its keys", "give them to Study.load"
            raise ConfigError(Problem(rule, remedy, key="overrides", value=show(overrides[0])))
        return profile_study(file, measured=measured, target=target)
    study = Study.load(study_path(file), overrides=[*overrides, 'traffic.engine="flows"'])
    return profile_study(study, measured=measured, target=target)


def study_path(file: str | Path) -> Path:
    """The file of a study that is given by it, or by its name in the catalog.

    Args:
        file: The file, or a name; a file of that name here comes first.
    """
    path = Path(file).expanduser()
    if path.is_file() or str(file) not in catalog.list("studies"):
        return path
    return Path(catalog.__file__).parent / "studies" / str(file) / STUDY_FILE


def is_study(file: str | Path) -> bool:
    """Whether a file, or a name in the catalog, is of a study and not of a lot or of rates.

    Args:
        file: The file, or the name.

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
        measured: CSV files of measured rates, see `read_measured`.
        target: The rate that clients should get.
        progress: Told how far the run is; answers whether to go on.

    Raises:
        ConfigError: The study has several systems or no flows, or a file cannot be read.
    """
    from resilver.simulate import simulate

    of_target = None if target is None else float(_target(target))
    rates = read_measured([Path(one).expanduser() for one in measured])
    if len(study.points) > 1:
        swept = ", ".join(study.study.sweep)
        rule = f"a profile is of one system, and the study sweeps {swept}"
        raise ConfigError(Problem(rule, "say one with --set", key="study.sweep"))
    run = study.runs()[0]
    system = run.system
    if all(pool.traffic is None or pool.traffic.engine != "flows" for pool in system.of_pools):
        rule = "a profile is of clients as steady flows"
        remedy = 'add [traffic] with engine = "flows", such as outstanding = 64'
        raise ConfigError(Problem(rule, remedy, key="traffic"))
    found = simulate(system, run.seed, progress)
    flows = [row for row in found.flows.to_pylist() if row["start_seconds"] == 0.0]
    rows = [row for row in found.layers.to_pylist() if row["start_seconds"] == 0.0]
    layers = _layers(rows, flows)
    traffic = system.traffic
    reads = 0.5 if traffic is None else traffic.read_share
    request = 0 if traffic is None else traffic.request_bytes
    return LayerProfile(
        study.study.title,
        sum(row["flows"] for row in flows),
        layers,
        () if of_target is None else needed_parts(system, of_target),
        beside(rates, layers, reads, request),
        of_target,
    )


def _target(text: str | BytesPerSecond) -> BytesPerSecond:
    try:
        rate = BytesPerSecond.parse(text)
    except ConfigError as error:
        raise ConfigError(problem.under("target") for problem in error.problems) from None
    if not rate > 0:
        rule, remedy = "a target is above zero", 'such as "1 TB/s"'
        raise ConfigError(Problem(rule, remedy, key="target", value=show(str(text))))
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
        system: The system.
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
