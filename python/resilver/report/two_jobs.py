"""Two jobs' signatures: whether they are one job's, and what their bursts cost each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from resilver.answer import Answer, Shown, sections_of
from resilver.charts.idioms import lines, series, uprights
from resilver.charts.vega import Chart, Spec, axis, rows
from resilver.quantities import decimal_bytes, decimal_rate, duration
from resilver.tables import Table, table, table_of

if TYPE_CHECKING:
    from resilver.center.signatures import ShiftPlan, Signature, SignaturesCompared

_SECOND = 0.5
_HOW = (
    "While both jobs are in a burst they share what the system carries, max-min fairly, and none "
    "gets more than it asks for. A job computes between its bursts, so that a burst that ends late "
    "delays the next one. Times are exact for these jobs; what else the system does is left out."
)


def job_names(one: Signature, other: Signature) -> tuple[str, str]:
    """What two jobs are called, which may have one name."""
    names = one.name or "the first", other.name or "the second"
    return names if names[0] != names[1] else ("the first", "the second")


def compared_sentences(found: SignaturesCompared) -> list[str]:
    """Whether two signatures may be one job's."""
    names = " and ".join(job_names(found.one, found.other))
    names = f"{names[0].upper()}{names[1:]}" if names.startswith("the ") else names
    if found.holds:
        return [f"{names} may be one job's: period, length and volume agree within their errors."]
    apart = ", ".join(row.what for row in found.differences if not row.holds)
    return [f"{names} are not one job's: they differ in {apart} by more than their errors."]


def compared_table(found: SignaturesCompared) -> Table:
    """The figures of both."""
    told = {"volume": decimal_bytes}
    rows_of = [
        (row.what, *map(told.get(row.what, duration), values), "yes" if row.holds else "no")
        for row in found.differences
        for values in [(row.one, row.other, abs(row.one - row.other), row.allowed)]
    ]
    names = job_names(found.one, found.other)
    return table_of(
        rows_of,
        ("figure", "figure", "text"),
        ("one", names[0], "text"),
        ("other", names[1], "text"),
        ("apart", "difference", "text"),
        ("allowed", "tolerance", "text"),
        ("same", "same", "text"),
    )


def shift_sentences(plan: ShiftPlan) -> list[str]:
    """The answer: when the second job should start, and what that saves."""
    names = job_names(plan.one, plan.other)
    together, best, mean = sum(plan.lost(0.0)), sum(plan.lost(plan.best)), sum(plan.mean)
    over = f"{plan.bursts[0]:,} and {plan.bursts[1]:,} bursts"
    if sum(plan.lost(plan.worst)) < _SECOND:
        return [f"{names[0]} and {names[1]} do not delay each other, whenever they start."]
    said = [
        f"Start {names[1]} {duration(plan.best)} after {names[0]}: over {over} both lose "
        f"{_time(best)}, instead of {_time(together)} if they start together."
    ]
    if together - best < _SECOND:
        said = [
            f"{names[1]} may start together with {names[0]}: over {over} both lose "
            f"{_time(together)}, and no later start costs less."
        ]
    lost = plan.lost(0.0)
    shares = [100.0 * lost[at] / plan.spans[at] for at in range(2)]
    said.append(
        f"Started together, {names[0]} takes {shares[0]:.1f} % longer and {names[1]} "
        f"{shares[1]:.1f} %. A start at random costs both {_time(mean)} on average."
    )
    if plan.best_to - plan.best_from > _SECOND:
        said.append(
            f"Any start {duration(plan.best_from)} to {duration(plan.best_to)} later is as good."
        )
    return said


def _time(seconds: float) -> str:
    return "nothing" if seconds < _SECOND else duration(seconds)


def starts_table(plan: ShiftPlan) -> Table:
    """What the starts that matter cost."""
    mine, theirs = job_names(plan.one, plan.other)
    starts = (("together", 0.0), ("best", plan.best), ("worst", plan.worst))
    lost = [(name, at, plan.lost(at)) for name, at in starts]
    return table_of(
        [(name, at, sum(of), *of) for name, at, of in [*lost, ("on average", None, plan.mean)]],
        ("start", "start", "text"),
        ("start_seconds", "second starts after", "seconds"),
        ("both_seconds", "both lose", "seconds"),
        ("one_seconds", f"{mine} loses", "seconds"),
        ("other_seconds", f"{theirs} loses", "seconds"),
    )


def curve_chart(plan: ShiftPlan) -> Chart:
    """What each job loses, by the start of the second."""
    is_minutes = max(plan.lost_one.max(), plan.lost_other.max()) >= 600.0
    unit, title = (60.0, "minutes lost") if is_minutes else (1.0, "seconds lost")
    kinds = [*job_names(plan.one, plan.other), "both"]
    losts = (plan.lost_one, plan.lost_other, plan.lost_one + plan.lost_other)
    made = table(
        ("start_seconds", "second starts after", "seconds", plan.shifts),
        ("one_seconds", f"{kinds[0]} loses", "seconds", plan.lost_one),
        ("other_seconds", f"{kinds[1]} loses", "seconds", plan.lost_other),
    )

    def spec() -> Spec:
        data = rows(
            x=np.tile(plan.shifts, len(kinds)),
            y=np.concatenate(losts) / unit,
            kind=[kind for kind in kinds for _ in plan.shifts],
        )
        ends = (0.0, float(plan.shifts[-1]))
        across = axis("x", "seconds by which the second starts later", ends=ends)
        named, over = series(kinds), [uprights([plan.best], 260)]
        return lines(data, across, axis("y", title), named, noun="job", over=over)

    heading = f"Both lose least where the second starts {duration(plan.best)} later"
    if max(losts[2]) < _SECOND:
        heading = "Neither loses anything, whenever the second starts"
    text = (
        "By how much later the last burst of each job ends than without the other, by the start of "
        "the second. The curve is exact between its bends. Upright: the best start."
    )
    return Chart("shift", heading, text, spec, made, "shifts")


def compared_answer(found: SignaturesCompared) -> Answer:
    """The answer to whether two signatures may be one job's."""
    both = Shown("figures", "Both signatures", compared_table(found))
    return Answer(
        "Whether two signatures are one job's",
        compared_sentences(found),
        sections_of(("Both signatures", [both])),
        found.to_dict(),
        found.holds,
    )


def shift_answer(plan: ShiftPlan) -> Answer:
    """The answer to when a second job should start."""
    starts = Shown("starts", "By the start of the second", starts_table(plan))
    names, jobs = job_names(plan.one, plan.other), (plan.one, plan.other)
    made = table(
        ("job", "job", "text", names),
        ("period_seconds", "period", "text", [duration(job.period) for job in jobs]),
        ("length_seconds", "burst", "text", [duration(job.length) for job in jobs]),
        ("volume_bytes", "volume", "text", [decimal_bytes(job.volume) for job in jobs]),
        ("height", "height", "text", [decimal_rate(job.height) for job in jobs]),
        ("bursts", "bursts looked at", "count", plan.bursts),
    )
    both = Shown("jobs", "Signatures", made, printed=0)
    carries = f"The system carries {decimal_rate(plan.rate)}."
    return Answer(
        f"When {names[1]} should start beside {names[0]}",
        shift_sentences(plan),
        sections_of(
            ("By the start of the second", [curve_chart(plan), starts], _HOW, carries),
            ("The jobs", [both]),
        ),
        plan.to_dict(),
    )
