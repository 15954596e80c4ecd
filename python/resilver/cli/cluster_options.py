"""What is said of a real cluster beside its dumps, and asked of it: options of several commands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from resilver.cli.command import option

if TYPE_CHECKING:
    from resilver.whatif.asking import Asked


@dataclass(frozen=True)
class ClusterAsked:
    """What is said of a cluster, and asked of it."""

    load: tuple[str, ...] = option(
        "--load",
        metavar="LOAD",
        text="What clients ask of a pool: 'rbd: 500 reads/s of 16 KiB, 200 writes/s of 4 KiB'.",
        default=(),
    )
    network: str = option(
        "--network",
        metavar="NETWORK",
        text="The network of a host: of the catalog, such as 25gbe, or a rate; by default 10gbe.",
        default="",
    )
    devices: tuple[str, ...] = option(
        "--device",
        metavar="[CLASS=]NAME",
        text="The device of OSDs, or of those of a class, of the catalog; by default by class and "
        "size.",
        default=(),
    )
    release: str = option(
        "--release",
        metavar="RELEASE",
        text="The release whose defaults hold, such as 18.2.4; by default as the dumps say.",
        default="",
    )
    fill: str = option(
        "--fill",
        metavar="SHARE",
        text="How full all OSDs are together, such as 80%: every group holds more, and what an OSD "
        "takes for itself grows with it; by default as the dumps say.",
        default="",
    )
    grow: tuple[str, ...] = option(
        "--grow",
        metavar="POOL=SHARE",
        text="What a pool holds beyond what the dumps say, such as rbd=+30%.",
        default=(),
    )
    horizon: str = option(
        "--horizon",
        metavar="TIME",
        text="How long it is followed at the most.",
        default="30 d",
        show_default=True,
    )
    events: bool = option(
        "--events",
        text="Move data object by object; by default by steady rates between two changes.",
        default=False,
    )

    def asked(self, afr: tuple[str, ...] = ()) -> Asked:
        """The same for those who answer.

        Args:
            afr: How many OSDs fail a year.
        """
        from resilver.whatif.asking import Asked
        from resilver.whatif.cluster import Given

        given = Given(self.release, self.devices, self.network, self.fill, self.grow, afr)
        return Asked(given, self.load, self.horizon, self.events)
