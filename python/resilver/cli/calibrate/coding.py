"""`resilver calibrate coding`: how fast one core encodes and decodes, measured here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table

from resilver.cli.calibrate.output import Bar, check_places, option_bytes, tell_written
from resilver.cli.console import output, print_json
from resilver.cli.options import Json, Quiet
from resilver.cli.saving import save_whole
from resilver.request import argument, option
from resilver.units import exact_bytes

if TYPE_CHECKING:
    from resilver.calibration import CodingCalibration

_GIGABYTE = 1e9


@dataclass(frozen=True)
class CodingRequest:
    """Which codes are measured, and where their rates go."""

    codes: tuple[str, ...] = argument(
        "CODE", text='Such as "rs 8+3" or "lrc 8+5 local 4".', default=()
    )
    output: Path | None = option(
        "--output",
        "-o",
        metavar="FILE.toml",
        text='Write the rates there, for redundancy.coding = { file = "FILE.toml" }.',
    )
    strip: str = option(
        "--strip", text="One device's part of a stripe.", default="64 KiB", show_default=True
    )
    library: Path | None = option(
        "--library", metavar="FILE", text="Intel's ISA-L; by default what the system finds."
    )


def coding(asked: CodingRequest, as_json: Json = False, quiet: Quiet = False) -> None:
    """Measure how fast a core encodes and decodes, with ISA-L (Debian: libisal2).

    Rates are of user data. Decoding is measured with every number of losses that a code survives.

    Example: resilver calibrate coding "rs 8+3" "lrc 8+5 local 4" -o coding.toml
    """
    from resilver import calibration
    from resilver.simulate import redundancy

    check_places(None, asked.output)
    codes = [redundancy(text) for text in asked.codes]
    strip_bytes = option_bytes("--strip", asked.strip)
    with Bar(quiet) as bar:
        found = calibration.calibrate_coding(
            codes, strip_bytes=strip_bytes, library=asked.library, listener=bar
        )
    if asked.output is not None:
        save_whole(asked.output, found.to_toml())
    if as_json:
        print_json(found.to_dict())
    else:
        _print(found)
    if not quiet:
        use = "" if asked.output is None else f'{{ file = "{asked.output.name}" }}'
        tell_written((), asked.output, f"it as redundancy.coding = {use}", None)


def _print(found: CodingCalibration) -> None:
    console = output()
    console.print(f"{found.library} on one core of {found.machine}", soft_wrap=True)
    console.print("GB of user data a second: encoding, and decoding with data strips lost")
    most = max(len(row.decode_bytes_per_second) for row in found.rates)
    table = Table("code", "strip", "encode", box=box.SIMPLE, padding=(0, 1, 0, 0))
    for losses in range(1, most + 1):
        table.add_column(f"{losses} lost")
    for column in table.columns[1:]:
        column.justify = "right"
    for row in found.rates:
        rates = [row.encode_bytes_per_second, *row.decode_bytes_per_second]
        cells = [f"{rate / _GIGABYTE:,.2f}" for rate in rates]
        table.add_row(row.code, exact_bytes(row.strip_bytes), *cells)
    console.print(table)
