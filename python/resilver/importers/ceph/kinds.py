"""What dumps of a Ceph cluster there are: the command that prints each, and how each is known."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resilver.importers.ceph.binary import is_binary_osdmap
from resilver.importers.ceph.osd_df import is_osd_df
from resilver.importers.ceph.pg_dump import AMOUNTS, is_pg_dump
from resilver.importers.packed import HEAD_BYTES
from resilver.text import CRUSH_MAGIC, decode, parse_json

_BEGIN = re.compile(r"^[ \t\r\n]*(?=\{\s*[\"}]|\[\s*[\]{])", re.MULTILINE)
"""Where a JSON document begins that Ceph prints: at the start of a line, an object or a list of
them. A log's ``[`` and a section of a settings file go on otherwise.
"""


_CRUSH_TEXT = re.compile(rb"^(?:# begin crush map|tunable \w|device \d|type \d)", re.MULTILINE)
"""What stands at the start of a line of the text of a CRUSH map, and of no JSON."""


@dataclass(frozen=True)
class Kind:
    """A kind of dump.

    Attributes:
        name: Its name among ours, that of its file in a bundle.
        command: The words after ``ceph`` that print it; empty where no command does.
        is_it: Whether a JSON document is one.
        needed: Whether a bundle is of no use without it.
        collected: Whether a bundle of a live cluster has it; the others say the same once more.
    """

    name: str
    command: tuple[str, ...]
    is_it: Callable[[Any], bool]
    needed: bool = False
    collected: bool = True

    @property
    def words(self) -> str:
        """It in words, as messages name it."""
        return f"`ceph {' '.join(self.command)}`" if self.command else self.name


def _has(*keys: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, dict) and all(key in value for key in keys)


def _lists(*keys: str) -> Callable[[Any], bool]:
    """Whether a document is a list of objects, of which the first has some keys."""
    return lambda value: isinstance(value, list) and bool(value) and _has(*keys)(value[0])


def _some_node_has(value: Any, key: str) -> bool:
    nodes = value["nodes"]
    return isinstance(nodes, list) and any(isinstance(one, dict) and key in one for one in nodes)


def _is_osd_df_tree(value: Any) -> bool:
    return is_osd_df(value) and _some_node_has(value, "children")


def _is_osd_tree(value: Any) -> bool:
    return _is_osd_df_tree(value) and not _some_node_has(value, "kb")


def _is_osd_metadata(value: Any) -> bool:
    if not _lists("id")(value):
        return False
    return any(isinstance(one, dict) and "osd_objectstore" in one for one in value)


def _is_pg_brief(value: Any) -> bool:
    """Whether groups come without what they hold, which a support archive may have beside a whole
    dump.
    """
    if not is_pg_dump(value) or not isinstance(value, dict):
        return False
    rows = value.get("pg_stats")
    return (
        isinstance(rows, list)
        and bool(rows)
        and not any(isinstance(row, dict) and "stat_sum" in row for row in rows)
    )


def _is_df(value: Any) -> bool:
    return _has("stats", "pools")(value) and "osds" not in value


KINDS = (
    Kind("state", (), _has("stateversion", "osd_dump"), collected=False),
    Kind("report", ("report",), _has("osdmap"), collected=False),
    Kind("config_dump", ("config", "dump"), _lists("section", "name", "value")),
    Kind("osd_metadata", ("osd", "metadata"), _is_osd_metadata),
    Kind(
        "osd_perf",
        ("osd", "perf"),
        lambda value: _has("osd_perf_infos")(value) or _has("osdstats")(value),
    ),
    Kind("balancer_status", ("balancer", "status"), _has("active", "mode")),
    Kind("versions", ("versions",), _has("overall")),
    Kind("df", ("df", "detail"), _is_df),
    Kind("osd_tree", ("osd", "tree"), _is_osd_tree, collected=False),
    Kind("osd_df_tree", ("osd", "df", "tree"), _is_osd_df_tree, collected=False),
    Kind("osd_df", ("osd", "df"), is_osd_df),
    Kind("osd_dump", ("osd", "dump"), _has("pools", "osds"), needed=True),
    Kind("crush", ("osd", "crush", "dump"), _has("buckets", "rules"), needed=True),
    Kind("pg_brief", ("pg", "dump", "pgs_brief"), _is_pg_brief, collected=False),
    Kind("pg_dump", ("pg", "dump"), is_pg_dump, needed=True),
)
"""Every kind of JSON that is known, the first that fits first. A report has the keys of a pg dump
too, and a tree those of an ``osd df``.
"""

KIND_OF = {kind.name: kind for kind in KINDS}
"""Each kind by its name."""

BINARY_OSDMAP = "osdmap"
"""The kind of a binary OSD map, `ceph osd getmap`."""

CRUSH_FILE = "crush_file"
"""The kind of a CRUSH map that is no JSON: compiled, or the text of `crushtool -d`."""


def words_of(name: str) -> str:
    """A kind of dump in words, as messages name it."""
    if name == BINARY_OSDMAP:
        return "binary OSD map"
    return "CRUSH map" if name == CRUSH_FILE else KIND_OF[name].words


def kind_of(value: Any) -> str:
    """The name of the kind that a JSON document is, or empty where it is none of them."""
    return next((kind.name for kind in KINDS if kind.is_it(value)), "")


def looks_like_dump(data: bytes) -> bool:
    """Whether a file that begins so may be a dump: JSON, below lines of other text; or a map."""
    head = data[:HEAD_BYTES]
    if is_binary_osdmap(head) or head.startswith(CRUSH_MAGIC):
        return True
    if b"\0" in head:
        return False
    text = head.decode("utf-8-sig", "replace")
    return _BEGIN.search(text) is not None or is_crush_text(head)


def is_crush_text(data: bytes) -> bool:
    """Whether a file is the text of a CRUSH map, as `crushtool -d` writes it or as one edits it."""
    return _CRUSH_TEXT.search(data[:HEAD_BYTES]) is not None


def binary_kind(data: bytes) -> str:
    """The name of the kind of a file that is no JSON, or empty."""
    head = data[:HEAD_BYTES]
    if is_binary_osdmap(head):
        return BINARY_OSDMAP
    return CRUSH_FILE if head.startswith(CRUSH_MAGIC) or is_crush_text(head) else ""


_KNOWN = re.compile(
    rb'"(?:pg_map|pg_stats|pg_ready|osdmap|cluster_fingerprint|crush_version|buckets|devices|nodes'
    rb'|osd_objectstore|stateversion|section|active|osd_perf_infos)"'
)


def mentions_dump(data: bytes) -> bool:
    """Whether a document that cannot be parsed begins as a dump does, so that it is one cut off."""
    return _KNOWN.search(data[:HEAD_BYTES]) is not None


_GROUP_KEYS = (
    "pgid",
    "state",
    "up",
    "acting",
    "up_primary",
    "acting_primary",
    "stat_sum",
    "mapping_epoch",
    "reported_epoch",
)


def slim(value: dict[str, Any]) -> dict[str, Any]:
    """An object of a dump without what is not read of groups, of which there are very many.

    Args:
        value: Any object, its members slimmed already.
    """
    if "num_bytes" in value:
        return {key: value[key] for key in AMOUNTS if key in value}
    if "stat_sum" in value and "pgid" in value:
        return {key: value[key] for key in _GROUP_KEYS if key in value}
    return value


def parse_dump(data: bytes, path: Path | str) -> Any:
    """The JSON document in what a command printed, stdout and stderr together.

    Args:
        data: The bytes. Before and after the document there may be lines of other text, such as
            ``dumped all``.

    Raises:
        ConfigError: It is no text, or there is no such document in it.
    """
    text = decode(data, path)
    begin = _BEGIN.search(text, 0, HEAD_BYTES)
    return parse_json(text, path, begin=begin.end() if begin else 0, slim=slim)
