"""What a user meets at a terminal: what a command prints, and what it says where it refuses.

Commands run in this process, which saves their start. `tests.front_door` has them in one of their
own, for tests of signals, streams, memory and variables.
"""

import contextlib
import functools
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from resilver import cli
from resilver.answer import Answer
from resilver.answer.terminal import print_answer
from resilver.cli.app import app


def printed(answer: Answer, width: int) -> str:
    """What a terminal of this many columns shows of an answer."""
    text = io.StringIO()
    print_answer(answer, Console(file=text, width=width, color_system=None))
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines())


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@dataclass(frozen=True)
class Ended:
    """How a command ended, and what it wrote."""

    returncode: int
    stdout: str
    stderr: str


def command(*words: object, cwd: Path | None = None) -> Ended:
    """Run `resilver` with these words, in a folder, by default this process's."""
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2)]
    with (
        contextlib.chdir(cwd or Path.cwd()),
        contextlib.redirect_stdout(streams[0]),
        contextlib.redirect_stderr(streams[1]),
    ):
        code = cli.run([str(word) for word in words])
    for stream in streams:
        stream.seek(0)
    return Ended(code, *(stream.read() for stream in streams))


def texts(*words: object, cwd: Path | None = None, code: int | None = 0) -> tuple[str, str]:
    """What it prints on stdout and on stderr.

    Args:
        words: the words after `resilver`.
        cwd: its folder, by default this process's.
        code: the exit code that it is to have; None where it may answer yes (0) or no (1).
    """
    done = command(*words, cwd=cwd)
    expected = (0, 1) if code is None else (code,)
    assert done.returncode in expected, done.stdout[-2000:] + done.stderr
    return done.stdout, done.stderr


def output(*words: object, cwd: Path | None = None, code: int | None = 0) -> str:
    """What it prints on stdout."""
    return texts(*words, cwd=cwd, code=code)[0]


def with_page(folder: Path, *words: object, code: int | None = 0) -> tuple[str, str]:
    """What it prints on stdout, and the page that it writes into a folder."""
    page = folder / "page.html"
    return output(*words, "-o", page, code=code), page.read_text(encoding="utf-8")


def json_output(*words: object, cwd: Path | None = None, code: int | None = 0) -> Any:
    """What it prints with `--json`."""
    return json.loads(output(*words, "--json", cwd=cwd, code=code))


answered = functools.partial(json_output, "what-if")


def refusal(*words: object, cwd: Path | None = None, code: int = 2) -> str:
    """What it says on stderr of words that it refuses, in one line; it prints nothing else."""
    done = command(*words, cwd=cwd)
    assert (done.returncode, done.stdout) == (code, ""), done.stdout[-2000:] + done.stderr
    assert "Traceback" not in done.stderr and "this is a defect" not in done.stderr
    lines = done.stderr.splitlines()
    is_said = all(line.startswith(("error: ", "note: ")) for line in lines)
    assert is_said or "Usage: " in done.stderr, done.stderr
    return " ".join(done.stderr.split())


def every_command() -> dict[str, Any]:
    """Every command by its words, as the overviews have it."""
    found: dict[str, Any] = {}

    def below(group: Any, *words: str) -> None:
        for name, one in group.commands.items():
            if hasattr(one, "commands"):
                below(one, *words, name)
            elif not one.hidden:
                found[" ".join([*words, name])] = one

    below(typer.main.get_command(app))
    return found


class Terminal:
    """The same by a fixture, `terminal`."""

    texts = staticmethod(texts)
    output = staticmethod(output)
    json_output = staticmethod(json_output)
    refusal = staticmethod(refusal)
