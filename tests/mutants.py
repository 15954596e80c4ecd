"""Files with something changed, as no program wrote them and people send them."""

import json
import random
import re
from collections.abc import Callable
from typing import Any

VALUES: list[Any] = [None, True, 0, -1, 1.5, 1e308, 2**31, 2**63, 2**70, "", "x", "é\u202e", [], {}]
VALUES += [[[8]], {"a": 1}, "__proto__", "1e999", "-0", "osd.999999"]
WORDS = ["inf", "nan", "-inf", "1e999", "1e308", "-1", "0", "1" + "0" * 30, "", '"', "[", "{", "\0"]
WORDS += ["é", "\u202e", "=", ",", ".", "a.b", "true", '"1 TB"', '"-1 s"', '"1e308 TB/s"', "#"]


def mutant(data: bytes, name: str, draw: random.Random) -> bytes:
    """A file with something changed; most changes are those of its form."""
    ways: list[Callable[[bytes, random.Random], bytes]] = [_letters, _lines]
    if name.endswith(".json"):
        ways += [_member] * 6
    elif name.endswith((".toml", ".txt", ".csv")):
        ways += [_number] * 6
    return draw.choice(ways)(data, draw)


def _letters(data: bytes, draw: random.Random) -> bytes:
    made = bytearray(data)
    for _ in range(draw.choice([1, 1, 2, 8])):
        at = draw.randrange(len(made))
        way = draw.randrange(5)
        if way == 0:
            made[at] ^= 1 << draw.randrange(8)
        elif way == 1:
            made[at] = draw.choice([0, 255, 127, draw.randrange(256)])
        elif way == 2:
            del made[at : at + draw.choice([1, 4, 64])]
        elif way == 3:
            made[at:at] = made[at : at + draw.choice([1, 8, 64])]
        else:
            del made[at:]
        if not made:
            return b""
    return bytes(made)


def _lines(data: bytes, draw: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    at, other = draw.randrange(len(lines)), draw.randrange(len(lines))
    way = draw.randrange(3)
    if way == 0:
        del lines[at]
    elif way == 1:
        lines[at:at] = [lines[other]] * draw.choice([1, 2, 50])
    else:
        lines[at], lines[other] = lines[other], lines[at]
    return b"".join(lines)


def _number(data: bytes, draw: random.Random) -> bytes:
    """A number, a word or a text of it becomes another."""
    text = data.decode(errors="surrogateescape")
    found = list(re.finditer(r'"[^"\n]*"|[0-9.]+|\w+', text))
    one = draw.choice(found)
    put = draw.choice([draw.choice(WORDS), draw.choice(found)[0]])
    return (text[: one.start()] + put + text[one.end() :]).encode(errors="surrogateescape")


def _member(data: bytes, draw: random.Random) -> bytes:
    """A value somewhere in a JSON document is taken out, or becomes another."""
    document = json.loads(data)
    node: Any = document
    while True:
        keys = list(node) if isinstance(node, dict) else range(len(node))
        if not keys:
            return b"{}"
        key = draw.choice(list(keys))
        below = node[key]
        if not isinstance(below, dict | list) or not below or draw.random() < 0.1:
            break
        node = below
    if draw.random() < 0.4:
        del node[key]
    else:
        node[key] = draw.choice(VALUES)
    return json.dumps(document).encode()
