"""What pins every dependency without an address: lists that become cargo's and npm's lock files.

`locks/rust.txt` has a package a line: its name, its version, its checksum (`-` for our own) and
the packages that it needs. `locks/npm.json` is npm's lock without the addresses in it. Both tools
refuse a package whose checksum is another. Standard library only, as `tools/checkout.py`.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import tomllib
from pathlib import Path
from typing import Any

from tools import checkout
from tools.checkout import DevError, read_stamp, run, say, write_stamp

REMEDY = "after a change of dependencies run `python3 dev.py locks` and commit what it writes"
_OURS = "-"
# Keys of npm's lock that are addresses, or have some.
_ADDRESSES = ("resolved", "funding")


def rust_list() -> Path:
    """The list of Rust packages."""
    return checkout.ROOT / "locks" / "rust.txt"


def npm_list() -> Path:
    """The list of npm packages."""
    return checkout.ROOT / "locks" / "npm.json"


def _cargo_lock() -> Path:
    return checkout.ROOT / "Cargo.lock"


def _npm_lock() -> Path:
    return checkout.ROOT / "web" / "package-lock.json"


def listed(lock: str) -> str:
    """Return the list of a Cargo.lock's packages.

    Args:
        lock: The text of the file.
    """
    lines = []
    for package in tomllib.loads(lock)["package"]:
        words = [package["name"], package["version"], package.get("checksum", _OURS)]
        lines.append(f"{' '.join(words)}: {', '.join(package.get('dependencies', []))}".rstrip())
    return "\n".join(lines) + "\n"


def lock_of(packages: str, source: str) -> str:
    """Return the Cargo.lock of a list.

    Args:
        packages: The list.
        source: What cargo calls the registry.

    Raises:
        DevError: A line of the list is not of its form.
    """
    parts = ["# This file is made of locks/rust.txt by dev.py.", "version = 4", ""]
    for number, line in enumerate(packages.splitlines(), 1):
        head, colon, needs = line.partition(":")
        words = head.split()
        if len(words) != 3 or not colon:
            raise DevError(
                f"locks/rust.txt, line {number}: `{line}` is not `NAME VERSION CHECKSUM: NEEDS`;"
                f" {REMEDY}"
            )
        name, version, checksum = words
        parts += ["[[package]]", f'name = "{name}"', f'version = "{version}"']
        if checksum != _OURS:
            parts += [f'source = "{source}"', f'checksum = "{checksum}"']
        if needs.strip():
            parts += ["dependencies = [", *(f' "{one.strip()}",' for one in needs.split(",")), "]"]
        parts.append("")
    return "\n".join(parts)


def _source(env: dict[str, str]) -> str:
    """What this cargo calls the registry that the workspace takes its packages from."""
    command = ["cargo", "metadata", "--no-deps", "--format-version", "1", "--offline"]
    answer = subprocess.run(command, env=env, cwd=checkout.ROOT, capture_output=True, text=True)
    if answer.returncode != 0:
        raise DevError(f"`{' '.join(command)}` failed: {answer.stderr.strip()}")
    sources = {
        dependency["source"]
        for package in json.loads(answer.stdout)["packages"]
        for dependency in package["dependencies"]
        if dependency["source"] is not None
    }
    if len(sources) != 1:
        raise DevError(f"the workspace takes packages from {len(sources)} registries, not from 1")
    (source,) = sources
    return str(source)


def _wanted() -> str:
    """A hash of what the Rust lock has to fit: the list and the manifests."""
    digest = hashlib.sha256(rust_list().read_bytes())
    for path in [checkout.ROOT / "Cargo.toml", *sorted(checkout.ROOT.glob("crates/*/Cargo.toml"))]:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def write_rust_lock(env: dict[str, str]) -> None:
    """Write Cargo.lock from the list, and fetch what it names, unless that was done.

    Raises:
        DevError: The list does not fit the manifests, or a package has another checksum.
    """
    stamp, wanted = checkout.BUILD / "locks.json", _wanted()
    if _cargo_lock().is_file() and read_stamp(stamp).get("wanted") == wanted:
        return
    stamp.unlink(missing_ok=True)
    _cargo_lock().write_text(
        lock_of(rust_list().read_text(encoding="utf-8"), _source(env)), encoding="utf-8"
    )
    try:
        run(["cargo", "fetch", "--locked", "--quiet", "--target", _host(env)], env)
    except DevError as problem:
        raise DevError(f"{problem}; {REMEDY}") from None
    write_stamp(stamp, {"wanted": wanted})


def _host(env: dict[str, str]) -> str:
    said = subprocess.run(["rustc", "-vV"], env=env, capture_output=True, text=True).stdout
    return next(line.split()[1] for line in said.splitlines() if line.startswith("host:"))


def without_addresses(lock: Any) -> Any:
    """Return a part of npm's lock without what is an address."""
    if isinstance(lock, dict):
        return {
            key: without_addresses(value) for key, value in lock.items() if key not in _ADDRESSES
        }
    return lock


def lines_of(lock: dict[str, Any]) -> str:
    """Return npm's lock as JSON with a line a package."""

    def members(of: dict[str, Any]) -> str:
        return ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in of.items())

    heads = {key: value for key, value in lock.items() if key != "packages"}
    return f'{{\n{members(heads)},\n"packages": {{\n{members(lock["packages"])}\n}}\n}}\n'


def write_npm_lock() -> None:
    """Write npm's lock from the list, for `npm ci` to follow."""
    _npm_lock().write_bytes(npm_list().read_bytes())


def renew(env: dict[str, str]) -> None:
    """Write both lists anew, from what cargo and npm choose for the manifests as they are.

    What the lists pin already stays, where the manifests allow it.

    Raises:
        DevError: cargo or npm is absent or failed.
    """
    say("pinning the packages of Rust")
    if rust_list().is_file() and not _cargo_lock().is_file():
        packages = rust_list().read_text(encoding="utf-8")
        _cargo_lock().write_text(lock_of(packages, _source(env)), encoding="utf-8")
    run(["cargo", "update", "--workspace", "--quiet"], env)
    rust_list().parent.mkdir(exist_ok=True)
    rust_list().write_text(listed(_cargo_lock().read_text(encoding="utf-8")), encoding="utf-8")
    say("pinning the packages of npm")
    if npm_list().is_file():
        write_npm_lock()
    run(
        ["npm", "install", "--package-lock-only", "--ignore-scripts", "--no-audit"],
        env,
        folder="web",
    )
    lock = without_addresses(json.loads(_npm_lock().read_text(encoding="utf-8")))
    npm_list().write_text(lines_of(lock), encoding="utf-8")
