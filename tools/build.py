"""What builds: the environment, what the locks pin, and the core for Python.

Standard library only, as `tools/checkout.py`.
"""

from __future__ import annotations

import atexit
import subprocess
from collections.abc import Sequence

from tools.checkout import (
    BIN,
    CORE_STAMP,
    ROOT,
    VENV_STAMP,
    check_rust,
    child_environment,
    core_inputs,
    core_module,
    install,
    locked,
    make_environment,
    read_stamp,
    run,
    say,
    write_stamp,
)
from tools.locks import write_rust_lock


def build_core(env: dict[str, str], profile: str) -> None:
    """Build the core in a profile of Cargo.toml and install the package, if inputs changed."""
    compiler = check_rust(env)
    made = read_stamp(VENV_STAMP).get("made")
    inputs = core_inputs(f"{compiler}, {profile}", made, env.get("RUSTFLAGS", ""))
    if (
        core_module() is not None
        and (BIN / "resilver").exists()
        and read_stamp(CORE_STAMP).get("inputs") == inputs
    ):
        return
    say(f"building the core ({profile})")
    CORE_STAMP.unlink(missing_ok=True)
    run([str(BIN / "maturin"), "develop", "--profile", profile, "--quiet"], env)
    write_stamp(CORE_STAMP, {"inputs": inputs})


def prepare(
    extras: Sequence[str] = (), profile: str = "", beside: Sequence[str] = ()
) -> dict[str, str]:
    """Bring the checkout up to date: environment, packages and, in a profile if named, the core.

    The command `beside` runs from the start, while packages are fetched and unpacked. It only
    prepares: nobody hears of how it ends, and it ends with dev.py at the latest.

    Returns the environment to start tools in.
    """
    env = child_environment()
    with locked():
        if profile or beside:
            check_rust(env)
            write_rust_lock(env)
        stamp = make_environment(env)
        if beside:
            quiet = subprocess.DEVNULL
            started = subprocess.Popen(beside, env=env, cwd=ROOT, stdout=quiet, stderr=quiet)
            atexit.register(started.terminate)
        install(stamp, extras, env)
        if profile:
            build_core(env, profile)
    return env
