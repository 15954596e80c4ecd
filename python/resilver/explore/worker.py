"""What a process does that makes the runs of a page; it imports little, as it is begun often."""

from __future__ import annotations

from collections.abc import Callable

from resilver.errors import Interrupted, ResilverError
from resilver.explore.encoding import encode_done, encode_failure
from resilver.simulate.ceph import HealProgress
from resilver.simulate.from_page import RunKind, perform
from resilver.simulate.progress import Progress
from resilver.study.machine import peak_memory_bytes, reset_peak_memory
from resilver.study.progress import RunState

HEALING = "healing"
"""The phase of a cluster, and the state that the page knows it by."""


def ready(_report: Callable[[RunState], bool]) -> None:
    """Nothing, by a worker that has imported what runs need."""


def answer(
    kind: RunKind, text: str, maps: tuple[bytes, ...], report: Callable[[RunState], bool]
) -> bytes:
    """What a run comes to, in a worker.

    Args:
        kind: What runs.
        text: The core's input.
        maps: The CRUSH maps beside it.
        report: Told how far it is; answers whether to go on.

    Returns:
        The answer, or what is wrong, in the form of `resilver.explore.encoding`.

    Raises:
        Interrupted: It was not to go on.
    """
    reset_peak_memory()

    def tell(state: Progress | HealProgress) -> bool:
        return report(_state(state)._replace(memory_bytes=peak_memory_bytes() or 0))

    try:
        found = perform(kind, text, maps, tell)
    except Interrupted:
        raise
    except ResilverError as error:
        return encode_failure(error)
    return encode_done(found.digest, found.tables)


def _state(state: Progress | HealProgress) -> RunState:
    """How far a run is, as workers tell it: groups of a cluster stand as pieces."""
    if isinstance(state, Progress):
        return RunState.of(state)
    whole = state.groups - state.unclean_groups
    return RunState(
        HEALING,
        state.fraction,
        simulated_seconds=state.simulated_seconds,
        rebuilt_pieces=whole,
        pieces_to_rebuild=state.groups,
    )
