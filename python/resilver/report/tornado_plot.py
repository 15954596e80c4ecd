"""Tornado charts, drawn with Plotly and with matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from resilver.report.plots import empty_figure, text_of
from resilver.report.sensitivity import signed
from resilver.report.style import BLUE, ORANGE

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

    from resilver.study.effects import Effect

_AXIS = {"rebuild_seconds": "change of the rebuild time (%)"}
_SIDES = (("lower", BLUE, 0), ("higher", ORANGE, 1))


def _axis(effects: Sequence[Effect]) -> str:
    return _AXIS.get(effects[0].metric, "change of the goodput (%)")


def tornado_figure(effects: Sequence[Effect]) -> Figure:
    """Two bars an assumption, from the result as it is, with Plotly.

    Args:
        effects: The effects, the weightiest first.
    """
    figure = empty_figure(110 + 30 * len(effects))
    for side, colour, rank in _SIDES:
        changes = [one.changes[rank] for one in effects]
        values = [one.low if rank == 0 else one.high for one in effects]
        figure.add_bar(
            y=[one.assumption for one in effects],
            x=[None if change is None else 100.0 * change for change in changes],
            orientation="h",
            name=side,
            marker={"color": colour},
            hovertext=[
                f"{text_of(one.assumption)} {text_of(value)}: {signed(change)}"
                for one, value, change in zip(effects, values, changes, strict=True)
            ],
            hoverinfo="text",
        )
    figure.update_layout(barmode="group", bargap=0.25, margin={"l": 170})
    figure.update_yaxes(autorange="reversed")
    figure.update_xaxes(title=_axis(effects), zeroline=True, zerolinecolor="#8A8A8A")
    return figure


def tornado_static(figure: Any, effects: Sequence[Effect]) -> None:
    """The same with matplotlib.

    Args:
        figure: An empty figure.
        effects: The effects, the weightiest first.
    """
    axes = figure.subplots()
    for side, colour, rank in _SIDES:
        at = [place + 0.2 * (2 * rank - 1) for place in range(len(effects))]
        widths = [100.0 * (one.changes[rank] or 0.0) for one in effects]
        axes.barh(at, widths, height=0.38, color=colour, label=side)
    axes.set_yticks(range(len(effects)), [one.assumption for one in effects])
    axes.invert_yaxis()
    axes.axvline(0.0, color="#8A8A8A", linewidth=0.6)
    axes.set_xlabel(_axis(effects))
    axes.legend(loc="best")
