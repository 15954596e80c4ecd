"""What `resilver durability` is asked: a system, how it fails and heals, and what is told of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from resilver.cli.command import argument, option
from resilver.cli.options import RepairOrder


class Method(StrEnum):
    """How an answer is found."""

    auto = "auto"
    exact = "exact"
    plain = "plain"
    importance = "importance"
    splitting = "splitting"


@dataclass(frozen=True)
class System:
    """What may lose data, how it fails and how it heals."""

    what: tuple[str, ...] = argument(
        "WHAT",
        text='A code, such as "rs 8+3", or many: "rs 4..12+2..4"; a study file, or the name of a '
        "study in the catalog; what commands of a Ceph cluster print (a `ceph report`, a folder, "
        "an archive); or several of these, which are compared.",
    )
    settings: tuple[str, ...] = option(
        "--set",
        metavar="KEY=VALUE",
        text="Override one key of each study, for example --set 'redundancy.code=\"rs 8+3\"'.",
        default=(),
    )
    mission: str = option(
        "--mission",
        metavar="TIME",
        text="How long data has to last; by default as the study says, else 1 y.",
        default="",
    )
    afr: tuple[str, ...] = option(
        "--afr",
        metavar="[CLASS=]SHARE",
        text="How many devices fail a year, or of those of a class, such as 1.36% or hdd=1.36%.",
        default=(),
    )
    mttf: str = option(
        "--mttf",
        metavar="TIME",
        text="Instead, the mean time to a device's failure, such as '1.2e6 h'.",
        default="",
    )
    drive: tuple[str, ...] = option(
        "--drive",
        metavar="[CLASS=]NAME",
        text="Instead, a drive of the catalog, whose failures were counted.",
        default=(),
    )
    repair: str = option(
        "--repair",
        metavar="HOW",
        text="How a lost device is made whole: a time, such as '10 h'; simulate, by rebuilds of "
        "the same study or cluster; or the bandwidth that a device gives, such as '50 MiB/s'.",
        default="",
    )
    serial: bool = option(
        "--serial",
        text="Repair one device at a time in each set, as RAID with one rebuild; by default all at "
        "once.",
        default=False,
    )
    crews: int | None = option(
        "--crews",
        metavar="N",
        min=1,
        text="Instead, at most N repairs at a time over all sets.",
    )
    repair_order: RepairOrder | None = option(
        "--repair-order",
        text="priority: PG by PG, those with the fewest copies left first, as Ceph does; device: "
        "each device back as a whole at the end of its repair, as RAID with a spare does. By "
        "default as the system does.",
    )
    hosts: str = option(
        "--hosts",
        metavar="CATALOG",
        text="How hosts and racks of a Ceph cluster fail: simedc, the default, or never.",
        default="",
    )
    detection: str = option(
        "--detection", metavar="TIME", text="From a loss until repair may begin.", default=""
    )
    replacement: str = option(
        "--replacement",
        metavar="TIME",
        text="From then until a new device is there; by default none is waited for.",
        default="",
    )
    unreadable: str = option(
        "--unreadable",
        metavar="RATE",
        text="Unreadable bits of those that a repair reads, such as '1e-15 /bit'.",
        default="",
    )
    latent_errors: str = option(
        "--latent-errors",
        metavar="RATE",
        text="Errors that come up on stored bytes until they are scrubbed, such as '0.1 /TB/y'.",
        default="",
    )
    scrub_every: str = option(
        "--scrub-every", metavar="TIME", text="How often all is read and mended.", default=""
    )
    device: str = option(
        "--device",
        metavar="SIZE",
        text="What a device holds, such as '20 TB': of codes alone.",
        default="",
    )
    stored: str = option(
        "--stored",
        metavar="SIZE",
        text="User bytes in all, such as '10 PB': of codes alone; with --device, on as many groups "
        "as that needs, or on --groups.",
        default="",
    )
    groups: int | None = option(
        "--groups",
        metavar="N",
        min=1,
        text="How many groups there are: of codes alone, each on devices of its own; by default "
        "one, or as many as --stored needs.",
    )


@dataclass(frozen=True)
class Question:
    """What is told, how well it is known, and where it goes."""

    method: Method | None = option(
        "--method",
        metavar="METHOD",
        text="How the answer is found: exact, plain, importance, splitting, or auto, which is "
        "exact where it can be; by default as the study says, else auto.",
    )
    relative_error: str = option(
        "--relative-error",
        metavar="SHARE",
        text="The standard error at which a simulation stops, over what it estimates; by default "
        "as the study says, else 5%.",
        default="",
    )
    trajectories: int | None = option(
        "--trajectories",
        metavar="N",
        min=1,
        text="The most missions that are simulated.",
    )
    sensitivity: bool = option("--sensitivity", text="Tell which rate matters most.", default=False)
    bursts: int = option(
        "--bursts",
        metavar="N",
        min=0,
        text="Tell how likely 1, 2, ... N failures at one moment lose data.",
        default=0,
    )
    seed: int = option("--seed", metavar="N", min=0, text="The seed of what is drawn.", default=0)
    page: Path | None = option(
        "--output", "-o", metavar="FILE.html", text="Write it as a page there."
    )
    tables: Path | None = option(
        "--tables", metavar="DIR", text="Write the tables of the answer there, as CSV."
    )
    keep: Path | None = option(
        "--keep",
        metavar="DIR",
        text="Keep there what is simulated, so that the same command goes on where it stopped.",
    )
