"""What is asked beside a system: how it fails, how it heals, and how well the answer is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from resilver.errors import ConfigError
from resilver.request import check as check_values
from resilver.request import option, share

ORDERS: Mapping[str, Mapping[str, Any]] = {
    "priority": {"returns": "groups", "most_lost_first": True},
    "device": {"returns": "devices"},
}
"""In which order data is repaired, and the keys of a section that say so: PG by PG, those with the
fewest copies left first; or device by device, each back as a whole at the end of its repair."""

HOSTS = ("simedc", "never")
"""By what hosts and racks of a cluster fail: an entry of the catalog, the default, or never."""


_system = partial(option, rich_help_panel="System", default="")
_failures = partial(option, rich_help_panel="Failures", default="")
_repairs = partial(option, rich_help_panel="Repairs", default="")
_questions = partial(option, rich_help_panel="Questions")
_method = partial(option, rich_help_panel="Method")


@dataclass(frozen=True)
class DurabilityRequest:
    """What is asked beside a system. What is empty or None is left to the system's own study."""

    mission: str = _system(
        metavar="TIME",
        text="How long data must last. Default: as in the study, else 1 y.",
    )
    device: str = _system(
        metavar="SIZE",
        text="Capacity of a device, such as '20 TB'. Only with codes.",
    )
    stored: str = _system(
        metavar="SIZE",
        text="User data in all, such as '10 PB'. Only with codes, together with --device or "
        "--groups.",
    )
    groups: int | None = _system(
        min=1,
        max=10**12,
        default=None,
        text="Number of groups, each on devices of its own. Only with codes. Default: one, or as "
        "many as --stored needs.",
    )
    afr: tuple[str, ...] = _failures(
        metavar="[CLASS=]SHARE",
        text="Annual failure rate of devices, or of a class, such as 1.36% or hdd=1.36%.",
        default=(),
    )
    mttf: str = _failures(
        metavar="TIME",
        text="Instead of --afr, the mean time to failure, such as '1.2e6 h'.",
    )
    drive: tuple[str, ...] = _failures(
        metavar="[CLASS=]NAME",
        text="Instead of --afr, a drive model of the catalog with counted failures, such as "
        "backblaze-2025.",
        default=(),
    )
    hosts: str = _failures(
        metavar="CATALOG",
        text="Failures of hosts and racks of a Ceph cluster: never, or an entry of the catalog. "
        "Default: simedc.",
        choices=HOSTS,
    )
    unreadable: str = _failures(
        metavar="RATE",
        text="Unrecoverable read errors during repair, such as '1e-15 /bit'.",
    )
    latent_errors: str = _failures(
        metavar="RATE",
        text="Latent errors that appear on stored data until scrubbed, such as '0.1 /TB/y'.",
    )
    repair: str = _repairs(
        metavar="HOW",
        text="How long the repair of a device takes: a time, such as '10 h'; simulate, by "
        "rebuilds of the same study or cluster; or the repair bandwidth of a device, such as "
        "'50 MiB/s'.",
    )
    repairs: str = _repairs(
        "--serial",
        flag="serial",
        text="Repair one device at a time in each set, like RAID with one rebuild. Default: all at "
        "once.",
    )
    crews: int | None = _repairs(
        min=1,
        default=None,
        text="Instead of --serial, at most N repairs at a time over all sets.",
    )
    repair_order: str = _repairs(
        metavar="ORDER",
        text="priority: PG by PG, fewest remaining copies first, like Ceph; device: each device is "
        "back when its whole repair ends, like RAID with a spare. Default: as the system does.",
        choices=tuple(ORDERS),
    )
    detection: str = _repairs(
        metavar="TIME",
        text="Time from a failure until repair may begin, such as '15 min'.",
    )
    replacement: str = _repairs(
        metavar="TIME",
        text="Time from then until a new device is installed, such as '2 d'. Default: no wait.",
    )
    scrub_every: str = _repairs(
        metavar="TIME",
        text="Interval of scrubs, which read and repair everything, such as '14 d'.",
    )
    sensitivity: bool = _questions(text="Show which rate matters most.", default=False)
    bursts: int = _questions(
        min=0,
        max=200,
        text="Show the probability that 1, 2, ... N simultaneous failures lose data.",
        default=0,
    )
    method: str = _method(
        metavar="METHOD",
        text="exact, plain, importance, splitting, or auto (exact where possible). Default: as in "
        "the study, else auto.",
        default="",
    )
    relative_error: str | None = _method(
        text="Relative standard error at which a simulation stops. Default: as in the study, else "
        "5%.",
        quantity=share(),
    )
    trajectories: int | None = _method(min=1, text="Most missions to simulate.")
    seed: int = _method(min=0, max=2**63 - 1, text="Random seed.", default=0)


@dataclass(frozen=True)
class Where:
    """Where simulations are performed and kept.

    Attributes:
        folder: Keeps finished batches and repair times, so that a killed run goes on; None for
            none.
        workers: Processes of this machine; None for one a processor, 0 for this process alone.
        executor: As of `resilver.execute`: a Dask scheduler's address, a client, an executor.
    """

    folder: Path | None = None
    workers: int | None = None
    executor: Any = None


def check(request: DurabilityRequest) -> None:
    """Refuse what cannot be asked, whatever the system; the rest the study's section refuses.

    Raises:
        ConfigError: With every such value.
    """
    check_values(request)
    if sum(map(bool, (request.afr, request.mttf, request.drive))) > 1:
        rule = "one of afr, mttf and drive says how often devices fail"
        raise ConfigError(rule, "keep one", "mttf" if request.mttf else "drive")
