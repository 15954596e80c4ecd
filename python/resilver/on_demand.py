"""Packages whose names are imported when they are first used (PEP 562).

A command that draws no chart should not wait for what draws charts. A type checker reads the
imports that such a package has for it; a test holds them equal to the names given here.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def on_demand(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and the `__dir__` of a package.

    Args:
        package: The package's `__name__`.
        homes: By module below the package, the names that the package has from it, as words. No
            name may be that of a module of the package, which would hide it.

    Returns:
        The two functions.
    """
    home_of = {name: home for home, names in homes.items() for name in names.split()}

    def get(name: str) -> Any:
        """Import a public name when it is first used."""
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f"{package}.{home_of[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        """The public names, loaded or not."""
        return sorted({*vars(sys.modules[package]), *home_of})

    return get, names
