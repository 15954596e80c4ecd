"""What the catalog knows of failures: laws of parts and bursts, and drives that were counted.

Of drives a fleet's owner counts drive-days and failures. Their rate here is the mean of what these
counts allow, and its interval the middle 95 % (`resilver.failure_rates.posterior_rate`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

from resilver.catalog.entries import load, names
from resilver.errors import ConfigError, name_remedy, show
from resilver.failure_rates import posterior_rate

YEAR_DAYS = 365.25


@dataclass(frozen=True)
class FailureEntry:
    """An entry of the catalog on failures.

    Attributes:
        name: Its name, as ``like`` of a failure writes it.
        description: What it is, in a sentence.
        source: Where its figures are from.
        law: The keys of a failure that it states; empty for drives that were counted.
        drive_days: Of drives: the days that all of them worked.
        failures: Of drives: how many failed in these.

    >>> fleet = failure("backblaze-2024")
    >>> fleet.failures, fleet.drive_days, round(100 * fleet.per_year, 2)
    (4372, 101906290, 1.57)
    """

    name: str
    description: str
    source: str
    law: dict[str, Any] = field(default_factory=dict)
    drive_days: int = 0
    failures: int = 0

    @property
    def fails(self) -> dict[str, Any]:
        """The keys of a failure, as a study file writes them."""
        return {"rate": f"{self.per_year:.6g} /y"} if self.drive_days else self.law

    @property
    def per_year(self) -> float:
        """Of drives: failures a year of one that works, the mean of what the count allows."""
        return (self.failures + 0.5) / self.drive_days * YEAR_DAYS

    @cached_property
    def per_year_interval(self) -> tuple[float, float]:
        """Of drives: the middle 95 % of the rate, failures a year."""
        _, low, high = posterior_rate(self.failures, self.drive_days / YEAR_DAYS)
        return low, high


def failure(name: str) -> FailureEntry:
    """An entry of the catalog on failures.

    Args:
        name: A file of the catalog, a slash and what it knows: ``simedc/disk``,
            ``backblaze-2024/ST16000NM001G``. A fleet, and a file that knows one thing, need no
            slash.

    Returns:
        The entry.

    Raises:
        ConfigError: There is no such entry; the message suggests the nearest.
    """
    head, _, rest = name.partition("/")
    known = _entries(head)
    if rest not in known:
        listed = [f"{head}/{one}" for one in known if one]
        rule, remedy = f"{head} knows several", f"write one of {', '.join(listed)}"
        if rest:
            rule, remedy = f"{head} has no such entry", name_remedy(name, listed, "entries")
        raise ConfigError(rule, remedy, value=show(name))
    return known[rest]


def failure_names() -> list[str]:
    """The name of every entry, files in order, each with what it knows."""
    found = {one.name: None for head in names("failures") for one in _entries(head).values()}
    return list(found)


@cache
def _entries(head: str) -> dict[str, FailureEntry]:
    """What a file knows, by what follows the slash; of a fleet or the only one, no text."""
    entry = load("failures", head)
    found = {}
    if "fleet" in entry.content:
        fleet = entry.content["fleet"]
        counted = {"drive_days": fleet["days"], "failures": fleet["failures"]}
        found[""] = FailureEntry(head, entry.description, entry.source, **counted)
    for model, row in entry.content.get("drives", {}).items():
        words = f"{row['maker']} {model}, {row['size']}: {row['drives']:,} drives, "
        words += f"{row['age_months']:g} months old on average"
        counted = {"drive_days": row["days"], "failures": row["failures"]}
        found[model] = FailureEntry(f"{head}/{model}", words, entry.source, **counted)
    laws = entry.content.get("laws", {})
    for name, table in laws.items():
        law = {key: value for key, value in table.items() if key != "description"}
        words = table.get("description", entry.description)
        found[name] = FailureEntry(f"{head}/{name}", words, entry.source, law)
        if len(laws) == 1:
            found[""] = found[name]
    return found
