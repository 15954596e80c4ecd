"""Measured against modelled bandwidth, as a file for a paper: measured solid, modelled dashed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

from resilver.errors import ConfigError, Problem
from resilver.report.static import COLUMN_INCHES, FORMATS, PAGE_INCHES, STYLE
from resilver.report.style import BLUE, SERIES_MARKS_STATIC, VERMILLION
from resilver.units import exact_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from resilver.calibration import DiskCalibration, NetworkCalibration

_CHARACTERS_PER_INCH = 14
_MEGABYTE = 1e6
_MEBIBYTE = 2**20
_PANELS = (
    ("reads", (("read", "sequential"), ("randread", "random"))),
    ("writes", (("write", "sequential"), ("randwrite", "random"))),
)


def check_figure_path(path: Path) -> None:
    """Refuse a figure in a format that is not drawn, before anything is computed.

    Args:
        path: Where the figure is to go.

    Raises:
        ConfigError: Its name ends in neither .png nor .svg.
    """
    if path.suffix.lower().removeprefix(".") not in FORMATS:
        rule = "a figure is a file that ends in .png or .svg"
        raise ConfigError(Problem(rule, "name it so", key="--figure", value=f'"{path}"'))


def write_disk_figure(calibration: DiskCalibration, path: Path) -> None:
    """Draw a volume's bandwidth by request size, reads beside writes.

    Args:
        calibration: What was measured and fitted.
        path: The file, .png or .svg.

    Raises:
        ConfigError: The format is unknown, or the file cannot be written.
    """
    errors = [calibration.rmse[mode].fraction for _, modes in _PANELS for mode, _ in modes]
    depth = calibration.queue_depth
    title = (
        f"The model's root-mean-square error: {100 * min(errors):.2g} to {100 * max(errors):.2g} % "
        f"of the mean bandwidth ({depth} request{'s' * (depth > 1)} outstanding)"
    )

    def panels(figure: Figure) -> None:
        axes = figure.subplots(1, 2, sharey=True)
        for ax, (name, modes) in zip(axes, _PANELS, strict=True):
            for (mode, words), colour, mark in zip(
                modes, (BLUE, VERMILLION), SERIES_MARKS_STATIC, strict=False
            ):
                points = [point for point in calibration.points if point.mode == mode]
                sizes = [point.request_bytes for point in points]
                solid = [point.measured_bytes_per_second / _MEGABYTE for point in points]
                dashed = [point.modelled_bytes_per_second / _MEGABYTE for point in points]
                ax.plot(sizes, solid, color=colour, marker=mark, markersize=3, label=words)
                ax.plot(sizes, dashed, color=colour, linestyle="--", label=f"{words}, model")
            ax.set_title(name, loc="left")
            ax.set_yscale("log")
            _sizes_axis(ax, sorted({point.request_bytes for point in calibration.points}))
            ax.set_xlabel("request size")
        axes[0].set_ylabel("bandwidth (MB/s)")
        axes[1].legend(loc="lower right")
        _plain_numbers(axes[0])

    _write(panels, title, (PAGE_INCHES, 2.8), path)


def write_network_figure(calibration: NetworkCalibration, path: Path) -> None:
    """Draw the bandwidth between two endpoints by message size.

    Args:
        calibration: The table and what was measured.
        path: The file, .png or .svg.

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

    def panel(figure: Figure) -> None:
        ax = figure.subplots()
        sizes = [point.message_bytes for point in points]
        measured = [point.measured_bytes_per_second for point in points]
        solid = [rate / _MEBIBYTE for rate in measured if rate is not None]
        if solid:
            ax.plot(sizes, solid, color=BLUE, marker="o", markersize=3, label="measured")
        dashed = [point.modelled_bytes_per_second / _MEBIBYTE for point in points]
        ax.plot(sizes, dashed, color=VERMILLION, linestyle="--", label="model")
        ax.set_ylim(bottom=0)
        ax.yaxis.set_major_formatter("{x:,.0f}")
        _sizes_axis(ax, sizes)
        ax.set_xlabel("message size")
        ax.set_ylabel("bandwidth (MiB/s)")
        ax.legend(loc="upper left")

    _write(panel, title, (COLUMN_INCHES, 2.7), path)


def _sizes_axis(ax: Axes, sizes: Sequence[int]) -> None:
    """A logarithmic axis of sizes, ticked at up to seven powers of two."""
    low = min(sizes).bit_length() - 1
    high = max((max(sizes) - 1).bit_length(), low + 1)
    step = -(-(high - low) // 6)
    powers = range(low, high + 1, step)
    ax.set_xscale("log", base=2)
    ax.set_xticks([2**power for power in powers], [exact_bytes(2**power) for power in powers])
    ax.set_xticks([], minor=True)


def _plain_numbers(ax: Axes) -> None:
    """1,000 and not 10^3 on a logarithmic axis, with 2 and 5 of each decade where there is room."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    low, high = ax.get_ylim()
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 200 * low else (1,)))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    ax.yaxis.set_minor_locator(NullLocator())


def _write(
    draw: Callable[[Figure], None], title: str, inches: tuple[float, float], path: Path
) -> None:
    import matplotlib as mpl
    from matplotlib.figure import Figure

    check_figure_path(path)
    format = path.suffix.lower().removeprefix(".")
    metadata = {"Date": None, "Creator": None} if format == "svg" else {"Software": None}
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=inches, layout="constrained")
        lines = "\n".join(wrap(title, round(inches[0] * _CHARACTERS_PER_INCH)))
        figure.suptitle(lines, x=0.02, ha="left", fontsize=8, fontweight="bold")
        draw(figure)
        try:
            figure.savefig(path, format=format, dpi=300, metadata=metadata)
        except OSError as error:
            rule = f"the figure cannot be written: {error.strerror or error}"
            raise ConfigError(Problem(rule, "choose another place", place=str(path))) from error
