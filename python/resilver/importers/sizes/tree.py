"""The file sizes of a live directory tree.

Threads walk it together, since what a walk waits for is the file system: on one that answers over
a network, the answers of many folders are awaited at once. Nothing is kept but the tally, the
folders that are still to be read, and the numbers of files that have several names.
"""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from resilver.errors import ConfigError, Problem, show
from resilver.importers.sizes.measured import LeftOut, MeasuredSizes, printable
from resilver.importers.sizes.tally import Tally
from resilver.importers.text import refuse

THREADS_DEFAULT = 8
THREADS_MAX = 256
_ENTRIES_A_TIME = 4096
_SIZES_A_TIME = 65_536
_EXAMPLES = 5
_PROGRESS_SECONDS = 0.1


class WalkProgress(NamedTuple):
    """How far a walk is; how much is left is not known before its end.

    Attributes:
        files: Files counted.
        folders: Folders read.
        pending: Folders found and not yet read.
        seconds: Time since the beginning.
    """

    files: int
    folders: int
    pending: int
    seconds: float


def scan_tree(
    folder: str | Path,
    *,
    one_file_system: bool = False,
    hard_links: Literal["once", "each"] = "once",
    threads: int = THREADS_DEFAULT,
    progress: Callable[[WalkProgress], None] | None = None,
) -> MeasuredSizes:
    """Measure the files below a folder by their apparent size (``st_size``).

    Args:
        folder: The folder. It may be a symbolic link; those below it are not followed.
        one_file_system: Stay out of folders on which another file system is mounted.
        hard_links: Whether a file of several names counts once or by each name.
        threads: How many threads read folders at once.
        progress: Called a few times a second, and once at the end.

    Returns:
        The sizes, and what was left out: what cannot be read is counted and does not end the walk.

    Raises:
        ConfigError: The folder itself cannot be read, no file is below it, or an option is out of
            range.
    """
    if isinstance(threads, bool) or not isinstance(threads, int) or not 1 <= threads <= THREADS_MAX:
        rule = f"threads is a whole number from 1 to {THREADS_MAX}"
        raise ConfigError(Problem(rule, key="threads", value=show(threads)))
    if hard_links not in ("once", "each"):
        rule = 'files of several names count "once" or "each"'
        raise ConfigError(Problem(rule, key="hard_links", value=show(hard_links)))
    root = Path(folder).expanduser()
    device = _check_root(root)
    walk = _Walk(str(root), device if one_file_system else None, hard_links == "once")
    walk.run(threads, progress)
    left_out = walk.left_out()
    if walk.tally.files == 0:
        said = "; " + "; ".join(left_out.examples) if left_out.examples else ""
        refuse(printable(str(root)), f"there is no file below it that can be read{said}")
    return MeasuredSizes(str(root), walk.tally, left_out)


def _check_root(root: Path) -> int:
    """The device that the folder is on.

    Raises:
        ConfigError: It is no folder that can be read.
    """
    try:
        with os.scandir(root):
            return root.stat().st_dev
    except FileNotFoundError:
        refuse(printable(str(root)), "there is no such folder", "check the path")
    except NotADirectoryError:
        refuse(printable(str(root)), "this is not a folder", "a listing is read without --scan")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        refuse(printable(str(root)), f"the folder cannot be read: {reason}")


@dataclass
class _Found:
    """What a thread has found since it last handed over."""

    sizes: list[int] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    linked: list[tuple[int, int, int, int]] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)
    examples: list[str] = field(default_factory=list)

    def leave_out(self, name: str) -> None:
        """Count what is not measured."""
        self.left_out[name] = self.left_out.get(name, 0) + 1

    def clear(self) -> None:
        """Begin anew, after a hand-over in the middle of a large folder."""
        for part in (self.sizes, self.folders, self.linked, self.left_out, self.examples):
            part.clear()

    def failed(self, path: str, error: OSError) -> None:
        """Count what could not be read: gone in the meantime, or not readable."""
        if isinstance(error, FileNotFoundError):
            self.leave_out("vanished")
            return
        self.leave_out("unreadable")
        if len(self.examples) < _EXAMPLES:
            self.examples.append(f"{printable(path)}: {error.strerror or error}")


class _Walk:
    """A walk under way: what is shared by its threads, all of it behind one lock."""

    def __init__(self, root: str, device: int | None, count_once: bool) -> None:
        self.tally = Tally()
        self._device = device
        self._count_once = count_once
        self._lock = threading.Condition()
        self._pending = [root]
        self._busy = 0
        self._sizes: list[int] = []
        self._counted = 0
        self._folders = 0
        self._left_out: dict[str, int] = {}
        self._examples: list[str] = []
        # The names of a file that are still to come, by (device, inode).
        self._names_left: dict[tuple[int, int], int] = {}
        self._stopped = False
        self._error: BaseException | None = None

    def run(self, threads: int, progress: Callable[[WalkProgress], None] | None) -> None:
        """Walk the tree to its end.

        Raises:
            ConfigError: The files hold too much.
        """
        start = time.monotonic()
        # A thread that waits for a file system that answers no more must not keep the process.
        workers = [threading.Thread(target=self._work, daemon=True) for _ in range(threads)]
        for worker in workers:
            worker.start()
        try:
            for worker in workers:
                while worker.is_alive():
                    worker.join(_PROGRESS_SECONDS)
                    if progress is not None:
                        progress(self._progress(start))
            if progress is not None:
                progress(self._progress(start))
        finally:
            self._stop(None)
        if self._error is not None:
            raise self._error
        self._count_sizes()

    def left_out(self) -> LeftOut:
        """What was not counted, with the first of the reasons by name."""
        large = {"too_large": self.tally.too_large_count} if self.tally.too_large_count else {}
        examples = tuple(sorted(self._examples)[:_EXAMPLES])
        return LeftOut(**self._left_out, **large, examples=examples)

    def _progress(self, start: float) -> WalkProgress:
        with self._lock:
            pending = len(self._pending) + self._busy
            files = self._counted + len(self._sizes)
            return WalkProgress(files, self._folders, pending, time.monotonic() - start)

    def _stop(self, error: BaseException | None) -> None:
        with self._lock:
            self._stopped = True
            self._error = self._error or error
            self._lock.notify_all()

    def _work(self) -> None:
        try:
            while (folder := self._take()) is not None:
                found = _Found()
                try:
                    self._read(folder, found)
                except OSError as error:
                    found.failed(folder, error)
                self._hand_over(found)
                self._end_folder()
        except BaseException as error:
            self._stop(error)

    def _take(self) -> str | None:
        """The next folder; None when all is done. The last one found is taken first, so that few
        are pending at a time.
        """
        with self._lock:
            while not self._pending and self._busy and not self._stopped:
                self._lock.wait()
            if self._stopped or not self._pending:
                self._lock.notify_all()
                return None
            self._busy += 1
            return self._pending.pop()

    def _read(self, folder: str, found: _Found) -> None:
        with os.scandir(folder) as entries:
            for count, entry in enumerate(entries, 1):
                try:
                    self._look(entry, found)
                except OSError as error:
                    found.failed(entry.path, error)
                if count % _ENTRIES_A_TIME == 0:
                    self._hand_over(found)
                    found.clear()
                    if self._stopped:
                        return

    def _look(self, entry: os.DirEntry[str], found: _Found) -> None:
        if entry.is_symlink():
            found.leave_out("symbolic_links")
        elif entry.is_dir(follow_symlinks=False):
            device = self._device
            if device is not None and entry.stat(follow_symlinks=False).st_dev != device:
                found.leave_out("other_file_systems")
            else:
                found.folders.append(entry.path)
        else:
            status = entry.stat(follow_symlinks=False)
            if not stat.S_ISREG(status.st_mode):
                found.leave_out("special_files")
            elif status.st_nlink > 1 and self._count_once:
                found.linked.append((status.st_dev, status.st_ino, status.st_nlink, status.st_size))
            else:
                found.sizes.append(status.st_size)

    def _hand_over(self, found: _Found) -> None:
        """Add what was found to what is shared."""
        with self._lock:
            for device, inode, names, size in found.linked:
                left = self._names_left.pop((device, inode), 0)
                if left:
                    found.leave_out("further_names")
                else:
                    found.sizes.append(size)
                    left = names
                if left > 1:
                    self._names_left[device, inode] = left - 1
            self._sizes += found.sizes
            if len(self._sizes) >= _SIZES_A_TIME:
                self._count_sizes()
            for name, count in found.left_out.items():
                self._left_out[name] = self._left_out.get(name, 0) + count
            self._examples = [*self._examples, *found.examples][:_EXAMPLES]
            self._pending += found.folders
            self._lock.notify_all()

    def _end_folder(self) -> None:
        with self._lock:
            self._busy -= 1
            self._folders += 1
            self._lock.notify_all()

    def _count_sizes(self) -> None:
        self.tally.add(self._sizes)
        self._counted += len(self._sizes)
        self._sizes = []
