"""What clients do: reads and writes that enter by the routers and go to the servers' disks."""

from __future__ import annotations

import math
from typing import Any, Literal

from pydantic import Field

from resilver.errors import Problem, Problems, show
from resilver.spec.arrivals import Arrivals, RequestTargets
from resilver.spec.jobs import Job
from resilver.spec.mixes import (
    CLASSES_MAX,
    MixedRequests,
    RequestClass,
    classes_of,
    mix_label,
    mix_problems,
)
from resilver.spec.section import Count, Positive, Section, Share
from resilver.spec.streams import Streams
from resilver.units import Bytes, BytesPerSecond, Seconds, exact_bytes

DIRECTORIES_MAX = 1_000_000
"""The most directories that are told apart."""
OUTSTANDING_MAX = 10_000_000
"""The most requests that a closed loop keeps outstanding."""

_WAYS = ("outstanding", "arrivals", "streams", "jobs")

# What each key is by default, where the arrivals do not say it themselves.
_INTERVAL = Seconds(0)
_READS = 0.5
_REQUEST_SIZE = Bytes(512 * 1024)


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
    request_size: Positive[Bytes] | None = Field(default=None, examples=["512 KiB"])
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
    control_message: Positive[Bytes] = Field(default=Bytes(64), examples=["64 B"])
    """The size of a read's request and of a write's acknowledgement."""
    targets: RequestTargets = Field(default=RequestTargets(), examples=["uniform"])
    """Which servers requests go to, by the first piece of the object: ``uniform``, ``{ zipf = 0.99
    }``, ``{ hot_servers = 0.1, hot_requests = 0.9 }`` or, of each client's own, ``{ per_client = 1
    }``.
    """
    metadata: str | None = Field(default=None, examples=["mdt"])
    """The class of the metadata servers that operations of the mix go to, those of one file system
    (one namespace). Default: all metadata servers.
    """
    directories: Count | None = Field(default=None, le=DIRECTORIES_MAX, examples=[1])
    """How many directories operations of the mix are in, each as likely as another. They are dealt
    to the metadata servers in turn. Default: so many, or so striped, that each server has its
    share.
    """
    client_rate: Positive[BytesPerSecond] | None = Field(default=None, examples=["53 MB/s"])
    """Of a closed loop: the most that one client (one place where clients enter) asks for, its
    requests coming no nearer to each other than that. Default: no limit.
    """
    timeout: Positive[Seconds] | None = Field(default=None, examples=["1 s"])
    """After what time a request is lost and tried elsewhere. Default: never, so that one to a disk
    that failed with nobody told hangs.
    """
    warm_up: Seconds | None = Field(default=None, examples=["44 ms"])
    """How long before statistics start. Default: twice the interval."""
    duration: Positive[Seconds] | None = Field(default=None, examples=["10 s"])
    """How long statistics last. Default: until the rebuild is over."""

    def _problems(self) -> Problems:
        yield from self.exactly_one(_WAYS, "such as outstanding = 5120")
        if self.is_striped:
            yield from self._stream_problems()
        if self.engine == "flows":
            yield from self._flow_problems()
        if self.arrivals is not None and self.interval is not None:
            rule = "the interval is a closed loop's, and arrivals say when requests come"
            yield self.problem("interval", rule, "remove it, or use outstanding")
        if self.outstanding is None and self.client_rate is not None:
            remedy = f"remove it, or use {'streams.rate' if self.is_striped else 'outstanding'}"
            yield self.problem("client_rate", "this is the most of a closed loop's client", remedy)
        if self.arrivals is not None and self.arrivals.trace is not None:
            for name in ("reads", "request_size", "mix"):
                if getattr(self, name) is not None:
                    yield Problem("the trace says this of each request", "remove it", key=name)
        yield from self._operation_problems()
        if self.mix is not None:
            yield from mix_problems(self.mix, has_reads=self.reads is not None)
            if self.request_size is not None:
                rule = "the mix says how large requests are"
                yield self.problem("request_size", rule, "keep one of the two")

    def _operation_problems(self) -> Problems:
        """Keys of operations where there are none, and what operations cannot be with."""
        if self.has_operations and self.engine == "flows":
            yield self.problem("engine", "operations on files are followed one by one", "remove it")
        for name in ("metadata", "directories"):
            if getattr(self, name) is not None and not self.has_operations:
                rule = "no class of the mix has an operation"
                yield self.problem(name, rule, "add one to traffic.mix, or remove it")

    def _flow_problems(self) -> Problems:
        """Keys that have no meaning with steady flows."""
        remedy = 'use engine = "events"'
        trace = self.arrivals.trace if self.arrivals is not None else None
        if trace is not None and not trace.seconds[-1] > 0:
            rule = "all its requests come at one time, which makes no rate"
            yield Problem(rule, f"give one that lasts, or {remedy}", key="arrivals.trace")
        if self.timeout is not None:
            yield self.problem("timeout", "no request of a flow is lost", f"remove it, or {remedy}")

    def _stream_problems(self) -> Problems:
        """Keys of requests that have no meaning with streams."""
        whole = "streams read and write whole stripes"
        rules = {
            "interval": ("a stream's window is filled again at once", ", or give streams a rate"),
            "request_size": (whole, ", and set redundancy.strip"),
            "targets": ("streams go to every server alike", ""),
            "timeout": ("streams wait for what they asked", ""),
        }
        if self.jobs:
            rules["reads"] = ("each job's signature says this", "")
        for name, (rule, besides) in rules.items():
            if getattr(self, name) not in (None, RequestTargets()):
                yield self.problem(name, rule, f"remove it{besides}")
        if self.mix is not None:
            yield Problem(whole, "remove it", key="mix", value=show(mix_label(self.mix)))

    @property
    def is_striped(self) -> bool:
        """Whether clients read and write whole stripes, by streams or jobs, and no requests."""
        return self.streams is not None or bool(self.jobs)

    @property
    def has_operations(self) -> bool:
        """Whether clients ask for operations on files, beside data or alone."""
        return any(one.operation is not None for one in self.mix or ())

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
        mixed = {} if self.mix is None else {"mix": [one.content() for one in self.classes]}
        where = {"metadata": self.metadata, "directories": self.directories}
        return {
            **engine,
            **paced,
            **mixed,
            **{key: value for key, value in where.items() if value is not None},
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
