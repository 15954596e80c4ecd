"""Tables of results as attributes, of one run in memory as of a study in its folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from resilver.columns import TABLE_NAMES


class ResultTables:
    """The tables of one run, or of all runs of a study by their column ``run``."""

    servers: pa.Table
    """A row a device."""
    transfers: pa.Table
    """A row a source and destination."""
    timeline: pa.Table
    """A row an interval of simulated time."""
    links: pa.Table
    """A row a link of the network; none where the fabric has no links of its own."""
    distributions: pa.Table
    """A row a quantity and bin of its histogram."""
    traffic: pa.Table
    """A row an interval of what clients got; none without traffic."""
    request_classes: pa.Table
    """A row a class of requests; none where requests are of one size."""
    lanes: pa.Table
    """A row a part of the system and class of traffic; none without lanes."""
    lending: pa.Table
    """A row a part, lender and borrower; none where nothing was lent."""
    stripe_groups: pa.Table
    """A row a group of servers that streams go over; none without such streams."""
    pools: pa.Table
    """A row a pool; none where nothing is stored."""
    parts: pa.Table
    """A row a part with a service, which requests pass; none without such parts."""
    limits: pa.Table
    """A row a part that the device waited for which made the last lost piece."""
    flows: pa.Table
    """A row a stretch of time and part that binds steady flows; none without such flows."""
    layers: pa.Table
    """A row a stretch of time and layer of parts that flows pass; none without flows."""
    jobs: pa.Table
    """A row a burst that a job asked for; none without jobs."""
    answers: pa.Table
    """A row a part of the answer on a real Ceph cluster (`resilver.whatif`); none of others."""

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name not in TABLE_NAMES[1:]:
                # With the error of a property that failed, if it is one.
                return object.__getattribute__(self, name)
            table = self._read(name)
            self.__dict__[name] = table
            return table

    def __dir__(self) -> list[str]:
        """What a notebook offers: the tables too, which are read when they are asked for."""
        return [*super().__dir__(), *TABLE_NAMES[1:]]

    def _read(self, name: str) -> pa.Table:
        raise NotImplementedError
