"""The page that computes: its packages, its checks, and its scripts beside the core for browsers.

Standard library only, as `tools/checkout.py`.
"""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

from tools import checkout, locks
from tools.checkout import MACHINE_LACKS, DevError, read_stamp, run, say, write_stamp

BUILT = ("page.js", "page.css", "worker.js")
"""What the page is made of, beside the core."""

# No script of a package runs when it is fetched, and what is fetched is what the lock names.
_INSTALL = ("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
_HINT = "on Debian: `sudo apt-get install --no-install-recommends nodejs npm`"


def _folder() -> Path:
    return checkout.ROOT / "web"


def _stamp() -> Path:
    return checkout.BUILD / "front.json"


def _browser() -> Path:
    return checkout.ROOT / "python" / "resilver" / "browser"


def front_inputs() -> str:
    """Return a hash of all that the page's scripts are made from."""
    digest = hashlib.sha256()
    files = [
        path
        for path in sorted(_folder().glob("*"))
        if path.is_file() and path.name != "package-lock.json"
    ]
    files += [path for path in sorted((_folder() / "src").rglob("*")) if path.is_file()]
    files += sorted((checkout.ROOT / "crates" / "web").glob("core.*"))
    files.append(locks.npm_list())
    for path in files:
        name = str(path.relative_to(checkout.ROOT))
        digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def install_packages(env: dict[str, str]) -> None:
    """Fetch the packages that `locks/npm.json` pins, if they are not those.

    Raises:
        DevError: There is no npm, or it failed.
    """
    for program in ("node", "npm"):
        if shutil.which(program, path=env["PATH"]) is None:
            raise DevError(f"no {program} to build the page that computes; {_HINT}", MACHINE_LACKS)
    pins = (_folder() / "package.json").read_bytes() + locks.npm_list().read_bytes()
    wanted = hashlib.sha256(pins).hexdigest()
    stamp = checkout.BUILD / "npm.json"
    if (_folder() / "node_modules").is_dir() and read_stamp(stamp).get("wanted") == wanted:
        return
    say("fetching the packages of the page that computes")
    stamp.unlink(missing_ok=True)
    locks.write_npm_lock()
    run(_INSTALL, env, folder="web")
    write_stamp(stamp, {"wanted": wanted})


def check_front(env: dict[str, str]) -> None:
    """Types and lints of the page's scripts.

    Raises:
        DevError: There is no npm, or a check failed.
    """
    install_packages(env)
    run([_program("tsc"), "--noEmit"], env, folder="web")
    run([_program("biome"), "check", "--error-on-warnings"], env, folder="web")


def build_front(env: dict[str, str]) -> None:
    """Build the page's scripts, if what they are made from changed.

    Raises:
        DevError: There is no npm, or it failed.
    """
    inputs = front_inputs()
    built = all((_browser() / name).is_file() for name in BUILT)
    if built and read_stamp(_stamp()).get("inputs") == inputs:
        return
    with checkout.locked("web.lock"):
        install_packages(env)
        say("building the page that computes")
        _stamp().unlink(missing_ok=True)
        run(["node", "build.mjs", str(_browser())], env, folder="web")
        write_stamp(_stamp(), {"inputs": inputs})


def is_outdated() -> bool:
    """Tell whether the page's scripts were built here, and of other sources."""
    made = read_stamp(_stamp()).get("inputs")
    return made is not None and made != front_inputs()


def _program(name: str) -> str:
    return str(_folder() / "node_modules" / ".bin" / name)
