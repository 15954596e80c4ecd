"""What is said of a real cluster beside its dumps, and asked of it: options of several commands."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from resilver.request import option

if TYPE_CHECKING:
    from resilver.whatif.request import Asked


_assumption = partial(option, rich_help_panel="Assumptions")


@dataclass(frozen=True)
class ClusterAsked:
    """What is said of a cluster, and asked of it."""

    load: tuple[str, ...] = _assumption(
        "--load",
        metavar="LOAD",
        text="Client load of a pool: 'rbd: 500 reads/s of 16 KiB, 200 writes/s of 4 KiB'.",
        default=(),
    )
    network: str = _assumption(
        "--network",
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
    release: str = _assumption(
        "--release",
        metavar="RELEASE",
        text="Ceph release whose defaults apply, such as 18.2.4. Default: as in the dumps.",
        default="",
    )
    fill: str = _assumption(
        "--fill",
        metavar="SHARE",
        text="Fill of all OSDs together, such as 80%: scales the data of every PG and the overhead "
        "of every OSD. Default: as in the dumps.",
        default="",
    )
    grow: tuple[str, ...] = _assumption(
        "--grow",
        metavar="POOL=SHARE",
        text="Growth of a pool's data over the dumps, such as rbd=+30%.",
        default=(),
    )
    horizon: str = _assumption(
        "--horizon",
        metavar="TIME",
        text="Longest time to simulate.",
        default="30 d",
        show_default=True,
    )
    events: bool = _assumption(
        "--events",
        text="Simulate object by object. Default: constant rates between changes.",
        default=False,
    )

    def asked(self, afr: tuple[str, ...] = ()) -> Asked:
        """The same for those who answer.

        Args:
            afr: How many OSDs fail a year.
        """
        from resilver.whatif.cluster import Given
        from resilver.whatif.request import Asked

        given = Given(self.release, self.devices, self.network, self.fill, self.grow, afr)
        return Asked(given, self.load, self.horizon, self.events)
