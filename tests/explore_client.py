"""A client of the server of a page: requests as bytes, and answers by frames."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from resilver.browser import CoreRequest, cluster_request, system_request
from resilver.explore.serve import PageServer
from tests.browser.core_cases import demo
from tests.unit.what_if_clusters import prepared

SECONDS = 20.0
"""Within this much a run is gone that nobody waits for, on a machine that is busy."""

PAGE = "<!doctype html><title>{token}</title><p>{path}"


def page_of(token: str, path: str) -> str:
    """A page that says what it was given."""
    return PAGE.format(token=token, path=path)


@dataclass(frozen=True)
class Response:
    """What a server said: the status 0 where it was no HTTP."""

    status: int
    headers: dict[str, str]
    body: bytes

    @classmethod
    def of(cls, content: bytes) -> Response:
        """Read a whole response."""
        head, _, body = content.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        if not first.startswith("HTTP/1.1 "):
            return cls(0, {}, content)
        pairs = (line.partition(": ") for line in lines)
        return cls(int(first.split()[1]), {name: value for name, _, value in pairs}, body)


@dataclass(frozen=True)
class Client:
    """Who talks to a server.

    Attributes:
        port: The server's port.
        token: Its token.
    """

    port: int
    token: str

    @classmethod
    def of(cls, server: PageServer) -> Client:
        """A client who was told the server's address."""
        return cls(server.port, server.token)

    def connect(self, seconds: float = 20.0) -> socket.socket:
        """Open a connection."""
        return socket.create_connection(("127.0.0.1", self.port), seconds)

    def sent(self, content: bytes, waits: bool = False) -> Response:
        """What is answered to these bytes; who waits for a run keeps its side open."""
        with self.connect() as connection:
            connection.sendall(content)
            if not waits:
                connection.shutdown(socket.SHUT_WR)
            return Response.of(b"".join(iter(lambda: connection.recv(65536), b"")))

    def head(self, method: str = "POST", path: str = "/run", **headers: str | None) -> bytes:
        """The head of a good request, with other headers, or without those that are None."""
        all_headers = {
            "Host": f"127.0.0.1:{self.port}",
            "Resilver-Token": self.token,
            "Content-Type": "application/json",
        } | {name.replace("_", "-"): value for name, value in headers.items()}
        lines = [f"{name}: {value}" for name, value in all_headers.items() if value is not None]
        return "\r\n".join([f"{method} {path} HTTP/1.1", *lines, "", ""]).encode()

    def asked(self, body: bytes, **headers: str | None) -> Response:
        """What is answered to a body."""
        length: dict[str, str | None] = {"Content_Length": str(len(body))}
        return self.sent(self.head(**(length | headers)) + body, waits=True)

    def begin(self, request: CoreRequest) -> socket.socket:
        """A connection on which a run was asked; the caller closes it."""
        body = request.to_json().encode()
        connection = self.connect()
        connection.sendall(self.head(Content_Length=str(len(body))) + body)
        return connection

    def run(self, request: CoreRequest) -> list[dict[str, Any]]:
        """The headers of all frames that a run answers with."""
        with self.begin(request) as connection:
            return list(headers(connection))


def headers(connection: socket.socket) -> Iterator[dict[str, Any]]:
    """The headers of the frames that come, to the end of the connection."""
    with connection.makefile("rb") as file:
        assert file.readline() == b"HTTP/1.1 200 OK\r\n"
        while file.readline() != b"\r\n":
            pass
        while length := file.read(4):
            yield header(file.read(int.from_bytes(length, "little")))


def header(answer: bytes) -> dict[str, Any]:
    """The header of an answer."""
    length = int.from_bytes(answer[:4], "little")
    found: dict[str, Any] = json.loads(answer[4 : 4 + length])
    return found


def quick_request() -> CoreRequest:
    """A run of some hundredths of a second."""
    return cluster_request(prepared(fail="osd.3"))


def long_request() -> CoreRequest:
    """Minutes: a server of 256 GiB by pieces of 4 KiB."""
    run = demo(
        population={"file_size": "8 MiB", "bytes_per_server": "256 GiB"},
        recovery={"pipeline_buffer": "4 KiB"},
    )
    return system_request(run.system, run.seed)


def wait_for(holds: Callable[[], bool], seconds: float = SECONDS) -> None:
    """Wait until something holds, which must come."""
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until, f"it did not come within {seconds:g} s"
        time.sleep(0.01)
