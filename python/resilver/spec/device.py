"""The device of every server: a disk volume whose request times follow a measured table.

Service time = overhead + size / rate + seek. The seek applies when the request's object differs
from the previous request's, or when it does not begin within `sequential_gap` after that request's
end. A request takes the seek of the largest size in `request_sizes` that is not above its own; a
request below the first takes the first. Instead, a device may take one time for any request.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from pydantic import Field, ValidationInfo, model_validator

from resilver import catalog
from resilver.errors import ConfigError, Problem, Problems, placed, show, under
from resilver.spec.laid_out import LaidOut
from resilver.spec.section import Positive, Section, file_path, one_key
from resilver.text import name_of, read_toml
from resilver.units import SECONDS_MAX, Bytes, BytesPerSecond, PerSecond, Seconds

if TYPE_CHECKING:
    from resilver.importers.fio import FioReport
    from resilver.spec.disk_fit import DiskFit

_SERVICE_KEYS = ("service", "read_service", "write_service")
OPERATIONS = ("stat", "open", "create", "unlink")
"""What clients ask of a metadata server."""
_NO_EFFECT = {"description", "source", "capacity"}
_SIZES = ("4 KiB", "4 MiB")
_SEEKS = ("3.5 ms", "11.7 ms")


class _Described(Section):
    """What a device is called and where its figures are from."""

    label: str = Field(default="", examples=["nl-sas-8tb"])
    """Its name in the catalog or of its file, which has no effect on results. Default: none."""
    description: str = Field(default="", examples=["An 8 TB SAS disk."])
    """What it is."""
    source: str = Field(default="", examples=["Measured with fio."])
    """Where its figures are from."""
    capacity: Positive[Bytes] | None = Field(default=None, examples=["20 TB"])
    """What it holds, to which a study's population is held. Default: of a name of the catalog what
    its data sheet states, else not known.
    """


class DeviceTable(_Described):
    """The service-time table of a volume."""

    request_sizes: tuple[Bytes, ...] = Field(min_length=1, examples=[_SIZES])
    """The sizes measured, rising."""
    sequential_gap: Bytes = Bytes(512)
    """How far past the previous request's end a request may begin without a seek."""
    read_rate: BytesPerSecond = Field(examples=["1542.1 MiB/s"])
    """The largest sequential rate of reads."""
    read_overhead: Seconds = Field(examples=["23.67 us"])
    """The fixed time of a read."""
    read_seek: tuple[Seconds, ...] = Field(examples=[_SEEKS])
    """The seek of a read, one a size."""
    write_rate: BytesPerSecond = Field(examples=["1511.7 MiB/s"])
    """The largest sequential rate of writes."""
    write_overhead: Seconds = Field(examples=["29.67 us"])
    """The fixed time of a write."""
    write_seek: tuple[Seconds, ...] = Field(examples=[_SEEKS])
    """The seek of a write, one a size."""

    def _problems(self) -> Problems:
        sizes = self.request_sizes
        if any(after <= before for before, after in pairwise(sizes)) or 0 in sizes:
            rule = "the sizes must be above zero and rise"
            yield Problem(rule, "sort them", key="request_sizes")
        for name in ("read_seek", "write_seek"):
            count = len(getattr(self, name))
            if count != len(sizes):
                rule = f"{count} seeks for {len(sizes)} request sizes"
                yield Problem(rule, "give one seek a size", key=name)
        for name in ("read_rate", "write_rate"):
            if getattr(self, name) <= 0:
                yield Problem("the rate must be above zero", key=name)

    def content(self) -> dict[str, Any]:
        """What affects results, JSON-able: in bytes, bytes per second and seconds."""
        dumped = self.model_dump(mode="json", exclude=_NO_EFFECT)
        return {
            key: [*value] if isinstance(value, tuple) else value for key, value in dumped.items()
        }


class OperationRates(Section):
    """How many operations of one kind alone a metadata server does a second."""

    stat: Positive[PerSecond] | None = Field(default=None, examples=["50000 /s"])
    """Attributes of files."""
    open: Positive[PerSecond] | None = Field(default=None, examples=["40000 /s"])
    """Opens of files that exist."""
    create: Positive[PerSecond] | None = Field(default=None, examples=["15000 /s"])
    """New files."""
    unlink: Positive[PerSecond] | None = Field(default=None, examples=["12000 /s"])
    """Removals of files."""

    def _problems(self) -> Problems:
        if not self.given():
            rule = "a metadata server does some operations"
            yield Problem(rule, 'such as { stat = "50000 /s", create = "15000 /s" }')
        for name, rate in self.given().items():
            if rate is not None and 1 / rate >= SECONDS_MAX:
                yield self.problem(name, "one operation takes no longer than 213 days", "use more")


class DeviceService(_Described):
    """A device whose requests take a time of their own kind, whatever their size.

    In a study file ``service`` gives both times at once.
    """

    read_service: Seconds = Field(examples=["22 ms"])
    """The time of a read, on average; zero for a device that is never waited for."""
    write_service: Seconds = Field(examples=["22 ms"])
    """The time of a write, on average."""
    operations: OperationRates | None = Field(default=None, examples=[{"stat": "50000 /s"}])
    """Instead of these times: a metadata server (an MDT), with how many operations of each kind
    alone it does a second. It holds no data.
    """
    distribution: Literal["fixed", "exponential"] = "fixed"
    """How the times are distributed: ``fixed``, or ``exponential`` with these means."""

    @model_validator(mode="before")
    @classmethod
    def _both(cls, data: Any) -> Any:
        """Take ``service`` for both times."""
        if isinstance(data, dict) and data.get("operations") is not None:
            # Its times are those of operations; sections are made again from all their values.
            for key in _SERVICE_KEYS:
                if data.get(key):
                    rule = "a metadata server holds no data"
                    raise ConfigError(rule, "remove it", key=key, value=show(data[key]))
            return {**data, "read_service": Seconds(0), "write_service": Seconds(0)}
        if not isinstance(data, dict) or "service" not in data:
            return data
        twice = [key for key in _SERVICE_KEYS[1:] if key in data]
        if twice:
            rule = "service is the time of reads and of writes"
            remedy = "give service alone, or read_service and write_service"
            raise ConfigError(rule, remedy, key=twice[0], value=show(data[twice[0]]))
        rest = {key: value for key, value in data.items() if key != "service"}
        with under("service"):
            time = Seconds.parse(data["service"])
        return {**rest, "read_service": time, "write_service": time}

    def _problems(self) -> Problems:
        rule = "the mean of an exponential distribution is above zero"
        remedy = 'such as "22 ms", or distribution = "fixed" for a device that takes no time'
        for name in _SERVICE_KEYS[1:]:
            is_drawn = self.distribution == "exponential" and self.operations is None
            if is_drawn and getattr(self, name) <= 0:
                yield self.problem(name, rule, remedy)

    @property
    def rates(self) -> dict[str, float]:
        """How many operations of each kind a metadata server does a second; of others nothing."""
        rates = {name: getattr(self.operations, name, None) for name in OPERATIONS}
        return {name: float(rate) for name, rate in rates.items() if rate is not None}

    def content(self) -> dict[str, Any]:
        """What affects results, JSON-able: in seconds, and operations a second."""
        # Left out where there are none, so that runs without them keep their keys.
        without = _NO_EFFECT if self.operations is not None else {*_NO_EFFECT, "operations"}
        return self.model_dump(mode="json", exclude=without)


Device: TypeAlias = DeviceTable | DeviceService
"""What a server has: a table of measured times, or one time a request."""


@dataclass(frozen=True)
class DeviceClasses:
    """A device for each class, such as ``hdd`` and ``ssd``.

    Attributes:
        by_class: The classes with their devices, in the order of the study file.
    """

    by_class: tuple[tuple[str, Device], ...]

    @property
    def names(self) -> list[str]:
        """The classes."""
        return [name for name, _ in self.by_class]

    def of(self, name: str | None) -> Device | None:
        """The device of a class, if it has one."""
        return dict(self.by_class).get(name or "")

    def content(self) -> dict[str, Any]:
        """What affects results, JSON-able."""
        return {"classes": {name: device.content() for name, device in self.by_class}}


def device_or_classes(value: object, info: ValidationInfo) -> Device | DeviceClasses:
    """The device, or the device of each class, that a study file's ``device`` means.

    Args:
        value: As for `device_of`, or a table of such values by class.

    Raises:
        ConfigError: There is no such device, or its table has problems.
    """
    if isinstance(value, DeviceClasses):
        return value
    known = {*DeviceTable.model_fields, *DeviceService.model_fields, *_SERVICE_KEYS}
    known |= {"file", "fio", "like"}
    if not isinstance(value, dict) or not value or known.intersection(map(str, value)):
        return device_of(value, info)
    if not all(isinstance(one, str | dict | Section) for one in value.values()):
        return device_of(value, info)
    made = []
    for name, one in value.items():
        with under(str(name)):
            made.append((str(name), device_of(one, info)))
    return DeviceClasses(tuple(made))


def device_of(value: object, info: ValidationInfo) -> Device:
    """The device that a study file's ``device`` means.

    Args:
        value: A catalog name, ``{ file = "disk.toml" }``, ``{ fio = "disk.json" }`` (or a list of
            fio's files), ``{ service = "22 ms" }``, ``{ like = "hdd-7k2-12tb", filled = 0.5 }``, an
            inline table or a `Device`.

    Raises:
        ConfigError: There is no such device, or its table has problems.
    """
    if isinstance(value, DeviceTable | DeviceService):
        return value
    if isinstance(value, str):
        return catalog_device(value)
    if not isinstance(value, dict):
        ways = 'write "jbod10-sata", { service = "22 ms" }, { file = "disk.toml" }'
        rule = "a device is a name of the catalog or a table"
        raise ConfigError(rule, f'{ways}, {{ fio = "disk.json" }} or the table', value=show(value))
    if "like" in value:
        return _read(LaidOut.from_table(value, Path()).table(), Path())
    if "fio" in value:
        one_key(value, ("fio",))
        return _from_fio(value["fio"], info)
    if "file" not in value:
        return _read(value, Path())
    if len(value) > 1:
        raise ConfigError("a device from a file has no other keys", "put them into the file")
    path = file_path(value["file"], info)
    try:
        return _read({"label": name_of(path), **read_toml(path)}, path.parent)
    except ConfigError as error:
        raise ConfigError(
            problem
            if problem.place
            else Problem(problem.rule, problem.remedy, place=_in_file(path, problem))
            for problem in error.problems
        ) from None


def catalog_device(name: str) -> Device:
    """The device of a name of the catalog.

    Raises:
        ConfigError: There is no such device.
    """
    entry = catalog.load("devices", name)
    about = {"label": name, "description": entry.description, "source": entry.source}
    if "capacity" in entry.data_sheet:
        about["capacity"] = entry.data_sheet["capacity"]
    return _read({**entry.content, **about}, Path())


def _read(table: dict[Any, Any], base: Path) -> Device:
    """The device of a table that a TOML file holds."""
    is_service = any(key in table for key in (*_SERVICE_KEYS, "operations"))
    return (DeviceService if is_service else DeviceTable).from_table(table, base)


def _in_file(path: Path | str, problem: Problem) -> str:
    value = "" if problem.value is None else f" = {problem.value}"
    inside = f"{problem.key}{value}"
    return f"{path}: {inside}" if inside else str(path)


def _from_fio(value: object, info: ValidationInfo) -> DeviceTable:
    """The table that the recipe fits to files of fio's."""
    # The fit builds on this room, so it is loaded when a study asks for it.
    from resilver.importers.fio import read_fio
    from resilver.spec.disk_fit import fit_disk

    named = value if isinstance(value, list | tuple) else [value]
    report = read_fio([file_path(item, info) for item in named])
    try:
        return fitted_table(fit_disk(report.jobs, place=report.label), report)
    except ConfigError as error:
        # Its keys are fio's options and the table's rows, not the study file's.
        raise ConfigError(
            Problem(problem.rule, problem.remedy, place=_in_file(problem.place, problem))
            for problem in error.problems
        ) from None


def fitted_table(fit: DiskFit, report: FioReport, method: str = "recipe") -> DeviceTable:
    """The table of figures that were fitted to fio's measurements.

    Args:
        method: How they were fitted, for the table's own account of its source.

    Raises:
        ConfigError: A figure is outside what the simulator takes.
    """
    read, write = fit.read, fit.write
    with placed(report.label):
        return DeviceTable(
            label=report.label,
            description="A volume as fio measured it.",
            source=" ".join(
                [
                    f"Fitted by the {method} to {len(report.jobs)} jobs of {report.label} "
                    f"({', '.join(report.versions)}), {fit.queue_depth} requests outstanding.",
                    *(f"{note[:1].upper()}{note[1:]}." for note in fit.notes),
                ]
            ),
            request_sizes=tuple(Bytes(size) for size in fit.request_bytes),
            read_rate=BytesPerSecond(read.bytes_per_second),
            read_overhead=Seconds(read.overhead_seconds),
            read_seek=tuple(Seconds(seek) for seek in read.seek_seconds),
            write_rate=BytesPerSecond(write.bytes_per_second),
            write_overhead=Seconds(write.overhead_seconds),
            write_seek=tuple(Seconds(seek) for seek in write.seek_seconds),
        )
