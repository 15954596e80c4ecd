"""What is stored: files drawn from a histogram of sizes, cut into objects."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, PlainValidator, ValidationInfo, WithJsonSchema, model_validator

from resilver import catalog
from resilver.errors import ConfigError, Problem, show
from resilver.importers.sizes import Bin, check_bin, read_sizes
from resilver.spec.section import Section, file_path, one_key, unknown_key
from resilver.units import BYTES_MAX, Bytes

WIDTH_BY_SERVERS = "servers // copies"
"""The stripe width that grows with the system: an object for each server that a copy has."""

CHUNK_DEFAULT = Bytes(64 * 2**20)


@dataclass(frozen=True)
class Histogram:
    """A histogram of file sizes.

    Attributes:
        label: Its name in the catalog, the name of its file, or ``inline``.
        bins: The bins, sizes rising. A file's size is drawn by a bin's count, then uniformly in
            [min, max).
        path: The file it was read from, or None.
    """

    label: str
    bins: tuple[Bin, ...]
    path: Path | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Objects:
    """How a file is cut into objects; exactly one of the three ways.

    Attributes:
        chunk_bytes: Cut into chunks of this size, the last one shorter; None otherwise.
        stripe_unit_bytes: Dealt round robin in units of this size over `stripe_width` objects; None
            otherwise.
        stripe_width: How many objects, or ``servers // copies``; None unless striped.

    With all three None, a file is one object.
    """

    chunk_bytes: Bytes | None = None
    stripe_unit_bytes: Bytes | None = None
    stripe_width: int | Literal["servers // copies"] | None = None


def histogram_of(value: object, info: ValidationInfo) -> Histogram | None:
    """The histogram that a study file's ``histogram`` means.

    Args:
        value: A catalog name, ``{ file = "sizes.txt" }``, ``{ bins = [[min, max, count], ...] }``
            or a `Histogram`.
        info: The validation it is part of, for the folder of relative paths.

    Returns:
        The histogram, or None for None.

    Raises:
        ConfigError: There is no such histogram, or it has problems.
    """
    if value is None or isinstance(value, Histogram):
        return value
    if isinstance(value, str):
        return Histogram(value, _bins(catalog.load("populations", value).content["bins"]))
    if not isinstance(value, dict):
        raise ConfigError(
            Problem(
                "a histogram is a name of the catalog, a file or bins",
                'write "genomes1000", { file = "sizes.txt" } or { bins = [["0 B", "4 KiB", 100]] }',
                value=show(value),
            )
        )
    if one_key(value, ("file", "bins")) == "bins":
        return Histogram("inline", _bins(value["bins"]))
    path = file_path(value["file"], info)
    return Histogram(path.name, read_sizes(path), path)


def _bins(rows: object) -> tuple[Bin, ...]:
    if not isinstance(rows, list | tuple) or not rows:
        raise ConfigError(
            Problem(
                "a histogram needs at least one bin",
                'write [["0 B", "4 KiB", 100]]',
                key="bins",
                value=show(rows),
            )
        )
    bins: list[Bin] = []
    problems: list[Problem] = []
    for index, row in enumerate(rows):
        key = f"bins.{index}"
        try:
            item = _bin(row)
        except ConfigError as error:
            problems += [problem.under(key) for problem in error.problems]
            continue
        wrong = check_bin(item, bins[-1] if bins else None)
        if wrong:
            problems.append(Problem(*wrong, key=key, value=show(row)))
        bins.append(item)
    if problems:
        raise ConfigError(problems)
    return tuple(bins)


def _bin(row: object) -> Bin:
    if not isinstance(row, list | tuple) or len(row) != 3:
        raise ConfigError(
            Problem("a bin is min, max and count", 'such as ["0 B", "4 KiB", 100]', value=show(row))
        )
    count = row[2]
    if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= BYTES_MAX:
        raise ConfigError(Problem("a count is a whole number, zero or more", value=show(count)))
    return Bin(Bytes.parse(row[0]), Bytes.parse(row[1]), count)


def objects_of(value: object) -> Objects | None:
    """The cut that a study file's ``objects`` means.

    Args:
        value: ``"whole"``, ``{ chunk = "64 MiB" }``, ``{ stripe_unit = "4 MiB", stripe_width = 341
            }`` or `Objects`.

    Returns:
        The cut, or None for None.

    Raises:
        ConfigError: It is none of these.
    """
    if value is None or isinstance(value, Objects):
        return value
    if value == "whole":
        return Objects()
    ways = (
        'write "whole", { chunk = "64 MiB" } '
        'or { stripe_unit = "4 MiB", stripe_width = "servers // copies" }'
    )
    if not isinstance(value, dict) or not value:
        raise ConfigError(
            Problem("files are kept whole, chunked or striped", ways, value=show(value))
        )
    known = ["chunk", "stripe_unit", "stripe_width"]
    problems = [
        unknown_key(str(key), known, show(item)) for key, item in value.items() if key not in known
    ]
    if problems:
        raise ConfigError(problems)
    if set(value) == {"chunk"}:
        return Objects(chunk_bytes=_positive(value["chunk"], "chunk"))
    if set(value) != {"stripe_unit", "stripe_width"}:
        raise ConfigError(
            Problem("files are chunked or striped, and a stripe has a unit and a width", ways)
        )
    width = value["stripe_width"]
    if width != WIDTH_BY_SERVERS and (
        isinstance(width, bool) or not isinstance(width, int) or not 1 <= width < 2**31
    ):
        rule = f'a stripe width is a whole number of objects or "{WIDTH_BY_SERVERS}"'
        raise ConfigError(Problem(rule, key="stripe_width", value=show(width)))
    return Objects(
        stripe_unit_bytes=_positive(value["stripe_unit"], "stripe_unit"), stripe_width=width
    )


def _positive(value: object, key: str) -> Bytes:
    try:
        size = Bytes.parse(value)
    except ConfigError as error:
        raise ConfigError(problem.under(key) for problem in error.problems) from None
    if size == 0:
        raise ConfigError(Problem("the size must be above zero", key=key, value=show(value)))
    return size


_HISTOGRAM_SCHEMA: dict[str, Any] = {
    "description": "The sizes of files: a name of the catalog, a file, or [min, max, count] bins.",
    "examples": ["genomes1000"],
    "anyOf": [
        {"type": "string", "examples": catalog.list("populations")},
        {
            "type": "object",
            "properties": {"file": {"type": "string"}},
            "required": ["file"],
            "additionalProperties": False,
        },
        {
            "type": "object",
            "properties": {
                "bins": {
                    "type": "array",
                    "minItems": 1,
                    "items": {"type": "array", "minItems": 3, "maxItems": 3},
                }
            },
            "required": ["bins"],
            "additionalProperties": False,
        },
    ],
}

_OBJECTS_SCHEMA: dict[str, Any] = {
    "description": "How files are cut. Default: the catalog population's way, else 64 MiB chunks.",
    "examples": [{"chunk": "64 MiB"}, "whole"],
    "anyOf": [
        {"const": "whole"},
        {
            "type": "object",
            "properties": {"chunk": {"type": "string"}},
            "required": ["chunk"],
            "additionalProperties": False,
        },
        {
            "type": "object",
            "properties": {
                "stripe_unit": {"type": "string"},
                "stripe_width": {
                    "anyOf": [{"type": "integer", "minimum": 1}, {"const": WIDTH_BY_SERVERS}]
                },
            },
            "required": ["stripe_unit", "stripe_width"],
            "additionalProperties": False,
        },
    ],
}


class Population(Section):
    """What the system stores, before replication.

    Args:
        histogram: A catalog name, ``{ file = ... }`` or ``{ bins = [[min, max, count], ...] }``.
        file_size: Instead of a histogram: every file has this size.
        objects: How a file is cut into objects. Default: the catalog population's own, otherwise 64
            MiB chunks.
        bytes_per_server: The volume, as an amount a server.
        bytes: The volume, in all.
        files: The volume, as a number of files.

    Exactly one of `histogram` and `file_size`, and exactly one of the last three, is needed. Zero
    is a valid volume.
    """

    histogram: Annotated[
        Histogram | None, PlainValidator(histogram_of), WithJsonSchema(_HISTOGRAM_SCHEMA)
    ] = None
    file_size: Bytes | None = Field(
        default=None, description="Every file has this size.", examples=["1 TiB"]
    )
    objects: Annotated[
        Objects | None, PlainValidator(objects_of), WithJsonSchema(_OBJECTS_SCHEMA)
    ] = None
    bytes_per_server: Bytes | None = Field(
        default=None,
        description="The volume before replication, an amount a server.",
        examples=["20 TiB"],
    )
    bytes: Bytes | None = Field(
        default=None, description="The volume before replication, in all.", examples=["1 PiB"]
    )
    files: int | None = Field(
        default=None,
        strict=True,
        ge=0,
        le=2**62,
        description="The volume, as a number of files.",
        examples=[1],
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        problems = []
        if (self.histogram is None) == (self.file_size is None):
            given = "both are given" if self.histogram is not None else "neither is given"
            problems.append(
                Problem(
                    f"exactly one of histogram and file_size is needed, and {given}",
                    'such as file_size = "1 TiB"',
                )
            )
        if self.file_size == 0:
            problems.append(Problem("the size must be above zero", key="file_size", value="0"))
        volumes = [
            name
            for name in ("bytes_per_server", "bytes", "files")
            if getattr(self, name) is not None
        ]
        if len(volumes) != 1:
            given = " and ".join(volumes) + " are given" if volumes else "none is given"
            problems.append(
                Problem(
                    f"exactly one of bytes_per_server, bytes and files is needed, and {given}",
                    "keep one" if volumes else 'such as bytes_per_server = "20 TiB"',
                )
            )
        if (
            self.histogram is not None
            and sum(item.file_count for item in self.histogram.bins) > BYTES_MAX
        ):
            problems.append(
                Problem("the counts add up to more than 2^63", "scale them down", key="histogram")
            )
        if problems:
            raise ConfigError(problems)
        return self

    @property
    def cut(self) -> Objects:
        """How files are cut, with the default filled in."""
        if self.objects is not None:
            return self.objects
        label = self.histogram.label if self.histogram else ""
        if label in catalog.list("populations"):
            entry = catalog.load("populations", label)
            # A file that happens to share a catalog name has other bins, and the plain default.
            if self.histogram is not None and _bins(entry.content["bins"]) == self.histogram.bins:
                return objects_of(entry.content["objects"]) or Objects()
        return Objects(chunk_bytes=CHUNK_DEFAULT)

    @property
    def bins(self) -> tuple[Bin, ...]:
        """The bins of sizes; with `file_size`, the one bin that holds just that size."""
        if self.histogram is not None:
            return self.histogram.bins
        size = self.file_size or Bytes(1)
        return (Bin(size, size + 1, 1),)

    def content(self) -> dict[str, Any]:
        """What affects results, JSON-able: sizes in bytes, defaults filled in."""
        cut = self.cut
        return {
            "histogram": {
                "label": self.histogram.label if self.histogram else "one size",
                "bins": [[item.min_bytes, item.max_bytes, item.file_count] for item in self.bins],
            },
            "objects": {
                "chunk": cut.chunk_bytes,
                "stripe_unit": cut.stripe_unit_bytes,
                "stripe_width": cut.stripe_width,
            },
            "bytes_per_server": self.bytes_per_server,
            "bytes": self.bytes,
            "files": self.files,
        }
