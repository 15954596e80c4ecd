"""A system has chance in it where its seeds give different runs, and none where they cannot."""

import tomllib
from typing import Any

import pytest

from resilver.errors import ConfigError
from resilver.spec import Study
from resilver.study import simulate
from tests.build import CASES, STUDIES, merged, study_of
from tests.integration.drawn_studies import drawn_study

CHANCES = tomllib.loads((CASES / "chances.toml").read_text(encoding="utf-8"))
PLAIN = STUDIES["twelve"]


def metrics(study: Study, seed: int) -> dict[str, Any]:
    return dict(simulate(study.runs()[0].system, seed).metrics)


@pytest.mark.parametrize("change", CHANCES["sure"].values(), ids=CHANCES["sure"])
def test_without_chance_all_seeds_give_one_run(change: dict[str, Any]) -> None:
    study = study_of(merged(PLAIN, change))
    assert study.chances() == ()
    first = metrics(study, 1)
    assert first["rebuild_seconds"] and metrics(study, 2) == first and metrics(study, 99) == first


def test_a_fault_of_all_that_there_are_draws_none() -> None:
    slow = {"part": {"server": 12}, "health": 0.5}
    assert Study.from_dict({**PLAIN, "faults": [slow]}).chances() == ()
    slow["part"] = {"server": 11}
    assert Study.from_dict({**PLAIN, "faults": [slow]}).chances() == ("which server slows down",)


@pytest.mark.parametrize(("word", "change"), CHANCES["drawn"].items())
def test_what_is_drawn_is_named_and_makes_a_difference(word: str, change: dict[str, Any]) -> None:
    # Seven seeds that draw one of twelve servers alike would be one case in three million.
    study = study_of(merged(PLAIN, change))
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
