"""The steps of a command of `dev.py`: tools that run, what they printed, and how they ended.

Standard library only, as `tools/checkout.py`.
"""

from __future__ import annotations

import atexit
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from tools import budget
from tools.checkout import ROOT, STEP_FAILED, DevError, display, say
from tools.summaries import grown, pytest_closing, pytest_summary


def run_captured(command: Sequence[str], env: dict[str, str]) -> tuple[int, str]:
    """Run a tool and show its output as it comes; return its exit code and plain output."""
    parts: list[bytes] = []
    with subprocess.Popen(
        command, env=env, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as child:
        assert child.stdout is not None
        # Chunks rather than lines: pytest's dots have no line end until a row is full.
        while chunk := os.read(child.stdout.fileno(), 65536):
            parts.append(chunk)
            sys.stdout.buffer.write(chunk)
            sys.stdout.buffer.flush()
    text = b"".join(parts).decode("utf-8", "replace")
    return child.returncode, re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text)


class Aside:
    """A tool that runs beside the steps; nothing of it is shown before it is waited for."""

    def __init__(self, command: Sequence[str], env: dict[str, str]) -> None:
        self.command = command
        self._output = tempfile.TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(
            command, env=env, cwd=ROOT, stdout=self._output, stderr=subprocess.STDOUT
        )
        # Whatever ends dev.py ends it too.
        atexit.register(self._process.terminate)

    def wait(self) -> tuple[float, int]:
        """Wait for its end and show its output; return its processor time and its exit code."""
        _, status, usage = os.wait4(self._process.pid, 0)
        self._process.returncode = os.waitstatus_to_exitcode(status)
        self._output.seek(0)
        sys.stdout.write(self._output.read().decode("utf-8", "replace"))
        sys.stdout.flush()
        return usage.ru_utime + usage.ru_stime, self._process.returncode


def processor_seconds() -> float:
    """What the ended children of this process have taken, and theirs."""
    taken = os.times()
    return taken.children_user + taken.children_system


@dataclass(frozen=True)
class Row:
    """A step that ended.

    Attributes:
        name: The step.
        wall: Seconds that it was waited for.
        processor: Seconds of processor that its tools took.
        ended: How it ended, in words.
    """

    name: str
    wall: float
    processor: float
    ended: str


@dataclass
class Steps:
    """The steps of a command, timed; the first failure ends it unless told to keep going."""

    keep_going: bool = False
    only: Sequence[str] = ()
    left_out: Collection[str] = ()
    offered: list[str] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    closing: list[str] = field(default_factory=list)
    aside: dict[str, Aside] = field(default_factory=dict)

    def step(self, name: str, action: Callable[[], object]) -> None:
        """Do one step; remember its time and how it ended."""
        if not self._is_wanted(name):
            return
        say(f"--- {name}")
        start, before, ended = time.monotonic(), processor_seconds(), "ok"
        try:
            action()
        except DevError as problem:
            ended = f"FAILED: {problem}"
            if not self.keep_going or problem.code != STEP_FAILED:
                raise
        except KeyboardInterrupt:
            ended = "interrupted"
            raise
        finally:
            took = processor_seconds() - before
            self.rows.append(Row(name, time.monotonic() - start, took, ended))

    def beside(self, name: str, command: Sequence[str], env: dict[str, str]) -> None:
        """Run a tool beside the steps that follow, until `join`."""
        if self._is_wanted(name):
            self.aside[name] = Aside(command, env)

    def _is_wanted(self, name: str) -> bool:
        self.offered.append(name)
        return name not in self.left_out and (not self.only or name in self.only)

    def join(self) -> None:
        """Wait for what runs beside."""
        for name, tool in self.aside.items():
            say(f"--- {name}")
            start = time.monotonic()
            seconds, code = tool.wait()
            waited = time.monotonic() - start
            problem = f"`{display(tool.command)}` ended with exit code {code}"
            ended = f"FAILED: {problem}" if code else "ok, beside"
            self.rows.append(Row(name, waited, seconds, ended))
            if code and not self.keep_going:
                raise DevError(problem)

    def report(self, title: str) -> int:
        """Print the steps with their times and budgets, then the test runners' closing lines."""
        if unknown := sorted(set(self.only) - set(self.offered)):
            raise DevError(
                f"no step is called {unknown[0]!r}; the steps are {', '.join(self.offered)}", 2
            )
        allowed = budget.read()["steps"]
        say(f"\n{title}")
        print(f"  {'':<14} {'waited':>9} {'processor':>11}")
        for row in self.rows:
            over = grown(row.processor, allowed.get(row.name))
            print(f"  {row.name:<14} {row.wall:7.1f} s {row.processor:9.1f} s  {row.ended}{over}")
        for line in self.closing:
            print(line, flush=True)
        fine = all(row.ended.startswith("ok") for row in self.rows)
        return 0 if self.rows and fine else STEP_FAILED


def counted(
    steps: Steps,
    command: Sequence[str],
    env: dict[str, str],
    summary: Callable[[str], tuple[int, str]],
) -> None:
    """Run a test runner; it fails on a failing test, and also when no test passed at all."""
    code, output = run_captured(command, env)
    passed, line = summary(output)
    steps.closing.append(line)
    if summary is pytest_summary:
        steps.closing += pytest_closing(output)
    if code != 0:
        raise DevError(f"`{display(command)}` ended with exit code {code}")
    if passed == 0:
        raise DevError(f"`{display(command)}` ran no test that passed")
