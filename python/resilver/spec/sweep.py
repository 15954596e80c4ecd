"""Expanding a sweep: the systems of a study, one for every combination of the swept values."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from resilver.errors import ConfigError, Problem, collected, name_remedy, raise_all, show
from resilver.spec.ceph_run import CephRun
from resilver.spec.ensemble import RUNS_MAX, Ensemble, keys_of, values_of
from resilver.spec.failing import each_part, levels_of
from resilver.spec.faults import fault_words
from resilver.spec.problems import kinds_in
from resilver.spec.section import Section
from resilver.spec.sections import Sections
from resilver.spec.system import System
from resilver.spec.tables import to_plain
from resilver.spec.toml import write_value
from resilver.spec.tree import singular
from resilver.units import Bytes, BytesPerSecond, PerSecond, Seconds

Scalar: TypeAlias = int | float | str | bool
"""What a swept key has for a value in tables of results."""


@dataclass(frozen=True)
class Point:
    """One system of a sweep.

    Attributes:
        swept: The swept keys and their values here: quantities in SI units, files and catalog
            entries by name.
    """

    swept: Mapping[str, Scalar]
    system: System


# What a cluster is made of; its rates may be swept beside `each`.
_CLUSTER_KEYS = ("cluster.ceph", "cluster.servers", "cluster.racks", "cluster.rows", "cluster.part")

LISTS = ("faults", "pools")
"""The sections that are lists of tables."""


def section_models() -> dict[str, type[Section]]:
    """The model of each section by name; of one of them, for ``faults`` and ``pools``."""
    fields = Sections.model_fields.items()
    return {
        name: next(kind for kind in kinds_in(field.annotation) if issubclass(kind, Section))
        for name, field in fields
    }


def expand(sections: Mapping[str, Any], ensemble: Ensemble, base: Path) -> tuple[Point, ...]:
    """The systems of a study.

    Args:
        sections: The sections that were given, as models.
        base: The folder that relative paths in swept values are relative to.

    Returns:
        A point for every combination of swept values, the last key varying fastest; one point
        without a sweep.

    Raises:
        ConfigError: A key does not exist, a combination is not a valid system, or there are too
            many.
    """
    check_keys(ensemble)
    keys = swept_keys(ensemble)
    steps = [[values_of(key, value) for value in values] for key, values in ensemble.sweep.items()]
    points: list[Point] = []
    problems: list[Problem] = []
    for chosen in itertools.product(*steps):
        values = dict(itertools.chain.from_iterable(chosen))
        at = ", ".join(f"{key} = {show(value)}" for key, value in values.items())
        try:
            system = System(**sections_at(sections, values, base))
        except ConfigError as error:
            for problem in error.problems:
                place = f"at {at}" if at else ""
                place = ", ".join(part for part in (place, problem.place) if part)
                problems.append(replace(problem, place=place))
            continue
        swept = {key: _scalar(system, key, value) for key, value in values.items()}
        points.append(Point(swept, system))
    raise_all(problems)
    if len(points) * len(ensemble.seeds) > 1:
        points = [replace(one, system=_side_by_side(one.system)) for one in points]
    return tuple(_with_one_type(_told_apart(points), keys))


def _side_by_side(system: System) -> System:
    """A system of one of several runs: a real cluster is not made again relaxed, unless asked."""
    run = system.ceph or CephRun()
    if system.report is None or run.counterfactuals is not None:
        return system
    return system.model_copy(update={"ceph": run.model_copy(update={"counterfactuals": False})})


def with_each(sections: Mapping[str, Any], ensemble: Ensemble) -> Ensemble:
    """An ensemble that sweeps the faults where it fails each part of a level.

    Args:
        sections: The sections that were given, as models.
        ensemble: The ensemble, perhaps with `each`.

    Returns:
        The ensemble; with `each` its sweep has ``faults`` first: for every part of the level the
        study's own faults, of which the first, at its time, is of that part. Without faults the
        part fails at the beginning.

    Raises:
        ConfigError: The cluster has no such level, or the sweep changes the cluster or the faults.
    """
    if ensemble.each is None:
        return ensemble
    key, value = "study.each", show(ensemble.each)
    for swept in swept_keys(ensemble):
        if swept.split(".")[0] == "faults" or swept.startswith(_CLUSTER_KEYS):
            rule = f'it fails the parts of one cluster, and the sweep changes "{swept}"'
            raise ConfigError(rule, "keep one of the two", key=key, value=value)
    cluster = sections["cluster"]
    names = list(each_part(cluster, ensemble.each))
    if not names:
        known = [level for level in levels_of(cluster) if each_part(cluster, level)]
        rule = "the cluster has no parts of this level"
        raise ConfigError(rule, name_remedy(ensemble.each, known, "levels"), key=key, value=value)
    first, *others = sections.get("faults") or ({},)
    given = first.given() if isinstance(first, Section) else {}
    kept = {name: one for name, one in given.items() if name not in ("fail", "part", "corrupt")}
    turns = [[{**kept, "part": {ensemble.each: [name]}}, *others] for name in names]
    sweep = {"faults": tuple(turns), **ensemble.sweep}
    return ensemble.model_copy(update={"sweep": sweep})


def swept_keys(ensemble: Ensemble) -> list[str]:
    """The dotted keys that a sweep changes, those that change together one by one."""
    return [key for swept in ensemble.sweep for key in keys_of(swept)]


def check_keys(ensemble: Ensemble) -> None:
    """Refuse a sweep with keys that do not exist, or with more runs than a study may have.

    Raises:
        ConfigError: With every such key.
    """
    runs = len(ensemble.seeds) * math.prod(len(values) for values in ensemble.sweep.values())
    if runs > RUNS_MAX:
        rule = f"the sweep has {runs:,} runs, and a study has at most {RUNS_MAX:,}"
        raise ConfigError(rule, "sweep fewer values, or use fewer seeds", key="study.sweep")
    models = section_models()
    known = [f"{name}.{key}" for name, model in models.items() for key in model.names()]
    problems = []
    keys = swept_keys(ensemble)
    for key in dict.fromkeys(keys):
        if keys.count(key) > 1:
            problems.append(Problem("it is swept twice", "keep one", key=_swept_name(key)))
        parts = key.split(".")
        name = parts[0]
        # A fault or a pool stands in a list, so its number follows: faults.0.fail.servers.
        is_listed = name in LISTS and parts[1:2] and parts[1].isdecimal()
        fields = parts[2:] if is_listed else parts[1:]
        if name in LISTS and fields == parts[1:] and fields:
            rule = f"a {singular(name)} is named by its place in the list"
            problems.append(Problem(rule, "such as faults.0.fail.servers", key=_swept_name(key)))
        elif name not in models or (fields and fields[0] not in models[name].names()):
            remedy = name_remedy(key, known + list(models), "keys")
            problems.append(Problem("there is no such key to sweep", remedy, key=_swept_name(key)))
        else:
            inside = [other for other in keys if other.startswith(key + ".")]
            problems += [
                Problem(
                    f'it is part of "{key}", which is swept too', "keep one", key=_swept_name(other)
                )
                for other in inside
            ]
    raise_all(problems)


def _swept_name(key: str) -> str:
    return f'study.sweep."{key}"'


def sections_at(
    sections: Mapping[str, Any], values: Mapping[str, Any], base: Path
) -> dict[str, Any]:
    """The sections of a system with other values of some of their keys.

    Args:
        sections: The sections that were given, as models.
        values: The values by dotted key, as a study file writes them; None takes a key or a whole
            section away.
        base: The folder that relative paths in values are relative to.

    Raises:
        ConfigError: With every problem of the sections that change.
    """
    changed: dict[str, Any] = {}
    for key, value in values.items():
        name, *rest = key.split(".")
        table = changed[name] if name in changed else _table_of(sections.get(name))
        changed[name] = put(table, rest, value, key)
    made: dict[str, Any] = dict(sections)
    problems: list[Problem] = []
    for name, table in changed.items():
        made.pop(name, None)
        with collected(problems):
            if table is not None:
                made[name] = read_section(name, table, base)
    raise_all(problems)
    return made


def _table_of(section: Any) -> Any:
    if isinstance(section, Section):
        return section
    return list(section) if isinstance(section, tuple) else {}


def read_section(name: str, table: object, base: Path) -> Any:
    """Validate one section of a study file.

    Args:
        name: The section's name.
        table: Its table, or for ``faults`` and ``pools`` a list of tables. Values may be validated
            already.
        base: The folder that relative paths in it are relative to.

    Returns:
        The section, or for ``faults`` and ``pools`` a tuple of them.

    Raises:
        ConfigError: With every problem, by full key.
    """
    model = section_models()[name]
    if name not in LISTS:
        return table if isinstance(table, model) else model.from_table(table, base, name)
    if not isinstance(table, list | tuple):
        rule, remedy = f"{name} are a list of tables", f"write [[{name}]] with double brackets"
        raise ConfigError(rule, remedy, key=name)
    made: list[Section] = []
    problems: list[Problem] = []
    for index, item in enumerate(table):
        with collected(problems):
            is_made = isinstance(item, model)
            made.append(item if is_made else model.from_table(item, base, f"{name}.{index}"))
    raise_all(problems)
    return tuple(made)


def put(table: Any, path: list[str], value: Any, key: str) -> Any:
    """A copy of a table with one value replaced.

    Args:
        table: The table, in which values may be validated already.
        path: The parts of the key below the table; none replaces the whole.

    Returns:
        The changed copy.

    Raises:
        ConfigError: The path leads through something that is not a table.
    """
    if not path:
        return value
    head, *rest = path
    if isinstance(table, Section):
        # A value inside a key that was not given changes that key's default.
        default = {head: getattr(table, table.names().get(head, head), None)} if rest else {}
        table = {**default, **table.given()}
    elif not isinstance(table, dict | list):
        table = to_plain(table)
    if isinstance(table, list):
        if not head.isdecimal() or len(head) > 9 or int(head) >= len(table):
            rule = f"the list has no item {head}" if table else "the list is empty"
            raise ConfigError(rule, "count from 0", key=key)
        index = int(head)
        return [*table[:index], put(table[index], rest, value, key), *table[index + 1 :]]
    if not isinstance(table, dict):
        if table is not None and not rest and head:
            rule = f"{show(table)} stands there, which has no key {head}"
            raise ConfigError(rule, "write a table instead", key=key)
        table = {}
    return {**table, head: put(table.get(head, {} if rest else None), rest, value, key)}


def has_path(table: Any, path: list[str]) -> bool:
    """Whether a table as read from TOML has a value at a path."""
    for part in path:
        if isinstance(table, dict) and part in table:
            table = table[part]
        elif isinstance(table, list) and part.isdecimal() and int(part) < len(table):
            table = table[int(part)]
        else:
            return False
    return True


def _scalar(system: System, key: str, given: Any) -> Scalar:
    """What to write for a swept key: the validated value where it is one number or word."""
    if key == "faults":
        return fault_words(system.faults)
    value: Any = system
    for part in key.split("."):
        if isinstance(value, tuple) and part.isdecimal():
            value = value[int(part)]
        elif isinstance(value, Section):
            value = getattr(value, value.names().get(part, part), None)
        else:
            value = None
    if value is None:
        value = given
        for kind in (Bytes, Seconds, BytesPerSecond, PerSecond):
            try:
                value = kind.parse(given)
                break
            except ConfigError:
                continue
    if key == "traffic.jobs" and system.traffic is not None:
        return "; ".join(job.label for job in system.traffic.jobs)
    label = getattr(value, "label", None) or getattr(getattr(value, "report", None), "label", None)
    if isinstance(label, str) and label not in ("", "inline"):
        return label
    if isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    return write_value(to_plain(given))


def _told_apart(points: list[Point]) -> list[Point]:
    """Points whose faults are written out in full where words would make two of them alike."""
    written = {point.system.faults: write_value(to_plain(point.system.faults)) for point in points}
    if len({fault_words(faults) for faults in written}) == len(written):
        return points
    return [
        Point({**point.swept, "faults": written[point.system.faults]}, point.system)
        if "faults" in point.swept
        else point
        for point in points
    ]


def _with_one_type(points: list[Point], keys: list[str]) -> Iterator[Point]:
    """Give each swept key values of one type: text where numbers and words are mixed."""
    types = {key: {type(point.swept[key]) for point in points} for key in keys}
    for point in points:
        swept: dict[str, Scalar] = {}
        for key in keys:
            value = point.swept[key]
            if types[key] == {int, float}:
                value = float(value)
            elif len(types[key]) > 1:
                value = value if isinstance(value, str) else write_value(value)
            swept[key] = value
        yield Point(swept, point.system)
