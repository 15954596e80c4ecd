"""A walk of a million files in memory, with and without its table, beside `du -s` and goals."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from pathlib import Path

FILES_GOAL_SECONDS, TIMES_DU_GOAL = 3.0, 2.0
FOLDERS, FILES, REPEATS = 1000, 1000, 3


def made(root: Path) -> None:
    """A tree of as many folders, with as many files each."""
    for number in range(FOLDERS):
        folder = root / f"p{number // 100:03d}" / f"run-{number:04d}"
        folder.mkdir(parents=True)
        for file in range(FILES):
            os.close(os.open(folder / f"out.{file:05d}.h5", os.O_CREAT | os.O_WRONLY))


def du_seconds(root: Path) -> float:
    """How long `du -s` takes."""
    begun = time.perf_counter()
    subprocess.run(["du", "-s", str(root)], check=True, capture_output=True)
    return time.perf_counter() - begun


def scan_seconds(root: Path, table: Path | None) -> float:
    """How long a walk takes, without the start of an interpreter."""
    from resilver.importers.scanned import scan
    from resilver.importers.walk import TreeWalk

    with TreeWalk(root, workers=os.cpu_count() or 1, with_rows=table is not None) as walk:
        return scan(walk, table).seconds


def main() -> None:
    """Print each figure beside its goal."""
    import pyarrow.parquet  # noqa: F401

    in_memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=in_memory if in_memory.is_dir() else None) as folder:
        tree, table = Path(folder) / "tree", Path(folder) / "usage.parquet"
        made(tree)
        # In turn, so that what else the machine does meets all of them; the least of each is told.
        took = [
            (du_seconds(tree), scan_seconds(tree, None), scan_seconds(tree, table))
            for _ in range(REPEATS)
        ]
    du, alone, written = (min(column) for column in zip(*took, strict=True))
    goal = FILES_GOAL_SECONDS * FOLDERS * FILES / 1e6
    print(f"walk      {alone:8.3f} s        goal {goal:g} s")
    print(f"table     {written:8.3f} s        goal {goal:g} s")
    print(f"du -s     {du / written:8.2f} times    goal {TIMES_DU_GOAL:g} times, of {du:.3f} s")


if __name__ == "__main__":
    main()
