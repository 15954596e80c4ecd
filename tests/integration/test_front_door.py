"""A forked command gets and gives what a process that was started anew does."""

import subprocess
from pathlib import Path

import pytest

from tests.front_door import STARTED, command, process, shell_environment
from tests.integration.study_runs import LOST


@pytest.mark.parametrize(("setting", "code"), [("8", 0), ("0", 2)])
def test_words_and_folder_give_what_they_give_a_process(
    setting: str, code: int, tmp_path: Path
) -> None:
    (tmp_path / "study.toml").write_text(LOST)
    words = ("check", "study.toml", "--set", f"cluster.servers={setting}")
    started = process(*STARTED, *words, cwd=tmp_path)
    forked = command(*words, cwd=tmp_path)
    assert forked.returncode == started.returncode == code
    assert (forked.stdout, forked.stderr) == (started.stdout, started.stderr)


def test_variables_are_those_of_the_caller(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """RESILVER_DEBUG=1 is read when an error is told: it adds where the error was raised."""
    (tmp_path / "study.toml").write_text(LOST.replace("servers = 8", "servers = 0"))
    assert "Traceback" not in command("check", "study.toml", cwd=tmp_path).stderr
    monkeypatch.setenv("RESILVER_DEBUG", "1")
    assert "Traceback" in command("check", "study.toml", cwd=tmp_path).stderr


def test_a_command_that_takes_too_long_is_killed(tmp_path: Path) -> None:
    """The other end of a measurement serves until it is interrupted."""
    with pytest.raises(subprocess.TimeoutExpired):
        command("calibrate", "network", "--serve", "127.0.0.1:0", cwd=tmp_path, timeout=1)


def test_a_shell_gives_its_pipes_and_gets_the_exit_code(tmp_path: Path) -> None:
    line = "resilver schema | head -c 1; resilver chek 2> errors; echo $?; resilver --version > v"
    done = process("bash", "-c", line, cwd=tmp_path, env=shell_environment())
    assert (done.stdout, done.stderr) == ("{2\n", "")
    assert "No such command 'chek'" in (tmp_path / "errors").read_text()
    assert (tmp_path / "v").read_text().startswith("resilver ")
