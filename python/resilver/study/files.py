"""Files that are either whole or absent, whatever moment the process or the machine stops."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable
from pathlib import Path

# Everything unfinished carries this prefix, so that the next start can remove what a killed process
# left behind and no reader mistakes it for a result.
TEMPORARY_PREFIX = ".unfinished-"


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file's bytes.

    Args:
        path: the file.

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
    """Force the names in a folder to its device, where the file system can do that.

    Args:
        path: a folder.
    """
    # Some network file systems refuse to sync a folder; their renames are durable on their own.
    with contextlib.suppress(OSError):
        sync_file(path)


def replace_file(path: Path, write: Callable[[Path], None]) -> None:
    """Write a file under a temporary name and rename it over the final one.

    Args:
        path: the final name.
        write: writes the whole content to the path it is given.
    """
    temporary = path.with_name(f"{TEMPORARY_PREFIX}{path.name}-{os.getpid()}")
    try:
        write(temporary)
        sync_file(temporary)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def replace_text(path: Path, text: str) -> None:
    """Write a UTF-8 text file through a temporary name.

    Args:
        path: the final name.
        text: the whole content.
    """
    replace_file(path, lambda temporary: _write_text(temporary, text))


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
