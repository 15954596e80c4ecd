"""When open traffic's requests arrive, and which servers requests go to."""

from __future__ import annotations

import math
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, PlainValidator, ValidationInfo, WithJsonSchema, model_validator

from resilver.errors import ConfigError, Problem, name_remedy, raise_all, show
from resilver.importers.trace import RequestTrace, read_trace
from resilver.spec.problems import unknown_key
from resilver.spec.section import AboveZero, Count, Section, file_path, one_key
from resilver.units import PerSecond

_WAYS = 'write { poisson = "1000 /s" }, { pareto = "1000 /s", shape = 1.5 } or { trace = "file" }'
_TARGETS = (
    'write "uniform", { zipf = 0.99 }, { hot_servers = 0.1, hot_requests = 0.9 } or '
    "{ per_client = 1 }"
)
_ZIPF_MAX = 100.0
PER_CLIENT_MAX = 1_000_000
"""The most servers of a client's own."""
SHAPE_MIN = 1.05
"""The least exponent of Pareto arrivals. Of the mean gap, n gaps show 1 - n^(1/shape - 1): at 1.05
a million requests come at 2.1 times the rate that is asked for, and at 1.001 at 73 times."""
_SHAPE_MAX = 1e6
_SHAPE_RULE = f"a Pareto distribution has a mean above 1, and one that shows from {SHAPE_MIN} on"

_Rate = Annotated[PerSecond | None, AboveZero('such as "1000 /s"')]
_ShareOf = Annotated[
    float | None,
    PlainValidator(lambda value: _number(value)),
    WithJsonSchema({"type": "number", "minimum": 0, "maximum": 1}),
]


def _number(value: object) -> float | None:
    """A bare number, or None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def _trace_of(value: object, info: ValidationInfo) -> RequestTrace | None:
    if value is None or isinstance(value, RequestTrace):
        return value
    return read_trace(file_path(value, info))


def _shape_of(value: object) -> float | None:
    shape = _number(value)
    if value is not None and (shape is None or not SHAPE_MIN <= shape <= _SHAPE_MAX):
        raise ConfigError(_SHAPE_RULE, "such as shape = 1.5", value=show(value))
    return shape


class Arrivals(Section):
    """When requests arrive, whatever becomes of those before: by a rate, or as a trace says."""

    poisson: _Rate = Field(default=None, examples=["1000 /s"])
    """So many a second, independently of each other."""
    pareto: _Rate = Field(default=None, examples=["1000 /s"])
    """So many a second, the times between them Pareto distributed, with a shape."""
    shape: Annotated[
        float | None,
        PlainValidator(_shape_of),
        WithJsonSchema({"type": "number", "minimum": SHAPE_MIN}),
    ] = Field(default=None, examples=[1.5])
    """The Pareto distribution's exponent. Only with ``pareto``, which needs it."""
    trace: Annotated[
        RequestTrace | None, PlainValidator(_trace_of), WithJsonSchema({"type": "string"})
    ] = Field(default=None, examples=["requests.csv"])
    """A file that says when each request comes, what it does and how much it moves."""

    @model_validator(mode="before")
    @classmethod
    def _one_way(cls, data: Any) -> Any:
        if isinstance(data, Arrivals):
            return data
        if not isinstance(data, dict):
            rule = "arrivals are a table that says how requests come"
            raise ConfigError(rule, _WAYS, value=show(data))
        ways = {key: item for key, item in data.items() if key != "shape"}
        kind = one_key(ways, ("poisson", "pareto", "trace"))
        if "shape" in data and kind != "pareto":
            rule = "the shape is a Pareto distribution's"
            raise ConfigError(rule, "remove it", key="shape", value=show(data["shape"]))
        if "shape" not in data and kind == "pareto":
            raise ConfigError(_SHAPE_RULE, "such as shape = 1.5", key="shape")
        return data

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


def _exponent_of(value: object) -> float | None:
    exponent = _number(value)
    if value is not None and (exponent is None or not 0 < exponent <= _ZIPF_MAX):
        rule = f"the exponent is a number above 0 and at most {_ZIPF_MAX:g}"
        raise ConfigError(rule, 'such as 0.99, or write targets = "uniform"', value=show(value))
    return exponent


class RequestTargets(Section):
    """Which servers requests go to: any alike where nothing is set."""

    zipf: Annotated[
        float | None,
        PlainValidator(_exponent_of),
        WithJsonSchema({"type": "number", "exclusiveMinimum": 0, "maximum": _ZIPF_MAX}),
    ] = Field(default=None, examples=[0.99])
    """The exponent of Zipf's law: the r-th favourite server gets a share as r^-zipf."""
    hot_servers: _ShareOf = Field(default=None, examples=[0.1])
    """The share of the servers that are hot, above 0. Needs ``hot_requests``."""
    hot_requests: _ShareOf = Field(default=None, examples=[0.9])
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

    @model_validator(mode="before")
    @classmethod
    def _one_way(cls, data: Any) -> Any:
        if data == {} or isinstance(data, RequestTargets):
            return data
        if isinstance(data, str):
            remedy = name_remedy(data, ["uniform"], "choices")
            rule = "this is not one of the choices"
            raise ConfigError(rule, f"{remedy} ({_TARGETS})", value=show(data))
        if not isinstance(data, dict):
            raise ConfigError("targets say where requests go", _TARGETS, value=show(data))
        known = list(cls.model_fields)
        strange = [unknown_key(str(key), known) for key in data if key not in known]
        raise_all(strange)
        if "per_client" in data or "dealt" in data:
            return cls._dealt(data)
        if "zipf" in data:
            one_key(data, ("zipf",))
            return data
        problems = [
            Problem(
                f"a share is a number {'above' if key == 'hot_servers' else 'from'} 0 to 1",
                "such as { hot_servers = 0.1, hot_requests = 0.9 }",
                key=key,
                value=show(data[key]) if key in data else None,
            )
            for key in ("hot_servers", "hot_requests")
            if (share := _number(data.get(key))) is None
            or not 0 <= share <= 1
            or (key == "hot_servers" and share == 0)
        ]
        raise_all(problems)
        return data

    @staticmethod
    def _dealt(data: dict[str, Any]) -> dict[str, Any]:
        """Checks targets of which clients have some of their own."""
        own = ("per_client", "dealt")
        problems = [
            Problem(
                "clients that have servers of their own ask them alike",
                f"remove it, or leave out {' and '.join(key for key in own if key in data)}",
                key=key,
                value=show(data[key]),
            )
            for key in data
            if key not in own
        ]
        if "per_client" not in data:
            rule, remedy = "this is how the servers of each client are dealt", "such as 1"
            problems.append(Problem(f"{rule}, and needs how many", remedy, key="per_client"))
        raise_all(problems)
        return data

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
