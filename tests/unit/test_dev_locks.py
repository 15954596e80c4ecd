"""The lists that pin dependencies make the locks that cargo and npm follow, and hold no address."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tools.checkout import ROOT, DevError, child_environment
from tools.locks import lines_of, listed, lock_of, npm_list, rust_list, without_addresses

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
    plain = subprocess.run(
        [*command, "--no-deps"], cwd=ROOT, env=env, capture_output=True, text=True
    )
    sources = re.findall(r'"source":"(registry[^"]*)"', plain.stdout)
    shutil.copy(ROOT / "Cargo.toml", folder)
    os.symlink(ROOT / "crates", folder / "crates")
    (folder / "Cargo.lock").write_text(lock_of(packages, sources[0]), encoding="utf-8")
    return subprocess.run(
        [*command, "--locked"], cwd=folder, env=env, capture_output=True, text=True
    )


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
