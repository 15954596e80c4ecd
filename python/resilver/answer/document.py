"""One offline HTML file: its head, its charts with their tables, its scripts, and its writing."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resilver.answer.model import Standing
from resilver.charts.style import CONFIG, DARK
from resilver.charts.vega import GAP, NARROW, ROOM, Chart, free_names
from resilver.errors import ConfigError
from resilver.tables import Table, cell_text, to_csv

if TYPE_CHECKING:
    import jinja2

# The browser itself then refuses whatever a page without network must not do: no script but the
# page's own two, by their hashes, and no code made from text. Vega sets inline styles.
_POLICY = (
    "default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; img-src data: blob:; "
    "connect-src 'none'; base-uri 'none'; form-action 'none'"
)


_TEMPLATES = Path(__file__).parent / "templates"


@cache
def _environment() -> jinja2.Environment:
    import jinja2

    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
    )
    made.filters |= {"words": cell_text, "unbroken": _unbroken}
    return made


def _unbroken(text: str) -> str:
    """A text whose exponents no line ends within: ``2.3e-6`` with a hyphen that does not break."""
    return re.sub(r"(\de)-(?=\d)", "\\1\u2011", text)


def rendered(template: str, /, **values: Any) -> str:
    """A template, filled in."""
    return _environment().get_template(template).render(**values)


def parts() -> Any:
    """What every page is made of: the macros of tables and charts."""
    return _environment().get_template("parts.html").module


class Document:
    """What the parts of a page leave for its end.

    Attributes:
        charts: The specifications of its charts, by id.
        csv: The CSVs of its tables, by name.
        hosts: The host of each device that is not one itself, by their names.
    """

    def __init__(self) -> None:
        self.charts: dict[str, Any] = {}
        self.csv: dict[str, str] = {}
        self.hosts: dict[str, str] = {}

    def shown(
        self,
        name: str,
        title: str,
        table: Table,
        read: Table,
        rows_max: int | None = None,
        *,
        is_closed: bool = False,
    ) -> str:
        """A table as people read it, of its first rows, with its CSV, which has all of it."""
        self.csv[name] = to_csv(table)
        macro = parts().details if is_closed else parts().shown
        limit = {} if rows_max is None else {"rows_max": rows_max}
        return str(macro(name, title, read, **limit))

    def lines(self, name: str, title: str, lines: Sequence[str], file: str = "") -> str:
        """Lines that a reader copies, or saves as a file."""
        text = "\n".join(lines)
        if file:
            return str(parts().saved(name, title, text, file))
        return str(parts().lines(name, title, text))

    def figure(self, chart: Chart, name: str) -> str:
        """One chart with its finding, its words and its table; closed if it is for experts."""
        self.charts[name] = free_names(chart.make())
        self.csv[name] = to_csv(chart.table)
        macro = parts().folded if chart.is_for_experts else parts().figure
        return str(macro(name, chart))

    def assemble(self, title: str, body: str, standing: Standing | None = None) -> str:
        """The whole page.

        Args:
            body: The HTML between its head and its scripts.
            standing: How far the study is, on a page that follows it.
        """
        own = (_TEMPLATES / "page.js").read_text(encoding="utf-8")
        scripts = [*([vega_script()] if self.charts else []), own]
        hashes = (hashlib.sha256(text.encode()).digest() for text in scripts)
        allowed = " ".join(f"'sha256-{base64.b64encode(one).decode()}'" for one in hashes)
        layout = {"narrow": NARROW, "gap": GAP, "room": ROOM}
        data = {"charts": self.charts, "csv": self.csv, "hosts": self.hosts}
        data |= {"config": CONFIG, "dark": DARK}
        return rendered(
            "page.html",
            title=title,
            body=body,
            policy=_POLICY.format(scripts=allowed),
            css=(_TEMPLATES / "page.css").read_text(encoding="utf-8"),
            data=_json(data | {"layout": layout}),
            scripts=scripts,
            reload=standing.reload_seconds if standing is not None else None,
        )


@cache
def vega_script() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script that needs no network.

    Putting it together takes seconds, so it is kept in the user's cache folder, by its version.
    """
    import vl_convert

    versions = f"{version('vl-convert-python')}-{vl_convert.get_vega_version()}"
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
    kept = root / "resilver" / f"vega-{versions}.js"
    try:
        return kept.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        made = str(vl_convert.javascript_bundle("window.vegaEmbed=vegaEmbed;"))
    made = made.replace("</script", "<\\/script")
    partial = kept.with_name(f".{kept.name}.{os.getpid()}")
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(made, encoding="utf-8")
        partial.replace(kept)
    except OSError:
        # Without a folder to keep it in, the next page makes it again.
        partial.unlink(missing_ok=True) if partial.parent.is_dir() else None
    return made


def write_page(text: str, path: str | Path, name: str = "report") -> Path:
    """Write a page.

    Args:
        text: The page.
        path: The file to write; it is replaced in one step, so that no half page is ever read. A
            link is followed, and what is no file (a pipe, a device) is written into.
        name: What the page is, for the message if it cannot be written.

    Raises:
        ConfigError: The file cannot be written.
    """
    target = Path(path)
    place = target.resolve()
    # A name may have bytes that are no UTF-8.
    content = text.encode(errors="backslashreplace")
    # Two commands may write one page at a time; each has its own unfinished one.
    partial = place.with_name(f".{place.name}.{os.getpid()}.partial")
    is_special = place.exists() and not place.is_file() and not place.is_dir()
    try:
        if is_special:
            place.write_bytes(content)
        else:
            partial.write_bytes(content)
            partial.replace(place)
    except OSError as error:
        if not is_special:
            partial.unlink(missing_ok=True)
        raise ConfigError(
            f"{name} = {str(target)!r} cannot be written ({error.strerror}); "
            "choose another file with -o"
        ) from error
    return target


def _json(value: object) -> str:
    """JSON that no reader of HTML can mistake for a tag."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
