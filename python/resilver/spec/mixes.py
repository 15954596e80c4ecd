"""Mixes: classes of requests that differ in size, kind, or the operation on a file that each is."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field

from resilver.errors import Problem, Problems, show
from resilver.spec.section import Positive, Section, Share
from resilver.units import Bytes, exact_bytes

STRIPES_MAX = 63
"""The most stripes of a file whose servers an operation asks."""
_ATTRIBUTES = Bytes(4096)
CLASSES_MAX = 64
"""The most classes of a mix."""
_ROUNDING = 1e-6
_KEYS = ("of_requests", "of_bytes")


class MixedRequests(Section):
    """Requests of one size, of a mix: ``{ of_bytes = 0.05, size = "16 KiB", reads = 0.4 }``.

    Or operations on files of one kind: ``{ of_requests = 0.3, operation = "stat", stripes = 4 }``.
    """

    of_requests: Share | None = Field(default=None, examples=[0.6])
    """Their share of all requests. The classes of a mix give all this, or all ``of_bytes``."""
    of_bytes: Share | None = Field(default=None, examples=[0.05])
    """Instead of it: their share of all bytes."""
    size: Positive[Bytes] | None = Field(default=None, examples=["16 KiB"])
    """How much each of them reads or writes."""
    reads: Share | None = Field(default=None, examples=[0.4])
    """The share of them that read. Default: ``traffic.reads``."""
    operation: Literal["stat", "open", "create", "unlink"] | None = Field(
        default=None, examples=["stat"]
    )
    """Instead of a size: what each asks of the metadata server of its file's directory."""
    stripes: Annotated[int, Field(strict=True, ge=0, le=STRIPES_MAX)] | None = Field(
        default=None, examples=[4]
    )
    """Of an operation, the stripes of its file whose servers the client asks as well, once the
    metadata server has answered, as a stat does for the size. Default: 0.
    """
    attributes: Bytes | None = Field(default=None, examples=["4 KiB"])
    """Of an operation, what each of these servers reads from its device. Default: 4 KiB."""

    def _problems(self) -> Problems:
        yield from self.exactly_one(("size", "operation"), 'such as size = "16 KiB"')
        if self.operation is not None and self.attributes is not None and not self.stripes:
            yield self.problem(
                "attributes", "an operation without stripes reads none", "add stripes"
            )
        of_kind = ("stripes", "attributes") if self.operation is None else ("of_bytes", "reads")
        for name in of_kind:
            if getattr(self, name) is not None:
                rule = "operations move no data of files"
                rule = "this is of operations" if self.operation is None else rule
                remedy = "give of_requests" if name == "of_bytes" else "remove it"
                yield self.problem(name, rule, remedy)

    def reads_of(self, usual: float) -> float:
        """The share of them that read, of the traffic's usual share; an operation is a read."""
        if self.operation is not None:
            return 1.0
        return usual if self.reads is None else self.reads

    @property
    def metadata(self) -> dict[str, Any] | None:
        """What each asks of metadata, in the core's words; None of requests for data."""
        if self.operation is None:
            return None
        attributes = _ATTRIBUTES if self.attributes is None else self.attributes
        return {
            "kind": self.operation,
            "stripes": self.stripes or 0,
            "attributes": int(attributes),
        }

    @property
    def words(self) -> str:
        """What they are: a size, or an operation with its stripes."""
        if self.operation is None:
            return exact_bytes(self.size or Bytes(0))
        several = f" of {self.stripes} stripe{'s' * (self.stripes > 1)}" if self.stripes else ""
        return f"{self.operation}{several}"


class RequestClass(NamedTuple):
    """Requests of one size.

    Attributes:
        share: Their share of all requests.
        read_share: The share of them that read.
        size_bytes: How much each moves.
        operation: What each asks of metadata, in the core's words; None of requests for data.
    """

    share: float
    read_share: float
    size_bytes: int
    operation: dict[str, Any] | None = None

    @property
    def stripes(self) -> int:
        """How many servers of data each asks besides."""
        return int(self.operation["stripes"]) if self.operation is not None else 0

    def content(self) -> dict[str, Any]:
        """What affects results, JSON-able."""
        # Left out where there is none, so that runs without it keep their keys.
        return {key: value for key, value in self._asdict().items() if value is not None}


def mix_problems(mix: tuple[MixedRequests, ...], *, has_reads: bool) -> list[Problem]:
    """What is wrong with the classes of a mix beside each other.

    Args:
        has_reads: Whether a share of reads is given for all of them.
    """
    ways = {tuple(key for key in _KEYS if getattr(one, key) is not None) for one in mix}
    if len(ways) != 1 or len(next(iter(ways))) != 1:
        rule = "each class of a mix has a share: all of them of the requests, or all of the bytes"
        return [Problem(rule, "give each of_requests, or each of_bytes", key="mix")]
    key = next(iter(ways))[0]
    problems = []
    total = math.fsum(getattr(one, key) for one in mix)
    if not abs(total - 1) <= _ROUNDING:
        rule = f"the shares of a mix are 1 together, and these are {total:.6g}"
        value = " + ".join(f"{getattr(one, key):g}" for one in mix)
        problems.append(Problem(rule, "let them sum to 1", key=f"mix.{key}", value=value))
    for index, one in enumerate(mix):
        alike = [(other.words, other.reads, other.metadata) for other in mix[:index]]
        if (one.words, one.reads, one.metadata) in alike:
            rule = "two classes of the mix are of the same size and kind"
            key = f"mix.{index}.{'size' if one.operation is None else 'operation'}"
            remedy = f"join them, or give them other {'stripes' if one.operation else 'reads'}"
            problems.append(Problem(rule, remedy, key=key, value=show(one.words)))
    if has_reads and all(one.reads is not None for one in mix if one.operation is None):
        rule = "each class of the mix says itself what it reads"
        problems.append(Problem(rule, "remove it here, or from a class of the mix", key="reads"))
    return problems


def classes_of(mix: tuple[MixedRequests, ...], read_share: float) -> tuple[RequestClass, ...]:
    """The classes of a mix by their shares of requests.

    Args:
        mix: The classes as they are written.
        read_share: The share that reads, of those that do not say it.
    """
    shares = [(one.of_requests or 0.0) + (one.of_bytes or 0.0) / int(one.size or 1) for one in mix]
    total = math.fsum(shares)
    return tuple(
        RequestClass(share / total, one.reads_of(read_share), int(one.size or 0), one.metadata)
        for share, one in zip(shares, mix, strict=True)
    )


def mix_label(mix: tuple[MixedRequests, ...]) -> str:
    """The sizes of a mix in words, each with its share as it is written."""
    of = "bytes" if mix[0].of_bytes is not None else "requests"
    shares = [100 * ((one.of_requests or 0.0) + (one.of_bytes or 0.0)) for one in mix]
    sizes = [one.words for one in mix]
    words = [f" of {of}", *[""] * (len(mix) - 1)]
    every = zip(sizes, shares, words, strict=True)
    parts = [f"{size} ({share:.4g} %{word})" for size, share, word in every]
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if parts[1:] else sizes[0]
