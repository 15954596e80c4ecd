"""IOR's JSON (``-O summaryFormat=JSON``): the same results as in its text.

Source: IOR's source, src/ior-output.c of 3.2 to 4.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from resilver.importers.benchmarks.ior import PROGRAM
from resilver.importers.benchmarks.table import COUNT_MOST, MIB, RATE_MOST, Found, mode_of
from resilver.importers.jsonpath import Node
from resilver.text import parse_json

_NESTED = 3


def is_ior_json(text: str) -> bool:
    """Whether a text is IOR's JSON."""
    return text.lstrip().startswith("{") and '"tests"' in text and '"bwMiB"' in text


def read_ior_json(text: str, path: Path) -> Found:
    """Read IOR's JSON.

    Returns:
        A rate a result.

    Raises:
        ConfigError: It is not JSON, or not IOR's, or has no result.
    """
    found = Found(path, PROGRAM)
    root = Node(parse_json(text, path), "", str(path))
    for test in root.at("tests").items():
        parameters = test.get("Parameters")
        options = test.get("Options")
        processes = None if options is None else options.get("tasks")
        order = None if options is None else options.get("ordering in a file")
        random = order is not None and order.text().startswith("random")
        size = None if parameters is None else parameters.get("transferSize")
        for result in _flat(test.at("Results"), _NESTED):
            access = result.at("access").text()
            if access not in ("write", "read"):
                continue
            bytes_each = (
                size.whole(1, COUNT_MOST)
                if size is not None
                else round(result.at("xferKiB").number(2**-10, COUNT_MOST) * 1024)
            )
            found.add(
                "file system",
                access,
                mode=mode_of(access == "write", random),
                request_bytes=bytes_each,
                clients=None if processes is None else processes.whole(1, COUNT_MOST),
                bytes_per_second=MIB * result.at("bwMiB").number(1e-6, RATE_MOST / MIB),
            )
    return found.whole("IOR wrote no result", "run it again, or give its whole output")


def _flat(node: Node, depth: int) -> Iterator[Node]:
    """The results of a test, which some versions group by repetition."""
    for one in node.items():
        if isinstance(one.value, list) and depth:
            yield from _flat(one, depth - 1)
        else:
            yield one
