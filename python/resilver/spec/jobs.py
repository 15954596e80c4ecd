"""Jobs: applications that compute, move a volume, and compute again, by the signature of each."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field, GetJsonSchemaHandler, ValidationInfo, model_validator
from pydantic_core import CoreSchema

from resilver.errors import Problem, Problems, show
from resilver.spec.section import TEXT, Count, Positive, Section, Share, file_path
from resilver.spec.streams import WINDOW_MAX
from resilver.text import read_toml
from resilver.units import BYTE_UNITS, Bytes, BytesPerSecond, Seconds, exact_duration, shortest_text

JOBS_MAX = 200
"""The most jobs of a run: a byte numbers what asks for data."""


class JobSignature(Section):
    """What a job moves, and when: the pattern that servers' logs show of it."""

    name: str = Field(default="", examples=["forecast"])
    """What the job is called. Default: the file's name; without a file, its place in the list."""
    period: Positive[Seconds] = Field(examples=["10 min"])
    """From when a burst is asked for to when the next one is."""
    first: Seconds = Field(default=Seconds(0), examples=["30 s"])
    """From the job's start to its first burst: its phase."""
    length: Positive[Seconds] = Field(examples=["45 s"])
    """How long a burst takes where nothing is in its way; at most the period."""
    volume: Positive[Bytes] = Field(examples=["2.4 TB"])
    """The bytes of a burst."""
    reads: Share = Field(default=0.0, examples=[0.0])
    """The share of a burst's operations that read; the others write."""
    height: BytesPerSecond | None = Field(default=None, examples=["53 GB/s"])
    """The rate of a burst, as it was found; it follows from volume and length, and is not used."""
    confidence: Share | None = Field(default=None, examples=[0.9])
    """How sure whoever found the signature was; it is not used."""
    runs: Count | None = Field(default=None, examples=[8])
    """How many runs it was found in; it is not used."""

    @model_validator(mode="before")
    @classmethod
    def _read(cls, data: Any, info: ValidationInfo) -> Any:
        if isinstance(data, dict | JobSignature):
            return data
        if callable(text := getattr(data, "to_toml", None)):
            # One that `resilver.signature` found, which is what its file would say.
            return tomllib.loads(text())
        path = file_path(data, info)
        table = read_toml(path)
        return {"name": path.stem, **table}

    def _problems(self) -> Problems:
        if self.length > self.period:
            rule = f"a burst of {exact_duration(self.length)} is longer than the period"
            yield self.problem("length", rule, "shorten it")


class _FileOr:
    """In the annotation of a section that a file may hold: its path does as well."""

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {"anyOf": [dict(TEXT), handler(schema)]}


class Job(Section):
    """An application whose bursts repeat, each beginning no sooner than the one before is done."""

    signature: Annotated[JobSignature, _FileOr()] = Field(examples=["checkpoint.toml"])
    """The file with its signature, or the same keys as a table."""
    start: Seconds = Field(default=Seconds(0), examples=["0 s"])
    """When it starts, from the start of the run."""
    clients: Count | None = Field(default=None, examples=[8])
    """At how many of the places where clients enter it is; each has an equal share of a burst.
    Default: at all from the first one on.
    """
    first_client: Annotated[int, Field(strict=True, ge=0)] = Field(default=0, examples=[0])
    """The first of these places, from 0."""
    window: Count = Field(default=16, le=WINDOW_MAX, examples=[16])
    """How many operations each client has under way at the most."""

    @property
    def first_seconds(self) -> float:
        """When its first burst is asked for, from the start of the run."""
        return float(self.start) + float(self.signature.first)

    @property
    def label(self) -> str:
        """All that tells it from others, in short.

        >>> signature = {"name": "a", "period": "1 min", "length": "20 s", "volume": "80 GB"}
        >>> Job(signature=signature, start="5 s", clients=8, first_client=4).label
        'a 80 GB in 20 s of 60 s from 5 s at 4-11'
        """
        of = self.signature
        lasts, every = exact_duration(of.length), exact_duration(of.period)
        words = [of.name, shortest_text(int(of.volume), BYTE_UNITS), f"in {lasts} of {every}"]
        words += (
            [f"from {exact_duration(Seconds(self.first_seconds))}"] if self.first_seconds else []
        )
        if self.clients is not None or self.first_client:
            last = "" if self.clients is None else str(self.first_client + self.clients - 1)
            words.append(f"at {self.first_client}-{last}")
        words += [f"{100 * of.reads!r} % read"] if of.reads else []
        words += [f"window {self.window}"] if "window" in self.given() else []
        return " ".join(word for word in words if word)

    def content(self) -> dict[str, Any]:
        """What affects results, JSON-able: in bytes and seconds."""
        told = {"height", "confidence", "runs"}
        return self.model_dump(mode="json", exclude={"signature": told})

    def places(self, entries: int) -> range:
        """The places where it is, of so many where clients enter."""
        end = entries if self.clients is None else self.first_client + self.clients
        return range(min(self.first_client, entries), min(end, entries))


def names_of(jobs: Sequence[Job]) -> tuple[str, ...]:
    """The names of jobs, no two alike.

    >>> from resilver.spec.jobs import Job, names_of
    >>> keys = {"period": "10 min", "length": "45 s", "volume": "1 TB"}
    >>> names_of([Job(signature={"name": "a", **keys}), Job(signature=keys)])
    ('a', 'job 1')
    """
    given = [job.signature.name for job in jobs]
    names: list[str] = []
    for number, name in enumerate(given):
        if name and given.count(name) > 1:
            name = f"{name} {given[: number + 1].count(name)}"
        names.append(name or f"job {number}")
    return tuple(names)


def job_problems(jobs: Sequence[Job], entries: int) -> Problems:
    """What is wrong between jobs and the places where clients enter.

    Args:
        entries: How many such places there are; zero where that is not known yet.
    """
    if len(jobs) > JOBS_MAX:
        rule = f"there are {len(jobs):,} jobs, and {JOBS_MAX} are the most"
        yield Problem(rule, "simulate fewer at a time", key="traffic.jobs")
    for number, job in enumerate(jobs):
        last = job.first_client + (job.clients or 1)
        if entries and last > entries:
            rule = f"clients enter at {entries:,} places, numbered from 0"
            key = "first_client" if job.clients is None else "clients"
            value = show(job.first_client if job.clients is None else job.clients)
            remedy = "give fewer, or more places by cluster.fabric.routers"
            key = f"traffic.jobs.{number}.{key}"
            yield Problem(rule, remedy, key=key, value=value)
