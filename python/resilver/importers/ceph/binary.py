"""Binary OSD maps, by way of Ceph's own `osdmaptool`.

The format grew with every release, and the tool that belongs to it reads all of them. What it
prints is then read as any other dump.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from resilver.text import refuse

_SECONDS_MAX = 120
"""Longer than the tool takes for the largest clusters; a map that keeps it busy is not one."""


def is_binary_osdmap(data: bytes) -> bool:
    """Whether a file is a binary OSD map: its encoding has version 7 or 8, readable since 7."""
    return len(data) > 6 and data[0] in (7, 8, 9) and data[1] in (7, 8)


def dump_binary(data: bytes, place: str, *, with_crush: bool) -> tuple[str, bytes]:
    """What `osdmaptool` says of a binary OSD map.

    Args:
        with_crush: Whether the CRUSH map in it is wanted.

    Returns:
        The JSON of `osdmaptool --dump json`, and the compiled CRUSH map, empty where not wanted.

    Raises:
        ConfigError: The tool is not installed, or cannot read the map.
    """
    # The tool reads files alone, and what stands in an archive is none.
    with tempfile.TemporaryDirectory(prefix="resilver-") as folder:
        osdmap, exported = Path(folder, "osdmap"), Path(folder, "crush")
        osdmap.write_bytes(data)
        dump = _run(place, str(osdmap), "--dump", "json")
        text = dump[dump.find("{") : dump.rfind("}") + 1]
        if not with_crush:
            return text, b""
        _run(place, str(osdmap), "--export-crush", str(exported))
        return text, exported.read_bytes()


def _run(path: str, *arguments: str) -> str:
    command = ["osdmaptool", *arguments]
    try:
        done = subprocess.run(
            command, capture_output=True, timeout=_SECONDS_MAX, stdin=subprocess.DEVNULL
        )
    except FileNotFoundError:
        refuse(
            path,
            "this is a binary OSD map, which needs Ceph's `osdmaptool` to be read, and that is not "
            "installed",
            "install it (Debian: ceph-base), or give the JSON of `ceph osd dump` and a CRUSH map",
        )
    except subprocess.TimeoutExpired:
        refuse(path, f"`osdmaptool` did not read this OSD map within {_SECONDS_MAX} s")
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        reason = said[-1][:200] if said else f"it ended with status {done.returncode}"
        refuse(
            path,
            f"`osdmaptool` cannot read this OSD map: {reason}",
            "fetch it again with `ceph osd getmap -o FILE`",
        )
    return done.stdout.decode("utf-8", "replace")
