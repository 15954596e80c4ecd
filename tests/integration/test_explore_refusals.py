"""The server of a page serves nobody else, and no request ends it or is taken for another."""

import json
import random
import re
import time
from typing import Any

import pytest

from resilver.browser import CoreRequest
from resilver.explore.native import Runs
from resilver.explore.serve import BODY_BYTES_MAX, PageServer
from tests.explore_client import Client, page_of, wait_for

REFUSED: list[tuple[str, dict[str, Any], int]] = [
    ("another host", {"Host": "example.org"}, 403),
    ("another port", {"Host": "127.0.0.1:1"}, 403),
    ("a host without its port", {"Host": "127.0.0.1"}, 403),
    ("a name that leads here", {"Host": "127.0.0.1.example.org:{port}"}, 403),
    ("no host", {"Host": None}, 403),
    ("two hosts", {"Host": "127.0.0.1:{port}\r\nHost: 127.0.0.1:{port}"}, 403),
    ("another origin", {"Origin": "http://example.org"}, 403),
    ("no origin's", {"Origin": "null"}, 403),
    ("an origin by https", {"Origin": "https://127.0.0.1:{port}"}, 403),
    ("an origin of another port", {"Origin": "http://127.0.0.1:1"}, 403),
    ("another site", {"Sec_Fetch_Site": "cross-site"}, 403),
    ("a neighbour's site", {"Sec_Fetch_Site": "same-site"}, 403),
    ("no token", {"Resilver_Token": None}, 403),
    ("an empty token", {"Resilver_Token": ""}, 403),
    ("another token", {"Resilver_Token": "A" * 43}, 403),
    ("a token of other letters", {"Resilver_Token": "é"}, 403),
    ("a token twice", {"Resilver_Token": "{token}\r\nResilver-Token: {token}"}, 403),
    ("a token in the address", {"path": "/run?token={token}", "Resilver_Token": None}, 403),
    ("the page without a token", {"method": "GET", "path": "/"}, 403),
    ("the page with another", {"method": "GET", "path": "/?token=A"}, 403),
    ("the page with two", {"method": "GET", "path": "/?token={token}&token={token}"}, 403),
    ("another method", {"method": "PUT"}, 405),
    ("a method of none", {"method": "BREW"}, 405),
    ("a question of another page", {"method": "OPTIONS"}, 405),
    ("a run by address", {"method": "GET", "path": "/run?token={token}"}, 405),
    ("a page that is sent", {"path": "/?token={token}"}, 405),
    ("another path", {"path": "/run/"}, 404),
    ("a file", {"method": "GET", "path": "/../../etc/passwd"}, 404),
    ("an address of another server", {"method": "GET", "path": "http://example.org/"}, 404),
    ("no type", {"Content_Type": None}, 415),
    ("a type that needs no leave", {"Content_Type": "text/plain"}, 415),
    ("no length", {"Content_Length": None}, 411),
    ("pieces", {"Transfer_Encoding": "chunked"}, 411),
    ("a length below nothing", {"Content_Length": "-1"}, 400),
    ("no number", {"Content_Length": "0x10"}, 400),
    ("two lengths", {"Content_Length": "2\r\nContent-Length: 3"}, 400),
    ("too much", {"Content_Length": str(BODY_BYTES_MAX + 1)}, 413),
    ("far too much", {"Content_Length": "9" * 5000}, 413),
    ("less than it says", {"Content_Length": "1000"}, 400),
    ("no JSON", {}, 400),
]  # fmt: skip


@pytest.mark.parametrize(("what", "changes", "status"), REFUSED, ids=[one[0] for one in REFUSED])
def test_nothing_but_its_page_is_served(
    client: Client, server: PageServer, what: str, changes: dict[str, Any], status: int
) -> None:
    """Each differs in one thing from a request that is answered, and is told why it is not."""
    filled = {
        name: value and value.format(port=client.port, token=client.token)
        for name, value in changes.items()
    }
    found = client.sent(client.head(**({"Content_Length": "2"} | filled)) + b"{]")
    assert found.status == status
    said = json.loads(found.body)
    assert said["class"] == "config" and said["message"]
    assert client.token not in found.body.decode()
    assert ("Allow" in found.headers) == (status == 405)
    assert server.runs.live == 0


def test_a_request_by_every_good_header_is_answered(client: Client, quick: CoreRequest) -> None:
    """So that none of the refused ones was refused for what they share."""
    body = quick.to_json().encode()
    for host in ("127.0.0.1", "localhost"):
        name = f"{host}:{client.port}"
        found = client.asked(
            body, Host=name, Origin=f"http://{name}", Sec_Fetch_Site="same-origin",
            Content_Type="application/json; charset=utf-8",
        )  # fmt: skip
        assert found.status == 200 and b'"done"' in found.body


def malformed(draw: random.Random, client: Client, good: bytes) -> tuple[bytes, bool]:
    """Bytes that are no good request, of one of many kinds, and whether they are whole."""
    head = client.head(Content_Length=str(len(good)))
    deep = "[" * draw.randrange(1, 200_000)
    huge = "9" * draw.randrange(1, 6000)
    inputs = [deep, huge, f'{{"seed":{huge}}}', f'{{"seed":1e{huge}}}', '{"seed":-0.0}', "null"]
    request = {"kind": draw.choice(["system", "cluster"]), "input": draw.choice(inputs), "maps": []}
    bodies = [
        deep.encode(),
        huge.encode(),
        f'{{"kind":{deep}'.encode(),
        f'{{"kind":"system","input":"","maps":[{huge}]}}'.encode(),
        draw.randbytes(draw.randrange(500)),
        good[: draw.randrange(len(good))],
        json.dumps(request).encode(),
    ]
    body = draw.choice(bodies)
    whole = client.head(Content_Length=str(len(body))) + body
    broken = bytearray(head)
    for _ in range(draw.randrange(1, 9)):
        broken[draw.randrange(len(broken))] = draw.randrange(256)
    lengths = ["-5", "1e3", huge, "+2", " ", "٣", str(len(body) + draw.randrange(1, 1000))]
    kinds = [
        draw.randbytes(draw.randrange(1, 2000)),
        bytes(broken),
        head[: draw.randrange(1, len(head))],
        whole,
        whole,
        whole,
        client.head(Content_Length=draw.choice(lengths)) + body,
        head.replace(b"\r\n", draw.choice([b"\n", b"\r", b"\r\n\r\n", b"\0"])),
        head[:-2] + b"X: y\r\n" * draw.choice([1, 99, 200]) + b"\r\n" + body,
        head[:-2] + b"X: " + b"y" * draw.randrange(200_000) + b"\r\n\r\n",
        b"GET /" + b"a" * draw.randrange(200_000),
        head.replace(b"HTTP/1.1", draw.choice([b"HTTP/9.9", b"HTTP/", b"", b"HTTP/1.1.1", b"FTP"])),
    ]
    content = draw.choice(kinds)
    return content, content is whole


def test_a_thousand_malformed_requests_are_survived(
    client: Client, server: PageServer, told: list[str], quick: CoreRequest
) -> None:
    """Each is answered, none as a defect; a good run after them comes to what it came to before."""
    before = client.run(quick)[-1]["digest"]
    draw, good = random.Random(21), quick.to_json().encode()
    found: dict[int, int] = {}
    for _ in range(1000):
        content, is_whole = malformed(draw, client, good)
        answer = client.sent(content, is_whole)
        found[answer.status] = found.get(answer.status, 0) + 1
        # What names no version of HTTP is answered without a head.
        assert answer.status or answer.body.startswith(b'{"class"'), content[:200]
        if answer.status == 200:
            assert b'"failed"' in answer.body, content[:200]
    assert told == []
    assert {200, 400, 403, 414, 431} <= set(found) and 500 not in found, found
    assert client.run(quick)[-1]["digest"] == before
    wait_for(lambda: server.runs.live == 0)


def test_who_sends_nothing_more_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request that is too slow is refused by the time it takes in all, not by each byte's."""
    monkeypatch.setattr("resilver.explore.serve.SECONDS_MAX", 0.6)
    told: list[str] = []
    with PageServer(page_of, 0, told.append, Runs(1)) as server:
        client = Client.of(server)
        began = time.monotonic()
        with client.connect() as silent, client.connect() as slow:
            silent.sendall(client.head(Content_Length="100"))
            with pytest.raises(OSError):
                for byte in client.head():
                    slow.sendall(bytes([byte]))
                    time.sleep(0.1)
            assert time.monotonic() - began < 10 < 0.1 * len(client.head())
            assert silent.recv(100).startswith(b"HTTP/1.1 408 ")
        with client.connect() as half:
            # Nothing of the request is known when its first line does not end.
            half.sendall(b"GET / HT")
            assert half.recv(100).startswith(b"HTTP/1.1 408 ")
        for line in (b"\x00\xff\xfe no HTTP\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"BREW /\r\n\r\n"):
            with client.connect() as other:
                other.sendall(line)
                assert re.match(rb"HTTP/1.1 (400|403|505) ", other.recv(100)), line
    assert told == []


def test_more_connections_than_there_is_room_for_are_closed(
    client: Client, quick: CoreRequest
) -> None:
    """64 that say nothing leave no place for another until one of them goes."""
    connections = [client.connect() for _ in range(64)]
    time.sleep(0.3)
    with client.connect() as beyond:
        assert beyond.recv(1) == b""
    for connection in connections:
        connection.close()

    def is_answered() -> bool:
        try:
            return client.run(quick)[-1]["state"] == "done"
        except (AssertionError, OSError):
            return False

    wait_for(is_answered)
