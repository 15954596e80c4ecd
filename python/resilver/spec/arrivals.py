"""When open traffic's requests arrive, and which servers requests go to."""

from __future__ import annotations

import math
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, PlainValidator, ValidationInfo, WithJsonSchema

from resilver.errors import Problem, Problems, show
from resilver.importers.trace import RequestTrace, read_trace
from resilver.spec.section import Count, Positive, Section, Share, file_path
from resilver.units import PerSecond

_WAYS = (("per_client", "dealt"), ("zipf",), ("hot_servers", "hot_requests"))
_ZIPF_MAX = 100.0
PER_CLIENT_MAX = 1_000_000
"""The most servers of a client's own."""
SHAPE_MIN = 1.05
"""The least exponent of Pareto arrivals. Of the mean gap, n gaps show 1 - n^(1/shape - 1): at 1.05
a million requests come at 2.1 times the rate that is asked for, and at 1.001 at 73 times."""
_SHAPE_MAX = 1e6

_Rate = Positive[PerSecond] | None


def _trace_of(value: object, info: ValidationInfo) -> RequestTrace | None:
    if value is None or isinstance(value, RequestTrace):
        return value
    return read_trace(file_path(value, info))


class Arrivals(Section):
    """When requests arrive, whatever becomes of those before: by a rate, or as a trace says."""

    poisson: _Rate = Field(default=None, examples=["1000 /s"])
    """So many a second, independently of each other."""
    pareto: _Rate = Field(default=None, examples=["1000 /s"])
    """So many a second, the times between them Pareto distributed, with a shape."""
    shape: Annotated[float, Field(strict=True, le=_SHAPE_MAX)] | None = Field(
        default=None, examples=[1.5], json_schema_extra={"minimum": SHAPE_MIN}
    )
    """The Pareto distribution's exponent. Only with ``pareto``, which needs it."""
    trace: Annotated[
        RequestTrace | None, PlainValidator(_trace_of), WithJsonSchema({"type": "string"})
    ] = Field(default=None, examples=["requests.csv"])
    """A file that says when each request comes, what it does and how much it moves."""

    def _problems(self) -> Problems:
        yield from self.exactly_one(("poisson", "pareto", "trace"), 'such as poisson = "1000 /s"')
        if self.shape is not None and self.pareto is None:
            yield self.problem("shape", "the shape is a Pareto distribution's", "remove it")
        elif self.pareto is not None and (self.shape is None or self.shape < SHAPE_MIN):
            rule = "a Pareto distribution has a mean above 1, and one that shows from "
            rule += f"{SHAPE_MIN} on"
            yield self.problem("shape", rule, "such as shape = 1.5")

    @property
    def label(self) -> str:
        """The trace's name; empty for arrivals by a rate."""
        return self.trace.label if self.trace is not None else ""

    @property
    def requests_per_second(self) -> float:
        """How many come a second, on average over the time that a trace lasts."""
        if self.trace is not None:
            lasts = self.trace.seconds[-1]
            return len(self.trace.seconds) / lasts if lasts > 0 else math.inf
        return float(self.poisson or self.pareto or 0)

    def content(self) -> dict[str, Any]:
        """What affects results, JSON-able: a trace by the hash of its file."""
        if self.trace is not None:
            trace, count = self.trace, len(self.trace.seconds)
            return {"trace": {"label": trace.label, "sha256": trace.sha256, "requests": count}}
        if self.poisson is not None:
            return {"poisson": self.poisson}
        return {"pareto": self.pareto, "shape": self.shape}


class RequestTargets(Section):
    """Which servers requests go to: any alike where nothing is set."""

    zipf: Annotated[float, Field(strict=True, gt=0, le=_ZIPF_MAX)] | None = Field(
        default=None, examples=[0.99]
    )
    """The exponent of Zipf's law: the r-th favourite server gets a share as r^-zipf."""
    hot_servers: Annotated[Share, Field(gt=0)] | None = Field(default=None, examples=[0.1])
    """The share of the servers that are hot, above 0. Needs ``hot_requests``."""
    hot_requests: Share | None = Field(default=None, examples=[0.9])
    """The share of requests that go to them. Needs ``hot_servers``."""
    per_client: Count | None = Field(default=None, le=PER_CLIENT_MAX, examples=[1])
    """How many servers each client (each place where clients enter) has of its own, which it asks
    alike and asks no others.
    """
    dealt: Literal["round_robin", "random"] | None = Field(default=None, examples=["round_robin"])
    """How they are dealt to clients: in turn, so that each server has as many clients as another,
    to one; or drawn by the seed. Default: ``round_robin``. Only with ``per_client``.
    """

    word: ClassVar[str] = "uniform"

    def _problems(self) -> Problems:
        given = self.given()
        way = next((way for way in _WAYS if not given.keys().isdisjoint(way)), ())
        listed = " and ".join(key for key in way if key in given)
        for key in given:
            if key not in way:
                rule = "requests go to servers of each client's own, by one law or to hot servers"
                yield self.problem(key, rule, f"remove it, or leave out {listed}")
        for key in way:
            if key not in given and key != "dealt":
                example = type(self).model_fields[key].examples or [1]
                yield Problem(f"{listed} needs it", f"such as {show(example[0])}", key=key)

    @property
    def is_dealt_at_random(self) -> bool:
        """Whether the seed draws the servers of each client."""
        return self.dealt == "random"

    @property
    def label(self) -> str:
        """The targets in words."""
        if self.per_client is not None:
            how = "drawn" if self.is_dealt_at_random else "in turn"
            servers = "1 server" if self.per_client == 1 else f"{self.per_client:,} servers"
            return f"{servers} of each client's own, {how}"
        if self.zipf is not None:
            return f"zipf {self.zipf:g}"
        if self.hot_servers is not None:
            return f"{self.hot_requests:g} of requests to {self.hot_servers:g} of servers"
        return "uniform"

    def content(self) -> dict[str, Any]:
        """What affects results, JSON-able, in the core's words."""
        if self.zipf is not None:
            return {"kind": "zipf", "exponent": self.zipf}
        if self.hot_servers is not None:
            return {"kind": "hot", "servers": self.hot_servers, "requests": self.hot_requests}
        if self.per_client is not None:
            return {"kind": "dealt", "each": self.per_client, "is_drawn": self.is_dealt_at_random}
        return {"kind": "uniform"}
