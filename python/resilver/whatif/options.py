"""What a what-if is asked beside its changes: options of commands, and names of the API."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from resilver.request import option, share

FRAMES = 240
"""Moments of the frames beside written tables, about as many as the timeline has."""

PACE_MAX = 10.0
"""How many times as fast as its model a device may work."""

_assumption = partial(option, rich_help_panel="Assumptions")


@dataclass(frozen=True)
class HardwareRequest:
    """What is known of a cluster beside its dumps.

    Attributes:
        pace_source: Where `pace` was measured, in a sentence; empty where it is stated.
    """

    load: tuple[str, ...] = _assumption(
        metavar="LOAD",
        text="Client load of a pool: 'rbd: 500 reads/s of 16 KiB, 200 writes/s of 4 KiB'.",
        default=(),
    )
    network: str = _assumption(
        metavar="NETWORK",
        text="Network of a host: from the catalog, such as 25gbe, or a rate. Default: 10gbe.",
        default="",
    )
    devices: tuple[str, ...] = _assumption(
        "--device",
        metavar="[CLASS=]NAME",
        text="Device model of OSDs, or of a class, from the catalog. Default: by class and size.",
        default=(),
    )
    pace: str = _assumption(
        quantity=share("40%", PACE_MAX),
        text="Rate of all devices, as a share of their models'. Default: 100%.",
        default="",
    )
    pace_source: str = ""
    release: str = _assumption(
        metavar="RELEASE",
        text="Ceph release whose defaults apply, such as 18.2.4. Default: as in the dumps.",
        default="",
    )


@dataclass(frozen=True)
class ClusterRequest(HardwareRequest):
    """The same, and how the cluster is simulated."""

    fill: str = _assumption(
        metavar="SHARE",
        text="Fill of all OSDs together, such as 80%: scales the data of every PG and the overhead "
        "of every OSD. Default: as in the dumps.",
        default="",
    )
    grow: tuple[str, ...] = _assumption(
        metavar="POOL=SHARE",
        text="Growth of a pool's data over the dumps, such as rbd=+30%.",
        default=(),
    )
    horizon: str = _assumption(
        metavar="TIME",
        text="Longest time to simulate.",
        default="30 d",
        show_default=True,
    )
    events: bool = _assumption(
        text="Simulate object by object. Default: constant rates between changes.",
        default=False,
    )


@dataclass(frozen=True)
class Request(ClusterRequest):
    """The same with what the command and the API ask of an answer.

    Attributes:
        frames: The most moments of the table ``film``; 0 for none.
    """

    afr: tuple[str, ...] = _assumption(
        metavar="[CLASS=]SHARE",
        text="Annual failure rate of OSDs, or of a class, such as 1.36% or ssd=0.9%: adds the "
        "probability of data loss before the cluster is healthy.",
        default=(),
    )
    anyway: bool = _assumption(
        text="Simulate even if the data does not fit; the answer lists the stuck PGs.",
        default=False,
    )
    counterfactuals: bool | None = option(
        text="List what would speed up recovery: rerun with each limit relaxed (devices twice as "
        "fast, twice the backfill slots, ...). Default for small clusters; slow for large ones.",
        rich_help_panel="Questions",
    )
    seed: int = _assumption(min=0, text="Random seed.", default=0)
    frames: int = 0
