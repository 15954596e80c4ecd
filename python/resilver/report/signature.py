"""The page of a signature: the job's pattern over its runs, and how it was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from resilver.answer import Answer, Form, Shown, sections_of
from resilver.charts.idioms import curve, data_of, lines, panels, uprights
from resilver.charts.style import BLUE, GREY
from resilver.charts.vega import Chart, Spec, axis, marks, rows
from resilver.quantities import decimal_bytes, decimal_rate, duration
from resilver.tables import Table, table, table_of

if TYPE_CHECKING:
    from resilver.center.signatures import FoundSignature, Signature
    from resilver.importers.series import Floats

_RUNS_SHOWN = 8
_PLACES = 360
_GB = 1e9
_HOURS = 3600.0
_HOW = (
    "Runs are denoised and their autocorrelations summed. A period counts if it stands out, the "
    "spectrum agrees, and most of its bursts are present.",
    "A burst's volume excludes what runs move at other times: it is the median of all differences "
    "between windows in bursts and windows between them.",
)


def answer_sentences(found: FoundSignature) -> list[str]:
    """The answer: what the job moves, and how sure that is; or why there is no pattern."""
    made = found.signature
    if made is None:
        return [f"The runs do not repeat: {found.reason}."]
    runs = "1 run" if made.runs == 1 else f"{made.runs} runs"
    said = [
        f"{made.name} moves {decimal_bytes(made.volume)} every {duration(made.period)}, in bursts "
        f"of {duration(made.length)} at {decimal_rate(made.height)}; the first begins "
        f"{duration(made.first)} after its start.",
        f"Confidence {made.confidence:.2f}, from {runs}: {100.0 * _seen(found):.0f} % of its "
        f"bursts are present, beyond chance.",
    ]
    if made.reads > 0.0:
        said.append(f"It reads {100.0 * made.reads:.0f} % of these bytes.")
    return said


def _seen(found: FoundSignature) -> float:
    return 0.0 if found.burst is None else min(max(found.burst.present, 0.0), 1.0)


def figures_table(found: FoundSignature) -> Table:
    """The figures of a signature, with what holds them 19 times of 20."""
    made = found.signature
    rows_of: list[tuple[str, str, str]] = []
    if made is not None:
        error = made.volume_error
        rows_of = [
            ("period", duration(made.period), f"± {duration(made.period_error)}"),
            ("first burst", duration(made.first), ""),
            ("length of a burst", duration(made.length), f"± {duration(made.length_error)}"),
            ("volume of a burst", decimal_bytes(made.volume), f"± {decimal_bytes(error)}"),
            ("height", decimal_rate(made.height), ""),
        ]
    step = found.runs.step
    other, needed = found.period.spectral_samples * step, f"{found.period.least:g} σ or more needed"
    rows_of += [
        ("period by autocorrelation", duration(found.period.samples * step), ""),
        ("period by the spectrum", duration(other) if other else "none", ""),
        ("stands out by", f"{found.period.stands_out:.1f} σ", needed),
        ("bursts present", f"{100.0 * _seen(found):.0f} %", "beyond chance"),
    ]
    if len(found.runs.runs) > 1:
        rows_of.append(("bursts common to runs", f"{len(found.common):,}", ""))
    columns = (("figure", "figure"), ("value", "value"), ("known_to", "known to"))
    return table_of(rows_of, *((name, heading, "text") for name, heading in columns))


def runs_table(found: FoundSignature) -> Table:
    """The runs, those that are used and those that are not."""
    step = found.runs.step
    used = [
        (run.name, len(run.values) * step, np.nansum(run.values), "") for run in found.runs.runs
    ]
    return table_of(
        [*used, *((name, None, None, why) for name, why in found.runs.left_out)],
        ("run", "run", "text"),
        ("seconds", "lasts", "seconds"),
        ("bytes", "moved in it", "TB"),
        ("remark", "remark", "text"),
    )


def runs_chart(found: FoundSignature) -> Chart:
    """The runs under each other, with the signature over them."""
    runs, step = found.runs.runs[:_RUNS_SHOWN], found.runs.step
    longest = max(len(run.values) for run in runs) * step
    unit, title = (60.0, "minutes") if longest < 6 * _HOURS else (_HOURS, "hours")
    names = [run.name for run in runs]
    kinds = ["moved in the run", *(["signature"] if found.signature else [])]

    def spec() -> Spec:
        views = []
        for at, run in enumerate(runs):
            times, rates = _thinned(run.values / step, step)
            lines_of = [
                (time / unit, rate / _GB, kinds[0]) for time, rate in zip(times, rates, strict=True)
            ]
            if found.signature is not None:
                lines_of += [
                    (time / unit, rate / _GB, kinds[1])
                    for time, rate in _outline(found, at, found.signature)
                ]
            view = lines(
                marks("x y kind", lines_of),
                axis("x", f"{title} from the begin of the run", ends=(0.0, longest / unit)),
                axis("y", "GB/s", tickCount=3),
                dict(zip(kinds, (GREY, BLUE), strict=False)),
                noun="what",
                steps="step-after",
                dashes=(),
                width=1.3,
                height=64,
            )
            heads = {"text": run.name, "fontSize": 12, "fontWeight": "normal", "offset": 4}
            views.append(view | {"title": heads})
        return panels(views) | {"spacing": 8}

    heading = "No pattern that the runs share"
    if found.signature is not None:
        every = duration(found.signature.period)
        heading = f"All runs share a burst every {every}; what else they move is others'"
        if len(names) == 1:
            heading = f"The run has a burst every {every}"
    more = len(found.runs.runs) - len(runs)
    text = "What each run moved over time" + (f"; {more} more are not drawn." if more else ".")
    if found.signature is not None:
        text += " The signature is drawn at the height of a burst above what is moved besides."
    return Chart("runs", heading, text, spec, runs_table(found), "runs")


def _thinned(rates: Floats, step: float) -> tuple[list[float], list[float]]:
    """Means of so many neighbours that a chart has room for all; a gap is as if nothing was."""
    together = -(-len(rates) // _PLACES)
    padded = np.full(together * -(-len(rates) // together), np.nan)
    padded[: len(rates)] = rates
    parts = padded.reshape(-1, together)
    known = np.isfinite(parts)
    means = np.where(known, parts, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    return (np.arange(len(means)) * together * step).tolist(), means.tolist()


def _outline(found: FoundSignature, run: int, made: Signature) -> list[tuple[float, float]]:
    """The signature over a run, as times and rates of its steps."""
    burst = found.burst
    begins: list[float] = []
    end = len(found.runs.runs[run].values) * found.runs.step
    if burst is not None:
        own = np.sort(burst.begins[burst.run_of == run])
        begins = own[(own >= -0.5 * made.length) & (own < end)].tolist()
    base = 0.0 if burst is None else burst.base
    lines = [(0.0, base)]
    for begin in begins[:_PLACES]:
        lines += [(max(begin, 0.0), base + made.height), (min(begin + made.length, end), base)]
    return lines


def pattern_chart(found: FoundSignature) -> Chart | None:
    """What a period holds: the median over all folds; None where there is nothing in common."""
    burst = found.burst
    if burst is None:
        return None
    width = found.period.samples * found.runs.step / len(burst.pattern)
    times, rates = _thinned(burst.pattern, width)
    made = table(
        ("seconds", "time in the period", "seconds", times),
        ("bytes_per_second", "median of the folds", "TB/s", rates),
    )

    def spec() -> Spec:
        data = data_of(made, {"y": _GB}, x="seconds", y="bytes_per_second")
        across = axis("x", "seconds from the begin of a run, within a period")
        besides = curve([times[0], times[-1]], [burst.base / _GB] * 2)
        upwards = axis("y", "GB/s")
        return lines(data, across, upwards, steps="step-after", height=200, over=[besides])

    folds = int(np.isfinite(burst.volumes).sum())
    heading = (
        f"The median of {folds:,} periods holds one burst"
        if found.signature
        else (f"{folds:,} periods of this length have little in common")
    )
    text = "All runs cut into periods, and the median at each place. Dashed: what is moved besides."
    return Chart("pattern", heading, text, spec, made, "pattern")


def period_chart(found: FoundSignature) -> Chart:
    """How alike samples are by their distance, and the power by period."""
    period, step = found.period, found.runs.step
    lags = np.arange(len(period.autocorrelation)) * step
    last = min(int(0.7 * len(lags)), max(int(6 * period.samples), 64))
    every = max(1, last // 700)
    alike = period.autocorrelation[:last:every]
    with np.errstate(divide="ignore"):
        periods = step / period.frequencies[1:]
    low, high = max(2.0 * step, 0.1 * period.samples * step), 3.0 * period.samples * step
    within = (periods >= low) & (periods <= high)
    shown, power = periods[within], period.spectrum[1:][within]
    keep = max(1, len(shown) // 700)
    shown, power = shown[::keep], power[::keep] / max(float(power.max(initial=0.0)), 1e-300)
    made = table(
        ("seconds", "distance", "seconds", lags[:last:every]),
        ("alike", "how alike", "number", alike),
    )
    at = period.samples * step

    def spec() -> Spec:
        views = []
        for x, y, across, upwards in (
            (lags[:last:every], alike, axis("x", "seconds between samples"), "autocorrelation"),
            (
                *(shown, power),
                *(axis("x", "period, in seconds", log=10, form="~r"), "power, of the most"),
            ),
        ):
            over = [uprights([at], 170)]
            heights = axis("y", upwards)
            views.append(lines(rows(x=x, y=y), across, heights, width=1.5, height=170, over=over))
        return {"vconcat": views}

    agree = "agree" if abs(period.spectral_samples / period.samples - 1.0) < 0.1 else "do not agree"
    heading = f"Autocorrelation and spectrum {agree}"
    heading += f" on {duration(at)}" if agree == "agree" else ""
    text = (
        "Above: how alike samples are, by how far apart they are, over all runs. Below: power by "
        "period; a burst that repeats has power at parts of its period too. Upright: the period."
    )
    return Chart("period", heading, text, spec, made, "autocorrelation")


def signature_answer(found: FoundSignature) -> Answer:
    """The answer to whether runs share a pattern, and which."""
    made = found.signature
    figures = Shown("figures", "The signature", figures_table(found))
    # Those that half of the runs or more have at about one time.
    common = table_of(
        found.common,
        ("begin_seconds", "begins", "seconds", lambda burst: burst.begin),
        ("length_seconds", "lasts", "seconds", lambda burst: burst.length),
        ("volume_bytes", "moved in it", "TB", lambda burst: burst.volume),
        ("runs", "runs", "count"),
    )
    bursts = Shown("bursts", "Bursts common to runs", common, rows=24, printed=12)
    return Answer(
        f"The signature of {made.name if made else 'no pattern'}",
        answer_sentences(found),
        sections_of(
            ("The signature", [figures, pattern_chart(found)]),
            ("The runs", [runs_chart(found)]),
            ("How it was found", [period_chart(found)], *_HOW),
            ("Bursts common to runs", [bursts] if found.common else []),
        ),
        found.to_dict(),
        made is not None,
        notes=[f"{note[0].upper()}{note[1:]}." for note in found.notes],
        # No pattern is no traffic of a study.
        forms=dict.fromkeys((".toml", ".html", ".htm"), Form(None))
        if made is None
        else {".toml": Form(made.to_toml, "a study's traffic.jobs reads {}")},
    )
