"""One HTML file that computes: the document of a system, the page's script and the core, packed."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from resilver.answer.document import rendered, vega_script
from resilver.browser import browser_file
from resilver.charts.style import CONFIG, DARK, DASHES, SERIES
from resilver.errors import ConfigError, ResilverError
from resilver.explore.document import INTEGER_MAX
from resilver.study import Results
from resilver.study.provenance import STUDY_FILE

_LEVEL = 9
# The browser itself refuses whatever a page that computes must not do: no script but the page's
# own, those that it makes of itself (`blob:`), and the core; no request but to the server, if any.
_POLICY = (
    "default-src 'none'; script-src {script} blob: 'wasm-unsafe-eval'; worker-src blob:; "
    "style-src 'unsafe-inline'; img-src data: blob:; connect-src {server}; base-uri 'none'; "
    "form-action 'none'"
)


def explore_page(document: Mapping[str, Any], server: Mapping[str, str] | None = None) -> str:
    """The page of a document.

    Args:
        document: The document, as `resilver.explore.document.Document.to_json` has it.
        server: Where runs are computed instead of in the page: its ``path`` and ``token``.

    Raises:
        ConfigError: The page's script or the core for browsers is not built, or the input has
            integers that a page cannot hold.
    """
    _check(document["input"])
    style = {"config": CONFIG, "dark": DARK, "series": SERIES, "dashes": DASHES}
    told = {**document, "server": server, "style": style}
    text = json.dumps(told, separators=(",", ":"), allow_nan=False)
    data = {"document": packed(text.encode()), "vega": _vega()}
    if server is None:
        data |= {"core": _file("core.wasm"), "worker": _file("worker.js")}
    script = browser_file("page.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    return rendered(
        "explore.html",
        title=document["title"],
        policy=_POLICY.format(
            script=f"'sha256-{digest}'", server="'none'" if server is None else "'self'"
        ),
        css=browser_file("page.css").read_text(encoding="utf-8"),
        data=data,
        script=script,
    )


def packed(data: bytes) -> str:
    """Bytes as the page holds them: compressed, and equal for equal bytes."""
    return base64.b64encode(gzip.compress(data, _LEVEL, mtime=0)).decode("ascii")


@cache
def _file(name: str) -> str:
    return packed(browser_file(name).read_bytes())


@cache
def _vega() -> str:
    return packed(vega_script().encode())


def _check(value: Any, path: str = "") -> None:
    """Refuse integers that a page would round."""
    if isinstance(value, dict):
        for key, one in value.items():
            _check(one, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        if any(isinstance(one, (dict, list)) for one in value):
            for at, one in enumerate(value):
                _check(one, f"{path}[{at}]")
        elif any(isinstance(one, int) and not _is_held(one) for one in value):
            raise ConfigError(_too_large(path))
    elif isinstance(value, int) and not _is_held(value):
        raise ConfigError(_too_large(path))


def _is_held(value: int) -> bool:
    """Whether a page, whose numbers are doubles, has this integer and no other in its place."""
    return abs(value) <= INTEGER_MAX or int(float(value)) == value


def _too_large(path: str) -> str:
    return f"{path} has an integer that no page can hold: choose one below 2^53"


DEVICES_MAX = 4_096
"""Of larger systems no page is written unasked: it takes long, and its runs take longer."""


def explore_beside(results: Results, report: Path) -> str:
    """Write the page that computes of a study's first system beside its report.

    Args:
        results: The study's results, whose folder has the study file.
        report: The report's file.

    Returns:
        The page's name; empty where there is none: its script or the core for browsers is not
        built, the system is large, or a page cannot hold it.
    """
    try:
        for needed in ("page.js", "core.wasm"):
            browser_file(needed)
        points = results.systems
        tree = points[0].system.cluster.tree if points else None
        if tree is None or tree.devices > DEVICES_MAX:
            return ""
        from resilver.answer.document import write_page
        from resilver.explore.study import study_document

        document = study_document(results.folder / STUDY_FILE)
        page = report.with_name(f"{report.stem}-explore.html")
        return write_page(explore_page(document.to_json()), page, "page").name
    except ResilverError:
        # A report is no worse without it.
        return ""
