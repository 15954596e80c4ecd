"""From the native core's errors to resilver's.

The core is imported where it is asked, so that a command which asks it nothing does without it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from types import ModuleType
from typing import Any

from resilver.errors import (
    ConfigError,
    PlacementError,
    Problem,
    SimulationError,
    name_remedy,
    show,
)


def _native() -> ModuleType:
    from resilver import _core

    return _core


@contextmanager
def core_errors(where: str = "") -> Iterator[None]:
    """Turn the core's errors into resilver's."""
    prefix, core = f"{where}: " if where else "", _native()
    try:
        yield
    except core.CoreConfigError as error:
        raise ConfigError(f"{prefix}{error}") from None
    except core.CoreRefusal as error:
        (found,) = error.args
        raise ConfigError(
            Problem(
                rule,
                name_remedy(name, known) if known else remedy,
                key=key,
                value=None if name is None and count is None else show(name or count),
            )
            for key, count, name, rule, remedy, known in found
        ) from None
    except core.CorePlacementError as error:
        raise PlacementError(f"{prefix}{error}") from None
    except core.CoreSimulationError as error:
        raise SimulationError(f"{prefix}{error}") from None


def check_code(label: str, key: str, value: str) -> None:
    """Have the core build a code, which it judges by its matrix.

    Raises:
        ConfigError: The code cannot be; `key` and `value` are where and how it is written.
    """
    core = _native()
    try:
        core.Code(label)
    except core.CoreConfigError as error:
        # What it says is "code = 'NAME': rule; remedy".
        rule, _, remedy = str(error).partition(": ")[2].rpartition("; ")
        raise ConfigError(rule, remedy, key, value) from None


def check_detection(content: Mapping[str, Any], devices: int) -> float:
    """Have the core judge how devices detect failures.

    Args:
        content: How they do, JSON-able, as the core reads it.
        devices: How many there are.

    Returns:
        How many messages there are until a failure is known, about.

    Raises:
        ConfigError: It cannot be, or takes too many messages; with the keys' own names.
    """
    with core_errors():
        return float(_native().check_detection(json.dumps(content), devices))


@lru_cache(maxsize=64)
def judged_parts(levels: str) -> tuple[Any, list[tuple[Any, ...]]]:
    """Have the core count the parts of levels.

    Args:
        levels: Their declarations, as JSON text.

    Returns:
        What `_core.parts_shape` gives, and no problem; or nothing, and all that is wrong as
        `_core.CoreRefusal` has it.
    """
    core = _native()
    try:
        return json.loads(core.parts_shape(levels)), []
    except core.CoreRefusal as error:
        return None, list(error.args[0])
