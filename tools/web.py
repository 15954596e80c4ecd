"""The core as a WebAssembly module: which compiler builds it, and whether it must be built anew.

Standard library only, as `tools/checkout.py`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from tools import checkout
from tools.checkout import MACHINE_LACKS, DevError, run, say
from tools.locks import write_rust_lock

TARGET = "wasm32-unknown-unknown"
# Debian's compiler for the web has no built library for this target, only the library's sources.
DEBIAN_RUSTC, DEBIAN_CARGO = Path("/usr/bin/rustc"), Path("/usr/bin/cargo")
DEBIAN_LIBRARY = "lib/rustlib/src/rust/library/std/Cargo.toml"
DEBIAN_LINKER = "wasm-ld-19"
PACKAGES = "rustc-web cargo-web rust-web-src lld-19"
# Each page carries the module: a profile of its own. Tests want it soon, and with its checks.
PROFILES = {"web": "web", "dev": "web-dev"}


@dataclass(frozen=True)
class Compiler:
    """What builds for the browser.

    Attributes:
        cargo: The cargo to call.
        version: What its compiler says it is.
        env: The variables that it needs beside others.
        options: Its options that say how the standard library comes about.
    """

    cargo: str
    version: str
    env: dict[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()


def module() -> Path:
    """The module, where the package looks for it."""
    return checkout.ROOT / "python" / "resilver" / "browser" / "core.wasm"


def stamp_path() -> Path:
    """What says of which sources the module is."""
    return checkout.BUILD / "web.json"


def _said(command: list[str], env: dict[str, str]) -> str | None:
    """What a program says, or None where it is absent or fails."""
    try:
        answer = subprocess.run(command, env=env, cwd=checkout.ROOT, capture_output=True, text=True)
    except OSError:
        return None
    return answer.stdout.strip() if answer.returncode == 0 else None


def find_compiler(env: dict[str, str]) -> Compiler:
    """The compiler for the browser: rustup's where it has the target, else Debian's own.

    Raises:
        DevError: There is neither; it says what to install.
    """
    folder = _said(["rustc", "--print", "target-libdir", "--target", TARGET], env)
    if folder is not None and any(Path(folder).glob("libstd-*.rlib")):
        return Compiler("cargo", _said(["rustc", "--version"], env) or "")
    version = _said([str(DEBIAN_RUSTC), "--version"], env)
    root = _said([str(DEBIAN_RUSTC), "--print", "sysroot"], env)
    found = re.match(r"rustc (\d+)\.(\d+)\.", version or "")
    if (
        version is None
        or root is None
        or found is None
        or tuple(map(int, found.groups())) < checkout.required_rust()
        or not (Path(root) / DEBIAN_LIBRARY).exists()
        or not os.access(DEBIAN_CARGO, os.X_OK)
        or shutil.which(DEBIAN_LINKER, path=env["PATH"]) is None
    ):
        raise DevError(
            f"no compiler for browsers: run `rustup target add {TARGET}`; on Debian without rustup:"
            f" `sudo apt-get install --no-install-recommends {PACKAGES}`",
            MACHINE_LACKS,
        )
    # Building the standard library is what Debian's compiler would not do by itself.
    its_own = {
        "RUSTC": str(DEBIAN_RUSTC),
        "RUSTC_BOOTSTRAP": "1",
        "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER": DEBIAN_LINKER,
    }
    # Without features: a page has no backtrace, whose libraries take a tenth of the time.
    options = ("-Z", "build-std=std,panic_abort", "-Z", "build-std-features=")
    return Compiler(str(DEBIAN_CARGO), version, its_own, options)


def module_inputs(compiler: Compiler, profile: str, env: dict[str, str]) -> str:
    """Return a hash of all that the module is made from."""
    flags = env.get("RUSTFLAGS", "")
    return checkout.core_inputs(f"{compiler.version}, {profile}", None, flags, "web")


def is_outdated(env: dict[str, str]) -> bool:
    """Tell whether the module was built here, and of other sources, whatever the profile."""
    made = checkout.read_stamp(stamp_path()).get("inputs")
    try:
        compiler = find_compiler(env)
    except DevError:
        return False
    return made is not None and all(
        made != module_inputs(compiler, profile, env) for profile in PROFILES
    )


def build_web(env: dict[str, str], profile: str = "web") -> Path:
    """Build the module, if what it is made from changed.

    Args:
        env: The environment for tools.
        profile: ``web``, what users get, or ``dev``, what tests run.

    Raises:
        DevError: There is no compiler for browsers, or it failed.
    """
    compiler = find_compiler(env)
    inputs = module_inputs(compiler, profile, env)
    with checkout.locked("web.lock"):
        if module().is_file() and checkout.read_stamp(stamp_path()).get("inputs") == inputs:
            return module()
        write_rust_lock(env)
        say(f"building the core for browsers ({profile}, {compiler.version})")
        stamp_path().unlink(missing_ok=True)
        folder = checkout.ROOT / "target" / "web"
        own = {**env, **compiler.env, "CARGO_TARGET_DIR": str(folder)}
        command = [compiler.cargo, "build", "--quiet", *compiler.options, "--target", TARGET]
        run([*command, "--profile", PROFILES[profile], "-p", "resilver-web"], own)
        built = folder / TARGET / PROFILES[profile] / "resilver_web.wasm"
        draft = module().with_suffix(".draft")
        shutil.copyfile(built, draft)
        draft.replace(module())
        checkout.write_stamp(stamp_path(), {"inputs": inputs})
    return module()
