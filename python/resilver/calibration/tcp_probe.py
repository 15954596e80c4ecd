"""Round trips over TCP, for a LogGP table of the network between two hosts, or of one with itself.

The client sends, for each message size, one message or several in a row; the server answers once
with a message of the same size when it has them all. What is measured includes the two processes'
work, as a storage server's own includes its.
"""

from __future__ import annotations

import math
import multiprocessing
import socket
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from resilver.calibration.listening import Listener
from resilver.calibration.loggp_fit import Round
from resilver.errors import ConfigError, Interrupted, ResilverError, show
from resilver.units import format_bytes

SIZES = tuple(2**power for power in range(27))
"""1 B to 64 MiB."""
COUNT = 10
"""How many messages follow one another, as netgauge's table has it."""

_MAGIC = b"rsl1"
_REQUEST = struct.Struct("!4sII")
_PATIENCE_SECONDS = 30.0
_BUDGET_SECONDS = 0.25
_ROUNDS = (7, 2000)
_SIZES_LEAST = 2


def measure(address: str, listener: Listener, largest_bytes: int = SIZES[-1]) -> tuple[Round, ...]:
    """Measure the round trips of every size.

    Args:
        address: ``HOST:PORT`` where `serve` runs, or ``loopback`` for this host with itself.

    Returns:
        The shortest round trips by size.

    Raises:
        ConfigError: The address is not one, nothing answers there, or no size is left to measure.
        ResilverError: The connection broke, or the other end is no server of ours.
        Interrupted: Ctrl-C.
    """
    sizes = tuple(size for size in SIZES if size <= largest_bytes)
    if len(sizes) < _SIZES_LEAST:
        rule = f"a table needs {_SIZES_LEAST} sizes, and these are the powers of two from 1 B"
        value = f'"{format_bytes(largest_bytes)}"'
        raise ConfigError(rule, 'such as "1 MiB"', key="--largest", value=value)
    try:
        with _peer(address) as (host, port), _connected(host, port, address) as link:
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            found = []
            for done, size in enumerate(sizes):
                listener.step(f"messages of {size} B", done, len(sizes))
                found.append(_round(link, size))
            return tuple(found)
    except KeyboardInterrupt:
        raise Interrupted("interrupted; nothing of the measurement is kept") from None
    except (OSError, EOFError) as error:
        raise ResilverError(f"the connection to {address} broke: {error}") from error


def serve(address: str, tell: Callable[[str], None]) -> None:
    """Answer measurements until Ctrl-C, one client at a time.

    Args:
        address: ``ADDRESS:PORT`` to listen at.
        tell: Told who connects.

    Raises:
        ConfigError: The address cannot be listened at.
        Interrupted: Ctrl-C.
    """
    host, port = _split(address, "--serve")
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        rule = f"it cannot be listened at: {error}"
        remedy = "use an address of this host and a free port"
        raise ConfigError(rule, remedy, key="--serve", value=show(address)) from None
    with listening:
        tell(f"serving at {address}; measure with --run there, end with Ctrl-C")
        try:
            while True:
                link, peer = listening.accept()
                tell(f"measuring with {peer[0]}")
                # A client that goes away or says something else ends its own measurement only.
                with link, suppress(OSError, EOFError):
                    _answer(link)
        except KeyboardInterrupt:
            raise Interrupted("no longer serving") from None


def _round(link: socket.socket, size: int) -> Round:
    """The shortest round trips of one size, as many as the budget of time allows.

    Other work on the two hosts can only lengthen a round trip, so the shortest is the network's.
    Single messages and bursts take turns, so that a busy spell is not in one of the two alone.
    """
    message, answer = memoryview(bytearray(size)), memoryview(bytearray(size))
    single, burst = math.inf, math.inf
    begin = time.perf_counter()
    for done in range(_ROUNDS[1]):
        if done >= _ROUNDS[0] and time.perf_counter() - begin > _BUDGET_SECONDS:
            break
        single = min(single, _trip(link, message, answer, 1))
        burst = min(burst, _trip(link, message, answer, COUNT))
    return Round(size, COUNT, single, burst)


def _trip(link: socket.socket, message: memoryview, answer: memoryview, count: int) -> float:
    link.sendall(_REQUEST.pack(_MAGIC, len(message), count))
    _read(link, answer[:1])
    start = time.perf_counter()
    for _ in range(count):
        link.sendall(message)
    _read(link, answer)
    return time.perf_counter() - start


def _answer(link: socket.socket) -> None:
    """Serve one client until it leaves."""
    link.settimeout(_PATIENCE_SECONDS)
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    room = memoryview(bytearray(SIZES[-1]))
    while True:
        request = memoryview(bytearray(_REQUEST.size))
        _read(link, request)
        magic, size, count = _REQUEST.unpack(request)
        if magic != _MAGIC or not 0 < size <= SIZES[-1] or not 0 < count <= COUNT:
            return
        # The byte says that the server stands ready, so that its waking is not measured.
        link.sendall(b"\0")
        for _ in range(count):
            _read(link, room[:size])
        link.sendall(room[:size])


def _read(link: socket.socket, into: memoryview) -> None:
    filled = 0
    while filled < len(into):
        received = link.recv_into(into[filled:])
        if received == 0:
            raise EOFError("the other end closed it")
        filled += received


@contextmanager
def _peer(address: str) -> Iterator[tuple[str, int]]:
    """Where to connect to; for the loopback, a server in a process of its own."""
    if address != "loopback":
        yield _split(address, "--run")
        return
    with socket.create_server(("127.0.0.1", 0)) as listening:
        # A process and not a thread, which would share the interpreter with what it measures.
        server = multiprocessing.get_context("spawn").Process(
            target=_serve_one, args=(listening,), daemon=True
        )
        server.start()
        try:
            yield listening.getsockname()[:2]
        finally:
            server.terminate()
            server.join()


def _serve_one(listening: socket.socket) -> None:
    # The parent is told of an interrupt too, and ends this process; one that was killed never
    # connects.
    listening.settimeout(_PATIENCE_SECONDS)
    with suppress(OSError, EOFError, KeyboardInterrupt):
        link, _ = listening.accept()
        with link:
            _answer(link)


@contextmanager
def _connected(host: str, port: int, address: str) -> Iterator[socket.socket]:
    try:
        link = socket.create_connection((host, port), _PATIENCE_SECONDS)
    except (OSError, OverflowError) as error:
        rule = f"nothing answers there: {error}"
        remedy = f"run `resilver calibrate network --serve {address}` there first"
        raise ConfigError(rule, remedy, key="--run", value=show(address)) from None
    with link:
        yield link


def _split(address: str, key: str) -> tuple[str, int]:
    """The host and the port of an address; an IPv6 one stands in brackets."""
    host, separator, port = address.rpartition(":")
    if not separator or not host or not (port.isascii() and port.isdecimal()) or int(port) > 65535:
        remedy = 'write HOST:PORT, such as "10.0.0.7:7077"'
        remedy += ', or "loopback"' if key == "--run" else ""
        raise ConfigError("this is no address", remedy, key=key, value=show(address))
    return host.removeprefix("[").removesuffix("]"), int(port)
