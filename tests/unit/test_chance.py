"""A system has chance in it where its seeds give different runs, and none where they cannot."""

from typing import Any

import pytest

from resilver.errors import ConfigError
from resilver.spec import Study
from resilver.study import simulate
from tests.integration.drawn_studies import drawn_study

SWITCHED = {"model": "switched", "topology": "torus 4x4", "link_rate": "10 Gb/s"}
PLAIN: dict[str, Any] = {
    "cluster": {"servers": 12},
    "population": {"file_size": "3 MiB", "files": 600},
    "placement": {"placement_groups": 64},
    "faults": [{"fail": {"servers": ["server.3"]}}],
}

SURE: dict[str, dict[str, Any]] = {
    "as it is": {},
    "no groups": {"placement": {"placement_groups": "none"}},
    "a ring": {"placement": {"algorithm": "ring", "placement_groups": "none"}},
    "jump": {"placement": {"algorithm": "jump", "placement_groups": "none"}},
    "declustered": {"placement": {"algorithm": "declustered", "placement_groups": "none"}},
    "a code": {"redundancy": {"code": "rs 4+2"}},
    "least loaded": {"recovery": {"source": "least_loaded"}},
    "switches": {"cluster": {"servers": 12, "fabric": SWITCHED}},
}
DRAWN: dict[str, tuple[str, dict[str, Any]]] = {
    "a server": ("which server fails", {"faults": [{"fail": {"servers": 1}}]}),
    "sizes": (
        "the sizes of files",
        {"population": {"histogram": {"bins": [["1 MiB", "9 MiB", 1]]}, "files": 600}},
    ),
    "sources": ("which survivor is asked", {"recovery": {"source": "random"}}),
    "copysets": (
        "the copysets",
        {"placement": {"algorithm": "copysets", "scatter_width": 4, "placement_groups": "none"}},
    ),
    "exponential": (
        "the time of each request to a device",
        {"cluster": {"servers": 12, "device": {"service": "9 ms", "distribution": "exponential"}}},
    ),
    "routers": (
        "where routers are",
        {
            "cluster": {
                "servers": 12,
                "fabric": {**SWITCHED, "topology": "torus 4x4 routers 4", "link_rate": "1 Gb/s"},
            }
        },
    ),
    "spread": (
        "the speeds of devices",
        {"cluster": {"parts": [{"level": "server", "count": 12, "ports": 1, "spread": 0.1}]}},
    ),
    "clients": (
        "what clients ask, and when",
        {
            "cluster": {"servers": 12, "fabric": {"routers": 2}},
            "traffic": {"outstanding": 8, "request_size": "1 MiB", "timeout": "1 s"},
        },
    ),
}


def metrics(study: Study, seed: int) -> dict[str, Any]:
    return dict(simulate(study.runs()[0].system, seed).metrics)


@pytest.mark.parametrize("change", SURE.values(), ids=SURE)
def test_without_chance_all_seeds_give_one_run(change: dict[str, Any]) -> None:
    study = Study.from_dict({**PLAIN, **change})
    assert study.chances() == ()
    first = metrics(study, 1)
    assert first["rebuild_seconds"] and metrics(study, 2) == first and metrics(study, 99) == first


def test_a_fault_of_all_that_there_are_draws_none() -> None:
    slow = {"part": {"server": 12}, "health": 0.5}
    assert Study.from_dict({**PLAIN, "faults": [slow]}).chances() == ()
    slow["part"] = {"server": 11}
    assert Study.from_dict({**PLAIN, "faults": [slow]}).chances() == ("which server slows down",)


@pytest.mark.parametrize(("word", "change"), DRAWN.values(), ids=DRAWN)
def test_what_is_drawn_is_named_and_makes_a_difference(word: str, change: dict[str, Any]) -> None:
    # Seven seeds that draw one of twelve servers alike would be one case in three million.
    study = Study.from_dict({**PLAIN, **change})
    assert study.chances() == (word,)
    assert any(metrics(study, seed) != metrics(study, 1) for seed in range(2, 9))


def test_studies_drawn_at_random_are_sure_where_they_are_said_to_be() -> None:
    """Without clients, with files of one size and one named fault, over all else that varies."""
    seen = 0
    for number in range(80):
        table = drawn_study(number)
        for section in ("traffic", "lanes", "pools"):
            table.pop(section, None)
        table["population"] = {"file_size": "1 MiB", "files": 300}
        level = "servers" if "servers" in table["cluster"] else "disks"
        table["faults"] = [{"part": {level: ["server.1"]}, "told": True}]
        try:
            study = Study.from_dict(table)
        except ConfigError:
            continue
        if not study.chances():
            assert metrics(study, 1) == metrics(study, 2), number
            seen += 1
    assert seen >= 15
