"""`--quality`: the measures of a placement, as a table and as JSON."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from rich import box
from rich.table import Table

from resilver.cli.console import output, print_json
from resilver.cli.place.options import Inputs, Judging
from resilver.cli.place.placements import Placement, placements
from resilver.errors import ConfigError
from resilver.failure_rates import FailedShare, LongSeconds
from resilver.placement_quality import Balance, Quality, quality, rebuild_targets, replica_sets
from resilver.words import chance

if TYPE_CHECKING:
    from resilver.cli.place.source import Source
    from resilver.data_loss.placed import PlacedLoss

# Where lost copies go is known only by placing everything again without a device, so it is asked
# for some devices: at most so many, and so few that no more sets than these are placed again.
_DEVICES_TRIED_MAX = 64
_SETS_PLACED_MAX = 2_000_000


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


@dataclass(frozen=True)
class Failing:
    """How often devices fail, how long their repairs take, and in which order they go.

    Attributes:
        afr: The share that fails in a year.
        repair: Until all that a failed device held is repaired.
        order: One of the orders of `resilver.data_loss.request.ORDERS`; else that of the system.
    """

    afr: str
    repair: str
    order: str

    def order_of(self, placement: Placement) -> str:
        """The order of a placement's repairs."""
        return self.order or ("device" if placement.by_device else "priority")

    def loss(self, placement: Placement, judged: Quality) -> PlacedLoss | None:
        """How likely data is lost within a year; None of a code that its number does not tell.

        Raises:
            ConfigError: An option's value cannot be.
        """
        from resilver.data_loss.placed import placed_loss, placed_question

        try:
            question = placed_question(self.afr, self.repair, self.order_of(placement))
        except ConfigError as error:
            options = ((replace(one, key=_OPTIONS.get(one.key, one.key))) for one in error.problems)
            raise ConfigError(options) from None
        if judged.loss_share is None and judged.fatal == judged.copies:
            return None
        return placed_loss(
            placement.sets,
            question,
            fatal=judged.fatal,
            devices=len(placement.weights),
            set_bytes=placement.set_bytes,
        )

    def json(self, placement: Placement, judged: Quality) -> dict[str, Any]:
        """The chance and what it rests on."""
        found = self.loss(placement, judged)
        return {
            "loss_chance": None if found is None else found.loss.value,
            "low": None if found is None else found.loss.low,
            "high": None if found is None else found.loss.high,
            "repair_order": self.order_of(placement),
            "loss_chance_by_other_order": None if found is None else found.other,
            "afr": float(FailedShare.parse(self.afr)),
            "repair_seconds": float(LongSeconds.parse(self.repair)),
        }

    def add(self, table: Table, placement: Placement, judged: Quality) -> None:
        """Add the chance by both orders to a table of measures, where it is known."""
        from resilver.report.durability.words import chance as chance_of

        found = self.loss(placement, judged)
        if found is None:
            return
        order = self.order_of(placement)
        other = "priority" if order == "device" else "device"
        rests = f"AFR {self.afr}, repair {self.repair}"
        table.add_row(f"data lost in a year, {_BY[order]}", chance_of(found.loss), rests)
        value = "unknown" if found.other is None else chance(found.other)
        table.add_row(f"data lost in a year, {_BY[other]}", value, f"--repair-order {other}")


_OPTIONS = {"failures.0.afr": "--afr", "repair": "--repair"}
_BY = {"priority": "PGs by priority", "device": "device by device"}


def print_quality(source: Source, inputs: Inputs, judging: Judging, *, as_json: bool) -> None:
    """Judge every placement of a source.

    Args:
        source: A map, a cluster or a study.
        inputs: The rule and its inputs, where one is judged; the reweights.
        judging: The pool.
        as_json: Print JSON, a list of one object a placement.

    Raises:
        ConfigError: There is no such pool or rule, or --fatal exceeds the copies.
    """
    order = "" if judging.repair_order is None else judging.repair_order.value
    failing = Failing(judging.afr, judging.repair, order)
    rows = []
    for placement in placements(source, inputs, judging):
        judged, targets = _judged(placement, judging.fatal)
        if as_json:
            rows.append(
                _json(placement, judged, targets) | {"a_year": failing.json(placement, judged)}
            )
        else:
            table = _table(placement, judged, targets)
            failing.add(table, placement, judged)
            output().print(table)
    if as_json:
        print_json(rows)


def _judged(placement: Placement, fatal: int | None) -> tuple[Quality, Targets | None]:
    fatal = placement.fatal if fatal is None else fatal
    judged = quality(
        placement.sets,
        weights=placement.weights,
        set_bytes=placement.set_bytes,
        fatal=fatal,
    )
    # A code loses data long before its last piece, and only its user knows when.
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
    found = [_targets_of(placement, sets, int(device)) for device in tried]
    distinct = [one[0] for one in found]
    parallel = [one[1] for one in found]
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


def _json(placement: Placement, judged: Quality, targets: Targets | None) -> dict[str, Any]:
    values = asdict(judged)
    names = placement.device_names
    for key in ("copy_balance", "byte_balance", "primary_balance"):
        if values[key] is not None:
            for end in ("fullest", "emptiest"):
                device = values[key][end]
                values[key][end] = None if device is None else names[device]
    return {
        "placement": placement.key,
        "title": placement.title,
        **values,
        "rebuild_targets": None if targets is None else asdict(targets),
    }


def _table(placement: Placement, judged: Quality, targets: Targets | None) -> Table:
    table = Table(title=placement.title, box=box.SIMPLE, title_justify="left", pad_edge=False)
    table.add_column("measure", no_wrap=True)
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("beside it", style="dim")
    names = placement.device_names
    for kind, one in (
        ("copies", judged.copy_balance),
        ("bytes", judged.byte_balance),
        ("primaries", judged.primary_balance),
    ):
        if one is not None and one.fullest is not None:
            _add_balance(table, kind, one, names)
    _add_spread(table, placement, judged)
    _add_rebuild(table, judged, targets)
    _add_loss(table, judged, placement.by_position or placement.is_coded)
    return table


def _add_balance(table: Table, kind: str, one: Balance, names: list[str]) -> None:
    at_random = one.expected_coefficient_of_variation
    fullest = names[one.fullest] if one.fullest is not None else ""
    emptiest = names[one.emptiest] if one.emptiest is not None else ""
    table.add_row(f"{kind}: fullest over fair share", f"{one.max_over_fair:.3f}", fullest)
    table.add_row(f"{kind}: emptiest over fair share", f"{one.min_over_fair:.3f}", emptiest)
    table.add_row(
        f"{kind}: coefficient of variation",
        f"{one.coefficient_of_variation:.4f}",
        "" if at_random is None else f"{at_random:.4f} at random",
    )


def _add_spread(table: Table, placement: Placement, judged: Quality) -> None:
    others = max(judged.devices - 1, 0)
    if judged.short_sets:
        table.add_row(f"{placement.unit}s short of devices", f"{judged.short_sets:,}", "")
    table.add_row(
        "scatter width, median", f"{judged.scatter_width_median:,.0f}", f"of {others:,} others"
    )
    table.add_row(
        "scatter width, least and most",
        f"{judged.scatter_width_min:,} to {judged.scatter_width_max:,}",
        "",
    )
    table.add_row(
        "declustering ratio, measured",
        _ratio(judged.declustering_ratio_measured),
        f"{_ratio(judged.declustering_ratio)} at best",
    )
    table.add_row(
        "sets a pair of devices shares",
        f"{judged.pair_sets_min:,} to {judged.pair_sets_max:,}",
        f"{judged.pair_sets_mean:.2f} on average",
    )


def _add_rebuild(table: Table, judged: Quality, targets: Targets | None) -> None:
    table.add_row(
        "rebuild: sources, worst and median",
        f"{judged.rebuild_sources_worst:,} / {judged.rebuild_sources_median:,.0f}",
        "",
    )
    table.add_row(
        "rebuild: all reads over the busiest's",
        f"{judged.rebuild_parallelism_worst:.1f} / {judged.rebuild_parallelism_median:.1f}",
        "",
    )
    if targets is None:
        return
    table.add_row(
        "rebuild: targets, worst and median",
        f"{targets.distinct_worst:,} / {targets.distinct_median:,.0f}",
        f"{targets.devices_tried} devices tried",
    )
    table.add_row(
        "rebuild: all writes over the busiest's",
        f"{targets.parallelism_worst:.1f} / {targets.parallelism_median:.1f}",
        "",
    )


def _add_loss(table: Table, judged: Quality, is_coded: bool) -> None:
    table.add_row(
        "different replica sets",
        f"{judged.distinct_sets:,}",
        f"of {_short(judged.possible_sets)}",
    )
    share = judged.loss_share
    if share is None and is_coded and judged.fatal == judged.copies:
        table.add_row("data lost in an erasure code", "unknown", "give --fatal M+1")
        return
    table.add_row(
        f"data lost if {judged.fatal} devices fail at once",
        "too many to count" if share is None else f"{share:.3g}",
        "of all such failures",
    )


def _ratio(value: float) -> str:
    """A ratio; where nothing is placed, or on one device alone, there is none."""
    return f"{value:.4f}" if math.isfinite(value) else "unknown"


def _short(count: int) -> str:
    """A count that fits a column: in full below a million million."""
    if count < 10**12:
        return f"{count:,}"
    digits = str(count)
    return f"{digits[0]}.{digits[1:3]}e{len(digits) - 1}"
