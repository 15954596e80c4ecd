"""Settings that meet a stated aim: tried one by one, the cheapest for clients first."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from resilver.errors import ConfigError, Problem, show
from resilver.importers.ceph import ClusterReport
from resilver.whatif.aims import Axis, Goal, read_aim, read_axes
from resilver.whatif.answer import WhatIf
from resilver.whatif.asking import Asked, prepare
from resilver.whatif.changes import setting_text
from resilver.whatif.columns import TABLES
from resilver.whatif.configuration import read_setting, release_of
from resilver.whatif.perform import Told, run_all
from resilver.whatif.plan import Plan, Wanted
from resilver.whatif.several import Search, Trial

GRID_MAX = 64
"""Up to so many combinations are all tried; of more, one setting after another."""

_ROUNDS = 3
_SET_BY_MCLOCK = ("osd_max_backfills", "osd_recovery_max_active")
_OVERRIDE = "osd_mclock_override_recovery_settings"

Choice = tuple[int, ...]
"""Which value of each axis."""


def search(
    report: ClusterReport,
    plan: Plan,
    asked: Asked,
    names: str,
    aim: str,
    told: Told | None = None,
) -> Search:
    """Find settings with which a plan meets an aim.

    All combinations are tried where they are few, else one setting after another, each at its best
    for those before, until nothing gets better.

    Args:
        report: The cluster, as its dumps say.
        plan: The plan.
        asked: What is asked beside.
        names: The settings that are searched, as `read_axes` reads them.
        aim: The aim, as `read_aim` reads it.
        told: Told how far it is.

    Raises:
        ConfigError: They are not written so, or the aim is about clients and no load is given.
    """
    axes, goals = read_axes(names), read_aim(aim)
    if any(goal.needs_load for goal in goals) and not asked.load:
        rule = "what clients get needs a load"
        remedy = 'add --load "POOL: 500 reads/s of 16 KiB, 200 writes/s of 4 KiB"'
        raise ConfigError(Problem(rule, remedy, key="--aim", value=show(aim)))
    queues = {one["queue"]["kind"] for one in prepare(report, plan, asked).input["osd_settings"]}
    tried = _Tried(report, plan, asked, axes, goals, told, "mclock" in queues)
    if _combinations(axes) <= GRID_MAX:
        tried.run(list(itertools.product(*(range(len(axis.values)) for axis in axes))))
    else:
        _one_by_one(tried, axes)
    return tried.found(aim)


def _combinations(axes: Sequence[Axis]) -> int:
    count = 1
    for axis in axes:
        count *= len(axis.values)
    return count


def _one_by_one(tried: _Tried, axes: Sequence[Axis]) -> None:
    """Each setting in turn at its best, those before at theirs."""
    best: Choice = (0,) * len(axes)
    for _ in range(_ROUNDS):
        before = best
        for rank, axis in enumerate(axes):
            row = [(*best[:rank], one, *best[rank + 1 :]) for one in range(len(axis.values))]
            tried.run(row)
            best = min(row, key=tried.order)
        if best == before:
            return


def _without_longest(answer: WhatIf) -> WhatIf:
    """An answer without its longest tables, which of all but one trial nobody reads."""
    longest = {name: TABLES[name].empty_table() for name in ("fill", "film")}
    return replace(answer, tables={**answer.tables, **longest})


@dataclass
class _Tried:
    """What was tried so far."""

    report: ClusterReport
    plan: Plan
    asked: Asked
    axes: Sequence[Axis]
    goals: Sequence[Goal]
    told: Told | None
    needs_override: bool
    answers: dict[Choice, WhatIf] = field(default_factory=dict)

    def run(self, choices: Sequence[Choice]) -> None:
        """Try what was not yet."""
        new = [one for one in dict.fromkeys(choices) if one not in self.answers]
        runs = [partial(prepare, self.report, self._planned(one), self.asked) for one in new]
        self.answers |= dict(zip(new, run_all(runs, self.told, _without_longest), strict=True))

    def _stated(self, choice: Choice) -> dict[str, str]:
        """The settings of a choice, with what Ceph needs to heed them."""
        made = {
            axis.setting.name: axis.values[at] for axis, at in zip(self.axes, choice, strict=True)
        }
        if self.needs_override and any(name.startswith(_SET_BY_MCLOCK) for name in made):
            made.setdefault(_OVERRIDE, "true")
        return made

    def _planned(self, choice: Choice) -> Plan:
        stated = self._stated(choice)
        settings = [
            Wanted("set_option", f"{name}={stated[name]}", 0.0, "--search")
            # Ceph heeds the others once this one is set.
            for name in sorted(stated, key=lambda name: name != _OVERRIDE)
            if f"{name}={stated[name]}" not in {one.value for one in self.plan.start_settings}
        ]
        label = ", ".join(f"{name} = {value}" for name, value in stated.items())
        return Plan(f"{self.plan.name} with {label}", (*self.plan.changes, *settings))

    def order(self, choice: Choice) -> tuple[object, ...]:
        """What sorts choices, the best first."""
        found = self.answers[choice].outcome
        misses = [
            float("inf")
            if (value := goal.measure(found)) is None
            else max(0.0, value / goal.most - 1)
            for goal in self.goals
        ]
        if any(misses):
            return (1, sum(1 for one in misses if one), sum(misses), sum(choice), choice)
        if any(goal.is_of_time for goal in self.goals):
            # What heals in time is chosen by what clients feel of it, else by how gentle it is.
            return (0, found.p99_seconds or 0.0, sum(choice), choice)
        whole = found.whole_seconds
        return (0, float("inf") if whole is None else whole, sum(choice), choice)

    def found(self, aim: str) -> Search:
        """What came of all that was tried."""
        choices = sorted(self.answers, key=self.order)
        trials = [self._trial(one) for one in choices]
        best = trials[0] if trials[0].meets else None
        # Its own steps are the plan's, and those of its settings the last.
        answer = self.answers[choices[0]]
        names = self._stated(choices[0]) if best else {}
        release = release_of(self.report, self.asked.given.release)
        entries = [read_setting(f"{name}={value}", release) for name, value in names.items()]
        texts = {setting_text(entry) for entry in entries}
        commands = [line for step in answer.steps if step.text in texts for line in step.commands]
        return Search(
            aim=aim,
            names=tuple(axis.setting.name for axis in self.axes),
            trials=tuple(trials),
            best=best,
            commands=tuple(commands),
            answer=answer,
        )

    def _trial(self, choice: Choice) -> Trial:
        found = self.answers[choice].outcome
        settings: Mapping[str, str] = {
            axis.setting.name: axis.values[at] for axis, at in zip(self.axes, choice, strict=True)
        }
        meets = all(goal.is_met(found) for goal in self.goals)
        return Trial(settings, found, meets, self.goals[0].measure(found))
