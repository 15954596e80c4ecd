"""What a command imports: a small one waits for nothing that it does not use."""

import ast
import importlib
import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.front_door import process
from tests.terminal import every_command

HEAVY = {"duckdb", "h5py", "jinja2", "networkx", "pandas", "pyarrow", "pywt", "scipy", "vl_convert"}
"""What plots, queries, or reads and writes tables."""

ARRAYS = HEAVY | {"numpy", "resilver._core"}
MODELS = ARRAYS | {"pydantic", "resilver.spec"}
# A fork of one interpreter each, which has what each of them needs: so it is imported once.
MODULES = """
import importlib, json, os, sys
from resilver.cli import run
first, commands = json.loads(sys.argv[1])
for name in first:
    importlib.import_module(name)
for words in commands:
    sys.stdout.flush()
    if os.fork() == 0:
        code = run(words)
        print()
        print("MODULES", json.dumps([code, sorted(sys.modules)]), flush=True)
        os._exit(0)
    os.wait()
"""


def imported(*commands: Sequence[str], folder: Path, first: Sequence[str] = ()) -> list[set[str]]:
    """The modules that a process has after each command.

    Args:
        commands: the words of each.
        folder: where they run.
        first: modules that all of them may have, imported before.
    """
    done = process(sys.executable, "-c", MODULES, json.dumps([first, commands]), cwd=folder)
    lines = [line for line in done.stdout.splitlines() if line.startswith("MODULES ")]
    found = [json.loads(line.partition(" ")[2]) for line in lines]
    assert [code for code, _ in found] == [0] * len(commands), done.stderr
    return [set(names) for _, names in found]


SMALL = {
    "--version": MODELS | {"typer", "rich", "resilver.cli.app"},
    "check demo": HEAVY | {"numpy", "resilver.center", "resilver.report.charts"},
    "schema": ARRAYS | {"resilver.study", "resilver.simulate"},
    "redundancy 'rs 8+3'": HEAVY | {"resilver.center", "resilver.study"},
    "topology 'torus 4x4'": HEAVY
    | {"resilver.center", "resilver.study", "resilver.placement_quality"},
    "crush --build --num-osds 8 host straw2 4 root straw2 0 -o map.bin": HEAVY
    | {"resilver.center", "resilver.report.charts"},
}
"""Small commands, and what they neither draw nor query nor read."""


def test_small_commands_and_overviews_import_what_they_use_alone(tmp_path: Path) -> None:
    """An overview has what it says of a command in its table."""
    overviews = [f"{words} --help" for words in ("", "import", "calibrate", "bench", "population")]
    words = [*SMALL, *overviews]
    found = imported(*map(shlex.split, words), folder=tmp_path)
    for command, has in zip(words, found, strict=True):
        assert not has & SMALL.get(command, MODELS), command
        ours = {name for name in has if name.startswith("resilver.cli.")}
        if command in overviews:
            assert ours == {"resilver.cli.app", "resilver.cli.command"}, command


def test_help_imports_its_command_alone(tmp_path: Path) -> None:
    every = [*every_command()]
    helps = [[*words.split(), "--help"] for words in every]
    first = ["resilver.cli.app", "typer.rich_utils"]
    found = imported(*helps, folder=tmp_path, first=first)
    heavy = {
        words: has & (ARRAYS | {"resilver.spec"}) for words, has in zip(every, found, strict=True)
    }
    assert len(every) > 30 and not any(heavy.values()), heavy


def test_an_overview_says_what_the_docstring_says() -> None:
    """The words, the heading and the help of a command are the same before and after its import."""
    for words, promised in every_command().items():
        made = promised.made()
        said, _, _ = (made.help or "").partition("\n\n")
        assert " ".join(said.split()) == promised.help, words
        assert (made.name, made.rich_help_panel) == (promised.name, promised.rich_help_panel), words


def test_the_parser_says_the_same_version(capsys: pytest.CaptureFixture[str]) -> None:
    """The twin of the shortcut: the parser's own answer."""
    from resilver.cli import run
    from resilver.cli.app import app

    for word in ("--version", "-V"):
        assert run([word]) == 0
        short = capsys.readouterr().out
        with pytest.raises(SystemExit, match="0"):
            app([word], prog_name="resilver")
        assert capsys.readouterr().out == short


def on_demand_packages() -> list[str]:
    folder = ROOT / "python" / "resilver"
    return [
        ".".join(["resilver", *path.parent.relative_to(folder).parts])
        for path in sorted(folder.rglob("__init__.pyi"))
    ]


@pytest.mark.parametrize("package", on_demand_packages())
def test_names_on_demand_are_there(package: str) -> None:
    """Each name is there, is listed, comes from one module, and is hidden by no module's name."""
    module = importlib.import_module(package)
    path = Path(str(module.__file__))
    tree = ast.parse(path.with_suffix(".pyi").read_text(encoding="utf-8"))
    found = {
        alias.name: f"{package}.{one.module}"
        for one in tree.body
        if isinstance(one, ast.ImportFrom) and one.module
        for alias in one.names
    }
    assert len(found) > 5
    assert found.keys() <= set(module.__all__) <= set(dir(module))
    below = {one.stem for one in path.parent.glob("*.py")} | {
        one.name for one in path.parent.iterdir()
    }
    assert not found.keys() & below
    for name, home in found.items():
        assert getattr(module, name) is getattr(importlib.import_module(home), name)
    with pytest.raises(AttributeError, match=f"No {package} attribute nothing"):
        module.nothing  # noqa: B018
