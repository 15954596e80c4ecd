"""From the native core's errors to resilver's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from resilver import _core
from resilver.errors import ConfigError, PlacementError, SimulationError


@contextmanager
def core_errors(where: str = "") -> Iterator[None]:
    """Turn the core's errors into resilver's."""
    prefix = f"{where}: " if where else ""
    try:
        yield
    except _core.CoreConfigError as error:
        raise ConfigError(f"{prefix}{error}") from None
    except _core.CorePlacementError as error:
        raise PlacementError(f"{prefix}{error}") from None
    except _core.CoreSimulationError as error:
        raise SimulationError(f"{prefix}{error}") from None
