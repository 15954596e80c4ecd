"""What a study's results rest on, and how sure they are, for terminal and page."""

from __future__ import annotations

from dataclasses import fields

from resilver.spec.assumptions import Assumption, lead
from resilver.study.results import StudyTables
from resilver.tables import Table, table_of
from resilver.words import listed, plural


def assumptions(results: StudyTables) -> list[Assumption]:
    """What the results rest on: device, network, throttle, memory, detection time and clients.

    Returns:
        The assumptions; none of folders written before these were kept.
    """
    names = [field.name for field in fields(Assumption)]
    return [
        Assumption(**{name: record[name] for name in names})
        for record in results.provenance.get("assumptions", [])
    ]


def assumptions_lead(results: StudyTables) -> str:
    """Device, network and throttle with their origins in one sentence; empty if not kept."""
    return lead(assumptions(results))


def assumptions_table(results: StudyTables) -> Table | None:
    """A row an assumption, or None where they were not kept."""
    made = table_of(
        assumptions(results),
        ("name", "Assumption", "text"),
        ("value", "Value", "text"),
        ("origin", "From", "text"),
        ("sentence", "In words", "text"),
    )
    return made if made.rows else None


def certainty(results: StudyTables) -> str:
    """How many runs and seeds there are and what these draw, in a sentence."""
    runs = results.runs
    seeds = len(set(runs["seed"].to_pylist()))
    count = f"{plural(runs.num_rows, 'run')}, {plural(seeds, 'seed')}"
    drawn = results.provenance.get("chances")
    if drawn is None:
        return count
    if not drawn:
        same = "" if seeds == 1 else ": all seeds give the same run"
        return f"{count}; deterministic{same}"
    return f"{count}; random: {listed(list(drawn))}"


def spread_note(results: StudyTables, seeds: int) -> str:
    """What the figures of a system are over its seeds.

    Args:
        results: The study's results.
        seeds: How many of them the system has.
    """
    if results.provenance.get("chances") == []:
        return "Deterministic: every seed gives these figures."
    if seeds == 1:
        return "Figures of one seed; more seeds (study.seeds) show the spread."
    return f"Medians, min and max of {plural(seeds, 'seed')}."
