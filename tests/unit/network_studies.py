"""A small network with clients, as the tests of what a run of it gives need it."""

from __future__ import annotations

from typing import Any

from resilver.spec import Run, Study

# Two leaves of two places each under one spine. One place is a router's, so 3 hosts, 3 switches
# (the leaves and the spine) and 4 + 2 links.
STAR = "leaf spine 2x1 hosts 2 routers 1"


def network_run(
    faults: list[dict[str, Any]] | None = None,
    topology: str | dict[str, str] = STAR,
    **traffic: Any,
) -> Run:
    """The run of a closed loop of clients over a small network.

    Args:
        faults: the tables of `faults`.
        topology: the network.
        traffic: what differs in the section `traffic`.
    """
    study = Study.from_dict(
        {
            "cluster": {
                "device": {"service": "22 ms"},
                "queue": "reads_first",
                "fabric": {"model": "switched", "topology": topology, "link_rate": "1 Gb/s"},
            },
            "traffic": {"outstanding": 4, "interval": "22 ms", "duration": "1 s"} | traffic,
            "faults": faults or [],
        }
    )
    return study.runs()[0]
