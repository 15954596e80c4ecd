"""What each surviving device took in, when it finished, and how busy each device and link was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from resilver.charts.idioms import columns, panels, points, series
from resilver.charts.scales import byte_scale, time_scale
from resilver.charts.style import BLUE, GREEN, ORANGE, PURPLE, VERMILLION
from resilver.charts.vega import Chart, Spec, axis, rows, tip
from resilver.report.arrays import Flags, Floats, Integers, column, descending, rows_of_run
from resilver.study.results import StudyTables
from resilver.study.system_runs import SystemRuns, number
from resilver.tables import Table, table
from resilver.units import format_duration
from resilver.words import against, percent, plural

_FEW_GROUPS = 16.0
"""Below this many groups a device, chance scatters them by more than a quarter of their mean."""


@dataclass(frozen=True, eq=False)
class Servers:
    """What each device took part in, one entry a device, by index.

    Args:
        names: The devices' names.
        holder: What they are called, in the singular: "server" or "OSD".
        classes: The class of each device, empty where they have none.
        failed: Which failed.
        pieces: Replicas or pieces rebuilt on it.
        bytes: Their bytes.
        groups: Placement groups gained; None where the system has no groups.
        finish_seconds: When its last rebuilt byte was written, from the first fault; NaN if it
            rebuilt nothing.
        device_share: Share of the time its device was busy; NaN if unknown.
        link_share: Share of the time its link was busy; NaN if unknown.
        share_of: Which time: that of the rebuild, or all that counts where clients are served too.
        completed: Clients' requests that each completed.
        lost: Clients' requests to it that were lost.
        backlog: Writes acknowledged and not yet on it at the end.
    """

    names: tuple[str, ...]
    holder: str
    classes: tuple[str, ...]
    failed: Flags
    pieces: Floats
    bytes: Floats
    groups: Floats | None
    finish_seconds: Floats
    device_share: Floats
    link_share: Floats
    share_of: str
    completed: Floats
    lost: Floats
    backlog: Floats

    @property
    def alive(self) -> Integers:
        """The indices of those that survive."""
        return np.flatnonzero(~self.failed)

    def class_of(self, index: int) -> str:
        """The class of a device; empty where there is one class, or none."""
        return self.classes[index] if len(set(self.classes)) > 1 else ""


def servers(results: StudyTables, point: SystemRuns) -> Servers:
    """The devices of the system's median run."""
    data = rows_of_run(results.servers, point.median["run"])
    # Beside clients, busy times begin with the warm-up's end and hold more than the rebuild.
    window = number(point.median, "statistics_seconds")
    seconds = window or number(point.median, "rebuild_seconds") or np.nan
    groups = column(data, "placement_groups_gained")
    kinds = data["class"].to_pylist() if "class" in data.column_names else [None] * data.num_rows
    begin = point.first_fault_seconds
    return Servers(
        names=tuple(str(name) for name in data["name"].to_pylist()),
        holder=point.holder,
        classes=tuple(str(kind or "") for kind in kinds),
        failed=np.array(data["failed"].to_pylist(), dtype=bool),
        pieces=np.nan_to_num(column(data, "rebuilt_objects")),
        bytes=np.nan_to_num(column(data, "rebuilt_bytes")),
        groups=None if np.isnan(groups).all() else np.nan_to_num(groups),
        finish_seconds=column(data, "finish_seconds") - begin,
        device_share=column(data, "device_busy_seconds") / seconds,
        link_share=column(data, "link_busy_seconds") / seconds,
        share_of="time" if window else "rebuild",
        completed=np.nan_to_num(column(data, "requests_completed")),
        lost=np.nan_to_num(column(data, "requests_lost")),
        backlog=np.nan_to_num(column(data, "write_backlog_requests")),
    )


def hosts(results: StudyTables, point: SystemRuns) -> dict[str, str]:
    """The host of each device by its name; of a server the node that it is on the network's map."""
    run = point.median["run"]
    data, links = (rows_of_run(one, run) for one in (results.servers, results.links))
    both = zip(data["name"].to_pylist(), data["host"].to_pylist(), strict=True)
    found = {str(name): str(host) for name, host in both if host and host != name}
    cluster = point.system.cluster if point.system is not None else None
    # Where servers have one port each, server s is host s of the topology.
    if not found and cluster and cluster.attachment == "local" and cluster.port_count == 1:
        nodes = dict(zip(links["from"].to_pylist(), links["from_name"].to_pylist(), strict=True))
        nodes |= dict(zip(links["to"].to_pylist(), links["to_name"].to_pylist(), strict=True))
        names = zip(data["server"].to_pylist(), data["name"].to_pylist(), strict=True)
        found = {str(name): str(nodes[at]) for at, name in names if at in nodes}
    return found


def rank_axis(title: str, count: int) -> Spec:
    """The axis across of devices in the order of their ranks."""
    made = axis("rank", title, ends=(0.25, count + 0.75), form=",d", tickMinStep=1)
    # Vega-Lite widens an axis of bars by itself, so that what stands below would not be in line.
    made["scale"]["padding"] = 0
    return made


def by_server(data: Servers, point: SystemRuns) -> Chart:
    """What each survivor rebuilt, most first, with the placement groups it gained."""
    alive = data.alive
    order = alive[descending(data.pieces[alive])]
    piece, holder = point.piece, data.holder

    def make() -> Spec:
        values = rows(
            rank=range(1, order.size + 1),
            part=[data.names[at] for at in order],
            y=data.pieces[order],
            text=[_server_text(data, at, piece) for at in order],
            **({} if data.groups is None else {"g": data.groups[order]}),
            kind=[data.class_of(at) or f"{piece}s" for at in order],
        )
        across = rank_axis(f"surviving {holder}s, most {piece}s first", order.size)
        ends = (0.0, 1.06 * max(1.0, float(data.pieces[order].max())))
        upwards = axis("y", f"{piece}s rebuilt", ends=ends)
        bars = columns(values, across, upwards, _kinds(values), zooms=True)
        if data.groups is None:
            return bars
        ends = (0.0, 1.06 * max(1.0, float(data.groups.max())))
        upwards = axis("g", "placement groups", ends=ends, tickMinStep=1)
        read = tip(("part", holder), ("g", "placement groups gained"))
        gained = points(values, across, upwards, ORANGE, size=28, height=110, read=read, clip=True)
        return panels([bars, gained])

    text = f"What each surviving {holder} rebuilds, most first"
    if data.groups is not None:
        text += "; below, how many placement groups it gains"
    return Chart(
        "servers",
        _servers_finding(data, point),
        f"{text}.{_granularity(data, piece)}",
        make,
        servers_table(data, order, piece),
        f"rebuilt {piece}s by {holder}",
        is_for_experts=True,
    )


def _granularity(data: Servers, piece: str) -> str:
    """A hint where survivors gain so few groups each that chance alone makes them uneven."""
    if data.groups is None:
        return ""
    groups, pieces = data.groups[data.alive], data.pieces[data.alive]
    mean = float(groups.mean())
    if not 0.0 < mean < _FEW_GROUPS:
        return ""
    each = plural(float(pieces.sum() / groups.sum()), piece)
    # Counts of groups that fall independently of each other are Poisson distributed: their standard
    # deviation is the root of their mean.
    return (
        f" On average {data.holder}s gain {mean:.2g} groups of some {each}. Groups so few scatter "
        f"by chance, by {percent(mean**-0.5)} of that mean up and down where each is drawn by "
        "itself; more groups are more even."
    )


def _server_text(data: Servers, at: int, piece: str) -> str:
    kind = f", {data.class_of(at)}" if data.class_of(at) else ""
    gained = f", {plural(data.groups[at], 'placement group')}" if data.groups is not None else ""
    end = float(data.finish_seconds[at])
    done = "rebuilds nothing" if np.isnan(end) else f"done after {format_duration(end)}"
    return f"{data.names[at]}{kind}: {plural(float(data.pieces[at]), piece)}{gained}, {done}"


def _servers_finding(data: Servers, point: SystemRuns) -> str:
    """How unevenly the rebuilt pieces fall on the survivors."""
    alive = data.alive
    pieces = data.pieces[alive]
    top = int(alive[descending(pieces)[0]])
    mean = float(pieces.mean())
    # A mean of half a piece must not be called 0.
    mean_text = f"{mean:,.0f}" if mean == round(mean) or mean > 10 else f"{mean:,.1f}"
    text = f"{data.names[top]} rebuilds {plural(float(data.pieces[top]), point.piece)}"
    if mean > 0.0:
        text += f", {against(float(data.pieces[top]) / mean, f'the mean of {mean_text}')}"
    if data.groups is not None:
        text += f", from {plural(float(data.groups[top]), 'placement group')}"
    idle = int(np.count_nonzero(pieces == 0))
    return f"{text}; {idle:,} of {alive.size:,} survivors rebuild nothing" if idle else text


def _kinds(values: Spec) -> dict[str, str]:
    """The colour of each class, in the order of the data."""
    return series((row["kind"] for row in values["values"]), (BLUE, GREEN, PURPLE))


_FIRST_NAME = {"condition": {"test": "datum.rank === 1", "field": "part"}, "value": ""}
"""The text of the first mark is its name; others have none."""


def finishing(data: Servers, point: SystemRuns) -> Chart | None:
    """When each survivor finished: sorted, and against the bytes it rebuilt."""
    active = np.flatnonzero(~np.isnan(data.finish_seconds) & ~data.failed)
    if not active.size:
        return None
    order = active[descending(data.finish_seconds[active])]
    last, holder = int(order[0]), data.holder
    time = time_scale(float(data.finish_seconds[last]))
    size = byte_scale(float(data.bytes[active].max()))

    def make() -> Spec:
        values = rows(
            rank=range(1, order.size + 1),
            x=data.bytes[order] / size.divisor,
            y=data.finish_seconds[order] / time.divisor,
            kind=[data.class_of(at) or holder for at in order],
            text=[_server_text(data, at, point.piece) for at in order],
            part=[data.names[at] for at in order],
        )
        top = 1.14 * float(data.finish_seconds[last]) / time.divisor
        upwards = axis("y", f"finished after ({time.unit})", ends=(0.0, top))
        wide = 1.08 * float(data.bytes[order].max()) / size.divisor
        views: list[Spec] = []
        for across, align, aside in (
            (rank_axis(f"{holder}s that rebuild, last to finish first", order.size), "left", 8),
            (axis("x", f"data rebuilt on it ({size.unit})", ends=(0.0, wide)), "right", -8),
        ):
            words = {"type": "text", "align": align, "dx": aside, "dy": -8, "color": VERMILLION}
            first = {"mark": words, "encoding": {"text": _FIRST_NAME}}
            zooms, kinds = f"zoom{len(views)}", _kinds(values)
            views.append(
                points(
                    values, across, upwards, kinds, size=36, height=280, zooms=zooms,
                    over=[first], opacity=0.8,
                )
            )  # fmt: skip
        return {"hconcat": views}

    text = (
        f"When each {holder} has written its last rebuilt byte, from the first fault on: sorted, "
        f"and against how much it rebuilds. {holder[0].upper()}{holder[1:]}s on one line through "
        "the origin write at one rate."
    )
    return Chart(
        "finish",
        _finish_finding(data, active, last),
        text,
        make,
        servers_table(data, order, point.piece),
        f"finishing time by {holder}",
        is_for_experts=True,
    )


def _finish_finding(data: Servers, active: Integers, last: int) -> str:
    """Who finishes last, and how much later than half of those that rebuild."""
    words = format_duration(float(data.finish_seconds[last]))
    text = f"{data.names[last]} finishes last, after {words}"
    if active.size < 2:
        return f"{text}: it is the only {data.holder} that rebuilds"
    half = format_duration(float(np.median(data.finish_seconds[active])))
    return f"{text}; half of them are done after {half}"


def servers_table(data: Servers, order: Sequence[int] | Integers, piece: str) -> Table:
    """One row a device, in the order given; `piece` is what is rebuilt, in the singular."""
    at = np.asarray(order)
    groups = [None] * at.size if data.groups is None else data.groups[at]
    return table(
        ("name", data.holder, "text", [data.names[i] for i in at]),
        *([("class", "class", "text", [data.classes[i] for i in at])] if any(data.classes) else []),
        ("rebuilt_pieces", f"{piece}s rebuilt", "count", data.pieces[at]),
        ("rebuilt_bytes", "data rebuilt", "bytes", data.bytes[at]),
        ("placement_groups_gained", "placement groups gained", "count", groups),
        ("finish_seconds", "finished after", "seconds", data.finish_seconds[at]),
        ("device_busy_share", "device busy", "share", data.device_share[at]),
        ("link_busy_share", "link busy", "share", data.link_share[at]),
    )


def busy(data: Servers) -> Chart | None:
    """The busy share of each device and its link, busiest device first; None where nobody knows."""
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
    made, title = _busy_table(data, order), f"busy shares by {data.holder}"
    return Chart("busy", heading, text, lambda: _busy_spec(data, order), made, title, True)


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
