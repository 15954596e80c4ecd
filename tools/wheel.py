"""The wheel: all that a user without a compiler installs, checked for what it promises.

Standard library only, as `tools/checkout.py`.
"""

from __future__ import annotations

import re
import sys
import zipfile
from collections.abc import Iterable
from pathlib import Path

from tools import checkout
from tools.build import prepare
from tools.checkout import BIN, DevError, run, say
from tools.front import BUILT, build_front
from tools.web import build_web

PAGE = tuple(f"resilver/browser/{name}" for name in ("core.wasm", *BUILT))
STUDIES = "resilver/catalog/studies/"
# maturin writes the oldest that holds; a plain `linux` tag says that none does.
_TAG = re.compile(r"-manylinux_(\d+)_(\d+)_\w+\.whl$")
_NEEDED = re.compile(rb"\0GLIBC_(\d+)\.(\d+)")


def dist() -> Path:
    """The folder that has the wheel, and no other."""
    return checkout.ROOT / "dist"


def newest_glibc(module: bytes) -> tuple[int, int]:
    """The newest version of the C library that a native module asks its loader for."""
    return max(((int(a), int(b)) for a, b in _NEEDED.findall(module)), default=(0, 0))


def shipped_studies() -> Iterable[str]:
    """The files of studies that a wheel has, by their names in it."""
    for path in sorted((checkout.ROOT / "studies").glob("*/*")):
        if path.is_file():
            yield STUDIES + "/".join(path.relative_to(checkout.ROOT / "studies").parts)


def check_wheel(wheel: Path) -> str:
    """Check that a wheel has the page, the studies and a core that its tag tells the truth about.

    Returns:
        What it needs of a machine, in a line.

    Raises:
        DevError: A file is absent from it, or its core needs a newer C library than its tag says.
    """
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        if absent := [name for name in (*PAGE, *shipped_studies()) if name not in names]:
            raise DevError(f"{wheel.name} lacks {absent[0]} and {len(absent) - 1} more files")
        cores = [name for name in names if re.fullmatch(r"resilver/_core\.[\w-]*\.?so", name)]
        if len(cores) != 1:
            raise DevError(f"{wheel.name} has {len(cores)} native modules in place of 1")
        needed = newest_glibc(archive.read(cores[0]))
    if sys.platform != "linux":
        return f"{wheel.name}: for this system alone"
    tag = _TAG.search(wheel.name)
    if tag is None:
        raise DevError(
            f"{wheel.name} has no manylinux tag, so no other machine may install it: its core"
            f" links a library that manylinux does not allow"
        )
    promised = (int(tag[1]), int(tag[2]))
    if needed > promised:
        raise DevError(
            f"{wheel.name} promises glibc {promised[0]}.{promised[1]}, and its core needs"
            f" {needed[0]}.{needed[1]}: build it on an older system"
        )
    return f"needs glibc {promised[0]}.{promised[1]} or later (its core {needed[0]}.{needed[1]})"


def build_wheel() -> Path:
    """Build the page and the wheel around it; return the wheel, which is alone in `dist`.

    Raises:
        DevError: Something that builds it is absent or failed, or the wheel breaks a promise.
    """
    env = prepare()
    checkout.check_rust(env)
    build_web(env)
    build_front(env)
    for old in dist().glob("resilver-*.whl"):
        old.unlink()
    say("building the wheel")
    run([str(BIN / "maturin"), "build", "--release", "--quiet", "--out", str(dist())], env)
    (wheel,) = dist().glob("resilver-*.whl")
    try:
        says = check_wheel(wheel)
    except DevError:
        wheel.unlink()
        raise
    print(f"{wheel.relative_to(checkout.ROOT)}: {wheel.stat().st_size / 1e6:.1f} MB, {says}")
    print(f"pip install {wheel.relative_to(checkout.ROOT)}")
    return wheel
