"""Evidence of the layers of a file system: what its parts need."""

from __future__ import annotations

from resilver.catalog.entries import study_path
from resilver.reproduce.tables import Row
from resilver.spec import Study
from resilver.study.profiling import needed_parts
from resilver.units import BytesPerSecond


def part_rows(study: str, target: str) -> list[Row]:
    """How many parts of each level a study of the catalog has, and what each needs for a target.

    Args:
        study: Its name.
        target: The rate of all clients, with its unit.

    Returns:
        A row a level: ``level``, ``parts`` and ``each`` in bytes per second.
    """
    system = Study.load(study_path(study)).runs()[0].system
    return [
        {"level": one.level, "parts": float(one.parts), "each": one.each_bytes_per_second}
        for one in needed_parts(system, float(BytesPerSecond.parse(target)))
    ]
