"""Workers as forks of one process that has imported what they need, once for all of them.

An interpreter and its imports take half a second of processor, often more than a worker's run. The
server runs nothing itself and has one thread, so that a fork lacks nothing. Unlike that of Python's
`multiprocessing` it has its starter's search path and none of its files, and is waited for.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from typing import NoReturn

from resilver.study.worker import main
from resilver.without_pandas import leave_pandas_out

# A fork has only the thread that forks, so imports must start none, as BLAS and jemalloc would.
WITHOUT_THREADS = {
    "OPENBLAS_NUM_THREADS": "1",
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
}

# What a run of a study needs, with what it imports only when it uses it.
_IMPORTED = ("resilver.study.perform", "resilver.study.run", "resilver.simulate.result")


class _Server:
    """The fork server, as the process that started it and forks of that know it."""

    def __init__(self) -> None:
        self.messages = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the process
        self.socket, theirs = socket.socketpair()
        code = f"from resilver.study.fork_server import serve; serve({theirs.fileno()})"
        search_path = os.pathsep.join(_search_path())
        # It inherits the mask, so that no Ctrl-C ends it before it ignores them.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", code],
                pass_fds=[theirs.fileno()],
                env={**os.environ, **WITHOUT_THREADS, "PYTHONPATH": search_path},
                stdin=subprocess.DEVNULL,
                stdout=self.messages,
                stderr=self.messages,
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            theirs.close()
        self._starter = os.getpid()
        atexit.register(self.end)

    def end(self) -> None:
        """End it, unless this process is a fork of the one that started it."""
        if os.getpid() == self._starter:
            self._process.kill()
            self._process.wait()


_lock = threading.Lock()
_servers: list[_Server] = []


def begin() -> _Server:
    """The fork server, which is started where there is none; it may not be ready yet."""
    with _lock:
        if not _servers:
            _servers.append(_Server())
        return _servers[0]


class Worker:
    """A worker process, in the folder and with the search path of this process.

    Its umask, niceness and limits are those that this process had when it started the fork server.

    Args:
        connection: the descriptor of its end of the pipe to its pool.
        messages: the descriptor of the file for what it prints.
        environment: all its variables.

    Raises:
        OSError: the fork server does not start; with the last line that it printed.
    """

    def __init__(self, connection: int, messages: int, environment: dict[str, str]) -> None:
        self._lock = threading.Lock()
        self._ended = False
        request = json.dumps([environment, _search_path()]).encode() + b"\n"
        folder = os.open(".", os.O_RDONLY)
        try:
            self._status = _status_of([connection, messages, folder], request)
        finally:
            os.close(folder)
        self._lines = self._status.makefile()
        self.number = int(self._lines.readline())

    def kill(self) -> None:
        """End the process at once, if it has not ended."""
        with self._lock, contextlib.suppress(ProcessLookupError):
            if self._ended:
                return
            ready = select.poll()
            ready.register(self._status, select.POLLIN)
            if not ready.poll(0):
                os.kill(self.number, signal.SIGKILL)

    def wait(self) -> int | None:
        """Wait for its end; return its exit code, negative for a signal, None where unknown."""
        line = self._lines.readline()
        with self._lock:
            self._ended = True
            self._status.close()
        return int(line) if line else None


def _status_of(descriptors: list[int], request: bytes) -> socket.socket:
    """A socket that tells a new worker's number and, at its end, its exit code."""
    for _ in range(2):
        server = begin()
        ours, theirs = socket.socketpair()
        with contextlib.suppress(ConnectionError):
            with theirs:
                socket.send_fds(server.socket, [b"\0"], [*descriptors, theirs.fileno()])
            ours.sendall(request)
            if ours.recv(1, socket.MSG_PEEK):
                return ours
        # It has ended, perhaps killed: another takes its place.
        ours.close()
        server.end()
        with _lock, contextlib.suppress(ValueError):
            _servers.remove(server)
    server.messages.seek(0)
    lines = server.messages.read().decode("utf-8", "replace").strip().splitlines()
    raise OSError(f"no worker process can be started: {lines[-1] if lines else 'it ends at once'}")


def _search_path() -> list[str]:
    return [entry or os.getcwd() for entry in sys.path]


def serve(descriptor: int) -> NoReturn:
    """Be the fork server.

    Args:
        descriptor: of the socket that asks for forks, and closes when nobody will ask any more.
    """
    # Ctrl-C reaches every process of the terminal's group; the pools alone decide what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    leave_pandas_out()
    for module in _IMPORTED:
        importlib.import_module(module)
    # What is there stays, and a fork's collector need not look at it, which would copy its pages.
    gc.collect()
    gc.freeze()
    requests = socket.socket(fileno=descriptor)
    wake_read, wake_write = socket.socketpair()
    wake_write.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake_write.fileno(), warn_on_full_buffer=False)
    statuses: dict[int, socket.socket] = {}
    while True:
        ready, _, _ = select.select([requests, wake_read], [], [])
        if wake_read in ready:
            wake_read.recv(4096)
            _tell_ends(statuses)
        if requests not in ready:
            continue
        byte, descriptors, _, _ = socket.recv_fds(requests, 1, 4)
        if not byte:
            os._exit(0)
        *others, descriptor = descriptors
        status = socket.socket(fileno=descriptor)
        try:
            number = os.fork()
        except OSError as error:
            # The status stays empty, so the pool starts another server.
            sys.exit(str(error))
        if number == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for ours in (requests, wake_read, wake_write, *statuses.values()):
                ours.close()
            _become_worker(others, status)
        for other in others:
            os.close(other)
        statuses[number] = status


def _tell_ends(statuses: dict[int, socket.socket]) -> None:
    """Tell pools the exit codes of workers that have ended."""
    for number, status in list(statuses.items()):
        ended, code = os.waitpid(number, os.WNOHANG)
        if ended:
            with status, contextlib.suppress(OSError):
                status.sendall(f"{os.waitstatus_to_exitcode(code)}\n".encode())
            del statuses[number]


def _become_worker(descriptors: list[int], status: socket.socket) -> NoReturn:
    connection, messages, folder = descriptors
    for stream in (1, 2):
        os.dup2(messages, stream)
    os.fchdir(folder)
    for descriptor in (messages, folder):
        os.close(descriptor)
    with status, status.makefile() as request:
        environment, sys.path[:] = json.loads(request.readline())
        os.environ.clear()
        os.environ.update(environment)
        status.sendall(f"{os.getpid()}\n".encode())
    main(connection)
