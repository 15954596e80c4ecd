"""What is stored: files drawn from a histogram of sizes, cut into objects."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, PlainValidator, WithJsonSchema

from resilver import catalog
from resilver.errors import ConfigError, Problem, Problems, show
from resilver.importers.sizes import Bin
from resilver.importers.sizes.histogram import FILE_BYTES_MAX
from resilver.spec.histogram import HISTOGRAM_SCHEMA, Histogram, bins_of, histogram_of
from resilver.spec.section import Positive, Section
from resilver.units import BYTES_MAX, VOLUME_MAX, Bytes, exact_bytes, format_bytes

WIDTH_BY_SERVERS = "servers // copies"
"""The stripe width that grows with the system: an object for each server that a copy has."""

FILE_OBJECTS_MAX = 2**28
"""The most objects of a file: an object's identifier numbers it within its file by 28 bits."""


def _width_of(value: object) -> object:
    is_number = isinstance(value, int) and not isinstance(value, bool) and 1 <= value < 2**31
    if value is None or value == WIDTH_BY_SERVERS or is_number:
        return value
    rule = f'a stripe width is a whole number of objects or "{WIDTH_BY_SERVERS}"'
    raise ConfigError(rule, value=show(value))


_Piece = Positive[Bytes] | None


class Objects(Section):
    """How a file is cut into objects: into chunks, into stripes, or kept whole."""

    chunk_bytes: _Piece = Field(default=None, alias="chunk", examples=["64 MiB"])
    """The size of a chunk; the last one of a file is shorter."""
    stripe_unit_bytes: _Piece = Field(default=None, alias="stripe_unit", examples=["4 MiB"])
    """Files are dealt round robin, in units of this size, over as many objects as its width."""
    stripe_width: Annotated[
        int | Literal["servers // copies"] | None,
        PlainValidator(_width_of),
        WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 1}, {"const": WIDTH_BY_SERVERS}]}),
    ] = Field(default=None, examples=[341])
    """Over how many objects; ``servers // copies`` for one on each server that a copy has."""

    word: ClassVar[str] = "whole"

    def _problems(self) -> Problems:
        if self.given().keys() not in (set(), {"chunk"}, {"stripe_unit", "stripe_width"}):
            rule = "files are chunked or striped, and a stripe has a unit and a width"
            remedy = 'write { chunk = "64 MiB" } or { stripe_unit = "4 MiB", stripe_width = '
            remedy += f'"{WIDTH_BY_SERVERS}" }}'
            yield Problem(rule, remedy)

    def width(self, servers: int, copies: int) -> int:
        """Over how many objects a file is striped, where it is."""
        if isinstance(self.stripe_width, int):
            return self.stripe_width
        return max(1, servers // copies)

    def count(self, file_bytes: int, width: int) -> int:
        """Into how many objects a file is cut.

        Args:
            file_bytes: Its size, at least 1.
            width: The stripe width, where files are striped.
        """
        piece = self.chunk_bytes or self.stripe_unit_bytes
        if piece is None:
            return 1
        pieces = -(-file_bytes // piece)
        return pieces if self.chunk_bytes else min(pieces, width)

    def largest(self, file_bytes: int, width: int) -> int:
        """The size of the largest object of a file, its first; arguments as in `count`."""
        if self.chunk_bytes is not None:
            return min(file_bytes, self.chunk_bytes)
        if self.stripe_unit_bytes is None:
            return file_bytes
        rounds, rest = divmod(file_bytes, self.stripe_unit_bytes * width)
        return rounds * self.stripe_unit_bytes + min(rest, self.stripe_unit_bytes)


CHUNK_DEFAULT = Bytes(64 * 2**20)

FILES_MAX = 2**36
"""The most files: the other 36 bits of an object's identifier number its file."""

_PIB, _EIB = exact_bytes(FILE_BYTES_MAX), exact_bytes(VOLUME_MAX)


VOLUMES = ("bytes_per_server", "bytes", "files")
"""The keys of which one says how much is stored."""


class Population(Section):
    """What the system stores, before replication.

    Exactly one of `histogram` and `file_size`, and exactly one of the last three, is needed. Zero
    is a valid volume.
    """

    histogram: Annotated[
        Histogram | None, PlainValidator(histogram_of), WithJsonSchema(HISTOGRAM_SCHEMA)
    ] = Field(default=None, examples=["genomes1000"])
    """A catalog name, ``{ file = ... }``, ``{ scan = folder }`` or ``{ bins = [[min, max, count],
    ...] }``, to which ``label`` gives a name. A run folder keeps what was measured as bins.
    """
    file_size: Positive[Bytes] | None = Field(default=None, examples=["1 TiB"])
    """Instead of a histogram: every file has this size."""
    objects: Objects | None = Field(default=None, examples=[{"chunk": "64 MiB"}, "whole"])
    """How a file is cut into objects. Default: the catalog population's own, otherwise 64 MiB
    chunks.
    """
    bytes_per_server: Bytes | None = Field(default=None, examples=["20 TiB"])
    """The volume, as an amount a server, or in a tree of parts a device that data is placed on."""
    bytes: Bytes | None = Field(default=None, examples=["1 PiB"])
    """The volume, in all."""
    files: int | None = Field(
        default=None, strict=True, ge=0, json_schema_extra={"maximum": FILES_MAX}, examples=[1]
    )
    """The volume, as a number of files."""

    def _problems(self) -> Problems:
        wrong = [
            *self.exactly_one(("histogram", "file_size"), 'such as file_size = "1 TiB"'),
            *self.exactly_one(VOLUMES, 'such as bytes_per_server = "20 TiB"'),
        ]
        bins = self.histogram.bins if self.histogram is not None else ()
        if sum(item.file_count for item in bins) > BYTES_MAX:
            rule = "the counts add up to more than 2^63"
            wrong.append(Problem(rule, "scale them down", key="histogram"))
        yield from wrong or self._size_problems()

    def _size_problems(self) -> Problems:
        """What is larger than the core can number or add up."""
        if self.files is not None and self.files > FILES_MAX:
            rule = f"a population has at most 2^36 = {FILES_MAX} files"
            yield self.problem("files", rule, "use fewer, larger files")
        size = self.largest_file_bytes
        if size > FILE_BYTES_MAX:
            key = "histogram" if self.histogram else "file_size"
            rule = f"the largest file has {size} B, and a file has at most {_PIB}"
            yield self.problem(key, rule, "split such files into several")
            return
        if self.bytes is not None:
            yield from self.volume_problems(int(self.bytes), "bytes")
        if self.files is not None and self.files * size > VOLUME_MAX:
            rule = f"files of up to {format_bytes(size)} could hold more than {_EIB}"
            yield self.problem("files", rule, "use fewer or smaller files")
        cut = self.cut
        # A width that follows the servers is far below the limit, and one object stands for it.
        width = cut.stripe_width if isinstance(cut.stripe_width, int) else 1
        objects = cut.count(size, width)
        if objects > FILE_OBJECTS_MAX:
            rule = f"a file of {format_bytes(size)} would be {objects} objects, "
            rule += f"and a file has at most 2^28 = {FILE_OBJECTS_MAX}"
            key, remedy = "stripe_unit_bytes", "use larger units or a smaller width"
            if cut.chunk_bytes is not None:
                key, remedy = "chunk_bytes", "use larger chunks"
            yield cut.problem(key, rule, remedy).under("objects")

    def volume_problems(self, volume: int, key: str, holder: str = "a system") -> Problems:
        """What is wrong with a volume.

        Args:
            volume: The bytes before replication.
            key: The key that gives it.
            holder: What holds it, for the message.
        """
        mean = self.mean_file_bytes
        if volume > VOLUME_MAX:
            rule = f"{holder} would hold more than {_EIB}"
            yield self.problem(key, rule, "use a smaller volume")
        elif volume and volume >= (FILES_MAX + 1) * mean:
            words = format_bytes(float(mean))
            rule = f"in files of {words} on average this is more than 2^36 = {FILES_MAX} files"
            yield self.problem(key, rule, "use a smaller volume or larger files")

    def volume_bytes(self, servers: int) -> int | None:
        """The volume before replication, or None when it is given as a number of files.

        Args:
            servers: How many servers there are, for a volume a server.
        """
        if self.bytes_per_server is not None:
            return int(self.bytes_per_server) * servers
        return None if self.bytes is None else int(self.bytes)

    @property
    def largest_file_bytes(self) -> int:
        """The largest size that a file can have."""
        return self.histogram.largest_bytes if self.histogram else int(self.file_size or 1)

    @property
    def mean_file_bytes(self) -> Fraction:
        """The expected size of a file."""
        return self.histogram.mean_bytes if self.histogram else Fraction(self.file_size or 1)

    @property
    def cut(self) -> Objects:
        """How files are cut, with the default filled in."""
        if self.objects is not None:
            return self.objects
        label = self.histogram.label if self.histogram else ""
        if label in catalog.list("populations"):
            entry = catalog.load("populations", label)
            # A file that happens to share a catalog name has other bins, and the plain default.
            if self.histogram is not None and bins_of(entry.content["bins"]) == self.histogram.bins:
                return Objects.model_validate(entry.content["objects"])
        return Objects(chunk=CHUNK_DEFAULT)

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
