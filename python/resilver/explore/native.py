"""Runs of a page on the native core: one a processor at a time, each in a process of its own.

A step of the core takes a second where there are thousands of OSDs, and nothing can end it. So a
run that nobody waits for any more ends with its process.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Generator
from concurrent.futures import Future, wait
from typing import TYPE_CHECKING

from resilver.errors import ResilverError, SimulationError
from resilver.explore.encoding import encode_failure, encode_state
from resilver.explore.worker import HEALING
from resilver.study.executors.choice import processors
from resilver.study.pool import LocalPool
from resilver.study.progress import RunState

if TYPE_CHECKING:
    from resilver.browser import CoreRequest

SECONDS_BETWEEN_FRAMES = 0.2
"""How often it is told how far a run is: a person cannot follow more, and it is within a second
that a page which was closed is noticed."""

_WORKER = "resilver.explore.worker"
_WAITING = encode_state("waiting")


class Runs:
    """Runs under way, and those that wait.

    Args:
        at_once: How many run at once, by default one a processor; others wait.
    """

    def __init__(self, at_once: int | None = None) -> None:
        self._pools = [LocalPool(1) for _ in range(at_once or processors())]
        self._idle: queue.SimpleQueue[LocalPool] = queue.SimpleQueue()
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._live = 0
        for pool in self._pools:
            _warm(pool)
            self._idle.put(pool)

    @property
    def live(self) -> int:
        """How many runs are under way."""
        return self._live

    def frames(self, request: CoreRequest) -> Generator[bytes, None, None]:
        """Run what a page asks.

        Args:
            request: What it asks.

        Yields:
            Answers in the form of `resilver.explore.encoding`: several times a second one that
            says how far the run is, or that it waits, and at the end what it came to or what is
            wrong. None at the end if all were ended. Whoever closes the iterator ends the run.
        """
        while (pool := self._free()) is None:
            if self._ended.is_set():
                return
            yield _WAITING
        self._count(1)
        asked = (request.kind, request.input, request.maps)
        future = pool.submit(f"{_WORKER}:answer", *asked)
        try:
            while not wait([future], SECONDS_BETWEEN_FRAMES).done:
                yield _progress(pool.under_way().get(future))
            if not self._ended.is_set():
                yield _outcome(future)
        finally:
            if not future.done():
                self._end(pool, future)
            self._count(-1)
            self._idle.put(pool)

    def _free(self) -> LocalPool | None:
        if self._ended.is_set():
            return None
        try:
            return self._idle.get(timeout=SECONDS_BETWEEN_FRAMES)
        except queue.Empty:
            return None

    def _end(self, pool: LocalPool, future: Future[bytes]) -> None:
        """End a run with its process, which may only just begin."""
        while not future.done():
            pool.kill()
            wait([future], 0.02)
        # Where the process had just answered, the next task alone finds it gone: this one may.
        if not self._ended.is_set():
            _warm(pool)

    def _count(self, change: int) -> None:
        with self._lock:
            self._live += change

    def end(self) -> None:
        """End all runs; no other begins."""
        self._ended.set()
        for pool in self._pools:
            pool.kill()

    def close(self) -> None:
        """End all runs and wait until their processes are gone."""
        self.end()
        for pool in self._pools:
            pool.shutdown(cancel_futures=True)


def _warm(pool: LocalPool) -> None:
    """Have a new process import what runs need before there is one."""
    pool.submit(f"{_WORKER}:ready")


def _progress(state: RunState | None) -> bytes:
    """How far a run is, in the words of the core in a page."""
    if state is None or state.phase == "starting":
        return _WAITING
    if state.phase == HEALING:
        return encode_state(
            HEALING,
            fraction=state.fraction,
            simulated_seconds=state.simulated_seconds,
            unclean_groups=state.pieces_to_rebuild - state.rebuilt_pieces,
            groups=state.pieces_to_rebuild,
            memory_bytes=state.memory_bytes,
        )
    told = state._asdict()
    # The core has no such count, which `resilver.simulate` adds to runs of studies.
    del told["requests_completed"]
    return encode_state("working", **told)


def _outcome(future: Future[bytes]) -> bytes:
    """What a run came to, or why its process did not say."""
    error = future.exception()
    if error is None:
        return future.result()
    if not isinstance(error, ResilverError):
        error = SimulationError(str(error))
    return encode_failure(error)
