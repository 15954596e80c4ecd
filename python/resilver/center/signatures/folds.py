"""What a period holds: runs folded at it, the burst that most folds have, and its bytes.

A fold is one period of one run. The median over folds at each place is the job's own pattern, as
what others move is in few folds at one place. A burst's bytes are the shift between what folds move
in its window and what windows as long move elsewhere: the median of all differences of pairs (J.
Hodges and E. Lehmann, "Estimates of location based on rank tests", 1963), which others' bursts and
a floor of any law leave as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from resilver.importers.series import Floats

PERIODS_OF_PIECE = 32
"""Folds that are shifted together: in a longer time bursts may come later and later."""

_PLACES_MIN = 24
_PLACES_MAX = 4096
_FOLDS_MOST = 8192
_KNOWN_MIN = 0.8
_SHIFT_MOST = 0.25
_PAIRS_SIDE = 256
_TAIL = 0.1
_MARGIN = 0.02
_EDGE_MARGIN = 1
_KNOWN_OF_FIRST = 0.5
_CENTRES_MIN = 4
# 1.96 of a normal law; how early and late bursts come has heavier tails.
_OF_NORMAL = 2.5


@dataclass(frozen=True, eq=False)
class Burst:
    """The burst that a period holds.

    Attributes:
        period: Seconds from one burst to the next, by their centres.
        first: Seconds from a run's begin to its first burst.
        length: Seconds that it lasts.
        volume: Bytes.
        period_error: Half of the interval that holds the period 19 times of 20: by how early and
            late bursts come.
        length_error: The same of the length.
        volume_error: The same of the volume.
        besides: What the pattern moves above `base` outside of the burst, in bytes: another burst
            in the same period.
        present: The share of folds that have it, less the share of other windows that seem to.
        pattern: The median over folds, bytes a second: shape (places,); the first place is the
            begin of runs.
        base: What runs move besides, bytes a second: the median of the pattern.
        volumes: What each fold moves in the window beyond that: shape (folds,), NaN where not
            known.
        begins: When each of them begins, in seconds from its run's begin: likewise.
        run_of: The run of each: likewise.
    """

    period: float
    first: float
    length: float
    volume: float
    period_error: float
    length_error: float
    volume_error: float
    besides: float
    present: float
    pattern: Floats = field(repr=False)
    base: float
    volumes: Floats = field(repr=False)
    begins: Floats = field(repr=False)
    run_of: Floats = field(repr=False)


@dataclass(frozen=True, eq=False)
class _Piece:
    """Some folds of a run: running sums of its bytes and of its known samples, at their edges."""

    run: int
    number: int
    offset: float
    periods: int
    bytes_before: Floats
    known_before: Floats
    step: float

    def folded(self, period: float, places: int, shift: float) -> Floats:
        """Bytes a second by fold and place, NaN where too little is known."""
        edges = self.offset + shift + np.arange(self.periods * places + 1) * (period / places)
        at = edges / self.step
        samples = np.arange(len(self.bytes_before))
        moved = np.diff(np.interp(at, samples, self.bytes_before))
        if self.known_before[-1] == samples[-1]:
            known = np.diff(np.clip(at, 0.0, samples[-1])) * self.step
        else:
            known = np.diff(np.interp(at, samples, self.known_before)) * self.step
        enough = known >= _KNOWN_MIN * period / places
        rates = np.full(len(moved), np.nan)
        rates[enough] = moved[enough] / known[enough]
        return rates.reshape(self.periods, places)


def fold(runs: Sequence[Floats], step: float, period: float) -> Burst | None:
    """The burst that runs have in each period.

    Args:
        runs: The bytes of each run's samples, NaN where they are not known.
        step: Seconds of a sample.
        period: Seconds.

    Returns:
        The burst; None where the folds have nothing in common.
    """
    places = int(np.clip(round(period / step), _PLACES_MIN, _PLACES_MAX))
    width = period / places
    pieces = _pieces(runs, step, period)
    shifts = _shifts([piece.folded(period, places, 0.0) for piece in pieces], places) * width
    shifts -= np.median(shifts)
    # Folded anew with the burst in the middle; the first folds begin before their runs.
    pattern = _median(_folded(pieces, shifts, period, places))
    window = _window(pattern)
    if window is None:
        return None
    middle = (window[0] + 0.5 * window[1]) % places
    shifts += (middle - (0.5 if middle <= 0.5 * places else 1.5) * places) * width
    return _measured(pieces, shifts, period, places)


def _pieces(runs: Sequence[Floats], step: float, period: float) -> list[_Piece]:
    """The pieces of all runs; of very many folds evenly chosen ones, which tell as much."""
    # One fold more than there are, as those that begin before their run end before its end.
    periods = [int(np.ceil(len(run) * step / period)) + 1 for run in runs]
    every = max(1, sum(periods) // _FOLDS_MOST)
    made = []
    for number, run in enumerate(runs):
        for begin in range(0, periods[number], every * PERIODS_OF_PIECE):
            some = min(PERIODS_OF_PIECE, periods[number] - begin)
            low = max(int((begin - 2) * period / step), 0)
            part = run[low : int((begin + some + 2) * period / step) + 2]
            is_known = np.isfinite(part)
            moved = np.concatenate([[0.0], np.cumsum(np.where(is_known, part, 0.0))])
            known = np.concatenate([[0.0], np.cumsum(is_known)])
            offset = begin * period - low * step
            made.append(_Piece(number, begin, offset, some, moved, known, step))
    return made


def _folded(pieces: Sequence[_Piece], shifts: Floats, period: float, places: int) -> Floats:
    """All folds: shape (folds, places)."""
    folds = [one.folded(period, places, at) for one, at in zip(pieces, shifts, strict=True)]
    return np.concatenate(folds)


def _median(folds: Floats) -> Floats:
    """The median over folds at each place of what is known; 0 where nothing is."""
    ordered = np.sort(folds, axis=0)  # NaN comes last.
    known = np.isfinite(folds).sum(axis=0)
    at = np.arange(folds.shape[1])
    low, high = np.maximum(known - 1, 0) // 2, known // 2
    middle = 0.5 * (ordered[low, at] + ordered[np.minimum(high, len(folds) - 1), at])
    return np.asarray(np.where(known > 0, middle, 0.0))


def _shifts(folds: Sequence[Floats], places: int) -> Floats:
    """By how many places each piece is later than most."""
    together = np.concatenate(folds)
    together = together[np.isfinite(together)]
    scale = float(np.median(together)) or float(together.mean()) or 1.0
    means = []
    for one in folds:
        level = np.log1p(one / scale)
        known = np.isfinite(level)
        mean = np.where(known, level, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        means.append(mean - mean.mean())
    spectra = np.fft.rfft(np.array(means), axis=1)
    common = spectra.mean(axis=0)
    alike = np.fft.irfft(spectra * np.conj(common), places, axis=1)
    most = int(_SHIFT_MOST * places)
    nearby = np.concatenate([alike[:, -most:], alike[:, : most + 1]], axis=1)
    return np.asarray(nearby.argmax(axis=1) - float(most))


def _smooth(pattern: Floats) -> Floats:
    return np.asarray((np.roll(pattern, 1) + pattern + np.roll(pattern, -1)) / 3.0)


def _base(pattern: Floats) -> float:
    """What is moved outside of bursts: the median of what is below half of their height."""
    smooth = _smooth(pattern)
    middle = 0.5 * (float(smooth.min()) + float(smooth.max()))
    return float(np.median(pattern[smooth <= middle]))


def _window(pattern: Floats) -> tuple[int, int] | None:
    """Where the burst is, as its first place and how many: what is above half of its height."""
    base = _base(pattern)
    smooth = _smooth(pattern)
    height = float(smooth.max()) - base
    if height <= 0.0:
        return None
    # The stretch with the largest sum above half of the height: a short dip does not end it.
    places = len(pattern)
    above = np.tile(smooth - base - 0.5 * height, 2)
    before = np.concatenate([[0.0], np.cumsum(above)])
    lowest = np.minimum.accumulate(before)
    end = int(np.argmax((before - lowest)[: 2 * places]))
    begin = int(np.argmin(before[: end + 1]))
    if end - begin >= places:
        return None
    return begin % places, end - begin


def _measured(pieces: Sequence[_Piece], shifts: Floats, period: float, places: int) -> Burst | None:
    """The burst in the middle of folds."""
    width = period / places
    folds = _folded(pieces, shifts, period, places)
    pattern = _median(folds)
    window = _window(pattern)
    if window is None or sum(window) > places:
        return None
    base = _base(pattern)
    begin, many = _with_tails(pattern, window, base)
    inside, outside = _moved(folds, begin, many, width)
    known = inside[np.isfinite(inside)]
    volume = _shift_between(known, outside) if len(known) and len(outside) else 0.0
    height = float(np.median(pattern[window[0] : sum(window)])) - base
    if volume <= 0.0 or height <= 0.0:
        return None
    length = min(volume / height, many * width)
    above = np.maximum(pattern[begin : begin + many] - base, 0.0)
    centre = begin + float((above * (np.arange(many) + 0.5)).sum() / above.sum())
    phase = centre * width - 0.5 * length
    usual = float(np.median(outside))
    seen = float((known - usual > 0.5 * volume).mean())
    by_chance = float((outside - usual > 0.5 * volume).mean())
    spread = 1.4826 * float(np.median(np.abs(known - np.median(known))))
    # The standard error of a median is 1.2533 times that of a mean.
    error = float(1.96 * 1.2533 * spread / np.sqrt(len(known)))
    rows = [one.number + np.arange(one.periods) for one in pieces]
    later, later_error = _steps_between(
        folds[:, begin : begin + many] - base,
        inside - usual > 0.5 * volume,
        width,
        np.concatenate(rows),
        np.repeat(np.arange(len(pieces)), [one.periods for one in pieces]),
    )
    run_of = np.concatenate([np.full(one.periods, one.run) for one in pieces])
    begins = np.concatenate(
        [row * period + shift + phase for row, shift in zip(rows, shifts, strict=True)]
    )
    first = _first(folds, (begin, above), base, np.concatenate(rows), begins)
    from_begin = -round((float(np.median(begins % period)) - phase) / width)
    return Burst(
        period + later,
        first,
        length,
        volume,
        later_error,
        float(np.hypot(length * error / volume, width)),
        error,
        _besides(pattern - base, begin, begin + many, height) * width,
        seen - by_chance,
        np.roll(pattern, -from_begin),
        base,
        inside - usual,
        begins,
        run_of,
    )


def _steps_between(
    inside: Floats, is_present: npt.NDArray[np.bool_], width: float, rows: Floats, piece_of: Floats
) -> tuple[float, float]:
    """By how much bursts come later from one to the next, and the error of that: seconds.

    That is the slope of lines through the centres of bursts, a piece each, without those of
    centres that are far from the rest, where others moved something too.
    """
    above = np.maximum(np.nan_to_num(inside[is_present]), 0.0)
    rows, piece_of = rows[is_present].astype(np.float64), piece_of[is_present]
    nothing = (0.0, inside.shape[1] * width)
    if len(above) < _CENTRES_MIN:
        return nothing
    centres = (above * np.arange(above.shape[1])).sum(axis=1) / above.sum(axis=1) * width
    spread = 1.4826 * float(np.median(np.abs(centres - np.median(centres)))) + width / 12.0**0.5
    near = np.abs(centres - np.median(centres)) <= 3.0 * spread
    rows, piece_of, centres = rows[near], piece_of[near], centres[near]
    count = np.bincount(piece_of)
    for values in (rows, centres):
        values -= (np.bincount(piece_of, values) / np.maximum(count, 1))[piece_of]
    squares = float((rows**2).sum())
    free = len(rows) - np.count_nonzero(count) - 1
    if squares <= 0.0 or free < 1:
        return nothing
    slope = float((rows * centres).sum() / squares)
    rest = float(((centres - slope * rows) ** 2).sum()) / free + width**2 / 12.0
    return slope, float(_OF_NORMAL * (rest / squares) ** 0.5)


def volume_at(runs: Sequence[Floats], step: float, period: float, burst: Burst) -> float:
    """The bytes of a burst in other series of the same runs, such as of what they read.

    Args:
        runs: The bytes of each run's samples, NaN where they are not known.
        step: Seconds of a sample.
        period: Seconds.
        burst: When bursts are.

    Returns:
        Bytes, beyond what is moved half a period later; 0 where that is more.
    """
    inside: list[Floats] = []
    outside: list[Floats] = []
    margin = _MARGIN * period + step
    for number, run in enumerate(runs):
        before = np.concatenate([[0.0], np.cumsum(np.nan_to_num(run))])
        begins = burst.begins[burst.run_of == number] - margin
        length = burst.length + 2.0 * margin
        for at, found in ((begins, inside), (begins + 0.5 * period, outside)):
            is_within = (at >= 0.0) & (at + length <= len(run) * step)
            edges = np.stack([at, at + length])[:, is_within] / step
            found.append(np.diff(np.interp(edges, np.arange(len(before)), before), axis=0)[0])
    one, other = np.concatenate(inside), np.concatenate(outside)
    return max(_shift_between(one, other), 0.0) if len(one) and len(other) else 0.0


def _first(
    folds: Floats, burst: tuple[int, Floats], base: float, rows: Floats, begins: Floats
) -> float:
    """Seconds from the begin of runs to the first burst that most of them have."""
    begin, above = burst
    inside = folds[:, begin : begin + len(above)] - base
    is_known = np.isfinite(inside)
    weight = (is_known * above**2).sum(axis=1)
    enough = weight >= _KNOWN_OF_FIRST * (above**2).sum()
    size = (np.where(is_known, inside, 0.0) * above).sum(axis=1) / np.maximum(weight, 1e-300)
    for row in range(int(rows.max()) + 1):
        of_row = (rows == row) & enough
        if of_row.any() and np.median(size[of_row]) > 0.5:
            return max(float(np.median(begins[of_row])), 0.0)
    return max(float(begins.min()), 0.0)


def _besides(above: Floats, begin: int, end: int, height: float) -> float:
    """The sum of the pattern outside of a burst, where it is above a tenth of its height."""
    rest = np.concatenate([above[:begin], above[end:]])
    return float(rest[rest > _TAIL * height].sum())


def _with_tails(pattern: Floats, window: tuple[int, int], base: float) -> tuple[int, int]:
    """The window, wide enough for what is above a tenth of the height, and for early and late."""
    places = len(pattern)
    begin, end = window[0], sum(window)
    least = base + _TAIL * (float(np.median(pattern[begin:end])) - base)
    margin = _EDGE_MARGIN + round(_MARGIN * places)
    low, high = places // 4, places - places // 4
    while begin > low and pattern[begin - 1] > least:
        begin -= 1
    while end < high and pattern[end] > least:
        end += 1
    begin, end = max(begin - margin, 0), min(end + margin, places)
    return begin, end - begin


def _moved(folds: Floats, begin: int, many: int, width: float) -> tuple[Floats, Floats]:
    """Bytes of each fold in the window, and of all windows as long elsewhere."""
    inside = folds[:, begin : begin + many].sum(axis=1) * width
    others = []
    for part in (folds[:, :begin][:, ::-1], folds[:, begin + many :]):
        rest = part.shape[1] // many
        others.append(part[:, : rest * many].reshape(-1, many).sum(axis=1) * width)
    outside = np.concatenate(others)
    if not len(outside):
        # A burst longer than the pauses around it: these as if they were as long.
        rest = np.concatenate([folds[:, :begin], folds[:, begin + many :]], axis=1)
        outside = rest.mean(axis=1) * many * width
    return inside, outside[np.isfinite(outside)]


def _shift_between(inside: Floats, outside: Floats) -> float:
    """The median of all differences, of as many of each as are told apart quickly."""
    one, other = (_thinned(values[np.isfinite(values)]) for values in (inside, outside))
    return float(np.median(one[:, None] - other[None, :]))


def _thinned(values: Floats) -> Floats:
    if len(values) <= _PAIRS_SIDE:
        return values
    return np.asarray(np.quantile(values, (np.arange(_PAIRS_SIDE) + 0.5) / _PAIRS_SIDE))
