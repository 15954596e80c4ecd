"""The parallel coordinates of an entry: the values of its lines at its axes."""

from __future__ import annotations

from collections.abc import Mapping

from resilver.report.parallel import Parallel, parallel
from resilver.reproduce.compare import DIVISORS, Comparison
from resilver.reproduce.published import PictureSpec
from resilver.reproduce.tables import Tables
from resilver.reproduce.words import unit_words


def parallels(
    spec: PictureSpec, tables: Tables, numbers: Mapping[str, Comparison]
) -> Parallel | None:
    """The chart of a picture.

    Args:
        spec: What to draw.
        tables: The entry's tables.
        numbers: The entry's comparisons by key.

    Returns:
        The chart; None where no row has what it needs.
    """
    divisor = DIVISORS[spec.y.unit]
    rows = tables.ask(spec.query)[1]
    axes = tuple(dict.fromkeys(str(axis) for _, axis, _ in rows))
    lines: dict[str, dict[int, list[float]]] = {}
    for line, axis, value in rows:
        values = lines.setdefault(str(line), {}).setdefault(axes.index(str(axis)), [])
        if value is not None:
            values.append(float(value) / divisor)
    stars = {
        (line, rank): compared.paper * DIVISORS[compared.unit] / divisor
        for line, keys in spec.stars.items()
        for rank, key in enumerate(keys)
        if (compared := numbers.get(key)) is not None and compared.paper is not None
    }
    level = 1.0 / divisor if spec.level_name else None
    title, unit = spec.y.label, unit_words(spec.y.unit)
    return parallel(axes, lines, title, unit, level, spec.level_name, stars)
