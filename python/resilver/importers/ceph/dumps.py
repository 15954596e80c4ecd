"""The dumps of a cluster, collected from files, folders and archives, each told by its content."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import json
import lzma
import re
import tarfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from resilver.errors import ConfigError, PlacementError
from resilver.importers.ceph.binary import dump_binary
from resilver.importers.ceph.kinds import (
    BINARY_OSDMAP,
    CRUSH_FILE,
    KINDS,
    binary_kind,
    kind_of,
    looks_like_dump,
    mentions_dump,
    parse_dump,
    words_of,
)
from resilver.importers.jsonpath import Node
from resilver.importers.packed import packed_files
from resilver.text import name_of, parse_json, refuse


def _zstd(data: bytes) -> bytes:
    import pyarrow

    sink = pyarrow.BufferOutputStream()
    with pyarrow.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


_PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".tar.zst": _zstd,
    # Without a time in it, equal dumps are equal files.
    ".tar.gz": lambda data: gzip.compress(data, mtime=0),
    ".tgz": lambda data: gzip.compress(data, mtime=0),
    ".tar.xz": lzma.compress,
    ".tar.bz2": bz2.compress,
    ".tar": bytes,
}


def packer_of(path: Path) -> Callable[[bytes], bytes]:
    """What compresses a bundle of a name.

    Raises:
        ConfigError: The name is no bundle's.
    """
    for suffix, packer in _PACKERS.items():
        if path.name.lower().endswith(suffix):
            return packer
    known = ", ".join(_PACKERS)
    raise ConfigError(
        f"a bundle ends in one of {known}", "end its name so", "--output", f'"{path}"'
    )


def pack(files: Mapping[str, bytes], packer: Callable[[bytes], bytes]) -> bytes:
    """An archive of files in memory: the same bytes for the same files, at any time, by anyone.

    Args:
        files: The bytes of each, by name.
        packer: What compresses it; see `packer_of`.
    """
    sink = io.BytesIO()
    with tarfile.open(fileobj=sink, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name in sorted(files):
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(files[name]), 0o644
            archive.addfile(info, io.BytesIO(files[name]))
    return packer(sink.getvalue())


_STATE_PARTS = {
    "osd_dump": "osd_dump",
    "pg_dump": "pg_dump",
    "osd_df_dump": "osd_df",
    "osd_df_tree_dump": "osd_df_tree",
    "df_dump": "df",
    "crush_dump": "crush",
    "versions": "versions",
}
"""What TheJJ's ceph-balancer keeps (`placementoptimizer.py gather`): its keys, and our kinds."""


@dataclass(frozen=True)
class Dump:
    """One dump.

    Attributes:
        kind: The name of its kind.
        node: The document.
        sha256: The hash of its bytes; empty of a part of another dump.
        label: The name of the file it came from, as a message may show it.
    """

    kind: str
    node: Node
    sha256: str
    label: str


@dataclass
class Dumps:
    """The dumps of one cluster, one of each kind.

    Attributes:
        path: Where they came from.
        found: Each, by the name of its kind.
        alone: Whether they are one plain file, and no folder or archive.
        named: The kinds of which the one to use was named beside the others.
        files: The bytes of each file that a dump came from, by what a bundle calls it; filled on
            demand.
    """

    path: Path
    found: dict[str, Dump] = field(default_factory=dict)
    alone: bool = False
    named: set[str] = field(default_factory=set)
    files: dict[str, bytes] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path, *, with_crush: bool = True, keep: bool = False) -> Dumps:
        """Read what a file, a folder or an archive holds.

        Args:
            with_crush: Whether the CRUSH map in a binary OSD map is wanted.
            keep: Whether the bytes of the files are kept.

        Raises:
            ConfigError: It cannot be read, holds no dump, or two different ones of a kind.
        """
        dumps = cls(path)
        for name, data in packed_files(path, looks_like_dump):
            dumps.alone = not name
            dumps.take(name, data, with_crush=with_crush, keep=keep)
        if not dumps.found:
            dumps._refuse_nothing()
        return dumps

    def take(self, name: str, data: bytes, *, with_crush: bool = True, keep: bool = False) -> None:
        """Take in what a file holds; nothing where it is no dump.

        Args:
            name: Its name, for messages; empty for the one file that was named.
            data: Its bytes.
            with_crush: Whether the CRUSH map in a binary OSD map is wanted.
            keep: Whether the bytes are kept.

        Raises:
            ConfigError: It cannot be read, or is another one of a kind.
        """
        kinds = []
        for dump in _dumps_in(data, self.path, name, with_crush):
            self.add(dump)
            kinds.append(dump.kind)
        if keep and kinds:
            # A file of several dumps is a state, or a binary map with its CRUSH map.
            plain = "state" if kinds[0] == "osd_dump" and len(kinds) > 1 else kinds[0]
            suffix = ".bin" if binary_kind(data) else ".json"
            self.files[f"{plain}{suffix}"] = data

    def add(self, dump: Dump) -> None:
        """Take a dump in.

        Raises:
            ConfigError: There is another one of its kind: nothing says which of them is meant.
        """
        other = self.found.setdefault(dump.kind, dump)
        if (
            other is not dump
            and other.sha256 != dump.sha256
            and other.node.value != dump.node.value
        ):
            refuse(
                self.path,
                f"it holds two of {words_of(dump.kind)}, {other.label} and {dump.label}, which "
                "differ",
                "leave one, of the same time as the others",
            )

    def put(self, dump: Dump) -> None:
        """Take a dump in that was named, in place of another of its kind."""
        self.found[dump.kind] = dump
        self.named.add(dump.kind)

    def get(self, *kinds: str) -> Node | None:
        """The document of the first of some kinds that is there, or None."""
        for kind in kinds:
            if kind in self.found:
                return self.found[kind].node
        return None

    @property
    def listing(self) -> tuple[tuple[str, str], ...]:
        """(kind, name of its file) of each, by kind."""
        return tuple((kind, self.found[kind].label) for kind in sorted(self.found))

    def digest(self) -> str:
        """A hash of all: of a single file its own; of several, that of their hashes by kind.

        So a folder, and an archive of it under whatever names, are the same cluster.
        """
        hashes = [self.found[kind].sha256 for kind in sorted(self.found)]
        hashes = [one for one in hashes if one]
        if len(hashes) == 1:
            return hashes[0]
        return hashlib.sha256(" ".join(hashes).encode()).hexdigest()

    def _refuse_nothing(self) -> None:
        commands = ", ".join(kind.words for kind in KINDS if kind.needed)
        refuse(
            self.path,
            "none of the files in it is a dump of a Ceph cluster",
            f"put in what {commands} print with `-f json`",
        )


def _dumps_in(data: bytes, path: Path, name: str, with_crush: bool) -> Iterator[Dump]:
    """The dumps of one file; none where it is something else."""
    place = f"{path}, {name}" if name else str(path)
    label = name or name_of(path)
    sha256 = hashlib.sha256(data).hexdigest()
    binary = binary_kind(data)
    if binary:
        if binary == BINARY_OSDMAP:
            yield from _of_binary(data, place, sha256, label, with_crush)
        else:
            yield Dump(CRUSH_FILE, crush_node(data, place), sha256, label)
        return
    try:
        value = parse_dump(data, place)
    except ConfigError:
        # What a support archive holds beside dumps need not be whole.
        if name and not mentions_dump(data):
            return
        raise
    kind = kind_of(value)
    if not kind and value == [] and "config" in name:
        # What an empty list is its content cannot tell: nothing is configured.
        kind = "config_dump"
    if kind == "state":
        yield from _of_state(value, place, sha256, label)
    elif kind or not name:
        yield Dump(kind, Node(value, "", place), sha256, label)


def _of_state(value: dict[str, Any], place: str, sha256: str, label: str) -> Iterator[Dump]:
    for key, kind in _STATE_PARTS.items():
        if key in value:
            # Each part stands for itself in the hash of all.
            part = hashlib.sha256(f"{sha256} {key}".encode()).hexdigest()
            yield Dump(kind, Node(value[key], key, place), part, label)


def _of_binary(
    data: bytes, place: str, sha256: str, label: str, with_crush: bool
) -> Iterator[Dump]:
    text, compiled = dump_binary(data, place, with_crush=with_crush)
    yield Dump(BINARY_OSDMAP, Node(parse_json(text, place), "", place), sha256, label)
    if compiled:
        yield Dump(CRUSH_FILE, crush_node(compiled, place), "", label)


def crush_node(data: bytes, place: str) -> Node:
    """A CRUSH map that is no JSON, as the object that `ceph osd crush dump` prints."""
    from resilver.crush import CrushMap

    return Node(CrushMap.parse(data, place).document(), "", place)


def completed(crushmap: Node) -> Node:
    """A CRUSH map as the core reads it, in which nothing is missing.

    Raises:
        ConfigError: It is not what Ceph writes.
    """
    from resilver.crush import CrushMap

    where = f"{crushmap.file}: {crushmap.path}" if crushmap.path else crushmap.file
    try:
        document = CrushMap.from_json(json.dumps(crushmap.value)).document()
    except PlacementError as error:
        # The core counts lines and columns in JSON that was written for it.
        refuse(where, re.sub(r" at line \d+ column \d+$", "", str(error)))
    listed = {one["id"] for one in crushmap.value.get("devices", ())}
    document["devices"] = [one for one in document["devices"] if one["id"] in listed]
    return Node(document, crushmap.path, crushmap.file)
