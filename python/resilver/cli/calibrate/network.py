"""`resilver calibrate network`: a LogGP table's bandwidth, from netgauge or measured here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from resilver.answer import Answer
from resilver.cli.console import say
from resilver.cli.options import figure_output, file_output, measuring
from resilver.cli.progress import Display
from resilver.cli.saving import save_whole
from resilver.errors import ConfigError
from resilver.request import argument, option, size, value_of
from resilver.units import Bytes

if TYPE_CHECKING:
    from resilver.calibration import NetworkCalibration


@dataclass(frozen=True)
class NetworkRequest:
    """Which table of a network is judged, or measured, and what comes of it."""

    file: Path | None = argument(
        "NETGAUGE.dat", text="What netgauge's LogGP pattern wrote.", default=None
    )
    measured: Path | None = option(
        metavar="FILE",
        text='Point-to-point times or rates, under a line such as "# size time(us)".',
    )
    output: Path | None = file_output(
        "FILE",
        "Write the usable rows there: .dat as netgauge's, .toml for a study file. Or the answer as "
        "a page (.html).",
        (),
    )
    figure: Path | None = figure_output()
    run: str | None = measuring(
        metavar="HOST:PORT",
        text='Measure over TCP instead: against --serve there, or "loopback".',
    )
    serve: str | None = measuring(
        metavar="ADDRESS:PORT", text="Be the other end of --run, until Ctrl-C."
    )
    save: Path | None = measuring(
        metavar="FILE",
        text="Keep the ping-pong times of --run, in the form that --measured reads.",
        is_output=True,
        endings=(),
    )
    largest: str = measuring(
        text="The largest size to measure.",
        default="64 MiB",
        show_default=True,
        quantity=size("64 MiB"),
    )


def network(asked: NetworkRequest, quiet: bool = False) -> Answer | None:
    """Compute the bandwidth of a LogGP table, and its error against measurements.

    Examples:

    resilver calibrate network netgauge.dat --measured mpptest.txt --figure network.png

    resilver calibrate network --run loopback -o loopback.dat
    """
    from resilver.report.calibration import network_answer

    _check(asked)
    if asked.serve is not None:
        from resilver.calibration.tcp_probe import serve

        serve(asked.serve, lambda text: None if quiet else say(text))
        return None
    return network_answer(_calibration(asked, quiet))


def _check(asked: NetworkRequest) -> None:
    if sum(item is not None for item in (asked.file, asked.run, asked.serve)) != 1:
        rule = "exactly one of netgauge's file, --run and --serve is needed"
        raise ConfigError(rule, "name the file, or what to measure")
    if asked.run is not None and asked.measured is not None:
        rule = "--run measures the ping-pong times itself"
        raise ConfigError(rule, "leave --measured out")
    if asked.run is None and asked.save is not None:
        rule = "--save keeps what --run measures"
        raise ConfigError(rule, "leave --save out, or write the table with -o")
    if asked.serve is not None and (asked.output or asked.figure or asked.measured):
        rule = "--serve measures nothing of its own"
        raise ConfigError(rule, "ask for files where --run is")


def _calibration(asked: NetworkRequest, quiet: bool) -> NetworkCalibration:
    from resilver import calibration

    if asked.run is None:
        assert asked.file is not None
        return calibration.network.calibrate_network(asked.file, asked.measured)
    from resilver.calibration.loggp_fit import table_of, write_times
    from resilver.calibration.tcp_probe import measure

    largest = Bytes(value_of(asked, "largest") or 0)
    with Display(quiet=quiet) as display:
        rounds = measure(asked.run, display, largest)
    if asked.save is not None:
        save_whole(asked.save, write_times(rounds))
    return calibration.network.calibrate_table(*table_of(rounds, f"TCP to {asked.run}"))
