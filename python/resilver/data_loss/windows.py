"""Published models of durability: Backblaze's windows, Inktank's RADOS, Facebook's stripes.

Each is kept as it was published, so that its figures come out; what it leaves out stands in its
function. None is what `resilver durability` answers with: that is `resilver.data_loss.chains` where
lifetimes are exponential, and simulation elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from resilver.checked import number, share, whole
from resilver.data_loss.absorbing import Chain, any_loss
from resilver.data_loss.chains import YEAR_SECONDS, group_chain
from resilver.errors import ConfigError, show

_PIECES_MAX = 10_000
"""The most pieces of a group: the binomial of more is no number of 64 bits."""


@dataclass(frozen=True)
class WindowLoss:
    """What a model of windows says.

    Attributes:
        failure: The probability that a given piece fails in one window.
        window: That more fail in it than the code survives.
        windows: How many windows the period has.
        loss: That any window of the period loses data: 1 - (1 - window)^windows.
    """

    failure: float
    window: float
    windows: float
    loss: float


def window_loss(
    pieces: int,
    tolerance: int,
    *,
    failure_rate: float,
    window_seconds: float,
    period_seconds: float,
) -> WindowLoss:
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
    >>> f"{backblaze.failure:.4e} {backblaze.loss:.3e}"
    '7.2121e-05 7.354e-12'
    """
    whole("pieces", pieces, least=1, most=_PIECES_MAX)
    whole("tolerance", tolerance, most=pieces - 1)
    number("failure_rate", failure_rate)
    number("window_seconds", window_seconds, positive=True)
    number("period_seconds", period_seconds, positive=True)
    expected = failure_rate * window_seconds
    failure = -math.expm1(-expected)
    window = _more_than(pieces, tolerance, failure, expected)
    windows = period_seconds / window_seconds
    return WindowLoss(failure, window, windows, any_loss(window, windows))


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


@dataclass(frozen=True)
class RadosLoss:
    """What Inktank's model of RADOS says, per drive and its copies on others.

    Attributes:
        recovery_seconds: From a failure until all is whole: the time until the drive is marked out,
            and the transfer.
        drive_loss: The probability that failures of drives lose data in the period.
        lost_share: Of a drive's data, the share that such a loss takes.
        lost_bytes: The same in bytes.
        unreadable_loss: The probability that a repair in the period cannot read some data, with no
            other copy left; 0 where no such errors were said.
        unreadable_bytes: What is then lost: an object, or a placement group where that is less.
        loss: The probability that a given object is lost in the period (1 - "durability").
    """

    recovery_seconds: float
    drive_loss: float
    lost_share: float
    lost_bytes: float
    unreadable_loss: float
    unreadable_bytes: float
    loss: float


def rados_loss(
    copies: int,
    *,
    device_bytes: float,
    fit: float = 826.0,
    fit_during_recovery: float | None = None,
    groups: int = 200,
    bytes_per_second: float = 50e6,
    mark_out_seconds: float = 600.0,
    full: float = 0.75,
    stripe: int = 1,
    object_bytes: float = float(2**30),
    unreadable_per_bit: float = 0.0,
    period_seconds: float = YEAR_SECONDS,
) -> RadosLoss:
    """Inktank's model of copies in RADOS: a drive fails, then one of its partners, then another.

    The first failure is any of the object's drives in the period; each further one is of any of the
    `groups` partners of each copy that is left, within the recovery of the first. Every failure
    of a partner counts as one of a drive that has the same placement group, and the recovery does
    not begin anew: both are more pessimistic and less so than what happens.

    Args:
        copies: Copies of each object, on drives of their own.
        device_bytes: The size of a drive.
        fit: Failures of a drive in a billion hours.
        fit_during_recovery: The same while another recovers. Default: as before.
        groups: Placement groups on a drive, so many partners recover at once.
        bytes_per_second: How fast each of them recovers.
        mark_out_seconds: From a failure until recovery begins.
        full: How full drives are, from 0 to 1.
        stripe: Over how many placement groups an object is striped.
        object_bytes: The size of an object.
        unreadable_per_bit: Errors that a bit read or written meets.
        period_seconds: Over how long the loss is asked.

    Raises:
        ConfigError: A number is out of range.

    Source: ceph-tools, models/reliability (RadosRely.py and DiskRely.py, 2013 to 2015).

    >>> two, three = (rados_loss(n, device_bytes=2.0**41, bytes_per_second=50 * 2.0**20)
    ...     for n in (2, 3))
    >>> f"{two.drive_loss:.4e} {three.drive_loss:.4e}"
    '4.9961e-07 5.1896e-11'
    """
    whole("copies", copies, least=1, most=64)
    whole("groups", groups, least=1)
    whole("stripe", stripe, least=1)
    sizes = {"device_bytes": device_bytes, "object_bytes": object_bytes}
    for key, value in {
        **sizes, "bytes_per_second": bytes_per_second, "period_seconds": period_seconds
    }.items():  # fmt: skip
        number(key, value, positive=True)
    per_bit = number("unreadable_per_bit", unreadable_per_bit)
    number("mark_out_seconds", mark_out_seconds)
    stored = device_bytes * share("full", full)
    rate = number("fit", fit) / 3.6e12
    later = rate if fit_during_recovery is None else number("fit", fit_during_recovery) / 3.6e12
    recovery = mark_out_seconds + stored / (bytes_per_second * groups)
    first = -math.expm1(-rate * copies * stripe * period_seconds)
    # Of the copies left one after the other fails, the last of them among the partners of one.
    drops = [-math.expm1(-later * left * groups * recovery) for left in range(copies - 1, 0, -1)]
    lost_share = 1.0 if copies == 1 else 1.0 / (2 * groups)
    errors = 8 * per_bit * stored * (2 if copies > 1 else 1)
    unreadable = first * math.prod(drops[:-1]) * errors * math.exp(-errors)
    torn = min(object_bytes, stored * lost_share)
    drive = first * math.prod(drops)
    loss = drive * lost_share + (unreadable * torn / stored if stored else 0.0)
    return RadosLoss(recovery, drive, lost_share, stored * lost_share, unreadable, torn, loss)


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
