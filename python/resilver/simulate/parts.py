"""One run's scan in parts: ranges of files looked through alone, then a run made of what they hold.

A population too large for one worker is mapped over many, each scanning a range of files, and
reduced to the one run that moves the data. The result is that of `simulate`, to the byte.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resilver import _core, core_input
from resilver.checked import whole
from resilver.core_errors import core_errors
from resilver.errors import ConfigError
from resilver.simulate.maps import maps_of
from resilver.simulate.progress import Progress
from resilver.simulate.result import RunResult
from resilver.simulate.stepping import finished
from resilver.spec import System

_FILE_BITS = 28
"""Bits of an object's number that count the objects of its file."""


@dataclass(frozen=True, eq=False)
class PartOfPopulation:
    """What a range of files holds, and what of it had a copy on a failed device.

    Attributes:
        first_file: The number of the first file.
        files: How many files there are.
        objects: How many objects they divide into.
        bytes: Their volume, before replication.
        affected_objects: The numbers of the affected objects, rising.
        affected_bytes: The size of each.
        is_last: Whether the population ends in this part.
    """

    first_file: int
    files: int
    objects: int
    bytes: int
    affected_objects: npt.NDArray[np.uint64]
    affected_bytes: npt.NDArray[np.uint64]
    is_last: bool


class PopulationScan:
    """The scan of a system's population for what a run's failures touch, range by range.

    Any range gives the same answer in any order, on any worker.

    Args:
        system: The system. Its placement groups are placed here, where it has any.
        seed: The key of every random draw, as for `simulate`.

    Raises:
        ConfigError: The system cannot be built.
        PlacementError: Its CRUSH map cannot be used.

    >>> from resilver import Study
    >>> study = Study.from_dict({
    ...     "cluster": {"servers": 8},
    ...     "population": {"file_size": "64 MiB", "files": 100},
    ...     "placement": {"algorithm": "ring", "placement_groups": "none"},
    ...     "faults": [{"fail": {"servers": 1}}],
    ... })
    >>> run = study.runs()[0]
    >>> scan = PopulationScan(run.system, run.seed)
    >>> parts = [scan.scan(first, 40) for first in (80, 0, 40)]
    >>> [(part.first_file, part.files, part.is_last) for part in parts]
    [(80, 20, True), (0, 40, False), (40, 40, False)]
    >>> simulate_found(run.system, run.seed, parts).metrics["population_objects"]
    100
    """

    def __init__(self, system: System, seed: int) -> None:
        with core_errors(f"seed {seed}"):
            self._core = _core.PopulationScan(core_input.core_json(system, seed), maps_of(system))

    @property
    def expected_files(self) -> int:
        """About how many files there are; exact where the study says a number of files."""
        return self._core.expected_files()

    @property
    def can_split(self) -> bool:
        """Whether there are files to scan in parts; several pools are searched as a whole."""
        return self._core.can_split()

    def scan(self, first_file: int, files: int) -> PartOfPopulation:
        """What a range of files holds, as if the population's volume had no end.

        A number of files that the study gives is an end all the same.

        Args:
            first_file: The number of the first file, from 0.
            files: How many files.

        Returns:
            The part. `is_last` tells only of an end by number.

        Raises:
            ConfigError: The numbers are none, or the range is too large; or `can_split` is False.
        """
        return self._part(first_file, files, None)

    def scan_to_end(self, first_file: int, files: int, bytes_before: int) -> PartOfPopulation:
        """What a range of files holds, up to the population's end where that lies in it.

        Args:
            first_file: The number of the first file, from 0.
            files: How many files.
            bytes_before: What all files before the first hold, in bytes.

        Returns:
            The part, with fewer files where the population ends within it. `is_last` tells of an
            end before the range's last file, or by number.

        Raises:
            ConfigError: As for `scan`.
        """
        return self._part(first_file, files, _counted("bytes_before", bytes_before))

    def _part(self, first_file: int, files: int, bytes_before: int | None) -> PartOfPopulation:
        first, count = _counted("first_file", first_file), _counted("files", files)
        with core_errors():
            return PartOfPopulation(first, *self._core.scan(first, count, bytes_before))


def simulate_found(
    system: System,
    seed: int,
    parts: Iterable[PartOfPopulation],
    progress: Callable[[Progress], bool] | None = None,
) -> RunResult:
    """Run one system whose population was scanned in parts.

    Args:
        parts: What scans of the same system and seed found, in any order. Together they hold every
            file once, and the population ends in the last of them.
        progress: As for `simulate`.

    Returns:
        What `simulate` returns, to the byte.

    Raises:
        ConfigError: Parts are missing, meet twice, or are of another system or seed.
        PlacementError: The CRUSH map cannot be used.
        SimulationError: The run passed the time horizon or broke a conservation law.
        Interrupted: `progress` answered False.
    """
    ordered = _in_order(parts)
    totals = (
        sum(part.files for part in ordered),
        sum(part.objects for part in ordered),
        sum(part.bytes for part in ordered),
    )
    affected = [part.affected_objects for part in ordered]
    sizes = [part.affected_bytes for part in ordered]
    with core_errors(f"seed {seed}"):
        text = core_input.core_json(system, seed)
        simulation = _core.Simulation.with_found(text, maps_of(system), totals, affected, sizes)
        return finished(system, seed, simulation, progress)


def _in_order(parts: Iterable[PartOfPopulation]) -> list[PartOfPopulation]:
    # Where a part is empty, the one that begins with it comes behind.
    ordered = sorted(parts, key=lambda part: (part.first_file, part.files, part.is_last))
    next_file = 0
    for part in ordered:
        if part.first_file != next_file:
            what = "meet twice" if part.first_file < next_file else "are missing"
            raise _wrong(
                f"files {min(part.first_file, next_file)} to "
                f"{max(part.first_file, next_file) - 1} {what}; every file must be in one part"
            )
        if not _lists_its_own(part):
            raise _wrong(
                f"the part from file {part.first_file} lists objects that are not its files'"
            )
        next_file += part.files
    if not ordered or not ordered[-1].is_last:
        raise _wrong(
            f"the population does not end with file {next_file - 1}; scan on, with scan_to_end"
            if ordered
            else "there are none; scan the population first"
        )
    if any(part.is_last for part in ordered[:-1]):
        raise _wrong("the population ends before the last of them; leave out what lies behind")
    return ordered


def _lists_its_own(part: PartOfPopulation) -> bool:
    """Whether a part's affected objects are rising, of its files, and have a size each."""
    objects, sizes = part.affected_objects, part.affected_bytes
    if not len(objects):
        return not len(sizes)
    first, last = int(objects[0]) >> _FILE_BITS, int(objects[-1]) >> _FILE_BITS
    is_inside = part.first_file <= first and last < part.first_file + part.files
    return len(objects) == len(sizes) and is_inside and bool((objects[1:] > objects[:-1]).all())


def _wrong(rule: str) -> ConfigError:
    return ConfigError(rule, key="parts")


def _counted(name: str, value: int) -> int:
    # More than a population can have of files or bytes, and within the core's words.
    rule = "it must be a whole number from 0 to 2^62 - 1"
    return whole(name, value, most=2**62 - 1, rule=rule, remedy="")
