"""The dumps of a running cluster, from its own `ceph` command, by commands that only read."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

from resilver.errors import ConfigError
from resilver.importers.ceph.dumps import Dumps
from resilver.importers.ceph.kinds import KIND_OF, KINDS, Kind

CONNECT_SECONDS = 30
"""How long the command may try to reach the monitors."""

ATTEMPTS_MAX = 3
"""How often the dumps that hang together are fetched until the map stays the same meanwhile."""

# What must be of one epoch is fetched last, and the map after all else: groups may then be of an
# older map than the one that is kept, and never of a newer one.
_TOGETHER = ("pg_dump", "osd_df", "crush")
_MAP = "osd_dump"


def collect(*, seconds_max: float = 600, say: Callable[[str], None] = lambda _: None) -> Dumps:
    """Fetch the dumps of the cluster that `ceph` reaches from here.

    Args:
        seconds_max: How long a command may take, in seconds.
        say: Is told what goes on, a sentence each.

    Returns:
        The dumps, with their bytes. What is not needed and could not be fetched is left out, and
        said.

    Raises:
        ConfigError: There is no `ceph` here, it does not answer in time, or it refuses what is
            needed.
    """
    # Where nothing answers, the first command says so, and no other one waits for it.
    fetched = {_MAP: _needed(_MAP, seconds_max, say)}
    epoch = _epoch(fetched[_MAP])
    for kind in KINDS:
        if not kind.collected or kind.name in (*_TOGETHER, _MAP):
            continue
        say(f"fetching {kind.words}")
        try:
            fetched[kind.name] = _run(kind, seconds_max)
        except _Refused as error:
            say(f"left out {kind.words}: {error}")
    for _ in range(ATTEMPTS_MAX):
        for name in _TOGETHER:
            fetched[name] = _needed(name, seconds_max, say)
        fetched[_MAP] = _needed(_MAP, seconds_max, say)
        before, epoch = epoch, _epoch(fetched[_MAP])
        if before == epoch:
            break
        say(f"the map went from epoch {before} to {epoch} meanwhile")
    dumps = Dumps(Path("live"))
    for name, data in fetched.items():
        dumps.take(f"{name}.json", data, keep=True)
    return dumps


class _Refused(Exception):
    """A command that ended with an error, or not in time."""


def _needed(name: str, seconds_max: float, say: Callable[[str], None]) -> bytes:
    kind = KIND_OF[name]
    say(f"fetching {kind.words}")
    try:
        return _run(kind, seconds_max)
    except _Refused as error:
        raise ConfigError(
            f"{kind.words} failed: {error}",
            "check that `ceph status` answers here, with a key that may read (`mon 'allow r', "
            "mgr 'allow r'`)",
        ) from None


def _run(kind: Kind, seconds_max: float) -> bytes:
    command = ["ceph", "--connect-timeout", str(CONNECT_SECONDS), *kind.command, "-f", "json"]
    try:
        done = subprocess.run(
            command, capture_output=True, stdin=subprocess.DEVNULL, timeout=seconds_max
        )
    except FileNotFoundError:
        raise ConfigError(
            "the command `ceph` is not here",
            "run this on a machine with it, such as in `cephadm shell`, or give a folder with "
            "what its commands printed",
        ) from None
    except subprocess.TimeoutExpired:
        raise _Refused(f"it did not answer within {seconds_max:g} s") from None
    except OSError as error:
        raise _Refused(error.strerror or str(error)) from None
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        last = "".join(letter for letter in said[-1][:200] if letter.isprintable()) if said else ""
        raise _Refused(last or f"it ended with status {done.returncode}")
    return done.stdout


def _epoch(data: bytes) -> int:
    dumps = Dumps(Path("live"))
    dumps.take("osd_dump.json", data)
    node = dumps.get("osd_dump")
    if node is None:
        raise ConfigError("`ceph osd dump` printed no OSD map; check that it is Ceph's `ceph`")
    return node.at("epoch").integer(0)
