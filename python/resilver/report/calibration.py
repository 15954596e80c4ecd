"""Answers of calibrations: what was fitted, beside what was measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from resilver.answer import Answer, Form, Lines, Shown, sections_of
from resilver.charts.idioms import lines, series
from resilver.charts.scales import log_ticks
from resilver.charts.style import BLUE, DASHES, MARKS, VERMILLION
from resilver.charts.vega import Chart, Spec, axis, marks
from resilver.quantities import decimal_rate
from resilver.report.benchmarks import MODE_WORDS
from resilver.tables import table, table_of
from resilver.units import exact_bytes

if TYPE_CHECKING:
    from resilver.calibration import CodingCalibration, DiskCalibration, NetworkCalibration
    from resilver.calibration.failures import FailureCalibration

_MEBIBYTE = 2**20
_PANELS = (
    ("reads", (("read", "sequential"), ("randread", "random"))),
    ("writes", (("write", "sequential"), ("randwrite", "random"))),
)

Marks = list[tuple[str, int, float]]
"""Marks of a panel: of which line each is, the size, and the bandwidth."""


def _mega(bytes_per_second: float) -> float:
    """A rate in MB/s."""
    return bytes_per_second / 1e6


def disk_answer(calibration: DiskCalibration) -> Answer:
    """The answer of a disk's calibration."""
    fitted = calibration.table
    sides = [
        ("read", fitted.read_rate, fitted.read_overhead),
        ("write", fitted.write_rate, fitted.write_overhead),
    ]
    rates = table(
        ("side", "", "text", [name for name, _, _ in sides]),
        ("bytes_per_second", "rate", "TB/s", [float(rate) for _, rate, _ in sides]),
        ("overhead_seconds", "overhead", "us", [float(overhead) for _, _, overhead in sides]),
    )
    seeks = table(
        ("request_bytes", "size", "bytes", fitted.request_sizes),
        ("read_seconds", "read seek", "us", map(float, fitted.read_seek)),
        ("write_seconds", "write seek", "us", map(float, fitted.write_seek)),
    )
    errors = table_of(
        [*calibration.rmse.items()],
        ("mode", "mode", "text", lambda row: MODE_WORDS[row[0]].removesuffix("s")),
        ("megabytes", "MB/s", "number", lambda row: _mega(row[1].bytes_per_second)),
        ("share", "of the mean measured", "share", lambda row: row[1].fraction),
    )
    title = f"Error over {len(fitted.request_sizes)} sizes (root mean square)"
    read, write = (decimal_rate(float(rate)) for _, rate, _ in sides)
    chart = _disk_chart(calibration)
    return Answer(
        "The service times of a disk",
        [f"In order the disk reads {read} and writes {write}.", f"{chart.heading}."],
        sections_of(
            ("The disk", [Shown("rates", "Rates", rates), Shown("seeks", "Seeks", seeks)]),
            ("Measured and modelled bandwidth", [chart, Shown("errors", title, errors)]),
        ),
        calibration.to_dict(),
        notes=calibration.notes,
        forms={".toml": Form(calibration.to_toml, 'use it as cluster.device = {{ file = "{}" }}')},
    )


def _disk_chart(calibration: DiskCalibration) -> Chart:
    """A volume's bandwidth by request size, reads beside writes."""
    errors = [calibration.rmse[mode].fraction for _, modes in _PANELS for mode, _ in modes]
    depth = calibration.queue_depth
    heading = (
        f"The model's root-mean-square error: {100 * min(errors):.2g} to {100 * max(errors):.2g} % "
        f"of the mean bandwidth ({depth} request{'s' * (depth > 1)} outstanding)"
    )
    by_cell = {(point.mode, point.request_bytes): point for point in calibration.points}
    sizes = calibration.table.request_sizes
    columns: list[tuple[str, str, str, Iterable[object]]] = []
    for mode in calibration.rmse:
        points = [by_cell.get((mode, size)) for size in sizes]
        measured = [p and _mega(p.measured_bytes_per_second) for p in points]
        modelled = [p and _mega(p.modelled_bytes_per_second) for p in points]
        columns.append((f"{mode}_megabytes_per_second", mode, "number", measured))
        columns.append((f"{mode}_model_megabytes_per_second", "model", "number", modelled))

    def spec() -> Spec:
        views = []
        for name, modes in _PANELS:
            found: Marks = []
            for mode, words in modes:
                points = [point for point in calibration.points if point.mode == mode]
                found += _marks(words, [(point.request_bytes, point) for point in points], 1e6)
            view = _panel(found, "request size", "bandwidth (MB/s)", log=True)
            views.append(view | {"title": {"text": name, "fontSize": 12}})
        return {"hconcat": views}

    made = table(("request_bytes", "size", "bytes", sizes), *columns)
    text = "Bandwidth by the size of requests: solid as measured, dashed by the model."
    return Chart("disk", heading, text, spec, made, "Bandwidth (MB/s)", printed=40)


def network_answer(calibration: NetworkCalibration) -> Answer:
    """The answer of a network's calibration."""
    made = table_of(
        calibration.table.rows,
        ("size_bytes", "size", "bytes"),
        ("latency_seconds", "L", "us"),
        ("gap_seconds", "g", "us"),
        ("gap_per_byte", "G (ns/B)", "number", lambda row: row.gap_per_byte_seconds * 1e9),
    )
    chart = _network_chart(calibration)
    use = 'use it as cluster.fabric.table = {{ netgauge = "{}" }}'
    return Answer(
        "The bandwidth of a network",
        [f"{chart.heading}."],
        sections_of(
            ("The LogGP table", [Shown("table", "LogGP parameters", made)]),
            ("Bandwidth", [chart]),
        ),
        calibration.to_dict(),
        notes=calibration.notes,
        forms={
            ".toml": Form(
                lambda: _fabric_section(calibration),
                "put its section [cluster.fabric] into a study file",
            ),
            "": Form(calibration.to_netgauge, use),
        },
    )


def _fabric_section(calibration: NetworkCalibration) -> str:
    from resilver.spec.tables import to_plain
    from resilver.spec.toml import write_value

    kept = to_plain(replace(calibration.table, path=None, label=""))["rows"]
    lines = "".join(f"  {write_value(row)},\n" for row in kept)
    return f'[cluster.fabric]\nmodel = "loggp"\n\n[cluster.fabric.table]\nrows = [\n{lines}]\n'


def _network_chart(calibration: NetworkCalibration) -> Chart:
    """The bandwidth between two endpoints by message size."""
    points = calibration.points
    best = max(points, key=lambda point: point.modelled_bytes_per_second)
    heading = (
        f"One message at a time: at most {best.modelled_bytes_per_second / _MEBIBYTE:,.0f} MiB/s, "
        f"at {exact_bytes(best.message_bytes)}"
    )
    measured = []
    if (error := calibration.rmse) is not None:
        known = sum(point.measured_bytes_per_second is not None for point in points)
        heading = (
            f"The model's root-mean-square error over {known} sizes is "
            f"{error.bytes_per_second / _MEBIBYTE:,.1f} MiB/s, "
            f"{100 * error.fraction:.2g} % of the mean bandwidth"
        )
        measured = [("measured_bytes_per_second", "measured", "rate")]

    def spec() -> Spec:
        of_sizes = [(point.message_bytes, point) for point in points]
        found = _marks("bandwidth", of_sizes, _MEBIBYTE)
        return _panel(found, "message size", "bandwidth (MiB/s)", log=False)

    made = table_of(
        points,
        ("message_bytes", "message", "bytes"),
        ("modelled_bytes_per_second", "model", "rate"),
        *measured,
    )
    text = (
        "Bandwidth between two endpoints by message size: solid as measured, dashed by the model."
    )
    return Chart("network", heading, text, spec, made, "Bandwidth", printed=40)


def coding_answer(calibration: CodingCalibration) -> Answer:
    """The answer of how fast a core encodes and decodes."""
    these = calibration.rates
    most = max(len(one.decode_bytes_per_second) for one in these)
    made = table_of(
        these,
        ("code", "code", "text"),
        ("encode_bytes_per_second", "encode", "TB/s"),
        *(
            (
                f"decode_{lost}_bytes_per_second",
                f"{lost} lost",
                "TB/s",
                lambda one, at=lost - 1: next(iter(one.decode_bytes_per_second[at:]), None),
            )
            for lost in range(1, most + 1)
        ),
        ("strip_bytes", "strip", "bytes"),
        note="User data: encoded, and decoded with so many data strips lost.",
    )
    fastest = max(these, key=lambda one: one.encode_bytes_per_second)
    rate = decimal_rate(fastest.encode_bytes_per_second)
    of = f"{fastest.code} at {rate}" if len(these) > 1 else f"at {rate}"
    return Answer(
        "How fast a core codes",
        [
            f"One core encodes {of} of user data.",
            f"Measured with {calibration.library} on one core of {calibration.machine}.",
        ],
        sections_of(("Codes", [Shown("codes", "Rates of codes", made)])),
        calibration.to_dict(),
        forms={
            ".toml": Form(calibration.to_toml, 'use it as redundancy.coding = {{ file = "{}" }}')
        },
    )


def failures_answer(calibration: FailureCalibration) -> Answer:
    """The answer of a list of lives."""
    found = calibration
    said = [
        found.finding(),
        f"{found.failures:,} of {found.lives:,} lives of {found.components:,} components ended in "
        f"a failure, over {found.component_years:,.4g} component-years.",
    ]
    if found.law == "weibull" and found.weibull is not None:
        said.append("These lives do not show a constant rate; the rate below is their mean.")
    fits = [
        ("failures a year, posterior mean", found.per_year, 1.0),
        ("AFR (%), posterior mean", found.afr, 100.0),
    ]
    if found.weibull is not None:
        fits.append(("Weibull: shape", found.weibull.shape, 1.0))
        fits.append(("Weibull: scale (y)", found.weibull.scale_years, 1.0))
    lines: list[tuple[str, float, float | None, float | None]] = [
        (name, scale * one.value, scale * one.low, scale * one.high) for name, one, scale in fits
    ]
    lines.insert(2, ("failures / years (%)", 100 * found.counted_afr, None, None))
    figures = table_of(
        lines,
        ("figure", "figure", "text"),
        ("fitted", "fitted", "number"),
        ("low", "95 % from", "number"),
        ("high", "to", "number"),
    )
    ages = table_of(
        found.ages,
        ("age", "age (y)", "text", lambda row: f"{row.from_years:.2f} to {row.to_years:.2f}"),
        ("component_years", "years seen", "number"),
        ("failures", "failed", "count"),
        ("constant", "constant rate", "number"),
        ("weibull", "Weibull", "number"),
        filled=True,
    )
    shown = [Shown("figures", "Fits", figures), Shown("ages", "Failures by age", ages)]
    study = Lines("study", "Lines of a study", found.to_toml().rstrip().splitlines())
    return Answer(
        "How often components fail",
        said,
        sections_of(("Fits", shown if found.failures else []), ("In a study", [study])),
        found.to_dict(),
        bool(found.failures),
    )


def _marks(name: str, points: Sequence[tuple[int, Any]], unit: float) -> Marks:
    """The points of a line where they are measured, then all by the model."""
    return [
        (f"{name}, {kind}", size, rate / unit)
        for kind, key in (("measured", "measured"), ("model", "modelled"))
        for size, point in points
        if (rate := getattr(point, f"{key}_bytes_per_second")) is not None
    ]


def _panel(found: Marks, across: str, upwards: str, *, log: bool) -> Spec:
    """Measured points joined, the model dashed, over sizes in powers of two."""
    kinds, xs, ys = zip(*found, strict=True)
    order = list(dict.fromkeys(kinds))
    names = list(dict.fromkeys(kind.rpartition(", ")[0] for kind in order))
    shades = series(names, (BLUE, VERMILLION))
    first = min(xs).bit_length() - 1
    last = max((max(xs) - 1).bit_length(), first + 1)
    powers = range(first, last + 1, -(-(last - first) // 6))
    ticks = {float(2**power): exact_bytes(2**power) for power in powers}
    heights = axis("y", upwards)
    if log:
        low, high = min(ys), max(ys)
        ends = (low / 1.2, high * 1.2)
        heights = axis("y", upwards, ends=ends, log=10, ticks=log_ticks(low, high))
    return lines(
        marks("kind x y", found),
        axis("x", across, ends=(float(min(xs)), float(max(xs))), log=2, ticks=ticks),
        heights,
        {kind: shades[kind.rpartition(", ")[0]] for kind in order},
        dots="indexof(datum.kind, ', measured') > 0",
        dashes=[DASHES[kind.endswith(", model")] for kind in order],
        marks=[MARKS[names.index(kind.rpartition(", ")[0])] for kind in order],
        width=1.75,
        size=26,
        height=230,
    )
