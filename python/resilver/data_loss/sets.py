"""The exact chain of a code by which pieces are lost, not only how many.

Every set of lost pieces is a state, and states that no failure and no repair ever tells apart are
joined: of a locally repairable code of 13 pieces a few dozen are left of 8,192.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from resilver.checked import number, whole
from resilver.data_loss.absorbing import STATES_MAX, Chain
from resilver.errors import ConfigError, show

PIECES_MAX = 16
"""The most pieces: each of 65,536 sets is looked at, in seconds."""


def sets_chain(
    pieces: int,
    survives: Callable[[list[int]], bool],
    *,
    failure_rate: float | Sequence[float],
    repair_rate: float | Sequence[float] = 0.0,
    repair: Literal["parallel", "serial"] = "parallel",
) -> Chain:
    """The chain of a group whose survival depends on which pieces are lost.

    Args:
        pieces: How many pieces there are, 16 at most.
        survives: Whether the loss of some pieces is survived, such as
            ``resilver.redundancy("lrc 8+5 local 4").is_survivable``.
        failure_rate: Failures a second of each piece, or of all alike.
        repair_rate: 1 over the mean seconds of a repair, which is exponential, likewise.
        repair: All lost pieces at once; or one at a time, any of them alike.

    Returns:
        The chain, of sets that are alike in what may become of them: exact.

    Raises:
        ConfigError: A number is out of range, or more than 2,000 sets differ.

    >>> import resilver
    >>> lrc = resilver.redundancy("lrc 8+5 local 4")
    >>> chain = sets_chain(13, lrc.is_survivable, failure_rate=1e-9, repair_rate=1e-4)
    >>> len(chain.rates) < 100
    True
    """
    whole("pieces", pieces, least=1, most=PIECES_MAX)
    fails = _each("failure_rate", failure_rate, pieces)
    mends = _each("repair_rate", repair_rate, pieces)
    if repair not in ("parallel", "serial"):
        rule = 'repair is "parallel" or "serial"'
        raise ConfigError(rule, "write one of these", key="repair", value=show(repair))
    alive = _alive(pieces, survives)
    if not alive[0]:
        rule = "a group with all its pieces has its data"
        raise ConfigError(rule, "give a code that survives nothing lost", key="survives")
    return _joined(alive, fails, mends, is_serial=repair == "serial")


def _each(key: str, rate: float | Sequence[float], pieces: int) -> npt.NDArray[np.float64]:
    if not isinstance(rate, Sequence | np.ndarray):
        return np.full(pieces, number(key, rate))
    if len(rate) != pieces:
        rule = f"there is one rate for each of {pieces} pieces, or one for all"
        raise ConfigError(rule, key=key, value=show(list(rate)))
    return np.array([number(key, one) for one in rate])


def _alive(pieces: int, survives: Callable[[list[int]], bool]) -> npt.NDArray[np.bool_]:
    """Of each set, as bits, whether it is survived: only where each set of one less is."""
    alive = np.zeros(1 << pieces, dtype=bool)
    words = np.arange(1 << pieces)
    count = np.bitwise_count(words)
    alive[0] = survives([])
    for losses in range(1, pieces + 1):
        asked = words[count == losses]
        for piece in range(pieces):
            asked = asked[(asked >> piece & 1 == 0) | alive[asked & ~(1 << piece)]]
        if not len(asked):
            break
        for word in asked.tolist():
            alive[word] = survives([piece for piece in range(pieces) if word >> piece & 1])
    return alive


def _joined(
    alive: npt.NDArray[np.bool_],
    fails: npt.NDArray[np.float64],
    mends: npt.NDArray[np.float64],
    *,
    is_serial: bool,
) -> Chain:
    """The chain of classes of sets, from the coarsest on split until each goes where its like goes.

    Two sets are alike where their failures and repairs, each with its rate, lead to the same
    classes. That is lumpability in the sense of Kemeny and Snell (Finite Markov chains, 1960).
    """
    pieces = len(fails)
    words = np.flatnonzero(alive)
    bits = words[:, np.newaxis] >> np.arange(pieces) & 1 == 1
    lost = bits.sum(axis=1)
    target = words[:, np.newaxis] ^ (1 << np.arange(pieces))
    rate = np.where(bits, mends, fails)
    if is_serial:
        rate = np.where(bits, mends / np.maximum(lost, 1)[:, np.newaxis], fails)
    _, kind = np.unique(rate, return_inverse=True)
    kind = kind.reshape(rate.shape).astype(np.int64)
    kinds = int(kind.max()) + 1
    place = np.zeros(len(alive), dtype=np.int64)
    # Zero is loss; the others begin as one class for each number of lost pieces.
    place[words] = lost + 1
    classes = 0
    while True:
        goes = np.sort(place[target] * kinds + kind, axis=1)
        signature = np.column_stack([place[words], goes])
        distinct, first, found = np.unique(
            signature, axis=0, return_index=True, return_inverse=True
        )
        place[words] = found.reshape(-1) + 1
        if len(distinct) == classes:
            break
        classes = len(distinct)
    if classes > STATES_MAX:
        rule = f"a chain has at most {STATES_MAX:,} states; these sets are of {classes:,} kinds"
        raise ConfigError(rule, "take fewer pieces or rates, or simulate", key="pieces")
    rates = np.zeros((classes, classes + 1))
    for state, example in enumerate(first):
        # Column -1 is loss, which has the number zero.
        np.add.at(rates[state], place[target[example]] - 1, rate[example])
    return Chain(rates, int(place[0]) - 1)
