"""Lanes in a study file: shares, the rest, priorities, and what is refused."""

from __future__ import annotations

import re
from typing import Any

import pytest

from resilver.errors import ConfigError
from resilver.spec import Lanes, Study
from tests.unit.striped_studies import CODED, STREAMED, changed, system_of

BURSTS = {"volume": "1 GiB", "every": "1 s"}


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({}, "no class has a share; such as clients = 0.9"),
        ({"clients": 1.5}, "clients = 1.5: this must be at most 1"),
        ({"clients": -0.1}, "clients = -0.1: this must be at least 0"),
        ({"clients": "0.9"}, "clients = "),
        ({"clients": float("nan")}, "clients = nan"),
        ({"client": 0.9}, 'client = 0.9: .*did you mean "clients"'),
        ({"clients": 0.9, "rebuild": 0.2}, "the shares sum to 1.1, and a port has only 1"),
        ({"order": "fifo"}, 'order = "fifo": this is not one of the choices'),
        ({"order": "priority", "clients": 0.9}, "clients = 0.9: strict priority has no shares"),
        ({"clients": 0.9, "classes": ["clients"]}, "classes = .*shares have no order"),
        ({"order": "priority", "classes": ["clients", "rebuild"]}, "each of the classes .*once"),
        ({"order": "priority", "classes": ["clients"] * 3}, "each of the classes .*once"),
        ({"order": "priority", "classes": ["client", "rebuild", "bursts"]}, 'mean "clients"'),
        ({"clients": 0.9, "devices": 1}, "devices = 1: true or false is needed"),
    ],
)
def test_bad_lanes_are_refused(keys: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Lanes(**keys)
    assert re.search(says, str(caught.value)), str(caught.value)


@pytest.mark.parametrize(
    ("keys", "bursts", "shares"),
    [
        # Of 1, what is left beside 0.9 is 0.1.
        ({"clients": 0.9}, False, (0.9, 0.1, 0.0)),
        ({"rebuild": 0.05}, False, (0.95, 0.05, 0.0)),
        ({"clients": 0.5, "rebuild": 0.3}, True, (0.5, 0.3, 0.2)),
        ({"clients": 0.5, "rebuild": 0.3, "bursts": 0.2}, False, (0.5, 0.3, 0.2)),
        ({"clients": 0.7, "bursts": 0.1}, False, (0.7, 0.2, 0.1)),
        ({"clients": 1.0}, False, (1.0, 0.0, 0.0)),
    ],
)
def test_a_class_that_is_left_out_gets_the_rest(
    keys: dict[str, float], bursts: bool, shares: tuple[float, ...]
) -> None:
    lanes = Lanes(**keys)
    assert lanes.problems(bursts=bursts) == []
    assert lanes.shares_with(bursts=bursts) == pytest.approx(shares, abs=1e-12)
    assert sum(lanes.shares_with(bursts=bursts)) == pytest.approx(1)


@pytest.mark.parametrize(
    ("lanes", "streams", "says"),
    [
        ({"clients": 0.5, "rebuild": 0.3}, {"window": 4}, "lanes: the shares sum to 0.8"),
        (
            {"clients": 0.5},
            {"window": 4, "bursts": BURSTS},
            "lanes.bursts: rebuild and bursts have no share, and only one class",
        ),
        ({"bursts": 0.5}, {"window": 4}, "lanes.rebuild: clients and rebuild have no share"),
    ],
)
def test_shares_must_be_all_of_a_port(
    lanes: dict[str, Any], streams: dict[str, Any], says: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        Study.from_dict(changed(STREAMED, lanes=lanes, traffic__streams=streams))
    assert says in str(caught.value)


def test_strict_priority_numbers_the_classes() -> None:
    assert Lanes(order="priority").priority == (0, 1, 2)
    lanes = Lanes(order="priority", classes=["rebuild", "clients", "bursts"])
    assert lanes.priority == (1, 0, 2)
    assert lanes.problems(bursts=True) == []


def test_lanes_are_swept_and_stand_in_the_resolved_study() -> None:
    table = changed(STREAMED, study={"sweep": {"lanes.clients": [0.95, 0.5]}})
    runs = Study.from_dict(table).runs()
    assert [run.swept["lanes.clients"] for run in runs] == [0.95, 0.5]
    assert [run.system.resolved()["lanes"]["shares"] for run in runs] == [
        [0.95, 0.05, 0.0],
        [0.5, 0.5, 0.0],
    ]
    # Without lanes a study is what it was.
    assert system_of(CODED).resolved()["lanes"] is None


@pytest.mark.parametrize(
    ("base", "keys"),
    [
        # Of strips that are to be made, and of lost pieces beside streams and a closed loop.
        (STREAMED, {"faults": [{"corrupt": {"groups": 1, "strips": 20}}]}),
        (CODED, {"traffic": {"streams": {"window": 4}}, "cluster__fabric": {"routers": 2}}),
        (CODED, {"traffic": {"outstanding": 4}, "cluster__fabric": {"routers": 2}}),
    ],
    ids=["strips", "streams", "closed-loop"],
)
def test_a_rebuild_that_ends_the_run_needs_a_share(
    base: dict[str, Any], keys: dict[str, Any]
) -> None:
    with pytest.raises(ConfigError, match=r"lanes\.rebuild = 0: .*never ends; give it a share"):
        system_of(base, lanes={"clients": 1.0}, **keys)
    # A millionth is a share.
    system_of(base, lanes={"rebuild": 1e-6}, **keys)


def test_soft_errors_without_an_end_may_have_no_share() -> None:
    assert system_of(STREAMED, lanes={"clients": 1.0}).lanes is not None
