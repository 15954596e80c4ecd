"""resilver predicts how a storage system heals.

Build a study from a file or from objects, run it, and read tables:

    >>> import resilver
    >>> study = resilver.Study.load("study.toml")  # doctest: +SKIP
    >>> results = resilver.execute(study, "runs/study")  # doctest: +SKIP
    >>> results.to_pandas("runs")  # doctest: +SKIP

Every name here is loaded when it is first used, so that the import itself is fast and needs no
plotting library.
"""

from __future__ import annotations

from typing import Any

import lazy_loader

_on_demand, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    return _version() if name == "__version__" else _on_demand(name)


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("resilver")
    except PackageNotFoundError:
        # A checkout on the path that was never installed.
        return "0+uninstalled"
