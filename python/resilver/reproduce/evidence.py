"""Where our numbers come from: the runs of a study that ships, or a measurement without runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from resilver.errors import ConfigError
from resilver.reproduce.entries import Entry
from resilver.reproduce.measured import measured
from resilver.reproduce.tables import table_of
from resilver.spec import Study
from resilver.study import Results
from resilver.study.folder import RunFolder

if TYPE_CHECKING:
    import pyarrow as pa

    from resilver.spec import Study
    from resilver.study import Results

Perform = Callable[["Study", Path, int | None], "Results"]
"""Executes a study into a folder with so many workers, and shows its progress."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """What an entry's numbers and pictures are made from.

    Args:
        runs: A row a run, or a row a measurement. A run has its system as JSON in ``system``, as
            `resilver.spec.System.resolved` gives it.
        results: The run folder; None where there are no runs.
    """

    runs: pa.Table
    results: Results | None = None

    @cached_property
    def rows(self) -> tuple[dict[str, Any], ...]:
        """The same as dictionaries."""
        return tuple(self.runs.to_pylist())


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
    def changed(self) -> frozenset[str]:
        """The keys of the study that somebody changed."""
        return frozenset(setting.partition("=")[0].strip() for setting in self.settings)

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

        Raises:
            ConfigError: The study with the wished settings is not valid, or a folder cannot be
                used.
        """
        if one.name not in self.known:
            self.known[one.name] = self._gather(one)
        return self.known[one.name]

    def check(self, one: Entry) -> int:
        """Validate an entry's study and the folders of its runs before anything runs.

        Returns:
            How many runs it has.

        Raises:
            ConfigError: The study with the wished settings is not valid, or a folder belongs to
                another study.
        """
        if not one.has_runs:
            return 0
        studies = {one.name: shipped_study(one.name, self.wishes.overrides)}
        studies |= {name: self._beside(one, name) for name in one.beside}
        for name, study in studies.items():
            if self._kept(study, name) is None:
                RunFolder(self.folder / name).check(study, study.runs())
        return len(studies[one.name].runs())

    def has_all(self, one: Entry) -> bool:
        """Whether its folder has every run of an entry already."""
        study = shipped_study(one.name, self.wishes.overrides) if one.has_runs else None
        return study is not None and self._kept(study, one.name) is not None and not one.beside

    def beside(self, one: Entry, name: str) -> Evidence:
        """The evidence of another entry, at the sizes of systems that this one has.

        Args:
            one: The entry that needs it.
            name: The other entry.
        """
        if name not in self.known:
            self.known[name] = self._runs(self._beside(one, name), name, self.wishes.workers)
        return self.known[name]

    def _beside(self, one: Entry, name: str) -> Study:
        own = shipped_study(one.name, self.wishes.overrides).runs()
        servers = sorted({run.system.server_count for run in own})
        # The whole study shares this folder: it adds its other sizes to these.
        sweep = f'study.sweep={{ "cluster.servers" = {json.dumps(servers)} }}'
        return shipped_study(name, [*self.wishes.overrides, sweep])

    def _gather(self, one: Entry) -> Evidence:
        if not one.has_runs:
            return Evidence(table_of(measured(one.kind, one.options)))
        study = shipped_study(one.name, self.wishes.overrides)
        workers = self.wishes.workers if one.workers is None else one.workers
        return self._runs(study, one.name, workers)

    def _runs(self, study: Study, name: str, workers: int | None) -> Evidence:
        results = self._kept(study, name) or self.perform(study, self.folder / name, workers)
        by_key = {run.key: run for run in study.runs()}
        kept = pa.array([key in by_key for key in results.runs["run"].to_pylist()])
        runs = results.runs.filter(kept)
        systems = [json.dumps(by_key[key].system.resolved()) for key in runs["run"].to_pylist()]
        runs = runs.append_column("system", pa.array(systems, pa.string()))
        # What the study as it ships sweeps and a changed one does not, no run tells apart.
        for key in shipped_study(name).runs()[0].swept:
            if key not in runs.column_names:
                runs = runs.append_column(key, pa.nulls(runs.num_rows))
        return Evidence(runs, results)

    def _kept(self, study: Study, name: str) -> Results | None:
        """The results of a folder that has these runs and more, such as further seeds."""
        path = self.folder / name
        try:
            results = Results.open(path, partial=True)
        except ConfigError:
            return None
        kept = set(results.runs["run"].to_pylist())
        return results if {run.key for run in study.runs()} <= kept else None


def shipped_study(name: str, overrides: Sequence[str] = ()) -> Study:
    """A study that ships.

    Args:
        name: Its name.
        overrides: KEY=VALUE texts that replace keys of it.

    Raises:
        ConfigError: It is not valid with these.
    """
    with as_file(files("resilver.catalog") / "studies" / name / "study.toml") as path:
        return Study.load(path, overrides=overrides)
