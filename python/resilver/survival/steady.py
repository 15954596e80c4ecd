"""How often independent failures lose the sets of a placement, year after year, in closed form."""

from __future__ import annotations

import math

from resilver.survival.checked import number, whole


def sets_loss_rate(
    fatal_sets: int, size: int, *, failure_rate: float, repair_seconds: float
) -> float:
    """How often all devices of some set are lost at once, in the long run.

    Each device fails at a constant rate and is whole again after a repair of its own, of any
    distribution, whatever else fails. It is then lost for the share u = x / (1 + x) of the time, x
    being rate times repair, and all devices of a set for u^size; as each of them comes back at the
    rate 1 / repair, that happens u^size x size / repair times a second.

    Args:
        fatal_sets: Different sets of devices whose loss together loses data.
        size: How many devices each has.
        failure_rate: Failures a second of each device that is there.
        repair_seconds: The mean time until all that a device held is whole.

    Returns:
        Expected losses a second, exact; sets that share devices are lost together more often, so
        that the first loss comes no sooner than at this rate.

    Raises:
        ConfigError: A number is out of range.

    >>> year = 31_557_600.0
    >>> mirrors = sets_loss_rate(50, 2, failure_rate=0.01 / year, repair_seconds=86_400)
    >>> f"{mirrors * year:.4e}"  # 50 x 2 x 0.01^2 x (1 d / 365.25 d), nearly
    '2.7377e-05'
    """
    whole("fatal_sets", fatal_sets, most=10**30)
    whole("size", size, least=1)
    number("failure_rate", failure_rate)
    number("repair_seconds", repair_seconds, positive=True)
    gone = failure_rate * repair_seconds
    lost = gone / (1 + gone)
    return fatal_sets * lost**size * size / repair_seconds


def loss_probability(rate: float, seconds: float) -> float:
    """The probability of at least one loss in so many seconds, at a constant rate of losses."""
    return -math.expm1(-rate * seconds)
