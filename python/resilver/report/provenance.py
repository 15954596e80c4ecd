"""Where the numbers come from and what they rest on, how to make them again, what that takes."""

from __future__ import annotations

import hashlib
import re
from dataclasses import fields
from pathlib import PurePath

from resilver.spec.assumptions import Assumption
from resilver.study.phases import SIMULATED_PHASES
from resilver.study.results import StudyTables
from resilver.tables import Table, table_of
from resilver.units import format_bytes, format_duration
from resilver.words import listed, percent, plural

_RECORDED = (
    ("resilver_version", "resilver"),
    ("schema_version", "Schema of results"),
    ("python", "Python"),
    ("started", "Started"),
    ("finished", "Finished"),
    ("command", "Command"),
)


def provenance(results: StudyTables, command: str = "") -> dict[str, str]:
    """Version, seeds, digest and command, by their labels; no path and no host, as pages travel.

    Args:
        command: A command that makes the page again from nothing; empty where the study does.
    """
    record = results.provenance
    entries: dict[str, str] = {}
    for key, label in _RECORDED:
        value = record.get(key)
        if isinstance(value, list | tuple):
            value = " ".join(without_folders(str(word)) for word in value)
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            entries.setdefault(label, str(value))
    entries["Seeds"] = seed_ranges(results.runs["seed"].to_pylist())
    entries["Digest of all runs"] = study_digest(results)
    if command:
        entries["To reproduce"] = f"{command}; equal digests mean equal results"
    return entries


def without_folders(word: str) -> str:
    """A word of a command, an absolute path by its last part.

    >>> without_folders("/home/me/study.toml"), without_folders("--set=a.b=1/2")
    ('study.toml', '--set=a.b=1/2')
    """
    return PurePath(word).name if word.startswith(("/", "~")) else word


_PATH = re.compile(r'(?<==)(\s*\[?\s*)"(?:/[^"\n]*/)([^"/\n]+)"')


def portable(study: str) -> str:
    """A study's TOML without folders: the files it names are looked for beside it.

    >>> portable('ceph = "/home/me/report.json"')
    'ceph = "report.json"'
    """
    return _PATH.sub(r'\1"\2"', study)


def seed_ranges(seeds: list[int]) -> str:
    """Distinct seeds in words, runs of neighbours as ranges: `1 to 15, 20`."""
    ordered = sorted(set(seeds))
    parts: list[list[int]] = []
    for seed in ordered:
        if parts and seed == parts[-1][-1] + 1:
            parts[-1].append(seed)
        else:
            parts.append([seed])
    words = [
        f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in parts
    ]
    return ", ".join(words)


def study_digest(results: StudyTables) -> str:
    """One digest for the study: SHA-256 over its runs' digests in their order, 16 hex digits."""
    text = "\n".join(str(digest) for digest in results.runs["digest"].to_pylist())
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def cost_note(results: StudyTables) -> str:
    """What the runs of a study took, in a sentence; empty where nothing was measured."""
    seconds = [value for value in results.runs["wall_seconds"].to_pylist() if value is not None]
    if not seconds:
        return ""
    memory = max((value or 0 for value in results.runs["peak_rss_bytes"].to_pylist()), default=0)
    text = f"Simulated in {format_duration(sum(seconds))}"
    text += f" (longest run {format_duration(max(seconds))})" if len(seconds) > 1 else ""
    text += f" and {format_bytes(memory)} of memory" if memory else ""
    sums = {
        phase: sum(value or 0.0 for value in results.runs[f"{phase}_seconds"].to_pylist())
        for phase in SIMULATED_PHASES
    }
    total = sum(sums.values())
    parts = [f"{name} {percent(part / total)}" for name, part in sums.items() if part]
    return f"{text}: {', '.join(parts)}." if len(parts) > 1 else f"{text}."


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
    """What the figures of a system with so many seeds are over these."""
    if results.provenance.get("chances") == []:
        return "Deterministic: every seed gives these figures."
    if seeds == 1:
        return "Figures of one seed; more seeds (study.seeds) show the spread."
    return f"Medians, min and max of {plural(seeds, 'seed')}."
