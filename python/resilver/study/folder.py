"""The run folder: who may write it, what it says about itself, and its tables put together."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import socket
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from resilver.columns import SHARD_SCHEMAS, TABLE_NAMES
from resilver.errors import ConfigError
from resilver.study.files import TEMPORARY_PREFIX, keep_input, replace_file, replace_text, sha256_of
from resilver.study.heartbeat import STATUS_FILE
from resilver.study.provenance import (
    PROVENANCE_FILE,
    SHARDS_FOLDER,
    STUDY_FILE,
    current_version,
    difference_of,
    fresh_provenance,
    read_provenance,
    recorded,
    results_version,
    timestamp,
)
from resilver.study.shards import Shards
from resilver.study.tables import swept_columns, with_swept, write_parquet
from resilver.text import KEPT_FOLDER

if TYPE_CHECKING:
    from resilver.spec import Run, Study

_LOCK_FILE = ".lock"

# A run's shard takes tens of kilobytes; a device that cannot take one mebibyte is full.
_PROBE_BYTES = 1 << 20


class RunFolder:
    """A run folder that this process may write, for as long as the lock is held.

    Use as a context manager; `prepare` checks everything that can be checked before a run starts.

    Args:
        path: the folder, made if it does not exist.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.shards = Shards(path / SHARDS_FOLDER)
        self.provenance: dict[str, Any] = {}
        self._lock: int | None = None

    def __enter__(self) -> RunFolder:
        """Make the folder if need be and lock it.

        Raises:
            ConfigError: it cannot be written, holds other things, or another process writes it.
        """
        try:
            self._refuse_foreign()
            self.path.mkdir(parents=True, exist_ok=True)
            self._take_lock()
        except OSError as error:
            raise ConfigError(_cannot_write(self.path, error)) from error
        return self

    def __exit__(self, *_: object) -> None:
        """Give the lock back, and leave no word of who had it."""
        if self._lock is not None:
            os.ftruncate(self._lock, 0)
            os.close(self._lock)
            self._lock = None

    def _refuse_foreign(self) -> None:
        if self.path.exists() and not self.path.is_dir():
            rule = f"output folder {str(self.path)!r} is a file; choose a folder with -o DIR"
            raise ConfigError(rule)
        if not self.path.exists() or (self.path / PROVENANCE_FILE).exists():
            return
        own = {_LOCK_FILE, STUDY_FILE, SHARDS_FOLDER, KEPT_FOLDER}
        for entry in sorted(self.path.iterdir()):
            if entry.name not in own and not entry.name.startswith(TEMPORARY_PREFIX):
                raise ConfigError(
                    f"output folder {str(self.path)!r} holds {entry.name!r} and no results of "
                    "resilver; choose an empty or new folder with -o DIR"
                )

    def _take_lock(self) -> None:
        descriptor = os.open(self.path / _LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
                holder = os.read(descriptor, 200).decode("utf-8", "replace").strip()
                os.close(descriptor)
                raise ConfigError(
                    f"output folder {str(self.path)!r} is being written by another resilver "
                    f"({holder or 'unknown process'}); wait for it, or choose another with -o DIR"
                ) from error
            if error.errno not in (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS):
                os.close(descriptor)
                raise
            # Some cluster file systems are mounted without locks. Shards are still published by
            # rename, so two runs at once waste work there but do not corrupt anything.
        self._lock = descriptor
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)

    def check(self, study: Study, runs: Sequence[Run]) -> None:
        """Refuse a folder that `prepare` would refuse; nothing is made, locked or written.

        Raises:
            ConfigError: the folder belongs to another study, or is no run folder.
        """
        self._refuse_foreign()
        keys = [run.key for run in runs]
        previous = self._previous(keys)
        if previous:
            self._refuse_other_study(previous, _resolved(study), keys)

    def prepare(self, study: Study, runs: Sequence[Run], command: Sequence[str]) -> None:
        """Check that the folder is this study's and say so in it.

        Args:
            runs: its runs, in order.
            command: the command line, for the record.

        Raises:
            ConfigError: the folder belongs to another study, or cannot be written.
        """
        keys = [run.key for run in runs]
        previous = self._previous(keys)
        resolved = _resolved(study)
        if previous:
            self._refuse_other_study(previous, resolved, keys)
        same = bool(previous) and previous.get("run_keys") == keys
        if same and previous["study"] == resolved:
            self.provenance = previous
        else:
            self.provenance = fresh_provenance(resolved, runs, command)
        self.provenance["assumptions"] = [one.record() for one in study.assumptions()]
        self.provenance["chances"] = list(study.chances())
        if self.is_current():
            # Nothing is written, and where nothing can be, what was left behind may stay.
            with contextlib.suppress(OSError):
                self._sweep_up()
            return
        self.provenance["state"] = "incomplete"
        self.provenance["command"] = recorded(command)
        try:
            self._probe_space()
            self.shards.folder.mkdir(exist_ok=True)
            self._sweep_up()
            text = study.to_toml(lambda path: keep_input(path, self.path))
            replace_text(self.path / STUDY_FILE, text)
            self._write_provenance()
        except OSError as error:
            raise ConfigError(_cannot_write(self.path, error)) from error

    def _sweep_up(self) -> None:
        """Remove what a killed process left behind: files half written, and its sign of life."""
        self.shards.discard_unfinished()
        for path in self.path.glob(f"{TEMPORARY_PREFIX}*"):
            path.unlink(missing_ok=True)
        # Where no sign of life can be written, none can be removed, and runs go on without one.
        with contextlib.suppress(OSError):
            (self.path / STATUS_FILE).unlink(missing_ok=True)

    def _previous(self, keys: Sequence[str]) -> dict[str, Any]:
        try:
            return read_provenance(self.path)
        except FileNotFoundError:
            return {}
        except ConfigError:
            # A corrupt one is written anew where the finished runs say whose the folder is.
            if self.shards.finished(keys):
                return {}
            raise

    def _refuse_other_study(
        self, previous: Mapping[str, Any], resolved: Mapping[str, Any], keys: Sequence[str]
    ) -> None:
        # A study that contains every run of the folder extends it, and finished runs are reused.
        if set(previous["run_keys"]) <= set(keys):
            return
        # Where no run has finished, as when its cluster could not be reached, nothing is lost.
        if previous["state"] != "complete" and not self.shards.finished(previous["run_keys"]):
            return
        here, results = current_version(), results_version()
        if previous["resilver_version"] != here:
            difference = f"made by resilver {previous['resilver_version']}, and this is {here}"
        elif (written := previous.get("schema_version", results)) != results:
            difference = f"its results are of version {written}, and those written now of {results}"
        else:
            difference = difference_of(previous["study"], resolved)
        raise ConfigError(
            f"output folder {str(self.path)!r} belongs to another study: {difference}; "
            "choose another folder with -o DIR"
        )

    def _probe_space(self) -> None:
        probe = self.path / f"{TEMPORARY_PREFIX}probe-{os.getpid()}"
        try:
            with probe.open("wb") as file:
                file.write(bytes(_PROBE_BYTES))
                file.flush()
                os.fsync(file.fileno())
        finally:
            probe.unlink(missing_ok=True)

    def is_current(self) -> bool:
        """Whether the tables of every run are there, whole, and described by the provenance."""
        if self.provenance.get("state") != "complete":
            return False
        try:
            for name in TABLE_NAMES:
                known = self.provenance["tables"][name]
                if sha256_of(self.path / f"{name}.parquet") != known["sha256"]:
                    return False
            return (self.path / STUDY_FILE).exists()
        except (OSError, KeyError):
            return False

    def finish(
        self, runs: Sequence[Run], finished: set[str], failures: Sequence[Mapping[str, Any]]
    ) -> None:
        """Put the finished runs' tables together and record what they are.

        Args:
            runs: the study's runs, in order.
            finished: keys of the runs that have a shard.
            failures: run, seed, swept values and message of every run that failed.

        Raises:
            OSError: the folder cannot be written, or its device is full.
        """
        present = [run for run in runs if run.key in finished]
        keys = list(dict.fromkeys(run.key for run in present))
        self._put_together(runs, present, keys)
        complete = len(present) == len(runs)
        costs = {key: self.shards.cost(key) for key in keys}
        self.provenance.update(
            state="complete" if complete else "incomplete",
            finished=timestamp(),
            failures=list(failures),
            runs={key: cost.record() for key, cost in costs.items()},
            tables={
                name: {
                    "bytes": (self.path / f"{name}.parquet").stat().st_size,
                    "sha256": sha256_of(self.path / f"{name}.parquet"),
                }
                for name in TABLE_NAMES
            },
        )
        # The provenance is replaced last: only tables that it describes count as results.
        self._write_provenance()

    def _put_together(
        self, runs: Sequence[Run], present: Sequence[Run], keys: Sequence[str]
    ) -> None:
        rows = [self.shards.table("runs", run.key) for run in present]
        table = pa.concat_tables(rows) if rows else SHARD_SCHEMAS["runs"].empty_table()
        # A swept column's type follows from all values of the sweep, so that the tables of an
        # interrupted sweep have the columns of the whole one.
        stored = set(keys)
        positions = [index for index, run in enumerate(runs) if run.key in stored]
        swept = swept_columns([run.swept for run in runs])
        table = with_swept(
            table, {key: c.take(pa.array(positions, pa.int64())) for key, c in swept.items()}
        )
        for name in TABLE_NAMES[1:]:
            shards = (self.shards.table(name, key) for key in keys)
            self._replace_table(name, shards, SHARD_SCHEMAS[name])
        self._replace_table("runs", [table], table.schema, last=True)

    def _replace_table(
        self, name: str, tables: Iterable[pa.Table], schema: pa.Schema, *, last: bool = False
    ) -> None:
        path = self.path / f"{name}.parquet"
        replace_file(path, lambda temporary: write_parquet(temporary, tables, schema), last=last)

    def _write_provenance(self) -> None:
        text = json.dumps(self.provenance, indent=1, sort_keys=True, allow_nan=False) + "\n"
        replace_text(self.path / PROVENANCE_FILE, text)


def _cannot_write(path: Path, error: OSError) -> str:
    reason = error.strerror or str(error)
    return f"output folder {str(path)!r} cannot be written: {reason}; choose another with -o DIR"


def _resolved(study: Study) -> dict[str, Any]:
    """A study as resolved, through JSON and back, so that it compares with a folder's file."""
    made: dict[str, Any] = json.loads(json.dumps(study.resolved(), allow_nan=False))
    return made


@contextlib.contextmanager
def open_run_folder(
    path: Path, study: Study, runs: Sequence[Run], command: Sequence[str]
) -> Iterator[RunFolder]:
    """Lock and prepare a run folder for a study.

    Args:
        runs: its runs, in order.
        command: the command line, for the record.

    Yields:
        The folder, ready for shards.

    Raises:
        ConfigError: it cannot be written, is locked, or belongs to another study.
    """
    with RunFolder(path) as folder:
        folder.prepare(study, runs, command)
        yield folder
