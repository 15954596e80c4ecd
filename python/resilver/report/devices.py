"""How busy each device and its link was, and what it served."""

from __future__ import annotations

import numpy as np

from resilver.charts.idioms import points
from resilver.charts.style import BLUE, GREEN, ORANGE, PURPLE, VERMILLION
from resilver.charts.vega import Chart, Spec, axis, rows
from resilver.report.arrays import Floats, Integers, descending
from resilver.report.servers import Servers, rank_axis
from resilver.tables import Table, table
from resilver.words import percent, plural


def busy(data: Servers) -> Chart | None:
    """The busy share of each device and of its link, busiest device first.

    Returns:
        The chart; None where nobody knows how busy they were.
    """
    known = np.flatnonzero(~np.isnan(data.device_share))
    if not known.size:
        return None
    order = known[descending(data.device_share[known])]
    has_links = not np.isnan(data.link_share[order]).all()

    top = int(order[0])
    is_shared = data.share_of == "time" and data.pieces.any()
    when = ", with the rebuild or with clients" if is_shared else ""
    text = (
        f"The share of the {data.share_of} for which each {data.holder}'s device"
        f"{' and link were' if has_links else ' was'} busy{when}, busiest first."
    )
    heading = (
        f"Devices are busy {percent(float(np.mean(data.device_share[order])))} of the "
        f"{data.share_of} on average; the busiest, {data.names[top]}'s, "
        f"{percent(float(data.device_share[top]))}"
    )
    if has_links:
        heading += f", the busiest link {percent(float(np.nanmax(data.link_share[order])))}"
    if waiting := float(data.backlog.sum()):
        heading += f"; {plural(waiting, 'acknowledged write')} still wait for them at the end"
    return Chart(
        "busy",
        heading,
        text,
        lambda: _busy_spec(data, order),
        _busy_table(data, order),
        f"busy shares by {data.holder}",
        True,
    )


def _busy_spec(data: Servers, order: Integers) -> Spec:
    """A mark a device by its class, or as failed, and one for its link."""
    has_links = not np.isnan(data.link_share[order]).all()
    kinds = [data.class_of(at) or "device" for at in order]
    kinds = ["failed" if data.failed[at] else kind for at, kind in zip(order, kinds, strict=True)]
    devices = [
        (rank, kind, 100.0 * float(data.device_share[at]), _busy_text(data, at, "its device"), at)
        for rank, (at, kind) in enumerate(zip(order, kinds, strict=True), 1)
    ]
    links = [
        (rank, "link", 100.0 * float(data.link_share[at]), _busy_text(data, at, "its link"), at)
        for rank, at in enumerate(order, 1)
        if has_links
    ]
    ranks, of_marks, shares, texts, parts = zip(*devices, *links, strict=True)
    names = list(dict.fromkeys(of_marks))
    by_name = {"link": ORANGE, "failed": VERMILLION}
    spare = iter((BLUE, GREEN, PURPLE) * len(names))
    named = {name: by_name.get(name) or next(spare) for name in names}
    marks = rows(
        rank=ranks, kind=of_marks, y=shares, text=texts, part=[data.names[at] for at in parts]
    )
    across = rank_axis(f"{data.holder}s, busiest device first", order.size)
    ends = (0.0, min(104.0, max(1.08 * max(shares), 0.1)))
    upwards = axis("y", f"busy share of the {data.share_of} (%)", ends=ends)
    return points(marks, across, upwards, named, zooms="zoom")


def _busy_text(data: Servers, at: int, what: str) -> str:
    share = data.device_share if "device" in what else data.link_share
    kind = f" ({data.class_of(at)})" if data.class_of(at) else ""
    text = f"{data.names[at]}{kind}: {what} is busy {percent(float(share[at]))}"
    served = f", {plural(float(data.completed[at]), 'request')}" if data.completed[at] else ""
    return f"{text}{served}{', failed' if data.failed[at] else ''}"


def _busy_table(data: Servers, order: Integers) -> Table:
    at = order
    served = data.completed.any() or data.lost.any()
    clients: list[tuple[str, str, str, Floats]] = [
        ("requests_completed", "requests completed", "count", data.completed[at]),
        ("requests_lost", "requests lost", "count", data.lost[at]),
        ("write_backlog_requests", "writes waiting at the end", "count", data.backlog[at]),
    ]
    states = ["failed" if data.failed[i] else "works" for i in at]
    return table(
        ("name", data.holder, "text", [data.names[i] for i in at]),
        *([("class", "class", "text", [data.classes[i] for i in at])] if any(data.classes) else []),
        ("device_busy_share", "device busy", "share", data.device_share[at]),
        ("link_busy_share", "link busy", "share", data.link_share[at]),
        *(clients if served else []),
        ("state", "state", "text", states),
    )
