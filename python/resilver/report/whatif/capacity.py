"""How full OSDs get, how much more fits, and how full is safe: sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from resilver.quantities import duration
from resilver.report.whatif.source import LEVELS, Facts, share
from resilver.tables import cell_text
from resilver.whatif.answer import host_level
from resilver.whatif.several import noun_of
from resilver.words import plural

_CHANGED_MIN = 0.001
"""Less than this share of what was is no change worth a sentence."""
_EFFECT = {
    "backfillfull": "accepts no further backfill",
    "full": "blocks client writes to its pools",
    "failsafe": "drops writes itself",
}


def fill_sentence(facts: Facts) -> str:
    """The fullest OSD, and which OSDs reach which ratio when."""
    if not facts.osds or not facts.osds[0]["capacity_bytes"]:
        return ""
    first = facts.osds[0]
    peak, begin, end = (
        percent_of(first, name)
        for name in ("peak_used_bytes", "used_start_bytes", "used_end_bytes")
    )
    if peak == begin == end:
        text = f"{peak} throughout"
    elif peak == begin:
        text = f"{peak} at the start, {end} at the end"
    else:
        when = f" after {duration(first['peak_seconds'])}" if first["peak_seconds"] else ""
        rest = [f"{begin} at the start"] if begin != peak else []
        rest += [f"{end} at the end"] if end != peak else []
        text = f"{peak}{when} ({', '.join(rest)})"
    text = f"Fullest OSD: {first['name']}, {text}"
    ratios = facts.answer.cluster.ratios
    passed = [(level, found) for level in LEVELS if (found := facts.passing(level))]
    if not passed:
        lowest = facts.lowest_level
        return f"{text}; no OSD reaches {lowest} ({ratio_words(ratios[lowest])})."
    said = [_passing_words(facts, level, found) for level, found in reversed(passed)]
    return f"{text}. {'; '.join(said)}."


def room_sentence(facts: Facts) -> str:
    """How much more fits into the pool whose room changes most, where any does."""
    row = facts.changed_room
    if row is None or facts.answer.outcome.lost_groups:
        return ""
    start, end = row["start_bytes"], row["end_bytes"]
    if abs(end - start) <= _CHANGED_MIN * start:
        return ""
    ratio = ratio_words(facts.answer.cluster.ratios["full"])
    return (
        f"Room at the end: {cell_text(end, 'bytes')} more fits into pool {row['name']} until "
        f"osd.{row['end_osd']} is full ({ratio}); {cell_text(start, 'bytes')} at the start."
    )


def safe_fill_sentence(facts: Facts) -> str:
    """How full the cluster may be so that any host can fail and heal, and how full it is."""
    row = next(iter(facts.rows("safe_fill")), None)
    if row is None:
        return ""
    level = noun_of(host_level(facts.answer.cluster.places))
    safe, before = row["end_safe_share"], row["start_safe_share"]
    if safe is None:
        return f"No fill is safe: if {row['end_part']} fails, PGs find too few other {level}s."
    full = cell_text(row["end_share"], "fill")
    text = f"Safe fill: any {level} can fail and heal up to {cell_text(safe, 'fill')} full"
    if before is not None and abs(before - safe) > _CHANGED_MIN:
        text += f" ({cell_text(before, 'fill')} at the start)"
    too_full = f", too full for the failure of {row['end_part']}" * (row["end_share"] > safe)
    return f"{text}; it is {full} full{too_full}."


def _passing_words(facts: Facts, level: str, found: list[dict[str, Any]]) -> str:
    """How many OSDs reach a ratio, and when the first of them does."""
    ratio = ratio_words(facts.answer.cluster.ratios[level])
    effect = f": {_EFFECT[level]}" if level in _EFFECT else ""
    text = f"{plural(len(found), 'OSD')} {'reaches' if len(found) == 1 else 'reach'} {level}"
    text += f" ({ratio}{effect})"
    new = [osd for osd in found if osd[f"{level}_seconds"]]
    if len(new) < len(found):
        text += f", {f'{len(found) - len(new):,}' if new else 'all'} from the start"
    if new:
        which = "" if len(new) == 1 else "the first "
        text += f", {which}{new[0]['name']} after {duration(new[0][f'{level}_seconds'])}"
    return text


def ratio_words(ratio: float) -> str:
    """A ratio as Ceph's own commands write it, such as ``0.85`` or ``0.875``."""
    return f"{ratio:.3f}".removesuffix("0")


def percent_of(osd: Mapping[str, Any], name: str) -> str:
    """How full an OSD is, to a tenth of a percent."""
    return f"{100 * share(osd, name):.1f} %"
