"""What each assumption is worth: the run again with each of them lower and higher by a share."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resilver.errors import ConfigError, Problem
from resilver.spec.run import Run, canonical_system, run_key
from resilver.study.execution import execute
from resilver.study.files import replace_text
from resilver.study.levers import Lever, levers

if TYPE_CHECKING:
    from resilver.spec import Study, System

SHARE = 0.2
"""By how much each assumption is made lower and higher."""

FILE = "sensitivity.json"
"""What a run folder keeps of it."""

_AS_IT_IS = "as it is"
_METRICS = ("rebuild_seconds", "throughput_bytes_per_second")


@dataclass(frozen=True)
class Effect:
    """What one assumption is worth.

    Attributes:
        assumption: What it is, such as ``device rate``.
        key: The key of the study file that states it.
        base: Its value, in words.
        low: The lower value.
        high: The higher value.
        metric: What the other figures are of: ``rebuild_seconds``, or without a rebuild
            ``throughput_bytes_per_second``.
        base_value: The metric as the study is; None where a run has none.
        low_value: The metric at the lower value; None where no such system can be.
        high_value: The metric at the higher value.
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

    @property
    def changes(self) -> tuple[float | None, float | None]:
        """What the metric changes by at the lower and at the higher value, as shares of it."""
        return self._change(self.low_value), self._change(self.high_value)

    @property
    def swing(self) -> float:
        """The larger of the two changes, whichever its sign."""
        return max((abs(one) for one in self.changes if one is not None), default=0.0)

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
    share: float = SHARE,
    workers: int | None = None,
    **options: Any,
) -> list[Effect]:
    """Run a study's system again with each of its assumptions lower and higher.

    All else is as it is, the seed too. Of a study that sweeps, the system of most devices is
    taken, of several such the last.

    Args:
        study: The study.
        folder: Its run folder, which then keeps the runs and what came of them; by default nothing
            is kept.
        share: By how much: 0.2 for 20 % less and 20 % more.
        workers: As for `execute`.
        options: Further arguments of `execute`.

    Returns:
        An effect for each assumption that is a number, the weightiest first.

    Raises:
        ConfigError: The share is not between 0 and 1, or what `execute` raises.

    >>> from resilver import Cluster, Fault, Population, Study
    >>> study = Study(
    ...     cluster=Cluster(servers=8),
    ...     population=Population(file_size="8 MiB", files=200),
    ...     faults=[Fault(fail={"servers": ["server.0"]})],
    ... )
    >>> sensitivity(study, workers=0)[0].assumption  # doctest: +SKIP
    'device rate'
    """
    if not 0 < share < 1:
        rule = "assumptions are turned by a share between 0 and 1"
        raise ConfigError(Problem(rule, "such as 0.2", key="share", value=str(share)))
    variations = _Variations(study, share)
    with _place(folder) as place:
        results = execute(variations, place, workers=workers, **options)  # type: ignore[arg-type]
        effects = _effects(variations, results.to_records())
    if folder is not None:
        kept = {
            "share": share,
            "run": variations.base.key,
            "system": {key: str(value) for key, value in variations.swept.items()},
            "effects": [asdict(one) for one in effects],
        }
        replace_text(Path(folder) / FILE, json.dumps(kept, indent=1) + "\n")
    return effects


def read_effects(folder: Path, run_keys: Sequence[str]) -> list[Effect]:
    """The effects that a run folder keeps; none where they are of another study's run.

    Args:
        folder: The run folder.
        run_keys: The keys of its runs.

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

    def __init__(self, study: Study, share: float) -> None:
        from resilver import __version__

        points = {id(run.system): run for run in study.runs()}
        chosen = max(
            enumerate(points.values()), key=lambda item: (item[1].system.server_count, item[0])
        )[1]
        self.study, self.share = study, share
        self.system: System = chosen.system
        self.swept = dict(chosen.swept)
        seed = study.study.seeds[0]

        def run(system: System, name: str, change: float) -> Run:
            key = run_key(canonical_system(system), seed, str(__version__))
            return Run(system, {"assumption": name, "change": change}, seed, key)

        self.base = run(self.system, _AS_IT_IS, 0.0)
        self.levers: list[Lever] = levers(self.system)
        self._runs = [self.base]
        for lever in self.levers:
            for change in (-share, share):
                if (turned := lever.turned(1 + change)) is not None:
                    self._runs.append(run(turned, lever.name, change))

    def runs(self) -> list[Run]:
        """Every run."""
        return list(self._runs)

    def resolved(self) -> dict[str, Any]:
        """The system as it is, and by how much what is turned."""
        turned = {"share": self.share, "assumptions": [lever.name for lever in self.levers]}
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
    found = {(row["assumption"], row["change"] > 0): row[metric] for row in rows}
    effects = [
        Effect(
            lever.name,
            lever.key,
            lever.words(1.0),
            lever.words(1 - variations.share),
            lever.words(1 + variations.share),
            metric,
            base[metric],
            found.get((lever.name, False)),
            found.get((lever.name, True)),
        )
        for lever in variations.levers
    ]
    return sorted(effects, key=lambda one: -one.swing)
