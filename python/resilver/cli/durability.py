"""`resilver durability`: how likely codes, layouts, studies and real clusters lose data."""

from __future__ import annotations

from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resilver.answer import Answer
from resilver.cli.console import say
from resilver.cli.loading import codes_of
from resilver.cli.options import (
    FigureFormat,
    Workers,
    figure_format,
    figures_output,
    page_output,
)
from resilver.cli.progress import SELDOM_SECONDS, Display
from resilver.data_loss.request import DurabilityRequest, Where
from resilver.errors import ConfigError
from resilver.request import argument, option
from resilver.units import format_duration

if TYPE_CHECKING:
    from resilver.data_loss.scenario import Estimating
    from resilver.spec import Study


@dataclass(frozen=True)
class Systems:
    """The systems."""

    what: tuple[str, ...] = argument(
        "WHAT",
        text='A code, such as "rs 8+3", or a range: "rs 4..12+2..4"; a study file or the name of a '
        "study in the catalog; dumps of a Ceph cluster (a `ceph report`, a folder, an archive); "
        "or several of these, which are compared.",
    )
    settings: tuple[str, ...] = option(
        "--set",
        metavar="KEY=VALUE",
        rich_help_panel="System",
        text="Override one key of each study, for example --set 'redundancy.code=\"rs 8+3\"'.",
        default=(),
    )


@dataclass(frozen=True)
class Places:
    """Where the answer goes."""

    page: Path | None = page_output()
    tables: Path | None = option(
        metavar="DIR",
        text="Write the tables of the answer to this folder, as CSV.",
        is_output=True,
    )
    keep: Path | None = option(
        metavar="DIR",
        text="Keep simulated missions in this folder; the same command resumes from it.",
        is_output=True,
    )
    figures: Path | None = figures_output()
    figure_format: FigureFormat = figure_format()


def durability(
    systems: Systems,
    request: DurabilityRequest,
    places: Places,
    workers: Workers,
    as_json: bool = False,
    quiet: bool = False,
) -> Answer:
    """Estimate the probability of data loss, with confidence intervals.

    Shows the probability of data loss within a mission, its nines, the mean time to data loss, the
    bytes lost and the causes. Exact where a model can be solved, else simulated until the stated
    error.

    Exits with 1 if the probability remains unknown; then its upper bound is shown.

    Examples:

    resilver durability "rs 8+3" --afr 1.36% --repair "10 h"

    resilver durability "rs 4..12+2..4" "copies 3" --afr 1.36% --repair "10 h" -o codes.html

    resilver durability study.toml --mission "10 y" --sensitivity --bursts 6 --keep runs/durability

    resilver durability bundle.tar.zst --drive hdd=backblaze-2025
    """
    from resilver.data_loss.perform import answer_of
    from resilver.report.durability import durability_answer

    what = _read(systems)
    display = _Display(quiet=quiet or as_json, every=SELDOM_SECONDS)
    with _executor(workers) as executor, display as told:
        where = Where(places.keep, workers.workers, executor)
        try:
            found = answer_of(what[0] if len(what) == 1 else what, request, where, told)
        except KeyboardInterrupt:
            if places.keep is not None:
                say(f"what was simulated is in {places.keep}; the same command resumes from it")
            raise
    return durability_answer(found)


def _read(systems: Systems) -> list[str | Study]:
    """Studies with their settings; codes and dumps by their names."""
    from resilver import catalog
    from resilver.cli.loading import load_study

    studies = catalog.list("studies")
    found: list[str | Study] = []
    for word in codes_of(systems.what):
        is_study = word.endswith(".toml") or (word in studies and not Path(word).exists())
        found.append(load_study(Path(word), systems.settings) if is_study else word)
    if systems.settings and all(isinstance(one, str) for one in found):
        rule = "overrides are of studies, and none is named"
        value = f'"{systems.settings[0]}"'
        raise ConfigError(rule, "name a study file", "--set", value)
    return found


def _executor(workers: Workers) -> AbstractContextManager[Any]:
    """What performs simulations elsewhere; None for this machine."""
    if workers.cluster is None and workers.cluster_config is None:
        return nullcontext()
    from resilver.study.executors import choose

    cluster, config = workers.cluster, workers.cluster_config
    return closing(choose(cluster, workers=workers.workers, cluster_config=config))


class _Display(Display):
    def __call__(self, state: Estimating) -> bool:
        text = progress_words(state)
        if state.phase == "repairs" and 0 < state.done < state.total:
            left = self.left(state.done / state.total) or 0.0
            text += f", some {format_duration(left)} left"
        self.show(text)
        return True


def progress_words(state: Estimating) -> str:
    """How far an answer is, in a line."""
    if state.phase == "repairs":
        return f"{state.name}: {state.done:,} of {state.total:,} rebuilds"
    if not state.total:
        return f"{state.name}: choosing a method"
    text = f"{state.name}: {state.done:,} of at most {state.total:,} missions"
    if state.relative_error is None:
        return f"{text}, no loss yet"
    share = 100.0 * state.relative_error
    return f"{text}, error {share:.0f} %" if share >= 10.0 else f"{text}, error {share:.1f} %"
