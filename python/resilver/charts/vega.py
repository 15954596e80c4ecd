"""What a chart is made of: a Vega-Lite specification, written once and drawn everywhere.

A specification here says nothing of widths. `sized` gives it those of a page, of a file or of a
notebook, by four keys of our own in each view: `room`, the pixels left and right of what is drawn;
`letters`, the pixels that its labels below need to stand level; `ratio` of height to width; and
`most`, its largest width. `page.js` does the same in the reader's window. Two more are for the page
alone, which links its charts by them: `clock`, the seconds in a unit of the axis of time and what
the columns mean; and a column `part` of data, the name of what each row is of (`other` likewise).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import wrap
from typing import Any

from resilver.charts.style import CONFIG, DASHES, GREY, PAPER
from resilver.errors import ConfigError
from resilver.tables import Table

Spec = dict[str, Any]

FORMATS = ("png", "svg", "pdf")
"""What a chart is written as."""
WIDTH = 760
"""Pixels of a chart in a file or a notebook."""
NARROW = 620
"""Below this width what stands side by side stands below each other."""
ROOM = (62, 14)
"""Pixels left and right of what is drawn: the axis upwards, and half of the last label."""
GAP = 22
NUMBER = ",~r"
UPRIGHT: Spec = {"y": {"value": 0}, "y2": {"value": {"expr": "height"}}}
"""From the top to the bottom of a chart of one panel, whatever the axis upwards has."""
READ: Spec = {"field": "text", "type": "nominal"}
"""The words of a mark, which the pointer reads."""
_SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
_DIGITS = 6


_TAKEN = frozenset(
    {
        "__defineGetter__",
        "__defineSetter__",
        "__lookupGetter__",
        "__lookupSetter__",
        "__proto__",
        "constructor",
        "hasOwnProperty",
        "isPrototypeOf",
        "propertyIsEnumerable",
        "toLocaleString",
        "toString",
        "valueOf",
    }
)


def free_names(spec: Any) -> Any:
    """A specification in which every name can be drawn.

    Vega groups rows by plain objects, whose own `constructor` it takes for the group of a pool of
    that name. A joiner, which nobody sees, stands before such a name in data, domains and words.
    A byte of a name that is not UTF-8 stands as ``\\udcff``.
    """
    if isinstance(spec, dict):
        return {key: free_names(value) for key, value in spec.items()}
    if isinstance(spec, list | tuple):
        return [free_names(value) for value in spec]
    if not isinstance(spec, str):
        return spec
    return f"\u2060{spec}" if spec in _TAKEN else spec.encode(errors="backslashreplace").decode()


def plain(value: Any) -> Any:
    """A value as a chart carries it: numbers to six digits, nothing for what is not finite."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else None
    return value


def rows(**columns: Iterable[Any]) -> Spec:
    """Data of a chart from its columns, all of one length."""
    return marks(" ".join(columns), zip(*columns.values(), strict=True))


def marks(columns: str, values: Iterable[Iterable[Any]]) -> Spec:
    """Data of a chart from its marks.

    Args:
        columns: The names of the columns.
        values: What each mark has in these.

    >>> marks("kind x", [("read", 1.0), ("write", 2.0)])
    {'values': [{'kind': 'read', 'x': 1.0}, {'kind': 'write', 'x': 2.0}]}
    """
    names = columns.split()
    return {"values": [dict(zip(names, map(plain, mark), strict=True)) for mark in values]}


def axis(
    field: str,
    title: str | None = None,
    *,
    ends: tuple[float, float] | None = None,
    ticks: Mapping[float, str] | Sequence[float] | None = None,
    log: int = 0,
    zero: bool = True,
    form: str = NUMBER,
    **look: Any,
) -> Spec:
    """A channel of numbers.

    Args:
        title: The title of its axis, with the unit; None leaves the axis out.
        ends: The ends of the axis.
        ticks: Where its ticks stand, and their words if they have some.
        log: The base of a logarithmic axis; 0 for a linear one.
        zero: Whether a linear axis begins at 0 where nothing says its ends.
        form: How ticks are written, in d3's language.
        look: More about the axis, in Vega-Lite's words.
    """
    # An axis with ends of its own reaches no further.
    scale: Spec = {"zero": False, "nice": False} if ends else {"zero": zero}
    if log:
        scale = {"type": "log", "base": log, "nice": False}
    if ends is not None:
        scale["domain"] = [plain(end) for end in ends]
    made: Spec = {"field": field, "type": "quantitative", "scale": scale}
    if title is None:
        return made | {"axis": None}
    made["title"] = title
    made["axis"] = {"format": form, **look}
    if ticks is not None:
        made["axis"]["values"] = list(ticks)
    if isinstance(ticks, Mapping):
        made["axis"] |= {"labelExpr": words_of(ticks), "format": ""}
    return made


def words_of(labels: Mapping[float, str]) -> str:
    """The expression that puts the words of `labels` for the numbers of an axis."""
    places, words = json.dumps(list(labels)), json.dumps(list(labels.values()))
    return f"split({words}[indexof({places}, datum.value)], '\\n')"


def colours(names: Sequence[str], values: Sequence[str], *, legend: bool = True) -> Spec:
    """A channel of colours by the column `kind`, or by a datum.

    Args:
        names: The kinds, in the order of the legend.
        values: Their colours; those beyond start over.
        legend: Whether a legend names them.
    """
    cycled = [values[at % len(values)] for at in range(len(names))]
    made: Spec = {"scale": {"domain": list(names), "range": cycled}, "type": "nominal"}
    return made | ({} if legend else {"legend": None})


def told_apart(names: Sequence[str], ways: Sequence[Any], **more: Any) -> Spec:
    """A channel that tells kinds apart by their marks or dashes.

    Args:
        names: The kinds, in the order of the legend.
        ways: Their marks or dashes; those beyond start over.
        more: More about the channel, in Vega-Lite's words.
    """
    cycled = [ways[at % len(ways)] for at in range(len(names))]
    scale = {"domain": list(names), "range": cycled}
    return {"field": "kind", "type": "nominal", "scale": scale, **more}


def lines_up(
    places: Sequence[float], colour: str = GREY, dash: int = 1, whole: Spec = UPRIGHT
) -> list[Spec]:
    """Upright lines over the whole height: a layer, or none.

    Args:
        dash: Which of `DASHES`.
        whole: What reaches from the top to the bottom: nothing in a panel of several, where no
            layer below has an axis upwards and `height` is that of no panel.
    """
    if not places:
        return []
    data = rows(x=list(places))
    mark = {"type": "rule", "color": colour, "strokeDash": DASHES[dash], "strokeWidth": 1.5}
    return [{"data": data, "mark": mark, "encoding": {"x": {"field": "x"}, **whole}}]


def tip(*fields: tuple[str, str]) -> list[Spec]:
    """What the pointer reads: (column, heading) each, numbers to four digits."""
    return [{"field": field, "title": title, **_form(field)} for field, title in fields]


def _form(field: str) -> Spec:
    is_text = field in ("name", "part", "kind", "text", "state")
    return {"type": "nominal"} if is_text else {"type": "quantitative", "format": ",.4~r"}


def letters(labels: Iterable[str]) -> int:
    """The pixels that labels side by side need."""
    texts = [line for label in labels for line in label.split("\n")]
    return len(list(texts)) * (max(map(len, texts), default=0) * 6 + 10)


def zoom(name: str = "zoom") -> Spec:
    """A selection by which dragging moves the axis across, and Shift with the wheel widens it."""
    select = {"type": "interval", "encodings": ["x"], "zoom": "wheel![event.shiftKey]"}
    return {"name": name, "select": select, "bind": "scales"}


def sized(spec: Spec, width: int) -> Spec:
    """The specification with the widths of its views.

    Args:
        width: All there is, in pixels.
    """
    made = {name: value for name, value in spec.items() if name not in ("room", "letters", "clock")}
    if views := made.pop("hconcat", None):
        is_narrow = width < NARROW
        share = width if is_narrow else (width - GAP * (len(views) - 1)) // len(views)
        way = "vconcat" if is_narrow else "hconcat"
        return made | {way: [sized(view, share) for view in views], "spacing": GAP}
    if views := made.get("vconcat"):
        return made | {"vconcat": [sized(view, width) for view in views]}
    left, right = spec.get("room", ROOM)
    made["width"] = max(90, width - left - right)
    made["width"] = min(made["width"], made.pop("most", made["width"]))
    if ratio := made.pop("ratio", 0.0):
        made["height"] = round(ratio * made["width"])
    if spec.get("letters", 0) > made["width"]:
        across = made["encoding"]["x"]
        turned = {"labelAngle": -38, "labelAlign": "right", "labelLimit": 120}
        made["encoding"] = made["encoding"] | {"x": across | {"axis": across["axis"] | turned}}
    return made


def legend_columns(spec: Spec, width: int) -> int:
    """How many names of a legend stand side by side, at most four.

    Args:
        width: All there is, in pixels.
    """
    longest = 0

    def visit(part: Any) -> None:
        nonlocal longest
        if isinstance(part, dict):
            names = part.get("domain", ())
            longest = max(longest, *(len(name) for name in names if isinstance(name, str)), 0)
            visit(list(part.values()))
        elif isinstance(part, list):
            for one in part:
                visit(one)

    visit(spec)
    return max(1, min(4, width // (7 * longest + 36)))


def finished(spec: Spec, heading: str = "", width: int = WIDTH, note: str = "") -> Spec:
    """The specification as it stands outside of a page: sized, on white, with its title.

    Args:
        heading: What to see in it; may be empty.
        width: Its width in pixels.
        note: A line below the title; may be empty.
    """
    legend = CONFIG["legend"] | {"columns": legend_columns(spec, width)}
    made = {"$schema": _SCHEMA, **sized(spec, width), "padding": 10}
    made["config"] = CONFIG | {"background": PAPER, "legend": legend}
    if heading:
        lines = wrap(heading, width // 7)
        made["title"] = {"text": lines} | ({"subtitle": note} if note else {})
    named: Spec = free_names(made)
    return named


def drawn(spec: Spec, format: str, heading: str = "", width: int = WIDTH) -> bytes:
    """A chart as the bytes of a file; equal charts give equal bytes.

    Args:
        format: One of `FORMATS`.
        heading: What to see in it; may be empty.
        width: Its width in pixels; a PNG has 2.5 dots to each.
    """
    import vl_convert

    svg = _numbered_anew(str(vl_convert.vegalite_to_svg(finished(spec, heading, width))))
    if format == "svg":
        return svg.encode()
    if format == "pdf":
        return bytes(vl_convert.svg_to_pdf(svg))
    return bytes(vl_convert.svg_to_png(svg, scale=2.5))


def _numbered_anew(svg: str) -> str:
    """An SVG with its ids counted from 1: Vega counts on from one picture to the next."""
    names: dict[str, str] = {}

    def anew(found: re.Match[str]) -> str:
        return names.setdefault(found[0], f"{found[1]}{len(names) + 1}")

    return re.sub(r"\b(clip|gradient_)\d+\b", anew, svg)


def check_format(path: Path, key: str) -> str:
    """The format of a picture's file by its name.

    Args:
        path: Where the picture is to go.
        key: What asks for it, such as ``--figure``.

    Raises:
        ConfigError: It is none of `FORMATS`.
    """
    format = path.suffix.lower().removeprefix(".")
    if format not in FORMATS:
        rule = "a figure is a file that ends in .png, .svg or .pdf; name it so"
        raise ConfigError(f'{key} = "{path}": {rule}')
    return format


def write_picture(spec: Spec, path: Path, heading: str, key: str) -> Path:
    """Write one chart as a file.

    Args:
        path: The file, ending in one of `FORMATS`.
        heading: What to see in it; may be empty.
        key: What asks for it, for the message if it cannot be written.

    Raises:
        ConfigError: The format is not known, or the file cannot be written.
    """
    data = drawn(spec, check_format(path, key), heading)
    try:
        path.write_bytes(data)
    except OSError as error:
        raise ConfigError(
            f"{key} = {str(path)!r} cannot be written ({error.strerror}); choose another place"
        ) from error
    return path


@dataclass(frozen=True, eq=False)
class Chart:
    """One chart.

    Args:
        name: What it is called in addresses and file names: letters and hyphens.
        heading: What to see in it, as a sentence without its full stop.
        description: What is drawn, for the caption and for those who cannot see it.
        make: Makes its specification, by the conventions of `resilver.charts.vega`.
        table: The same numbers in rows.
        table_title: What the table holds.
        is_for_experts: Whether a page folds it.
        printed: How many rows of its table a terminal shows, which draws nothing.
        columns: How many columns of them; None for all.
    """

    name: str
    heading: str
    description: str
    make: Callable[[], Spec] = field(repr=False)
    table: Table
    table_title: str
    is_for_experts: bool = False
    printed: int = 0
    columns: int | None = None

    def drawn(self, format: str, width: int = WIDTH) -> bytes:
        """The chart as a file's bytes, titled with its finding.

        Args:
            format: "png", "svg" or "pdf".
            width: Its width in pixels.
        """
        return drawn(self.make(), format, self.heading, width)

    def _repr_mimebundle_(self, **_: Any) -> Mapping[str, Any]:
        """How a notebook shows it."""
        made = finished(self.make(), self.heading)
        return {"application/vnd.vegalite.v6+json": made, "image/png": self.drawn("png")}
