"""`resilver calibrate network`: a LogGP table's bandwidth, from netgauge or measured here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table

from resilver.cli.calibrate.output import (
    FIGURE,
    check_places,
    measuring,
    option_bytes,
    tell_written,
)
from resilver.cli.console import output, print_json, say
from resilver.cli.options import Json, Quiet
from resilver.cli.saving import save_whole
from resilver.errors import ConfigError, Problem
from resilver.request import argument, option
from resilver.units import exact_bytes

if TYPE_CHECKING:
    from resilver.calibration import NetworkCalibration

_MEBIBYTE = 2**20


@dataclass(frozen=True)
class NetworkRequest:
    """Which table of a network is judged, or measured, and what comes of it."""

    file: Path | None = argument(
        "NETGAUGE.dat", text="What netgauge's LogGP pattern wrote.", default=None
    )
    measured: Path | None = option(
        "--measured",
        metavar="FILE",
        text='Point-to-point times or rates, under a line such as "# size time(us)".',
    )
    output: Path | None = option(
        "--output",
        "-o",
        metavar="FILE",
        text="Write the usable rows there: .dat as netgauge's, .toml for a study file.",
    )
    figure: Path | None = FIGURE
    run: str | None = measuring(
        "--run",
        metavar="HOST:PORT",
        text='Measure over TCP instead: against --serve there, or "loopback".',
    )
    serve: str | None = measuring(
        "--serve", metavar="ADDRESS:PORT", text="Be the other end of --run, until Ctrl-C."
    )
    save: Path | None = measuring(
        "--save",
        metavar="FILE",
        text="Keep the ping-pong times of --run, in the form that --measured reads.",
    )
    largest: str = measuring(
        "--largest", text="The largest size to measure.", default="64 MiB", show_default=True
    )


def network(asked: NetworkRequest, as_json: Json = False, quiet: Quiet = False) -> None:
    """Compute the bandwidth of a LogGP table, and its error against measurements.

    Examples:

    resilver calibrate network netgauge.dat --measured mpptest.txt --figure network.png

    resilver calibrate network --run loopback -o loopback.dat
    """
    _check(asked)
    if asked.serve is not None:
        from resilver.calibration.tcp_probe import serve

        serve(asked.serve, lambda text: None if quiet else say(text))
        return
    found = _calibration(asked, quiet)
    if asked.output is not None:
        save_whole(asked.output, _text(found, asked.output))
    if asked.figure is not None:
        from resilver.report.calibration import write_network_figure

        write_network_figure(found, asked.figure)
    if as_json:
        print_json(found.to_dict())
    else:
        _print(found)
    if not quiet:
        tell_written(found.notes, asked.output, _use(asked.output), asked.figure)


def _use(output: Path | None) -> str:
    """How a study uses the file."""
    if output is None:
        return ""
    if output.suffix == ".toml":
        return "its section [cluster.fabric] in a study file"
    return f'cluster.fabric.table = {{ netgauge = "{output.name}" }}'


def _check(asked: NetworkRequest) -> None:
    if sum(item is not None for item in (asked.file, asked.run, asked.serve)) != 1:
        rule = "exactly one of netgauge's file, --run and --serve is needed"
        raise ConfigError(Problem(rule, "name the file, or what to measure"))
    if asked.run is not None and asked.measured is not None:
        rule = "--run measures the ping-pong times itself"
        raise ConfigError(Problem(rule, "leave --measured out"))
    if asked.run is None and asked.save is not None:
        rule = "--save keeps what --run measures"
        raise ConfigError(Problem(rule, "leave --save out, or write the table with -o"))
    if asked.serve is not None and (asked.output or asked.figure or asked.measured):
        rule = "--serve measures nothing of its own"
        raise ConfigError(Problem(rule, "ask for files where --run is"))
    check_places(asked.figure, asked.output, asked.save)


def _calibration(asked: NetworkRequest, quiet: bool) -> NetworkCalibration:
    from resilver import calibration

    if asked.run is None:
        assert asked.file is not None
        return calibration.network.calibrate_network(asked.file, asked.measured)
    from resilver.calibration.loggp_fit import table_of, write_times
    from resilver.calibration.tcp_probe import measure
    from resilver.cli.calibrate.output import Bar

    largest = option_bytes("--largest", asked.largest)
    with Bar(quiet) as bar:
        rounds = measure(asked.run, bar, largest)
    if asked.save is not None:
        save_whole(asked.save, write_times(rounds))
    return calibration.network.calibrate_table(*table_of(rounds, f"TCP to {asked.run}"))


def _text(found: NetworkCalibration, path: Path) -> str:
    if path.suffix != ".toml":
        return found.to_netgauge()
    from dataclasses import replace

    from resilver.spec.tables import to_plain
    from resilver.spec.toml import write_value

    rows = to_plain(replace(found.table, path=None, label=""))["rows"]
    lines = "".join(f"  {write_value(row)},\n" for row in rows)
    return f'[cluster.fabric]\nmodel = "loggp"\n\n[cluster.fabric.table]\nrows = [\n{lines}]\n'


def _print(found: NetworkCalibration) -> None:
    console = output()
    rows = Table("size", "L", "g", "G", box=box.SIMPLE)
    for column in rows.columns:
        column.justify = "right"
    for row in found.table.rows:
        rows.add_row(
            exact_bytes(row.size_bytes),
            f"{row.latency_seconds * 1e6:,.3f} us",
            f"{row.gap_seconds * 1e6:,.3f} us",
            f"{row.gap_per_byte_seconds * 1e9:,.4f} ns/B",
        )
    console.print(rows)
    measured = found.rmse is not None
    curve = Table("message", "model", box=box.SIMPLE)
    if measured:
        curve.add_column("measured")
    for column in curve.columns:
        column.justify = "right"
    for point in found.points:
        cells = [point.modelled_bytes_per_second, point.measured_bytes_per_second]
        rates = [f"{rate / _MEBIBYTE:,.2f} MiB/s" for rate in cells if rate is not None]
        curve.add_row(exact_bytes(point.message_bytes), *rates)
    console.print(curve)
    if found.rmse is not None:
        count = sum(point.measured_bytes_per_second is not None for point in found.points)
        console.print(
            f"RMSE over {count} sizes: {found.rmse.bytes_per_second / _MEBIBYTE:,.3f} MiB/s, "
            f"{100 * found.rmse.fraction:.2f} % of the mean measured"
        )
