"""Settings that meet a stated aim: tried one by one, the cheapest for clients first."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from resilver.errors import ConfigError, show
from resilver.importers.ceph import ClusterReport
from resilver.importers.ceph.facts import parse_release
from resilver.whatif.aims import Axis, Goal, read_aim, read_axes
from resilver.whatif.answer import WhatIf
from resilver.whatif.changes import setting_text
from resilver.whatif.cluster import read_state
from resilver.whatif.columns import TABLES
from resilver.whatif.configuration import Configuration, read_setting, release_of
from resilver.whatif.declared import SETTINGS
from resilver.whatif.each import NotSettled, rank_failures
from resilver.whatif.filling import fill_of, make_fuller
from resilver.whatif.fitting import PlanDoesNotFit
from resilver.whatif.options import Request
from resilver.whatif.osd_settings import OVERRIDE
from resilver.whatif.perform import Told, run_all
from resilver.whatif.plan import Plan, Wanted
from resilver.whatif.releases import ASSUMED_RELEASE, Release
from resilver.whatif.request import Prepared, prepare
from resilver.whatif.settings import Setting
from resilver.whatif.several import FillSearch, FillTrial, Search, Trial

GRID_MAX = 64
"""Up to so many combinations are all tried; of more, one setting after another."""

_ROUNDS = 3
_SET_BY_MCLOCK = ("osd_max_backfills", "osd_recovery_max_active")

Choice = tuple[int, ...]
"""Which value of each axis."""

IN_FORCE: Choice = ()
"""The settings as they are."""


def search(
    report: ClusterReport,
    plan: Plan,
    request: Request,
    names: str,
    aim: str,
    told: Told | None = None,
) -> Search:
    """Find settings with which a plan meets an aim, unless those in force do.

    All combinations are tried where they are few, else one setting after another, each at its best
    for those before, until nothing gets better.

    Args:
        report: The cluster, as its dumps say.
        request: What is asked beside.
        names: The settings that are searched, as `read_axes` reads them.
        aim: The aim, as `read_aim` reads it.
        told: Told how far it is.

    Raises:
        ConfigError: They are not written so, the release has none of the settings, or the aim is
            about clients and no load is given.
    """
    release = release_of(report, request.release)
    (axes, left_out), goals = read_axes(names, release), read_aim(aim)
    if any(goal.needs_load for goal in goals) and not request.load:
        rule = "what clients get needs a load"
        remedy = 'add --load "POOL: 500 reads/s of 16 KiB, 200 writes/s of 4 KiB"'
        raise ConfigError(rule, remedy, key="--aim", value=show(aim))
    tried = _Tried(
        report, plan, request, axes, goals, told, prepare(report, plan, request), release
    )
    # What meets the aim already needs no other settings.
    if not tried.is_met(IN_FORCE):
        if _combinations(axes) <= GRID_MAX:
            tried.run(list(itertools.product(*(range(len(axis.values)) for axis in axes))))
        else:
            _one_by_one(tried, axes)
    return tried.found(aim, left_out)


def against_defaults(options: Sequence[str], answer: WhatIf) -> tuple[str, str, tuple[str, ...]]:
    """What to search so that an answer stands beside that of the release's defaults.

    Returns:
        The default and the value of each setting, as `--search` has them, empty where none differs;
        the aim to do as well as the answer; and the other settings, which stay.
    """
    release = parse_release(answer.cluster.release) or ASSUMED_RELEASE
    tried = {}
    for option in (one for one in options if "@" not in one):
        name, _, value = map(str.strip, option.partition("="))
        setting = SETTINGS.get(name)
        if setting and name != OVERRIDE and setting.parse(value) != setting.default(release):
            default = str(setting.default(release)).removesuffix(".0")
            default = default.lower() if setting.kind == "flag" else default
            tried[name] = f"{name}={default}/{value}"
    left = (one for one in options if "@" in one or one.partition("=")[0].strip() not in tried)
    end = answer.outcome.whole_seconds if answer.holds else None
    aim = f"healthy in {math.ceil(answer.horizon_seconds if end is None else end)} s"
    return ", ".join(tried.values()), aim, tuple(left)


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
    """What was tried so far; what makes the core's input what it is, is the settings in force."""

    report: ClusterReport
    plan: Plan
    request: Request
    axes: Sequence[Axis]
    goals: Sequence[Goal]
    told: Told | None
    base: Prepared
    release: Release
    answers: dict[Choice, WhatIf] = field(default_factory=dict)
    choices: dict[str, Choice] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.run([IN_FORCE])

    def run(self, choices: Sequence[Choice]) -> None:
        """Try what was not yet; choices of one input are one run."""
        new = [one for one in dict.fromkeys(choices) if one not in self.answers]
        # Prepared twice, since all at once may not have room.
        same = {one: self.choices.setdefault(_digest(self._ready(one)), one) for one in new}
        first = [one for one in new if same[one] == one]
        runs = [partial(self._ready, one) for one in first]
        self.answers |= dict(zip(first, run_all(runs, self.told, _without_longest), strict=True))
        self.answers |= {one: self.answers[same[one]] for one in new}

    def _ready(self, choice: Choice) -> Prepared:
        if choice == IN_FORCE:
            return self.base
        return prepare(self.report, self._planned(choice), self.request, self.base)

    def is_met(self, choice: Choice) -> bool:
        """Whether a choice meets the aim."""
        return all(goal.is_met(self.answers[choice].outcome) for goal in self.goals)

    def _values(self, choice: Choice) -> dict[str, str]:
        """The value of each setting in a choice."""
        if choice == IN_FORCE:
            return {axis.setting.name: self._in_force(axis.setting) for axis in self.axes}
        return {
            axis.setting.name: axis.values[at] for axis, at in zip(self.axes, choice, strict=True)
        }

    def _in_force(self, setting: Setting) -> str:
        """What OSDs go by: of a setting that leaves it to the kind of device, that of each."""
        names = (setting.name, *(f"{setting.name}_{kind}" for kind in ("hdd", "ssd", "hybrid")))
        found = [one.value for one in self.base.assumptions if one.name in names]
        default = setting.words_of(setting.default(self.release))
        return ", ".join(dict.fromkeys(found)) or default

    def _stated(self, choice: Choice) -> dict[str, str]:
        """The settings of a choice, with what Ceph needs to heed them."""
        made = self._values(choice)
        is_mclock = any(one["queue"]["kind"] == "mclock" for one in self.base.input["osd_settings"])
        resets = is_mclock and SETTINGS[OVERRIDE].span.holds(self.release)
        if resets and any(name.startswith(_SET_BY_MCLOCK) for name in made):
            made.setdefault(OVERRIDE, "true")
        return made

    def _planned(self, choice: Choice) -> Plan:
        stated = self._stated(choice)
        settings = [
            Wanted("set_option", f"{name}={stated[name]}", 0.0, "--search")
            # Ceph heeds the others once this one is set.
            for name in sorted(stated, key=lambda name: name != OVERRIDE)
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
            delay = found.p99_seconds if found.p99_seconds is not None else float("inf")
            return (0, delay, sum(choice), choice)
        whole = found.whole_seconds
        return (0, float("inf") if whole is None else whole, sum(choice), choice)

    def found(self, aim: str, left_out: tuple[str, ...]) -> Search:
        """What came of all that was tried."""
        in_force = self.answers[IN_FORCE]
        differ = [one for one, answer in self.answers.items() if answer is not in_force]
        choices = sorted([IN_FORCE, *differ], key=self.order)
        trials = [self._trial(one) for one in choices]
        # Its own steps are the plan's, and those of its settings the last.
        first, answer = choices[0], self.answers[choices[0]]
        commands: tuple[str, ...] = ()
        if not trials[0].meets:
            # What does not meet the aim is not recommended.
            answer = replace(answer, steps=tuple(replace(one, commands=()) for one in answer.steps))
        elif first != IN_FORCE:
            stated = [f"{name}={value}" for name, value in self._stated(first).items()]
            texts = {setting_text(read_setting(one, self.release)) for one in stated}
            lines = [line for one in answer.steps if one.text in texts for line in one.commands]
            commands = tuple(lines)
        return Search(
            aim=aim,
            names=tuple(axis.setting.name for axis in self.axes),
            trials=tuple(trials),
            best=trials[0] if trials[0].meets else None,
            commands=commands,
            answer=answer,
            left_out=left_out,
        )

    def _trial(self, choice: Choice) -> Trial:
        found = self.answers[choice].outcome
        measure = self.goals[0].measure(found)
        meets = self.is_met(choice)
        return Trial(self._values(choice), found, meets, measure, choice == IN_FORCE)


def _digest(ready: Prepared) -> str:
    """What tells inputs apart that differ by settings alone."""
    kept = {key: one for key, one in ready.input.items() if key not in ("crushmap", "groups")}
    return hashlib.sha256(json.dumps(kept).encode()).hexdigest()


FILL = "fill"
"""What `--search` names for this."""

_AIM = re.compile(r"any\s+(\S+)\s+heals")


def _counting(told: Told | None, ran: list[int]) -> Told:
    """Tells how many runs are done in all; how many there will be is known at the end."""
    return lambda done, _, state: told is None or told(sum(ran) + done, 0, state)


def search_fill(
    report: ClusterReport, plan: Plan, request: Request, aim: str, told: Told | None = None
) -> FillSearch:
    """Find how full a cluster may be, in whole per cent, by bisection.

    What heals at a fill is taken to heal at every lower one. At each fill the part that left PGs
    behind last fails first, and the others only where it heals. A fill at which the changes do not
    settle, or do not fit, is none at which parts heal.

    Args:
        report: The cluster, as its dumps say.
        plan: Changes that are made in each run too.
        request: What is asked beside.
        aim: ``any LEVEL heals``, of a level such as osd, host or rack.
        told: Told how far it is: how many runs are done, of none in all.

    Raises:
        ConfigError: The aim is not written so, the map has no such level, or a fill is stated.
    """
    match = _AIM.fullmatch(aim.strip())
    if match is None:
        rule = "a fill is searched at which any part of a level heals"
        raise ConfigError(rule, 'such as "any host heals"', "--aim", show(aim))
    if request.fill:
        rule, remedy = "the fill is what is searched", "leave --fill out"
        raise ConfigError(rule, remedy, "--fill", show(request.fill))
    level = match[1]
    release = release_of(report, request.release)
    cluster = read_state(report, request, Configuration(release, report.config or ()))
    make_fuller(cluster, "", request.grow)
    present, most = fill_of(cluster)

    ran: list[int] = []
    counted = _counting(told, ran)

    def tried(percent: int, only: str = "") -> FillTrial:
        share, of = percent / 100, replace(request, fill=f"{percent}%")
        try:
            found = rank_failures(report, level, plan, of, counted, only, with_today=False)
            ran.append(len(found.harms))
            return FillTrial(share, found)
        except NotSettled as error:
            return FillTrial(share, None, error.problems[0].rule)
        except PlanDoesNotFit as error:
            return FillTrial(share, None, str(error))
        except ConfigError as error:
            keys = {"--each": "--aim"}  # The level is the aim's.
            raise ConfigError(
                replace(one, key=keys.get(one.key, one.key)) for one in error.problems
            ) from None

    trials: dict[int, FillTrial] = {}
    culprit, heals, fails = "", 0, int(100 * most) + 1
    while fails - heals > 1:
        middle = (heals + fails) // 2
        found = tried(middle, culprit)
        if found.holds and culprit:
            found = tried(middle)
        trials[middle] = found
        if found.holds:
            heals = middle
        else:
            fails = middle
            culprit = culprit if found.worst is None else found.worst.name
    if not trials:
        rule = "an OSD is full before all OSDs together are 1 % full"
        raise ConfigError(rule, "balance the cluster first", "--search", show(FILL))
    if not heals:
        trials[fails] = tried(fails)
    return FillSearch(aim, level, present, most, tuple(one for _, one in sorted(trials.items())))
