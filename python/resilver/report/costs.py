"""What the runs of a study took: time, memory, and the share of each phase."""

from __future__ import annotations

from resilver.report.source import ResultsLike
from resilver.study.phases import SIMULATED_PHASES
from resilver.units import format_bytes, format_duration
from resilver.words import percent


def cost_note(results: ResultsLike) -> str:
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
