"""Modules form no circle: rooms of Python and modules of each crate, by all that they name."""

import ast
import importlib
from pathlib import Path

import pytest

from tools import budget, graph

ROOT = Path(__file__).resolve().parents[2]


HOUSES = ["python/resilver", *(f"crates/{path.name}" for path in sorted(ROOT.glob("crates/*")))]


@pytest.mark.parametrize("name", HOUSES)
def test_no_modules_form_a_circle(name: str) -> None:
    assert budget.circles(name) == [], "have one of them take what it needs from below"


def test_imports_inside_functions_become_no_more() -> None:
    present, most = budget.inner_imports(), budget.read()["imports_inside_functions"]
    assert present <= most, "import at the top of the file, or break the circle that forbids it"
    assert present > most - budget.SLACK // 4, f"write {present} into budget.toml"


def test_verification_takes_from_tests_what_they_have() -> None:
    """It runs seldom, so that a name which left the tests would not be missed."""
    for path in sorted(ROOT.glob("verification/*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("tests."):
                module = importlib.import_module(str(node.module))
                lacking = [one.name for one in node.names if not hasattr(module, one.name)]
                assert not lacking, f"{path.name} takes {lacking} from {node.module}"


def test_imports_are_found_wherever_they_stand(tmp_path: Path) -> None:
    # By hand: `user` takes `Thing` on demand from `house`, which has it from `house.made.thing`;
    # `thing` names `house.user` in a text, and `other` imports it inside a function.
    files = {
        "python/house/__init__.py": "",
        "python/house/__init__.pyi": "from .made.thing import Thing as Thing\n",
        "python/house/user.py": "import house\nhouse.Thing()\n",
        "python/house/made/__init__.py": "",
        "python/house/made/thing.py": 'Thing = "house.user.Name"\n',
        "python/house/other.py": "def late():\n    from house import user\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    modules = graph.Python.of(tmp_path, list(files))
    assert modules.graph() == {
        "house": set(),
        "house.user": {"house", "house.made.thing"},
        "house.made": set(),
        "house.made.thing": {"house.user"},
        "house.other": {"house.user"},
    }
    assert modules.inner_imports() == 1
    between = graph.rooms(modules.graph(), "house")
    assert between == {"user": {"made"}, "made": {"user"}, "other": {"user"}}
    assert graph.circles(between) == [["made", "user"]]


def test_paths_between_modules_of_a_crate_are_found() -> None:
    # Of `a` by a tree of `use`, of `b` by two steps up and by what the root hands on; what only
    # tests, comments and texts name does not count.
    sources = {
        "lib.rs": "mod a; mod b; mod c; mod d;\npub use d::{Deep as _, Handed};\n",
        "a.rs": "use crate::{b::{One, Two}, c};\n#[cfg(test)] mod t { use crate::d; }\n",
        "b/mod.rs": "// crate::a\nuse super::Handed;\n",
        "b/inner.rs": 'use super::super::c; fn f() { super::mine(); "crate::a"; }\n',
        "c.rs": "use other_crate::a;\n",
        "d.rs": "",
    }
    found = graph.crate_modules(sources)
    assert found == {"a": {"b", "c"}, "b": {"c", "d"}, "c": set(), "d": set()}
