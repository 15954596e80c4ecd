"""What a node's network moved: `lnetctl stats show` of Lustre's network (LNet).

Counters since the node began, in a form of YAML, without a time (Lustre Operations Manual, "LNet
Statistics"). ``send_length`` and ``recv_length`` are bytes, ``drop_count`` messages without a way.
"""

from __future__ import annotations

import re
from pathlib import Path

from resilver.errors import show
from resilver.importers.log_rows import LogRow
from resilver.text import refuse

_HEAD = "statistics:"
_COUNTER = re.compile(r"\s+(?P<name>\w+):\s+(?P<value>\d{1,20})\s*")
_NEEDED = ("send_count", "recv_count", "send_length", "recv_length")


def is_lnetctl(text: str) -> bool:
    """Whether a text is what `lnetctl stats show` prints."""
    return next((line for line in text.splitlines() if line.strip()), "").strip() == _HEAD


def read_lnetctl(text: str, path: Path) -> tuple[LogRow, str]:
    """What a node sent and received.

    Returns:
        Its row, in which received bytes are read ones; and what was dropped, in words.

    Raises:
        ConfigError: A line is damaged, a counter stands twice, or one is missing.
    """
    found: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.strip() in (_HEAD, "---"):
            continue
        place = f"{path}, line {number}"
        counter = _COUNTER.fullmatch(line)
        if counter is None:
            refuse(place, f"{show(line[:60])} is no counter of lnetctl", "fetch the file again")
        if counter["name"] in found:
            refuse(place, f"{counter['name']} stands twice", "keep the counters of one node")
        found[counter["name"]] = int(counter["value"])
    missing = [name for name in _NEEDED if name not in found]
    if missing:
        refuse(path, f"there is no {missing[0]}", "run lnetctl stats show, and keep all of it")
    row = LogRow(
        "lnet",
        read_bytes=found["recv_length"],
        write_bytes=found["send_length"],
        reads=found["recv_count"],
        writes=found["send_count"],
    )
    dropped = found.get("drop_count", 0)
    return row, f"{dropped:,} messages were dropped" if dropped else ""
