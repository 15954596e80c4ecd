"""The command as a user starts it: its words, its folder, its surroundings, a process of its own.

Half of what a small command costs is the interpreter's start and its imports. One process a test
worker does both once, and each command is a fork of it: it gets the words, the folder, the
variables and the descriptors of its caller, and ends as an interpreter ends. What an interpreter
reads when it starts (`PYTHON...` variables, the seed of its hashes) is the first process's, so a
test of those starts one of its own.
"""

import atexit
import contextlib
import functools
import gc
import importlib
import io
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any, NoReturn

from pydantic import BaseModel

from resilver.study.fork_server import WITHOUT_THREADS

SERVER = "import sys; from tests.front_door import serve; serve(sys.argv[1])"

STARTED = [sys.executable, "-c", "from resilver.cli import main; main()"]
"""The command in an interpreter of its own."""

# Isolated and without `site`, a client is there in a few milliseconds. It hands over its own
# descriptors, so that pipes and redirections of a shell are the command's.
CLIENT = """#!{python} -ISs
import json, os, socket, sys
door = socket.socket(socket.AF_UNIX)
door.connect({path!r})
request = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
socket.send_fds(door, [b"\\0"], [0, 1, 2])
door.sendall(request)
door.shutdown(socket.SHUT_WR)
words = door.makefile().read().split()
code = int(words[1])
os._exit(code if code >= 0 else 128 - code)
"""


def environment(**variables: str) -> dict[str, str]:
    """This process's variables, by which another interpreter finds the same packages."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **variables}


def process(
    *words: str, cwd: Path | None = None, env: dict[str, str] | None = None, timeout: float = 110
) -> subprocess.CompletedProcess[str]:
    """Run a program, by default with `environment`; answer its exit code and what it wrote."""
    asked: dict[str, Any] = {"cwd": cwd, "env": env or environment(), "timeout": timeout}
    return subprocess.run(words, capture_output=True, text=True, **asked)


def processor_seconds() -> float:
    """What this process has taken, with all below it, those that have ended among them."""
    ticks, processes = 0, [os.getpid()]
    for process in processes:
        with contextlib.suppress(OSError):
            folder = Path(f"/proc/{process}")
            ticks += sum(map(int, (folder / "stat").read_text().rpartition(")")[2].split()[11:15]))
            for children in folder.glob("task/*/children"):
                processes += map(int, children.read_text().split())
    return ticks / os.sysconf("SC_CLK_TCK") or sum(os.times()[:4])


@functools.cache
def _door() -> Path:
    """Start the first process; return the folder of its socket and of its client, `resilver`."""
    # A socket's path has about a hundred letters at most, which a test's folder may exceed.
    folder = tempfile.TemporaryDirectory(prefix="resilver-door-")
    path = Path(folder.name) / "socket"
    client = Path(folder.name) / "resilver"
    client.write_text(CLIENT.format(python=sys.executable, path=str(path)), encoding="utf-8")
    client.chmod(0o755)
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(path)],
        env=environment(**WITHOUT_THREADS),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert server.stdin is not None and server.stdout is not None
    assert server.stdout.readline() == b"open\n", "the first process did not start"

    def close() -> None:
        server.communicate()
        folder.cleanup()

    atexit.register(close)
    return Path(folder.name)


def shell_environment() -> dict[str, str]:
    """Variables of a shell in which `resilver` is the command."""
    path = [str(_door()), str(Path(sys.executable).parent), os.environ["PATH"]]
    return environment(PATH=os.pathsep.join(path))


def command(
    *words: object, cwd: Path | None = None, timeout: float = 110
) -> subprocess.CompletedProcess[str]:
    """Run `resilver` with these words; answer its exit code and what it wrote.

    Args:
        words: the words after `resilver`.
        cwd: its folder, by default this process's.
        timeout: seconds after which it is killed and `subprocess.TimeoutExpired` is raised.
    """
    arguments = [str(word) for word in words]
    request = json.dumps([arguments, str(cwd or Path.cwd()), environment()]).encode()
    with (
        socket.socket(socket.AF_UNIX) as door,
        open(os.devnull, "rb") as nothing,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
    ):
        door.connect(str(_door() / "socket"))
        socket.send_fds(door, [b"\0"], [nothing.fileno(), out.fileno(), err.fileno()])
        door.sendall(request)
        door.shutdown(socket.SHUT_WR)
        answer = door.makefile()
        process = int(answer.readline())
        if not select.select([door], [], [], timeout)[0]:
            os.kill(process, signal.SIGKILL)
            answer.readline()
            raise subprocess.TimeoutExpired(arguments, timeout)
        code = int(answer.readline())
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(io.TextIOWrapper(file, encoding="utf-8").read())
    return subprocess.CompletedProcess(arguments, code, *texts)


def serve(path: str) -> None:
    """Import what commands need, then be forked for each command until our starter is gone."""
    import duckdb  # noqa: F401
    import vl_convert  # noqa: F401

    import resilver
    from resilver.spec.section import Section
    from resilver.study import fork_server
    from resilver.without_pandas import leave_pandas_out

    leave_pandas_out()

    # A command imports what it uses when it uses it, and a fork what its first process has not.
    for module in pkgutil.walk_packages(resilver.__path__, "resilver."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    build_models(Section)
    # What is there stays, and a fork's collector need not look at it, which would copy its pages.
    gc.collect()
    gc.freeze()
    # The commands' workers are forks of one process, as a user's in a notebook are.
    fork_server.begin()
    threads = len(os.listdir("/proc/self/task"))
    assert threads == 1, f"an import started {threads - 1} threads, which a fork would lack"
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(16)
        print("open", flush=True)
        while True:
            ready, _, _ = select.select([listener, 0], [], [])
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG) != (0, 0):
                    pass
            if 0 in ready:
                os._exit(0)
            door, _ = listener.accept()
            with door:
                if os.fork() == 0:
                    listener.close()
                    _attend(door)


def build_models(base: type[BaseModel]) -> None:
    """Make the validators of a model and of those below it, which wait for the first use."""
    for model in base.__subclasses__():
        model.model_rebuild()
        build_models(model)


def _attend(door: socket.socket) -> NoReturn:
    """Fork the command of a request and tell its caller its number and then how it ended."""
    _, descriptors, _, _ = socket.recv_fds(door, 1, 3)
    request = json.loads(b"".join(iter(lambda: door.recv(65536), b"")))
    process = os.fork()
    if process == 0:
        door.close()
        _perform(request, descriptors)
    for descriptor in descriptors:
        os.close(descriptor)
    with contextlib.suppress(BrokenPipeError):
        door.sendall(f"{process}\n".encode())
        ended = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        door.sendall(f"{ended}\n".encode())
    os._exit(0)


def _perform(request: Any, descriptors: list[int]) -> NoReturn:
    """Become the command: surroundings first, then what its console script does."""
    words, folder, variables = request
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8")  # The old one knows another descriptor.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(variables)
    os.chdir(folder)
    sys.argv = ["resilver", *words]
    from resilver.cli import run

    # As an interpreter ends, but for taking its modules apart, which takes longer than a command.
    code = run(sys.argv[1:])
    getattr(threading, "_shutdown")()  # noqa: B009
    getattr(atexit, "_run_exitfuncs")()  # noqa: B009
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            stream.flush()
    os._exit(code)
