"""Where our numbers come from: the runs of a study that ships, or a measurement without runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resilver.reproduce.compare import Row
from resilver.reproduce.entries import Entry, entry
from resilver.reproduce.measured import measured
from resilver.reproduce.serving import labelled, serving_columns
from resilver.reproduce.streaming import group_columns, over_analytic

if TYPE_CHECKING:
    from resilver.spec import Run, Study
    from resilver.study import Results

Perform = Callable[["Study", Path, int | None], "Results"]
"""Executes a study into a folder with so many workers, and shows its progress."""

PHASES = ("placing", "scanning", "rebuilding")
"""The phases of a run, whose seconds the table `runs` has."""


@dataclass(frozen=True)
class Evidence:
    """What an entry's numbers and pictures are made from.

    Args:
        rows: A row a run, or a row a measurement.
        results: The run folder; None where there are no runs.
    """

    rows: tuple[Row, ...]
    results: Results | None = None


@dataclass(frozen=True)
class Wishes:
    """What a person asked for.

    Args:
        seeds: Seeds a point, instead of the study's own.
        settings: Overrides of the study as KEY=VALUE.
        workers: Parallel processes; None for one a processor.
    """

    seeds: int | None = None
    settings: tuple[str, ...] = ()
    workers: int | None = None

    @property
    def overrides(self) -> list[str]:
        """The overrides of a study file that follow from them."""
        seeds = [] if self.seeds is None else [f"study.seeds={self.seeds}"]
        return [*seeds, *self.settings]


@dataclass
class Gatherer:
    """Gathers the evidence of entries into one folder, each entry's only once.

    Args:
        folder: Where the run folders are, one an entry.
        wishes: What was asked for.
        perform: Executes a study.
    """

    folder: Path
    wishes: Wishes
    perform: Perform
    known: dict[str, Evidence] = field(default_factory=dict)

    def of(self, one: Entry) -> Evidence:
        """The evidence of an entry; what its folder has already is not done again.

        Args:
            one: The entry.

        Raises:
            ConfigError: The study with the wished settings is not valid, or a folder cannot be
                used.
        """
        if one.name not in self.known:
            self.known[one.name] = self._gather(one)
        return self.known[one.name]

    def check(self, one: Entry) -> int:
        """Validate an entry's study before anything runs.

        Args:
            one: The entry.

        Returns:
            How many runs it has.

        Raises:
            ConfigError: The study with the wished settings is not valid.
        """
        return len(shipped_study(one.name, self.wishes.overrides).runs()) if one.has_runs else 0

    def beside(self, one: Entry, name: str) -> Evidence:
        """The evidence of another entry, at the sizes of systems that this one has.

        Args:
            one: The entry that needs it.
            name: The other entry.
        """
        if name in self.known:
            return self.known[name]
        own = shipped_study(one.name, self.wishes.overrides).runs()
        servers = sorted({run.system.server_count for run in own})
        # The whole study shares this folder: it adds its other sizes to these.
        sweep = f'study.sweep={{ "cluster.servers" = {json.dumps(servers)} }}'
        study = shipped_study(name, [*self.wishes.overrides, sweep])
        evidence = self._runs(study, name, self.wishes.workers)
        self.known[name] = evidence
        return evidence

    def _gather(self, one: Entry) -> Evidence:
        if not one.has_runs:
            return Evidence(tuple(measured(one.kind, one.options)))
        study = shipped_study(one.name, self.wishes.overrides)
        workers = self.wishes.workers if one.workers is None else one.workers
        return self._runs(study, one.name, workers)

    def _runs(self, study: Study, name: str, workers: int | None) -> Evidence:
        results = self._kept(study, name) or self.perform(study, self.folder / name, workers)
        by_key = {run.key: run for run in study.runs()}
        rows = [row for row in results.to_records() if row["run"] in by_key]
        labels = entry(name).labels
        made = [derived(row, by_key[row["run"]]) for row in rows]
        served = _serving(made, results, study)
        streamed = _streaming(made, results, by_key)
        return Evidence(
            tuple(
                {
                    **row,
                    **served.get(row["run"], {}),
                    **streamed.get(row["run"], {}),
                    **labelled(row, labels),
                }
                for row in made
            ),
            results,
        )

    def _kept(self, study: Study, name: str) -> Results | None:
        """The results of a folder that has these runs and more, such as further seeds."""
        from resilver.errors import ConfigError
        from resilver.study import Results

        path = self.folder / name
        try:
            results = Results.open(path, partial=True)
        except ConfigError:
            return None
        kept = set(results.runs["run"].to_pylist())
        return results if {run.key for run in study.runs()} <= kept else None


def _serving(rows: Sequence[Row], results: Results, study: Study) -> dict[str, dict[str, Any]]:
    """What follows from the tables of runs with traffic; nothing where there is none."""
    if not any(row.get("requests_completed") is not None for row in rows):
        return {}
    device = study.cluster.device
    times = [getattr(device, name, None) for name in ("read_service", "write_service")]
    is_fixed = getattr(device, "distribution", None) == "fixed"
    seconds = min(float(time) for time in times if time) if is_fixed and all(times) else None
    return serving_columns(rows, results.servers, seconds)


def _streaming(
    rows: Sequence[Row], results: Results, runs: Mapping[str, Run]
) -> dict[str, dict[str, Any]]:
    """What follows from the table of groups; nothing where no run streams over groups."""
    lanes = {key: run.system.lanes for key, run in runs.items()}
    bursts = {
        key: run.system.traffic is not None
        and run.system.traffic.streams is not None
        and run.system.traffic.streams.bursts is not None
        for key, run in runs.items()
    }
    shares = {
        key: 1.0 if one is None else one.shares_with(bursts=bursts[key])[0]
        for key, one in lanes.items()
    }
    ports = {key: run.system.cluster.ports for key, run in runs.items()}
    return group_columns(rows, results.stripe_groups, shares, ports)


def shipped_study(name: str, overrides: Sequence[str] = ()) -> Study:
    """A study that ships.

    Args:
        name: Its name.
        overrides: KEY=VALUE texts that replace keys of it.

    Raises:
        ConfigError: It is not valid with these.
    """
    from resilver.spec import Study

    with as_file(files("resilver.catalog") / "studies" / name / "study.toml") as path:
        return Study.load(path, overrides=overrides)


def derived(row: dict[str, Any], run: Run) -> Row:
    """A run with what follows from its metrics.

    Args:
        row: The run's row of the table `runs`.
        run: The run.

    Returns:
        The row with ``first_fault_seconds``, ``population_replicas``, ``events_per_second``, the
        wall time a rebuilt object, and, where the phases were timed, the share of each and what
        rebuilding alone took for a rebuilt object; for clients in a closed loop
        ``little_delay_seconds``, see `_little_delay`; for streams rates over the analytic ones.
    """
    added: dict[str, Any] = {}
    if run.system.faults:
        added["first_fault_seconds"] = min(float(fault.at) for fault in run.system.faults)
    if run.system.copies is not None and row.get("population_objects") is not None:
        added["population_replicas"] = row["population_objects"] * run.system.copies
    delay = _little_delay(row, run)
    if delay is not None:
        added["little_delay_seconds"] = delay
    wall = row.get("wall_seconds")
    if wall:
        added["events_per_second"] = row["events"] / wall
        if row.get("rebuilt_objects"):
            added["wall_seconds_per_rebuilt_object"] = wall / row["rebuilt_objects"]
            if row.get("rebuilding_seconds") is not None:
                spent = row["rebuilding_seconds"] / row["rebuilt_objects"]
                added["rebuilding_seconds_per_rebuilt_object"] = spent
    seconds = {phase: row.get(f"{phase}_seconds") for phase in PHASES}
    known = {phase: float(value) for phase, value in seconds.items() if value is not None}
    total = sum(known.values())
    added |= {f"{phase}_share": value / total for phase, value in known.items() if total > 0.0}
    return {**row, **added, **over_analytic(row)}


def _little_delay(row: Row, run: Run) -> float | None:
    """The mean delay of a request that Little's law gives for a closed loop.

    Of N requests outstanding each is waited for, or paused until it is issued, for half the
    interval in the mean: N = X (delay + interval / 2) at X completions a second.
    """
    traffic, window = run.system.traffic, row.get("statistics_seconds")
    completed = row.get("requests_completed")
    if traffic is None or traffic.outstanding is None or not window or not completed:
        return None
    return float(traffic.outstanding * window / completed - traffic.interval_seconds / 2.0)
