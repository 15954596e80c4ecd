"""`--quality`: the measures of placements."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from resilver.answer import Answer, Section, Shown
from resilver.cli.crush.source import open_source
from resilver.cli.place.options import Asked
from resilver.cli.place.placements import Placement, placements
from resilver.errors import ConfigError
from resilver.placement_quality import Balance, Quality, quality, rebuild_targets, replica_sets
from resilver.request import value_of
from resilver.tables import table_of
from resilver.words import chance

if TYPE_CHECKING:
    from resilver.data_loss.placed import PlacedLoss

# Where lost copies go is known only by placing everything again without a device, so it is asked
# for some devices: at most so many, and so few that no more sets than these are placed again.
_DEVICES_TRIED_MAX = 64
_SETS_PLACED_MAX = 2_000_000

_BY = {"priority": "PGs by priority", "device": "device by device"}

_Row = tuple[str, str, str]
"""A measure: what it is, its value, and what it compares with."""


@dataclass(frozen=True)
class Targets:
    """Where the copies of a failed device go, over the devices that were tried.

    Attributes:
        devices_tried: How many devices were failed, each alone, evenly spread over their numbers.
        distinct_worst: The fewest devices that took copies over.
        distinct_median: The median.
        parallelism_worst: All that is written over what the busiest target writes, the least.
        parallelism_median: The median.
    """

    devices_tried: int
    distinct_worst: int
    distinct_median: float
    parallelism_worst: float
    parallelism_median: float


def quality_answer(asked: Asked) -> Answer:
    """How good every placement of a source is.

    Raises:
        ConfigError: There is no such pool or rule, or --fatal exceeds the copies.
    """
    source = open_source(asked.words[0], asked)
    verdict, sections, record = [], [], []
    for rank, placement in enumerate(placements(source, asked)):
        judged, targets = _judged(placement, asked.fatal)
        order = asked.repair_order or ("device" if placement.by_device else "priority")
        loss = _loss(placement, judged, asked, order)
        rows = [*_measures(placement, judged, targets), *_loss_rows(loss, asked, order)]
        verdict.append(_sentence(placement, judged, loss))
        heads = (("measure", "measure"), ("value", "value"), ("context", ""))
        made = table_of(rows, *((name, heading, "text") for name, heading in heads))
        shown = Shown(f"placement-{rank}", placement.title, made)
        sections.append(Section(placement.title, (shown,)))
        record.append(
            _record(placement, judged, targets) | {"a_year": _loss_record(loss, asked, order)}
        )
    return Answer(f"Placement of {source.label}", verdict, sections, record)


def _sentence(placement: Placement, judged: Quality, loss: PlacedLoss | None) -> str:
    """The answer for one placement: its fullest device, and what it loses."""
    text = f"{placement.title.partition(':')[0].capitalize()}: "
    even = judged.byte_balance or judged.copy_balance
    if even.fullest is None:
        return f"{text}nothing is placed."
    name = placement.device_names[even.fullest]
    text += f"the fullest device ({name}) holds {even.max_over_fair:.2f} times its fair share"
    if loss is not None:
        text += f"; the probability of data loss in a year is {_chance(loss)}"
    return f"{text}."


def _chance(loss: PlacedLoss) -> str:
    from resilver.report.durability.words import chance as chance_of

    return chance_of(loss.loss)


def _judged(placement: Placement, fatal: int | None) -> tuple[Quality, Targets | None]:
    fatal = placement.fatal if fatal is None else fatal
    judged = quality(
        placement.sets,
        weights=placement.weights,
        set_bytes=placement.set_bytes,
        fatal=fatal,
    )
    # A code loses data long before its last strip, and only its user knows when.
    if (placement.by_position or placement.is_coded) and fatal is None:
        judged = replace(judged, loss_share=None)
    return judged, _targets(placement)


def _targets(placement: Placement) -> Targets | None:
    sets = replica_sets(placement.sets)
    used = np.unique(sets[sets >= 0])
    if not len(used):
        return None
    # A device of a map costs the sets that it is in; one of a pool or a study, all sets.
    cost = sets.size // len(used) if placement.rows_alone else len(sets)
    count = min(len(used), _DEVICES_TRIED_MAX, max(1, _SETS_PLACED_MAX // max(cost, 1)))
    tried = used[np.linspace(0, len(used) - 1, count).round().astype(int)]
    distinct, parallel = zip(
        *(_targets_of(placement, sets, int(device)) for device in tried), strict=True
    )
    return Targets(
        len(tried),
        min(distinct),
        float(np.median(distinct)),
        min(parallel),
        float(np.median(parallel)),
    )


def _targets_of(
    placement: Placement, sets: npt.NDArray[np.int64], device: int
) -> tuple[int, float]:
    rows = np.flatnonzero(np.any(sets == device, axis=1))
    loads = None if placement.set_bytes is None else placement.set_bytes[rows]
    return rebuild_targets(sets[rows], placement.after(device, rows), device, loads)


def _loss(placement: Placement, judged: Quality, asked: Asked, order: str) -> PlacedLoss | None:
    """How likely data is lost within a year; None of a code that its number does not tell.

    Raises:
        ConfigError: An option's value cannot be.
    """
    from resilver.data_loss.placed import placed_loss, placed_question

    options = {"failures.0.afr": "--afr", "repair": "--repair"}
    try:
        question = placed_question(asked.afr, asked.repair, order)
    except ConfigError as error:
        problems = (replace(one, key=options.get(one.key, one.key)) for one in error.problems)
        raise ConfigError(problems) from None
    if _is_unknown(judged):
        return None
    return placed_loss(
        placement.sets,
        question,
        fatal=judged.fatal,
        devices=len(placement.weights),
        set_bytes=placement.set_bytes,
    )


def _is_unknown(judged: Quality) -> bool:
    """Whether nobody said how many losses are fatal."""
    return judged.loss_share is None and judged.fatal == judged.copies


def _loss_record(loss: PlacedLoss | None, asked: Asked, order: str) -> dict[str, Any]:
    return {
        "loss_chance": None if loss is None else loss.loss.value,
        "low": None if loss is None else loss.loss.low,
        "high": None if loss is None else loss.loss.high,
        "repair_order": order,
        "loss_chance_by_other_order": None if loss is None else loss.other,
        "afr": value_of(asked, "afr"),
        "repair_seconds": value_of(asked, "repair"),
    }


def _loss_rows(loss: PlacedLoss | None, asked: Asked, order: str) -> list[_Row]:
    if loss is None:
        return []
    other = "priority" if order == "device" else "device"
    value = "unknown" if loss.other is None else chance(loss.other)
    what = "loss in a year"
    return [
        (f"{what}, {_BY[order]}", _chance(loss), f"AFR {asked.afr}, repair {asked.repair}"),
        (f"{what}, {_BY[other]}", value, f"--repair-order {other}"),
    ]


def _record(placement: Placement, judged: Quality, targets: Targets | None) -> dict[str, Any]:
    values = asdict(judged)
    names = placement.device_names
    for key in ("copy_balance", "byte_balance", "primary_balance"):
        for end in ("fullest", "emptiest") if values[key] is not None else ():
            device = values[key][end]
            values[key][end] = None if device is None else names[device]
    return {
        "placement": placement.key,
        "title": placement.title,
        **values,
        "rebuild_targets": None if targets is None else asdict(targets),
    }


def _measures(placement: Placement, judged: Quality, targets: Targets | None) -> list[_Row]:
    others = max(judged.devices - 1, 0)
    ratio, unit = judged.declustering_ratio, placement.unit
    width = f"{judged.scatter_width_min:,} to {judged.scatter_width_max:,}"
    shared = f"{judged.pair_sets_min:,} to {judged.pair_sets_max:,}"
    rows = [
        *_balance("copies", judged.copy_balance, placement.device_names),
        *_balance("bytes", judged.byte_balance, placement.device_names),
        *_balance("primaries", judged.primary_balance, placement.device_names),
    ]
    if judged.short_sets:
        rows.append((f"{unit}s short of devices", f"{judged.short_sets:,}", ""))
    rows += [
        ("scatter width, median", f"{judged.scatter_width_median:,.0f}", f"of {others:,} others"),
        ("scatter width, min to max", width, ""),
        (
            "declustering ratio, measured",
            _ratio(judged.declustering_ratio_measured),
            f"{_ratio(ratio)} at best",
        ),
        (f"{unit}s that two devices share", shared, f"{judged.pair_sets_mean:.2f} on average"),
        (
            "rebuild sources, worst / median",
            f"{judged.rebuild_sources_worst:,} / {judged.rebuild_sources_median:,.0f}",
            "",
        ),
        (
            "rebuild reads, worst / median",
            f"{judged.rebuild_parallelism_worst:.1f} / {judged.rebuild_parallelism_median:.1f}",
            "over the busiest source",
        ),
    ]
    if targets is not None:
        rows += [
            (
                "rebuild targets, worst / median",
                f"{targets.distinct_worst:,} / {targets.distinct_median:,.0f}",
                f"{targets.devices_tried} devices tried",
            ),
            (
                "rebuild writes, worst / median",
                f"{targets.parallelism_worst:.1f} / {targets.parallelism_median:.1f}",
                "over the busiest target",
            ),
        ]
    possible = f"of {_short(judged.possible_sets)}"
    return [
        *rows,
        ("different sets", f"{judged.distinct_sets:,}", possible),
        _loss_row(placement, judged),
    ]


def _balance(kind: str, even: Balance | None, names: list[str]) -> list[_Row]:
    if even is None or even.fullest is None or even.emptiest is None:
        return []
    at_random = even.expected_coefficient_of_variation
    return [
        (f"{kind}: fullest / fair share", f"{even.max_over_fair:.3f}", names[even.fullest]),
        (f"{kind}: emptiest / fair share", f"{even.min_over_fair:.3f}", names[even.emptiest]),
        (
            f"{kind}: coefficient of variation",
            f"{even.coefficient_of_variation:.4f}",
            "" if at_random is None else f"{at_random:.4f} at random",
        ),
    ]


def _loss_row(placement: Placement, judged: Quality) -> _Row:
    if (placement.by_position or placement.is_coded) and _is_unknown(judged):
        return "loss of an erasure code", "unknown", "give --fatal M+1"
    share = judged.loss_share
    value = "not counted" if share is None else f"{share:.3g}"
    return f"loss if {judged.fatal} devices fail at once", value, "of all such failures"


def _ratio(value: float) -> str:
    """A ratio; where nothing is placed, or on one device alone, there is none."""
    return f"{value:.4f}" if math.isfinite(value) else "unknown"


def _short(count: int) -> str:
    """A count that fits a column: in full below a million million."""
    if count < 10**12:
        return f"{count:,}"
    digits = str(count)
    return f"{digits[0]}.{digits[1:3]}e{len(digits) - 1}"
