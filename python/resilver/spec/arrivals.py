"""When open traffic's requests arrive, and which servers requests go to."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationInfo

from resilver.errors import ConfigError, Problem, name_remedy, show
from resilver.importers.trace import RequestTrace, read_trace
from resilver.spec.section import file_path, one_key, unknown_key
from resilver.units import PerSecond

ARRIVALS_SCHEMA = {
    "description": "Requests that come whether or not others are done.",
    "examples": [{"poisson": "1000 /s"}],
    "anyOf": [
        {
            "type": "object",
            "properties": {"poisson": {"type": "string"}},
            "required": ["poisson"],
            "additionalProperties": False,
        },
        {
            "type": "object",
            "properties": {
                "pareto": {"type": "string"},
                "shape": {"type": "number", "minimum": 1.05},
            },
            "required": ["pareto", "shape"],
            "additionalProperties": False,
        },
        {
            "type": "object",
            "properties": {"trace": {"type": "string"}},
            "required": ["trace"],
            "additionalProperties": False,
        },
    ],
}
"""What an editor is told of arrivals."""

TARGETS_SCHEMA = {
    "description": "Which servers requests go to.",
    "examples": ["uniform"],
    "anyOf": [
        {"enum": ["uniform"]},
        {
            "type": "object",
            "properties": {"zipf": {"type": "number", "exclusiveMinimum": 0}},
            "required": ["zipf"],
            "additionalProperties": False,
        },
        {
            "type": "object",
            "properties": {
                "hot_servers": {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
                "hot_requests": {"type": "number", "minimum": 0, "maximum": 1},
            },
            "required": ["hot_servers", "hot_requests"],
            "additionalProperties": False,
        },
    ],
}
"""What an editor is told of targets."""

_WAYS = 'write { poisson = "1000 /s" }, { pareto = "1000 /s", shape = 1.5 } or { trace = "file" }'
_TARGETS = 'write "uniform", { zipf = 0.99 } or { hot_servers = 0.1, hot_requests = 0.9 }'
_ZIPF_MAX = 100.0
SHAPE_MIN = 1.05
"""The least exponent of Pareto arrivals. Of the mean gap, n gaps show 1 - n^(1/shape - 1): at 1.05
a million requests come at 2.1 times the rate that is asked for, and at 1.001 at 73 times."""
_SHAPE_MAX = 1e6


@dataclass(frozen=True)
class Arrivals:
    """When requests arrive, whatever becomes of those before; exactly one of the three ways.

    Attributes:
        poisson: So many a second, independently of each other.
        pareto: So many a second, the times between them Pareto distributed.
        shape: The Pareto distribution's exponent, from 1.05, so that the times have a mean.
        trace: The requests of a file.
    """

    poisson: PerSecond | None = None
    pareto: PerSecond | None = None
    shape: float | None = None
    trace: RequestTrace | None = None

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


def arrivals_of(value: object, info: ValidationInfo) -> Arrivals | None:
    """The arrivals that a study file's ``arrivals`` means.

    Args:
        value: A table with ``poisson``, ``pareto`` and ``shape``, or ``trace``; or `Arrivals`.

    Raises:
        ConfigError: It is none of these.
    """
    if value is None or isinstance(value, Arrivals):
        return value
    if not isinstance(value, dict):
        rule = "arrivals are a table that says how requests come"
        raise ConfigError(Problem(rule, _WAYS, value=show(value)))
    ways = {key: item for key, item in value.items() if key != "shape"}
    kind = one_key(ways, ("poisson", "pareto", "trace"))
    if "shape" in value and kind != "pareto":
        rule = "the shape is a Pareto distribution's"
        raise ConfigError(Problem(rule, "remove it", key="shape", value=show(value["shape"])))
    if kind == "trace":
        return Arrivals(trace=_trace(file_path(value["trace"], info)))
    try:
        rate = PerSecond.parse(value[kind])
    except ConfigError as error:
        raise ConfigError(problem.under(kind) for problem in error.problems) from None
    if rate <= 0:
        rule, remedy = "the rate must be above zero", 'such as "1000 /s"'
        raise ConfigError(Problem(rule, remedy, key=kind, value=show(value[kind])))
    if kind == "poisson":
        return Arrivals(poisson=rate)
    shape = _number(value.get("shape"))
    if shape is None or not SHAPE_MIN <= shape <= _SHAPE_MAX:
        rule = f"a Pareto distribution has a mean above 1, and one that shows from {SHAPE_MIN} on"
        given = show(value["shape"]) if "shape" in value else None
        raise ConfigError(Problem(rule, "such as shape = 1.5", key="shape", value=given))
    return Arrivals(pareto=rate, shape=shape)


def _trace(path: Path) -> RequestTrace:
    try:
        return read_trace(path)
    except ConfigError as error:
        raise ConfigError(problem.under("trace") for problem in error.problems) from None


@dataclass(frozen=True)
class RequestTargets:
    """Which servers requests go to: any alike where nothing is set.

    Attributes:
        zipf: The exponent of Zipf's law: the r-th favourite server gets a share as r^-zipf.
        hot_servers: The share of the servers that are hot.
        hot_requests: The share of requests that go to them.
    """

    zipf: float | None = None
    hot_servers: float | None = None
    hot_requests: float | None = None

    @property
    def label(self) -> str:
        """The targets in words."""
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
        return {"kind": "uniform"}


def targets_of(value: object) -> RequestTargets:
    """The targets that a study file's ``targets`` means.

    Args:
        value: ``uniform``, a table with ``zipf``, or one with ``hot_servers`` and ``hot_requests``;
            or `RequestTargets`.

    Raises:
        ConfigError: It is none of these.
    """
    if isinstance(value, RequestTargets):
        return value
    if isinstance(value, str):
        if value == "uniform":
            return RequestTargets()
        remedy = name_remedy(value, ["uniform"], "choices")
        rule = "this is not one of the choices"
        raise ConfigError(Problem(rule, f"{remedy} ({_TARGETS})", value=show(value)))
    if not isinstance(value, dict):
        raise ConfigError(Problem("targets say where requests go", _TARGETS, value=show(value)))
    known = ["zipf", "hot_servers", "hot_requests"]
    strange = [unknown_key(str(key), known) for key in value if key not in known]
    if strange:
        raise ConfigError(strange)
    if "zipf" in value:
        one_key(value, ("zipf",))
        exponent = _number(value["zipf"])
        if exponent is None or not 0 < exponent <= _ZIPF_MAX:
            rule = f"the exponent is a number above 0 and at most {_ZIPF_MAX:g}"
            remedy = 'such as 0.99, or write targets = "uniform"'
            raise ConfigError(Problem(rule, remedy, key="zipf", value=show(value["zipf"])))
        return RequestTargets(zipf=exponent)
    shares = {key: _number(value.get(key)) for key in known[1:]}
    problems = [
        Problem(
            f"a share is a number {'above' if key == 'hot_servers' else 'from'} 0 to 1",
            "such as { hot_servers = 0.1, hot_requests = 0.9 }",
            key=key,
            value=show(value[key]) if key in value else None,
        )
        for key, share in shares.items()
        if share is None or not 0 <= share <= 1 or (key == "hot_servers" and share == 0)
    ]
    if problems:
        raise ConfigError(problems)
    return RequestTargets(hot_servers=shares["hot_servers"], hot_requests=shares["hot_requests"])


def _number(value: object) -> float | None:
    """A bare number, or None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return None
