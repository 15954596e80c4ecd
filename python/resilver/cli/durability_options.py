"""Options of `resilver durability`: the system, its failures and repairs, and the method."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path

from resilver.cli.options import RepairOrder
from resilver.request import argument, option


class Method(StrEnum):
    """How an answer is found."""

    auto = "auto"
    exact = "exact"
    plain = "plain"
    importance = "importance"
    splitting = "splitting"


_system = partial(option, rich_help_panel="System")
_failures = partial(option, rich_help_panel="Failures")
_repairs = partial(option, rich_help_panel="Repairs")
_question = partial(option, rich_help_panel="Questions")
_method = partial(option, rich_help_panel="Method")


@dataclass(frozen=True)
class System:
    """The system, its failures and its repairs."""

    what: tuple[str, ...] = argument(
        "WHAT",
        text='A code, such as "rs 8+3", or a range: "rs 4..12+2..4"; a study file or the name of a '
        "study in the catalog; dumps of a Ceph cluster (a `ceph report`, a folder, an archive); "
        "or several of these, which are compared.",
    )
    settings: tuple[str, ...] = _system(
        "--set",
        metavar="KEY=VALUE",
        text="Override one key of each study, for example --set 'redundancy.code=\"rs 8+3\"'.",
        default=(),
    )
    mission: str = _system(
        "--mission",
        metavar="TIME",
        text="How long data must last. Default: as in the study, else 1 y.",
        default="",
    )
    afr: tuple[str, ...] = _failures(
        "--afr",
        metavar="[CLASS=]SHARE",
        text="Annual failure rate of devices, or of a class, such as 1.36% or hdd=1.36%.",
        default=(),
    )
    mttf: str = _failures(
        "--mttf",
        metavar="TIME",
        text="Instead of --afr, the mean time to failure, such as '1.2e6 h'.",
        default="",
    )
    drive: tuple[str, ...] = _failures(
        "--drive",
        metavar="[CLASS=]NAME",
        text="Instead of --afr, a drive model of the catalog with counted failures.",
        default=(),
    )
    repair: str = _repairs(
        "--repair",
        metavar="HOW",
        text="How long the repair of a device takes: a time, such as '10 h'; simulate, by "
        "rebuilds of the same study or cluster; or the repair bandwidth of a device, such as "
        "'50 MiB/s'.",
        default="",
    )
    serial: bool = _repairs(
        "--serial",
        text="Repair one device at a time in each set, like RAID with one rebuild. Default: all at "
        "once.",
        default=False,
    )
    crews: int | None = _repairs(
        "--crews",
        metavar="N",
        min=1,
        text="Instead of --serial, at most N repairs at a time over all sets.",
    )
    repair_order: RepairOrder | None = option(
        "--repair-order",
        rich_help_panel="Repairs",
        text="priority: PG by PG, fewest remaining copies first, like Ceph; device: each device is "
        "back when its whole repair ends, like RAID with a spare. Default: as the system does.",
    )
    hosts: str = _failures(
        "--hosts",
        metavar="CATALOG",
        text="Failures of hosts and racks of a Ceph cluster: never, or an entry of the catalog. "
        "Default: simedc.",
        default="",
    )
    detection: str = _repairs(
        "--detection",
        metavar="TIME",
        text="Time from a failure until repair may begin.",
        default="",
    )
    replacement: str = _repairs(
        "--replacement",
        metavar="TIME",
        text="Time from then until a new device is installed. Default: no wait.",
        default="",
    )
    unreadable: str = _failures(
        "--unreadable",
        metavar="RATE",
        text="Unrecoverable read errors during repair, such as '1e-15 /bit'.",
        default="",
    )
    latent_errors: str = _failures(
        "--latent-errors",
        metavar="RATE",
        text="Latent errors that appear on stored data until scrubbed, such as '0.1 /TB/y'.",
        default="",
    )
    scrub_every: str = _repairs(
        "--scrub-every",
        metavar="TIME",
        text="Interval of scrubs, which read and repair everything.",
        default="",
    )
    device: str = _system(
        "--device",
        metavar="SIZE",
        text="Capacity of a device, such as '20 TB'. Only with codes.",
        default="",
    )
    stored: str = _system(
        "--stored",
        metavar="SIZE",
        text="User data in all, such as '10 PB'. Only with codes, together with --device or "
        "--groups.",
        default="",
    )
    groups: int | None = _system(
        "--groups",
        metavar="N",
        min=1,
        text="Number of groups, each on devices of its own. Only with codes. Default: one, or as "
        "many as --stored needs.",
    )


@dataclass(frozen=True)
class Question:
    """The method, its precision, and where the answer goes."""

    method: Method | None = option(
        "--method",
        rich_help_panel="Method",
        metavar="METHOD",
        text="exact, plain, importance, splitting, or auto (exact where possible). Default: as in "
        "the study, else auto.",
    )
    relative_error: str = _method(
        "--relative-error",
        metavar="SHARE",
        text="Relative standard error at which a simulation stops. Default: as in the study, else "
        "5%.",
        default="",
    )
    trajectories: int | None = _method(
        "--trajectories",
        metavar="N",
        min=1,
        text="Most missions to simulate.",
    )
    sensitivity: bool = _question(
        "--sensitivity", text="Show which rate matters most.", default=False
    )
    bursts: int = _question(
        "--bursts",
        metavar="N",
        min=0,
        text="Show the probability that 1, 2, ... N simultaneous failures lose data.",
        default=0,
    )
    seed: int = _method("--seed", metavar="N", min=0, text="Random seed.", default=0)
    page: Path | None = option(
        "--output", "-o", metavar="FILE.html", text="Write the answer as a page."
    )
    tables: Path | None = option(
        "--tables", metavar="DIR", text="Write the tables of the answer to this folder, as CSV."
    )
    keep: Path | None = option(
        "--keep",
        metavar="DIR",
        text="Keep simulated missions in this folder; the same command resumes from it.",
    )
