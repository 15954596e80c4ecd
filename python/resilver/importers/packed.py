"""The files of a folder or an archive, read into memory one after another.

Nothing is extracted: a name in an archive is shown and never opened, links and devices in it are
passed over, and what unpacks to more than a limit is refused. What something is follows from its
first bytes; names do not matter.
"""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import lzma
import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

from resilver.errors import ConfigError
from resilver.text import INPUT_MAX, name_of, read_bytes, refuse, stands_in_run_folder

UNPACKED_MAX = 4 * 2**30
"""The most bytes that an archive may unpack to: dumps of the largest clusters take a tenth."""

FILES_MAX = 100_000
"""The most files of a folder or an archive that are looked at."""

HEAD_BYTES = 4096
"""How much of a file tells whether it is wanted."""

_CHUNK = 2**20
"""The bytes read at once: what is read is copied, and a file of 1 GiB would be there twice."""

_NAME_SHOWN = 200
_LAYERS_MAX = 3

_ZIP_MAGIC = b"PK\x03\x04"

_BROKEN = (
    EOFError,
    OSError,
    ValueError,
    RuntimeError,  # A zip with a password.
    NotImplementedError,
    lzma.LZMAError,
    zlib.error,
    tarfile.TarError,
    zipfile.BadZipFile,
)


def _zstd(file: IO[bytes]) -> Any:
    import pyarrow

    return pyarrow.CompressedInputStream(pyarrow.PythonFile(file, mode="r"), "zstd")


_PACKERS: dict[bytes, Callable[[IO[bytes]], Any]] = {
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file),
    b"\xfd7zXZ\0": lzma.LZMAFile,
    b"BZh": bz2.BZ2File,
    b"\x28\xb5\x2f\xfd": _zstd,
}
"""What unpacks each compression, by the bytes that it begins with."""


def is_packed(head: bytes) -> bool:
    """Whether a file that begins so is an archive, or compressed."""
    return head.startswith((*_PACKERS, _ZIP_MAGIC)) or _is_tar(head)


def printable(name: str) -> str:
    """A name from outside as a message may show it: without what a terminal would obey."""
    shown = "".join(letter if letter.isprintable() else "\ufffd" for letter in name)
    return shown if len(shown) <= _NAME_SHOWN else f"{shown[:_NAME_SHOWN]}..."


def packed_files(path: Path, is_wanted: Callable[[bytes], bool]) -> Iterator[tuple[str, bytes]]:
    """The files of a folder or an archive, or the one file that a path names.

    Args:
        path: A folder, of which folders below are read too; a tar or zip archive; or any other
            file. Each may be compressed with gzip, xz, bzip2 or zstd.
        is_wanted: Whether a file is, by its first `HEAD_BYTES` bytes. One that is not costs no
            memory.

    Yields:
        The name of each wanted file, for messages, and its bytes. Of a file that is no archive the
        name is empty.

    Raises:
        ConfigError: Something cannot be read, is cut off, or is too large.
    """
    if path.is_dir():
        yield from _of_folder(path, is_wanted)
        return
    with _opened(path) as file:
        try:
            yield from _of_stream(file, path, is_wanted)
        except ConfigError:
            raise
        except _BROKEN as error:
            reason = str(error)[:200] or type(error).__name__
            refuse(
                path,
                f"it cannot be unpacked: {printable(reason)}",
                "it is cut off or damaged; fetch it again",
            )


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    if stands_in_run_folder(path) or not path.exists():
        # What a run folder keeps is checked by its hash; what is not there is refused in words.
        yield io.BytesIO(read_bytes(path))
        return
    try:
        file = path.open("rb")
    except OSError as error:
        refuse(path, f"the file cannot be read: {error.strerror or error}")
    with file:
        yield file


class _Counted(io.RawIOBase):
    """A stream that ends in an error where it holds more than an archive may."""

    def __init__(self, inner: Any, path: Path) -> None:
        self._inner, self._path, self._count = inner, path, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._inner.read(min(len(buffer), _CHUNK))
        buffer[: len(data)] = data
        self._count += len(data)
        if self._count > UNPACKED_MAX:
            refuse(
                self._path,
                f"it unpacks to more than {UNPACKED_MAX >> 30} GiB",
                "give an archive of the dumps alone",
            )
        return len(data)


def _of_stream(
    file: IO[bytes], path: Path, is_wanted: Callable[[bytes], bool]
) -> Iterator[tuple[str, bytes]]:
    with ExitStack() as opened:
        stream = io.BufferedReader(_Counted(file, path), 2**20)
        for _ in range(_LAYERS_MAX):
            # The longest of the signs of a compression has six bytes.
            head = stream.peek(HEAD_BYTES)[:6]
            unpack = next((_PACKERS[sign] for sign in _PACKERS if head.startswith(sign)), None)
            if unpack is None:
                break
            inner = unpack(stream)
            opened.callback(inner.close)
            stream = io.BufferedReader(_Counted(inner, path), 2**20)
        head = stream.peek(HEAD_BYTES)[:HEAD_BYTES]
        if head.startswith(_ZIP_MAGIC):
            whole = io.BytesIO(_read(stream, path, name_of(path)))
            yield from _of_zip(whole, path, is_wanted)
        elif _is_tar(head):
            yield from _of_tar(stream, path, is_wanted)
        else:
            # The one file that was named is read whatever it is: an error about it says more.
            yield "", _read(stream, path, name_of(path))


def _is_tar(head: bytes) -> bool:
    return head[257:262] == b"ustar"


def _of_folder(path: Path, is_wanted: Callable[[bytes], bool]) -> Iterator[tuple[str, bytes]]:
    count = 0
    for folder, below, names in os.walk(path):
        below.sort()
        for name in sorted(names):
            count = _counted(count, path)
            file = Path(folder, name)
            shown = printable(str(file.relative_to(path)))
            try:
                # A pipe would be waited for.
                if not stat.S_ISREG(file.stat().st_mode):
                    continue
                with file.open("rb") as opened:
                    head = opened.read(HEAD_BYTES)
                    if head.startswith(tuple(_PACKERS)):
                        opened.seek(0)
                        yield from _unpacked(opened, head, path, shown, is_wanted)
                    elif is_wanted(head):
                        yield shown, _read(opened, path, shown, head)
            except FileNotFoundError:
                continue  # A link to nowhere.
            except OSError as error:
                if error.errno == errno.ELOOP:
                    continue  # A link to itself.
                refuse(path, f"{shown}: it cannot be read: {error.strerror or error}")


def _of_tar(
    stream: IO[bytes], path: Path, is_wanted: Callable[[bytes], bool]
) -> Iterator[tuple[str, bytes]]:
    count = 0
    with tarfile.open(fileobj=stream, mode="r|", bufsize=2**20) as archive:
        for member in archive:
            count = _counted(count, path)
            file = archive.extractfile(member) if member.isreg() else None
            if file is not None:
                shown = printable(member.name)
                yield from _member(file, member.size, path, shown, is_wanted)


def _of_zip(
    stream: IO[bytes], path: Path, is_wanted: Callable[[bytes], bool]
) -> Iterator[tuple[str, bytes]]:
    count, unpacked = 0, 0
    with zipfile.ZipFile(stream) as archive:
        for info in archive.infolist():
            count = _counted(count, path)
            if info.is_dir():
                continue
            with archive.open(info) as file:
                for name, data in _member(
                    file, info.file_size, path, printable(info.filename), is_wanted
                ):
                    unpacked += len(data)
                    if unpacked > UNPACKED_MAX:
                        refuse(path, f"it unpacks to more than {UNPACKED_MAX >> 30} GiB")
                    yield name, data


def _member(
    file: IO[bytes], size: int, path: Path, shown: str, is_wanted: Callable[[bytes], bool]
) -> Iterator[tuple[str, bytes]]:
    """A file in an archive, where it is wanted; one that is compressed itself is unpacked."""
    head = file.read(HEAD_BYTES)
    if head.startswith(tuple(_PACKERS)):
        if size <= INPUT_MAX:
            packed = io.BytesIO(_read(file, path, shown, head))
            yield from _unpacked(packed, head, path, shown, is_wanted)
        return
    if not is_wanted(head):
        return
    data = _read(file, path, shown, head)
    if len(data) < size:
        refuse(path, f"{shown} is cut off", "fetch the archive again")
    yield shown, data


def _unpacked(
    packed: IO[bytes], sign: bytes, path: Path, shown: str, is_wanted: Callable[[bytes], bool]
) -> Iterator[tuple[str, bytes]]:
    """A compressed file of a folder or an archive. An archive in one is passed over."""
    unpack = next(unpack for begin, unpack in _PACKERS.items() if sign.startswith(begin))
    try:
        with unpack(packed) as inner:
            head = inner.read(HEAD_BYTES)
            if is_wanted(head) and not _is_tar(head):
                yield shown, _read(inner, path, shown, head)
    except ConfigError:
        raise
    except _BROKEN as error:
        reason = printable(str(error)[:200])
        refuse(path, f"{shown}: it cannot be unpacked: {reason}", "fetch it again")


def _read(file: Any, path: Path, shown: str, head: bytes = b"") -> bytes:
    """What is left of a file behind its head, which was read; both are given."""
    whole = io.BytesIO()
    whole.write(head)
    while data := file.read(_CHUNK):
        if whole.tell() + len(data) > INPUT_MAX:
            rule = f"{shown} holds more than 1 GiB, or never ends"
            refuse(path, rule, "give the cluster's dumps")
        whole.write(data)
    # It hands over its memory instead of a copy.
    return whole.getvalue()


def _counted(count: int, path: Path) -> int:
    if count >= FILES_MAX:
        refuse(path, f"it has more than {FILES_MAX:,} files", "give those of the cluster's dumps")
    return count + 1
