"""Files that are either whole or absent, whatever moment the process or the machine stops."""

from __future__ import annotations

import contextlib
import hashlib
import os
import zlib
from collections.abc import Callable
from pathlib import Path

from resilver.text import KEPT_DIGITS, KEPT_FOLDER, name_of, read_bytes

KEPT_BYTES_MAX = 16 * 2**20
"""The most bytes of the compressed copy of an input in a run folder."""

_PACKED_AT_ONCE = 2**22

# Everything unfinished carries this prefix, so that the next start can remove what a killed process
# left behind and no reader mistakes it for a result.
TEMPORARY_PREFIX = ".unfinished-"


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file's bytes.

    Returns:
        64 hexadecimal digits.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sync_file(path: Path) -> None:
    """Force one file's bytes to its device.

    Args:
        path: a file, or a folder (which forces the names in it).
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(path: Path) -> None:
    """Force the names in a folder to its device, where the file system can do that."""
    # Some network file systems refuse to sync a folder; their renames are durable on their own.
    with contextlib.suppress(OSError):
        sync_file(path)


def replace_file(path: Path, write: Callable[[Path], object], *, last: bool = True) -> None:
    """Write a file under a temporary name and rename it over the final one.

    Args:
        write: writes the whole content to the path it is given.
        last: whether the name is forced to its device too; else another file of the folder follows.
    """
    temporary = path.with_name(f"{TEMPORARY_PREFIX}{path.name}-{os.getpid()}")
    try:
        write(temporary)
        sync_file(temporary)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if last:
        sync_folder(path.parent)


def replace_text(path: Path, text: str) -> None:
    """Write a UTF-8 text file through a temporary name."""
    replace_file(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))


def keep_input(path: Path, folder: Path, most: int = KEPT_BYTES_MAX) -> str:
    """Copy a file that a study read into its run folder, compressed and named by its content.

    Args:
        path: the file; or the folder of a cluster's dumps, of which an archive is made.
        most: the most bytes of a compressed copy; of a larger file there is none.

    Returns:
        What stands for the file in the folder's study, relative to the folder. Where there is no
        copy, reading it tells by which hash the file is known.

    Raises:
        OSError: the folder cannot be written.
    """
    if path.is_dir():
        data = _packed_folder(path)
        called = f"{path.resolve().name}.tar"
    elif path.is_file():
        data = read_bytes(path)
        called = name_of(path).removesuffix(".gz")
    else:
        # What comes from a pipe was there once.
        return str(path)
    digest = hashlib.sha256(data).hexdigest()[:KEPT_DIGITS]
    name = f"{KEPT_FOLDER}/{digest}-{called}"
    copy = folder / f"{name}.gz"
    if copy.exists():
        return f"{name}.gz"
    # No time stands in it, so that equal inputs are equal files.
    packer = zlib.compressobj(6, zlib.DEFLATED, wbits=31)
    packed = bytearray()
    for first in range(0, len(data), _PACKED_AT_ONCE):
        packed += packer.compress(data[first : first + _PACKED_AT_ONCE])
        if len(packed) > most:
            return name
    packed += packer.flush()
    if len(packed) > most:
        return name
    copy.parent.mkdir(exist_ok=True)
    replace_file(copy, lambda temporary: temporary.write_bytes(packed))
    return f"{name}.gz"


def _packed_folder(path: Path) -> bytes:
    """The archive of the dumps of a cluster in a folder, the one input that is a folder."""
    from resilver.importers.ceph.dumps import Dumps, pack

    return pack(Dumps.read(path, keep=True).files, bytes)
