"""Parallel coordinates, drawn with Plotly and with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

from resilver.report.parallel import ASIDE, Parallel, ParallelLine, Place
from resilver.report.plots import empty_figure, text_of
from resilver.report.scales import significant
from resilver.report.style import GREY, SERIES, SERIES_MARKS, SERIES_MARKS_STATIC

if TYPE_CHECKING:
    import matplotlib.figure
    from plotly.graph_objects import Figure

_DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
_DASHES_STATIC = ("-", "--", ":", "-.", (0, (8, 2)))
_PAPER = "the paper"


def parallel_figure(made: Parallel) -> Figure:
    """The axes and lines with Plotly; a click on a name hides its line, its runs and its spread.

    Args:
        made: The chart.
    """
    figure = empty_figure(460)
    for axis in range(len(made.axes)):
        figure.add_vline(x=axis, line={"color": GREY, "width": 1.5}, layer="below")
    if made.level is not None:
        figure.add_hline(y=made.level, line={"color": GREY, "width": 1, "dash": "dash"})
    for rank, line in enumerate(made.lines):
        if made.runs[1] > 1:
            _runs(figure, made, rank, line)
        _means(figure, made, rank, line)
    _published(figure, made)
    low, high = made.limits
    figure.update_xaxes(
        tickvals=list(range(len(made.axes))),
        ticktext=[text_of(name).replace(", ", ",<br>") for name in made.axes],
        range=[-0.4, len(made.axes) - 0.6],
        showgrid=False,
    )
    figure.update_yaxes(title=made.title, range=[low, high])
    figure.update_layout(hovermode="closest", showlegend=True)
    return figure


def _means(figure: Figure, made: Parallel, rank: int, line: ParallelLine) -> None:
    """A line through the means, with bars from the least to the greatest run."""
    colour = SERIES[rank % len(SERIES)]
    figure.add_scatter(
        x=[place.axis + made.offset(rank) for place in line.places],
        y=[significant(place.mean) for place in line.places],
        error_y={
            "type": "data",
            "symmetric": False,
            "array": [significant(place.most - place.mean) for place in line.places],
            "arrayminus": [significant(place.mean - place.least) for place in line.places],
            "thickness": 1.5,
            "width": 4,
        },
        text=[_hover(made, line, place) for place in line.places],
        hoverinfo="text",
        mode="lines+markers",
        name=text_of(line.name),
        legendgroup=line.name,
        line={"color": colour, "width": 2.5, "dash": _DASHES[rank % len(_DASHES)]},
        marker={"size": 10, "symbol": SERIES_MARKS[rank % len(SERIES_MARKS)]},
    )


def _hover(made: Parallel, line: ParallelLine, place: Place) -> str:
    unit = f" {made.unit}" if made.unit else ""
    text = (
        f"{text_of(line.name)}, {text_of(made.axes[place.axis])}<br>mean {place.mean:,.4g}{unit}, "
        f"{place.least:,.4g} to {place.most:,.4g} in {len(place.values):,} runs"
    )
    return text if place.published is None else f"{text}<br>{_PAPER}: {place.published:,.4g}{unit}"


def _runs(figure: Figure, made: Parallel, rank: int, line: ParallelLine) -> None:
    """A faint dot for each run."""
    figure.add_scatter(
        x=[place.axis + made.offset(rank) + ASIDE for place in line.places for _ in place.values],
        y=[significant(value) for place in line.places for value in place.values],
        mode="markers",
        hoverinfo="skip",
        legendgroup=line.name,
        showlegend=False,
        marker={"size": 5, "color": SERIES[rank % len(SERIES)], "opacity": 0.3},
    )


def _published(figure: Figure, made: Parallel) -> None:
    """Stars where the source says a number, beside the line's own place."""
    shown = False
    for rank, line in enumerate(made.lines):
        told = [place for place in line.places if place.published is not None]
        if not told:
            continue
        figure.add_scatter(
            x=[place.axis + made.offset(rank) for place in told],
            y=[place.published for place in told],
            text=[_hover(made, line, place) for place in told],
            hoverinfo="text",
            mode="markers",
            name=_PAPER,
            legendgroup=_PAPER,
            showlegend=not shown,
            marker={
                "size": 15,
                "symbol": "star-open",
                "color": SERIES[rank % len(SERIES)],
                "line": {"width": 2},
            },
        )
        shown = True


def parallel_static(figure: matplotlib.figure.Figure, made: Parallel) -> None:
    """The same with matplotlib.

    Args:
        figure: An empty figure.
        made: The chart.
    """
    from matplotlib.lines import Line2D

    axes = figure.subplots()
    for axis in range(len(made.axes)):
        axes.axvline(axis, color=GREY, linewidth=0.8, zorder=0)
    if made.level is not None:
        axes.axhline(made.level, color=GREY, linewidth=0.7, linestyle="--", zorder=0)
    for rank, line in enumerate(made.lines):
        colour = SERIES[rank % len(SERIES)]
        xs = [place.axis + made.offset(rank) for place in line.places]
        means = [place.mean for place in line.places]
        if made.runs[1] > 1:
            axes.plot(
                [x + ASIDE for x, place in zip(xs, line.places, strict=True) for _ in place.values],
                [value for place in line.places for value in place.values],
                linestyle="",
                marker=".",
                markersize=3,
                markeredgewidth=0.0,
                color=colour,
                alpha=0.5,
            )
        axes.errorbar(
            xs,
            means,
            yerr=[
                [mean - place.least for mean, place in zip(means, line.places, strict=True)],
                [place.most - mean for mean, place in zip(means, line.places, strict=True)],
            ],
            color=colour,
            linestyle=_DASHES_STATIC[rank % len(_DASHES_STATIC)],
            marker=SERIES_MARKS_STATIC[rank % len(SERIES_MARKS_STATIC)],
            markersize=4.5,
            elinewidth=0.8,
            capsize=1.5,
            label=line.name,
        )
        for x, place in zip(xs, line.places, strict=True):
            if place.published is not None:
                axes.plot(
                    [x],
                    [place.published],
                    linestyle="",
                    marker="*",
                    markersize=8,
                    markerfacecolor="none",
                    markeredgecolor=colour,
                )
    axes.set_xticks(range(len(made.axes)), [name.replace(", ", ",\n") for name in made.axes])
    axes.set_xlim(-0.4, len(made.axes) - 0.6)
    axes.set_ylim(*made.limits)
    axes.grid(False, axis="x")
    axes.set_ylabel(made.title)
    handles, names = axes.get_legend_handles_labels()
    if any(place.published is not None for line in made.lines for place in line.places):
        # In no line's colour, since it stands for the stars of all.
        star = Line2D(
            [], [], color=GREY, linestyle="", marker="*", markersize=8, markerfacecolor="none"
        )
        handles, names = [*handles, star], [*names, _PAPER]
    axes.legend(handles, names, loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2)
