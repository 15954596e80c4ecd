"""A pool of worker processes that survives the death of any of them."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import socket
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from multiprocessing.connection import Connection
from typing import IO, Any

from resilver import errors
from resilver.errors import ResilverError, SimulationError
from resilver.study.fork_server import Worker
from resilver.study.progress import RunState


class WorkerDied(SimulationError):
    """The process that performed a run ended without an answer."""


class UnexpectedFailure(SimulationError):
    """A run ended with an error that resilver does not know: a bug.

    Attributes:
        details: the traceback in the worker.
    """

    def __init__(self, message: str, details: str = "") -> None:
        super().__init__(message)
        self.details = details


class LocalPool(Executor):
    """Worker processes on this machine behind the `concurrent.futures` interface.

    It differs from `ProcessPoolExecutor` where a sweep needs it to: a worker that is killed fails
    its own task only, tasks report progress and can be asked to stop, a worker ends by itself when
    its parent is killed, and workers never import the caller's main module, so that a plain script
    can use the pool without a guard.

    Args:
        workers: the number of processes, at least 1.
        environment: variables added to the workers' environment.
    """

    shares_folder = True

    def __init__(self, workers: int, environment: dict[str, str] | None = None) -> None:
        self.workers = workers
        self._tasks: queue.SimpleQueue[_Task | None] = queue.SimpleQueue()
        self._slots = [_Slot(self._tasks, environment or {}) for _ in range(workers)]
        for slot in self._slots:
            slot.thread.start()

    def submit(  # type: ignore[override]
        self, function: str, /, *arguments: Any
    ) -> Future[Any]:
        """Have a worker call a function.

        Args:
            function: "package.module:function"; it is called with the arguments and, last, a
                `report(state: RunState) -> bool` that says whether to go on.
            arguments: picklable arguments.

        Returns:
            The future result.
        """
        task = _Task(function, arguments)
        self._tasks.put(task)
        return task.future

    def under_way(self) -> dict[Future[Any], RunState]:
        """How far each task is that a worker is performing."""
        result = {}
        for slot in self._slots:
            task = slot.task
            if task is not None:
                result[task.future] = slot.progress
        return result

    def stop(self) -> None:
        """Ask the workers to stop what they are doing; their tasks end with `Interrupted`."""
        for slot in self._slots:
            slot.stop()

    def kill(self) -> None:
        """End the worker processes at once."""
        for slot in self._slots:
            slot.kill()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the workers once they have finished what they are doing.

        Args:
            wait: return only when they have ended.
            cancel_futures: drop tasks that no worker has begun.
        """
        if cancel_futures:
            _drain(self._tasks)
        for _ in self._slots:
            self._tasks.put(None)
        if wait:
            for slot in self._slots:
                slot.thread.join()


class _Task:
    def __init__(self, function: str, arguments: tuple[Any, ...]) -> None:
        self.function = function
        self.arguments = arguments
        self.future: Future[Any] = Future()


class _Slot:
    """One worker process and the thread that waits for it."""

    def __init__(self, tasks: queue.SimpleQueue[_Task | None], environment: dict[str, str]) -> None:
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.task: _Task | None = None
        self.progress = RunState("starting")
        self._tasks = tasks
        self._environment = environment
        self._process: Worker | None = None
        self._pipe: socket.socket | None = None
        self._connection: Connection | None = None
        self._messages: IO[bytes] | None = None
        self._sending = threading.Lock()
        self._stopping = False

    def stop(self) -> None:
        with self._sending:
            self._stopping = True
            if self._connection is not None:
                _try(lambda connection: connection.send("stop"), self._connection)

    def kill(self) -> None:
        process, pipe = self._process, self._pipe
        if process is not None:
            process.kill()
        # One that is just being forked, and is no process yet, finds its pipe closed.
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.shutdown(socket.SHUT_RDWR)

    def _serve(self) -> None:
        while (task := self._tasks.get()) is not None:
            if not task.future.set_running_or_notify_cancel():
                continue
            self.progress = RunState("starting")
            self.task = task
            try:
                value = self._perform(task)
            except BaseException as error:
                self.task = None
                task.future.set_exception(error)
            else:
                self.task = None
                task.future.set_result(value)
        self._end()

    def _perform(self, task: _Task) -> Any:
        try:
            if self._process is None:
                self._start()
            assert self._connection is not None
            with self._sending:
                self._connection.send((task.function, task.arguments))
                if self._stopping:
                    self._connection.send("stop")
            while True:
                kind, *content = self._connection.recv()
                if kind != "progress":
                    break
                self.progress = RunState(*content[0])
        except (EOFError, ConnectionError):
            raise WorkerDied(self._post_mortem()) from None
        if kind == "error":
            raise rebuilt(*content[0])
        return content[0]

    def _start(self) -> None:
        self._pipe, theirs = socket.socketpair()
        self._messages = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the worker
        with theirs:
            variables = {**os.environ, **self._environment}
            try:
                self._process = Worker(theirs.fileno(), self._messages.fileno(), variables)
            except OSError as error:
                raise WorkerDied(str(error)) from None
        with self._sending:
            self._connection = Connection(os.dup(self._pipe.fileno()))

    def _end(self) -> tuple[int | None, str]:
        """Close the pipe, wait for the process, and return its exit code and its last words."""
        with self._sending:
            if self._connection is not None:
                self._connection.close()
            if self._pipe is not None:
                self._pipe.close()
            self._connection = self._pipe = None
        code, last = None, ""
        if self._process is not None:
            code = self._process.wait()
        self._process = None
        if self._messages is not None:
            self._messages.seek(0)
            lines = self._messages.read().decode("utf-8", "replace").strip().splitlines()
            # A crash of the core ends in notes on how to see more of it.
            told = [line for line in lines if not line.startswith("note: ")]
            last = told[-1] if told else ""
            self._messages.close()
        self._messages = None
        return code, last

    def _post_mortem(self) -> str:
        code, last = self._end()
        if code is not None and code < 0:
            name = signal.Signals(-code).name
            message = f"its worker process was killed by {name}"
            if -code == signal.SIGKILL:
                message += " (the system kills processes so when memory runs out)"
        else:
            how = "" if code is None else f" with exit code {code}"
            message = f"its worker process ended{how}"
        return f"{message}: {last}" if last else message


def rebuilt(kind: str, message: str, details: str) -> Exception:
    """A worker's error as an exception of this process.

    Args:
        kind: the class of the error, or "unexpected".
        message: its text.
        details: the traceback in the worker.
    """
    if kind == "OSError":
        return OSError(message)
    known = getattr(errors, kind, None)
    if isinstance(known, type) and issubclass(known, ResilverError):
        return known(message)
    return UnexpectedFailure(message, details)


def _try(action: Callable[[Connection], object], connection: Connection) -> None:
    try:
        action(connection)
    except OSError:
        # The worker is dying; the thread that waits for it says so.
        return


def _drain(tasks: queue.SimpleQueue[_Task | None]) -> None:
    while True:
        try:
            task = tasks.get_nowait()
        except queue.Empty:
            return
        if task is not None:
            task.future.cancel()
