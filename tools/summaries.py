"""What test runners printed, in a line or a few: how many passed, and what took long."""

from __future__ import annotations

import re

from tools import budget

# Seconds that a test may take which budget.toml does not name.
SLOW_SECONDS = 5.0


def cargo_summary(output: str) -> tuple[int, str]:
    """Return how many Rust tests passed, and one closing line for all of cargo's test binaries."""
    lines = re.findall(
        r"^test result: (\w+)\. (\d+) passed; (\d+) failed; (\d+) ignored", output, re.MULTILINE
    )
    passed, failed, ignored = (sum(int(line[column]) for line in lines) for column in (1, 2, 3))
    state = "ok" if lines and all(line[0] == "ok" for line in lines) else "FAILED"
    counts = f"{passed} passed; {failed} failed; {ignored} ignored"
    return passed, f"cargo test: {state}. {counts}; in {len(lines)} binaries"


def allowed_seconds() -> dict[str, float]:
    """Return the seconds that budget.toml allows, by test."""
    return {name: float(limit) for name, limit in budget.read()["tests"].items()}


def grown(seconds: float, limit: float | None) -> str:
    """Say by how much a time is above its budget; nothing within a tenth and ten seconds of it."""
    if limit is None or seconds <= max(1.1 * limit, limit + 10):
        return ""
    return f"  (grew by {seconds - limit:.0f} s from {limit:g} s of budget.toml)"


def by_folder(output: str) -> list[str]:
    """Return the processor time of each folder of tests, as tests/conftest.py tells it."""
    allowed = budget.read()["folders_of_tests"]
    found = re.findall(r"^processor seconds of (.+): ([\d.]+)$", output, re.MULTILINE)
    lines = [
        f"  {float(seconds):8.1f} s  {name}{grown(float(seconds), allowed.get(name))}"
        for name, seconds in found
    ]
    return ["processor time by folder of tests:", *lines] if lines else []


def skipped(output: str) -> list[str]:
    """Return why tests were skipped, each reason with how many."""
    counts: dict[str, int] = {}
    for count, reason in re.findall(r"^SKIPPED \[(\d+)\] \S+ (.+)$", output, re.M):
        counts[reason] = counts.get(reason, 0) + int(count)
    ranked = sorted(counts, key=lambda reason: -counts[reason])
    lines = [f"  {counts[reason]:6}  {reason}" for reason in ranked]
    return ["skipped tests, by reason:", *lines] if lines else []


def pytest_closing(output: str) -> list[str]:
    """Return what stands below pytest's closing line: folders, slow tests, reasons of skips."""
    return [*by_folder(output), *slowest(output), *skipped(output)]


def slowest(output: str) -> list[str]:
    """Return pytest's ten slowest tests, and each that took more than budget.toml allows."""
    seconds: dict[str, float] = {}
    for line in re.findall(r"^([\d.]+)s (?:setup|call|teardown) +(.+?)(?:@[^]]*)?$", output, re.M):
        seconds[line[1]] = seconds.get(line[1], 0.0) + float(line[0])
    ranked = sorted(seconds, key=lambda name: -seconds[name])
    allowed = allowed_seconds()
    lines = []
    for rank, name in enumerate(ranked):
        limit = allowed.get(name, SLOW_SECONDS)
        over = f"  (over the {limit:g} s of budget.toml)" if seconds[name] > limit else ""
        if over or rank < 10:
            lines.append(f"  {seconds[name]:6.1f} s  {name}{over}")
    return ["slowest tests:", *lines] if lines else []


def pytest_summary(output: str) -> tuple[int, str]:
    """Return how many Python tests passed, and pytest's own closing line."""
    closing = re.findall(r"^=*\s*(.*\bin [\d.]+s\b.*?)\s*=*$", output, re.MULTILINE)
    line = closing[-1] if closing else "no closing line: pytest did not finish"
    passed = re.search(r"(\d+) passed", line)
    return int(passed.group(1)) if passed else 0, f"pytest: {line}"
