"""How long repairs take: rebuilds of the same system, simulated by how many devices are lost."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from resilver.data_loss.request import Where
from resilver.errors import ConfigError, Interrupted, show
from resilver.importers.ceph import ClusterReport
from resilver.spec import Ensemble, Fault, Study, System
from resilver.spec.tree import plural
from resilver.study.execution import execute
from resilver.units import format_duration

REBUILDS = 5
"""How many rebuilds are simulated of each number of devices lost at once."""

LOST_MAX = 4
"""The most devices lost at once whose rebuild is simulated; of more, the last holds."""

Done = Callable[[int, int], None]
"""Told how many rebuilds are done, and of how many."""


@dataclass(frozen=True)
class RepairTimes:
    """What simulated rebuilds took.

    Attributes:
        by_lost: The times, in seconds, of one device lost, of two at once, and so on.
        source: What was simulated, in words.
    """

    by_lost: tuple[tuple[float, ...], ...]
    source: str

    @property
    def words(self) -> str:
        """The mean times, for people."""
        means = [format_duration(float(np.mean(times))) for times in self.by_lost]
        return ", ".join(
            f"{mean} ({number} lost)" if len(means) > 1 else mean
            for number, mean in enumerate(means, 1)
        )


def rebuild_times(
    system: System,
    seed: int,
    used: npt.NDArray[np.int64],
    tolerance: int,
    where: Where,
    done: Done | None = None,
) -> RepairTimes:
    """The times of rebuilds of a study's system, with its clients, lanes and network.

    Args:
        system: The system; its own faults say no more than when the first comes.
        seed: The seed of the runs, which draws what is lost too.
        used: The devices that hold something.
        tolerance: How many lost devices the codes survive at the most.
        where: Where the rebuilds are performed and kept.
        done: Told how far it is.

    Returns:
        Of one to `tolerance` devices lost at once, at most `LOST_MAX`, the times of rebuilds of
        some that are drawn.

    Raises:
        ConfigError: The study cannot be run with such failures.
        Interrupted: Ctrl-C; finished rebuilds are kept in the folder.
    """
    tree = system.cluster.tree
    assert tree is not None
    losses = lost_devices(used, tolerance, seed)
    key = plural(tree.device_level)
    names = [[tree.name(tree.device_level, device) for device in one] for one in losses]
    study = _failing(system, seed, key, names)

    def tell(state: object) -> None:
        if done is not None:
            counts = state.counts  # type: ignore[attr-defined]
            done(counts.finished, counts.total)

    with tempfile.TemporaryDirectory(prefix="resilver-") as made:
        folder = Path(made) if where.folder is None else where.folder
        path = folder / f"rebuilds-{_digest(study)}"
        try:
            runs = execute(
                study, path, workers=where.workers, executor=where.executor, progress=tell
            ).runs
        except Interrupted:
            if where.folder is not None:
                raise
            rule = "interrupted, and no rebuild is kept; with --keep DIR (Python: folder=) they are"
            raise Interrupted(rule) from None
        seconds = runs["rebuild_seconds"].to_pylist()
    return _by_lost(losses, seconds, f"{len(losses)} rebuilds of this study, each simulated")


def lost_devices(used: npt.NDArray[np.int64], tolerance: int, seed: int) -> list[tuple[int, ...]]:
    """Sets of devices that are lost at once, of each number alike, drawn by a seed."""
    generator = np.random.default_rng([seed, len(used)])
    most = max(1, min(tolerance, LOST_MAX, len(used) - 1))
    drawn: list[tuple[int, ...]] = []
    for count in range(1, most + 1):
        sets = [
            tuple(sorted(generator.choice(used, count, replace=False).tolist()))
            for _ in range(REBUILDS)
        ]
        drawn += dict.fromkeys(sets)
    return drawn


def _failing(system: System, seed: int, key: str, names: Sequence[Sequence[str]]) -> Study:
    """The study of a system that loses these devices, a run a loss."""
    first = system.faults[0].given() if system.faults else {}
    kept = {name: one for name, one in first.items() if name in ("at", "told")}
    sections = {
        name: value
        for name, value in system.sections().items()
        if value is not None and name not in ("faults", "pools", "durability")
    }
    if system.pools:
        sections["pools"] = system.pools
    turns = tuple(({**kept, "fail": {key: list(one)}},) for one in names)
    return Study(
        **sections,
        faults=(Fault(**{**kept, "fail": {key: list(names[0])}}),),
        study=Ensemble(seeds=(seed,), sweep={"faults": turns}),
    )


def _digest(study: Study) -> str:
    keys = json.dumps([run.key for run in study.runs()])
    return sha256(keys.encode()).hexdigest()[:12]


def _by_lost(
    losses: Sequence[tuple[int, ...]], seconds: Sequence[float | None], source: str
) -> RepairTimes:
    """Times by how many were lost; where nothing was to rebuild, none."""
    found: dict[int, list[float]] = {}
    for lost, one in zip(losses, seconds, strict=True):
        if one is not None and one > 0:
            found.setdefault(len(lost), []).append(float(one))
    if 1 not in found:
        rule = "no run of the study rebuilt anything, so no repair has a time"
        remedy = 'say how long one takes, such as repair = "10 h"'
        raise ConfigError(rule, remedy, key="repair", value=show("simulate"))
    by_lost: list[tuple[float, ...]] = []
    for number in range(1, max(found) + 1):
        # Where no such loss left anything to rebuild, that of fewer holds.
        by_lost.append(tuple(sorted(found.get(number, by_lost[-1] if by_lost else []))))
    return RepairTimes(tuple(by_lost), source)


def healing_times(
    report: ClusterReport,
    used: npt.NDArray[np.int64],
    tolerance: int,
    seed: int,
    done: Done | None = None,
) -> RepairTimes:
    """The times in which a real cluster heals once OSDs are out, as `resilver.what_if` finds them.

    Args:
        used: The numbers of the OSDs that hold something.
        tolerance: How many lost OSDs the codes survive at the most.
        seed: Draws the OSDs that fail.
        done: Told how far it is.

    Returns:
        As `rebuild_times`, without the time until OSDs are out (`marking_out_seconds`), in which
        nothing is made anew.

    Raises:
        ConfigError: The cluster does not heal within the horizon of a what-if.
    """
    from resilver.simulate.ceph import HealProgress
    from resilver.whatif.options import Request
    from resilver.whatif.perform import changes_of, run_all
    from resilver.whatif.request import Prepared, prepare

    up = {osd.id for osd in report.osds if osd.up}
    losses = lost_devices(np.array([osd for osd in used if int(osd) in up]), tolerance, seed)
    base = prepare(report, changes_of(None), Request())

    def failing(osds: tuple[int, ...]) -> Prepared:
        failure = {"at_seconds": 0.0, "change": {"kind": "fail", "osds": list(osds)}}
        return replace(base, input={**base.input, "plan": [failure, *base.input["plan"]]})

    def tell(finished: int, total: int, _: HealProgress) -> bool:
        if done is not None:
            try:
                done(finished, total)
            except Interrupted:
                return False
        return True

    outcomes = run_all(
        [lambda osds=osds: failing(osds) for osds in losses],  # type: ignore[misc]
        tell,
        lambda answer: answer.outcome,
    )
    wait = _marking_out(base.input)
    seconds = [
        None if one.degraded_seconds is None else max(one.degraded_seconds - wait, 1.0)
        for one in outcomes
    ]
    if None in seconds:
        rule = (
            f"after some losses the cluster is not whole within the {Request().horizon} simulated"
        )
        remedy = 'see why by resilver what-if, or say how long a repair takes: repair = "10 h"'
        raise ConfigError(rule, remedy, key="repair", value=show("simulate"))
    return _by_lost(losses, seconds, f"{len(losses)} losses in what-ifs of this cluster")


def marking_out_seconds(report: ClusterReport) -> float:
    """From an OSD's death until Ceph marks it out and its data is made anew elsewhere.

    Returns:
        The grace of heartbeats and the interval until down OSDs are out, as its configuration or
        its release has them.
    """
    from resilver.whatif.options import Request
    from resilver.whatif.perform import changes_of
    from resilver.whatif.request import prepare

    return _marking_out(prepare(report, changes_of(None), Request()).input)


def _marking_out(given: Mapping[str, Any]) -> float:
    settings = given["settings"]
    return float(settings["osd_heartbeat_grace"] + settings["mon_osd_down_out_interval"])
