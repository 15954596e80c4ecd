"""The systems of a sweep in the order of an aim, and which of them is best."""

from __future__ import annotations

from collections.abc import Sequence

from resilver.report.sweep import SAME
from resilver.spec.aim import Aim, Limit, aim_of, kind_of
from resilver.study.results import StudyTables
from resilver.study.system_runs import SystemRuns
from resilver.tables import cell_text
from resilver.words import listed, plural


def aim_in(results: StudyTables) -> Aim | None:
    """The aim of a study, whose sweep is ranked by it."""
    text = results.study["study"].get("aim")
    return aim_of(text) if text else None


def by_aim(points: list[SystemRuns], aim: Aim) -> list[SystemRuns]:
    """The systems, best first: those that keep every limit, then the others."""

    def merit(point: SystemRuns) -> tuple[bool, bool, float]:
        value = _middle(point, aim.column)
        known = 0.0 if value is None else value
        return bool(_broken(point, aim)), value is None, -known if aim.is_most else known

    return sorted(points, key=merit)


def aim_sentence(order: list[SystemRuns], aim: Aim) -> str:
    """Which system is best, how many are as good, and how many keep the limits.

    Args:
        order: The systems as `by_aim` has them.
    """
    best = order[0]
    kept = [point for point in order if not _broken(point, aim)]
    value = _middle(best, aim.column)
    count = plural(len(order), "system")
    limits = listed([limit.words for limit in aim.limits])
    for column in aim.columns:
        if all(_middle(point, column) is None for point in order):
            return f"None of {count} has {column}, so the aim ranks none."
    if not kept:
        return f"None of {count} keeps {limits}."
    if value is None:
        return f"Of {count}, none that keeps {limits} has {aim.column}."
    words = "most" if aim.is_most else "least"
    amount = cell_text(value, kind_of(aim.column))
    text = f"Of {count}, {best.label} has the {words} {aim.column}: {amount}."
    if aim.limits:
        text = f"Of {count}, {len(kept):,} keep {limits}. {best.label} has the {words} "
        text += f"{aim.column} of these: {amount}."
    alike = sum(_is_as_good(_middle(point, aim.column), value) for point in kept[1:])
    return f"{text} As good within 2 %: {alike:,} more." if alike else text


def limits_kept(points: Sequence[SystemRuns], aim: Aim) -> list[str]:
    """Whether each system keeps all limits."""
    return ["no" if _broken(point, aim) else "yes" for point in points]


def _broken(point: SystemRuns, aim: Aim) -> list[Limit]:
    """The limits that a system does not keep, by medians over its seeds."""
    return [limit for limit in aim.limits if not limit.keeps(_middle(point, limit.column))]


def _middle(point: SystemRuns, column: str) -> float | None:
    """The median of a metric over the seeds; None where half of them or more have none."""
    has_most = 2 * len(point.known(column)) > len(point.rows)
    return point.middle(column) if has_most else None


def _is_as_good(value: float | None, best: float) -> bool:
    return value is not None and max(value, best) <= SAME * min(value, best)
