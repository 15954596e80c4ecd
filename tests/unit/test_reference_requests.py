"""Requests on stored objects equal those of the plain-Python twin, to the picosecond."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resilver import Study
from resilver.spec import System
from resilver.study import simulate
from tests.reference.request_twin import Outcome, Requests
from tests.scale import times

# Files of many objects, so that few draws fill the sample; the last object of each is short.
FILES = {"file_size": "150 MiB", "objects": {"chunk": "400 KiB"}, "files": 40}
LOOP = {"outstanding": 12, "interval": "2 ms", "warm_up": "0 s", "duration": "300 ms"}
RING = {"algorithm": "ring", "ring_points": 64}


def described(servers: int, **sections: Any) -> dict[str, Any]:
    """A study of clients of a small cluster of which nothing fails."""
    return {
        "cluster": {"servers": servers, "fabric": {"routers": 3}},
        "population": FILES,
        "placement": RING,
        "redundancy": {"replicas": 3},
        "traffic": LOOP,
        **sections,
    }


# Name: the study, and what must occur in it for the case to be worth its name.
CASES: dict[str, tuple[dict[str, Any], set[str]]] = {
    "copies": (described(6), {"disk busy", "receive interface busy"}),
    "at-once": (
        described(5, traffic={**LOOP, "interval": "0 s", "duration": "60 ms"}),
        {"disk busy", "send interface busy", "receive interface busy"},
    ),
    "a-code-that-takes-time": (
        described(7, redundancy={"code": "rs 3+2", "coding": "40 MB/s"}),
        {"coder busy", "disk busy"},
    ),
    "local-pieces": (described(12, redundancy={"code": "lrc 6+4 local 2"}), {"disk busy"}),
    "one-copy-and-reads-alone": (
        described(4, redundancy={"replicas": 1}, traffic={**LOOP, "reads": 1.0}),
        {"disk busy"},
    ),
}


def assert_equal(description: dict[str, Any], seed: int) -> Outcome:
    """Run both sides and compare them exactly."""
    system: System = Study.from_dict(description).runs()[0].system
    core, twin = simulate(system, seed), Requests(system, seed).run()
    done = {kind: len(delays) for kind, delays in twin.delays.items()}
    expected = {
        "requests_issued": twin.issued,
        "requests_completed": sum(done.values()),
        "requests_outstanding": twin.outstanding,
        "client_device_bytes_read": twin.bytes_asked["read"],
        "client_device_bytes_written": twin.bytes_asked["write"],
    }
    assert {name: core.metrics[name] for name in expected} == expected
    for kind, delays in twin.delays.items():
        # The sum is a whole number of picoseconds; a double of its mean is off by 2^-53 of it.
        mean = core.metrics[f"mean_{kind}_delay_seconds"]
        assert mean is None if not delays else round(mean * 1e12 * len(delays)) == sum(delays)
    busy = [round(row["device_busy_seconds"] * 1e12) for row in core.servers.to_pylist()]
    assert busy == twin.busy
    return twin


@pytest.mark.parametrize("name", CASES)
def test_requests_equal_those_of_the_twin(name: str) -> None:
    description, must_occur = CASES[name]
    twin = assert_equal(description, seed=7)
    assert must_occur <= set(+twin.seen)
    assert min(twin.issued - twin.outstanding, twin.outstanding) > 0


@settings(max_examples=times(2), deadline=None)
@given(
    st.integers(0, 2**32),
    st.integers(6, 11),
    st.sampled_from(["rs 2+1", "rs 4+2", "copies 2", "copies 3"]),
    st.floats(0, 1, allow_subnormal=False),
    st.integers(1, 40),
)
def test_drawn_loops_equal_those_of_the_twin(
    seed: int, servers: int, code: str, reads: float, outstanding: int
) -> None:
    loop = {**LOOP, "reads": reads, "outstanding": outstanding, "duration": "100 ms"}
    assert_equal(described(servers, redundancy={"code": code}, traffic=loop), seed)
