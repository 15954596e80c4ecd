"""Files of a center's questions: a path, or a name of the catalog, with some keys replaced."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from resilver import catalog
from resilver.errors import ConfigError, Problem, name_remedy, show
from resilver.importers.text import read_toml
from resilver.spec.sweep import put
from resilver.spec.toml import split_override


def content_of(
    kind: str, what: str, path: str | Path, overrides: Sequence[str] = ()
) -> tuple[dict[str, Any], Path]:
    """The content of a file, or of an entry of the catalog.

    Args:
        kind: The catalog's kind.
        what: What such a file is called: "sizing".
        path: The file, or a name.
        overrides: ``KEY=VALUE`` texts that replace keys of it.

    Returns:
        Its tables, and the folder that paths in it are relative to.

    Raises:
        ConfigError: It cannot be read.
    """
    known = catalog.list(kind)
    if str(path) in known:
        entry = catalog.load(kind, str(path))
        table: Any = {"description": entry.description, "source": entry.source, **entry.content}
        base = Path.cwd()
    else:
        file = Path(path).expanduser()
        if not file.exists() and file.suffix not in (".toml", ".csv"):
            rule = f"there is no such file, and the catalog has no {what} of this name"
            raise ConfigError(Problem(rule, name_remedy(path, known), value=show(str(path))))
        table, base = read_toml(file), file.absolute().parent
    for text in overrides:
        keys, value = split_override(text)
        table = put(table, keys, value, ".".join(keys))
    return table, base
