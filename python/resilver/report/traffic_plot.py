"""What clients got over time, drawn with Plotly and with matplotlib."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from resilver.report.charts_data import Floats
from resilver.report.plots import AXIS, empty_figure, faint, mark_faults, plain
from resilver.report.scales import Scale, rate_scale, time_scale
from resilver.report.static_charts import mark_faults_static
from resilver.report.style import BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILLION
from resilver.report.traffic import TrafficCourse

if TYPE_CHECKING:
    import matplotlib.figure
    from plotly.graph_objects import Figure

_GAP = 0.07
"""The room between two panels, as a share of the height."""
PANEL_PIXELS = 165


@dataclass(frozen=True, eq=False)
class _Panel:
    """One panel: its axis, and its series as (values, colour, name)."""

    title: str
    scale: Scale
    series: tuple[tuple[Floats, str, str], ...]
    filled: bool = True

    @property
    def label(self) -> str:
        return f"{self.title} ({self.scale.unit})" if self.scale.unit else self.title


def _panels(course: TrafficCourse) -> list[_Panel]:
    """Goodput and delay; losses and the backlog where there are any."""
    read, written = course.rate(course.read_bytes), course.rate(course.write_bytes)
    kinds = [(read, BLUE, "reads"), (written, ORANGE, "writes")]
    shown = tuple(one for one in kinds if one[0].any()) or (kinds[0],)
    top = max(float(values.max()) for values, _, _ in shown)
    made = [_Panel("goodput", rate_scale(top), shown)]
    delay = course.mean_delay_seconds
    longest = 0.0 if np.isnan(delay).all() else float(np.nanmax(delay))
    made.append(_Panel("mean delay", time_scale(longest), ((delay, GREEN, "mean delay"),), False))
    if course.lost.any():
        lost = course.rate(course.lost)
        made.append(_Panel("lost requests/s", Scale(1.0, ""), ((lost, VERMILLION, "lost"),)))
    if course.backlog.any():
        backlog = ((course.backlog, PURPLE, "writes waiting"),)
        made.append(_Panel("writes waiting", Scale(1.0, ""), backlog))
    return made


def course_figure(course: TrafficCourse) -> Figure:
    """Goodput, delay, losses and backlog over one axis of time, with Plotly.

    Args:
        course: The numbers.
    """
    panels = _panels(course)
    figure = empty_figure(90 + PANEL_PIXELS * len(panels))
    time = time_scale(float(course.edges.max()))
    height = (1.0 - _GAP * (len(panels) - 1)) / len(panels)
    axes: dict[str, Any] = {}
    for rank, panel in enumerate(panels):
        axis = "y" if rank == 0 else f"y{rank + 1}"
        top = 1.0 - rank * (height + _GAP)
        axes[f"yaxis{axis[1:]}"] = {
            **AXIS,
            "title": panel.label,
            "domain": [max(0.0, top - height), top],
            "rangemode": "tozero",
            "tickformat": ",~g" if not panel.scale.unit else "",
        }
        for values, colour, name in panel.series:
            unit = f" {panel.scale.unit}" if panel.scale.unit else ""
            figure.add_scatter(
                x=plain(course.edges, time.divisor),
                y=plain(np.append(values, values[-1:]), panel.scale.divisor),
                yaxis=axis,
                mode="lines",
                line={"color": colour, "width": 1.75, "shape": "hv"},
                fill="tozeroy" if panel.filled else "none",
                fillcolor=faint(colour),
                name=name,
                showlegend=rank == 0,
                hovertemplate=f"%{{x:.4g}} {time.unit}: %{{y:,.4~g}}{unit}<extra>{name}</extra>",
            )
    figure.update_layout(**axes, showlegend=True, hovermode="x")
    figure.update_xaxes(
        title=f"time since the beginning ({time.unit})",
        range=[0, float(course.edges.max()) / time.divisor],
        anchor=f"y{len(panels)}",
    )
    if course.warm_up_seconds:
        figure.add_shape(
            type="rect",
            x0=0,
            x1=course.warm_up_seconds / time.divisor,
            y0=0,
            y1=1,
            yref="paper",
            fillcolor="rgba(128,128,128,0.16)",
            line={"width": 0},
            layer="below",
        )
    mark_faults(figure, course.fault_seconds, time.divisor)
    for at in course.repair_seconds:
        x = at / time.divisor
        line = {"color": GREY, "width": 1.5, "dash": "dot"}
        figure.add_shape(type="line", x0=x, x1=x, y0=0, y1=1, yref="paper", line=line)
    return figure


def course_static(figure: matplotlib.figure.Figure, course: TrafficCourse) -> None:
    """The same with matplotlib.

    Args:
        figure: An empty figure.
        course: The numbers.
    """
    panels = _panels(course)
    time = time_scale(float(course.edges.max()))
    edges = course.edges / time.divisor
    grid = figure.subplots(len(panels), 1, sharex=True, squeeze=False)
    for rank, (axes, panel) in enumerate(zip(grid[:, 0], panels, strict=True)):
        for values, colour, name in panel.series:
            scaled = values / panel.scale.divisor
            if panel.filled:
                axes.stairs(np.nan_to_num(scaled), edges, color=colour, fill=True, alpha=0.25)
            # A baseline would draw lines down to 0 beside intervals without a value.
            base = 0.0 if panel.filled else None
            axes.stairs(scaled, edges, baseline=base, color=colour, linewidth=0.9, label=name)
        axes.set_ylim(bottom=0.0)
        unit = f"\n({panel.scale.unit})" if panel.scale.unit else ""
        axes.set_ylabel(panel.title.replace(" ", "\n", 1) + unit)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
        if rank == 0 and len(panel.series) > 1:
            axes.legend(loc="lower right", bbox_to_anchor=(1.0, 0.98), ncols=2)
        if course.warm_up_seconds:
            axes.axvspan(0.0, course.warm_up_seconds / time.divisor, color="#00000014", lw=0)
        mark_faults_static(axes, course.fault_seconds, time.divisor)
        for at in course.repair_seconds:
            axes.axvline(at / time.divisor, color=GREY, linestyle=":", linewidth=0.8)
    figure.align_ylabels(grid[:, 0])
    grid[-1, 0].set_xlim(0.0, float(edges.max()))
    grid[-1, 0].set_xlabel(f"time since the beginning ({time.unit})")


def static_inches(course: TrafficCourse) -> tuple[float, float]:
    """Width and height of the static figure: a column wide, as high as its panels need.

    Args:
        course: The numbers.
    """
    return 3.5, 0.9 + 1.05 * len(_panels(course))
