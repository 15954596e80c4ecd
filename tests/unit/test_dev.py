"""dev.py makes what is missing, repeats nothing that is done, and says what a machine lacks."""

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

import dev
from tests.front_door import process
from tools import checkout, summaries
from tools import steps as steps_of

ROOT = Path(__file__).resolve().parents[2]


def bare_machine(folder: Path, **programs: str) -> dict[str, str]:
    """An environment whose PATH has nothing but a few named shell scripts."""
    commands = folder / "commands"
    commands.mkdir(parents=True)
    for name, script in programs.items():
        (commands / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        (commands / name).chmod(0o755)
    return {"PATH": str(commands), "HOME": str(folder)}


def small_checkout(folder: Path) -> Path:
    """As much of a checkout as dev.py reads before it builds."""
    place = folder / "checkout"
    shutil.copytree(ROOT / "tools", place / "tools", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("dev.py", "Cargo.toml", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, place / name)
    shutil.copytree(ROOT / "locks", place / "locks")
    (place / "crates").mkdir()
    return place


def run_dev(folder: Path, env: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    return process(sys.executable, str(small_checkout(folder) / "dev.py"), *words, env=env)


@pytest.mark.parametrize(
    ("programs", "lacking", "remedy"),
    [
        ({}, "cargo is not on PATH", "rustup"),
        ({"cargo": "echo 'cargo 1.60.0 (d1fd9fe2c 2022-03-01)'"}, "1.60.0 is too old", "rustup"),
        ({"cargo": "echo 'cargo 9.0.0'"}, "no C linker", "apt-get install build-essential"),
        ({"cargo": "echo broken >&2; exit 1", "cc": ""}, "`cargo --version` failed: broken", ""),
    ],
)
def test_what_a_machine_lacks_is_said_before_anything_is_made(
    tmp_path: Path, programs: dict[str, str], lacking: str, remedy: str
) -> None:
    done = run_dev(tmp_path, bare_machine(tmp_path, **programs), "run")
    assert done.returncode == 2
    assert lacking in done.stderr and remedy in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "checkout" / ".venv").exists()


def test_cargo_is_found_where_rustup_puts_it(tmp_path: Path) -> None:
    """A non-login shell has no ~/.cargo/bin on its PATH; the next thing missing is then named."""
    env = bare_machine(tmp_path)
    home = bare_machine(tmp_path / "elsewhere", cargo="echo 'cargo 9.0.0'")["PATH"]
    (tmp_path / ".cargo").mkdir()
    (tmp_path / ".cargo" / "bin").symlink_to(home)
    assert "no C linker" in run_dev(tmp_path, env, "run").stderr


class Recorder:
    """Stands for `run`: remembers commands, makes an interpreter as `venv` would, can fail."""

    def __init__(self) -> None:
        self.commands: list[Sequence[str]] = []
        self.ends_with: BaseException | None = None

    def __call__(self, command: Sequence[str], env: dict[str, str]) -> int:
        self.commands.append(command)
        if self.ends_with is not None:
            raise self.ends_with
        if "venv" in command:
            checkout.BIN.mkdir(parents=True, exist_ok=True)
            (checkout.BIN / "python").touch()
        return 0


def stand_in(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Let the functions of tools/checkout.py take a folder for the checkout."""
    venv, build = folder / ".venv", folder / ".build"
    places = {"ROOT": folder, "VENV": venv, "BIN": venv / "bin", "BUILD": build}
    stamps = {"VENV_STAMP": venv / "stamp.json", "CORE_STAMP": build / "core.json"}
    for name, path in {**places, **stamps}.items():
        monkeypatch.setattr(checkout, name, path)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout of its own for the functions of tools/checkout.py."""
    folder = small_checkout(tmp_path)
    stand_in(monkeypatch, folder)
    return folder


@pytest.fixture
def tools(place: Path, monkeypatch: pytest.MonkeyPatch) -> Recorder:
    recorder = Recorder()
    monkeypatch.setattr(checkout, "run", recorder)
    return recorder


def test_an_environment_and_its_packages_are_made_once(place: Path, tools: Recorder) -> None:
    first = checkout.make_environment({})
    assert checkout.make_environment({}) == first
    assert len(tools.commands) == 1
    # The second call asks nobody, so it works without a network; an extra asks for itself.

    def install(*extras: str) -> int:
        checkout.install(checkout.make_environment({}), extras, {})
        return sum("pip" in command for command in tools.commands)

    assert install() == 1
    assert install() == 1
    assert install("docs") == 2
    assert install() == install("docs") == 2
    with (place / "constraints.txt").open("a") as pins:
        pins.write("# another pin\n")
    assert install() == 3


@pytest.mark.parametrize("damage", ["stamp lost", "stamp torn", "moved", "no interpreter"])
def test_a_half_made_or_moved_environment_is_made_again(
    place: Path, tools: Recorder, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    first = checkout.make_environment({})
    if damage == "stamp lost":
        checkout.VENV_STAMP.unlink()
    elif damage == "stamp torn":
        checkout.VENV_STAMP.write_text('{"python": "3.1', encoding="utf-8")
    elif damage == "moved":
        checkout.VENV_STAMP.write_text(json.dumps({**first, "root": "elsewhere"}), encoding="utf-8")
    else:
        (checkout.BIN / "python").unlink()
    second = checkout.make_environment({})
    assert len(tools.commands) == 2
    assert second["made"] != first["made"]


def test_a_python_without_ensurepip_is_told_which_package_has_it(
    place: Path, tools: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ensurepip", None)
    with pytest.raises(checkout.DevError, match=r"apt-get install python3\.\d+-venv") as problem:
        checkout.make_environment({})
    assert problem.value.code == 2
    assert not tools.commands


@pytest.mark.parametrize(
    ("end", "environments"), [(checkout.DevError("no network"), 1), (KeyboardInterrupt(), 2)]
)
def test_a_failed_install_is_not_taken_for_done(
    place: Path, tools: Recorder, end: BaseException, environments: int
) -> None:
    """A pip that fails leaves the environment as it was; a killed one may not, so it is remade."""
    stamp = checkout.make_environment({})
    tools.ends_with = end
    with pytest.raises(type(end)):
        checkout.install(stamp, (), {})
    tools.ends_with = None
    checkout.install(checkout.make_environment({}), (), {})
    assert sum("pip" in command for command in tools.commands) == 2
    assert sum("venv" in command for command in tools.commands) == environments
    checkout.install(checkout.make_environment({}), (), {})
    assert sum("pip" in command for command in tools.commands) == 2


def test_the_core_depends_on_sources_and_compiler_but_not_on_tests(place: Path) -> None:
    source = place / "crates" / "kernel" / "src" / "lib.rs"
    for folder in ("src", "tests", "benches"):
        (place / "crates" / "kernel" / folder).mkdir(parents=True)
    source.write_text("fn a() {}", encoding="utf-8")
    before = checkout.core_inputs("cargo 1", 7.0, "")
    (place / "crates" / "kernel" / "tests" / "t.rs").write_text("fn t() {}", encoding="utf-8")
    (place / "crates" / "kernel" / "benches" / "b.rs").write_text("fn b() {}", encoding="utf-8")
    assert checkout.core_inputs("cargo 1", 7.0, "") == before
    assert checkout.core_inputs("cargo 2", 7.0, "") != before
    # Another environment lacks the package.
    assert checkout.core_inputs("cargo 1", 8.0, "") != before
    source.write_text("fn b() {}", encoding="utf-8")
    assert checkout.core_inputs("cargo 1", 7.0, "") != before


def test_a_second_dev_waits_for_the_first(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    entered = threading.Event()

    def second() -> None:
        with checkout.locked():
            entered.set()

    thread = threading.Thread(target=second)
    with checkout.locked():
        thread.start()
        assert not entered.wait(0.3)
    thread.join(10)
    assert entered.is_set()
    assert "waiting" in capsys.readouterr().out


CARGO = """
running 3 tests
...
test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s

test result: {state}. 4 passed; {failed} failed; 1 ignored; 0 measured; 0 filtered out; in 1s
"""


def test_cargo_binaries_are_added_up() -> None:
    # 3 + 4 passed, 0 + 0 failed, 0 + 1 ignored, in two binaries.
    closing = "cargo test: ok. 7 passed; 0 failed; 1 ignored; in 2 binaries"
    assert summaries.cargo_summary(CARGO.format(state="ok", failed=0)) == (7, closing)
    _, line = summaries.cargo_summary(CARGO.format(state="FAILED", failed=2))
    assert "FAILED. 7 passed; 2 failed" in line
    assert summaries.cargo_summary("error: could not compile")[0] == 0


@pytest.mark.parametrize(
    ("closing", "passed"),
    [
        ("== 12 passed, 3 skipped in 4.20s ==", 12),
        ("2 failed, 5 passed in 61.00s (0:01:01)", 5),
        ("no tests ran in 0.1s", 0),
    ],
)
def test_pytest_closing_line_is_kept(closing: str, passed: int) -> None:
    count, line = summaries.pytest_summary(f"SKIPPED [1] a.py: in 3 parts\n{closing}\n")
    assert count == passed
    assert line == f"pytest: {closing.strip('= ')}"


def python_that(source: str) -> list[str]:
    return [sys.executable, "-c", source]


def test_a_runner_in_which_nothing_passed_fails(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    def run(source: str) -> None:
        command = python_that(source)
        steps_of.counted(steps_of.Steps(), command, dict(os.environ), summaries.pytest_summary)

    run("print('1 passed in 0.1s')")
    with pytest.raises(checkout.DevError, match="no test that passed"):
        run("print('5 skipped in 0.1s')")
    with pytest.raises(checkout.DevError, match="exit code 3"):
        run("print('1 passed in 0.1s'); raise SystemExit(3)")


def test_a_tool_beside_the_steps_is_one_of_them(capfd: pytest.CaptureFixture[str]) -> None:
    """It is offered, waited for and shown whole, and its exit code counts."""
    steps = steps_of.Steps(keep_going=True)
    steps.beside("good", python_that("print('all is well')"), dict(os.environ))
    steps.beside("bad", python_that("raise SystemExit('wrong')"), dict(os.environ))
    busy = python_that("import time\nwhile time.process_time() < 0.3: pass")
    steps.step("one", lambda: checkout.run(busy, dict(os.environ)))
    assert "all is well" not in capfd.readouterr().out
    steps.join()
    assert steps.report("three") == 1
    printed = capfd.readouterr().out
    assert "all is well" in printed and "wrong" in printed
    # A step has the processor time of its own tools.
    assert 0.29 < steps.rows[0].processor < steps.rows[0].wall + 0.1
    ended = [(row.name, row.ended.split()[0]) for row in steps.rows]
    assert ended == [("one", "ok"), ("good", "ok,"), ("bad", "FAILED:")]
    strict = steps_of.Steps(only=["bad"])
    strict.beside("good", python_that("raise SystemExit(1)"), dict(os.environ))
    strict.beside("bad", python_that("raise SystemExit(4)"), dict(os.environ))
    with pytest.raises(checkout.DevError, match="exit code 4"):
        strict.join()


def test_slow_tests_are_named_and_newcomers_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A test takes its setup, call and teardown together; the list allows 10 s for one of two."""
    (tmp_path / "budget.toml").write_text("[tests]\n't.py::old[a b]' = 10\n")
    monkeypatch.setattr(checkout, "ROOT", tmp_path)
    output = (
        "6.00s setup    t.py::old[a b]\n3.50s call     t.py::old[a b]\n7.25s call     t.py::new@g\n"
    )
    assert summaries.slowest(output) == [
        "slowest tests:",
        "     9.5 s  t.py::old[a b]",
        "     7.2 s  t.py::new  (over the 5 s of budget.toml)",
    ]
    slower = summaries.slowest(output.replace("3.50", "4.50"))
    assert slower[1] == "    10.5 s  t.py::old[a b]  (over the 10 s of budget.toml)"
    assert summaries.slowest("12 passed in 4.20s") == []


def test_what_grew_and_what_was_skipped_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More than a tenth above its budget has grown, and more than ten seconds."""
    (tmp_path / "budget.toml").write_text(
        '[folders_of_tests]\n"tests/a" = 200\n"tests/b" = 9\n[tests]\n'
    )
    monkeypatch.setattr(checkout, "ROOT", tmp_path)
    folders = {"tests/a": 220.0, "tests/b": 19.0, "imports, and what tests share": 500.0}
    text = "".join(f"processor seconds of {name}: {took}\n" for name, took in folders.items())
    assert not any("grew" in line for line in summaries.by_folder(text))
    slower = summaries.by_folder(text.replace("220.0", "220.5").replace("19.0", "19.5"))
    assert slower[1] == "     220.5 s  tests/a  (grew by 20 s from 200 s of budget.toml)"
    assert slower[2] == "      19.5 s  tests/b  (grew by 10 s from 9 s of budget.toml)"
    text = "SKIPPED [2] a.py:7: no fio\nSKIPPED [1] b.py:1: needs root\nSKIPPED [1] c.py: no fio\n"
    reasons = ["skipped tests, by reason:", "       3  no fio", "       1  needs root"]
    assert summaries.skipped(text) == reasons
    assert summaries.pytest_closing("12 passed in 4.20s") == []


def test_tools_write_bytecode_whatever_the_caller_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    assert "PYTHONDONTWRITEBYTECODE" not in checkout.child_environment()


def failing() -> None:
    raise checkout.DevError("it broke")


def test_the_first_failure_stops_unless_told_to_keep_going(
    capsys: pytest.CaptureFixture[str],
) -> None:
    done: list[str] = []
    with pytest.raises(checkout.DevError):
        steps_of.Steps().step("one", failing)
    steps = steps_of.Steps(keep_going=True)
    steps.step("one", failing)
    steps.step("two", lambda: done.append("two"))
    assert steps.report("both") == 1
    assert done == ["two"]
    printed = capsys.readouterr().out
    assert "FAILED: it broke" in printed


def test_words_for_other_programs_are_passed_on_and_only_named_steps_done() -> None:
    done: list[str] = []
    steps = steps_of.Steps(only=["two"])
    for name in ("one", "two"):
        steps.step(name, lambda name=name: done.append(name))
    assert done == ["two"] and steps.report("") == 0
    steps = steps_of.Steps(only=["three"])
    steps.step("one", lambda: None)
    with pytest.raises(checkout.DevError, match="the steps are one"):
        steps.report("")
    assert dev.parse(["run", "--help"])[1] == ["--help"]
    assert dev.parse(["test", "-k", "crush", "--keep-going"])[1] == ["-k", "crush"]
    assert dev.parse(["bench", "hold"])[0].names == ["hold"]
    assert dev.parse(["verify", "maps"])[0].names == ["maps"]
    for wrong in (["lint", "--fixx"], ["bench", "--what"], ["bild"], []):
        with pytest.raises(SystemExit) as stop:
            dev.parse(wrong)
        assert stop.value.code == 2


def test_ci_ends_as_the_tests_end(tmp_path: Path) -> None:
    """.ci/run installs nothing where nothing is missing, and its exit code is dev.py's."""
    names = ("chromium", "crushtool", "osdmaptool", "fio", "cc", "node", "npm")
    programs = dict.fromkeys(names, "")
    programs["fc-list"] = "echo Liberation Sans"
    programs["rustc"] = f"echo {tmp_path}"
    (tmp_path / "libstd-0.rlib").touch()
    programs["apt-get"] = "echo must not be called; exit 1"
    programs["python3"] = 'case "$1" in -c) exit 0;; *) echo "called: $*"; exit 7;; esac'
    env = bare_machine(tmp_path, **programs)
    env["PATH"] += os.pathsep + os.defpath
    done = process(str(ROOT / ".ci" / "run"), "-k", "x", env=env)
    assert done.returncode == 7
    assert done.stdout == "called: dev.py test -k x\n"
