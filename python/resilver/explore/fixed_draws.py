"""Faults whose parts a seed draws, as faults that name those parts.

A draw passes over what other faults name. A page that adds a fault to a study would so change which
part the study itself lets fail, and what it compares would be two accidents. Named they stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from resilver.explore.study_text import stated
from resilver.simulate.devices import named_faults
from resilver.spec import System
from resilver.spec.faults import NETWORK_LEVELS


def pinned(system: System, seed: int) -> list[dict[str, Any]]:
    """The faults of a system, as a study states them, with the parts that its seed draws.

    Args:
        seed: The seed of its run.

    Returns:
        Plain tables. Links and switches are drawn on, as another network has others.
    """
    tables: Sequence[Any] = stated(list(system.faults)) if system.faults else []
    # Soft errors are of no parts.
    names = iter(named_faults(system, seed) if tables else ())
    made = []
    for fault, table in zip(system.faults, tables, strict=True):
        broken = fault.broken
        parts = () if broken is None else next(names)
        if broken is None or not isinstance(broken.targets, int) or broken.level in NETWORK_LEVELS:
            made.append(table)
            continue
        rest = {key: value for key, value in table.items() if key not in ("fail", "part")}
        made.append({**rest, "part": {broken.level: list(parts)}})
    return made
