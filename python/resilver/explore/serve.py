"""A page whose runs the native core makes: one page on this machine alone, behind a token."""

from __future__ import annotations

import hmac
import json
import secrets
import select
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from io import BufferedReader, RawIOBase
from socketserver import TCPServer, ThreadingMixIn
from typing import Any, NoReturn
from urllib.parse import parse_qs

from resilver.browser import CoreRequest
from resilver.errors import ConfigError, Interrupted, show
from resilver.explore.encoding import told
from resilver.explore.native import Runs
from resilver.study.interrupt import InterruptWatch

ADDRESS = "127.0.0.1"
RUN_PATH = "/run"
TOKEN_HEADER = "Resilver-Token"
BODY_BYTES_MAX = 256 * 2**20
SECONDS_MAX = 30.0
"""How long a request may take to come, and a part of an answer to be taken."""

_PORT_MIN, _PORT_MAX = 1024, 65535
_NAMES = (ADDRESS, "localhost")
_CONNECTIONS_MAX = 64
_LINE_BYTES_MAX = 65536
_POLL_SECONDS = 0.1
_LEFT_SECONDS, _LEFT_BYTES = 1.0, 16 * 2**20
"""How much of a refused request is read to its end, so that its sender hears the refusal."""

# The page has a policy of its own for what is in it; here is what only a header can say, and that
# it asks nobody but this server.
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "connect-src 'self' data: blob:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; object-src 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Connection": "close",
}


def serve(make_page: Callable[[str, str], str], port: int, tell: Callable[[str], None]) -> NoReturn:
    """Serve a page until Ctrl-C.

    Args:
        make_page: Makes the page's HTML of the token and of the path that its runs are asked at.
        port: The port on 127.0.0.1; 0 is any that is free.
        tell: Told one line with the page's address.

    Raises:
        ConfigError: The port cannot be had.
        Interrupted: Ctrl-C ended it; its runs are ended too.
    """
    with InterruptWatch() as watch, PageServer(make_page, port, tell) as server:
        tell(f"{server.address} is the page; Ctrl-C ends it and its runs")
        while server.is_open and not watch.requested:
            time.sleep(_POLL_SECONDS)
    raise Interrupted("the server and its runs were ended")


class PageServer(ThreadingMixIn, TCPServer):
    """Answers requests for one page and its runs, while it is entered.

    Args:
        make_page: Makes the page's HTML of the token and of the path that its runs are asked at.
        port: The port on 127.0.0.1; 0 is any that is free.
        tell: Told of defects.
        runs: What makes the runs.

    Attributes:
        token: What only those know who were told the address.
        runs: What makes the runs.
        page: The page in UTF-8.

    Raises:
        ConfigError: The port cannot be had.
    """

    allow_reuse_address = True
    request_queue_size = _CONNECTIONS_MAX

    def __init__(
        self,
        make_page: Callable[[str, str], str],
        port: int,
        tell: Callable[[str], None],
        runs: Runs | None = None,
    ) -> None:
        if port != 0 and not _PORT_MIN <= port <= _PORT_MAX:
            rule = f"a port is {_PORT_MIN} to {_PORT_MAX}, or 0 for any that is free"
            raise ConfigError(rule, "choose another", "--port", show(port))
        try:
            super().__init__((ADDRESS, port), _Handler)
        except OSError as error:
            rule = f"it cannot be had ({error.strerror})"
            raise ConfigError(rule, "choose another", "--port", show(port)) from None
        self.token = secrets.token_urlsafe(32)
        self.tell = tell
        try:
            self.page = make_page(self.token, RUN_PATH).encode()
        except BaseException:
            self.server_close()
            raise
        self.runs = runs or Runs()
        self._places = threading.BoundedSemaphore(_CONNECTIONS_MAX)
        self._connections: set[socket.socket] = set()
        self._listener = threading.Thread(target=self.serve_forever, args=(_POLL_SECONDS,))

    @property
    def port(self) -> int:
        """The port that it has."""
        port: int = self.server_address[1]
        return port

    @property
    def authorities(self) -> tuple[str, ...]:
        """What requests may call this server."""
        return tuple(f"{name}:{self.port}" for name in _NAMES)

    @property
    def address(self) -> str:
        """Where the page is."""
        return f"http://{self.authorities[0]}/?token={self.token}"

    @property
    def is_open(self) -> bool:
        """Whether it takes requests."""
        return self._listener.is_alive()

    def __enter__(self) -> PageServer:
        """Begin to take requests."""
        self._listener.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End all runs and connections, and wait until none is left."""
        self.shutdown()
        self.runs.end()
        for connection in list(self._connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self.server_close()
        self.runs.close()
        self._listener.join()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Have a thread answer a connection, unless there are too many."""
        if not self._places.acquire(blocking=False):
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except RuntimeError:
            # The machine has no thread more.
            self._places.release()
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer a connection."""
        self._connections.add(request)
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._connections.discard(request)
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Leave a connection that ended early; tell of a defect."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            self.tell(f"unexpected {type(error).__name__}: {error}; this is a defect of resilver")


class _Refused(Exception):
    """A request that is not answered, with the status and why."""

    def __init__(self, status: HTTPStatus, message: str, **headers: str) -> None:
        super().__init__(message)
        self.status = status
        self.headers = headers


class _Timed(RawIOBase):
    """What a connection sends, as long as it takes no longer than it may."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._until = time.monotonic() + SECONDS_MAX

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._connection.settimeout(left)
        return self._connection.recv_into(buffer)


class _Handler(BaseHTTPRequestHandler):
    """Answers the one request of a connection."""

    server: PageServer
    protocol_version = "HTTP/1.1"
    # What is refused before its first line is read, or is no HTTP, is answered in HTTP too.
    default_request_version = request_version = protocol_version
    requestline = command = ""

    def handle(self) -> None:
        """Read the request and answer it, whatever it is."""
        self.rfile = BufferedReader(_Timed(self.connection))
        self.close_connection = True
        self._has_begun = False
        try:
            self._read_and_answer()
        except _Refused as refused:
            self._refuse(refused)
        except TimeoutError:
            rule = f"the request took longer than {SECONDS_MAX:g} s to come; send it again"
            self._refuse(_Refused(HTTPStatus.REQUEST_TIMEOUT, rule))
        except ConnectionError:
            # There is nobody left to tell.
            return
        except Exception as error:
            message = f"unexpected {type(error).__name__}: {error}; this is a defect of resilver"
            self.server.tell(message)
            self._refuse(_Refused(HTTPStatus.INTERNAL_SERVER_ERROR, message))

    def _read_and_answer(self) -> None:
        self.raw_requestline = self.rfile.readline(_LINE_BYTES_MAX + 1)
        if not self.raw_requestline:
            return
        if len(self.raw_requestline) > _LINE_BYTES_MAX:
            rule = "the request's first line is too long; open the address that was printed"
            raise _Refused(HTTPStatus.REQUEST_URI_TOO_LONG, rule)
        if not self.parse_request():
            self.send_error(HTTPStatus.BAD_REQUEST)
        self._check_source()
        path, _, query = self.path.partition("?")
        if path == "/":
            self._check_method("GET")
            self._check_token(parse_qs(query).get("token", []))
            self._say(HTTPStatus.OK, "text/html; charset=utf-8", self.server.page)
        elif path == RUN_PATH:
            self._check_method("POST")
            self._check_token(self.headers.get_all(TOKEN_HEADER, []))
            self._run(self._request())
        else:
            raise _Refused(HTTPStatus.NOT_FOUND, f"there is no {show(path)}; open /")

    def _check_source(self) -> None:
        """Refuse what another page, or another name of this machine, has a browser ask."""
        ours = self.server.authorities
        expected = {
            "Host": ours,
            "Origin": tuple(f"http://{one}" for one in ours),
            "Sec-Fetch-Site": ("same-origin", "none"),
        }
        for name, known in expected.items():
            given = self.headers.get_all(name, [])
            if len(given) > 1 or any(one not in known for one in given):
                rule = f"{name} is {' or '.join(known)}; open the address that was printed"
                raise _Refused(HTTPStatus.FORBIDDEN, rule)
        if "Host" not in self.headers:
            raise _Refused(HTTPStatus.FORBIDDEN, f"a request names its Host; add Host: {ours[0]}")

    def _check_method(self, method: str) -> None:
        if self.command != method:
            rule = f"it is asked by {method} alone; use that"
            raise _Refused(HTTPStatus.METHOD_NOT_ALLOWED, rule, Allow=method)

    def _check_token(self, given: list[str]) -> None:
        expected = self.server.token.encode()
        values = [one.encode(errors="replace") for one in given]
        if len(values) != 1 or not hmac.compare_digest(values[0], expected):
            rule = "the token is not this server's; open the address that it printed"
            raise _Refused(HTTPStatus.FORBIDDEN, rule)

    def _request(self) -> CoreRequest:
        """What the body asks."""
        if self.headers.get_content_type() != "application/json":
            rule = "a request is JSON; send it as Content-Type: application/json"
            raise _Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, rule)
        length = self._length()
        if self.headers.get("Expect", "").lower() == "100-continue":
            self.send_response_only(HTTPStatus.CONTINUE)
            self.end_headers()
        content = self.rfile.read(length)
        if len(content) < length:
            rule = f"the request ends after {len(content)} B of {length}; send all of it"
            raise _Refused(HTTPStatus.BAD_REQUEST, rule)
        try:
            return CoreRequest.from_json(content)
        except ConfigError as error:
            raise _Refused(HTTPStatus.BAD_REQUEST, str(error)) from None

    def _length(self) -> int:
        given = self.headers.get_all("Content-Length", [])
        if not given or "Transfer-Encoding" in self.headers:
            rule = "a request says its length; send Content-Length"
            raise _Refused(HTTPStatus.LENGTH_REQUIRED, rule)
        if len(given) > 1 or not (given[0].isascii() and given[0].isdecimal()):
            rule = f"Content-Length = {show(given[0])}: it is one whole number; send that"
            raise _Refused(HTTPStatus.BAD_REQUEST, rule)
        # Python refuses to read numbers of thousands of digits.
        if len(given[0]) > len(str(BODY_BYTES_MAX)) or int(given[0]) > BODY_BYTES_MAX:
            rule = f"a request has {BODY_BYTES_MAX} B at most; ask `resilver` itself"
            raise _Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, rule)
        return int(given[0])

    def _run(self, request: CoreRequest) -> None:
        """Answer by frames, each behind its length, until the run or its reader is gone."""
        self._begin(HTTPStatus.OK, "application/octet-stream", {})
        self.connection.settimeout(SECONDS_MAX)
        with closing(self.server.runs.frames(request)) as frames:
            for frame in frames:
                if self._is_gone():
                    return
                self.wfile.write(len(frame).to_bytes(4, "little") + frame)

    def _is_gone(self) -> bool:
        """Whether the other end was closed, which writing tells only later."""
        readable, _, _ = select.select([self.connection], [], [], 0)
        return bool(readable) and not self.connection.recv(1, socket.MSG_PEEK)

    def handle_expect_100(self) -> bool:
        """Wait with the leave to send until the request is known to be ours."""
        return True

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Refuse what is no request of HTTP; the library calls this."""
        status = HTTPStatus(code)
        words = f"{message or status.phrase}; open the address that was printed in a browser"
        raise _Refused(status, words)

    def _refuse(self, refused: _Refused) -> None:
        """Say why, if the other end still listens and hears no answer yet."""
        if self._has_begun:
            return
        content = json.dumps(told(ConfigError(str(refused)))).encode()
        with suppress(OSError):
            self.connection.settimeout(_LEFT_SECONDS)
            self._say(refused.status, "application/json", content, refused.headers)
            self._read_what_is_left()

    def _read_what_is_left(self) -> None:
        """Take what the other end still sends: to close before that would take the answer back."""
        self.connection.shutdown(socket.SHUT_WR)
        until, left = time.monotonic() + _LEFT_SECONDS, _LEFT_BYTES
        while left > 0 and time.monotonic() < until:
            taken = self.connection.recv(65536)
            if not taken:
                return
            left -= len(taken)

    def _say(
        self,
        status: HTTPStatus,
        type: str,
        content: bytes,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._begin(status, type, {**(headers or {}), "Content-Length": str(len(content))})
        if self.command != "HEAD":
            self.wfile.write(content)

    def _begin(self, status: HTTPStatus, type: str, headers: Mapping[str, str]) -> None:
        self._has_begun = True
        self.send_response(status)
        for name, value in {"Content-Type": type, **_HEADERS, **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def version_string(self) -> str:
        """What the server calls itself: no versions, which are nobody's business."""
        return "resilver"

    def log_message(self, format: str, *values: Any) -> None:
        """Keep still: one line was told at the start."""
