"""Measured against modelled bandwidth, as a file for a paper: measured solid, modelled dashed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from resilver.charts.idioms import lines, series
from resilver.charts.scales import log_ticks
from resilver.charts.style import BLUE, DASHES, MARKS, VERMILLION
from resilver.charts.vega import Spec, rows, write_picture
from resilver.charts.vega import number as axis
from resilver.units import exact_bytes

if TYPE_CHECKING:
    from resilver.calibration import DiskCalibration, NetworkCalibration

_MEGABYTE = 1e6
_MEBIBYTE = 2**20
_PANELS = (
    ("reads", (("read", "sequential"), ("randread", "random"))),
    ("writes", (("write", "sequential"), ("randwrite", "random"))),
)

Line = tuple[str, bool, Sequence[int], Sequence[float]]
"""A line of a panel: its name, whether the model says so, sizes, and bandwidths."""


def write_disk_figure(calibration: DiskCalibration, path: Path) -> None:
    """Draw a volume's bandwidth by request size, reads beside writes.

    Args:
        calibration: What was measured and fitted.
        path: The file, .png, .svg or .pdf.

    Raises:
        ConfigError: The format is unknown, or the file cannot be written.
    """
    errors = [calibration.rmse[mode].fraction for _, modes in _PANELS for mode, _ in modes]
    depth = calibration.queue_depth
    title = (
        f"The model's root-mean-square error: {100 * min(errors):.2g} to {100 * max(errors):.2g} % "
        f"of the mean bandwidth ({depth} request{'s' * (depth > 1)} outstanding)"
    )
    views = []
    for name, modes in _PANELS:
        lines_of: list[Line] = []
        for mode, words in modes:
            points = [point for point in calibration.points if point.mode == mode]
            sizes = [point.request_bytes for point in points]
            solid = [point.measured_bytes_per_second / _MEGABYTE for point in points]
            dashed = [point.modelled_bytes_per_second / _MEGABYTE for point in points]
            lines_of += [(words, False, sizes, solid), (words, True, sizes, dashed)]
        view = _panel(lines_of, "request size", "bandwidth (MB/s)", log=True)
        views.append(view | {"title": {"text": name, "fontSize": 12}})
    write_picture({"hconcat": views}, path, title, "--figure", 900)


def write_network_figure(calibration: NetworkCalibration, path: Path) -> None:
    """Draw the bandwidth between two endpoints by message size.

    Args:
        calibration: The table and what was measured.
        path: The file, .png, .svg or .pdf.

    Raises:
        ConfigError: The format is unknown, or the file cannot be written.
    """
    points = calibration.points
    best = max(points, key=lambda point: point.modelled_bytes_per_second)
    title = (
        f"One message at a time: at most {best.modelled_bytes_per_second / _MEBIBYTE:,.0f} MiB/s, "
        f"at {exact_bytes(best.message_bytes)}"
    )
    if calibration.rmse is not None:
        error = calibration.rmse
        title = (
            f"The model's root-mean-square error is "
            f"{error.bytes_per_second / _MEBIBYTE:,.1f} MiB/s, "
            f"{100 * error.fraction:.2g} % of the mean bandwidth"
        )
    known = [
        (point.message_bytes, point.measured_bytes_per_second / _MEBIBYTE)
        for point in points
        if point.measured_bytes_per_second is not None
    ]
    modelled = [point.modelled_bytes_per_second / _MEBIBYTE for point in points]
    lines_of: list[Line] = [
        ("bandwidth", True, [point.message_bytes for point in points], modelled)
    ]
    if known:
        sizes, rates = zip(*known, strict=True)
        lines_of.insert(0, ("bandwidth", False, sizes, rates))
    view = _panel(lines_of, "message size", "bandwidth (MiB/s)", log=False)
    write_picture(view, path, title, "--figure", 560)


def _panel(lines_of: Sequence[Line], across: str, upwards: str, *, log: bool) -> Spec:
    """Measured points joined, the model dashed, over sizes in powers of two."""
    found = [
        (f"{name}, model" if is_model else f"{name}, measured", size, rate)
        for name, is_model, sizes, rates in lines_of
        for size, rate in zip(sizes, rates, strict=True)
    ]
    kinds, xs, ys = zip(*found, strict=True)
    names = list(dict.fromkeys(name for name, _, _, _ in lines_of))
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
    order = dict.fromkeys(kinds)
    return lines(
        rows(kind=kinds, x=xs, y=ys),
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
