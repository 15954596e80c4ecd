"""What clients do: reads and writes that enter by the routers and go to the servers' disks."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from resilver.errors import Problem, raise_all, show
from resilver.spec.arrivals import Arrivals, RequestTargets
from resilver.spec.jobs import Job
from resilver.spec.mix import (
    CLASSES_MAX,
    MixedRequests,
    RequestClass,
    classes_of,
    mix_label,
    mix_problems,
)
from resilver.spec.section import AboveZero, Count, Section, Share
from resilver.spec.streams import Streams
from resilver.units import Bytes, BytesPerSecond, Seconds, exact_bytes, exact_duration, exact_rate

OUTSTANDING_MAX = 10_000_000
"""The most requests that a closed loop keeps outstanding."""

_WAYS = ("outstanding", "arrivals", "streams", "jobs")

# What each key is by default, where the arrivals do not say it themselves.
_INTERVAL = Seconds(0)
_READS = 0.5
_REQUEST_SIZE = Bytes(512 * 1024)


_SIZE = AboveZero('such as "64 B"')
_TIME = AboveZero('such as "10 s"')
_RATE = AboveZero('such as "53 MB/s"')


class Traffic(Section):
    """The requests of clients, each from a router to an object's pieces and back; or streams.

    Where nothing is stored, a request goes to one piece at a disk.
    """

    outstanding: Count | None = Field(default=None, le=OUTSTANDING_MAX, examples=[5120])
    """A closed loop: how many requests are outstanding in all, dealt over the routers; each that
    completes is followed by another.
    """
    arrivals: Arrivals | None = Field(default=None, examples=[{"poisson": "1000 /s"}])
    """Instead of it, requests that come whether or not others are done: ``{ poisson = "1000 /s"
    }``, ``{ pareto = "1000 /s", shape = 1.5 }`` or ``{ trace = "requests.csv" }``.
    """
    streams: Streams | None = Field(default=None, examples=[{"window": 16}])
    """Instead of requests, reads and writes of whole stripes: ``{ window = 16 }``."""
    jobs: tuple[Job, ...] = ()
    """Instead of requests, jobs that compute and then move a volume, again and again:
    ``[{ signature = "checkpoint.toml" }]``.
    """
    engine: Literal["events", "flows"] = Field(default="events", examples=["flows"])
    """How clients are run: ``events`` follows every request; ``flows`` gives clients the rates that
    many requests come to, whatever their number, constant from one event to the next.
    """
    interval: Seconds | None = Field(default=None, examples=["22 ms"])
    """Of a closed loop: within what time after a completion the next is issued, at a random moment.
    Default: at once.
    """
    reads: Share | None = Field(default=None, examples=[0.5])
    """The share of requests, or of stripes, that are read. Default: 0.5. A trace says it itself."""
    request_size: Annotated[Bytes | None, _SIZE] = Field(default=None, examples=["512 KiB"])
    """How much a request reads or writes. Default: 512 KiB. A trace says it itself."""
    mix: tuple[MixedRequests, ...] | None = Field(
        default=None,
        min_length=1,
        max_length=CLASSES_MAX,
        examples=[[{"of_bytes": 0.05, "size": "16 KiB"}, {"of_bytes": 0.95, "size": "1 MiB"}]],
    )
    """Instead of one size: classes of requests, each with its size, its share of the requests or of
    their bytes, and what it reads.
    """
    control_message: Annotated[Bytes, _SIZE] = Field(default=Bytes(64), examples=["64 B"])
    """The size of a read's request and of a write's acknowledgement."""
    targets: RequestTargets = Field(default=RequestTargets(), examples=["uniform"])
    """Which servers requests go to, by the first piece of the object: ``uniform``, ``{ zipf = 0.99
    }``, ``{ hot_servers = 0.1, hot_requests = 0.9 }`` or, of each client's own, ``{ per_client = 1
    }``.
    """
    client_rate: Annotated[BytesPerSecond | None, _RATE] = Field(default=None, examples=["53 MB/s"])
    """Of a closed loop: the most that one client (one place where clients enter) asks for, its
    requests coming no nearer to each other than that. Default: no limit.
    """
    timeout: Annotated[Seconds | None, _TIME] = Field(default=None, examples=["1 s"])
    """After what time a request is lost and tried elsewhere. Default: never, so that one to a disk
    that failed with nobody told hangs.
    """
    warm_up: Seconds | None = Field(default=None, examples=["44 ms"])
    """How long before statistics start. Default: twice the interval."""
    duration: Annotated[Seconds | None, _TIME] = Field(default=None, examples=["10 s"])
    """How long statistics last. Default: until the rebuild is over."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        problems = []
        given = [name for name in _WAYS if getattr(self, name) not in (None, ())]
        if len(given) != 1:
            what = f"{' and '.join(given)} are given" if given else "none is given"
            rule = f"exactly one of outstanding, arrivals, streams and jobs is needed, and {what}"
            problems.append(Problem(rule, "such as outstanding = 5120"))
        if self.is_striped:
            problems += self._stream_problems()
        if self.engine == "flows":
            problems += self._flow_problems()
        if self.arrivals is not None and self.interval is not None:
            rule = "the interval is a closed loop's, and arrivals say when requests come"
            remedy = "remove it, or use outstanding"
            value = show(exact_duration(self.interval))
            problems.append(Problem(rule, remedy, key="interval", value=value))
        if self.outstanding is None and self.client_rate is not None:
            rule, remedy = (
                "this is the most of a closed loop's client",
                "remove it, or use outstanding",
            )
            if self.is_striped:
                remedy = "remove it, or use streams.rate"
            value = show(exact_rate(self.client_rate))
            problems.append(Problem(rule, remedy, key="client_rate", value=value))
        if self.arrivals is not None and self.arrivals.trace is not None:
            problems += [
                Problem("the trace says this of each request", "remove it", key=name)
                for name in ("reads", "request_size", "mix")
                if getattr(self, name) is not None
            ]
        if self.mix is not None:
            problems += mix_problems(self.mix, has_reads=self.reads is not None)
            if self.request_size is not None:
                rule, value = "the mix says how large requests are", exact_bytes(self.request_size)
                remedy = "keep one of the two"
                problems.append(Problem(rule, remedy, key="request_size", value=show(value)))
        if not problems and self.reads is not None and math.isnan(self.reads):
            problems.append(Problem("a share is a number from 0 to 1", key="reads", value="nan"))
        raise_all(problems)
        return self

    def _flow_problems(self) -> list[Problem]:
        """Keys that have no meaning with steady flows."""
        problems, remedy = [], 'use engine = "events"'
        trace = self.arrivals.trace if self.arrivals is not None else None
        if trace is not None and not trace.seconds[-1] > 0:
            rule = "all its requests come at one time, which makes no rate"
            problems.append(
                Problem(rule, f"give one that lasts, or {remedy}", key="arrivals.trace")
            )
        if self.timeout is not None:
            rule, value = "no request of a flow is lost", show(exact_duration(self.timeout))
            problems.append(Problem(rule, f"remove it, or {remedy}", key="timeout", value=value))
        return problems

    def _stream_problems(self) -> list[Problem]:
        """Keys of requests that have no meaning with streams."""
        given = {
            "interval": None if self.interval is None else exact_duration(self.interval),
            "request_size": None if self.request_size is None else exact_bytes(self.request_size),
            "mix": None if self.mix is None else mix_label(self.mix),
            "targets": None if self.targets == RequestTargets() else self.targets.label,
            "timeout": None if self.timeout is None else exact_duration(self.timeout),
        }
        if self.jobs:
            given["reads"] = None if self.reads is None else f"{self.reads:g}"
        rules = {
            "reads": "each job's signature says this",
            "interval": "a stream's window is filled again at once",
            "request_size": "streams read and write whole stripes",
            "mix": "streams read and write whole stripes",
            "targets": "streams go to every server alike",
            "timeout": "streams wait for what they asked",
        }
        remedies = {
            "interval": "remove it, or give streams a rate",
            "request_size": "remove it, and set redundancy.strip",
        }
        return [
            Problem(rules[name], remedies.get(name, "remove it"), key=name, value=show(value))
            for name, value in given.items()
            if value is not None
        ]

    @property
    def is_striped(self) -> bool:
        """Whether clients read and write whole stripes, by streams or jobs, and no requests."""
        return self.streams is not None or bool(self.jobs)

    @property
    def interval_seconds(self) -> float:
        """Within what time a request that completes is followed by another in a closed loop."""
        return float(_INTERVAL if self.interval is None else self.interval)

    @property
    def read_share(self) -> float:
        """The share of requests that read, the default filled in; a trace's own share."""
        if self.arrivals is not None and self.arrivals.trace is not None:
            kinds = self.arrivals.trace.is_read
            return sum(kinds) / len(kinds)
        shares = {one.read_share for one in self.classes if one.share}
        if len(shares) == 1:
            return shares.pop()
        return math.fsum(one.share * one.read_share for one in self.classes)

    @property
    def request_bytes(self) -> int:
        """How much a request moves, the default filled in; the mean, rounded, of several sizes."""
        return round(self._mean_bytes)

    @property
    def _mean_bytes(self) -> float:
        if self.arrivals is not None and self.arrivals.trace is not None:
            sizes = self.arrivals.trace.bytes
            return sum(sizes) / len(sizes)
        return math.fsum(one.share * one.size_bytes for one in self.classes)

    @property
    def classes(self) -> tuple[RequestClass, ...]:
        """The classes of requests, one where there is no mix; of a trace, what stands in for it."""
        reads = _READS if self.reads is None else float(self.reads)
        if self.mix is not None:
            return classes_of(self.mix, reads)
        size = _REQUEST_SIZE if self.request_size is None else self.request_size
        return (RequestClass(1.0, reads, int(size)),)

    @property
    def largest_bytes(self) -> int:
        """How much the largest request moves."""
        if self.arrivals is not None and self.arrivals.trace is not None:
            return max(self.arrivals.trace.bytes)
        return max(one.size_bytes for one in self.classes)

    @property
    def size_label(self) -> str:
        """How much requests move, in words."""
        return exact_bytes(self.request_bytes) if self.mix is None else mix_label(self.mix)

    @property
    def gap_seconds(self) -> float:
        """The least time between two requests of a client; zero where it has no rate of its own."""
        return 0.0 if self.client_rate is None else self._mean_bytes / float(self.client_rate)

    @property
    def warm_up_seconds(self) -> float:
        """How long before statistics start, the default filled in."""
        return 2 * self.interval_seconds if self.warm_up is None else float(self.warm_up)

    def content(self) -> dict[str, Any]:
        """What affects results, JSON-able: in bytes and seconds; a trace by its hash."""
        # What follows every request is named as it was before there were flows.
        engine = {} if self.engine == "events" else {"engine": self.engine}
        if self.is_striped:
            jobs = [job.content() for job in self.jobs]
            return {
                **engine,
                **({"jobs": jobs} if jobs else {}),
                "streams": None if self.streams is None else self.streams.model_dump(mode="json"),
                "reads": self.read_share,
                "control_message": int(self.control_message),
                "warm_up": self.warm_up_seconds,
                "duration": self.duration,
            }
        paced = {} if self.client_rate is None else {"client_rate": float(self.client_rate)}
        mixed = {} if self.mix is None else {"mix": [one._asdict() for one in self.classes]}
        return {
            **engine,
            **paced,
            **mixed,
            "outstanding": self.outstanding,
            "arrivals": self.arrivals.content() if self.arrivals is not None else None,
            "interval": self.interval_seconds,
            "reads": self.read_share,
            "request_size": self.request_bytes,
            "control_message": int(self.control_message),
            "targets": self.targets.content(),
            "timeout": self.timeout,
            "warm_up": self.warm_up_seconds,
            "duration": self.duration,
        }
