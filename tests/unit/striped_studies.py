"""Studies of streams over groups and of coded rebuilds, from which tests of their keys start."""

from __future__ import annotations

import copy
from typing import Any

from resilver.spec import Study, System

FABRIC = {
    "model": "switched",
    "topology": "leaf spine 4x4 hosts 6 entries 6",
    "link_rate": "10 Gb/s",
    "packet_size": "4 KiB",
    "routing": "deterministic",
}
STREAMED: dict[str, Any] = {
    "cluster": {"servers": 12, "ports": 2, "device": {"service": "0 s"}, "fabric": FABRIC},
    "placement": {"algorithm": "groups", "group_size": 6},
    "redundancy": {"code": "rs 4+2", "strip": "16 KiB"},
    "lanes": {"clients": 0.75},
    "traffic": {
        "streams": {"window": 4},
        "reads": 1.0,
        "warm_up": "200 us",
        "duration": "1 ms",
    },
    "faults": [{"corrupt": {"groups": 1}}],
}
"""Twelve servers of two ports in two groups, at four switches below four with six entries each."""

CODED: dict[str, Any] = {
    "cluster": {"servers": 8, "device": "jbod10-sata"},
    "population": {"file_size": "64 MiB", "files": 200},
    "placement": {"algorithm": "ring"},
    "redundancy": {"code": "rs 4+2"},
    "faults": [{"fail": {"servers": ["server.3"]}}],
}
"""Eight servers with files of one size in six pieces each, of which one fails."""


def changed(base: dict[str, Any], /, **keys: Any) -> dict[str, Any]:
    """A study with keys replaced, named with two underscores for each dot; None takes one away."""
    made = copy.deepcopy(base)
    for name, value in keys.items():
        *path, last = name.split("__")
        table = made
        for part in path:
            table = table.setdefault(part, {})
        if value is None:
            table.pop(last)
        else:
            table[last] = value
    return made


def system_of(base: dict[str, Any], /, **keys: Any) -> System:
    """The system of a study with keys replaced."""
    return Study.from_dict(changed(base, **keys)).runs()[0].system
