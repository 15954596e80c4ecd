"""Which systems a study runs, and with which seeds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field, PlainValidator, ValidationInfo, WithJsonSchema

from resilver.errors import ConfigError, Problem, raise_all, show
from resilver.spec.aim import aim_of
from resilver.spec.histogram import measured
from resilver.spec.section import FilePath, Section, base_folder
from resilver.spec.tables import to_plain

RUNS_MAX = 100_000
"""The most runs of a study."""

_FILE_KEYS = ("file", "fio", "netgauge", "graph", "trace")


def seeds_of(value: object) -> tuple[int, ...]:
    """The seeds that a study file's ``seeds`` means.

    Args:
        value: n for the seeds 1 to n, or a list of seeds.

    Raises:
        ConfigError: It is neither, or a seed stands twice.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        if not 1 <= value <= RUNS_MAX:
            rule = f"at least 1 and at most {RUNS_MAX:,} seeds are needed"
            raise ConfigError(rule, "such as seeds = 15", value=show(value))
        return tuple(range(1, value + 1))
    if isinstance(value, list | tuple) and len(value) > RUNS_MAX:
        rule = f"{len(value):,} seeds are given, and a study has at most {RUNS_MAX:,}"
        raise ConfigError(rule, "give fewer")
    if not isinstance(value, list | tuple) or not value:
        rule = f"seeds are a number from 1 to {RUNS_MAX:,}, or a list of seeds"
        raise ConfigError(rule, "write seeds = 15 or seeds = [1, 2, 3]", value=show(value))
    seen: set[int] = set()
    for seed in value:
        if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**63:
            raise ConfigError("a seed is a whole number from 0 to 2^63 - 1", value=show(seed))
        if seed in seen:
            rule = f"seed {seed} stands twice"
            raise ConfigError(rule, "name each once: equal seeds give equal runs")
        seen.add(seed)
    return tuple(value)


def sweep_of(value: object, info: ValidationInfo) -> dict[str, tuple[Any, ...]]:
    """The swept keys and their values; see `Ensemble`.

    Args:
        value: A table of dotted keys, each with a list of values.

    Returns:
        The same, with tuples for lists and absolute paths for files.

    Raises:
        ConfigError: A key has no list, or an empty one.
    """
    if not isinstance(value, dict):
        rule = "a sweep is a table of dotted keys with their values"
        raise ConfigError(rule, 'write { "cluster.servers" = [4, 8, 16] }', value=show(value))
    problems = []
    for key, values in value.items():
        if isinstance(values, dict):
            rule, remedy = (
                "a swept key is one dotted name in quotes",
                f'write {{ "{key}.{next(iter(values), "...")}" = [...] }}',
            )
        elif not isinstance(values, list | tuple) or not values:
            rule, remedy = "a swept key needs a list of at least one value", "such as [4, 8, 16]"
        elif not all(_is_step(str(key), item) for item in values):
            count = len(keys_of(str(key)))
            rule, remedy = (
                f"{count} keys that change together need lists of {count} values",
                'such as { "cluster.servers, population.bytes" = [[4, "1 TiB"], [8, "2 TiB"]] }',
            )
        else:
            continue
        problems.append(Problem(rule, remedy, key=f'"{key}"', value=show(values)))
    raise_all(problems)
    base = base_folder(info)
    return {
        str(key): tuple(_absolute_values(str(key), item, base) for item in values)
        for key, values in value.items()
    }


def _is_step(swept: str, value: object) -> bool:
    """Whether a value has one for each key that changes together; of one key, any is a step."""
    count = len(keys_of(swept))
    return count == 1 or (isinstance(value, list | tuple) and len(value) == count)


def keys_of(swept: str) -> tuple[str, ...]:
    """The dotted keys that one swept key stands for: several where they change together.

    Args:
        swept: One dotted key, or several with commas between them.

    >>> keys_of("cluster.servers"), keys_of("cluster.servers, population.bytes")
    (('cluster.servers',), ('cluster.servers', 'population.bytes'))
    """
    return tuple(part.strip() for part in swept.split(","))


def values_of(swept: str, value: Any) -> tuple[tuple[str, Any], ...]:
    """One step of a swept key: each dotted key with its value there.

    Args:
        value: Its value; where it stands for several keys, a list with a value for each.
    """
    keys = keys_of(swept)
    return ((keys[0], value),) if len(keys) == 1 else tuple(zip(keys, value, strict=True))


def without(sweep: dict[str, Any], key: str) -> dict[str, Any]:
    """A sweep as read from TOML, of which one dotted key is no longer swept.

    Args:
        sweep: The swept keys and their values, not validated.
        key: The key; others that change together with it are swept on, each step once.

    >>> without({"a": [1, 2], "b, c": [[1, 5], [2, 5]]}, "b")
    {'a': [1, 2], 'c': [5]}
    """
    left: dict[str, Any] = {}
    for swept, values in sweep.items():
        kept = [rank for rank, name in enumerate(keys_of(swept)) if name != key]
        if len(kept) == len(keys_of(swept)):
            left[swept] = values
        elif kept and isinstance(values, list) and all(_is_step(swept, step) for step in values):
            names = ", ".join(keys_of(swept)[rank] for rank in kept)
            steps = [[step[rank] for rank in kept] for step in values]
            told = [step for rank, step in enumerate(steps) if step not in steps[:rank]]
            left[names] = told if len(kept) > 1 else [step[0] for step in told]
    return left


def _absolute_values(swept: str, value: Any, base: Path) -> Any:
    keys = keys_of(swept)
    if len(keys) == 1:
        return _absolute_files(swept, value, base)
    return tuple(_absolute_files(key, item, base) for key, item in zip(keys, value, strict=True))


def _absolute_files(key: str, value: Any, base: Path) -> Any:
    """A swept value with the paths of files in it made absolute, and folders measured."""
    is_ceph = key == "cluster.ceph" or key.startswith("cluster.ceph.")
    if isinstance(value, str) and (is_ceph or key.rpartition(".")[2] in _FILE_KEYS):
        return FilePath(base / value)
    if key == "cluster.fabric.topology" and isinstance(value, str):
        word, _, file = value.strip().partition(" ")
        is_file = word.casefold() == "graph" and file.strip()
        return {word.casefold(): FilePath(base / file.strip())} if is_file else value
    if isinstance(value, list):
        return [_absolute_files(key, item, base) for item in value]
    if isinstance(value, dict) and set(value) == {"scan"} and isinstance(value["scan"], str):
        return to_plain(measured(base / Path(value["scan"]).expanduser()))
    if isinstance(value, dict):
        return {name: _absolute_files(f"{key}.{name}", item, base) for name, item in value.items()}
    return value


def _checked_aim(text: str | None) -> str | None:
    """An aim as it is written.

    Raises:
        ConfigError: It says none.
    """
    if text is not None:
        aim_of(text)
    return text


class Ensemble(Section):
    """The sweep of systems times the ensemble of seeds."""

    title: str = Field(default="", strict=True, examples=["How long does one server take?"])
    """What the study asks, in a sentence."""
    seeds: Annotated[
        tuple[int, ...],
        PlainValidator(seeds_of),
        WithJsonSchema(
            {
                "examples": [15],
                "default": 1,
                "anyOf": [
                    {"type": "integer", "minimum": 1, "maximum": RUNS_MAX},
                    {
                        "type": "array",
                        "minItems": 1,
                        "uniqueItems": True,
                        "items": {"type": "integer", "minimum": 0},
                    },
                ],
            }
        ),
    ] = (1,)
    """n for the seeds 1 to n, or a list."""
    sweep: Annotated[
        dict[str, tuple[Any, ...]],
        PlainValidator(sweep_of),
        WithJsonSchema(
            {
                "examples": [{"cluster.servers": [4, 8, 16]}],
                "type": "object",
                "additionalProperties": {"type": "array", "minItems": 1},
            }
        ),
    ] = Field(default_factory=dict)
    """Dotted keys with a list of values each; every combination is run. Keys that change together
    stand in one, with commas between, and each of their values is a list.
    """
    each: str | None = Field(default=None, strict=True, examples=["osd"])
    """A level, such as ``osd`` or ``host``, whose parts fail one by one: a system for each, in
    which that part stands in the first fault.
    """
    aim: Annotated[str | None, AfterValidator(_checked_aim)] = Field(
        default=None, strict=True, examples=["most throughput, rebuild_seconds <= 2 h"]
    )
    """What ranks the systems of the sweep: ``most`` or ``least`` of a metric of the table ``runs``,
    then limits that a system has to keep. It changes no run.
    """
