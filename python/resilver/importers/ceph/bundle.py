"""A bundle: the dumps of a cluster as one archive, to be kept or sent."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path

from resilver.errors import ConfigError


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
