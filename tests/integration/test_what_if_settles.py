"""Steady rates that had not settled used to stand until the next change, which may be days away.

Commands on which that was seen: by flows the whole cluster heals as by events, within a tenth.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.front_door import command

_WITHIN = 0.1


def whole_seconds(*words: object) -> float:
    done = command("what-if", *words, "--json")
    assert done.returncode == 0, done.stdout[:500] + done.stderr
    found = json.loads(done.stdout)["answer"]["whole_seconds"]
    assert isinstance(found, float)
    return found


@pytest.mark.parametrize(
    "changes",
    [
        ("--add", "2 hosts like cloud3-1359"),
        ("--crush-reweight", "osd.12=0", "--fail", "osd.40 @ 30 min"),
    ],
)
def test_the_last_groups_do_not_stand_still(shared_data: Path, changes: tuple[str, ...]) -> None:
    report = shared_data / "ceph" / "ceph-report-jewel-88osd.json"
    by_flows, by_events = (whole_seconds(report, *changes, *how) for how in ((), ("--events",)))
    assert by_flows == pytest.approx(by_events, rel=_WITHIN)
