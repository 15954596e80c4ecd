"""Chart idiom over time: steps in panels below each other, on one axis, with what happens when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resilver.charts.scales import Scale, time_scale
from resilver.charts.style import INK
from resilver.charts.vega import Spec, axis, colours, lines_up, rows, tip, zoom

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Panel:
    """One panel of a chart over time: its axis, and its series as (name, colour, values).

    Those of a stacked one stand on each other, the first one lowest; one of lines may leave zero
    out.
    """

    title: str
    scale: Scale
    series: tuple[tuple[str, str, Floats], ...]
    filled: bool = True
    stacked: bool = False
    zero: bool = True

    @property
    def label(self) -> str:
        """The title of its axis."""
        return f"{self.title} ({self.scale.unit})" if self.scale.unit else self.title


@dataclass(frozen=True, eq=False)
class Marks:
    """What stands upright in every panel: faults dashed, repairs dotted, the warm-up shaded."""

    faults: tuple[float, ...] = ()
    repairs: tuple[float, ...] = ()
    warm_up: float = 0.0


def over_time(
    edges: Floats, panels: Sequence[Panel], title: str, marks: Marks, height: int = 150
) -> Spec:
    """Steps over time, a panel below the other, on one axis of time.

    Args:
        edges: The ends of all intervals, in seconds: one more than there are values.
        panels: The panels, from the top.
        title: The title of the axis of time, without its unit.
        marks: What stands upright in all of them.
        height: The height of a panel in pixels.
    """
    time = time_scale(float(edges.max()))
    times, title = edges / time.divisor, f"{title} ({time.unit})"
    columns = {"a": times, "b": np.append(times[1:], times[-1:])}
    for at, panel in enumerate(panels):
        top = np.zeros_like(times)
        for rank, (_, _, values) in enumerate(panel.series):
            columns[f"v{at}{rank}"] = np.append(values, values[-1:]) / panel.scale.divisor
            if panel.stacked:
                columns[f"s{at}{rank}"] = top = top + columns[f"v{at}{rank}"]
    views = [_panel(at, panels, title, times, marks, time, height) for at in range(len(panels))]
    select = {"type": "point", "on": "pointerover", "clear": "pointerout", "fields": ["a"]}
    pointed = {"name": "at", "select": select, "views": [f"p{at}" for at in range(len(panels))]}
    own = {"scale": {"color": "independent"}, "legend": {"color": "independent"}}
    clock = {
        "seconds": time.divisor,
        "unit": time.unit,
        "columns": [
            (f"v{at}{rank}", name, panel.scale.unit)
            for at, panel in enumerate(panels)
            for rank, (name, _, _) in enumerate(panel.series)
        ],
    }
    made: Spec = {"data": rows(**columns), "params": [pointed], "vconcat": views, "resolve": own}
    return made | {"clock": clock}


def _panel(
    at: int,
    panels: Sequence[Panel],
    title: str,
    times: Floats,
    marks: Marks,
    time: Scale,
    height: int,
) -> Spec:
    panel = panels[at]
    is_last = at == len(panels) - 1
    names = [name for name, _, _ in panel.series]
    named = colours(names, [colour for _, colour, _ in panel.series], legend=len(names) > 1)
    layers: list[Spec] = []
    if marks.warm_up:
        shade = {"type": "rect", "color": "#888888", "opacity": 0.16, "clip": True}
        ends = rows(x=[0.0], x2=[marks.warm_up / time.divisor])
        place = {"x": {"field": "x"}, "x2": {"field": "x2"}}
        layers.append({"data": ends, "mark": shade, "encoding": place})
    # What stands on others is drawn first: its outline lies on theirs wherever it is nothing.
    ranks = range(len(names))
    for rank in reversed(ranks) if panel.stacked else ranks:
        name = names[rank]
        line: Spec = {"strokeWidth": 1.75, "interpolate": "step-after", "clip": True}
        mark: Spec = {"type": "line", **line}
        if panel.filled:
            mark = {"type": "area", "line": line, "fillOpacity": 0.22, **line, "strokeWidth": 0}
        field = f"{'s' if panel.stacked else 'v'}{at}{rank}"
        upwards: Spec = {"field": field, "type": "quantitative", "title": panel.label}
        upwards["scale"] = {"zero": panel.zero}
        upwards["axis"] = {"format": ",~r" if not panel.scale.unit else ",.4~r"}
        encoding: Spec = {"y": upwards, "color": named | {"datum": name}}
        if panel.stacked:
            encoding["y2"] = {"field": f"s{at}{rank - 1}"} if rank else {"datum": 0}
        layers.append({"mark": mark, "encoding": encoding})
    layers += lines_up([seconds / time.divisor for seconds in marks.faults], whole={})
    layers += lines_up([seconds / time.divisor for seconds in marks.repairs], dash=2, whole={})
    read = [("a", f"from ({time.unit})"), ("b", f"to ({time.unit})")]
    unit = f" ({panel.scale.unit})" if panel.scale.unit else ""
    read += [(f"v{at}{rank}", f"{name}{unit}") for rank, name in enumerate(names)]
    shown = {"condition": {"param": "at", "value": 0.12, "empty": False}, "value": 0}
    layers.append(
        {
            "name": f"p{at}",
            "mark": {"type": "rect", "color": INK, "clip": True},
            "encoding": {"x2": {"field": "b"}, "opacity": shown, "tooltip": tip(*read)},
            "params": [zoom(f"zoom{at}")],
        }
    )
    across = axis("a", title if is_last else "", ends=(0.0, float(times[-1])))
    if not is_last:
        across["axis"] |= {"labels": False, "title": None}
    return {"height": height, "encoding": {"x": across}, "layer": layers}
