"""`resilver profile`: what the layers of a file system lose, and what slow disks cost."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from resilver.answer import Answer
from resilver.cli.options import overrides, page_output, stated
from resilver.errors import ConfigError
from resilver.request import argument, option, rate, share, value_of
from resilver.units import BytesPerSecond


@dataclass(frozen=True)
class Asked:
    """What is profiled."""

    file: str = argument(
        "STUDY.toml|RATES|LOT.toml",
        text="A study, such as the catalog's center-spider-2-unit; measured rates of groups or "
        "disks, as CSV or as fair-lio printed them; or a lot of disks, such as the catalog's "
        "spider-2.",
    )
    within: str | None = option(
        metavar="PERCENT",
        text="How far a group may be below the reference; by default 5%. Of a study, also replace "
        "slow disks in rounds until all groups are within.",
        quantity=share("5%", most=0.99),
    )
    of: Literal["fastest", "average"] = stated(
        text="The reference: the fastest group of its unit, or the average of all groups.",
        default="average",
    )
    code: str = stated(
        metavar="CODE", text="The code of the groups, where disks were measured.", default="rs 8+2"
    )
    seeds: int | None = option(
        min=1,
        max=10_000,
        text="How often disks of rates or of a lot are drawn; by default 15. A study has seeds of "
        "its own.",
    )
    settings: tuple[str, ...] = overrides("a study or a lot", "lot.spread=0.03")
    measured: tuple[str, ...] = option(
        metavar="FILE",
        text="Of a study: measured rates to set beside the expected ones: what a benchmark program "
        "wrote (see resilver import benchmark; LEVEL=FILE says of which level its devices are), or "
        "CSV with columns layer and rate, and parts, mode and size where they are known. "
        "Repeatable.",
        default=(),
    )
    target: str | None = option(
        text="Of a study: the rate that clients should get; shows what each part needs for it.",
        quantity=rate("1 TB/s"),
    )
    culled: Path | None = option(
        metavar="FILE.toml",
        text="Of a study with --within: write the study with its new disks there, to run it.",
        is_output=True,
        endings=(".toml",),
    )
    page: Path | None = page_output()


def profile(asked: Asked) -> Answer:
    """Show what each layer of a file system loses, or which disk groups are too slow.

    Of a study, its layers from devices to clients: what each passes alone and behind those below,
    what is lost there, and which is the bottleneck. With a target, exits with 1 if clients do not
    get it. With --within, slow disks of its RAID sets are replaced in rounds.

    Of rates or a lot, groups of disks against an envelope: what to replace, and what it gains. A
    CSV has columns group and rate, and optionally unit and disk. A lot says how many disks there
    are and how they spread. Exits with 1 if a group is outside, or if culling a lot never ends.

    Examples:

    resilver profile center-spider-2-unit --target "1 TB/s" --measured ior.csv -o layers.html

    resilver profile center-spider-2-unit --within 5% --of fastest --culled culled.toml

    resilver profile rates.csv --within 7.5% --of fastest -o rates.html

    resilver profile spider-2 --set lot.spread=0.03 --of fastest
    """
    from resilver.center.layering import LayerProfile
    from resilver.center.profiling import MeasuredProfile
    from resilver.report.culling import lot_answer, measured_answer
    from resilver.report.layering import layers_answer
    from resilver.study import profile as perform

    within, target = value_of(asked, "within"), value_of(asked, "target")
    _check_culled(asked)
    found = perform(
        asked.file,
        within=within,
        of=asked.of,
        code=asked.code,
        seeds=asked.seeds,
        overrides=asked.settings,
        measured=asked.measured,
        target=None if target is None else BytesPerSecond(target),
    )
    if isinstance(found, LayerProfile):
        return layers_answer(found)
    return measured_answer(found) if isinstance(found, MeasuredProfile) else lot_answer(found)


def _check_culled(asked: Asked) -> None:
    """Refuse to write a study with new disks where none are replaced."""
    from resilver.study.profiling import is_study

    if asked.culled is None:
        return
    rule, remedy = "", ""
    if not is_study(asked.file):
        rule, remedy = "only a study has disks to replace, and the file is none", "leave it out"
    elif asked.within is None:
        rule, remedy = "no disk is replaced without an envelope", "add --within 5%"
    if rule:
        raise ConfigError(rule, remedy, key="--culled", value=f'"{asked.culled}"')
