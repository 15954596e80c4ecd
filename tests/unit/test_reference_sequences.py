"""Faults in sequence: the core's runs equal those of the plain-Python twin, to the picosecond."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resilver import Study
from tests.reference.compare import assert_equal_runs
from tests.scale import times
from tests.unit.test_reference_rebuild import AMPLE, PLAIN, RING, TIGHT, described, descriptions

# What is smaller than 300 KiB takes 40 us to cross the network, and what is not, 100 ms.
OVERTAKING = [["300 KiB", "40 us", "3 us", "0.0001 us"], ["1 MiB", "100 ms", "3 us", "0.0001 us"]]


def at(milliseconds: int, **fail: Any) -> dict[str, Any]:
    """A fault at a time of the run."""
    return {"at": f"{milliseconds} ms", "fail": fail}


def gone(since: int, until: int, **fail: Any) -> dict[str, Any]:
    """A fault that is over at another time of the run."""
    return {**at(since, **fail), "until": f"{until} ms"}


# Faults in sequence: what the case is about must occur in it.
GOES_ON = {"copy that lost its source"}
IN_THE_MIDDLE = {*GOES_ON, "source changed in the middle"}
NOT_WANTED = {"copy no longer wanted", "buffer read in vain"}
LARGE = {"objects": "whole"}
SEQUENCES: dict[str, tuple[dict[str, Any], set[str]]] = {
    "a-second-server-during-the-rebuild": (
        described(8, faults=[at(0, servers=1), at(110, servers=1)]),
        GOES_ON,
    ),
    "three-servers-one-by-one": (
        described(
            9,
            study={"seeds": [2]},
            population=LARGE,
            faults=[at(0, servers=1), at(60, servers=1), at(150, servers=1)],
            recovery={**TIGHT, "source": "least_loaded"},
        ),
        {*IN_THE_MIDDLE, "choice of holders"},
    ),
    "the-first-one-late": (
        described(
            8, study={"seeds": [2]}, faults=[at(70, servers=1), at(140, servers=["server.3"])]
        ),
        GOES_ON,
    ),
    "objects-lost-for-good": (
        described(
            6, redundancy={"replicas": 2}, faults=[at(0, servers=1), at(90, servers=["server.2"])]
        ),
        {"object lost for good"},
    ),
    "sets-that-move-back-and-forth": (
        # Bobtail's retries send copies elsewhere than failures alone would.
        described(
            12,
            cluster={"racks": 4},
            population=LARGE,
            placement={"bucket": "straw", "tunables": "bobtail", "placement_groups": 100},
            faults=[at(0, servers=2), at(300, servers=2), at(600, servers=1)],
        ),
        {*IN_THE_MIDDLE, *NOT_WANTED},
    ),
    "racks-on-a-ring": (
        described(
            12,
            cluster={"racks": 6},
            placement=RING,
            faults=[at(0, racks=1), at(90, racks=["rack.2"]), at(90, servers=1)],
        ),
        GOES_ON,
    ),
    "no-pipelining-and-a-random-source": (
        described(
            7,
            faults=[at(0, servers=1), at(150, servers=1)],
            recovery={**TIGHT, "pipelining": False, "source": "random"},
        ),
        GOES_ON,
    ),
    "ample-memory": (
        described(
            7,
            population=LARGE,
            faults=[at(0, servers=1), at(100, servers=1), at(200, servers=1)],
            recovery={**AMPLE, "pipeline_buffer": "300 kB", "order": "risk"},
        ),
        GOES_ON,
    ),
    "the-largest-first-and-a-cap": (
        described(
            7,
            faults=[at(0, servers=1), at(200, servers=1)],
            recovery={**TIGHT, "order": "largest", "bandwidth": "50 MB/s"},
        ),
        {*GOES_ON, "bandwidth used up"},
    ),
    "small-messages-overtake-large-ones": (
        described(
            7,
            cluster={"fabric": {"model": "loggp", "table": {"rows": OVERTAKING}}},
            population=LARGE,
            faults=[at(0, servers=1), at(160, servers=1), at(320, servers=1)],
            recovery={
                "pipeline_buffer": "1 MiB",
                "receive_memory": "16 MiB",
                "send_memory": "16 MiB",
            },
        ),
        {*IN_THE_MIDDLE, "arrived ahead of one asked again"},
    ),
    "back-during-the-rebuild": (
        described(8, population=LARGE, faults=[gone(0, 120, servers=1)]),
        NOT_WANTED,
    ),
    "back-while-another-is-rebuilt": (
        described(
            9,
            population=LARGE,
            faults=[gone(0, 150, servers=1), at(60, servers=1), gone(90, 400, servers=1)],
            recovery={**TIGHT, "source": "least_loaded"},
        ),
        {*GOES_ON, *NOT_WANTED},
    ),
    "gone-and-back-again-and-again": (
        described(
            8,
            population=LARGE,
            faults=[
                *(gone(n, n + 70, servers=["server.3"]) for n in (0, 80, 160, 230, 320)),
                at(200, servers=1),
                gone(260, 261, servers=1),
            ],
        ),
        {*GOES_ON, *NOT_WANTED},
    ),
    "back-with-what-was-lost-for-good": (
        described(
            6,
            redundancy={"replicas": 2},
            faults=[gone(0, 700, servers=1), gone(5, 300, servers=1), at(9, servers=1)],
        ),
        {"object lost for good"},
    ),
    "after-the-rebuild": (described(7, faults=[at(0, servers=1), at(60_000, servers=1)]), PLAIN),
}


@pytest.mark.parametrize("name", SEQUENCES)
def test_faults_in_sequence_equal_the_twin_to_the_picosecond(name: str) -> None:
    description, must_occur = SEQUENCES[name]
    run = Study.from_dict({"study": {"seeds": [7]}, **description}).runs()[0]
    twin = assert_equal_runs(run.system, run.seed)
    missing = {what for what in must_occur if not twin.seen[what]}
    assert not missing, f"the case does not show {missing}: {dict(twin.seen)}"


@st.composite
def sequences(draw: st.DrawFn) -> dict[str, Any]:
    """Any small system in which servers fail up to four times, close together or apart.

    Some come back, and one may go and come back several times.
    """
    description = draw(descriptions())
    servers = description["cluster"]["servers"]
    most = st.integers(0, draw(st.sampled_from([30, 300, 10_000])))
    counts = draw(st.lists(st.integers(1, 2), min_size=1, max_size=4))
    while sum(counts) + 1 >= servers:
        counts.pop()
    faults = []
    for count in counts:
        since, lasts = draw(most), draw(st.sampled_from([0, 0, 1, 50, 300]))
        fails = {"servers": count}
        faults.append(gone(since, since + lasts, **fails) if lasts else at(since, **fails))
    until = 0
    for _ in range(draw(st.sampled_from([0, 0, 1, 4])) if servers > 1 else 0):
        since = until + draw(st.integers(0, 60))
        until = since + draw(st.integers(1, 120))
        faults.append(gone(since, until, servers=["server.0"]))
    description["faults"] = faults or [at(draw(most), servers=["server.0"])]
    return description


@settings(max_examples=times(20))
@given(sequences())
def test_any_sequence_of_faults_equals_the_twin(description: dict[str, Any]) -> None:
    run = Study.from_dict(description).runs()[0]
    assert_equal_runs(run.system, run.seed)
