"""The twin of reservations: what the crate's test plays again is what the twin says."""

import json
from collections import Counter

from tests.reference.ceph_reservations import CASES, cases, draw, play


def test_the_crates_cases_are_the_twins_and_have_every_kind_of_event() -> None:
    # Rule: the cases that the crate's test is held to are written by the twin as it is now.
    assert CASES.read_text() == cases(), "run python tests/reference/ceph_reservations.py"
    # Rule: claims of the cases are preempted while they move and while they wait, and all end.
    drawn = json.loads(CASES.read_text())
    seen = Counter(what for case in drawn for _, _, what in case["events"])
    assert seen["done"] == sum(len(case["claims"]) for case in drawn)
    assert min(seen["deferred"], seen["revoked"]) >= 10


def test_a_claim_moves_for_its_time_and_no_longer() -> None:
    """Rule: a claim that nobody disturbs is held at once and done after its time: 5 and 5 + 7."""
    claim = {"at": 5, "primary": 0, "targets": [1, 2], "priority": 110, "kind": "backfill"}
    case = {"osds": 3, "slots": 1, "claims": [claim | {"time": 7}]}
    assert play(case) == [(5, 0, "held"), (12, 0, "done")]
    # Rule: a preempted claim resumes, so that the times that it moves add up to its own.
    for seed in range(100, 140):
        case = draw(seed)
        moved: Counter[int] = Counter()
        began: dict[int, int] = {}
        for time, claim, what in play(case):
            if what == "held":
                began[claim] = time
            elif claim in began:
                moved[claim] += time - began.pop(claim)
        assert [moved[number] for number in range(len(case["claims"]))] == [
            claim["time"] for claim in case["claims"]
        ]
