"""Rates by fill: what runs of a benchmark show, in sentences, tables and a chart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from resilver.answer import Answer, Form, Shown, sections_of
from resilver.charts.idioms import coloured, points
from resilver.charts.style import BLUE, GREY, VERMILLION
from resilver.charts.vega import Chart, Spec, axis, rows
from resilver.tables import Table, table, table_of

if TYPE_CHECKING:
    from resilver.calibration.fill import Correlation, FillCalibration


def fill_sentences(found: FillCalibration) -> list[str]:
    """What the runs say, a sentence each."""
    fills = found.data.fills
    ends = f"{100 * fills.min():.3g} to {100 * fills.max():.3g} % full"
    judged = found.given or found.correlation
    given = f", given {' and '.join(found.data.beside)}" if found.given is not None else ""
    what = f"rank correlation {_interval(judged)}{given}"
    if found.is_shown:
        first, last = found.levels[0], found.levels[-1]
        said = [
            f"{len(fills):,} runs at {ends} show that rates fall with the fill: {what}.",
            f"Up to {100 * first.fill_high:.3g} % full they are alike; from "
            f"{100 * last.fill_low:.3g} % on they are {100 * last.share:.3g} % of that "
            f"({100 * last.low:.3g} to {100 * last.high:.3g} %).",
        ]
    else:
        said = [
            f"{len(fills):,} runs at {ends} do not show that rates fall with the fill: {what}.",
            f"A steady fall of {100 * found.hidden_loss:.2g} % over these fills could still hide "
            "in them; of fuller file systems they say nothing.",
        ]
    clear = [one for one in found.beside if one.low > 0.0 or one.high < 0.0]
    said += [f"Rates go with {one.name}: {_interval(one)}." for one in clear]
    if found.data.left_out:
        left = found.data.left_out
        said.append(f"{left:,} line{'s' * (left > 1)} without all of these columns are left out.")
    return said


def _interval(one: Correlation) -> str:
    return f"{one.value:+.2f} ({one.low:+.2f} to {one.high:+.2f})"


def correlations_table(found: FillCalibration) -> Table:
    """Rank correlations of rates."""
    these = [found.correlation, *found.beside]
    names = [one.name for one in these]
    if found.given is not None:
        these.insert(1, found.given)
        names.insert(1, f"fill, given {' and '.join(found.data.beside)}")
    return table(
        ("with", "with", "text", names),
        ("value", "correlation", "number", [one.value for one in these]),
        ("low", "from", "number", [one.low for one in these]),
        ("high", "to", "number", [one.high for one in these]),
        note="Spearman's, with 95 % confidence intervals.",
    )


def levels_table(found: FillCalibration) -> Table:
    """Levels of rates by fill."""
    return table_of(
        found.levels,
        ("fill_low", "from", "share"),
        ("fill_high", "to", "share"),
        ("runs", "runs", "count"),
        ("share", "share of the rate", "share"),
        ("interval", "95 %", "text", lambda one: f"{100 * one.low:.3g} to {100 * one.high:.3g} %"),
    )


def fill_answer(found: FillCalibration) -> Answer:
    """The answer to whether a file system slows down as it fills."""
    correlations = Shown("correlations", "Rank correlation of rates", correlations_table(found))
    levels = Shown("levels", "Levels", levels_table(found)) if found.is_shown else None
    said = fill_sentences(found)
    text = "Rates of runs by how full the file system was, over the typical rate when emptiest."
    chart = Chart(
        "fill", said[0].rstrip("."), text, lambda: _fill_spec(found), levels_table(found), "levels"
    )
    curve = Form(found.to_toml, 'use it as capacity.rate_at_fill = {{ file = "{}" }}')
    none = Form(None, "no curve is written to {}: the runs show none")
    return Answer(
        "Rates by fill",
        said,
        sections_of(("Runs", [chart, correlations]), ("Levels", [levels])),
        found.to_dict(),
        found.is_shown,
        forms={".toml": curve if found.is_shown else none},
    )


def _fill_spec(found: FillCalibration) -> Spec:
    """The runs, and the levels where they show some."""
    import numpy as np

    first = found.levels[0]
    is_first = found.data.fills <= first.fill_high
    typical = float(np.exp(np.log(found.data.rates[is_first]).mean()))
    runs, typical_of = "a run", "typical, with its interval"
    these = found.levels if found.is_shown else ()
    kinds = {runs: BLUE} | ({typical_of: VERMILLION} if these else {})
    fills = 100 * found.data.fills
    points_of = rows(x=fills, y=100 * found.data.rates / typical, kind=[runs] * len(fills))
    levels = rows(
        x=[100 * one.fill_low for one in these],
        x2=[100 * one.fill_high for one in these],
        y=[100 * one.share for one in these],
        low=[100 * one.low for one in these],
        high=[100 * one.high for one in these],
        kind=[typical_of] * len(these),
    )
    span: Spec = {"x2": {"field": "x2"}}
    band = coloured({"type": "rect", "fillOpacity": 0.25}, GREY, **span, y={"field": "low"},
                    y2={"field": "high"})  # fmt: skip
    middle = coloured({"type": "rule", "strokeWidth": 3}, kinds, **span)
    over = [{"data": levels, **one} for one in (band, middle)] if these else []
    across = axis("x", "full (%)", zero=False)
    upwards = axis("y", "rate, of the typical one when emptiest (%)")
    return points(points_of, across, upwards, kinds, size=18, marks=("circle",), over=over)
