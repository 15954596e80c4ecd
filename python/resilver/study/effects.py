"""What each assumption is worth: the run again with each of them halved and doubled."""

from __future__ import annotations

import contextlib
import json
import math
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resilver.counterfactuals import FACTOR, Counterfactual
from resilver.errors import ConfigError
from resilver.spec.run import Run, canonical_system, run_key
from resilver.study.counterfactuals import Lever, levers
from resilver.study.execution import execute
from resilver.study.files import replace_text

if TYPE_CHECKING:
    from resilver.spec import Study, System

FILE = "sensitivity.json"
"""What a run folder keeps of it."""

_AS_IT_IS = "as it is"
_METRICS = ("rebuild_seconds", "throughput_bytes_per_second", "requests_completed")


@dataclass(frozen=True)
class Effect:
    """What one assumption is worth.

    Attributes:
        assumption: What it is, such as ``devices``.
        key: The key of the study file that states it.
        base: Its value, in words.
        low: The lower value.
        high: The higher value.
        metric: What the other figures are of: ``rebuild_seconds``, or without a rebuild
            ``throughput_bytes_per_second``, or where no data moves ``requests_completed``.
        base_value: The metric as the study is; None where a run has none.
        low_value: The metric at the lower value; None where no such system can be.
        high_value: The metric at the higher value.
        relaxed: Which of the two is a system with more to rebuild by: ``low`` or ``high``; empty
            for what is asked of a system rather than how it is made.
    """

    assumption: str
    key: str
    base: str
    low: str
    high: str
    metric: str
    base_value: float | None
    low_value: float | None
    high_value: float | None
    relaxed: str = ""

    @property
    def changes(self) -> tuple[float | None, float | None]:
        """What the metric changes by at the lower and at the higher value, as shares of it."""
        return self._change(self.low_value), self._change(self.high_value)

    @property
    def swing(self) -> float:
        """The larger of the two changes, whichever its sign."""
        return max((abs(one) for one in self.changes if one is not None), default=0.0)

    @property
    def counterfactual(self) -> Counterfactual | None:
        """The rebuild with this relaxed; None where that is no system, or nothing is rebuilt."""
        if not self.relaxed or self.metric != _METRICS[0] or not self.base_value:
            return None
        low, high = self.changes
        sides = {"low": (self.low, self.low_value, low), "high": (self.high, self.high_value, high)}
        after, seconds, change = sides[self.relaxed]
        if seconds is None or change is None:
            return None
        return Counterfactual(self.assumption, self.key, self.base, after, seconds, -change)

    @property
    def gain(self) -> float:
        """The share that clients get more of with this relaxed; 0 where it is nothing to relax."""
        if not self.relaxed or self.metric == _METRICS[0]:
            return 0.0
        return self.changes[self.relaxed == "high"] or 0.0

    def _change(self, value: float | None) -> float | None:
        if value is None or not self.base_value:
            return None
        return value / self.base_value - 1

    def record(self) -> dict[str, Any]:
        """The effect as a flat dictionary."""
        low, high = self.changes
        return {**asdict(self), "low_change": low, "high_change": high}


def sensitivity(
    study: Study,
    folder: str | Path | None = None,
    *,
    factor: float = FACTOR,
    workers: int | None = None,
    **options: Any,
) -> list[Effect]:
    """Run a study's system again with each of its assumptions lower and higher.

    All else is as it is, the seed too. Of a study that sweeps, the system of most devices is
    taken, of several such the last.

    Args:
        folder: Its run folder, which then keeps the runs and what came of them; by default nothing
            is kept.
        factor: By how much: 2 for half and for twice as much.
        workers: As for `execute`.
        options: Further arguments of `execute`.

    Returns:
        An effect for each assumption that is a number, the weightiest first.

    Raises:
        ConfigError: The factor is not above 1, or what `execute` raises.

    >>> from resilver import Cluster, Fault, Population, Study
    >>> study = Study(
    ...     cluster=Cluster(servers=8),
    ...     population=Population(file_size="8 MiB", files=200),
    ...     faults=[Fault(fail={"servers": ["server.0"]})],
    ... )
    >>> sensitivity(study, workers=0)[0].assumption  # doctest: +SKIP
    'devices'
    """
    if not 1 < factor < math.inf:
        rule = "assumptions are divided and multiplied by a factor above 1"
        raise ConfigError(rule, "such as 2", key="factor", value=str(factor))
    if study.points[0].system.report is not None:
        rule = "a real Ceph cluster's answer lists what would help, with a run of each"
        raise ConfigError(rule, "leave --sensitivity out", key="cluster.ceph")
    variations = _Variations(study, factor)
    with _place(folder) as place:
        results = execute(variations, place, workers=workers, **options)  # type: ignore[arg-type]
        effects = _effects(variations, results.to_records())
    if folder is not None:
        kept = {
            "factor": factor,
            "run": variations.base.key,
            "system": {key: str(value) for key, value in variations.swept.items()},
            "effects": [asdict(one) for one in effects],
        }
        replace_text(Path(folder) / FILE, json.dumps(kept, indent=1) + "\n")
    return effects


def read_effects(folder: Path, run_keys: Sequence[str]) -> list[Effect]:
    """The effects that a run folder keeps; none where they are of another study's run.

    Raises:
        ConfigError: The file is there and cannot be read.
    """
    path = folder / FILE
    if not path.exists():
        return []
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        return [Effect(**one) for one in kept["effects"]] if kept["run"] in run_keys else []
    except (OSError, ValueError, KeyError, TypeError) as error:
        remedy = "make it again with `resilver run --sensitivity`"
        raise ConfigError(f"{str(path)!r} cannot be read ({error}); {remedy}") from error


@contextlib.contextmanager
def _place(folder: str | Path | None) -> Iterator[Path]:
    """Where the runs go: into the run folder, or where nothing is kept."""
    if folder is not None:
        yield Path(folder) / "sensitivity"
        return
    with tempfile.TemporaryDirectory() as made:
        yield Path(made) / "sensitivity"


class _Variations:
    """The study of all variations: one run as it is, and two for each assumption."""

    def __init__(self, study: Study, factor: float) -> None:
        from resilver import __version__

        points = {id(run.system): run for run in study.runs()}
        chosen = max(
            enumerate(points.values()), key=lambda item: (item[1].system.server_count, item[0])
        )[1]
        self.study, self.factor = study, factor
        self.system: System = chosen.system
        self.swept = dict(chosen.swept)
        seed = study.study.seeds[0]

        def run(system: System, name: str, change: float) -> Run:
            key = run_key(canonical_system(system), seed, str(__version__))
            return Run(system, {"assumption": name, "change": change}, seed, key)

        self.base = run(self.system, _AS_IT_IS, 1.0)
        self.levers: list[Lever] = levers(self.system)
        self._runs = [self.base]
        for lever in self.levers:
            for change in (1 / factor, factor):
                if (turned := lever.turned(change)) is not None:
                    self._runs.append(run(turned, lever.name, change))

    def runs(self) -> list[Run]:
        """Every run."""
        return list(self._runs)

    def resolved(self) -> dict[str, Any]:
        """The system as it is, and by how much what is turned."""
        turned = {"factor": self.factor, "assumptions": [lever.name for lever in self.levers]}
        ensemble = {"title": "What each assumption is worth", "seeds": [self.base.seed]}
        return {**self.system.resolved(), "study": {**ensemble, "sensitivity": turned}}

    def to_toml(self, keep: Callable[[Path], str] = str) -> str:
        """The study that the system is of, files named by `keep`."""
        return self.study.to_toml(keep)

    def assumptions(self) -> list[Any]:
        """What the study rests on."""
        return self.study.assumptions()

    def chances(self) -> tuple[str, ...]:
        """What the seeds draw."""
        return self.study.chances()


def _effects(variations: _Variations, rows: list[dict[str, Any]]) -> list[Effect]:
    """The effects, the weightiest first."""
    base = next(row for row in rows if row["assumption"] == _AS_IT_IS)
    metric = next((name for name in _METRICS if base.get(name)), _METRICS[0])
    found = {(row["assumption"], row["change"] > 1): row[metric] for row in rows}
    effects = [
        Effect(
            lever.name,
            lever.key,
            lever.words(1.0),
            lever.words(1 / variations.factor),
            lever.words(variations.factor),
            metric,
            base[metric],
            found.get((lever.name, False)),
            found.get((lever.name, True)),
            lever.relaxed,
        )
        for lever in variations.levers
    ]
    return sorted(effects, key=lambda one: -one.swing)
