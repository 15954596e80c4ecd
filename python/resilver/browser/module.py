"""Where the core's WebAssembly module is, and the scripts of the page that computes with it."""

from __future__ import annotations

from pathlib import Path

from resilver.errors import ConfigError

_FOLDER = Path(__file__).parent


def browser_file(name: str) -> Path:
    """A file for browsers, which a wheel carries and a checkout builds.

    Args:
        name: ``core.wasm``, the core; ``page.js``, ``page.css`` and ``worker.js``, the page that
            computes with it.

    Returns:
        The file.

    Raises:
        ConfigError: It was not built.
    """
    found = _FOLDER / name
    if not found.is_file():
        raise ConfigError(f"{name} for browsers is not built: run `python3 dev.py web`")
    return found


def core_module() -> Path:
    """The core as a WebAssembly module; see `browser_file`."""
    return browser_file("core.wasm")
