"""Every example in the docstrings of the study's modules runs and gives what it says."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import resilver
from resilver import calibration, catalog, importers, spec


def modules() -> list[str]:
    names = ["resilver", "resilver.units", "resilver.lifetimes", "resilver.errors"]
    names += [f"resilver.report.{name}" for name in ("parallel", "scales", "source")]
    for package in (spec, catalog, importers, calibration):
        names.append(package.__name__)
        names += [
            item.name for item in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
        ]
    return names


@pytest.mark.parametrize("name", modules())
def test_examples_run(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0


def test_there_are_examples_to_run() -> None:
    finder = doctest.DocTestFinder(exclude_empty=True)
    found = [test for name in modules() for test in finder.find(importlib.import_module(name))]
    assert sum(len(test.examples) for test in found) >= 15
    assert resilver.__doc__
