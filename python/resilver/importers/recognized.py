"""What a file is, by its content, for whoever was given one that it does not read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resilver.errors import ConfigError
from resilver.importers import brw_stats, darshan, job_stats, lctl, lfs_df, lnetctl, scanned, tokio
from resilver.importers.benchmarks import READERS
from resilver.importers.ceph import kinds
from resilver.importers.packed import HEAD_BYTES, is_packed
from resilver.text import decode, read_bytes, read_toml

_TOML = {
    "lot": ("lot",),
    "study": ("cluster", "study", "population", "redundancy", "faults"),
    "machine": ("routers", "storage"),
    "sizing": ("demand", "offers", "capacity"),
    "plan": ("steps",),
    "signature": ("period", "volume"),
}
"""What each file of ours has at its top, one of these keys; the first that fits first."""

_WORDS = {
    "lot": "a lot of disks",
    "study": "a study",
    "machine": "a machine file",
    "sizing": "a sizing file",
    "plan": "a plan of changes",
    "signature": "the signature of a job",
    "run": "a run folder",
    "scan": "the table of a scan",
    "parquet": "a Parquet table",
    "map": "a CRUSH map",
    "log": "a log of servers or jobs",
    "benchmark": "output of a benchmark program",
    "page": "a page for a browser",
    "csv": "a table in CSV",
}

_LOGS = (
    lctl.is_dump,
    job_stats.is_job_stats,
    brw_stats.is_brw_stats,
    lnetctl.is_lnetctl,
    lctl.is_devices,
    lfs_df.is_df,
)


_FILES_MAX = 100
"""Files of a folder that are looked at."""


@dataclass(frozen=True)
class FileKind:
    """A kind of file.

    Attributes:
        name: Its name: a key of those above, "cluster" for a whole cluster's dumps, or "dump" for
            one of the dumps of a cluster.
        words: It in words, with an article.
    """

    name: str
    words: str


def file_kind(path: Path) -> FileKind | None:
    """What a file or a folder is.

    Returns:
        Its kind; None where it is not there, or nothing that is known.
    """
    try:
        if path.is_dir():
            return _of_folder(path)
        return _of_file(path) if path.is_file() else None
    except (ConfigError, OSError, ValueError):
        return None


def _named(name: str) -> FileKind:
    return FileKind(name, _WORDS[name])


def _of_folder(path: Path) -> FileKind | None:
    if (path / "provenance.json").is_file() or (path / "study.toml").is_file():
        return _named("run")
    # A cluster's dumps stand in a folder or one below it, and are not many.
    files = [file for pattern in ("*", "*/*") for file in path.glob(pattern) if file.is_file()]
    for file in sorted(files)[:_FILES_MAX]:
        with file.open("rb") as opened:
            if not kinds.looks_like_dump(opened.read(HEAD_BYTES)):
                continue
        kind = file_kind(file)
        if kind is not None and kind.name in ("cluster", "dump", "map"):
            return FileKind("cluster", "a folder of a cluster's dumps")
    return None


def _of_file(path: Path) -> FileKind | None:
    if path.suffix.lower() == ".toml":
        table = read_toml(path)
        found = (name for name, keys in _TOML.items() if not table.keys().isdisjoint(keys))
        name = next(found, None)
        return _named(name) if name else None
    if scanned.is_scan(path):
        return _named("scan" if _is_read(scanned.read_scanned, path) else "parquet")
    if darshan.is_darshan(path):
        return _named("log")
    data = read_bytes(path)
    if data.startswith(tokio.MAGIC):
        return _named("log")
    if is_packed(data[:HEAD_BYTES]):
        return FileKind("cluster", "an archive of a cluster's dumps")
    if kind := kinds.binary_kind(data):
        is_map = kind == kinds.CRUSH_FILE
        return _named("map") if is_map else FileKind("cluster", "a binary OSD map")
    return _of_text(decode(data, path), data, path)


def _of_text(text: str, data: bytes, path: Path) -> FileKind | None:
    if any(knows(text) for knows, _ in READERS):
        return _named("benchmark")
    if any(knows(text) for knows in _LOGS):
        return _named("log")
    if text.lstrip()[:15].lower() == "<!doctype html>":
        return _named("page")
    if kinds.looks_like_dump(data):
        kind = kinds.kind_of(kinds.parse_dump(data, path))
        if kind == "crush":
            return _named("map")
        name = "cluster" if kind in ("report", "state") else "dump"
        return FileKind(name, f"a {kinds.words_of(kind)}") if kind else None
    return _named("csv") if "," in text.partition("\n")[0] else None


def _is_read(read: Any, path: Path) -> bool:
    try:
        read(path)
    except ConfigError:
        return False
    return True
