"""How far a run of a system is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """How far a run has come.

    Attributes:
        phase: ``placing``, ``scanning``, ``rebuilding``, ``serving`` or ``done``. A run is serving
            where it has clients and nothing to rebuild.
        fraction: How much of the phase is done, from 0 to 1.
        events: Events executed.
        simulated_seconds: Simulated time.
        rebuilt_pieces: Lost copies or pieces that are rebuilt.
        pieces_to_rebuild: Lost copies or pieces that are to be rebuilt; zero before the scan's end.
        requests_completed: Requests that clients have had answered.
    """

    phase: str
    fraction: float
    events: int = 0
    simulated_seconds: float = 0.0
    rebuilt_pieces: int = 0
    pieces_to_rebuild: int = 0
    requests_completed: int = 0
