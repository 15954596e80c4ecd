"""The charts about what clients got, and about the network, put together."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from resilver.report import distributions as spread
from resilver.report.chart import Chart
from resilver.report.lanes import (
    LanesChart,
    lanes_chart,
    lanes_finding,
    lanes_table,
    lanes_text,
)
from resilver.report.network import (
    LinkMap,
    link_map,
    links_table,
    network_finding,
)
from resilver.report.source import ResultsLike, SystemRuns
from resilver.report.streams import (
    StreamsChart,
    streams_chart,
    streams_finding,
    streams_table,
    streams_text,
)
from resilver.report.tables import Table
from resilver.report.traffic import (
    TrafficCourse,
    course_finding,
    course_table,
    course_text,
    has_traffic,
    traffic_course,
)
from resilver.report.traffic_devices import (
    DevicesChart,
    devices_chart,
    devices_finding,
    devices_table,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure as StaticFigure
    from plotly.graph_objects import Figure

STREAM_NAMES = ("streams", "lanes")
"""The charts of one run with streams, or with lanes, before the others."""
NAMES = ("course", "delays", "hops", "channels", "devices", "network")
"""The charts of one run with traffic, in the order of the page."""


def of_traffic(results: ResultsLike, point: SystemRuns) -> list[Chart]:
    """The charts about the traffic and the network of one system's median run.

    Args:
        results: The study's results.
        point: The system.

    Returns:
        Those for which its tables hold data; none without traffic and without a network.
    """
    made = []
    if (streams := streams_chart(results, point)) is not None:
        made.append(_streams(streams))
    if (lanes := lanes_chart(results, point)) is not None:
        made.append(_lanes(lanes))
    if (course := traffic_course(results, point)) is not None:
        made.append(_course(course))
    delays = spread.Delays(
        spread.histogram(results, point, "read_delay_seconds"),
        spread.histogram(results, point, "write_delay_seconds"),
    )
    if delays.kinds:
        made.append(_delays(delays))
    hops = spread.Hops(spread.histogram(results, point, "hops"))
    if hops.histogram.total:
        made.append(_hops(hops))
    channels = spread.ChannelsBusy(spread.histogram(results, point, "channel_busy_fraction"))
    if channels.histogram.total:
        made.append(_channels(channels))
    if has_traffic(point) and (devices := devices_chart(results, point)) is not None:
        made.append(_devices(devices))
    if (links := link_map(results, point)) is not None and links.packets.any():
        made.append(_network(links))
    return made


def _streams(data: StreamsChart) -> Chart:
    """Rates beside the analytic model, whole and by group."""
    from resilver.report.streams_plot import streams_figure, streams_inches, streams_static

    return Chart(
        "streams",
        streams_finding(data),
        streams_text(data),
        data,
        lambda: streams_figure(data),
        streams_table(data),
        "rates of streams",
        lambda figure: streams_static(figure, data),
        streams_inches(data),
    )


def _lanes(data: LanesChart) -> Chart:
    """What each class got of its lane, and who lent to whom."""
    from resilver.report.lanes_plot import lanes_figure, lanes_inches, lanes_static

    return Chart(
        "lanes",
        lanes_finding(data),
        lanes_text(data),
        data,
        lambda: lanes_figure(data),
        lanes_table(data),
        "what each class got",
        lambda figure: lanes_static(figure, data),
        lanes_inches(data),
    )


def _course(data: TrafficCourse) -> Chart:
    """Goodput, delay, losses and backlog over time."""
    from resilver.report.traffic_plot import course_figure, course_static, static_inches

    return Chart(
        "course",
        course_finding(data),
        course_text(data),
        data,
        lambda: course_figure(data),
        course_table(data),
        "what clients got over time",
        lambda figure: course_static(figure, data),
        static_inches(data),
    )


def _delays(data: spread.Delays) -> Chart:
    """How long requests take."""
    from resilver.report.distributions_plot import delays_figure, delays_static

    text = (
        "From the first issue of a request to its completion, attempts that were lost included: "
        "the share of the reads and of the writes that took so long, each of the two adding up to "
        "100 %. Half of the requests lie left of the dashed line and 99 % left of the dotted one."
    )
    return Chart(
        "delays",
        spread.delays_finding(data),
        text,
        data,
        lambda: delays_figure(data),
        spread.delays_table(data),
        "requests by delay",
        lambda figure: delays_static(figure, data),
        (3.5, 3.0),
    )


def _hops(data: spread.Hops) -> Chart:
    """How far packets go."""
    from resilver.report.distributions_plot import hops_figure, hops_static

    return _chart_of(
        "hops",
        spread.hops_finding(data),
        "A hop is one channel crossed: from a router over two switches to a disk there are three.",
        data,
        lambda: hops_figure(data),
        lambda figure: hops_static(figure, data),
        spread.hops_table(data),
        "packets by number of hops",
    )


def _channels(data: spread.ChannelsBusy) -> Chart:
    """How busy the channels are."""
    from resilver.report.distributions_plot import channels_figure, channels_static

    text = (
        "A channel is one direction of a link. The curve says which share of all channels is busy "
        "so much of the time or less; where it is steep, many are equally busy."
    )
    return _chart_of(
        "channels",
        spread.channels_finding(data),
        text,
        data,
        lambda: channels_figure(data),
        lambda figure: channels_static(figure, data),
        spread.channels_table(data),
        "channels by busy share",
    )


def _network(data: LinkMap) -> Chart:
    """The map of link load."""
    from resilver.report.network_plot import network_figure, network_static

    text = (
        "The topology drawn. A link is the wider and warmer the busier its busier direction is; "
        "circles mark the busiest ones, which the table names. Of a link that would cover "
        "others, as around the edge of a torus, only the two ends are drawn."
    )
    heading = network_finding(data)
    return Chart(
        "network",
        heading,
        text,
        data,
        lambda: network_figure(data),
        links_table(data),
        "the busiest links",
        whole=lambda: network_static(data, heading),
    )


def _devices(data: DevicesChart) -> Chart:
    """How busy the devices are and what each completed."""
    from resilver.report.devices_plot import devices_figure, devices_static

    return _chart_of(
        "devices",
        devices_finding(data),
        "The share of the time that each device was serving, busiest first, failed ones included.",
        data,
        lambda: devices_figure(data),
        lambda figure: devices_static(figure, data),
        devices_table(data),
        "busy share and requests by server",
    )


def _chart_of(
    name: str,
    heading: str,
    text: str,
    data: object,
    draw: Callable[[], Figure],
    static: Callable[[StaticFigure], None],
    table: Table,
    table_title: str,
) -> Chart:
    """A chart a column wide."""
    return Chart(name, heading, text, data, draw, table, table_title, static)
