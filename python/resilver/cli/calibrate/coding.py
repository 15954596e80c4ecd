"""`resilver calibrate coding`: how fast one core encodes and decodes, measured here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from resilver.answer import Answer
from resilver.cli.options import stated, table_output
from resilver.cli.progress import Display
from resilver.request import argument, option, size, value_of
from resilver.units import Bytes


@dataclass(frozen=True)
class CodingRequest:
    """Which codes are measured, and where their rates go."""

    codes: tuple[str, ...] = argument(
        "CODE", text='Such as "rs 8+3" or "lrc 8+5 local 4".', default=()
    )
    output: Path | None = table_output("Write the rates there, for redundancy.coding of a study.")
    strip: str = stated(
        text="One device's part of a stripe.", default="64 KiB", quantity=size("64 KiB")
    )
    library: Path | None = option(
        metavar="FILE", text="Intel's ISA-L; by default what the system finds."
    )


def coding(asked: CodingRequest, quiet: bool = False) -> Answer:
    """Measure how fast a core encodes and decodes, with ISA-L (Debian: libisal2).

    Rates are of user data. Decoding is measured with every number of losses that a code survives.

    Example: resilver calibrate coding "rs 8+3" "lrc 8+5 local 4" -o coding.toml
    """
    from resilver import calibration
    from resilver.report.calibration import coding_answer
    from resilver.simulate import redundancy

    codes = [redundancy(text) for text in asked.codes]
    with Display(quiet=quiet) as display:
        found = calibration.calibrate_coding(
            codes,
            strip_bytes=Bytes(value_of(asked, "strip") or 0),
            library=asked.library,
            listener=display,
        )
    return coding_answer(found)
