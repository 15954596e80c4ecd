"""Who takes in what is made anew or moved, and who reads it; and what had to move at least."""

from __future__ import annotations

from typing import Any

from resilver.charts.named import bars
from resilver.charts.scales import byte_scale
from resilver.charts.style import BLUE, GREY, VERMILLION
from resilver.charts.vega import Chart, Spec, axis, rows, tip
from resilver.report.whatif.sentences import unwritten_words
from resilver.report.whatif.source import Facts
from resilver.report.whatif.tables import places, places_table, pools_table
from resilver.tables import cell_text
from resilver.words import against, plural

_LISTED = 24
_POOLS = (
    ("recovered_bytes", "re-replicated", VERMILLION),
    ("moved_bytes", "moved", BLUE),
)
_PLACES = (("received", BLUE), ("read for others", GREY))


def pools_chart(facts: Facts) -> Chart | None:
    """What was written for each pool, beside the least possible; None where nothing was."""
    pools = [
        pool
        for pool in facts.pools
        if pool["recovered_bytes"] or pool["moved_bytes"] or pool["least_bytes"]
    ]
    if not pools:
        return None
    found = facts.answer.outcome
    written = found.recovered_bytes + found.moved_bytes
    least = cell_text(found.least_bytes, "bytes")
    missing = unwritten_words(facts) or f"it takes {least} at least"
    heading = f"{cell_text(written, 'bytes')} are written; {missing}"
    text = (
        "Bytes written to re-replicate lost copies and to move intact data, by pool; the upright "
        "mark is the least that must be written to get from the sets of OSDs before to those after."
    )
    most = max(max(p["recovered_bytes"] + p["moved_bytes"], p["least_bytes"] or 0) for p in pools)
    scale = byte_scale(float(most))

    def spec() -> Spec:
        seen = [one for one in _POOLS if any(pool[one[0]] for pool in pools)] or _POOLS
        data = rows(
            name=[pool["name"] for pool in pools for _ in seen],
            kind=[kind for _ in pools for _, kind, _ in seen],
            x=[pool[column] / scale.divisor for pool in pools for column, _, _ in seen],
            # One tick a pool, however many pieces its bar has.
            mark=[
                None if rank else (pool["least_bytes"] or 0) / scale.divisor
                for pool in pools
                for rank in range(len(seen))
            ],
        )
        # One kind has no legend that names it.
        what = "written" if len(seen) > 1 else seen[0][1]
        across = axis("x", f"{what} ({scale.unit})", ends=(0.0, 1.05 * most / scale.divisor))
        read = tip(
            ("name", "pool"), ("kind", "what"), ("x", scale.unit), ("mark", f"least ({scale.unit})")
        )
        shown = {kind: colour for _, kind, colour in seen}
        return bars(data, across, shown, stacked=True, read=read)

    return Chart("written", heading, text, spec, pools_table(facts), "pools")


def places_chart(facts: Facts, of: str, rank: int = 0) -> Chart | None:
    """What the buckets of a CRUSH type took in and read; None where none did.

    Args:
        of: The type, or ``OSD``.
        rank: Its number among those of a page; a type may have any name.
    """
    every = places(facts, of)
    found = [one for one in every if one["received_bytes"] or one["sent_bytes"]]
    if not found:
        return None
    first = found[0]
    heading = f"{first['name']} receives most: {cell_text(first['received_bytes'], 'bytes')}"
    takers = [one["received_bytes"] for one in found if one["received_bytes"]]
    if len(takers) > 1:
        mean = sum(takers) / len(takers)
        heading += f", {against(first['received_bytes'] / mean, 'the mean')} of all that receive"
    text = f"What each {of} writes, and what is read from it for others"
    text += f"; the first {_LISTED} of {len(found):,}." if len(found) > _LISTED else "."
    shown = found[:_LISTED]
    return Chart(
        f"places-{rank}",
        heading,
        text,
        lambda: _places_spec(shown),
        places_table(every, of),
        plural(len(every), of),
    )


def _places_spec(shown: list[dict[str, Any]]) -> Spec:
    names = [one["name"] for one in shown]
    kinds = [kind for kind, _ in _PLACES]
    values = [one[key] for key in ("received_bytes", "sent_bytes") for one in shown]
    scale = byte_scale(float(max(values)))
    data = rows(
        part=names * 2,
        name=names * 2,
        kind=[kind for kind in kinds for _ in names],
        x=[value / scale.divisor for value in values],
    )
    across = axis("x", f"bytes ({scale.unit})")
    return bars(data, across, dict(_PLACES), noun="where", step=24, grouped=True)
