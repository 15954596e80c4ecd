"""OSDs whose devices a plan replaces by others, under the same numbers."""

from __future__ import annotations

from typing import Any

from resilver.errors import ConfigError
from resilver.importers.buckets import Device
from resilver.units import Bytes, format_bytes
from resilver.whatif.adding import check_device, note_weights
from resilver.whatif.cluster import Cluster, new_min_alloc
from resilver.whatif.declared.forms import DESTROY, ORCHESTRATOR, has
from resilver.whatif.naming import Made, Targets, daemon_lines, pair, targets, verb

_WEIGHT_ONE = 0x10000


def replace(value: str, cluster: Cluster) -> Made:
    """What replacing devices comes to.

    The OSDs stop, come back empty with devices of the size, weigh what they can hold in TiB, and
    are in. Their device class stays, and their device model is that of the OSD of their class that
    is closest in size.

    Args:
        value: ``osd.12=18 TB``, or ``host=node3=18 TB`` for each OSD below a bucket.
        cluster: The cluster, whose OSDs are changed.

    Raises:
        ConfigError: It is not written so, names nothing, or an OSD has no place in the map.
    """
    what, text = pair(value, 'such as "osd.12=18 TB"')
    found, size = targets(what, cluster), int(Bytes.parse(text))
    check_device(size, value)
    weight = size / 2**40
    devices = [_device(cluster, osd) for osd in found.osds]
    _note_number(cluster, found.osds)
    out: list[str] = []
    for device in devices:
        _note_what_it_holds(cluster, device, size)
        note_weights(cluster, device, size)
        # What the cluster begins with has the old device.
        cluster.osds[device.id] = {
            **cluster.osds[device.id],
            "capacity_bytes": size,
            "used_bytes": 0,
            "device": cluster.osds[_closest(cluster, device, size)]["device"],
            "min_alloc_bytes": new_min_alloc(cluster, cluster.kinds[device.id]),
            "settings": cluster.settings.of_osd[device.id],
        }
        if not cluster.reweights[device.id]:
            cluster.reweights[device.id] = _WEIGHT_ONE
            out.append(device.name)
        device.weight = weight
    changes: list[dict[str, Any]] = [
        {"kind": "stop", "osds": found.osds},
        {"kind": "replace", "osds": [cluster.osds[osd] for osd in found.osds]},
        *({"kind": "crush_reweight", "item": one.name, "weight": weight} for one in devices),
        {"kind": "start", "osds": found.osds},
        {"kind": "in", "osds": found.osds},
    ]
    new = "empty devices" if len(devices) > 1 else "an empty device"
    said = f"{found.text} {verb(found, 'gets', 'get')} {new} of {text}"
    lines = _lines(found, weight, cluster)
    lines += [f"ceph osd in {' '.join(out)}"] if out else []
    return Made(changes, said, lines)


def _note_number(cluster: Cluster, osds: list[int]) -> None:
    """Warn where a new OSD would not get the number of the old one."""
    free = next(number for number in range(len(cluster.osds) + 1) if number not in cluster.osds)
    if not has(DESTROY, cluster.release) and (len(osds) > 1 or free < osds[0]):
        cluster.note(
            "Before 12.2 a new OSD takes the lowest free number"
            + (f", here osd.{free}" if free < osds[-1] else "")
            + ": replace one OSD at a time, and fill lower numbers before."
        )


def _device(cluster: Cluster, osd: int) -> Device:
    device = cluster.tree.devices.get(osd)
    if device is None:
        rule, remedy = "it has no place in the CRUSH map", "name an OSD that has"
        raise ConfigError(rule, remedy, value=f"osd.{osd}")
    return device


def _closest(cluster: Cluster, device: Device, size: int) -> int:
    """Of the OSDs of an OSD's class the closest in size."""
    devices, wanted = cluster.tree.devices, device.device_class
    of = [osd for osd in cluster.osds if osd in devices and devices[osd].device_class == wanted]
    return min(of, key=lambda osd: (abs(cluster.capacity_of(osd) - size), osd))


def _note_what_it_holds(cluster: Cluster, device: Device, size: int) -> None:
    """Warn where an OSD holds more than its new device can."""
    used = cluster.osds[device.id]["used_bytes"] or 0
    if used > size:
        cluster.note(
            f"{device.name} holds {format_bytes(used)} and gets a device of {format_bytes(size)}: "
            "by its lower CRUSH weight it gets less, and others get the rest."
        )


def _lines(found: Targets, weight: float, cluster: Cluster) -> list[str]:
    """The lines that replace the devices, one OSD after the other."""
    lines = daemon_lines("stop", found, cluster)
    for osd in found.osds:
        host = cluster.kinds[osd].places.get("host", "its host")
        name = cluster.name_of(osd)
        if has(DESTROY, cluster.release):
            lines.append(f"ceph osd destroy {osd} --yes-i-really-mean-it")
            if has(ORCHESTRATOR, cluster.release):
                lines.append(f"ceph orch daemon add osd {host}:DEVICE  # takes the number again")
            else:
                lines.append(f"ceph-volume lvm create --osd-id {osd} --data DEVICE  # on {host}")
        else:
            lines += [f"ceph auth del osd.{osd}", f"ceph osd rm {osd}"]
            lines.append(f"ceph-disk prepare DEVICE  # on {host}, takes the lowest free number")
        lines.append(f"ceph osd crush reweight {name} {weight:.5g}")
    return lines
