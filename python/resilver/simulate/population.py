"""How many files and objects of each size a population has, drawn by the core."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from resilver import _core, core_input
from resilver.checked import checked_seed, whole
from resilver.core_errors import core_errors
from resilver.errors import ConfigError, show
from resilver.spec import Population
from resilver.units import Bytes

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa


def census(
    population: Population,
    *,
    servers: int,
    copies: int,
    bytes: int | str | None = None,
    seed: int = 1,
    progress: Callable[[float], None] | None = None,
) -> pa.Table:
    """Draw a population and count its files and objects by size, without holding them.

    These are the files that a run of this seed stores, each of them drawn.

    Args:
        population: What is stored.
        servers: How many servers there are, for a volume a server and for stripe widths that follow
            the servers.
        copies: Copies of each object, for such stripe widths.
        bytes: The volume before replication, in bytes or with a unit such as ``"1 PiB"``, instead
            of the population's own; None for its own.
        seed: The seed of the run.
        progress: Called a few times a second with the fraction that is done.

    Returns:
        A table with a row for each class of sizes from the smallest that occurs to the largest,
        in powers of two: ``bin_min_bytes``, ``bin_max_bytes`` (the first size past the class),
        ``files``, ``file_bytes`` (what those files hold), ``objects``, ``object_bytes``. No row
        where nothing is stored.

    Raises:
        ConfigError: A number is out of range, or the population is larger than the core can number.

    >>> from resilver import Population
    >>> table = census(
    ...     Population(file_size="200 MiB", objects={"chunk": "64 MiB"}, files=2),
    ...     servers=4,
    ...     copies=3,
    ... )
    >>> table.select(["bin_min_bytes", "files", "objects"]).to_pylist()[-1]
    {'bin_min_bytes': 134217728, 'files': 2, 'objects': 0}
    >>> table["objects"].to_pylist()  # Of each file 64, 64, 64 and 8 MiB.
    [2, 0, 0, 6, 0]
    """
    import pyarrow as pa

    servers, copies = _counted("servers", servers), _counted("copies", copies)
    described = core_input.files_json(_of_volume(population, bytes, servers), servers, copies)
    seed = checked_seed(seed)
    with core_errors():
        counting = _core.PopulationCensus(json.dumps(described), seed)
        while not counting.is_complete():
            fraction = counting.advance()
            if progress is not None:
                progress(fraction)
    columns = counting.columns()
    present = np.flatnonzero((columns["files"] > 0) | (columns["objects"] > 0))
    rows = slice(int(present[0]), int(present[-1]) + 1) if present.size else slice(0, 0)
    # A file has at most 1 PiB, so neither edge of a class that occurs passes 2^51.
    edges = np.left_shift(np.int64(1), np.arange(columns["files"].size - 2, dtype=np.int64))
    return pa.table(
        {
            "bin_min_bytes": edges[rows],
            "bin_max_bytes": 2 * edges[rows],
            **{name: values[rows] for name, values in columns.items()},
        }
    )


def _of_volume(population: Population, volume: int | str | None, servers: int) -> Population:
    """The population, of another volume where one is asked for."""
    if volume is None:
        key = "bytes_per_server"
        own = population.volume_bytes(servers) if population.bytes_per_server else None
        if own is not None and (problems := list(population.volume_problems(own, key))):
            raise ConfigError(problems)
        return population
    size = Bytes(volume) if isinstance(volume, int) else Bytes.parse(volume)
    if size < 0:
        raise ConfigError("a volume is zero or more", key="bytes", value=show(volume))
    names = ("histogram", "file_size")
    kept = {name: getattr(population, name) for name in names}
    return Population(**kept, objects=population.cut, bytes=size)


def _counted(name: str, value: int) -> int:
    rule = f"{name} is a whole number from 1 to 2^31 - 1"
    return whole(name, value, least=1, most=2**31 - 1, rule=rule, remedy="")
