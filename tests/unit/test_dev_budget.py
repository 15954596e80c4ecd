"""dev.py: ceilings of sizes, lists that pin dependencies, and what a wheel promises."""

import json
import os
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from tests.front_door import process
from tools import budget, checkout
from tools.checkout import ROOT, DevError, child_environment
from tools.locks import lines_of, listed, lock_of, npm_list, rust_list, without_addresses
from tools.wheel import PAGE, check_wheel, shipped_studies

BUDGETS = """
[lines]
"crates" = { budget = 100, ceiling = 400 }
"crates/a crates/b" = { budget = 50, ceiling = 250 }

[folders]
studies = { budget = 1, ceiling = 3 }
"""


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two crates that count, one that is ignored, and two studies."""
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    for name, lines in {
        "crates/a/lib.rs": 120,
        "crates/b/lib.rs": 30,
        "crates/ab/lib.rs": 75,
        "crates/a/table.csv": 1000,
        "crates/ignored/lib.rs": 1000,
        "studies/one/study.toml": 1,
        "studies/two/study.toml": 1,
        "studies/list.md": 1,
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x\n" * lines, encoding="utf-8")
    (tmp_path / ".gitignore").write_text("/crates/ignored\n", encoding="utf-8")
    (tmp_path / "budget.toml").write_text(BUDGETS, encoding="utf-8")
    monkeypatch.setattr(checkout, "ROOT", tmp_path)
    return tmp_path


def test_a_room_has_the_lines_that_git_knows_and_fails_above_its_ceiling(
    house: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # 120 + 30 + 75; no table, nothing ignored. `crates/ab` is not in `crates/a`.
    found = {room.name: room.present for room in budget.rooms()}
    assert found == {"crates": 225, "crates/a crates/b": 150, "studies": 2}
    budget.check_sizes()
    (house / "crates" / "a" / "lib.rs").write_text("x\n" * 221, encoding="utf-8")
    with pytest.raises(checkout.DevError, match="crates/a crates/b has 251 lines of 250"):
        budget.check_sizes()
    # 221 + 30 + 75 of the whole, 226 above its budget of 100.
    assert "326      400      100 lines, 226 to go" in capsys.readouterr().out


def test_ceilings_fall_to_what_stands_and_never_rise(house: Path) -> None:
    """In full hundreds of lines, not below the budget."""
    budget.lower_ceilings()
    assert {room.name: room.ceiling for room in budget.rooms()} == {
        "crates": 300,
        "crates/a crates/b": 200,
        "studies": 2,
    }
    (house / "crates" / "a" / "lib.rs").write_text("x\n" * 999, encoding="utf-8")
    budget.lower_ceilings()
    assert budget.rooms()[0].ceiling == 300
    (house / "crates" / "a" / "lib.rs").unlink()
    (house / "crates" / "ab" / "lib.rs").unlink()
    budget.lower_ceilings()
    assert [room.ceiling for room in budget.rooms()] == [100, 100, 2]


ADDRESS = re.compile(r"\w+://|www\.|\.(?:com|org|io|dev)\b")


def test_the_lists_have_no_address_and_say_what_the_locks_say() -> None:
    for path in (rust_list(), npm_list()):
        assert not ADDRESS.search(path.read_text(encoding="utf-8")), path
    packages = rust_list().read_text(encoding="utf-8")
    assert listed(lock_of(packages, "registry+here")) == packages
    lock = json.loads(npm_list().read_text(encoding="utf-8"))
    assert lines_of(without_addresses(lock)) == npm_list().read_text(encoding="utf-8")


@pytest.mark.parametrize("line", ["ahash 0.8.12", "ahash 0.8.12 5a15", "ahash: cfg-if"])
def test_a_line_of_another_form_is_refused(line: str) -> None:
    with pytest.raises(DevError, match=re.escape(f"line 2: `{line}` is not `NAME VERSION")):
        lock_of(f"a 1.0.0 -:\n{line}", "here")


def cargo_says(folder: Path, packages: str) -> subprocess.CompletedProcess[str]:
    """What cargo says of our manifests with the lock of a list, without a network."""
    env = child_environment()
    command = ["cargo", "metadata", "--format-version", "1", "--offline"]
    plain = process(*command, "--no-deps", cwd=ROOT, env=env)
    sources = re.findall(r'"source":"(registry[^"]*)"', plain.stdout)
    shutil.copy(ROOT / "Cargo.toml", folder)
    os.symlink(ROOT / "crates", folder / "crates")
    (folder / "Cargo.lock").write_text(lock_of(packages, sources[0]), encoding="utf-8")
    return process(*command, "--locked", cwd=folder, env=env)


def test_cargo_takes_the_list_and_refuses_another_checksum(tmp_path: Path) -> None:
    packages = rust_list().read_text(encoding="utf-8")
    (tmp_path / "ours").mkdir()
    done = cargo_says(tmp_path / "ours", packages)
    assert done.returncode == 0, done.stderr
    (tmp_path / "theirs").mkdir()
    other = re.sub(r"(?m)^(itoa \S+ )\w{8}", r"\g<1>00000000", packages)
    assert other != packages
    done = cargo_says(tmp_path / "theirs", other)
    assert done.returncode != 0 and "checksum for `itoa" in done.stderr


def test_npm_follows_the_versions_of_the_page(root: Path) -> None:
    asked = json.loads((root / "web" / "package.json").read_text(encoding="utf-8"))
    packages = json.loads(npm_list().read_text(encoding="utf-8"))["packages"]
    for name, version in {**asked["dependencies"], **asked["devDependencies"]}.items():
        assert packages[f"node_modules/{name}"]["version"] == version
    assert all("integrity" in it for name, it in packages.items() if name)


CORE = b"\x7fELF\0GLIBC_2.2.5\0GLIBC_2.28\0GLIBC_PRIVATE\0"
TAGGED = "resilver-0.1.0-cp311-abi3-manylinux_2_28_x86_64.whl"


def wheel(folder: Path, name: str = TAGGED, core: bytes = CORE, without: str = "") -> Path:
    path = folder / name
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("resilver/_core.abi3.so", core)
        for file in (*PAGE, *shipped_studies()):
            if file != without:
                archive.writestr(file, "")
    return path


def test_a_whole_wheel_says_what_it_needs(tmp_path: Path) -> None:
    says = check_wheel(wheel(tmp_path))
    assert says == "needs glibc 2.28 or later (its core 2.28)"


@pytest.mark.parametrize("file", [PAGE[0], PAGE[-1], *list(shipped_studies())[:1]])
def test_a_wheel_without_a_file_is_refused(tmp_path: Path, file: str) -> None:
    with pytest.raises(DevError, match=f"lacks {file}"):
        check_wheel(wheel(tmp_path, without=file))


@pytest.mark.parametrize(
    ("name", "core", "says"),
    [
        (TAGGED, CORE + b"GLIBC_2.34\0", r"promises glibc 2\.28, and its core needs 2\.34"),
        (TAGGED.replace("manylinux_2_28", "linux"), CORE, "no manylinux tag"),
    ],
)
def test_a_tag_that_promises_too_much_is_refused(
    tmp_path: Path, name: str, core: bytes, says: str
) -> None:
    with pytest.raises(DevError, match=says):
        check_wheel(wheel(tmp_path, name, core))
