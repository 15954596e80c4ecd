"""Rates of streams of reads and writes and of rebuilds in place, server by server and summed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from resilver.analytic.code_figures import CodeFigures
from resilver.errors import ConfigError, show


@dataclass(frozen=True)
class Rates:
    """User data read and written and strips made, in B/s.

    Args:
        read: Bytes of user data that reads deliver to clients each second.
        write: Bytes of user data that writes take from clients each second.
        rebuild: Bytes of the strips that rebuilds make each second.
    """

    read: float
    write: float
    rebuild: float

    def __add__(self, other: Rates) -> Rates:
        return Rates(self.read + other.read, self.write + other.write, self.rebuild + other.rebuild)

    def times(self, count: int) -> Rates:
        """The sum over this many servers or groups alike."""
        return Rates(count * self.read, count * self.write, count * self.rebuild)


def payload_rate(
    link_bytes_per_second: float, message_bytes: int, packet_bytes: int, overhead_bytes: int
) -> float:
    """The rate at which a link passes a message's data, its packets' overhead aside.

    The bandwidth B of all formulas here is a server's ports times this rate, not times the link's
    own: each packet takes its overhead on the link beside its data.

    Args:
        link_bytes_per_second: What the link passes, overhead included.
        message_bytes: The message, such as one strip.
        packet_bytes: The most data in a packet.
        overhead_bytes: What a packet takes beside its data.

    Returns:
        B/s of data: the link's rate x s / (s + ceil(s / packet) x overhead).

    >>> payload_rate(100.0, message_bytes=8, packet_bytes=4, overhead_bytes=1)
    80.0
    """
    packets = -(-message_bytes // packet_bytes)
    return link_bytes_per_second * message_bytes / (message_bytes + packets * overhead_bytes)


def server_rates(
    bandwidth: float,
    code: CodeFigures,
    *,
    reads: float = 1.0,
    rebuild_code: CodeFigures | None = None,
    rebuild_fraction: float = 0.0,
    offered: float | None = None,
) -> Rates:
    """What one server of a group reads, writes and rebuilds when all of its group do alike.

    With a fraction f for rebuild, clients' operations get (1 - f) of what they would alone and
    rebuild f / y of the bandwidth. What clients leave of their share, because they ask for less,
    is lent to the rebuild.

    Args:
        bandwidth: B, in B/s: all ports of the server in one direction, as `payload_rate` has it.
        code: The code that is read and written.
        reads: The share of stripe operations that read, 0 to 1.
        rebuild_code: The code whose strips are rebuilt; None where none are.
        rebuild_fraction: f, the part of the bandwidth for rebuild, 0 to 1; of no effect without
            `rebuild_code`, since a lane without traffic lends its share.
        offered: User data that clients ask of the server, in B/s; None for all it can give.

    Returns:
        The rates.

    Raises:
        ConfigError: A rate or a share is out of its range.

    Source: Gonsiorowski et al. (2017), sections 5.1 to 5.4: r = (1 - f) k / (2k - 1) B,
    w = (1 - f) B / (2 + x), rebuild f B / y.

    Range: an upper bound. Every stripe operation is at its best, one strip local to the
    coordinator, links between switches never limit, devices and coding take no time.

    >>> from resilver.analytic import code_figures
    >>> server_rates(15.0, code_figures("rs 8+3"))
    Rates(read=8.0, write=0.0, rebuild=0.0)
    >>> rs = code_figures("rs 8+3")
    >>> server_rates(16.0, rs, reads=0.0, rebuild_code=rs, rebuild_fraction=0.5).rebuild
    1.0
    """
    _check_rates(bandwidth, reads, rebuild_fraction, offered)
    alone = bandwidth * float(code.mixed_share(Fraction(reads)))
    fraction = rebuild_fraction if rebuild_code is not None else 0.0
    served = alone * (1 - fraction)
    rebuild = 0.0
    if offered is not None and offered < served:
        served = offered
    if rebuild_code is not None:
        left = max(fraction, 1 - served / alone) if alone else 1.0
        rebuild = bandwidth * left * float(rebuild_code.rebuild_share)
    return Rates(served * reads, served * (1 - reads), rebuild)


def stream_rates(
    *,
    groups: int,
    group_size: int,
    bandwidth: float,
    code: CodeFigures,
    reads: float = 1.0,
    rebuild_code: CodeFigures | None = None,
    rebuild_fraction: float = 0.0,
    groups_rebuilding: int = 0,
    offered: float | None = None,
) -> Rates:
    """What all groups together read, write and rebuild.

    Groups that rebuild share their servers' bandwidth, the others have all of it.

    Args:
        groups: How many groups there are.
        group_size: Servers of a group.
        bandwidth: B of one server, as for `server_rates`.
        code: The code that is read and written.
        reads: The share of stripe operations that read, 0 to 1.
        rebuild_code: The code whose strips are rebuilt; the same as `code` where None is given.
        rebuild_fraction: f, the part of the bandwidth for rebuild.
        groups_rebuilding: How many groups rebuild.
        offered: User data that clients ask of each server, in B/s; None for all it can give.

    Returns:
        The sums over all groups.

    Raises:
        ConfigError: A rate, a share or a count is out of its range.

    >>> from resilver.analytic import code_figures
    >>> rs = code_figures("rs 8+3")
    >>> stream_rates(groups=12, group_size=24, bandwidth=15.0, code=rs).read
    2304.0
    >>> rates = stream_rates(groups=12, group_size=24, bandwidth=15.0, code=rs,
    ...                      rebuild_fraction=0.25, groups_rebuilding=4)
    >>> rates.read, rates.rebuild  # (8 + 4 x 0.75) x 24 x 8, and 4 x 24 x 0.25 x 15 / 8
    (2112.0, 45.0)
    """
    for name, count, most in (
        ("groups", groups, None),
        ("group_size", group_size, None),
        ("groups_rebuilding", groups_rebuilding, groups),
    ):
        if count < 0 or (most is not None and count > most):
            rule = "this is a count from 0" + ("" if most is None else f" to groups = {most}")
            raise ConfigError(rule, key=name, value=show(count))
    quiet = server_rates(bandwidth, code, reads=reads, offered=offered)
    busy = server_rates(
        bandwidth,
        code,
        reads=reads,
        rebuild_code=rebuild_code or code,
        rebuild_fraction=rebuild_fraction,
        offered=offered,
    )
    count = groups_rebuilding * group_size
    return quiet.times(groups * group_size - count) + busy.times(count)


def _check_rates(bandwidth: float, reads: float, fraction: float, offered: float | None) -> None:
    for name, rate in (("bandwidth", bandwidth), ("offered", offered)):
        if rate is not None and not 0 <= rate < math.inf:
            rule = "a rate is finite, and zero or more"
            raise ConfigError(rule, "give it in B/s", key=name, value=show(rate))
    for name, share in (("reads", reads), ("rebuild_fraction", fraction)):
        if not 0 <= share <= 1:
            rule = "a share is a number from 0 to 1"
            raise ConfigError(rule, "such as 0.9", key=name, value=show(share))
