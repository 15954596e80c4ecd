"""Heat maps of a torus: what its channels in X and Y carry by each policy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from resilver.charts.chart import Chart
from resilver.charts.idioms import fields, heat
from resilver.charts.style import GREY
from resilver.charts.vega import Spec, rows, tip
from resilver.report.routes import WORDS
from resilver.tables import table

if TYPE_CHECKING:
    from resilver.center.routes import Routes
    from resilver.center.torus import ChannelLoads

_AXES = ("X", "Y")


def heat_charts(routes: Sequence[Routes]) -> list[Chart]:
    """What the channels in X and Y carry: the largest along Z at each X and Y, a chart a policy.

    All have one scale, so that one policy's colours say the same as another's.
    """
    from resilver.center.routes import channel_loads

    loads = [channel_loads(one) for one in routes]
    top = max(max(one.largest()[:2]) for one in loads)
    return [_heat_chart(*one, top) for one in zip(routes, loads, strict=True)]


def _heat_chart(routes: Routes, loads: ChannelLoads, top: float) -> Chart:
    found = []
    for at, name in enumerate(_AXES):
        largest = loads.of(at).max(axis=(0, 3))
        found += [
            (name, x, y, float(largest[x, y]))
            for x in range(largest.shape[0])
            for y in range(largest.shape[1])
        ]
    kinds, x, y, load = zip(*found, strict=True)
    made = table(
        ("axis", "axis", "text", kinds),
        ("x", "x", "count", x),
        ("y", "y", "count", y),
        ("load", "clients of a network", "number", load),
    )
    policy = WORDS[routes.policy]

    def spec() -> Spec:
        read = tip(("x", "X"), ("y", "Y"), ("depth", "clients of a network"))
        edge: Spec = {"stroke": GREY, "strokeWidth": 0.2}
        upwards = fields("y", "Y", "descending")
        views = []
        for name in _AXES:
            own = [one for one in found if one[0] == name]
            _, x, y, load = zip(*own, strict=True)
            data = rows(x=x, y=y, depth=load)
            across, ends = fields("x", "X"), (0.0, top)
            view = heat(data, across, upwards, ends, legend="clients", read=read, **edge)
            views.append(view | {"title": f"channels in {name}"})
        return {"vconcat": views}

    x_most, y_most, _ = loads.largest()
    heading = f"{policy.capitalize()}: the busiest channel carries {x_most:,.0f} clients in X, "
    heading += f"{y_most:,.0f} in Y"
    text = "The busiest of the channels at each X and Y, whatever its Z, in clients of a network; "
    text += "full colour is the busiest of all policies."
    return Chart(f"heat-{routes.policy}", heading, text, spec, made, f"channels, {policy}")
