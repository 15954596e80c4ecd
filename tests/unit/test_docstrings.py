"""Every example in a docstring runs and gives what it says."""

import doctest
import importlib
import re

import pytest

from tests.conftest import ROOT

EXAMPLE = re.compile(r">>> (?!.*\+SKIP)")


def modules() -> list[str]:
    """The modules whose source shows an example that is to be run."""
    paths = sorted((ROOT / "python" / "resilver").rglob("*.py"))
    shown = (path for path in paths if EXAMPLE.search(path.read_text(encoding="utf-8")))
    names = (".".join(path.relative_to(ROOT / "python").with_suffix("").parts) for path in shown)
    return [name.removesuffix(".__init__") for name in names]


@pytest.mark.parametrize("name", modules())
def test_examples_run(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted > 0 and result.failed == 0
