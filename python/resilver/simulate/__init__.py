"""Runs systems and places groups and objects by the native core, as `crush` does with maps."""

import lazy_loader

from resilver import _core

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

version: str = _core.__version__
"""The version of the native core, which is the package's."""
