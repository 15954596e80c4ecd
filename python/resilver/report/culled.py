"""Culling of a study's own disks on a page: its rounds, its groups, and what clients gain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from resilver.answer import Part
from resilver.report.culling import culling_sentence, rounds_chart
from resilver.report.group_heat import heat_chart
from resilver.tables import cell_text
from resilver.words import plural

if TYPE_CHECKING:
    from resilver.center.layering import LayerProfile


def culled_sentences(found: LayerProfile) -> list[str]:
    """What culling comes to, a sentence each; none where it was not asked."""
    from resilver.center.profiling import reference_words

    culled = found.culled
    if culled is None:
        return []
    first = culled.cullings[0]
    groups, within = plural(len(culled.groups), culled.level), f"{100 * culled.within:g} %"
    words = reference_words(culled.of)
    if len(first.rounds) == 1 and first.holds and len(culled.cullings) == 1:
        return [f"All {groups} are within {within} of {words}: no disk is replaced."]
    outside = first.rounds[1].outside if len(first.rounds) > 1 else 0
    are = "is" if outside == 1 else "are"
    said = [f"{outside:,} of {groups} {are} more than {within} below {words}."]
    said.append(culling_sentence(culled.cullings, culled.within, "drawn as the study's own"))
    before, after = found.rate_bytes_per_second, culled.after.rate_bytes_per_second
    gain = 100.0 * (after / before - 1.0) if before else 0.0
    rate = cell_text(after, "TB/s")
    if abs(gain) < 0.01:
        binding = culled.after.binding.layer
        why = f"the {binding} level is their bottleneck"
        why = "they ask for no more" if binding == "clients" else why
        said.append(f"Clients still get {rate}: {why}.")
    else:
        way = "more" if gain > 0 else "less"
        said.append(f"Clients then get {rate}, {abs(gain):.3g} % {way}.")
    return said


def culled_parts(found: LayerProfile) -> list[Part | None]:
    """The rounds and the groups before and after them, under the first seed."""
    culled = found.culled
    if culled is None:
        return []
    one = culled.cullings[0]
    heat = heat_chart(
        [("before", one.before), ("after", one.after)],
        culled.groups,
        [f"unit {unit}" for unit in culled.units],
        culled.within,
        culled.of,
    )
    if len(one.rounds) == 1:
        return [heat]
    return [rounds_chart(one), heat]
