"""What a user meets at a terminal: what a command prints, and what it says where it refuses."""

import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from resilver import cli
from resilver.answer import Answer
from resilver.answer.terminal import print_answer
from tests.front_door import command


def printed(answer: Answer, width: int) -> str:
    """What a terminal of this many columns shows of an answer."""
    text = io.StringIO()
    print_answer(answer, Console(file=text, width=width, color_system=None))
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines())


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def output(*words: object, cwd: Path | None = None, code: int | None = 0) -> str:
    """What `resilver` prints on stdout, in a process of its own.

    Args:
        words: the words after `resilver`.
        cwd: its folder, by default this process's.
        code: the exit code that it is to have; None where it may answer yes (0) or no (1).
    """
    done = command(*words, cwd=cwd)
    assert _is_due(done.returncode, code), done.stdout[-2000:] + done.stderr
    return done.stdout


def json_output(*words: object, cwd: Path | None = None, code: int | None = 0) -> Any:
    """What it prints with `--json`."""
    return json.loads(output(*words, "--json", cwd=cwd, code=code))


def refusal(*words: object, cwd: Path | None = None, code: int = 2) -> str:
    """What it says on stderr of words that it refuses, in one line; it prints nothing else."""
    done = command(*words, cwd=cwd)
    return _refusal(done.returncode, code, done.stdout, done.stderr)


def _is_due(ended: int, code: int | None) -> bool:
    return ended in (0, 1) if code is None else ended == code


def _refusal(ended: int, code: int, out: str, err: str) -> str:
    assert (ended, out) == (code, ""), out[-2000:] + err
    assert "Traceback" not in err and "this is a defect" not in err
    lines = err.splitlines()
    assert all(line.startswith(("error: ", "note: ")) for line in lines) or "Usage: " in err, err
    return " ".join(err.split())


@dataclass(frozen=True)
class Terminal:
    """The same in this process, which saves an interpreter's start: the fixture `terminal`."""

    capsys: pytest.CaptureFixture[str]

    def texts(self, *words: object, code: int | None = 0) -> tuple[str, str]:
        """What a command prints on stdout and on stderr."""
        self.capsys.readouterr()
        ended = cli.run([str(word) for word in words])
        printed = self.capsys.readouterr()
        assert _is_due(ended, code), printed.out[-2000:] + printed.err
        return printed.out, printed.err

    def output(self, *words: object, code: int | None = 0) -> str:
        """What it prints on stdout."""
        return self.texts(*words, code=code)[0]

    def json_output(self, *words: object, code: int | None = 0) -> Any:
        """What it prints with `--json`."""
        return json.loads(self.output(*words, "--json", code=code))

    def refusal(self, *words: object, code: int = 2) -> str:
        """What it says on stderr of words that it refuses, in one line; it prints nothing else."""
        return _refusal(code, code, *self.texts(*words, code=code))
