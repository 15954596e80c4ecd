"""The devices of a real cluster's OSDs, where the study does not say them."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import Any

from resilver import catalog
from resilver.importers.ceph import ClusterReport
from resilver.spec.device import DeviceClasses, catalog_device
from resilver.units import Bytes

UNKNOWN_SIZE_DISK = "hdd-7k2-8tb"
"""What stands for a disk of which neither a dump nor a weight tells the size."""

_FLASH = {"ssd": "ssd-sata", "nvme": "nvme-read-intensive"}
"""What stands for the classes that Ceph gives flash, whatever its size."""

KNOWN_CLASSES = ("hdd", *_FLASH)
"""The classes that Ceph gives OSDs by itself."""


@dataclass(frozen=True)
class OsdDevices(DeviceClasses):
    """A device of the catalog for each OSD, by its class and its size.

    Attributes:
        by_class: The catalog's names with their devices.
        of_osd: Which of them each OSD number has, by position; 0 where there is no OSD.
        groups: How many OSDs there are of each class and device: (class or None, name, count).
        guessed: What could not be read of some OSD: ``class``, ``size``.
    """

    of_osd: tuple[int, ...] = ()
    groups: tuple[tuple[str | None, str, int], ...] = ()
    guessed: tuple[str, ...] = ()

    def content(self) -> dict[str, Any]:
        """What affects results, JSON-able; that of the device where all have the same."""
        if len(self.by_class) == 1:
            return self.by_class[0][1].content()
        return {**super().content(), "label": " and ".join(self.names), "of_osd": list(self.of_osd)}


def osd_devices(report: ClusterReport) -> OsdDevices:
    """The device of every OSD: of its class, and of a disk the nearest size that the catalog has.

    An OSD whose class is none of hdd, ssd and nvme is taken for a disk of 7,200 revolutions a
    minute. Its size is what a dump states in kB, else its CRUSH weight, which is in TiB by Ceph's
    convention.
    """
    classes, sizes = report.buckets.classes, report.capacities
    chosen = {osd.id: _name_of(classes.get(osd.id), sizes.get(osd.id)) for osd in report.osds}
    names = list(dict.fromkeys(chosen.values())) or [UNKNOWN_SIZE_DISK]
    place = {name: number for number, name in enumerate(names)}
    count = max(chosen, default=-1) + 1
    groups = Counter((classes.get(number), name) for number, name in chosen.items())
    is_disk = [number for number in chosen if classes.get(number) not in _FLASH]
    guessed = []
    if any(classes.get(number) != "hdd" for number in is_disk) or not chosen:
        guessed.append("class")
    if any(not sizes.get(number) for number in is_disk) or not chosen:
        guessed.append("size")
    return OsdDevices(
        tuple((name, catalog_device(name)) for name in names),
        tuple(place.get(chosen.get(number, ""), 0) for number in range(count)),
        tuple((*key, several) for key, several in groups.items()),
        tuple(guessed),
    )


def _name_of(device_class: str | None, size_bytes: int | None) -> str:
    """The catalog's name for an OSD's device."""
    if device_class in _FLASH:
        return _FLASH[device_class]
    if not size_bytes:
        return UNKNOWN_SIZE_DISK
    # Sizes lie apart by ratio: 2.8 TB is nearer to 4 TB than to 2 TB, and 2.7 TB is not.
    return min(_disk_sizes(), key=lambda one: abs(math.log(size_bytes / one[1])))[0]


@cache
def _disk_sizes() -> tuple[tuple[str, int], ...]:
    """The disks of the catalog with their sizes in bytes."""
    sheets = {name: catalog.load("devices", name).data_sheet for name in catalog.list("devices")}
    return tuple(
        (name, int(Bytes.parse(sheet["capacity"])))
        for name, sheet in sheets.items()
        if sheet.get("class") == "hdd"
    )
