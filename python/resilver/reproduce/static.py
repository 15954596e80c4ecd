"""The pictures of a reproduction as files."""

from __future__ import annotations

from pathlib import Path

from resilver.errors import ConfigError
from resilver.reproduce.make import Reproduction


def write_pictures(made: Reproduction, folder: str | Path, format: str) -> list[Path]:
    """Write every picture as a file of its own.

    Args:
        made: The reproduction.
        folder: Where the files go, one a picture, named by it; made if it does not exist.
        format: "png", "svg" or "pdf".

    Returns:
        The files, in the order of the page.

    Raises:
        ConfigError: A file cannot be written.
    """
    target = Path(folder)
    written = []
    try:
        target.mkdir(parents=True, exist_ok=True)
        of_parts = (drawn for part in made.parts for drawn in part.pictures)
        for drawn in (*made.overview, *of_parts):
            path = target / f"{drawn.spec.name}.{format}"
            path.write_bytes(drawn.chart.drawn(format))
            written.append(path)
    except OSError as error:
        raise ConfigError(
            f"figures = {str(target)!r} cannot be written ({error.strerror}); choose another folder"
        ) from error
    return written
