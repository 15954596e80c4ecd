"""Shards: the finished runs of a folder, one directory a run, named by the run's key."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from resilver.columns import SHARD_SCHEMAS, TABLE_NAMES
from resilver.study.files import TEMPORARY_PREFIX, sha256_of, sync_file, sync_folder
from resilver.study.phases import STORING
from resilver.study.tables import read_parquet, run_row, shard_table, write_parquet

if TYPE_CHECKING:
    from resilver.simulate import RunResult

_COST_FILE = "cost.json"
_MARK = f"{TEMPORARY_PREFIX}mark-"
_SECONDS_BETWEEN_LOOKS = 0.2


@dataclass(frozen=True)
class Cost:
    """What a run cost to simulate, measured and so different every time.

    Attributes:
        wall_seconds: time spent in the simulation.
        peak_rss_bytes: largest resident memory of the worker during the run; null where the
            operating system does not tell.
        phase_seconds: time spent in each phase: placing, scanning, rebuilding and serving, which
            add up to `wall_seconds`, and storing, which comes after them. Empty where it was not
            measured.
    """

    wall_seconds: float
    peak_rss_bytes: int | None
    phase_seconds: Mapping[str, float] = field(default_factory=dict)

    def record(self) -> dict[str, Any]:
        """The cost as a JSON-able table."""
        return {
            "wall_seconds": self.wall_seconds,
            "peak_rss_bytes": self.peak_rss_bytes,
            "phase_seconds": dict(self.phase_seconds),
        }


class Shards:
    """The shards of one run folder.

    Args:
        folder: the `shards` directory inside a run folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, key: str, seed: int, output: RunResult, cost: Cost) -> None:
        """Store a finished run, whole or not at all.

        Args:
            key: the run's key.
            seed: the run's seed.
            output: the simulation's metrics and tables.

        Raises:
            OSError: the folder cannot be written, or its device is full.
            SimulationError: the output does not fit the tables' schema.
        """
        begun = time.perf_counter()
        tables = {"runs": run_row(key, seed, output.metrics)}
        for name in TABLE_NAMES[1:]:
            tables[name] = shard_table(name, key, getattr(output, name))
        with self._unfinished(key) as temporary:
            self._fill(temporary, tables, cost, begun)
            self._publish(temporary, key)

    def receive(self, key: str, files: Mapping[str, bytes]) -> None:
        """Store a shard that was written elsewhere, whole or not at all.

        Args:
            key: the run's key.
            files: the content of each of its files by name.

        Raises:
            OSError: the folder cannot be written, or its device is full.
        """
        with self._unfinished(key) as temporary:
            for name, content in files.items():
                path = temporary / name
                path.write_bytes(content)
                sync_file(path)
            sync_folder(temporary)
            self._publish(temporary, key)

    def content(self, key: str) -> dict[str, bytes]:
        """A shard as bytes that can be sent to where it is stored.

        Args:
            key: the run's key.

        Returns:
            The content of each of its files by name.
        """
        return {path.name: path.read_bytes() for path in sorted((self.folder / key).iterdir())}

    @contextlib.contextmanager
    def _unfinished(self, key: str) -> Iterator[Path]:
        """A folder for a shard that is being written, gone if that fails."""
        # Workers of several machines may write one shard at once, when one is thought dead: the
        # name says which is whose, and no two have one.
        temporary = self.folder / f"{TEMPORARY_PREFIX}{key}-{uuid.uuid4().hex}"
        temporary.mkdir()
        try:
            yield temporary
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise

    def mark(self, token: str) -> None:
        """Leave a mark by which workers elsewhere can tell that they see this very folder.

        Args:
            token: a name that no other folder has.
        """
        (self.folder / f"{_MARK}{token}").mkdir()

    def unmark(self, token: str) -> None:
        """Remove the mark.

        Args:
            token: its name.
        """
        with contextlib.suppress(OSError):
            (self.folder / f"{_MARK}{token}").rmdir()

    def is_marked(self, token: str) -> bool:
        """Whether this is the folder with the mark, and can be written.

        Args:
            token: the mark's name.
        """
        marked = (self.folder / f"{_MARK}{token}").is_dir()
        return marked and os.access(self.folder, os.R_OK | os.W_OK | os.X_OK)

    def wait_for(self, keys: Iterable[str], seconds: float) -> set[str]:
        """Look for shards that other machines have stored until all are seen.

        A network file system may go on for a while to say that a file is not there which it was
        asked for before; listing the folder is what makes it look again.

        Args:
            keys: run keys to look for.
            seconds: how long to look at most.

        Returns:
            The keys whose shards are intact.
        """
        wanted = set(keys)
        deadline = time.monotonic() + seconds
        while True:
            os.listdir(self.folder)
            seen = self.finished(wanted)
            if seen == wanted or time.monotonic() > deadline:
                return seen
            time.sleep(_SECONDS_BETWEEN_LOOKS)

    def _fill(self, temporary: Path, tables: dict[str, pa.Table], cost: Cost, begun: float) -> None:
        contents: dict[str, dict[str, Any]] = {}
        for name, table in tables.items():
            # Most runs have rows in a few of the tables; the others are no files.
            if table.num_rows == 0:
                continue
            path = temporary / f"{name}.parquet"
            write_parquet(path, [table], SHARD_SCHEMAS[name])
            sync_file(path)
            contents[path.name] = {"bytes": path.stat().st_size, "sha256": sha256_of(path)}
        # All of storing but this record itself and the rename, which take microseconds.
        phases = {**cost.phase_seconds, STORING: time.perf_counter() - begun}
        record = {**replace(cost, phase_seconds=phases).record(), "files": contents}
        cost_path = temporary / _COST_FILE
        cost_path.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        sync_file(cost_path)
        sync_folder(temporary)

    def _publish(self, temporary: Path, key: str) -> None:
        final = self.folder / key
        try:
            os.rename(temporary, final)
        except OSError:
            # A rename onto a directory that has content fails. A worker whose parent was killed can
            # finish the run that the next call has started too: both computed the same bytes, so
            # the first to arrive stays. Whatever stands there unreadable gives way.
            if not final.exists():
                raise
            if self.is_intact(key):
                shutil.rmtree(temporary, ignore_errors=True)
                return
            shutil.rmtree(final)
            os.rename(temporary, final)
        sync_folder(self.folder)

    def is_intact(self, key: str) -> bool:
        """Whether a run is stored and every byte of it is as it was written.

        Args:
            key: the run's key.

        Returns:
            False if the shard is missing or damaged, and then the run has to be done again.
        """
        folder = self.folder / key
        try:
            files = self._record(key)["files"]
            if not {"runs.parquet"} <= set(files) <= {f"{name}.parquet" for name in TABLE_NAMES}:
                return False
            for name, file in files.items():
                path = folder / name
                if path.stat().st_size != file["bytes"] or sha256_of(path) != file["sha256"]:
                    return False
        except (AttributeError, KeyError, OSError, TypeError, ValueError):
            return False
        return True

    def finished(self, keys: Iterable[str]) -> set[str]:
        """The runs that need not be done again.

        Args:
            keys: run keys to look for.

        Returns:
            The keys whose shards are intact.
        """
        return {key for key in keys if self.is_intact(key)}

    def discard_unfinished(self) -> None:
        """Remove what killed workers left half written."""
        for path in sorted(self.folder.glob(f"{TEMPORARY_PREFIX}*")):
            shutil.rmtree(path, ignore_errors=True)

    def discard(self, key: str) -> None:
        """Remove one shard, so that its run is done again.

        Args:
            key: the run's key.
        """
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(self.folder / key)

    def table(self, name: str, key: str) -> pa.Table:
        """One table of one run.

        Args:
            name: one of `TABLE_NAMES`.
            key: the run's key.

        Returns:
            The table in the shard's schema.
        """
        file = f"{name}.parquet"
        if file not in self._record(key)["files"]:
            return SHARD_SCHEMAS[name].empty_table()
        return read_parquet(self.folder / key / file)

    def cost(self, key: str) -> Cost:
        """What a finished run cost.

        Args:
            key: the run's key.

        Returns:
            Its wall time, peak memory and phases.
        """
        record = self._record(key)
        # Shards of earlier versions do not tell the phases.
        return Cost(
            record["wall_seconds"], record["peak_rss_bytes"], record.get("phase_seconds", {})
        )

    def _record(self, key: str) -> dict[str, Any]:
        text = (self.folder / key / _COST_FILE).read_text(encoding="utf-8")
        record = json.loads(text)
        if not isinstance(record, dict):
            raise ValueError(f"{_COST_FILE} is not a table")
        return record
