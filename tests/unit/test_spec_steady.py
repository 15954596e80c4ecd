"""What a study file says of steady flows, and what they cannot mean."""

from __future__ import annotations

import re
from typing import Any

import pytest

from resilver.errors import ConfigError
from resilver.spec import System
from resilver.spec.chance import chances

CLIENTS: dict[str, Any] = {"engine": "flows", "outstanding": 8, "duration": "1 s"}
STORED: dict[str, Any] = {
    "cluster": {"servers": 8},
    "population": {"file_size": "8 MiB", "files": 100},
    "traffic": CLIENTS,
}
CODED = {**STORED, "redundancy": {"code": "rs 4+2"}}


def pools(*engines: str) -> dict[str, Any]:
    """A study of a pool for each engine, whose clients are run by it."""
    each = [
        {"name": f"p{number}", "population": STORED["population"]}
        | {"traffic": {**CLIENTS, "engine": engine}}
        for number, engine in enumerate(engines)
    ]
    return {"cluster": STORED["cluster"], "pools": each}


def test_requests_are_followed_where_a_study_does_not_say() -> None:
    system = System(**{**STORED, "traffic": {"outstanding": 8, "duration": "1 s"}})
    assert system.traffic is not None and system.traffic.engine == "events"
    # So the keys of runs from before there were flows are what they were.
    assert "engine" not in system.traffic.content()


@pytest.mark.parametrize("study", [STORED, CODED, pools("flows", "flows")])
def test_closed_loops_may_be_flows(study: dict[str, Any]) -> None:
    traffic = System(**study).of_pools[0].traffic
    assert traffic is not None and traffic.content()["engine"] == "flows"


@pytest.mark.parametrize(
    ("study", "says"),
    [
        ({**STORED, "traffic": {**CLIENTS, "engine": "flow"}}, "traffic.engine"),
        ({**STORED, "traffic": {**CLIENTS, "timeout": "1 s"}}, "timeout = .*no request of a flow"),
        ({**STORED, "lanes": {"rebuild": 0.1}}, "lanes: .*flows know none"),
        (
            {**CODED, "redundancy": {"code": "rs 4+2", "coding": "5 GB/s"}},
            'redundancy.coding = "5 GB/s": flows know no time of coding',
        ),
        ({**STORED, "faults": [{"fail": {"servers": 1}}]}, "faults.0.fail.servers = 1: .*rebuilt"),
        (
            {**STORED, "faults": [{"fail": {"disks": 1}, "at": "0.5 s"}]},
            "faults.0.fail.disks = 1: .*asked in vain",
        ),
        (pools("flows", "events"), "pools.0.traffic.engine = .*or none of them"),
    ],
)
def test_what_flows_cannot_mean_is_refused_by_name(study: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        System(**study)
    assert re.search(says, str(caught.value)), str(caught.value)


@pytest.mark.parametrize(
    ("changed", "drawn"),
    [
        # Every server is asked as often, whatever the seed.
        ({"population": None}, ()),
        ({"population": None, "traffic": {**CLIENTS, "targets": {"zipf": 1.0}}}, ("servers",)),
        ({}, ("objects",)),
    ],
)
def test_what_a_seed_draws_of_flows_is_said(changed: dict[str, Any], drawn: tuple[str]) -> None:
    study = {name: given for name, given in {**STORED, **changed}.items() if given is not None}
    words = chances(System(**study))
    assert len(words) == len(drawn)
    assert all(one in word for one, word in zip(drawn, words, strict=True))
