"""The command: its words, its exit codes, and what goes to stdout and what to stderr."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from resilver import cli
from resilver.cli.console import report_error
from resilver.errors import ConfigError, Interrupted, PlacementError, SimulationError
from resilver.study import Counts, Incomplete, StudyProgress
from resilver.study.progress import Work

COMMANDS = ("demo", "check", "run", "report", "schema", "place")


def command(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own, as a user does."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        **options.pop("environment", {}),
    }
    return subprocess.run(
        [sys.executable, "-c", "from resilver.cli import main; main()", *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        **options,
    )


def test_the_version_is_the_package_s() -> None:
    import resilver

    done = command("--version")
    assert (done.returncode, done.stdout) == (0, f"resilver {resilver.__version__}\n")


def test_help_names_every_command() -> None:
    done = command("--help")
    assert done.returncode == 0
    for name in COMMANDS:
        assert name in done.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example_and_takes_json(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run([name, "--help"]) == 0
    text = capsys.readouterr().out
    assert f"resilver {name}" in text.split("Example", 1)[1]
    assert "--json" in text


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["run"],
        ["run", "x.toml", "--workers", "0"],
        ["run", "x.toml", "--workers", "two"],
        ["report", "x", "--format", "gif"],
        ["place", "x", "--num-rep", "0"],
    ],
)
def test_bad_usage_exits_with_two_and_prints_nothing_on_stdout(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err


def test_completion_can_be_shown_for_bash() -> None:
    done = command(
        "--show-completion", environment={"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    )
    # Without a detected shell the option takes the shell's name.
    if done.returncode:
        done = command(
            "--show-completion",
            "bash",
            environment={"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"},
        )
    assert "_RESILVER_COMPLETE" in done.stdout


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


def test_a_traceback_is_printed_on_request(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RESILVER_DEBUG", "1")
    try:
        raise ValueError("x")
    except ValueError as error:
        report_error(error)
    assert "Traceback" in capsys.readouterr().err


def test_a_reader_that_leaves_early_ends_the_command_quietly() -> None:
    # As with other tools, the exit code may say that the output was cut; no words do.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    process = subprocess.Popen(
        [sys.executable, "-c", "from resilver.cli import main; main()", "schema"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.wait(timeout=30) in (0, 1)
    assert process.stderr.read() == b""
    process.stderr.close()


def test_the_schema_is_json_and_can_be_written_to_a_file(tmp_path: Path) -> None:
    done = command("schema")
    assert done.returncode == 0
    document = json.loads(done.stdout)
    assert "cluster" in document["properties"]
    written = command("schema", "-o", str(tmp_path / "s.json"), "--json")
    assert json.loads(written.stdout) == {"schema": str(tmp_path / "s.json")}
    assert json.loads((tmp_path / "s.json").read_text()) == document
    refused = command("schema", "-o", str(tmp_path))
    assert refused.returncode == 2
    assert refused.stderr.startswith(f"error: '{tmp_path}' cannot be written")


def test_a_report_of_nothing_says_what_to_do(tmp_path: Path) -> None:
    done = command("report", str(tmp_path / "none"))
    assert done.returncode == 2
    assert "does not exist; make it with `resilver run" in done.stderr


def test_the_time_left_follows_from_what_is_done() -> None:
    # 0.2 of the work was there and 0.575 is done: 0.375 took 30 s, so the other 0.425 takes 34 s.
    progress = StudyProgress(Counts(10, reused=2, done=3), {}, 0.575, 0.2, 30.0)
    assert progress.seconds_left == pytest.approx(34.0)
    # From the first second, while workers start, nothing follows.
    assert StudyProgress(Counts(10), {}, 0.01, 0.0, 1.0).seconds_left is None


def test_a_large_run_weighs_more_than_a_small_one() -> None:
    # Of 10 s of work the runs of 1 s and 3 s are done, and half of the rebuilding of the run of
    # 6 s, which is 0.4 + 0.6 / 2 = 0.7 of it: (1 + 3 + 4.2) / 10.
    work = Work({"a": 1.0, "b": 3.0, "c": 6.0})
    work.found(["a"])
    work.end("b")
    assert work.reused == pytest.approx(0.1)
    assert work.fraction({"c": ("rebuilding", 0.5)}) == pytest.approx(0.82)
    assert Work({}).fraction({}) == 1.0


# What Ceph writes for a position without a device: CRUSH_ITEM_NONE, 0x7fffffff.
HOLE = 2_147_483_647


class FakeMap:
    """Puts input x on devices x, x + 1, ... of ten; input 3 comes up one short, input 4 in its
    first place has a hole.
    """

    text = ""

    @classmethod
    def from_text(cls, text: str) -> FakeMap:
        cls.text = text
        return cls()

    from_json = from_text

    def rules(self) -> list[tuple[int, str]]:
        return [(0, "data"), (4, "ssd")]

    def map_rule(self, rule: int, xs: Any, copies: int, reweight: Any) -> Any:
        assert rule == 4
        rows = (xs[:, None].astype(np.int64) + np.arange(copies)) % 10
        rows[xs == 3, -1] = -1
        rows[xs == 4, 0] = HOLE
        return rows.astype(np.int32)

    def device_name(self, device: int) -> str:
        return f"osd.{device}"


@pytest.fixture
def fake_core(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """A simulate module whose placement is plain to see."""
    module = ModuleType("resilver.simulate")
    module.CrushMap = FakeMap  # type: ignore[attr-defined]
    module.group_up_sets = (  # type: ignore[attr-defined]
        lambda report, pool_id: np.array([[7, 4, 1], [2, -1, -1]], dtype=np.int32)
    )
    module.object_group = lambda pool, name: len(name) % 2  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "resilver.simulate", module)
    yield module


@pytest.fixture
def text_map(tmp_path: Path) -> Path:
    """A file that is neither JSON nor compiled; the fake does not read it."""
    path = tmp_path / "map.txt"
    path.write_text("# begin crush map\n")
    return path


@pytest.mark.usefixtures("fake_core")
def test_mappings_are_printed_as_crushtool_prints_them(
    text_map: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # What is short ends early; a hole stays, for the position of a strip is its meaning.
    options = ["--num-rep", "3", "--min-x", "2", "--max-x", "4", "--show-mappings"]
    assert cli.run(["place", str(text_map), "--rule", "ssd", *options]) == 0
    assert capsys.readouterr().out == (
        "CRUSH rule 4 x 2 [2,3,4]\nCRUSH rule 4 x 3 [3,4]\nCRUSH rule 4 x 4 [2147483647,5,6]\n"
    )
    assert cli.run(["place", str(text_map), "--rule", "4", *options, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [
        {"rule": 4, "x": 2, "devices": [2, 3, 4]},
        {"rule": 4, "x": 3, "devices": [3, 4]},
        {"rule": 4, "x": 4, "devices": [HOLE, 5, 6]},
    ]


@pytest.mark.usefixtures("fake_core")
def test_without_mappings_the_devices_shares_are_counted(
    text_map: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Inputs 0 to 9 on 2 of 10 devices each give every device 2, less the ones that inputs 3 and 4
    # miss, both device 4.
    arguments = ["--rule", "4", "--num-rep", "2", "--min-x", "0", "--max-x", "9"]
    assert cli.run(["place", str(text_map), *arguments]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "rule 4, 10 inputs, 2 copies, 2 short"
    counts = {name: int(count) for name, count in (line.split() for line in lines[1:])}
    assert counts == {f"osd.{device}": 2 for device in range(10) if device != 4}


@pytest.mark.usefixtures("fake_core")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "exactly one of --groups"),
        (["--groups", "--rule", "0"], "exactly one of --groups"),
        (["--groups"], "is a CRUSH map and has no pools"),
        (["--rule", "5"], "no such rule; it has 0 (data), 4 (ssd)"),
        (["--rule", "0", "--min-x", "2", "--max-x", "1"], "the first not after the last"),
        (["--rule", "0", "--max-x", "4294967296"], "inputs go from 0 to 4294967295"),
    ],
)
def test_what_cannot_be_placed_is_said_with_a_remedy(
    text_map: Path, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["place", str(text_map), *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert words in captured.err


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\x00\x00\x01\x00\x08\x00", "compiled CRUSH map; make text of it with `crushtool -d"),
        (b'{"osdmap": {', "line 1"),
        (b'{"pools": []}', "neither a `ceph report`"),
        (b"\xff\xfe\x00", "UTF-8"),
    ],
)
def test_a_file_of_another_kind_is_named(
    tmp_path: Path, content: bytes, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "map"
    path.write_bytes(content)
    assert cli.run(["place", str(path), "--groups"]) == 2
    assert words in capsys.readouterr().err
