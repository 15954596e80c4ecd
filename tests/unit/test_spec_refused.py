"""Bad studies are refused before anything runs, each with its key, its rule and its remedy.

A row of `tests/cases/refused` is a change of a study of `tests/cases/studies.toml` and what is said
of it, in which "..." stands for any words; a row of `taken` is a change that is just allowed. A row
of `means` has attributes of the system that it makes, one of `sweeps` those of each of its runs.
"""

import tomllib
from collections.abc import Mapping
from functools import reduce
from pathlib import Path
from typing import Any

import pytest

from resilver.spec import Study
from resilver.study import validate_runs
from tests.build import (
    CASES,
    STUDIES,
    assert_said,
    merged,
    read_again,
    refusal,
    study_of,
)

FILES = {
    "empty.txt": "# total_count: 0\n",
    "disk.toml": 'request_sizes = ["4 KiB"]\nread_rat = "1 B/s"\n',
    "broken.toml": "a b\n",
    "requests.csv": "seconds,kind,size\n0,read,4096\n0.5,write,512 KiB\n",
    "once.csv": "seconds,kind,size\n0,read,4096\n",
    "far.csv": "seconds,kind,size,target\n0,read,4096,server.11\n1,read,4096,server.12\n",
    "sda.csv": "component,start,end,failed\nsda,2024-01-01,2024-01-02,yes\n",
    "whole.csv": "component,start,end,failed\nosd.1,2024-01-01,2024-01-02,no\n",
}


def rows(kind: str) -> list[Any]:
    """The rows of a kind in all files, each with the study that it changes."""
    tables = [tomllib.loads(path.read_text()) for path in sorted(CASES.glob("refused/*.toml"))]
    studies = [item for table in tables for item in table.items()]
    return [(name, row) for name, of_kind in studies for row in of_kind.get(kind, [])]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the rows name beside them."""
    folder = tmp_path_factory.mktemp("files")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize(("name", "row"), rows("refused"))
def test_a_bad_change_is_refused(folder: Path, name: str, row: list[Any]) -> None:
    *changes, says = row
    said = refusal(reduce(merged, changes, STUDIES[name]), folder=folder)
    assert_said(says, said.replace(f"{folder}/", ""))


@pytest.mark.parametrize(("name", "change"), rows("taken"))
def test_what_is_just_allowed_is_taken_and_read_again(
    folder: Path, name: str, change: dict[str, Any] | list[dict[str, Any]]
) -> None:
    changes = change if isinstance(change, list) else [change]
    study = study_of(reduce(merged, changes, STUDIES[name]), folder=folder)
    validate_runs(study.runs())
    stated = Study.from_dict(tomllib.loads(study.to_toml(stated=True)), folder)
    assert read_again(study).to_toml() == stated.to_toml() == study.to_toml()


def looked_up(thing: Any, key: str) -> Any:
    """An item, an attribute or what a method returns."""
    if isinstance(thing, list):
        found = thing[int(key)]
    else:
        found = thing[key] if isinstance(thing, Mapping) else getattr(thing, key)
    found = found() if callable(found) else found
    return "(absent)" if found is None else list(found) if isinstance(found, tuple) else found


def check(things: list[Any], expected: dict[str, Any]) -> None:
    for key, value in expected.items():
        found = [looked_up(thing, key) for thing in things]
        if isinstance(value, dict):
            check(found, value)
        else:
            assert (found if len(things) > 1 else found[0]) == value, key


@pytest.mark.parametrize(("name", "row"), rows("means"))
def test_a_change_means_what_follows_from_it(name: str, row: list[dict[str, Any]]) -> None:
    change, *expected = row
    run, *_ = read_again(study_of(merged(STUDIES[name], change))).runs()
    for attributes in expected:
        check([run.system], attributes)


@pytest.mark.parametrize(("name", "row"), rows("sweeps"))
def test_a_sweep_makes_these_runs(name: str, row: list[dict[str, Any]]) -> None:
    change, *expected = row
    runs = read_again(study_of(merged(STUDIES[name], change))).runs()
    assert len({run.key for run in runs}) == len(runs)
    for attributes in expected:
        check(runs, attributes)
