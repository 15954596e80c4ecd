"""The pictures of a reproduction as files for papers, drawn with matplotlib."""

from __future__ import annotations

from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

from resilver.errors import ConfigError
from resilver.report.static import CHARACTERS_PER_INCH, STYLE
from resilver.reproduce.make import Reproduction
from resilver.reproduce.pictures import Picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def write_pictures(made: Reproduction, folder: str | Path, format: str) -> list[Path]:
    """Write every picture as a file of its own.

    Args:
        made: The reproduction.
        folder: Where the files go, one a picture, named by it; made if it does not exist.
        format: "png" or "svg".

    Returns:
        The files, in the order of the page.

    Raises:
        ConfigError: A file cannot be written.
    """
    import matplotlib as mpl

    target = Path(folder)
    written = []
    try:
        target.mkdir(parents=True, exist_ok=True)
        of_parts = (drawn for part in made.parts for drawn in part.pictures)
        for drawn in (*made.overview, *of_parts):
            path = target / f"{drawn.spec.name}.{format}"
            with mpl.rc_context(STYLE):
                # Equal results give equal files: no dates or versions are written into them.
                metadata = {"Date": None, "Creator": None}
                metadata = metadata if format == "svg" else {"Software": None}
                _draw(drawn).savefig(path, format=format, dpi=300, metadata=metadata)
            written.append(path)
    except OSError as error:
        raise ConfigError(
            f"figures = {str(target)!r} cannot be written ({error.strerror}); choose another folder"
        ) from error
    return written


def _draw(drawn: Picture) -> Figure:
    from matplotlib.figure import Figure

    if drawn.whole is not None:
        return drawn.whole()
    figure = Figure(figsize=drawn.inches, layout="constrained")
    lines = wrap(drawn.shown.heading, round(drawn.inches[0] * CHARACTERS_PER_INCH))
    figure.suptitle("\n".join(lines), x=0.02, ha="left", fontsize=8, fontweight="bold")
    if drawn.static is not None:
        drawn.static(figure)
    return figure
