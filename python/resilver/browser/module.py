"""Where the core's WebAssembly module is."""

from __future__ import annotations

from pathlib import Path

from resilver.errors import ConfigError

_MODULE = Path(__file__).parent / "core.wasm"


def core_module() -> Path:
    """The core as a WebAssembly module, which a wheel carries and a checkout builds.

    Returns:
        The module's file.

    Raises:
        ConfigError: It was not built.
    """
    if not _MODULE.is_file():
        raise ConfigError("the core for browsers is not built: run `python3 dev.py web`")
    return _MODULE
