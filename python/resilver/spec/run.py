"""A run: one system, one seed, and the key that names its results."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from resilver.spec.sweep import Scalar
from resilver.spec.system import System

RESULTS_SCHEMA_VERSION = 15
"""The version of the tables of results; it grows with every change to what a column means."""


@dataclass(frozen=True)
class Run:
    """One simulation of a study.

    Attributes:
        system: What is simulated.
        swept: The swept keys and their values in this run.
        seed: The seed of every random draw.
        key: 32 hexadecimal digits that name all that affects the result.
    """

    system: System
    swept: Mapping[str, Scalar]
    seed: int
    key: str


def canonical_json(value: Any) -> str:
    """`value` as JSON that is equal for equal values: sorted keys, no spaces, no NaN."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def canonical_system(system: System) -> str:
    """All that affects a system's results, as canonical JSON; names of content are left out."""
    return canonical_json(_without_labels(system.resolved()))


def run_key(system: System | str, seed: int, version: str) -> str:
    """The key of a run.

    Args:
        system: The system, or its `canonical_system` where many runs share it.
        seed: The run's seed.
        version: The version of resilver that runs it.

    Returns:
        32 hexadecimal digits of the SHA-256 of system, seed, version and the version of the tables.
    """
    text = system if isinstance(system, str) else canonical_system(system)
    rest = canonical_json({"schema": RESULTS_SCHEMA_VERSION, "seed": seed, "version": version})
    return hashlib.sha256(f"{rest}\n{text}".encode()).hexdigest()[:32]


def _without_labels(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_labels(item) for key, item in value.items() if key != "label"}
    if isinstance(value, list):
        return [_without_labels(item) for item in value]
    return value
