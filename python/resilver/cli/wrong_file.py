"""A file that a command does not read: what it is, and which command reads it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from shlex import quote

from resilver.errors import ConfigError

_READERS = {
    "lot": "resilver profile {}",
    "study": "resilver run {}",
    "machine": "resilver route {}",
    "sizing": "resilver size {}",
    "plan": "resilver what-if DUMPS --plan {}",
    "signature": "resilver signature compare {} OTHER.toml",
    "run": "resilver report {}",
    "scan": "resilver usage {}",
    "cluster": "resilver what-if {}",
    "dump": "resilver what-if FOLDER",
    "map": "resilver crush {} --tree",
    "log": "resilver import logs {}",
    "benchmark": "resilver import benchmark {}",
    "csv": "resilver quality {}",
}
"""The command that reads each kind of file first."""

_MORE = {
    "dump": " reads it beside the cluster's other dumps",
    "csv": " reads runs of a benchmark over time",
}


def wrong_file(reads: Sequence[str], files: Iterable[object]) -> ConfigError | None:
    """What to say of a file that a command was given and does not read.

    Args:
        reads: The kinds of file that the command reads, keys of `_READERS`.
        files: Its arguments, of which those that are no files are passed over.

    Returns:
        The error that names the file's kind and its command; None where no file is of another kind.
    """
    from resilver.importers.recognized import file_kind

    for file in files:
        kind = file_kind(Path(str(file)))
        if kind is None or kind.name in reads:
            continue
        name = str(file)
        if kind.name not in _READERS:
            return ConfigError(f"{name} is {kind.words}, which no command reads; name another file")
        command = _READERS[kind.name].format(quote(name))
        return ConfigError(
            f"{name} is {kind.words}: `{command}`{_MORE.get(kind.name, ' reads it')}"
        )
    return None
