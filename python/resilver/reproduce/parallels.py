"""The parallel coordinates of an entry: which rows belong to which axis and line."""

from __future__ import annotations

import math
from collections.abc import Sequence

from resilver.report.parallel import Parallel, parallel
from resilver.reproduce.compare import DIVISORS, Comparison, Row
from resilver.reproduce.published import PictureSpec, Published, matches
from resilver.reproduce.words import unit_words


def parallels(
    spec: PictureSpec, rows: Sequence[Row], numbers: Sequence[tuple[Published, Comparison]]
) -> Parallel | None:
    """The chart of a picture.

    Args:
        spec: What to draw: its `axes`, each with a `name` and the columns `at` which it stands, and
            its `lines`, each with a `name`, a column `y`, the columns `at` which it is drawn, and
            under `published` the key of a number for each axis, empty for none.
        rows: The rows to draw it from.
        numbers: The entry's published numbers, each with its comparison.

    Returns:
        The chart; None where no row has what it needs.
    """
    divisor = DIVISORS[spec.y_unit]
    by_key = {number.key: compared for number, compared in numbers}
    names = tuple(str(axis["name"]) for axis in spec.axes)
    lines: dict[str, dict[int, list[float]]] = {}
    published: dict[tuple[str, int], float] = {}
    for line in spec.lines:
        name, keys = str(line["name"]), list(line.get("published", ()))
        of_axes = lines.setdefault(name, {})
        for rank, axis in enumerate(spec.axes):
            at = {**spec.at, **line.get("at", {}), **axis["at"]}
            of_axes[rank] = _values([row for row in rows if matches(row, at)], line["y"], divisor)
            compared = by_key.get(keys[rank]) if rank < len(keys) else None
            if compared is not None and compared.paper is not None:
                published[name, rank] = compared.paper * DIVISORS[compared.unit] / divisor
    unit = unit_words(spec.y_unit)
    title = f"{spec.y_title} ({unit})" if unit else spec.y_title
    level = None if not spec.level_name else spec.level / divisor
    return parallel(names, lines, title, unit, level, spec.level_name, published)


def _values(rows: Sequence[Row], column: str, divisor: float) -> list[float]:
    values = [row.get(column) for row in rows]
    return [
        float(value) / divisor
        for value in values
        if isinstance(value, int | float) and math.isfinite(value)
    ]
