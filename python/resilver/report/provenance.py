"""Where the numbers come from, and how to make them again."""

from __future__ import annotations

import hashlib
from html import escape

from resilver.report.source import ResultsLike

_RECORDED = (
    ("resilver_version", "resilver"),
    ("schema_version", "Schema of results"),
    ("python", "Python"),
    ("platform", "Platform"),
    ("host", "Host"),
    ("started", "Started"),
    ("finished", "Finished"),
    ("command", "Command"),
)


def provenance_html(results: ResultsLike, command: str | None = None) -> str:
    """The last section of the page: version, seeds, digest, and the command that reproduces it all.

    Args:
        results: The study's results.
        command: A command that makes the page again from nothing; by default the study of the run
            folder does.
    """
    record = results.provenance
    entries: dict[str, str] = {}
    for key, label in _RECORDED:
        value = record.get(key)
        if isinstance(value, list | tuple):
            value = " ".join(str(word) for word in value)
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            entries.setdefault(label, escape(str(value)))
    entries["Seeds"] = escape(seed_ranges(results.runs["seed"].to_pylist()))
    entries["Digest of all runs"] = f"<code>{study_digest(results)}</code>"
    made = "resilver run study.toml -o again" if command is None else command
    study = "" if command else "the <code>study.toml</code> of the run folder and "
    entries["To reproduce"] = (
        f"<code>{escape(made)}</code> with {study}the same version; equal digests mean equal "
        "results."
    )
    rows = "".join(f"<dt>{escape(label)}</dt><dd>{text}</dd>" for label, text in entries.items())
    return f"<section><h2>Provenance</h2><dl>{rows}</dl></section>"


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


def study_digest(results: ResultsLike) -> str:
    """One digest for the study: SHA-256 over its runs' digests in their order, 16 hex digits."""
    text = "\n".join(str(digest) for digest in results.runs["digest"].to_pylist())
    return hashlib.sha256(text.encode()).hexdigest()[:16]
