"""How fast a study's devices are: as drawn, as replaced, and as faults slow them."""

from __future__ import annotations

import json

import numpy as np
import numpy.typing as npt

from resilver import _core
from resilver.core_errors import core_errors
from resilver.core_input.faults import faults_json
from resilver.simulate.network import topology_of
from resilver.spec import System


def drawn_speeds(
    spread: float, seed: int, devices: npt.ArrayLike, replacements: npt.ArrayLike
) -> npt.NDArray[np.float64]:
    """The speeds that devices of a spread draw, as runs have them.

    Args:
        spread: The standard deviation; draws beyond four of them are drawn again.
        seed: The run's seed.
        devices: Their numbers, shape (devices,).
        replacements: How often each has been replaced, shape (devices,).

    Returns:
        Speeds around 1, shape (devices,).

    >>> drawn_speeds(0.0, 1, [3, 4], [0, 0])
    array([1., 1.])
    """
    numbers = np.ascontiguousarray(devices, dtype=np.uint32)
    times = np.ascontiguousarray(replacements, dtype=np.uint32)
    with core_errors():
        return _core.drawn_speeds(seed, spread, numbers, times)


def named_faults(system: System, seed: int) -> list[list[str]]:
    """The parts of each fault, by name: those that it names, or that the seed draws.

    Args:
        seed: The run's seed.
    """
    with core_errors():
        text = json.dumps(faults_json(system))
        return _core.name_faults(text, seed, topology_of(system, seed))
