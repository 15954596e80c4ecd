"""The section of a sizing file about time: what comes in, what is purged, what is observed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    BeforeValidator,
    Field,
    PlainValidator,
    ValidationInfo,
    WithJsonSchema,
)

from resilver.errors import ConfigError, Problem, Problems, show
from resilver.quantities import DAY_SECONDS, Inflow
from resilver.spec.section import AnyFile, Count, Positive, Section, file_path
from resilver.text import read_toml
from resilver.units import Bytes, Seconds

_Part = Annotated[float, Field(strict=True, gt=0, le=1)]
_DAYS_MAX = 3650


def _one_inflow(value: Any) -> Any:
    """A rate alone is one class of files."""
    return [{"rate": value}] if isinstance(value, str) else value


def _paths(value: object, info: ValidationInfo) -> tuple[Path, ...]:
    """A path or several."""
    if value is None:
        return ()
    several = value if isinstance(value, list | tuple) else [value]
    return tuple(file_path(one, info) for one in several)


_Paths = Annotated[
    tuple[Path, ...],
    PlainValidator(_paths),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
]


def _curve(value: Any, info: ValidationInfo) -> Any:
    """Pairs of a fill and a share, or those in the file that `resilver calibrate fill` wrote."""
    if not isinstance(value, dict):
        return value
    if set(value) != {"file"}:
        rule = "a curve is a list of pairs, or a file of `resilver calibrate fill`"
        raise ConfigError(rule, 'such as { file = "fill.toml" }', value=show(value))
    path = file_path(value["file"], info)
    table = read_toml(path)
    if set(table) != {"rate_at_fill"} or not isinstance(table["rate_at_fill"], list):
        rule = "it holds no curve: rate_at_fill is the one key of such a file"
        raise ConfigError(rule, "write it with resilver calibrate fill -o", place=str(path))
    return table["rate_at_fill"]


class Purge(Section):
    """Which files are deleted, once a day."""

    last_access: Positive[Seconds] = Field(examples=["14 d"])
    """How long nobody has read, changed or written a file that may be deleted: whole days."""
    high: _Part | None = Field(default=None, examples=[0.7])
    """The fill above which files are deleted, the oldest first. Default: at any fill, all of them.
    """
    low: _Part | None = Field(default=None, examples=[0.6])
    """The fill at which that ends."""

    def _problems(self) -> Problems:
        if self.last_access % DAY_SECONDS:
            rule = "the purge runs once a day, and tells ages in whole days"
            yield self.problem("last_access", rule, 'such as "14 d"')
        if (self.high is None) != (self.low is None):
            key = "high" if self.low is None else "low"
            rule = "a purge begins above one fill and ends at another"
            yield self.problem(key, rule, "give both high and low, or none")
        if self.high is not None and self.low is not None and self.low >= self.high:
            rule = f"the purge would end at {self.low:g}, not below {self.high:g} where it begins"
            yield self.problem("low", rule, "lower low, or raise high")

    @property
    def days(self) -> int:
        """The age in days."""
        return round(self.last_access / DAY_SECONDS)


class FileClass(Section):
    """Files that come in, and how often they are used afterwards."""

    rate: Positive[Inflow] = Field(examples=["1.2 PB/d"])
    """How many bytes come in."""
    accessed_every: Positive[Seconds] | None = Field(default=None, examples=["20 d"])
    """The mean time between uses of a file, at random times. Default: none is used again."""


class Capacity(Section):
    """How full the file system gets: what comes in, what is purged, and what was observed."""

    usable: Positive[Bytes] | None = Field(default=None, examples=["32.256 PB"])
    """How much it holds. Default: what the first offer comes to."""
    stored: Bytes = Field(default=Bytes(0), examples=["10 PB"])
    """How much is stored on the first day, of all ages up to the purge's alike."""
    inflow: Annotated[tuple[FileClass, ...], BeforeValidator(_one_inflow)] = Field(
        default=(), max_length=100, examples=["1.2 PB/d"]
    )
    """What comes in: a rate, or tables of classes of files."""
    purge: Purge | None = Field(default=None, examples=[{"last_access": "14 d"}])
    """What is deleted. Default: nothing."""
    days: Count = Field(default=365, le=_DAYS_MAX, examples=[365])
    """How many days are told."""
    rate_at_fill: Annotated[tuple[tuple[float, float], ...], BeforeValidator(_curve)] = Field(
        default=(), max_length=100, examples=[[[0.5, 1.0], [0.7, 0.9], [0.95, 0.5]]]
    )
    """Measured: pairs of a fill and the share of its bandwidth that the file system has there, or
    ``{ file = "fill.toml" }`` of ``resilver calibrate fill``. Default: a stand-in, swept.
    """
    listing: AnyFile | None = Field(default=None, examples=["scan.txt"])
    """A listing of what is stored now, with ages. Default: none."""
    lfs_df: _Paths = Field(default=(), examples=["df.txt"])
    """Series of ``lfs df``, each table behind its time. Default: none."""

    def _problems(self) -> Problems:
        if not (self.inflow or self.listing or self.lfs_df):
            rule = "nothing says what comes in or what is stored"
            yield Problem(rule, 'add inflow = "1.2 PB/d", listing or lfs_df')
        if self.listing is not None and self.stored:
            yield self.problem("stored", "the listing says what is stored", "remove one of them")
        if self.usable is not None and self.stored > self.usable:
            yield self.problem(
                "stored", "more is stored than the file system holds", "raise usable"
            )
        fills = [fill for fill, _ in self.rate_at_fill]
        shares = [share for _, share in self.rate_at_fill]
        if fills != sorted(set(fills)) or any(not 0 <= one <= 1 for one in [*fills, *shares]):
            rule = "pairs of a fill and a share, both from 0 to 1, the fills rising"
            yield Problem(rule, "such as [[0.5, 1.0], [0.95, 0.5]]", "rate_at_fill")
