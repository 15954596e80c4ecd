"""Parquet files that others may have damaged."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from resilver.errors import ConfigError
from resilver.importers.walk import printable
from resilver.text import refuse

MAGIC = b"PAR1"
"""What a Parquet file begins with."""


@contextmanager
def reading(path: Path, remedy: str) -> Iterator[None]:
    """Refuse a file that is read meanwhile, and is not there or no whole Parquet file."""
    import pyarrow as pa

    try:
        yield
    except ConfigError:
        raise
    except FileNotFoundError:
        refuse(path, "there is no such file", remedy)
    except (OSError, ValueError, pa.ArrowException) as error:
        said = printable(str(error).splitlines()[0][:80]) if str(error) else "it ends early"
        refuse(path, f"it is no whole Parquet file: {said}", remedy)
