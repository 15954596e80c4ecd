"""Asks SimGrid for the rates of flows, where it is installed (Debian: python3-simgrid)."""

import functools
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

_PYTHON = "/usr/bin/python3"
"""Debian's package is one of the system's Python."""


@functools.cache
def is_there() -> bool:
    """Whether the system's Python has SimGrid."""
    try:
        found = subprocess.run([_PYTHON, "-c", "import simgrid"], capture_output=True, timeout=60)
    except OSError:
        return False
    return found.returncode == 0


def rates_of(
    capacities: Sequence[float], ways: Sequence[Sequence[int]], weights: Sequence[float]
) -> tuple[list[float], float]:
    """The rates that SimGrid gives flows, and the seconds of processor time that it took."""
    asked = json.dumps({"capacities": capacities, "ways": ways, "weights": weights})
    script = Path(__file__).with_name("simgrid_rates.py")
    done = subprocess.run(
        [_PYTHON, str(script)], input=asked, capture_output=True, text=True, timeout=600, check=True
    )
    told = json.loads(done.stdout)
    return told["rates"], told["seconds"]
