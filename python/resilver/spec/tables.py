"""Sections as plain TOML tables: quantities with units, files by path, catalog entries by name."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from resilver import catalog
from resilver.importers.failures import FailureList
from resilver.importers.netgauge import LogGpTable
from resilver.importers.trace import RequestTrace
from resilver.spec.ceph import CephCluster
from resilver.spec.code import ErasureCode
from resilver.spec.device import Device, DeviceClasses, DeviceService, DeviceTable
from resilver.spec.drawn_times import DrawnTime, RepairSpeed
from resilver.spec.failures import BurstSizes
from resilver.spec.histogram import Histogram
from resilver.spec.osd_devices import OsdDevices
from resilver.spec.redundancy import CodingSpeed
from resilver.spec.section import FilePath, Section, written
from resilver.spec.topology import TopologySpec
from resilver.units import exact_bytes, exact_duration


def to_plain(value: Any, *, stated: bool = False) -> Any:
    """A section, or a value in one, as what a TOML file would hold.

    Args:
        value: A section, a quantity, content from a file or the catalog, a list, a table or a plain
            value.
        stated: Whether sections are without what they have by default.

    Returns:
        Text, numbers, booleans, lists and dictionaries, from which validation makes an equal value.
        Keys that are None are left out.
    """
    if isinstance(value, DeviceTable | DeviceService):
        return _device(value)
    if isinstance(value, OsdDevices):
        # It is chosen again by whoever reads the table.
        return None
    if isinstance(value, DeviceClasses):
        return {name: _device(device) for name, device in value.by_class}
    if isinstance(value, RequestTrace | FailureList):
        return FilePath(value.path)
    if isinstance(value, Section) and value.word and not value.given():
        return value.word
    if isinstance(value, BaseModel):
        fields = type(value).model_fields.items()
        # A key that is a word of Python's, such as `in`, goes by another name there.
        plain = {
            field.alias or name: to_plain(getattr(value, name), stated=stated)
            for name, field in fields
            if not stated or name in value.model_fields_set
        }
        plain |= {name: to_plain(item) for name, item in (value.model_extra or {}).items()}
        # Nothing is what an empty list says, and an empty list of tables is no TOML.
        return {name: item for name, item in plain.items() if item is not None and item != []}
    if isinstance(value, dict):
        kept = ((str(key), item) for key, item in value.items() if item is not None)
        return {key: to_plain(item, stated=stated) for key, item in kept}
    if isinstance(value, CephCluster | DrawnTime | RepairSpeed | BurstSizes):
        return value.plain
    if isinstance(value, LogGpTable):
        return _loggp(value)
    if isinstance(value, Histogram):
        return _histogram(value)
    if isinstance(value, TopologySpec):
        return _topology(value)
    if isinstance(value, ErasureCode):
        return value.label
    if isinstance(value, CodingSpeed):
        if value.label == "none":
            return None
        return {"file": FilePath(value.file)} if value.file else value.label
    if isinstance(value, list | tuple):
        return [to_plain(item, stated=stated) for item in value]
    return written(value)


def _device(table: Device) -> Any:
    if table.label in catalog.list("devices"):
        from resilver.spec.cluster import Cluster

        if Cluster.model_validate({"servers": 1, "device": table.label}).device == table:
            return table.label
    fields = {name: to_plain(getattr(table, name)) for name in type(table).model_fields}
    if fields.get("operations"):
        # A metadata server has no times of reads and writes.
        fields |= {"read_service": None, "write_service": None}
    return {name: item for name, item in fields.items() if item not in ("", None)}


def _loggp(table: LogGpTable) -> Any:
    if table.path is not None:
        return {"netgauge": FilePath(table.path)}
    if table.label in catalog.list("networks"):
        from resilver.spec.fabric import Fabric

        shipped = Fabric.model_validate({"table": table.label}).table
        if shipped is not None and shipped.rows == table.rows:
            return table.label
    rows = [
        [
            exact_bytes(row.size_bytes),
            exact_duration(row.latency_seconds),
            exact_duration(row.gap_seconds),
            exact_duration(row.gap_per_byte_seconds),
        ]
        for row in table.rows
    ]
    return {"rows": rows}


def _histogram(histogram: Histogram) -> Any:
    if histogram.path is not None:
        return {"file": FilePath(histogram.path)}
    if histogram.label in catalog.list("populations"):
        from resilver.spec.population import Population

        shipped = Population.model_validate({"histogram": histogram.label, "files": 0}).histogram
        if shipped is not None and shipped.bins == histogram.bins:
            return histogram.label
    bins = [
        [exact_bytes(item.min_bytes), exact_bytes(item.max_bytes), item.file_count]
        for item in histogram.bins
    ]
    return {"bins": bins, **({} if histogram.label == "inline" else {"label": histogram.label})}


def _topology(topology: TopologySpec) -> Any:
    graph = topology.graph
    if graph is None:
        return topology.label
    # A file's own kinds may have been overruled, so those that came of it are written as well.
    names = {"hosts": graph.hosts, "routers": graph.routers}
    chosen = {key: [graph.names[node] for node in nodes] for key, nodes in names.items()}
    return {"graph": FilePath(graph.path), **{key: some for key, some in chosen.items() if some}}
