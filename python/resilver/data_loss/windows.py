"""Published models of durability: Backblaze's windows, Inktank's RADOS, Facebook's stripes.

Each is kept as it was published, so that its figures come out; what it leaves out stands in its
function. None is what `resilver durability` answers with: that is `resilver.data_loss.chains` where
lifetimes are exponential, and simulation elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from resilver.data_loss.absorbing import Chain, any_loss
from resilver.data_loss.chains import YEAR_SECONDS, group_chain
from resilver.data_loss.checked import number, share, whole
from resilver.errors import ConfigError, show

_PIECES_MAX = 10_000
"""The most pieces of a group: the binomial of more is no number of 64 bits."""


def window_loss(
    pieces: int,
    tolerance: int,
    *,
    failure_rate: float,
    window_seconds: float,
    period_seconds: float,
) -> float:
    """The probability of loss where time is cut into windows, each as long as a repair.

    Data is lost where more pieces fail in one window than the code survives; each window begins
    with all pieces there. So failures that are near in time and on two sides of a cut are not
    counted: with repairs of that length in parallel, loss is about tolerance + 1 times as likely.

    Args:
        pieces: How many pieces a group has.
        tolerance: How many may be lost without loss of data.
        failure_rate: Failures a second of each piece.
        window_seconds: How long a window is.
        period_seconds: Over how long the loss is asked.

    Raises:
        ConfigError: A number is out of range.

    Source: Backblaze, Cloud storage durability (2018): 17 + 3 shards, 0.405 failures in 100 drive
    years of 365 days, 6.5 days to repair.

    >>> day = 86_400.0
    >>> backblaze = window_loss(20, 3, failure_rate=0.00405 / (365 * day),
    ...     window_seconds=6.5 * day, period_seconds=365 * day)
    >>> f"{backblaze:.3e}"
    '7.354e-12'
    """
    whole("pieces", pieces, least=1, most=_PIECES_MAX)
    whole("tolerance", tolerance, most=pieces - 1)
    number("failure_rate", failure_rate)
    number("window_seconds", window_seconds, positive=True)
    number("period_seconds", period_seconds, positive=True)
    expected = failure_rate * window_seconds
    failure = -math.expm1(-expected)
    window = _more_than(pieces, tolerance, failure, expected)
    return any_loss(window, period_seconds / window_seconds)


def _more_than(pieces: int, tolerance: int, failure: float, expected: float) -> float:
    """The probability that more pieces fail than so many, each with a probability: a binomial sum.

    Terms have no sign, so the sum is as exact as they are; they are made through their logarithms
    where a binomial coefficient might exceed all numbers of 64 bits.
    """
    if failure == 0.0:
        return 0.0
    log_failure = math.log(failure)
    terms = []
    for failed in range(tolerance + 1, pieces + 1):
        ways = math.log(math.comb(pieces, failed))
        terms.append(math.exp(ways + failed * log_failure - (pieces - failed) * expected))
    return min(math.fsum(terms), 1.0)


def rados_loss(
    copies: int,
    *,
    device_bytes: float,
    fit: float = 826.0,
    groups: int = 200,
    bytes_per_second: float = 50e6,
    mark_out_seconds: float = 600.0,
    full: float = 0.75,
) -> float:
    """Inktank's model of copies in RADOS: a drive fails, then one of its partners, then another.

    The first failure is any of the object's drives in a year; each further one is of any of the
    `groups` partners of each copy that is left, within the recovery of the first. Every failure
    of a partner counts as one of a drive that has the same placement group, and the recovery does
    not begin anew: both are more pessimistic and less so than what happens.

    Args:
        copies: Copies of each object, on drives of their own.
        device_bytes: The size of a drive.
        fit: Failures of a drive in a billion hours.
        groups: Placement groups on a drive, so many partners recover at once.
        bytes_per_second: How fast each of them recovers.
        mark_out_seconds: From a failure until recovery begins.
        full: How full drives are, from 0 to 1.

    Returns:
        The probability that failures of drives lose data in a year.

    Raises:
        ConfigError: A number is out of range.

    Source: ceph-tools, models/reliability (RadosRely.py and DiskRely.py, 2013 to 2015).

    >>> two, three = (rados_loss(n, device_bytes=2.0**41, bytes_per_second=50 * 2.0**20)
    ...     for n in (2, 3))
    >>> f"{two:.4e} {three:.4e}"
    '4.9961e-07 5.1896e-11'
    """
    whole("copies", copies, least=1, most=64)
    whole("groups", groups, least=1)
    number("device_bytes", device_bytes, positive=True)
    number("bytes_per_second", bytes_per_second, positive=True)
    number("mark_out_seconds", mark_out_seconds)
    rate = number("fit", fit) / 3.6e12
    stored = device_bytes * share("full", full)
    recovery = mark_out_seconds + stored / (bytes_per_second * groups)
    first = -math.expm1(-rate * copies * YEAR_SECONDS)
    # Of the copies left one after the other fails, the last of them among the partners of one.
    drops = (-math.expm1(-rate * left * groups * recovery) for left in range(copies - 1, 0, -1))
    return first * math.prod(drops)


def stripe_chain(
    pieces: int,
    tolerance: int,
    *,
    failure_rate: float,
    piece_bytes: float,
    bytes_per_second: float,
    gathered: Sequence[int],
) -> Chain:
    """The chain of one stripe by which Facebook's Xorbas was compared with copies.

    One piece is repaired after the other, at the rate of the network between racks, whatever else
    is being repaired, and with no time to detect the failure. A system of many stripes is taken to
    last as long as one over their number: see `striped_mttdl`.

    Args:
        pieces: How many pieces a stripe has.
        tolerance: How many may be lost without loss of data.
        failure_rate: Failures a second of a piece's node.
        piece_bytes: Bytes of a piece.
        bytes_per_second: Of a repair, over the network.
        gathered: With 1, 2, ... pieces lost, how many pieces the repair of one gathers; the last
            holds for more.

    Raises:
        ConfigError: A number is out of range.

    Source: Sathiamoorthy et al., XORing elephants (VLDB 2013), section 4: nodes that last four
    years of 365 days, pieces of 256 MB (here 256 x 1,024,000 B), 1 Gb/s, 30 PB.

    >>> day = 86_400.0
    >>> copies = stripe_chain(3, 2, failure_rate=1 / (4 * 365 * day), piece_bytes=256 * 1_024_000,
    ...     bytes_per_second=1e9 / 8, gathered=[1])
    >>> days = striped_mttdl(copies, stripes=30e15 / (3 * 256 * 1_024_000)) / day
    >>> f"{days:.4e}"
    '2.3079e+10'
    """
    number("piece_bytes", piece_bytes, positive=True)
    number("bytes_per_second", bytes_per_second, positive=True)
    if not gathered:
        rule = "a repair gathers one piece or more"
        raise ConfigError(rule, key="gathered", value=show(list(gathered)))
    piece = bytes_per_second / piece_bytes
    rates = [piece / whole("gathered", one, least=1) for one in gathered]
    return group_chain(pieces, tolerance, failure_rate=failure_rate, repair=rates)


def striped_mttdl(chain: Chain, *, stripes: float) -> float:
    """The mean time to the first loss of any of many stripes, in seconds: that of one over them.

    It holds where one's mean is far longer than its repairs, and stripes fail apart from each
    other. Stripes that share devices do not, so the true mean is longer.

    Raises:
        ConfigError: There are not more than zero stripes.

    >>> striped_mttdl(Chain([[0, 0.5]]), stripes=4)
    0.5
    """
    return chain.mttdl_seconds() / number("stripes", stripes, positive=True)
