"""The tutorial and every how-to page do what they say: their commands and their Python run.

A page is a script that begins in an empty folder. ```console blocks give commands after `$ `; lines
below a command must appear in its output, in order, where `...` stands for anything. ```python
blocks of a page share their names. Comments before a block direct the test: `<!-- file: NAME -->`
writes the block to a file, `<!-- data: PATH as NAME -->` gives a real input, `<!-- made: KEY=VALUE
... as NAME -->` the dumps of a made-up Ceph cluster of that `Shape`, and `<!-- not run: REASON -->`
leaves a block out.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.browser.explore_pages import built
from tests.front_door import process, shell_environment
from tests.reference.ceph_cluster import write_cluster
from tests.reference.ceph_rows import Shape

ROOT = Path(__file__).resolve().parents[2]
HOW_TO = sorted(path for path in (ROOT / "docs" / "how-to").glob("*.md") if path.stem != "index")
PAGES = [ROOT / "docs" / "tutorial.md", *HOW_TO]
TOKEN = re.compile(
    r"^<!-- (?P<word>file|data|made|not run): (?P<value>.*?) -->$"
    r"|^```(?P<language>\w*)\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Step:
    kind: str
    text: str
    name: str = ""


def steps_of(page: str) -> list[Step]:
    """The runnable steps of a page; a block that is neither run nor excused is an error."""
    steps: list[Step] = []
    directive = ("", "")
    for token in TOKEN.finditer(page):
        if token["word"] in ("data", "made"):
            source, name = token["value"].split(" as ")
            steps.append(Step(token["word"], source, name))
        elif token["word"]:
            directive = (token["word"], token["value"])
        else:
            word, value = directive
            directive = ("", "")
            if word == "file":
                steps.append(Step("file", token["body"], value))
            elif word == "not run":
                continue
            elif token["language"] in ("console", "python"):
                steps.append(Step(token["language"], token["body"]))
            else:
                raise ValueError(
                    f"a block of {token['language'] or 'no language'} is neither run nor marked"
                )
    return steps


def commands_of(block: str) -> list[tuple[str, list[str]]]:
    """The commands of a console block, each with the lines that its output must contain."""
    commands: list[tuple[str, list[str]]] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            commands.append((line[2:], []))
        elif line.strip():
            commands[-1][1].append(line.rstrip())
    return commands


def environment() -> dict[str, str]:
    return {
        **shell_environment(),
        "PYTHONPATH": str(ROOT / "python"),
        "NO_COLOR": "1",
        "COLUMNS": "120",
    }


def run_command(command: str, expected: list[str], folder: Path) -> None:
    done = process("bash", "-c", command, cwd=folder, env=environment(), timeout=300)
    assert done.returncode == 0, (
        f"`{command}` ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"
    )
    # Words and numbers count, and not where a line of the terminal ends. Each piece is looked for
    # after the one before: the first place leaves most to what follows, so none is tried again.
    end = 0
    for line in expected:
        for piece in filter(str.strip, f" {line} ".split("...")):
            words = r"\s+".join(map(re.escape, piece.split()))
            before = r"(?<!\S)" if piece[:1].isspace() else ""
            after = r"(?!\S)" if piece[-1:].isspace() else ""
            found = re.compile(before + words + after).search(done.stdout, end)
            assert found, f"`{command}` printed no {line!r} in its place:\n{done.stdout}"
            end = found.end()


class PagePython:
    """The interpreter of a page: begun at its first Python, and its blocks share their names."""

    # Workers of a process pool import the main module again, hence a file with a guard. What blocks
    # print goes to stderr, so that stdout has nothing but how each ended.
    SCRIPT = """if __name__ == "__main__":
    import json, os, sys, traceback
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        try:
            exec(compile(json.loads(line), "the page", "exec"), globals())
        except BaseException:
            traceback.print_exc()
            sys.exit(1)
        print("done", file=answers, flush=True)
"""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> PagePython:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.communicate()

    def run(self, source: str) -> None:
        if self._process is None:
            (self._folder / "page.py").write_text(self.SCRIPT, encoding="utf-8")
            with (self._folder / "page.err").open("w") as errors:
                self._process = subprocess.Popen(
                    [sys.executable, "page.py"],
                    cwd=self._folder,
                    env=environment(),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    text=True,
                )
        assert self._process.stdin is not None and self._process.stdout is not None
        print(json.dumps(source), file=self._process.stdin, flush=True)
        is_done = self._process.stdout.readline() == "done\n"
        printed = (self._folder / "page.err").read_text(encoding="utf-8")
        assert is_done, f"the Python of the page failed:\n{source}\n{printed}"


def run_page(page: str, folder: Path, shared_data: Path | None) -> int:
    """Run a page; return how many commands and Python blocks it had."""
    count = 0
    with PagePython(folder) as python:
        for step in steps_of(page):
            if step.kind == "python":
                count += 1
                python.run(step.text)
            elif step.kind == "file":
                (folder / step.name).write_text(step.text, encoding="utf-8")
            elif step.kind == "data":
                assert shared_data is not None
                (folder / step.name).symlink_to(shared_data / step.text)
            elif step.kind == "made":
                pairs = (word.split("=") for word in step.text.split())
                shape = Shape(**{key: json.loads(value) for key, value in pairs})
                write_cluster(folder / step.name, shape)
            elif step.kind == "console":
                for command, expected in commands_of(step.text):
                    count += 1
                    run_command(command, expected, folder)
    return count


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_page_does_what_it_says(path: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    text = path.read_text(encoding="utf-8")
    if "resilver explore" in text:
        built()
    needs_data = any(step.kind == "data" for step in steps_of(text))
    data = request.getfixturevalue("shared_data") if needs_data else None
    assert run_page(text, tmp_path, data) > 0, "a how-to page has something to do"


def test_what_fails_or_differs_fails_its_page(tmp_path: Path) -> None:
    printing = "```console\n$ printf 'one\\ntwo 7 s\\nthree\\n'\none\ntwo ... s\n```\n"
    python = "```python\nx = 1\n```\n\n```python\nassert x == 1\n```\n"
    assert (run_page(printing, tmp_path, None), run_page(python, tmp_path, None)) == (1, 2)
    for page, said in (
        ("```console\n$ exit 3\n```\n", "ended with 3"),
        (printing.replace("two ... s", "four"), "printed no 'four'"),
        (python.replace("x == 1", "x == 2"), "Python of the page failed"),
    ):
        with pytest.raises(AssertionError, match=said):
            run_page(page, tmp_path, None)
    # A block is run or says why not.
    block = "```toml\na = 1\n```\n"
    with pytest.raises(ValueError, match="neither run nor marked"):
        run_page(block, tmp_path, None)
    assert run_page("<!-- not run: shows a table -->\n" + block, tmp_path, None) == 0
    assert run_page("<!-- file: a.toml -->\n" + block, tmp_path, None) == 0
    assert (tmp_path / "a.toml").read_text(encoding="utf-8") == "a = 1\n"
