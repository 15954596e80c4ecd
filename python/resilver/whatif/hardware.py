"""The devices of a cluster's OSDs and the network of its hosts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from resilver import catalog
from resilver.errors import ConfigError, name_remedy, show
from resilver.importers.ceph import ClusterReport, OsdMetadata
from resilver.importers.netgauge import LogGpTable
from resilver.request import value_of
from resilver.spec.device import Device, DeviceService, catalog_device
from resilver.spec.fabric import REAL_CLUSTER_NETWORK
from resilver.spec.loggp import catalog_table
from resilver.spec.osd_devices import KNOWN_CLASSES, osd_devices
from resilver.units import BytesPerSecond, format_bytes, format_rate
from resilver.whatif.answer import PACE, Origin
from resilver.whatif.configuration import Ledger
from resilver.whatif.options import HardwareRequest

_ENDLESS_RATE = 1e15
"""Bytes a second of a device whose requests take one time, whatever their bytes."""

_UNKNOWN_CAPACITY = 8 * 10**12
"""The bytes of an OSD of which neither a dump nor a weight tells the size: those of the disk that
stands for it (`resilver.spec.osd_devices`)."""


@dataclass(frozen=True)
class Hardware:
    """The devices of a cluster's OSDs and the network of its hosts.

    Attributes:
        capacities: The bytes of each OSD, by number, as far as they are known.
        stated: The OSDs whose bytes a dump states.
        classes: The class of each OSD that has one.
        metadata: What `ceph osd metadata` says of each OSD, by number.
        laws: The law of each OSD's device, by number.
        network: The network of a host, as the core reads it.
    """

    capacities: dict[int, int]
    stated: frozenset[int]
    classes: dict[int, str]
    metadata: dict[int, OsdMetadata]
    laws: dict[int, dict[str, Any]]
    network: dict[str, float]

    def law(self, osd: int) -> dict[str, Any]:
        """The law of an OSD's device."""
        return self.laws[osd]

    def turns(self, osd: int) -> tuple[bool, bool]:
        """Whether an OSD's data is on a disk that turns, and whether its database then is not.

        Metadata says so, else its class; an OSD of no known class is taken for a disk.
        """
        stated = self.metadata.get(osd)
        is_disk = self.classes.get(osd) not in KNOWN_CLASSES[1:]
        if stated is None:
            return is_disk, False
        if stated.rotational is not None:
            is_disk = stated.rotational
        return is_disk, is_disk and stated.journal_rotational is False

    def capacity(self, osd: int, ledger: Ledger) -> int:
        """How many bytes an OSD has, and who says so."""
        name = f"osd.{osd}"
        known = self.capacities.get(osd)
        if known is None:
            size = format_bytes(_UNKNOWN_CAPACITY)
            ledger.note("capacity", size, "assumed", "no dump and no CRUSH weight tells it", name)
            return _UNKNOWN_CAPACITY
        if osd in self.stated:
            return known
        ledger.note("capacity", "its CRUSH weight in TiB", "assumed", "no dump states bytes", name)
        return known


def choose_hardware(report: ClusterReport, request: HardwareRequest, ledger: Ledger) -> Hardware:
    """The devices and the network of a cluster.

    Args:
        report: What its dumps say.
        request: What the user says of them.
        ledger: Where it is kept what was chosen.

    Raises:
        ConfigError: A name is none of the catalog's, or a class none of the cluster's.
    """
    classes = report.buckets.classes
    by_class, general = _stated_devices(request.devices, sorted(set(classes.values())))
    chosen = osd_devices(report)
    pace = value_of(request, "pace") or 1.0
    if request.pace:
        origin: Origin = "dump" if request.pace_source else "stated"
        ledger.note(PACE, f"{round(100 * pace, 1):g} %", origin, request.pace_source, "")
    of_name: dict[str, dict[str, Any]] = {}
    laws = {}
    for osd in report.osds:
        device_class = classes.get(osd.id, "")
        name = by_class.get(device_class, general)
        what = f"device of class {device_class}" if device_class else "device"
        if name:
            ledger.note(what, name, "stated", "", f"osd.{osd.id}")
        else:
            name = chosen.names[chosen.of_osd[osd.id]]
            sentence = "by class and size, of the catalog; --device states another"
            ledger.note(what, name, "assumed", sentence, f"osd.{osd.id}")
        if name not in of_name:
            of_name[name] = device_law(catalog_device(name), pace)
        laws[osd.id] = of_name[name]
    metadata = {one.osd: one for one in report.metadata}
    stated = {one.osd for one in report.usage} | dict(report.osd_bytes).keys()
    sizes = report.capacities
    hosts = _network(request.network, ledger)
    return Hardware(sizes, frozenset(stated), classes, metadata, laws, hosts)


def _stated_devices(devices: Sequence[str], classes: list[str]) -> tuple[dict[str, str], str]:
    """The device of each class, and that of all others."""
    by_class, general = {}, ""
    for text in devices:
        device_class, sign, name = text.rpartition("=")
        if sign and device_class not in classes:
            rule = "no OSD has this class"
            remedy = name_remedy(device_class, classes, "classes")
            raise ConfigError(rule, remedy, key="--device", value=show(text))
        if name not in catalog.list("devices"):
            remedy = name_remedy(name, catalog.list("devices"))
            rule = "the catalog has no such device"
            raise ConfigError(rule, remedy, key="--device", value=show(text))
        if sign:
            by_class[device_class] = name
        else:
            general = name
    return by_class, general


def device_law(device: Device, pace: float) -> dict[str, Any]:
    """A device's law: seconds before the bytes, and a rate; of a table those of its largest size.

    Args:
        device: A table of the catalog, or a device of one time a request. Objects are read and
            written in pieces of megabytes, to which a table's largest size is next.
        pace: How many times as fast it works.
    """
    if isinstance(device, DeviceService):
        return {
            "read_seconds": float(device.read_service) / pace,
            "read_bytes_per_second": _ENDLESS_RATE,
            "write_seconds": float(device.write_service) / pace,
            "write_bytes_per_second": _ENDLESS_RATE,
            "channels": 1,
        }
    return {
        "read_seconds": (float(device.read_overhead) + float(device.read_seek[-1])) / pace,
        "read_bytes_per_second": float(device.read_rate) * pace,
        "write_seconds": (float(device.write_overhead) + float(device.write_seek[-1])) / pace,
        "write_bytes_per_second": float(device.write_rate) * pace,
        # The catalog's devices serve one request at a time, each for the share of the device's
        # time that it takes.
        "channels": 1,
    }


def _network(stated: str, ledger: Ledger) -> dict[str, float]:
    name = "network of a host"
    table = catalog_table(REAL_CLUSTER_NETWORK)
    latency, rate = _of_table(table)
    if not stated:
        sentence = f"{REAL_CLUSTER_NETWORK} of the catalog, as no dump says it; --network does"
        ledger.note(name, format_rate(rate), "assumed", sentence, "")
    elif stated in catalog.list("networks"):
        latency, rate = _of_table(catalog_table(stated))
        ledger.note(name, format_rate(rate), "stated", f"{stated} of the catalog", "")
    else:
        try:
            rate = float(BytesPerSecond.parse(stated))
        except ConfigError as error:
            near = name_remedy(stated, catalog.list("networks"))
            rule = f"a network is one of the catalog or a rate ({error.problems[0].rule})"
            remedy = f'{near}, or such as "25 Gb/s"'
            raise ConfigError(rule, remedy, key="--network", value=show(stated)) from None
        if rate <= 0:
            rule, remedy = "a rate is above zero", 'such as "25 Gb/s"'
            raise ConfigError(rule, remedy, key="--network", value=show(stated))
        ledger.note(name, format_rate(rate), "stated", "", "")
    return {"host_bytes_per_second": rate, "latency_seconds": latency}


def _of_table(table: LogGpTable) -> tuple[float, float]:
    """The latency and the rate of a network's largest message."""
    row = table.rows[-1]
    return row.latency_seconds, 1 / row.gap_per_byte_seconds
