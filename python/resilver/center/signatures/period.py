"""Whether runs repeat, and after how long: by their autocorrelation and by their spectrum.

Each run is cleaned of noise by wavelet shrinkage with the universal threshold (D. Donoho and I.
Johnstone, "Ideal spatial adaptation by wavelet shrinkage", 1994), in Haar's wavelets, whose steps
are those of bursts. Autocorrelations of all runs are summed. What repeats after P is alike at P, 2
P, 3 P, ... and unlike at P/2, 3 P/2, ...: the mean difference is the score of P. Its scale where
nothing repeats follows from the autocorrelation itself (M. Bartlett, 1946).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from resilver.importers.series import Floats

Ints = npt.NDArray[np.int64]

PIECE_SAMPLES = 3 * 43_200
"""Longer runs are searched in pieces of so many samples."""

LAG_MIN = 8
"""The shortest period, in samples: a burst and a pause have some each."""

_LEVELS = 8
_REACH = 0.7
_TEETH_MAX = 64
_STANDS_OUT_MIN = 5.0
_SHARE_OF_BEST = 0.75
_LONGER_EXPLAINS = 1.3
_AGREE = 0.05
_HARMONICS = 8
_PARTS_OF_BIN = 8
_SPECTRAL_SHARE = 0.7


@dataclass(frozen=True, eq=False)
class Period:
    """What autocorrelation and spectrum say.

    Attributes:
        samples: The period by autocorrelation, in samples; of the best candidate, found or not.
        spectral_samples: The period by the spectrum; 0 where it has none.
        score: How much more alike samples a period apart are than such half a period apart: 1
            where bursts are all there is.
        stands_out: The same in standard deviations of what has no period.
        is_found: Whether it stands out, and both agree.
        least: How far it must stand out.
        autocorrelation: By lag in samples from 0: shape (lags,).
        spectrum: Mean power by frequency in cycles of the longest lag: shape (frequencies,).
        frequencies: In cycles a sample: likewise.
    """

    samples: float
    spectral_samples: float
    score: float
    stands_out: float
    is_found: bool
    least: float
    autocorrelation: Floats = field(repr=False)
    spectrum: Floats = field(repr=False)
    frequencies: Floats = field(repr=False)


def shrink(values: Floats) -> Floats:
    """Values without noise: coefficients of wavelets below the universal threshold are gone.

    Args:
        values: Without NaN: shape (..., n).

    Returns:
        Likewise.
    """
    import pywt

    levels = max(1, min(_LEVELS, pywt.dwt_max_level(values.shape[-1], 2)))
    approximation, *details = pywt.wavedec(values, "haar", level=levels, axis=-1)
    spread = np.median(np.abs(details[-1]), axis=-1, keepdims=True) / 0.6745
    least = spread * np.sqrt(2.0 * np.log(values.shape[-1]))
    kept = [np.sign(one) * np.maximum(np.abs(one) - least, 0.0) for one in details]
    found: Floats = pywt.waverec([approximation, *kept], "haar", axis=-1)
    return found[..., : values.shape[-1]]


def bursts_of(values: Floats) -> Floats:
    """How much each sample of a run stands above its median, after shrinkage, in logarithms.

    Logarithms keep the few largest bursts of others from outweighing the rest; their unit is the
    run's own mean above its median. The pieces of a long run are taken each by itself.

    Args:
        values: The run, NaN where it is not known.

    Returns:
        Mean 0 and mean square 1 over what is known of a piece, and 0 elsewhere.
    """
    found = np.empty(len(values))
    for begin, end in _cuts(len(values)):
        found[begin:end] = _stand_out(values[begin:end])
    return found


def _stand_out(values: Floats) -> Floats:
    is_known = np.isfinite(values)
    if not is_known.any():
        return np.zeros(len(values))
    clean = values
    if not is_known.all():
        clean = np.where(is_known, values, np.median(values[is_known]))
    clean = shrink(clean)
    above = np.maximum(clean - np.median(clean), 0.0)
    mean = above.mean()
    if mean <= 0.0:
        return np.zeros(len(values))
    found = np.log1p(above / mean)
    found -= found[is_known].mean()
    found[~is_known] = 0.0
    scale = np.sqrt((found**2).sum() / is_known.sum())
    return np.asarray(found / scale if scale > 0.0 else found)


def _cuts(count: int) -> list[tuple[int, int]]:
    """Where a run's pieces begin and end; a short rest stays with the one before."""
    begins = list(range(0, max(count - PIECE_SAMPLES // 2, 1), PIECE_SAMPLES))
    return list(zip(begins, [*begins[1:], count], strict=True))


def find_period(runs: Sequence[Floats], bursts: Sequence[Floats]) -> Period:
    """Look for the period that all runs have.

    Args:
        runs: The bytes of each run's samples, NaN where they are not known.
        bursts: What `bursts_of` makes of each.

    Returns:
        The best candidate, and whether it stands out.
    """
    known = [np.isfinite(run) for run in runs]
    cuts = [(at, begin, end) for at, run in enumerate(runs) for begin, end in _cuts(len(run))]
    most = max(end - begin for _, begin, end in cuts)
    pieces = [bursts[at][begin:end] for at, begin, end in cuts]
    masks = [known[at][begin:end] for at, begin, end in cuts]
    power, alike, frequencies = _power(pieces, masks, most)
    lags = np.arange(LAG_MIN, most // 3 + 1)
    score, teeth = _comb(alike, lags)
    total = sum(int(one.sum()) for one in known)
    independent = total / _redundancy(bursts)
    # Bartlett's: the variance of a correlation is the sum of squared correlations over n.
    short = alike[: max(LAG_MIN, most // 16)]
    variance = (2.0 * (short**2).sum() - 1.0) / independent
    stands_out = score * np.sqrt(teeth / (2.0 * max(variance, 1e-12)))
    best = int(np.argmax(stands_out))
    lag, likeness = _fundamental(alike, score, lags, best)
    spectral = _by_spectrum(power, frequencies, float(lags[-1]))
    at = min(max(round(lag), LAG_MIN), int(lags[-1])) - LAG_MIN
    far = float(stands_out[max(at - 1, 0) : at + 2].max())
    # A frequency is known no better than to a part of what one run's length resolves.
    allowed = max(_AGREE, 0.5 * lag / most)
    agree = abs(spectral / lag - 1.0) <= allowed
    is_found = bool(far >= _STANDS_OUT_MIN and agree)
    return Period(
        lag, spectral, likeness, far, is_found, _STANDS_OUT_MIN, alike, power, frequencies
    )


def _power(
    pieces: Sequence[Floats], known: Sequence[Any], most: int
) -> tuple[Floats, Floats, Floats]:
    """Summed power by frequency, autocorrelation by lag, and the frequencies."""
    from scipy import fft

    size = fft.next_fast_len(2 * most, real=True)
    power, pairs = np.zeros(size // 2 + 1), np.zeros(most)
    masked = np.zeros(size // 2 + 1)
    for piece, mask in zip(pieces, known, strict=True):
        power += np.abs(fft.rfft(piece, size)) ** 2
        if mask.all():
            pairs += np.maximum(len(piece) - np.arange(most), 0)
        else:
            masked += np.abs(fft.rfft(mask.astype(np.float64), size)) ** 2
    if masked.any():
        pairs += np.maximum(fft.irfft(masked, size)[:most], 0.0)
    products = fft.irfft(power, size)[:most]
    alike = np.where(pairs >= 1.0, products / np.maximum(pairs, 1.0), 0.0)
    return power, alike, np.arange(len(power)) / size


def _redundancy(bursts: Sequence[Floats]) -> float:
    """How many runs tell what one would: 1 where they have nothing in common, else up to all."""
    count = len(bursts)
    shortest = min(len(one) for one in bursts)
    together = np.sum([one[:shortest] for one in bursts], axis=0)
    return float(min(max((together**2).mean() / count, 1.0), count))


def _at(alike: Floats, lags: Floats) -> Floats:
    """The autocorrelation between lags."""
    return np.interp(lags, np.arange(len(alike)), alike)


def _comb(alike: Floats, lags: Ints) -> tuple[Floats, Floats]:
    """The score of each lag, and over how many multiples it was formed, weighed by what is left."""
    far = _REACH * len(alike)
    # The autocorrelation at half samples too, as half of an odd lag is one.
    halves = np.repeat(alike, 2)
    halves[1:-1:2] = 0.5 * (alike[:-1] + alike[1:])
    score, teeth = np.zeros(len(lags)), np.zeros(len(lags))
    for many in range(1, _TEETH_MAX + 1):
        count = int(np.searchsorted(many * lags, far, side="right"))
        if not count:
            break
        on = 2 * many * lags[:count]
        weight = 1.0 - on / len(halves)
        score[:count] += weight * (halves[on] - halves[on - lags[:count]])
        teeth[:count] += weight
    return score / np.maximum(teeth, 1e-12), teeth


def _fundamental(alike: Floats, score: Floats, lags: Ints, best: int) -> tuple[float, float]:
    """The shortest period that explains as much as the best one, and its score.

    What repeats after P repeats after 3 P too, whose halves are no multiples of P.
    """
    found = _finer(alike, float(lags[best]))
    most = _score_at(alike, found, float(score[best]))
    for times in (2, 3):
        # A part of the period has teeth where there is nothing, so that its score is as much less.
        if times * found <= lags[-1]:
            longer = _finer(alike, times * found)
            if (other := _score_at(alike, longer, 0.0)) >= _LONGER_EXPLAINS * most:
                return longer, other
    for part in range(9, 1, -1):
        if found / part < LAG_MIN:
            continue
        shorter = _finer(alike, found / part)
        if abs(shorter * part / found - 1.0) > _AGREE:
            continue
        other = _score_at(alike, shorter, 0.0)
        if other >= _SHARE_OF_BEST * most:
            return shorter, other
    return found, most


def _score_at(alike: Floats, lag: float, least: float) -> float:
    """As `_comb` has it, of one lag."""
    many = np.arange(1.0, min(_TEETH_MAX, _REACH * len(alike) / lag) + 1e-9)
    if not len(many):
        return least
    weight = 1.0 - many * lag / len(alike)
    differences = _at(alike, many * lag) - _at(alike, (many - 0.5) * lag)
    return max(float((weight * differences).sum() / weight.sum()), least)


def _finer(alike: Floats, lag: float) -> float:
    """A period to a part of a sample: by the peaks at its multiples, as far as there are any."""
    found, near = lag, max(1.0, 0.04 * lag)
    first = None
    for many in (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64):
        # At farther multiples the period is known better already.
        low = max(int(np.floor(many * found - near)), 1)
        high = int(np.ceil(many * found + near)) + 1
        if high >= _REACH * len(alike):
            break
        at = low + int(np.argmax(alike[low:high]))
        peak = alike[at]
        if first is None:
            first = peak
        if peak < 0.5 * first:
            break
        before, after = alike[at - 1], alike[at + 1]
        bend = before - 2.0 * peak + after
        shift = 0.5 * (before - after) / bend if bend < 0.0 else 0.0
        found = (at + float(np.clip(shift, -0.5, 0.5))) / many
    return found


def _by_spectrum(power: Floats, frequencies: Floats, lag_max: float) -> float:
    """The shortest period whose harmonics have about the most power beyond what is between them."""
    bins = 1.0 / frequencies[1]
    fine = np.arange(bins / lag_max, bins / LAG_MIN, 1.0 / _PARTS_OF_BIN)
    score = np.zeros(len(fine))
    inside = np.interp(np.arange(0.0, len(power), 1.0 / 2), np.arange(len(power)), power)
    for many in range(1, _HARMONICS + 1):
        count = int(np.searchsorted(many * fine, len(power) - 1))
        on = np.rint(2.0 * many * fine[:count]).astype(np.int64)
        off = np.rint((2.0 * many - 1.0) * fine[:count]).astype(np.int64)
        score[:count] += inside[on] - inside[off]
    if score.max() <= 0.0:
        return 0.0
    enough = np.flatnonzero(score >= _SPECTRAL_SHARE * score.max())
    # The last stretch that has enough: the highest frequency, at its peak.
    breaks = np.flatnonzero(np.diff(enough) > 1)
    begin, last = enough[breaks[-1] + 1 if len(breaks) else 0], enough[-1]
    return float(bins / fine[begin + int(np.argmax(score[begin : last + 1]))])
