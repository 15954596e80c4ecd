"""`resilver durability`: how likely codes, layouts, studies and real clusters lose data."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import fields
from itertools import product
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resilver.cli.console import EXIT_FAILED, make_folder, print_json, say
from resilver.cli.durability_options import Question, System
from resilver.cli.live_line import LiveLine
from resilver.cli.options import FigureFormat, Figures, Format, Json, Quiet, Workers
from resilver.cli.saving import check_output, save_whole
from resilver.errors import ConfigError, Problem
from resilver.units import format_duration

if TYPE_CHECKING:
    from resilver.data_loss.answer import Durabilities, Durability
    from resilver.data_loss.reports import Estimating
    from resilver.data_loss.request import Asked
    from resilver.spec import Study

_RANGE = re.compile(r"(\d{1,6})\.\.(\d{1,6})")
_CODES_MAX = 2000
"""Codes that ranges name; more points than these are no picture."""


def durability(
    system: System,
    question: Question,
    workers: Workers,
    figures: Figures = None,
    figure_format: Format = FigureFormat.png,
    as_json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Estimate the probability of data loss, with confidence intervals.

    Shows the probability of data loss within a mission, its nines, the mean time to data loss, the
    bytes lost and the causes. Exact where a model can be solved, else simulated until the stated
    error.

    Exits with 1 if the probability remains unknown; then its upper bound is shown.

    Examples:

    resilver durability "rs 8+3" --afr 1.36% --repair "10 h"

    resilver durability "rs 4..12+2..4" "copies 3" --afr 1.36% --repair "10 h" -o codes.html

    resilver durability study.toml --mission "10 y" --sensitivity --bursts 6 --keep runs/durability

    resilver durability bundle.tar.zst --drive hdd=st12000nm0007
    """
    from resilver.data_loss.answer import Durabilities
    from resilver.data_loss.perform import answer_of
    from resilver.data_loss.request import Where

    _check(system, question)
    for folder, option_name in ((question.tables, "--tables"), (figures, "--figures")):
        if folder is not None:
            make_folder(folder, f"the folder of {option_name}", option_name)
    what = _systems(system)
    asked = _asked(system, question)
    choice = _executor(workers)
    try:
        where = Where(question.keep, workers.workers, choice)
        with _Display(quiet=quiet or as_json) as told:
            found = answer_of(what[0] if len(what) == 1 else what, asked, where, told)
    except KeyboardInterrupt:
        if question.keep is not None:
            say(f"what was simulated is in {question.keep}; the same command goes on from there")
        raise
    finally:
        if choice is not None:
            choice.close()
    systems = found.systems if isinstance(found, Durabilities) else (found,)
    written = _write(found, question, figures, figure_format, _command(system, question))
    if as_json:
        print_json(found.to_dict())
    elif not quiet:
        from resilver.cli.durability_answer import print_durability

        print_durability(found)
        for path in written:
            say(f"wrote {path}")
    return EXIT_FAILED if any(one.loss_probability.value is None for one in systems) else 0


def _check(system: System, question: Question) -> None:
    """Refuse what cannot be, before anything is simulated."""
    check_output(question.page, reads=system.what)


def _systems(system: System) -> list[str | Study]:
    """What is asked about: studies with their settings; a code without quotes is put together."""
    from resilver import catalog

    studies = catalog.list("studies")
    found: list[str | Study] = []
    for word in _coded(system.what):
        if word.endswith(".toml") or (word in studies and not Path(word).exists()):
            from resilver.cli.loading import load_study

            found.append(load_study(Path(word), system.settings))
        else:
            found.append(word)
    if system.settings and all(isinstance(one, str) for one in found):
        rule = "overrides are of studies, and none is named"
        raise ConfigError(Problem(rule, "name a study file", "--set", f'"{system.settings[0]}"'))
    return found


def _coded(words: Sequence[str]) -> list[str]:
    """The words with their ranges written out; ``rs 8+3`` without quotes is put together."""
    from resilver.simulate import code_tree

    if len(words) > 1 and not any(Path(word).exists() for word in words):
        try:
            for word in words:
                code_tree(_ranged(word)[0])
        except ConfigError:
            try:
                code_tree(_ranged(" ".join(words))[0])
            except ConfigError:
                return list(words)
            return _ranged(" ".join(words))
    return [one for word in words for one in ([word] if Path(word).exists() else _ranged(word))]


def _ranged(word: str) -> list[str]:
    """The codes that one word names: ``rs 4..6+2`` is three of them."""
    parts = _RANGE.split(word)
    ends = list(zip(map(int, parts[1::3]), map(int, parts[2::3]), strict=True))
    count = prod(last - first + 1 for first, last in ends)
    if any(first > last for first, last in ends) or count > _CODES_MAX:
        rule = f"a range rises, and all together are at most {_CODES_MAX:,} codes"
        raise ConfigError(Problem(rule, 'such as "rs 4..12+2..4"', value=f'"{word}"'))
    chosen = product(*(range(first, last + 1) for first, last in ends))
    return [
        "".join(text + str(number) for text, number in zip(parts[::3], (*numbers, ""), strict=True))
        for numbers in chosen
    ]


def _asked(system: System, question: Question) -> Asked:
    from resilver.data_loss.request import Asked

    same = {one.name: getattr(system, one.name) for one in fields(System)}
    for name in ("what", "settings", "serial", "repair_order"):
        del same[name]
    return Asked(
        **same,
        repair_order="" if system.repair_order is None else system.repair_order.value,
        repairs="serial" if system.serial else "",
        method="" if question.method is None else question.method.value,
        relative_error=_share(question.relative_error, "--relative-error"),
        trajectories=question.trajectories,
        seed=question.seed,
        sensitivity=question.sensitivity,
        bursts=question.bursts,
    )


def _share(text: str, key: str) -> float | None:
    """A share as ``5%``, ``5 %`` or ``0.05``; None of no text."""
    if not text:
        return None
    number = text.strip().removesuffix("%").strip()
    try:
        found = float(number) / (100.0 if "%" in text else 1.0)
    except ValueError:
        found = 0.0
    if not 0.0 < found < 1.0:
        rule = "this is a share above 0 and below 1"
        raise ConfigError(Problem(rule, "write 5% or 0.05", key=key, value=f'"{text}"'))
    return found


def _executor(workers: Workers) -> Any:
    """What performs simulations elsewhere; None for this machine."""
    if workers.cluster is None and workers.cluster_config is None:
        return None
    from resilver.study.executors import choose

    return choose(workers.cluster, workers=workers.workers, cluster_config=workers.cluster_config)


def _write(
    found: Durability | Durabilities,
    question: Question,
    figures: Path | None,
    format: FigureFormat,
    command: str,
) -> list[Path]:
    """Write what was asked for; answers with what was written."""
    written = []
    if question.page is not None:
        from resilver.report.durability import write_durability

        written.append(write_durability(found, question.page, command))
    if question.tables is not None:
        from resilver.report.durability import durability_tables
        from resilver.tables import to_csv

        for name, made in durability_tables(found).items():
            save_whole(question.tables / f"{name}.csv", to_csv(made, None))
        written.append(question.tables)
    if figures is not None:
        from resilver.report.durability import charts

        for chart in charts(found):
            save_whole(figures / f"{chart.name}.{format.value}", chart.drawn(format.value))
        written.append(figures)
    return written


def _command(system: System, question: Question) -> str:
    """What makes the same page again."""
    words = ["resilver", "durability"]
    words += [Path(word).name if Path(word).exists() else word for word in system.what]
    for given in (system, question):
        for one in fields(given):
            value = getattr(given, one.name)
            if one.name in ("what", "page", "tables", "keep") or value == one.default:
                continue
            name = one.metadata["names"][0]
            values = value if isinstance(value, tuple) else (value,)
            words += [name] if value is True else [word for v in values for word in (name, str(v))]
    return shlex.join(words)


class _Display(LiveLine):
    def __call__(self, state: Estimating) -> bool:
        text = progress_words(state)
        if state.phase == "repairs" and 0 < state.done < state.total:
            left = self.seconds * (state.total - state.done) / state.done
            text += f", some {format_duration(left)} left"
        self.show(text)
        return True


def progress_words(state: Estimating) -> str:
    """How far an answer is, in a line."""
    if state.phase == "repairs":
        return f"{state.name}: {state.done:,} of {state.total:,} rebuilds"
    if not state.total:
        return f"{state.name}: looking for the method that sees most"
    text = f"{state.name}: {state.done:,} of at most {state.total:,} missions"
    if state.relative_error is None:
        return f"{text}, nothing lost yet"
    share = 100.0 * state.relative_error
    return f"{text}, known to {share:.0f} %" if share >= 10.0 else f"{text}, known to {share:.1f} %"
