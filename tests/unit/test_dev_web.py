"""dev.py web takes the compiler that a machine has, and builds only what changed."""

from collections.abc import Sequence
from pathlib import Path

import pytest

import dev
from tests.unit.test_dev import bare_machine, run_dev, small_checkout, stand_in
from tools import checkout, web

PRINTS = 'if [ "$1" = --version ]; then echo "rustc 1.96.0 (0 2026-01-01)"; else echo {}; fi'


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with one source, on a machine without Debian's compiler."""
    folder = small_checkout(tmp_path)
    (folder / "crates" / "web" / "src").mkdir(parents=True)
    (folder / "crates" / "web" / "src" / "lib.rs").write_text("fn a() {}", encoding="utf-8")
    (folder / "python" / "resilver" / "browser").mkdir(parents=True)
    stand_in(monkeypatch, folder)
    # The machine's cargo is a script, which knows nothing of registries.
    monkeypatch.setattr(web, "write_rust_lock", lambda env: None)
    for program in ("DEBIAN_RUSTC", "DEBIAN_CARGO"):
        monkeypatch.setattr(web, program, tmp_path / "absent")
    return folder


def machine(folder: Path, monkeypatch: pytest.MonkeyPatch, **programs: str) -> dict[str, str]:
    """A machine with these programs: what is started is looked for on our own PATH."""
    env = bare_machine(folder, **programs)
    monkeypatch.setenv("PATH", env["PATH"])
    return env


@pytest.fixture
def rustup(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A machine on which rustup has the target."""
    target = tmp_path / "rustup" / "target"
    target.mkdir(parents=True)
    (target / "libstd-0.rlib").touch()
    return machine(tmp_path / "rustup", monkeypatch, rustc=PRINTS.format(target))


@pytest.fixture
def debian(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A machine on which Debian's compiler for the web is, beside a rustup without the target."""
    folder = tmp_path / "machine"
    source = folder / "root" / web.DEBIAN_LIBRARY
    source.parent.mkdir(parents=True)
    source.touch()
    own = bare_machine(folder / "debian", rustc=PRINTS.format(folder / "root"), cargo="")["PATH"]
    monkeypatch.setattr(web, "DEBIAN_RUSTC", Path(own) / "rustc")
    monkeypatch.setattr(web, "DEBIAN_CARGO", Path(own) / "cargo")
    return machine(folder, monkeypatch, rustc="echo nowhere", **{web.DEBIAN_LINKER: ""})


def test_rustup_s_compiler_is_taken_as_it_is(rustup: dict[str, str]) -> None:
    found = web.find_compiler(rustup)
    assert (found.cargo, found.env, found.options) == ("cargo", {}, ())
    assert found.version.startswith("rustc 1.96")


def test_debian_s_compiler_builds_the_library(debian: dict[str, str]) -> None:
    found = web.find_compiler(debian)
    assert found.cargo == str(web.DEBIAN_CARGO)
    assert found.env["RUSTC"] == str(web.DEBIAN_RUSTC)
    assert "build-std=std,panic_abort" in found.options


@pytest.mark.parametrize("lacking", ["linker", "library", "cargo", "old"])
def test_half_of_debian_s_compiler_is_none(
    debian: dict[str, str], tmp_path: Path, lacking: str
) -> None:
    if lacking == "old":
        text = web.DEBIAN_RUSTC.read_text(encoding="utf-8").replace("1.96", "1.63")
        web.DEBIAN_RUSTC.write_text(text, encoding="utf-8")
    else:
        {
            "linker": Path(debian["PATH"]) / web.DEBIAN_LINKER,
            "library": tmp_path / "machine" / "root" / web.DEBIAN_LIBRARY,
            "cargo": web.DEBIAN_CARGO,
        }[lacking].unlink()
    with pytest.raises(checkout.DevError, match="rustup target add") as problem:
        web.find_compiler(debian)
    assert web.PACKAGES in str(problem.value) and problem.value.code == 2


def test_the_command_says_what_a_machine_lacks(tmp_path: Path) -> None:
    """Where this machine has Debian's compiler, its linker is not on the PATH of this test."""
    done = run_dev(tmp_path, bare_machine(tmp_path), "web")
    assert done.returncode == 2
    assert "no compiler for browsers" in done.stderr and "Traceback" not in done.stderr


def test_tests_go_on_without_a_compiler(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    dev.web_for_tests(machine(tmp_path / "bare", monkeypatch))
    assert "are skipped" in capsys.readouterr().out


def test_it_is_built_only_when_sources_or_the_profile_changed(
    place: Path, rustup: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A source of the border to Python is none of it."""
    commands: list[Sequence[str]] = []

    def build(command: Sequence[str], env: dict[str, str]) -> int:
        commands.append(command)
        profile = command[command.index("--profile") + 1]
        built = Path(env["CARGO_TARGET_DIR"]) / web.TARGET / profile / "resilver_web.wasm"
        built.parent.mkdir(parents=True, exist_ok=True)
        built.write_text(f"module {len(commands)}", encoding="utf-8")
        return 0

    monkeypatch.setattr(web, "run", build)

    def builds(profile: str = "web") -> int:
        built = web.build_web(rustup, profile)
        assert built.read_text(encoding="utf-8") == f"module {len(commands)}"
        return len(commands)

    assert builds() == builds() == 1
    assert builds("dev") == builds("dev") == 2
    assert not web.is_outdated(rustup)
    (place / "crates" / "web" / "src" / "lib.rs").write_text("fn b() {}", encoding="utf-8")
    assert web.is_outdated(rustup)
    assert builds() == builds() == 3
    (place / "crates" / "python").mkdir()
    (place / "crates" / "python" / "Cargo.toml").write_text("", encoding="utf-8")
    assert builds() == 3
    web.module().unlink()
    assert builds() == 4
