"""What a center is asked about: a file, or an entry of the catalog, with some keys replaced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

from pydantic import Field

from resilver import catalog
from resilver.errors import ConfigError, name_remedy, show
from resilver.spec.section import Section
from resilver.spec.sweep import put
from resilver.spec.toml import split_override
from resilver.text import read_toml


class GivenFile(Section):
    """A file that is given by its path, or by its name in the catalog.

    Attributes:
        catalog_kind: The kind of its entries in the catalog.
        called: What such a file is called.
    """

    catalog_kind: ClassVar[str]
    called: ClassVar[str]

    description: str = Field(default="", examples=["A scratch file system."])
    """What it is, for the page."""
    source: str = Field(default="", examples=["The tender of 2026."])
    """Where the figures are from."""

    @classmethod
    def load(cls, path: str | Path, overrides: Sequence[str] = ()) -> Self:
        """Read such a file, or one of the catalog's by its name.

        Args:
            path: The file, or a name.
            overrides: ``KEY=VALUE`` texts that replace keys of it.

        Raises:
            ConfigError: It cannot be read, or with every problem in it.
        """
        known = catalog.list(cls.catalog_kind)
        if str(path) in known:
            entry = catalog.load(cls.catalog_kind, str(path))
            about = {"description": entry.description, "source": entry.source}
            table: Any = about | entry.content
            base = Path.cwd()
        else:
            file = Path(path).expanduser()
            if not file.exists() and file.suffix not in (".toml", ".csv"):
                rule = f"there is no such file, and the catalog has no {cls.called} of this name"
                raise ConfigError(rule, name_remedy(path, known), value=show(str(path)))
            table, base = read_toml(file), file.absolute().parent
            cls.refuse_others(table, file)
        for text in overrides:
            keys, value = split_override(text)
            table = put(table, keys, value, ".".join(keys))
        return cls.from_table(table, base)

    @classmethod
    def refuse_others(cls, table: Mapping[str, Any], file: Path) -> None:
        """Say of a file that is of another kind what it is.

        Args:
            table: Its content.
            file: Its path.
        """

    @classmethod
    def of(cls, given: str | Path | Mapping[str, Any] | Self) -> Self:
        """What a path, a name, nested dictionaries or such a file itself means.

        Raises:
            ConfigError: It cannot be read, or with every problem in it.
        """
        if isinstance(given, cls):
            return given
        if isinstance(given, str | Path):
            return cls.load(given)
        return cls.from_table(given, Path.cwd())
