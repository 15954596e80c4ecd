"""Mixes: classes of requests that differ in size and kind."""

from __future__ import annotations

import math
from typing import NamedTuple

from pydantic import Field

from resilver.errors import Problem, show
from resilver.spec.section import Positive, Section, Share
from resilver.units import Bytes, exact_bytes

CLASSES_MAX = 64
"""The most classes of a mix."""
_ROUNDING = 1e-6
_KEYS = ("of_requests", "of_bytes")


class MixedRequests(Section):
    """Requests of one size, of a mix: ``{ of_bytes = 0.05, size = "16 KiB", reads = 0.4 }``."""

    of_requests: Share | None = Field(default=None, examples=[0.6])
    """Their share of all requests. The classes of a mix give all this, or all ``of_bytes``."""
    of_bytes: Share | None = Field(default=None, examples=[0.05])
    """Instead of it: their share of all bytes."""
    size: Positive[Bytes] = Field(examples=["16 KiB"])
    """How much each of them reads or writes."""
    reads: Share | None = Field(default=None, examples=[0.4])
    """The share of them that read. Default: ``traffic.reads``."""


class RequestClass(NamedTuple):
    """Requests of one size.

    Attributes:
        share: Their share of all requests.
        read_share: The share of them that read.
        size_bytes: How much each moves.
    """

    share: float
    read_share: float
    size_bytes: int


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
    sizes = [one.size for one in mix]
    for index, one in enumerate(mix):
        if (one.size, one.reads) in [(other.size, other.reads) for other in mix[:index]]:
            rule = "two classes of the mix are of the same size and kind"
            value = show(exact_bytes(sizes[index]))
            remedy = "join them, or give them other reads"
            problems.append(Problem(rule, remedy, key=f"mix.{index}.size", value=value))
    if has_reads and all(one.reads is not None for one in mix):
        rule = "each class of the mix says itself what it reads"
        problems.append(Problem(rule, "remove it here, or from a class of the mix", key="reads"))
    return problems


def classes_of(mix: tuple[MixedRequests, ...], read_share: float) -> tuple[RequestClass, ...]:
    """The classes of a mix by their shares of requests.

    Args:
        mix: The classes as they are written.
        read_share: The share that reads, of those that do not say it.
    """
    shares = [(one.of_requests or 0.0) + (one.of_bytes or 0.0) / int(one.size) for one in mix]
    total = math.fsum(shares)
    return tuple(
        RequestClass(share / total, read_share if one.reads is None else one.reads, int(one.size))
        for share, one in zip(shares, mix, strict=True)
    )


def mix_label(mix: tuple[MixedRequests, ...]) -> str:
    """The sizes of a mix in words, each with its share as it is written."""
    of = "bytes" if mix[0].of_bytes is not None else "requests"
    shares = [100 * ((one.of_requests or 0.0) + (one.of_bytes or 0.0)) for one in mix]
    sizes = [exact_bytes(one.size) for one in mix]
    words = [f" of {of}", *[""] * (len(mix) - 1)]
    every = zip(sizes, shares, words, strict=True)
    parts = [f"{size} ({share:.4g} %{word})" for size, share, word in every]
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if parts[1:] else sizes[0]
