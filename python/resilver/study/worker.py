"""The worker process: performs one task after another for the pool that started it."""

from __future__ import annotations

import importlib
import os
import queue
import threading
import time
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, NoReturn

from resilver import errors
from resilver.study.progress import RunState

# A message costs tens of microseconds, and a person cannot follow more than a few a second.
_SECONDS_BETWEEN_REPORTS = 0.1

Report = Callable[[RunState], bool]


class Seldom:
    """Tells how far a task is: whenever its phase changes, else once in a time.

    Args:
        seconds: the time.
        send: takes a report.
        goes_on: whether the task is still wanted.
    """

    def __init__(
        self, seconds: float, send: Callable[[RunState], object], goes_on: Callable[[], bool]
    ) -> None:
        self._seconds, self._send, self._goes_on = seconds, send, goes_on
        self._phase = ""
        self._next = 0.0

    def __call__(self, state: RunState) -> bool:
        """Report how far the task is; False if it is to stop."""
        moment = time.monotonic()
        if state.phase != self._phase or moment >= self._next:
            self._phase = state.phase
            self._next = moment + self._seconds
            self._send(state)
        return self._goes_on()


def main(descriptor: int) -> NoReturn:
    """Serve tasks until the pool closes the pipe.

    Args:
        descriptor: the file descriptor of this end of the pipe.
    """
    connection = Connection(descriptor)
    inbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
    stop = threading.Event()
    threading.Thread(target=_listen, args=(connection, inbox, stop), daemon=True).start()
    while True:
        function, arguments = inbox.get()
        report = Seldom(
            _SECONDS_BETWEEN_REPORTS,
            lambda state: connection.send(("progress", tuple(state))),
            lambda: not stop.is_set(),
        )
        connection.send(answer(function, arguments, report))


def _listen(connection: Connection, inbox: queue.SimpleQueue[Any], stop: threading.Event) -> None:
    while True:
        try:
            message = connection.recv()
        except (EOFError, OSError):
            # The pool is gone, perhaps killed: nobody waits for the answer, and the folder may
            # already belong to the next call. Half-written shards are swept up by that call.
            os._exit(1)
        if message == "stop":
            stop.set()
        else:
            inbox.put(message)


def answer(function: str, arguments: tuple[Any, ...], report: Report) -> tuple[str, Any]:
    """Call a function, and turn whatever comes of it into a value that can be sent.

    Args:
        function: "package.module:function".
        arguments: its arguments, but the last.
        report: its last argument.

    Returns:
        ("done", value) or ("error", (kind, message, details)).
    """
    try:
        return ("done", load(function)(*arguments, report))
    except errors.ResilverError as error:
        return ("error", (type(error).__name__, str(error), ""))
    except OSError as error:
        return ("error", ("OSError", str(error), traceback.format_exc()))
    except BaseException as error:
        # A panic of the native core arrives as a BaseException; it must end this run only.
        text = f"{type(error).__name__}: {error}"
        return ("error", ("unexpected", text, traceback.format_exc()))


def load(name: str) -> Callable[..., Any]:
    """The function with a dotted name.

    Args:
        name: "package.module:function".
    """
    module, _, function = name.partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(module), function)
    return found
