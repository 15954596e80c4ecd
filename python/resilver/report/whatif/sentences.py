"""A plan's answer in sentences: when it is healthy, what fills, what is stuck, what would help."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from resilver.quantities import duration
from resilver.report.counterfactuals import help_sentence
from resilver.report.whatif.capacity import fill_sentence, room_sentence, safe_fill_sentence
from resilver.report.whatif.figures import client_sentences
from resilver.report.whatif.source import DETECTED, Facts, times_of
from resilver.tables import cell_text
from resilver.whatif.answer import PACE
from resilver.words import chance, listed, plural

if TYPE_CHECKING:
    from resilver.whatif.answer import Assumption, WhatIf

_NAMED = 3
"""Names in a sentence; more of them stand in a table."""
_ASSUMED = 6
_WHERE = "--json and the page list all"
_OSD = re.compile(r"\bosd\.\d+")
_SAID_MIN = 0.001
"""Less than this share of what is used is not worth a clause."""
GOVERNS = {
    "reservation of a primary": "osd_max_backfills",
    "reservation of a target": "osd_max_backfills",
    "retry interval": "osd_backfill_retry_interval",
    "mclock limit": "osd_mclock_profile",
    "sleep": "osd_recovery_sleep",
    "objects under way": "osd_recovery_max_active",
    "threads": "osd_op_num_threads_per_shard",
    "space": "the backfillfull ratio",
}
"""The setting that each kind of wait comes from; devices and networks have none."""
EMPTY = "All pools are empty: PGs may lack OSDs, but no data is at risk."


def answer_sentences(answer: WhatIf) -> list[str]:
    """The answer: what is lost, when the cluster is healthy, and what happens on the way."""
    facts = Facts(answer)
    if facts.is_calm:
        why = "no PG changes" if answer.steps else "every PG is active+clean"
        said = [f"Nothing moves: {why}.", fill_sentence(facts), safe_fill_sentence(facts)]
        return [text for text in (*said, *client_sentences(facts)) if text]
    is_stuck = bool(answer.outcome.stuck_groups)
    end = "nothing moves any more" if is_stuck else "the cluster is healthy"
    said = [
        *lost_sentences(facts),
        whole_sentence(facts),
        pace_sentence(answer.assumptions),
        EMPTY if not answer.cluster.objects else "",
        risk_sentence(facts),
        stretch_sentence(facts),
        chance_sentence(facts),
        fill_sentence(facts),
        room_sentence(facts),
        safe_fill_sentence(facts),
        *waiting_sentences(facts),
        moved_sentence(facts),
        help_sentence(answer.counterfactuals, end),
        *client_sentences(facts),
    ]
    return [text for text in said if text]


def question(answer: WhatIf) -> str:
    """The question, as a title."""
    if not answer.steps:
        return f"How {answer.cluster.label} heals as it is"
    first, *more = answer.steps
    text = f"What if {first.text}"
    if len(more) == 1:
        later = more[0].at_seconds - first.at_seconds
        text += f", and {f'{duration(later)} later ' if later else ''}{more[0].text}"
    elif more:
        text += f", and {plural(len(more), 'more change')}"
    return f"{text}?"


def lost_sentences(facts: Facts) -> list[str]:
    """PGs of which data is gone, a sentence a pool."""
    return [
        f"Data is lost: {plural(pool['lost_groups'], 'PG')} of pool {pool['name']} can no longer "
        "be read from the OSDs that are up."
        for pool in facts.pools
        if pool["lost_groups"]
    ]


def whole_sentence(facts: Facts) -> str:
    """When every PG is active+clean, and until when objects are degraded."""
    found, end = facts.answer.outcome, duration(facts.answer.end_seconds)
    marked = marked_words(facts)
    if found.whole_seconds is not None and not found.stuck_groups:
        after = duration(found.whole_seconds)
        if facts.begins and found.whole_seconds > facts.begins:
            after += f", {duration(found.whole_seconds - facts.begins)} from the first change on"
        if not found.whole_seconds:
            return "Every PG stays active+clean."
        if found.degraded_seconds == 0.0:
            return f"Rebalancing finishes after {after}; no object is ever degraded."
        text = f"{', '.join(marked)}, healthy after {after}" if marked else f"Healthy after {after}"
        outs = marked_out(facts)
        if len(outs) == 1 and found.recovered_bytes:
            text += f" (copying takes {duration(found.whole_seconds - outs[0])})"
        if found.degraded_seconds is not None and found.degraded_seconds < found.whole_seconds:
            text += f"; nothing is degraded after {duration(found.degraded_seconds)}"
        return f"{text}."
    when = f" {', '.join(marked)}." if marked else ""
    groups = sum(pool["groups"] for pool in facts.pools)
    count = f"{found.stuck_groups:,} of {plural(groups, 'PG')}"
    verb = "is" if found.stuck_groups == 1 else "are"
    if len(facts.waiting) < len(facts.stuck):
        text = f"The cluster is not healthy within {end}: {count} {verb} not clean yet"
        moving = int(facts.series("backfilling_groups")[-1] + facts.series("recovering_groups")[-1])
        kinds = [f"{moving:,} move data", f"{found.stuck_groups - moving:,} wait"]
        if facts.waiting:
            kinds.append(f"{len(facts.waiting):,} stuck")
        return f"{text} ({', '.join(kinds)}).{when}"
    after = f" after {duration(facts.moved_until)}" if facts.moved_until else ""
    still = "nothing moves any more" if facts.moved_until else "nothing moves"
    return (
        f"The cluster does not become healthy: {count} {verb} not clean, and{after} {still}.{when}"
    )


def marked_out(facts: Facts) -> list[float]:
    """When the monitors mark OSDs out, in seconds, rising."""
    return times_of(facts, r"the monitors mark .* out")


def marked_words(facts: Facts) -> list[str]:
    """When what dies is detected and marked out, as clauses; none where nothing dies or stops."""
    is_replaced = times_of(facts, r"the devices? of .* replaced") and not marked_out(facts)
    if is_replaced or not times_of(facts, r".* (died|stopped)"):
        return []
    said = []
    if times_of(facts, r".* died"):
        said.append(_after("Detected", times_of(facts, DETECTED)))
    said.append(_after("marked out" if said else "Marked out", marked_out(facts)))
    return said


def _after(what: str, times: list[float]) -> str:
    if not times:
        return f"never {what.lower()}" if what.islower() else f"Never {what.lower()}"
    first, last = duration(times[0]), duration(times[-1])
    return f"{what} after {first}" + (f" to {last}" if last != first else "")


def risk_sentence(facts: Facts) -> str:
    """How many PGs are down to their last copy, and whether some are inactive."""
    found = facts.answer.outcome
    most = int(max(facts.series("at_risk_groups"), default=0.0))
    text = "No PG is ever at zero redundancy"
    if most:
        text = f"{_up_to(most)} at zero redundancy {_until(found.at_risk_seconds)}"
    if found.inactive_groups:
        many = _up_to(found.inactive_groups)
        many = f"{many[0].lower()}{many[1:]}"
        return f"{text}; {many} inactive, and serve no client, {_until(found.inactive_seconds)}."
    # Requests to what died hang until the monitors mark it down.
    since = "once the failure is detected" if times_of(facts, r".* died") else "throughout"
    return f"{text}; every PG serves clients {since}."


def _up_to(count: int) -> str:
    return "1 PG is" if count == 1 else f"Up to {count:,} PGs are"


def stretch_sentence(facts: Facts) -> str:
    """From when to when the monitors let one site serve alone."""
    rows = [row for row in facts.rows("history") if "degraded stretch mode" in row["what"]]
    return " ".join(f"After {duration(row['time_seconds'])} {row['what']}." for row in rows)


def chance_sentence(facts: Facts) -> str:
    """How likely further OSDs fail before recovery completes, and data is lost."""
    all_pools = next(iter(facts.rows("risks")), None)
    if all_pools is None or not all_pools["lacking_groups"] or all_pools["fewest_failures"] < 1:
        return ""
    fewest = all_pools["fewest_failures"]
    needs = f"needs {fewest:,} more failures"
    if fewest == 1:
        needs = f"the failure of any of {plural(all_pools['critical_osds'], 'OSD')} is enough"
    return (
        f"Probability of losing data {loss_span(facts)}: {chance(all_pools['loss_chance'])} "
        f"({needs}; independent failures, {_rates(facts)})."
    )


def loss_span(facts: Facts) -> str:
    """Over which time the probability of losing data is, as a clause."""
    all_pools = next(iter(facts.rows("risks")), None)
    if all_pools is None or all_pools["lacking_seconds"] is None:
        return f"within {duration(facts.answer.horizon_seconds)}"
    return "before recovery completes"


def loss_note(horizon_seconds: float) -> str:
    """The same of several answers, in a note."""
    end = duration(horizon_seconds)
    return f"Data loss: before recovery completes, or within {end} where it does not."


def _rates(facts: Facts) -> str:
    """The annual failure rates of OSDs."""
    of = [one for one in facts.answer.assumptions if one.name.startswith("AFR")]
    if len(values := {one.value for one in of}) == 1:
        return f"AFR {values.pop()}"
    each = listed([f"{one.name.removeprefix('AFR of class ')} {one.value}" for one in of])
    return f"AFR of {each}" if each else "AFR unknown"


def _until(seconds: float | None) -> str:
    return "to the end" if seconds is None else f"until {duration(seconds)}"


def waiting_sentences(facts: Facts) -> list[str]:
    """PGs that more time would not help: those of each state, and why most of them wait."""
    states = Counter(row["state"] for row in facts.waiting)
    said = []
    for state, count in states.most_common(_NAMED):
        of = [row for row in facts.waiting if row["state"] == state]
        ids = ", ".join(row["pgid"] for row in of[:_NAMED])
        text = f"{plural(count, 'PG')} ({ids}{', ...' if count > _NAMED else ''}) "
        text += f"{'stays' if count == 1 else 'stay'} {state}"
        why = _reason_words([row["reason"] for row in of])
        said.append(f"{text}: {why}." if why else f"{text}.")
    if len(states) > _NAMED:
        others = sum(states.values()) - sum(count for _, count in states.most_common(_NAMED))
        said.append(f"{plural(others, 'PG')} stay in other states.")
    return said


def _reason_words(reasons: list[str]) -> str:
    """The most frequent reason, and the OSDs that are another's in the same words."""
    counts = Counter(reasons)
    (first, count), *others = counts.most_common()
    text = first.rstrip(".")
    if not others or not text:
        return text
    alike = [
        (_OSD.search(reason), many)
        for reason, many in others
        if _OSD.sub("", reason) == _OSD.sub("", first)
    ]
    named = [f"{found[0]} ({many:,})" for found, many in alike[: _NAMED - 1] if found]
    more = len(alike) - len(named)
    text += f" ({count:,} of them)"
    if named:
        names = [*named, f"{more:,} more"] if more else named
        text += f"; likewise {listed(names)}"
    return text


def moved_sentence(facts: Facts) -> str:
    """What was written, beside the least that must be."""
    found = facts.answer.outcome
    made, moved = found.recovered_bytes, found.moved_bytes
    used = facts.answer.cluster.used_bytes
    freed = float(facts.held[0] - facts.held[-1]) if facts.held.size else 0.0
    if not made + moved:
        return f"{cell_text(freed, 'bytes')} is freed." if freed > _SAID_MIN * used else ""
    kinds = [f"{cell_text(made, 'bytes')} is re-replicated"] if made else []
    kinds += [f"{cell_text(moved, 'bytes')} of intact data is backfilled"] if moved else []
    text = " and ".join(kinds)
    if missing := unwritten_words(facts):
        text += f"; {missing}"
    elif found.least_bytes:
        ratio = (made + moved) / found.least_bytes
        text += f" ({ratio:.2f} x the minimum)"
    if facts.held_beyond > _SAID_MIN * used:
        more = cell_text(facts.held_beyond, "bytes")
        text += f"; old and new copies together take up to {more} more on the way"
    return f"{text}."


def unwritten_words(facts: Facts) -> str:
    """What is not written of the least that must be, as a clause; empty where all of it is."""
    found = facts.answer.outcome
    missing = found.least_bytes - found.recovered_bytes - found.moved_bytes
    if not found.stuck_groups or missing <= 0.005 * found.least_bytes:
        return ""
    is_full = any(row["state"].endswith("toofull") for row in facts.stuck)
    # What is still under way at the end may yet find room.
    has_no_room = is_full and len(facts.waiting) == len(facts.stuck)
    why = "has no room" if has_no_room else "is not written by the end"
    least = cell_text(found.least_bytes, "bytes")
    return f"{cell_text(missing, 'bytes')} of the minimum ({least}) {why}"


def waits_by_kind(facts: Facts) -> list[tuple[str, float, str, float]]:
    """Each kind of wait, the largest first: its share, where it is worst, its share there."""
    of: dict[str, list[tuple[float, str]]] = {}
    for row in facts.rows("limits"):
        of.setdefault(row["kind"], []).append((row["share"] or 0.0, row["name"] or ""))
    found = []
    for kind, places in of.items():
        worst_share, worst = max(places, key=lambda one: one[0])
        found.append((kind, sum(one for one, _ in places), worst, worst_share))
    return sorted((one for one in found if one[1] > 0.0), key=lambda one: -one[1])


def pace_sentence(of: Iterable[Assumption]) -> str:
    """At which pace devices work, where it was measured, and by what."""
    return next(
        (
            f"Devices work at {one.value} of the rates of their models. {one.sentence}"
            for one in of
            if one.name == PACE and one.sentence
        ),
        "",
    )


_ORIGINS = {
    "assumed": "Assumed",
    "stated": "Stated",
    "config": "Set in `config dump`",
    "dump": "From the dumps",
}


def assumption_sentences(of: Iterable[Assumption]) -> list[str]:
    """What an answer rests on, a sentence for each origin; release defaults are counted."""
    found, said = list(of), []
    for origin, words in _ORIGINS.items():
        ours = [one for one in found if one.origin == origin]
        names = [
            f"{one.name} {one.value}{f' ({one.applies_to})' if one.applies_to else ''}"
            for one in ours[:_ASSUMED]
        ]
        more = len(ours) - len(names)
        names += [f"and {more} more ({_WHERE})"] * bool(more)
        if names:
            said.append(f"{words}: {'; '.join(names)}.")
    if count := sum(one.origin == "release default" for one in found):
        said.append(f"Release defaults: {plural(count, 'setting')} ({_WHERE}).")
    return said
