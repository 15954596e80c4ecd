"""The command: its words, its exit codes, and what goes to stdout and what to stderr."""

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest

from resilver import cli
from resilver.cli.console import report_error
from resilver.errors import ConfigError, Interrupted, PlacementError, SimulationError
from resilver.study import Counts, Incomplete
from tests.front_door import STARTED, command, environment, process
from tests.terminal import every_command, output


def test_version_and_completion_are_those_of_the_package() -> None:
    import resilver

    done = process(*STARTED, "--version")
    assert (done.returncode, done.stdout) == (0, f"resilver {resilver.__version__}\n")
    undetected = environment(_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    done = process(*STARTED, "--show-completion", env=undetected)
    # Without a detected shell the option takes the shell's name.
    if done.returncode:
        done = process(*STARTED, "--show-completion", "bash", env=undetected)
    assert "_RESILVER_COMPLETE" in done.stdout


PANELS = {
    "Predict": ["what-if", "explore", "durability", "run", "report", "demo"],
    "Studies": ["check", "status", "reproduce", "schema"],
    "Placement": ["place", "plan", "crush", "topology", "redundancy"],
    "Center": ["size", "profile", "route", "advise", "signature", "usage", "scan", "quality"],
    "Measure": ["watch", "import", "calibrate", "bench", "population"],
}


def test_help_is_one_screen_and_help_all_has_a_sentence_for_each_command() -> None:
    """Six commands with a sentence each, then the names of the others by their readers."""
    lines = command("--help").stdout.splitlines()
    assert len(lines) <= 40
    named = [line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "]
    others = [*PANELS][1:]
    assert named[: 6 + len(others)] == [*PANELS["Predict"], *others]
    words = " ".join(" ".join(lines).split())
    assert all(f"{panel} {', '.join(PANELS[panel])}" in words for panel in others)
    every = command("help", "all").stdout
    headings = [*PANELS, "Exit codes"]
    for heading, following in pairwise(headings):
        part = every[every.index(f"─ {heading} ─") : every.index(following)]
        rows = [line[2:] for line in part.splitlines() if line[:1] == "│" and line[2:3].isalpha()]
        assert [row.split()[0] for row in rows] == PANELS[heading]
        assert all(len(row.split()) > 3 for row in rows)


def test_help_is_asked_for_in_three_ways_and_stands_under_headings() -> None:
    assert command("help", "what-if").stdout == command("what-if", "--help").stdout
    bare, asked = command(), command("--help")
    assert (bare.stdout, bare.returncode, asked.returncode) == (asked.stdout, 2, 0)
    done = command("help", "nonsense")
    assert done.returncode == 2 and "No such command 'nonsense'" in done.stderr
    # Changes, questions, assumptions and output; none is left over but --help.
    text = command("what-if", "--help").stdout
    found = re.findall(r"╭─ (\w+) ─", text)
    assert found == ["Arguments", "Options", "Changes", "Questions", "Assumptions", "Output"]
    options = text[text.index("─ Options ─") : text.index("─ Changes ─")]
    assert re.findall(r"--[\w-]+", options) == ["--help"]


@pytest.mark.parametrize("name", every_command())
def test_help_says_what_is_typed_and_how_a_command_ends(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run([*name.split(), "--help"]) == 0
    text = capsys.readouterr().out
    assert "Exit codes: 0 done, 1 failed" in text and "130 interrupted" in " ".join(text.split())
    assert not any(noise in text for noise in ("<bool>", "<path>"))
    usage = next(line for line in text.splitlines() if "Usage:" in line)
    assert not any(noise in usage for noise in ("{", "...]"))
    assert f"resilver {name}" in text.split("Example", 1)[1]
    assert "--json" in text


def _incomplete(again: bool) -> Incomplete:
    return Incomplete("1 of 2 runs failed\nseed=1: why", [{"again": again}], Counts(2, 0, 1, 1))


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (ConfigError("a\nb"), 2, ["error: a", "error: b"]),
        (PlacementError("no rule"), 2, ["error: no rule"]),
        (SimulationError("unbalanced"), 1, ["error: unbalanced"]),
        (_incomplete(True), 3, ["error: 1 of 2 runs failed", "  seed=1: why"]),
        (_incomplete(False), 1, ["error: 1 of 2 runs failed"]),
        (Interrupted("stopped"), 130, ["stopped"]),
        (KeyboardInterrupt(), 130, ["interrupted"]),
        (ValueError("[bold]x[/bold]"), 1, ["unexpected ValueError: [bold]x[/bold]", "report it"]),
    ],
)
def test_each_error_has_its_exit_code_and_no_traceback(
    error: BaseException, code: int, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert report_error(error) == code
    text = capsys.readouterr().err
    assert "Traceback" not in text
    for word in words:
        assert word in text


def test_the_schema_is_json_and_can_be_written_to_a_file(tmp_path: Path) -> None:
    document = json.loads(output("schema"))
    assert "cluster" in document["properties"]
    written = command("schema", "-o", str(tmp_path / "s.json"), "--json")
    assert json.loads(written.stdout) == {"schema": str(tmp_path / "s.json")}
    assert json.loads((tmp_path / "s.json").read_text()) == document
    refused = command("schema", "-o", str(tmp_path))
    assert refused.returncode == 2
    assert refused.stderr.startswith(f"error: '{tmp_path}' cannot be written")
