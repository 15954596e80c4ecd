"""What a `stat` of many files costs a Lustre file system.

The metadata server knows a file's name, owner and times, and each object target how much of it
it has: every `stat` asks every target that has a part of the file (Oral et al., "Best Practices
and Lessons Learned from Deploying and Operating Large-Scale Data-Centric Parallel File Systems",
2014, section VII), so that one of a file of *k* stripes is 1 + *k* requests. Those to targets go
out together, behind the answer of the metadata server: a client that asks for one file after the
other takes *N* (*t_mds* + *t_ost*), and *P* such clients *P* times less, until the metadata servers
answer no more. Newer releases can keep sizes on the metadata server (lazy size on MDT), and then
ask it alone: that is not in it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Self

from resilver.errors import ConfigError, show

STRIPES_MAX = 2000
"""The most stripes that a Lustre file has (Lustre Operations Manual)."""


@dataclass(frozen=True)
class StatCost:
    """The requests of a `stat` of everything.

    Attributes:
        entries: Files, folders and links: each is a request to a metadata server.
        files: Files among them.
        ost_requests: Requests to object targets; None where stripes are not known.
        is_assumed: Whether some files' stripes are as the caller says.
    """

    entries: int
    files: int
    ost_requests: int | None
    is_assumed: bool = False

    @classmethod
    def of(
        cls, entries: int, files: int, known: int, objects: int, stripes: int | None = None
    ) -> Self:
        """The cost of what a scan counted.

        Args:
            entries: All rows.
            files: Files among them.
            known: Files whose stripes are known.
            objects: Their stripes.
            stripes: The stripes of each other file; None where they are not known.

        >>> StatCost.of(entries=10, files=8, known=8, objects=32).requests
        42
        """
        if stripes is not None and not 0 <= stripes <= STRIPES_MAX:
            rule = f"a file has 0 to {STRIPES_MAX:,} stripes"
            raise ConfigError(rule, "", "--stripes", show(stripes))
        if known == files:
            return cls(entries, files, objects)
        if stripes is None:
            return cls(entries, files, None)
        return cls(entries, files, objects + stripes * (files - known), is_assumed=True)

    @property
    def requests(self) -> int | None:
        """All requests; None where stripes are not known."""
        return None if self.ost_requests is None else self.entries + self.ost_requests

    def at(self, stripes: int) -> int:
        """All requests if each file had so many stripes."""
        return self.entries + stripes * self.files

    def seconds(
        self,
        mds_seconds: float,
        ost_seconds: float,
        clients: int = 1,
        mds_per_second: float | None = None,
    ) -> float:
        """How long a `stat` of everything takes.

        Args:
            mds_seconds: What a metadata server takes to answer one request of one client.
            ost_seconds: The same of an object target; all of a file's answer together.
            clients: How many ask, each for one after the other.
            mds_per_second: Requests a second that the metadata servers answer at the most; None
                for no bound.

        Raises:
            ConfigError: There is no client, or a time or a rate is not above 0.

        >>> cost = StatCost.of(entries=1000, files=1000, known=1000, objects=4000)
        >>> cost.seconds(0.0005, 0.0005), cost.seconds(0.0005, 0.0005, 100, 10_000.0)
        (1.0, 0.1)
        """
        for key, value in (("clients", clients), ("mds-time", mds_seconds)):
            if not value > 0:
                raise ConfigError("it is above 0", "", f"--{key}", show(value))
        # Folders, links and files without objects ask no target.
        asking = self.entries if self.ost_requests is None else 0
        asking = self.files if self.ost_requests else asking
        alone = self.entries * mds_seconds + asking * ost_seconds
        least = self.entries / mds_per_second if mds_per_second else 0.0
        return max(alone / clients, least)

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON can carry it."""
        return asdict(self) | {"mds_requests": self.entries, "requests": self.requests}
