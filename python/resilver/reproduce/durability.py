"""Published figures of durability against ours, and estimates against exact chains."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from resilver import code_tree, durability
from resilver.data_loss.answer import Durability
from resilver.data_loss.chains import approximate_mttdl, group_chain
from resilver.data_loss.windows import rados_loss, stripe_chain, striped_mttdl, window_loss
from resilver.errors import SimulationError
from resilver.failure_rates import LongSeconds
from resilver.figure import Figure
from resilver.placement_quality import burst_losses
from resilver.reproduce.tables import Row
from resilver.units import Bytes, BytesPerSecond


def durability_rows(
    windows: Mapping[str, Any],
    drives: Mapping[str, Any],
    stripes: Mapping[str, Any],
    bursts: Mapping[str, Any],
    chains: Mapping[str, Any],
    estimates: Mapping[str, Any],
) -> list[Row]:
    """What published models say of durability, computed by ours.

    Args:
        windows: Windows that are as long as a repair: ``pieces``, ``tolerance``, ``per_year``
            failures of a drive a ``year``, and the ``window``.
        drives: Drives whose copies lie on others: ``copies``, ``fit``, ``capacity``, ``groups`` of
            a drive, ``rate`` of each, ``mark_out``, ``full``.
        stripes: Stripes of a cluster: ``pieces``, ``tolerance``, ``gathered``, ``lasts`` (of a
            node), ``piece``, ``rate``, ``stored``.
        bursts: Random devices that fail at once: ``codes`` over each other by name, ``failures``.
        chains: Groups by exact chains and by the usual approximation: ``pieces``, ``tolerances``,
            ``mttf``, ``repair``.
        estimates: Losses that are simulated where a chain has them exactly: ``cases`` of a
            ``code``, ``afr``, ``repair`` and ``method``, and the most ``trajectories``.

    Returns:
        Rows with the columns ``model``, ``name``, ``failures`` (that come at once, or that are
        survived), ``loss_probability``, ``exact_probability``, ``relative_error``,
        ``mttdl_seconds`` and ``approximate_seconds``.
    """
    return [
        *_window_rows(**windows),
        *_drive_rows(**drives),
        *_stripe_rows(**stripes),
        *_burst_rows(**bursts),
        *_chain_rows(**chains),
        *_estimate_rows(**estimates),
    ]


def _window_rows(
    pieces: int, tolerance: int, per_year: float, year: str, window: str
) -> Iterator[Row]:
    period = float(LongSeconds.parse(year))
    found = window_loss(
        pieces,
        tolerance,
        failure_rate=per_year / period,
        window_seconds=float(LongSeconds.parse(window)),
        period_seconds=period,
    )
    yield {"model": "windows", "name": "a year", "loss_probability": found.loss}


def _drive_rows(
    copies: Sequence[int],
    fit: float,
    capacity: str,
    groups: int,
    rate: str,
    mark_out: str,
    full: float,
) -> Iterator[Row]:
    for count in copies:
        found = rados_loss(
            count,
            device_bytes=float(Bytes.parse(capacity)),
            fit=fit,
            groups=groups,
            bytes_per_second=float(BytesPerSecond.parse(rate)),
            mark_out_seconds=float(LongSeconds.parse(mark_out)),
            full=full,
        )
        yield {"model": "drives", "name": f"copies {count}", "loss_probability": found.drive_loss}


def _stripe_rows(
    pieces: int,
    tolerance: int,
    gathered: Sequence[int],
    lasts: str,
    piece: str,
    rate: str,
    stored: str,
) -> Iterator[Row]:
    size = float(Bytes.parse(piece))
    chain = stripe_chain(
        pieces,
        tolerance,
        failure_rate=1.0 / float(LongSeconds.parse(lasts)),
        piece_bytes=size,
        bytes_per_second=float(BytesPerSecond.parse(rate)),
        gathered=gathered,
    )
    seconds = striped_mttdl(chain, stripes=float(Bytes.parse(stored)) / (pieces * size))
    yield {"model": "stripes", "name": f"{pieces} pieces", "mttdl_seconds": seconds}


def _burst_rows(codes: Mapping[str, str], failures: int) -> Iterator[Row]:
    for name, code in codes.items():
        for found in burst_losses(code_tree(code).levels, failures):
            yield {
                "model": "bursts",
                "name": name,
                "failures": found.failures,
                "loss_probability": found.dead_groups[0],
            }


def _chain_rows(pieces: int, tolerances: Sequence[int], mttf: str, repair: str) -> Iterator[Row]:
    fails, mends = 1.0 / float(LongSeconds.parse(mttf)), 1.0 / float(LongSeconds.parse(repair))
    for tolerance in tolerances:
        chain = group_chain(pieces, tolerance, failure_rate=fails, repair_rate=mends)
        yield {
            "model": "chains",
            "name": f"{pieces - tolerance}+{tolerance}",
            "failures": tolerance,
            "mttdl_seconds": chain.mttdl_seconds(),
            "approximate_seconds": approximate_mttdl(
                pieces, tolerance, failure_rate=fails, repair_rate=mends
            ),
        }


def _estimate_rows(cases: Sequence[Mapping[str, str]], trajectories: int) -> Iterator[Row]:
    for case in cases:
        code, method = case["code"], case["method"]
        asked = {"afr": case["afr"], "repair": case["repair"], "mission": "1 y"}
        found = _loss(code, method=method, trajectories=trajectories, relative_error=0.03, **asked)
        yield {
            "model": "estimates",
            "name": f"{code}, {method}",
            "loss_probability": found.value,
            "exact_probability": _loss(code, method="exact", **asked).value,
            "relative_error": found.relative_error,
        }


def _loss(code: str, **asked: Any) -> Figure:
    """The probability that one group of a code loses data."""
    found = durability(code, workers=0, **asked)
    if not isinstance(found, Durability):
        raise SimulationError("one code has one answer")
    return found.loss_probability
