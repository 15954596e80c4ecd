"""The file sizes of a live directory tree."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from resilver.errors import ConfigError, show
from resilver.importers.left_out import printable
from resilver.importers.sizes.measured import MeasuredSizes
from resilver.importers.sizes.tally import Tally
from resilver.importers.walk import WORKERS_DEFAULT, TreeWalk, WalkProgress
from resilver.text import refuse

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa


def scan_tree(
    folder: str | Path,
    *,
    one_file_system: bool = False,
    hard_links: Literal["once", "each"] = "once",
    threads: int = WORKERS_DEFAULT,
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
    if hard_links not in ("once", "each"):
        rule = 'files of several names count "once" or "each"'
        raise ConfigError(rule, key="hard_links", value=show(hard_links))
    tally = Tally()
    with TreeWalk(
        folder, workers=threads, one_file_system=one_file_system, every_name=hard_links == "each"
    ) as walk:
        for batch in walk.batches(progress):
            tally.add(file_sizes(batch))
        left_out = walk.left_out(tally.too_large_count)
    if tally.files == 0:
        said = "; " + "; ".join(left_out.examples) if left_out.examples else ""
        refuse(printable(str(walk.root)), f"there is no file below it that can be read{said}")
    return MeasuredSizes(str(walk.root), tally, left_out)


def file_sizes(batch: pa.RecordBatch) -> npt.NDArray[np.int64]:
    """The apparent sizes of the files among rows of a walk."""
    import pyarrow.compute as pc

    is_file = pc.equal(batch.column("kind"), "file")
    sizes: npt.NDArray[np.int64] = batch.column("size_bytes").filter(is_file).to_numpy()
    return sizes
