"""What only the core can tell of systems before they run."""

from __future__ import annotations

import json
from collections.abc import Iterable

from resilver import _core
from resilver.core_errors import core_errors
from resilver.core_input import faults_json
from resilver.simulate.network import topology_of
from resilver.spec import Run


def validate_faults(runs: Iterable[Run]) -> None:
    """Have the core build each topology, and name and draw what breaks in each run."""
    seen: set[tuple[str, int | None]] = set()
    for run in runs:
        system, topology = run.system, run.system.cluster.fabric.topology
        if topology is None and not system.faults:
            continue
        text = json.dumps(faults_json(system))
        # Where one fault draws, how many there are is the same for all seeds.
        broken = [fault.broken for fault in system.faults if fault.broken is not None]
        is_alike = (len(broken) == 1 and isinstance(broken[0].targets, int)) or not broken
        content = json.dumps([topology and topology.content(), text], sort_keys=True)
        case = (content, None if is_alike else run.seed)
        if case not in seen:
            seen.add(case)
            built = topology_of(system, run.seed)
            with core_errors():
                _core.name_faults(text, run.seed, built)
