"""What a checkout needs before anything runs: tools, its own environment, what the core is of.

Each is made once and made again only when what it depends on changed; a stamp that is written
last says so, hence something half-made by an interrupt is never taken for done. Standard library
only.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

try:
    import tomllib
except ModuleNotFoundError:
    sys.exit(
        f"dev.py: this is Python {sys.version_info[0]}.{sys.version_info[1]};"
        " resilver needs 3.11 or later: run `python3.11 dev.py`"
    )

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
BIN = VENV / "bin"
BUILD = ROOT / ".build"
# Written last into an environment, so that its absence says that making it was interrupted.
VENV_STAMP = VENV / "resilver-environment.json"
CORE_STAMP = BUILD / "core.json"
STEP_FAILED, MACHINE_LACKS, INTERRUPTED = 1, 2, 130


class DevError(Exception):
    """Something this machine lacks or a step that failed: the message says what, and what to do."""

    def __init__(self, message: str, code: int = STEP_FAILED) -> None:
        super().__init__(message)
        self.code = code


def say(text: str) -> None:
    """Print one line about what is being done, before whatever a tool prints next."""
    bold = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    print(f"\033[1m{text}\033[0m" if bold else text, flush=True)


def pyproject() -> dict[str, object]:
    """Return pyproject.toml as a dictionary."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def required_rust() -> tuple[int, ...]:
    """Return the oldest Rust that builds the core, from Cargo.toml's rust-version."""
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    return tuple(int(part) for part in cargo["workspace"]["package"]["rust-version"].split("."))


def child_environment() -> dict[str, str]:
    """Return the environment for tools: `.venv` comes first, caches are inside the checkout."""
    env = dict(os.environ)
    for name in ("PYTHONHOME", "PYTHONPATH", "CONDA_PREFIX", "PIP_TARGET", "PIP_PREFIX"):
        env.pop(name, None)
    # Without bytecode each of the processes that tests start would compile the package anew. Git
    # ignores it, so it stands beside the sources.
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    env["PIP_USER"] = "0"
    # rustup puts cargo into a folder that a non-login shell often lacks.
    cargo_home = Path(env.get("CARGO_HOME", Path.home() / ".cargo"))
    env["PATH"] = os.pathsep.join([str(BIN), env.get("PATH", os.defpath), str(cargo_home / "bin")])
    env["VIRTUAL_ENV"] = str(VENV)
    env["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
    # maturin calls pip too, which would name every package that is there already.
    env["PIP_QUIET"] = "1"
    env["PYO3_PYTHON"] = str(BIN / "python")
    return env


def maturin_environment(env: dict[str, str]) -> dict[str, str]:
    """Return the environment that maturin starts cargo in, once it has built here.

    pyo3 is compiled anew whenever these variables differ, so clippy and maturin must agree.
    """
    configured = sorted((ROOT / "target" / "maturin").glob("pyo3-config-*-abi3.txt"))
    if not configured:
        return env
    bits = 64 if sys.maxsize > 2**32 else 32
    version = ".".join(map(str, sys.version_info[:2]))
    return {
        **env,
        "PYO3_CONFIG_FILE": str(configured[-1]),
        "PYO3_BUILD_EXTENSION_MODULE": "1",
        "PYO3_ENVIRONMENT_SIGNATURE": f"cpython-{version}-{bits}bit",
    }


def check_rust(env: dict[str, str]) -> str:
    """Return cargo's version line.

    Raises DevError where cargo is absent or too old, or where nothing can link.
    """
    remedy = "install Rust from https://rustup.rs, or `rustup update`"
    if shutil.which("cargo", path=env["PATH"]) is None:
        raise DevError(
            f"cargo is not on PATH, and the core is written in Rust: {remedy}", MACHINE_LACKS
        )
    answer = subprocess.run(
        ["cargo", "--version"], env=env, cwd=ROOT, capture_output=True, text=True
    )
    found = re.match(r"cargo (\d+)\.(\d+)\.(\d+)", answer.stdout)
    if found is None:
        raise DevError(
            f"`cargo --version` failed: {answer.stderr.strip() or answer.stdout.strip()}",
            MACHINE_LACKS,
        )
    needed = required_rust()
    if tuple(int(part) for part in found.groups()) < needed:
        wanted = ".".join(str(part) for part in needed)
        raise DevError(
            f"{found.group(0)} is too old; the core needs Rust {wanted}: {remedy}", MACHINE_LACKS
        )
    configured = any(
        re.fullmatch(r"CARGO_TARGET_\w+_LINKER", name) for name in env
    ) or "linker" in env.get("RUSTFLAGS", "")
    if not configured and shutil.which("cc", path=env["PATH"]) is None:
        raise DevError(
            "no C linker: `cc` is not on PATH; on Debian: `sudo apt-get install build-essential`",
            MACHINE_LACKS,
        )
    return answer.stdout.strip()


@contextlib.contextmanager
def locked(name: str = "lock") -> Iterator[None]:
    """Hold the checkout, so that two dev.py do not make its environment or core at once.

    Args:
        name: Another lock than that, for what is made beside them.
    """
    BUILD.mkdir(exist_ok=True)
    with (BUILD / name).open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another dev.py is preparing this checkout: waiting for it")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def read_stamp(path: Path) -> dict[str, object]:
    """Return what a stamp says; an absent or half-written stamp says nothing."""
    try:
        stamp = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stamp if isinstance(stamp, dict) else {}


def write_stamp(path: Path, stamp: dict[str, object]) -> None:
    """Write a stamp whole or not at all."""
    path.parent.mkdir(exist_ok=True)
    draft = path.with_suffix(".draft")
    draft.write_text(json.dumps(stamp, indent=1), encoding="utf-8")
    draft.replace(path)


# ---------------------------------------------------------------------- preparing


def requirements(extras: Sequence[str]) -> list[str]:
    """Return the pinned requirements of the package, of its build, and of the extras named."""
    settings = pyproject()
    project, system = settings["project"], settings["build-system"]
    assert isinstance(project, dict) and isinstance(system, dict)
    wanted = [*project["dependencies"], *system["requires"]]
    for extra in extras:
        wanted += project["optional-dependencies"][extra]
    return sorted(set(wanted))


def environment_identity() -> dict[str, object]:
    """Return what an environment depends on besides packages: interpreter and place."""
    return {"python": sys.version, "base": sys.base_prefix, "root": str(ROOT)}


def make_environment(env: dict[str, str]) -> dict[str, object]:
    """Make `.venv` where it is absent, half-made, moved or of another Python; return its stamp."""
    stamp = read_stamp(VENV_STAMP)
    identity = environment_identity()
    fits = {key: stamp.get(key) for key in identity} == identity and "unfinished" not in stamp
    if fits and (BIN / "python").exists():
        return stamp
    try:
        import ensurepip  # noqa: F401
    except ModuleNotFoundError:
        name = f"python{sys.version_info.major}.{sys.version_info.minor}-venv"
        remedy = f"`sudo apt-get install {name}` (or python3-venv)"
        raise DevError(
            f"this Python has no ensurepip, so it cannot make .venv; on Debian: {remedy}",
            MACHINE_LACKS,
        ) from None
    if VENV.exists():
        say(".venv is unfinished, moved or of another Python: making it again")
    VENV_STAMP.unlink(missing_ok=True)
    run([sys.executable, "-m", "venv", "--clear", str(VENV)], env)
    # The time tells one environment from the next, so that the core is installed again into a new
    # one.
    stamp = {**identity, "made": time.time(), "installed": []}
    write_stamp(VENV_STAMP, stamp)
    return stamp


def install(stamp: dict[str, object], extras: Sequence[str], env: dict[str, str]) -> None:
    """Install the pinned requirements that are absent; ask no index when all are there."""
    pins = hashlib.sha256((ROOT / "constraints.txt").read_bytes()).hexdigest()
    wanted = requirements(extras)
    installed = stamp.get("installed", [])
    assert isinstance(installed, list)
    if stamp.get("pins") == pins and set(wanted) <= set(installed):
        return
    say(f"installing {len(wanted)} pinned packages into .venv")
    # A killed pip may leave half a package behind; a failed one leaves what there was.
    write_stamp(VENV_STAMP, {**stamp, "unfinished": True})
    try:
        run([str(BIN / "python"), "-m", "pip", "install", "-c", "constraints.txt", *wanted], env)
    except DevError:
        write_stamp(VENV_STAMP, stamp)
        raise
    kept = installed if stamp.get("pins") == pins else []
    write_stamp(VENV_STAMP, {**stamp, "pins": pins, "installed": sorted({*kept, *wanted})})


def core_inputs(compiler: str, environment: object, flags: str, border: str = "python") -> str:
    """Return a hash of all that a border is made from: no tests, no benches, no other border."""
    digest = hashlib.sha256(json.dumps([compiler, environment, flags]).encode())
    files = [ROOT / "Cargo.toml", ROOT / "pyproject.toml", ROOT / "locks" / "rust.txt"]
    others = {"target", *({"python", "web"} - {border})}
    for path in sorted((ROOT / "crates").rglob("*")):
        inside = path.relative_to(ROOT / "crates").parts
        if path.is_file() and others.isdisjoint(inside) and inside[1] not in ("benches", "tests"):
            files.append(path)
    for path in files:
        digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def core_module() -> Path | None:
    """Return the built native module of this checkout, or None."""
    return next(iter(sorted((ROOT / "python" / "resilver").glob("_core*.so"))), None)


def run(
    command: Sequence[str], env: dict[str, str], ok: Sequence[int] = (0,), folder: str = ""
) -> int:
    """Run a tool, its output straight to the terminal; a code not in `ok` is a DevError.

    It runs in the checkout, or in a folder of it.
    """
    try:
        code = subprocess.run(command, env=env, cwd=ROOT / folder).returncode
    except FileNotFoundError:
        raise DevError(
            f"{command[0]} is not there; remove .venv and run dev.py again", MACHINE_LACKS
        ) from None
    if code not in ok:
        raise DevError(f"`{display(command)}` ended with exit code {code}")
    return code


def display(command: Sequence[str]) -> str:
    """Return a command as a person would type it."""
    return " ".join(part.removeprefix(f"{BIN}/") for part in command)
