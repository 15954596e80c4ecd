"""Steady rates that had not settled used to stand until the next change, which may be days away.

Commands on which that was seen: by flows the whole cluster heals as by events, within a tenth.
"""

from pathlib import Path

import pytest

from tests.terminal import json_output

_WITHIN = 0.1


def whole_seconds(*words: object) -> float:
    found = json_output("what-if", *words)["answer"]["whole_seconds"]
    assert isinstance(found, float)
    return found


@pytest.mark.parametrize(
    "changes",
    [
        ("--add", "2 hosts like cloud3-1359"),
        ("--crush-reweight", "osd.12=0", "--fail", "osd.40 @ 30 min"),
    ],
)
def test_the_last_groups_do_not_stand_still(report: Path, changes: tuple[str, ...]) -> None:
    by_flows, by_events = (whole_seconds(report, *changes, *how) for how in ((), ("--events",)))
    assert by_flows == pytest.approx(by_events, rel=_WITHIN)
