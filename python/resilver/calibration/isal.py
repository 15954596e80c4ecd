"""Intel's ISA-L, the library that storage systems code with, called with any code's own matrix."""

from __future__ import annotations

import ctypes
import ctypes.util
import os
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from resilver.errors import ConfigError, Problem, show

_NAMES = ("libisal.so.2", "libisal.so", "libisal.2.dylib")
_TABLE_BYTES = 32
"""What the library keeps for each factor of a matrix."""

Bytes8 = npt.NDArray[np.uint8]


class Library:
    """The erasure coding of ISA-L.

    Args:
        path: Its file; by default what the system finds under its usual names.

    Attributes:
        path: The file as it was loaded, by its name or its place.
        name: The file's name with the whole version.

    Raises:
        ConfigError: It is not there, or is another library.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        names = [os.fspath(path)] if path is not None else [*_found(), *_NAMES]
        library, reason = None, ""
        for name in names:
            try:
                library = ctypes.CDLL(name)
                break
            except OSError as error:
                reason = reason or str(error)
        if library is None:
            rule = f"Intel's ISA-L, the library that codes, cannot be loaded ({reason})"
            raise ConfigError(_absent(rule, path))
        try:
            self._tables, self._encode = library.ec_init_tables, library.ec_encode_data
        except AttributeError:
            raise ConfigError(_absent("this library has no ec_encode_data", path)) from None
        whole, address = ctypes.c_int, ctypes.c_void_p
        self._tables.argtypes = [whole, whole, address, address]
        self._encode.argtypes = [whole, whole, whole, address, address, address]
        self._tables.restype = self._encode.restype = None
        self.path: str = library._name
        self.name = _file_name(self.path)

    def prepared(self, factors: Bytes8) -> Matrix:
        """A matrix as the library wants it.

        Args:
            factors: Factors over GF(2^8), shape (outputs, inputs).
        """
        return Matrix(self, factors)


class Matrix:
    """A matrix that makes strips of others, prepared once and used for many.

    Args:
        library: The library.
        factors: Factors over GF(2^8), shape (outputs, inputs).
    """

    def __init__(self, library: Library, factors: Bytes8) -> None:
        self._library = library
        self.outputs, self.inputs = factors.shape
        rows = np.ascontiguousarray(factors, dtype=np.uint8)
        self._tables = np.zeros(_TABLE_BYTES * rows.size, dtype=np.uint8)
        library._tables(self.inputs, self.outputs, rows.ctypes.data, self._tables.ctypes.data)

    def addresses(self, strips: list[Bytes8]) -> npt.NDArray[np.uintp]:
        """Where strips begin, as `apply` takes them; the strips must stay alive."""
        return np.array([strip.ctypes.data for strip in strips], dtype=np.uintp)

    def apply(
        self, strip_bytes: int, sources: npt.NDArray[np.uintp], made: npt.NDArray[np.uintp]
    ) -> None:
        """Make strips of others.

        Args:
            strip_bytes: How long each is.
            sources: Where the inputs begin, one for each column.
            made: Where the outputs begin, one for each row.
        """
        self._library._encode(
            strip_bytes,
            self.inputs,
            self.outputs,
            self._tables.ctypes.data,
            sources.ctypes.data,
            made.ctypes.data,
        )

    def made(self, sources: list[Bytes8]) -> list[Bytes8]:
        """The strips that the matrix makes.

        Args:
            sources: A strip for each column, all of one length.

        Returns:
            A strip for each row.
        """
        outputs = [np.zeros_like(sources[0]) for _ in range(self.outputs)]
        self.apply(len(sources[0]), self.addresses(sources), self.addresses(outputs))
        return outputs


@cache
def products() -> Bytes8:
    """Every product of two elements of GF(2^8) with the polynomial 0x11d, shape (256, 256)."""
    powers, element = [], 1
    for _ in range(255):
        powers.append(element)
        element = (element << 1) ^ (0x11D if element & 0x80 else 0)
    logarithms = {power: exponent for exponent, power in enumerate(powers)}
    table = np.zeros((256, 256), dtype=np.uint8)
    for left in range(1, 256):
        for right in range(1, 256):
            table[left, right] = powers[(logarithms[left] + logarithms[right]) % 255]
    return table


def plain_product(factors: Bytes8, sources: list[Bytes8]) -> list[Bytes8]:
    """What `Matrix.made` must give, by a table of products.

    Args:
        factors: Factors over GF(2^8), shape (outputs, inputs).
        sources: A strip for each column.

    Returns:
        A strip for each row.
    """
    made = []
    for row in factors:
        total = np.zeros_like(sources[0])
        for factor, source in zip(row, sources, strict=True):
            total ^= products()[factor][source]
        made.append(total)
    return made


def _found() -> list[str]:
    found = ctypes.util.find_library("isal")
    return [] if found is None else [found]


def _absent(rule: str, path: str | os.PathLike[str] | None) -> Problem:
    if path is not None:
        return Problem(rule, "name the file of libisal", key="--library", value=show(str(path)))
    return Problem(rule, "install it (on Debian the package libisal2), or name its file")


def _file_name(name: str) -> str:
    """The library's file with its whole version, which its short name links to."""
    loaded = name if os.sep in name else _loaded_path(name)
    return Path(os.path.realpath(loaded)).name if loaded else name


def _loaded_path(name: str) -> str:
    """Where Linux says that a loaded library is from; empty where it cannot tell."""
    stem = name.split(".so")[0]
    try:
        lines = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    paths = (line.split(None, 5)[5] for line in lines if line.count(os.sep))
    return next((path for path in paths if Path(path).name.startswith(f"{stem}.so")), "")
