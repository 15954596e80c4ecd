"""Plans: changes with their times, as the command line and plan files state them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resilver.errors import ConfigError, Problem, name_remedy, raise_all, show
from resilver.text import read_toml
from resilver.units import Seconds
from resilver.whatif.answer import PlannedStep
from resilver.whatif.changes import CHANGES, setting_text
from resilver.whatif.cluster import Cluster, ratios_of
from resilver.whatif.configuration import read_setting
from resilver.whatif.fitting import Need, PlanDoesNotFit, Room, misfit, room_of
from resilver.whatif.kinds import BY_KEY, KINDS, MAP_KINDS
from resilver.whatif.naming import Made

AT = re.compile(r"(.*?)\s*@\s*([^@]+)", re.DOTALL)
_STEPS_MAX = 10_000


@dataclass(frozen=True)
class Wanted:
    """A change as it is written.

    Attributes:
        key: Its kind, of `resilver.whatif.kinds`.
        value: Its value as text.
        at_seconds: When, from the start.
        place: Where it stands, for messages.
    """

    key: str
    value: str
    at_seconds: float
    place: str


@dataclass(frozen=True)
class Plan:
    """Changes with their times.

    Attributes:
        name: Its name.
        changes: The changes; those of one time in their order.
    """

    name: str
    changes: tuple[Wanted, ...]

    @property
    def start_settings(self) -> tuple[Wanted, ...]:
        """The settings that hold from the start, before anything runs."""
        return tuple(one for one in self.changes if _is_start_setting(one))


def _is_start_setting(one: Wanted) -> bool:
    return one.key == "set_option" and one.at_seconds == 0


def plan_of_options(options: Mapping[str, Iterable[str]]) -> Plan:
    """The plan that the options of a command state.

    Args:
        options: The values of each kind by its key, each with ``@ 2 h`` behind it or for the
            start.

    Raises:
        ConfigError: A time is none.
    """
    wanted = []
    for kind in KINDS:
        for text in options.get(kind.key, ()):
            value, seconds = _timed(text, kind.option)
            wanted.append(Wanted(kind.key, value, seconds, kind.option))
    named = "; ".join(f"{one.key.replace('_', ' ')} {one.value}" for one in wanted)
    return Plan(named or "as it is", tuple(wanted))


def _timed(text: str, option: str) -> tuple[str, float]:
    match = AT.fullmatch(text)
    if match is None:
        return text.strip(), 0.0
    try:
        return match[1].strip(), float(Seconds.parse(match[2].strip()))
    except ConfigError as error:
        raise ConfigError(problem.under(f"{option} @") for problem in error.problems) from None


def read_plan(path: Path) -> Plan:
    """A plan file: TOML with ``name`` and ``[[steps]]``, each with ``at`` and changes.

    Args:
        path: The file.

    Raises:
        ConfigError: It cannot be read, or a key of it is none.
    """
    table = read_toml(path)
    problems = [
        Problem("it is no key of a plan", name_remedy(key, ("name", "steps")), key, place=str(path))
        for key in table
        if key not in ("name", "steps")
    ]
    steps = table.get("steps", [])
    if not isinstance(steps, list) or not steps or not all(isinstance(s, dict) for s in steps):
        rule = "a plan has steps, each a table"
        remedy = 'such as [[steps]] with at = "2 h" and fail = "host=node3"'
        problems.append(Problem(rule, remedy, key="steps", place=str(path)))
        steps = []
    if len(steps) > _STEPS_MAX:
        rule = f"a plan has at most {_STEPS_MAX:,} steps"
        problems.append(Problem(rule, "split it", key="steps", place=str(path)))
    name = table.get("name", path.stem)
    if not isinstance(name, str) or not name.strip():
        problems.append(
            Problem("a name is text", 'such as "in two halves"', "name", show(name), str(path))
        )
    wanted: list[Wanted] = []
    for number, step in enumerate(steps[:_STEPS_MAX]):
        try:
            wanted += _step(step, path)
        except ConfigError as error:
            problems += [
                Problem(
                    one.rule, one.remedy, one.under(f"steps.{number}").key, one.value, str(path)
                )
                for one in error.problems
            ]
    raise_all(problems)
    return Plan(str(name), tuple(wanted))


def _step(step: Mapping[str, Any], path: Path) -> list[Wanted]:
    """The changes of a step, in the order in which they are written."""
    wanted, problems = [], []
    seconds = 0.0
    try:
        seconds = float(Seconds.parse(step.get("at", 0)))
    except ConfigError as error:
        problems += [problem.under("at") for problem in error.problems]
    for key, value in step.items():
        if key == "at":
            continue
        if key not in BY_KEY:
            remedy = name_remedy(key, ("at", *BY_KEY))
            problems.append(Problem("it is no kind of change", remedy, key=key))
            continue
        values = value if isinstance(value, list) else [value]
        for one in values:
            if not isinstance(one, str) or not one.strip():
                example = f'such as "{BY_KEY[key].example}"'
                problems.append(Problem("a change is text", example, key=key, value=show(one)))
                continue
            text = one.strip()
            if key == "map" and not Path(text).is_absolute():
                text = str(path.parent / text)
            wanted.append(Wanted(key, text, seconds, f"{path}: {key}"))
    if not problems and not wanted:
        problems.append(Problem("a step changes something", 'such as fail = "host=node3"'))
    raise_all(problems)
    return wanted


def joined(plan: Plan, beside: Plan) -> Plan:
    """A plan with the changes of another beside its own; its name stays."""
    return Plan(plan.name, (*plan.changes, *beside.changes))


def resolve(
    plan: Plan, cluster: Cluster, *, anyway: bool = False
) -> tuple[list[dict[str, Any]], list[PlannedStep]]:
    """The core's steps of a plan, and what is told of them.

    Args:
        plan: The plan; what it sets from the start is the cluster's already.
        cluster: The cluster before it, which the steps change.
        anyway: Whether a plan that does not fit is a note of the cluster's, and no error.

    Returns:
        The steps as the core reads them, and as they are told, both by rising time.

    Raises:
        ConfigError: A change names nothing, or is not written as its kind is.
        PlanDoesNotFit: What it leaves cannot hold the pools, and `anyway` was not said.
    """
    steps: list[dict[str, Any]] = []
    told: list[PlannedStep] = []
    rooms = _rooms(cluster)
    said: set[str] = set()
    again: Counter[str] = Counter()
    before = (0.0, "")
    for one in sorted(plan.changes, key=lambda change: change.at_seconds):
        made = _made(one, cluster)
        if before != (before := (one.at_seconds, one.key)):
            said = set()
        # Said again, with nothing else between, a change changes nothing, unless it adds.
        if made.text in said and one.key != "add":
            again[made.text] += 1
            continue
        said.add(made.text)
        steps += [{"at_seconds": one.at_seconds, "change": change} for change in made.changes]
        told.append(PlannedStep(one.at_seconds, made.text, tuple(made.commands)))
        cluster.is_changed |= one.key in (*TAKES_ROOM, "add", "pg_num", "upmap")
        if made.is_by_choice and one.key in TAKES_ROOM:
            after = _rooms(cluster)
            full = ratios_of(cluster)["full"]
            problem = misfit(rooms, after, cluster.capacities, full, made.text)
            if problem and not anyway:
                raise PlanDoesNotFit(problem)
            cluster.notes += [problem] if problem else []
            rooms = after
        elif one.key == "add":
            rooms = _rooms(cluster)
    cluster.notes += [
        f"The plan says {count + 1} times that {text} at one time; said again it changes nothing."
        for text, count in again.items()
    ]
    return steps, told


def _made(one: Wanted, cluster: Cluster) -> Made:
    """What a change comes to; one that holds from the start is the cluster's already.

    Raises:
        ConfigError: It names nothing, or is not written as its kind is; with where it stands.
    """
    if _is_start_setting(one):
        entry = read_setting(one.value, cluster.release)
        return Made([], setting_text(entry), cluster.setting_lines(entry))
    try:
        return CHANGES[one.key](one.value, cluster)
    except ConfigError as error:
        raise ConfigError(
            Problem(each.rule, each.remedy, each.key or one.place, each.value, each.place)
            for each in error.problems
        ) from None


TAKES_ROOM = frozenset((*MAP_KINDS, "replace", "pool_size"))
"""The kinds of change after which a pool may have less room."""


def _rooms(cluster: Cluster) -> dict[str, tuple[Room | None, Need]]:
    """What the rule of each pool reaches, and what the pool needs."""
    known: dict[tuple[int, int], Room | None] = {}
    rooms = {}
    for name, pool in cluster.pools.items():
        key = (pool.rule, pool.size)
        if key not in known:
            known[key] = room_of(cluster.tree, *key, cluster.is_usable)
        rooms[name] = (known[key], pool.need)
    return rooms
