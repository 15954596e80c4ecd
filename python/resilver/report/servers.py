"""What each surviving device took in, when it finished, and how busy each device and link was."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, median

from resilver.charts.idioms import columns, panels, points, series
from resilver.charts.scales import byte_scale, time_scale
from resilver.charts.style import BLUE, GREEN, ORANGE, PURPLE, VERMILLION
from resilver.charts.vega import Chart, Spec, axis, marks, rows, tip
from resilver.report.arrays import rows_of_run
from resilver.study.results import StudyTables
from resilver.study.system_runs import Row, SystemRuns, number
from resilver.tables import Table, table_of
from resilver.units import format_duration
from resilver.words import against, percent, plural

_FEW_GROUPS = 16.0
"""Below this many groups a device, chance scatters them by more than a quarter of their mean."""
_SUMS = (
    *("rebuilt_objects", "rebuilt_bytes"),
    *("requests_completed", "requests_lost", "write_backlog_requests"),
)
"""Columns of which nothing is none."""


def devices(results: StudyTables, point: SystemRuns) -> list[Row]:
    """What each device took part in during the system's median run, by index.

    Returns:
        The rows of the table `servers`, with sums of 0 for null; `finish_seconds` from the first
        fault on, null where it rebuilt nothing; `device_share` and `link_share`, for which share of
        the time of `share_of` each was busy, null where unknown; and its `class`, and `kind`, which
        is the class where there are several.
    """
    # Beside clients, busy times begin with the warm-up's end and hold more than the rebuild.
    seconds = number(point.median, "statistics_seconds") or number(point.median, "rebuild_seconds")
    found: list[Row] = rows_of_run(results.servers, point.median["run"]).to_pylist()
    is_mixed = len({row.get("class") for row in found}) > 1
    for row in found:
        row |= {name: number(row, name) or 0.0 for name in _SUMS}
        end = number(row, "finish_seconds")
        row["finish_seconds"] = None if end is None else end - point.first_fault_seconds
        for what in ("device", "link"):
            of = number(row, f"{what}_busy_seconds")
            row[f"{what}_share"] = None if of is None or not seconds else of / seconds
        row["class"] = str(row.get("class") or "")
        row["kind"] = row["class"] if is_mixed else ""
    return found


def share_of(point: SystemRuns) -> str:
    """Of which time busy shares are: the rebuild's, or all that counts beside clients."""
    return "time" if number(point.median, "statistics_seconds") else "rebuild"


def _most_first(found: Sequence[Row], column: str) -> list[Row]:
    return sorted(found, key=lambda row: -row[column])


def _has_groups(found: Sequence[Row]) -> bool:
    return any(row["placement_groups_gained"] is not None for row in found)


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


def by_server(every: Sequence[Row], point: SystemRuns) -> Chart:
    """What each survivor rebuilt, most first, with the placement groups it gained."""
    order = _most_first([row for row in every if not row["failed"]], "rebuilt_objects")
    piece, holder, has_groups = point.piece, point.holder, _has_groups(every)

    def make() -> Spec:
        values = rows(
            rank=range(1, len(order) + 1),
            part=[row["name"] for row in order],
            y=[row["rebuilt_objects"] for row in order],
            text=[_server_text(row, piece, has_groups) for row in order],
            **({"g": [row["placement_groups_gained"] or 0 for row in order]} if has_groups else {}),
            kind=[row["kind"] or f"{piece}s" for row in order],
        )
        across = rank_axis(f"surviving {holder}s, most {piece}s first", len(order))
        ends = (0.0, 1.06 * max(1.0, order[0]["rebuilt_objects"]))
        upwards = axis("y", f"{piece}s rebuilt", ends=ends)
        bars = columns(values, across, upwards, _kinds(values), zooms=True)
        if not has_groups:
            return bars
        most = max(row["placement_groups_gained"] or 0 for row in every)
        upwards = axis("g", "placement groups", ends=(0.0, 1.06 * max(1.0, most)), tickMinStep=1)
        read = tip(("part", holder), ("g", "placement groups gained"))
        gained = points(values, across, upwards, ORANGE, size=28, height=110, read=read, clip=True)
        return panels([bars, gained])

    text = f"What each surviving {holder} rebuilds, most first"
    text += "; below, how many placement groups it gains" if has_groups else ""
    return Chart(
        "servers",
        _servers_finding(order, piece, has_groups),
        f"{text}.{_granularity(order, point) if has_groups else ''}",
        make,
        servers_table(order, point),
        f"rebuilt {piece}s by {holder}",
        is_for_experts=True,
    )


def _granularity(alive: Sequence[Row], point: SystemRuns) -> str:
    """A hint where survivors gain so few groups each that chance alone makes them uneven."""
    groups = [row["placement_groups_gained"] or 0 for row in alive]
    mean = fmean(groups)
    if not 0.0 < mean < _FEW_GROUPS:
        return ""
    each = plural(sum(row["rebuilt_objects"] for row in alive) / sum(groups), point.piece)
    # Counts of groups that fall independently of each other are Poisson distributed: their standard
    # deviation is the root of their mean.
    return (
        f" On average {point.holder}s gain {mean:.2g} groups of some {each}. Groups so few scatter "
        f"by chance, by {percent(mean**-0.5)} of that mean up and down where each is drawn by "
        "itself; more groups are more even."
    )


def _server_text(row: Row, piece: str, has_groups: bool) -> str:
    kind = f", {row['kind']}" if row["kind"] else ""
    gained = row["placement_groups_gained"] or 0
    groups = f", {plural(gained, 'placement group')}" if has_groups else ""
    end = row["finish_seconds"]
    done = "rebuilds nothing" if end is None else f"done after {format_duration(end)}"
    return f"{row['name']}{kind}: {plural(row['rebuilt_objects'], piece)}{groups}, {done}"


def _servers_finding(alive: Sequence[Row], piece: str, has_groups: bool) -> str:
    """How unevenly the rebuilt pieces fall on the survivors, those with the most first."""
    first = alive[0]
    pieces = [row["rebuilt_objects"] for row in alive]
    mean = fmean(pieces)
    # A mean of half a piece must not be called 0.
    mean_text = f"{mean:,.0f}" if mean == round(mean) or mean > 10 else f"{mean:,.1f}"
    text = f"{first['name']} rebuilds {plural(pieces[0], piece)}"
    if mean > 0.0:
        text += f", {against(pieces[0] / mean, f'the mean of {mean_text}')}"
    if has_groups:
        text += f", from {plural(first['placement_groups_gained'] or 0, 'placement group')}"
    idle = pieces.count(0)
    return f"{text}; {idle:,} of {len(alive):,} survivors rebuild nothing" if idle else text


def _kinds(values: Spec) -> dict[str, str]:
    """The colour of each class, in the order of the data."""
    return series((row["kind"] for row in values["values"]), (BLUE, GREEN, PURPLE))


_FIRST_NAME = {"condition": {"test": "datum.rank === 1", "field": "part"}, "value": ""}
"""The text of the first mark is its name; others have none."""


def finishing(every: Sequence[Row], point: SystemRuns) -> Chart | None:
    """When each survivor finished: sorted, and against the bytes it rebuilt."""
    active = [row for row in every if row["finish_seconds"] is not None and not row["failed"]]
    if not active:
        return None
    order = _most_first(active, "finish_seconds")
    holder, end = point.holder, order[0]["finish_seconds"]
    most = max(row["rebuilt_bytes"] for row in active)
    time, size, has_groups = time_scale(end), byte_scale(most), _has_groups(every)

    def make() -> Spec:
        values = marks(
            "rank x y kind text part",
            (
                (
                    rank,
                    row["rebuilt_bytes"] / size.divisor,
                    row["finish_seconds"] / time.divisor,
                    row["kind"] or holder,
                    _server_text(row, point.piece, has_groups),
                    row["name"],
                )
                for rank, row in enumerate(order, 1)
            ),
        )
        upwards = axis("y", f"finished after ({time.unit})", ends=(0.0, 1.14 * end / time.divisor))
        wide = 1.08 * most / size.divisor
        views: list[Spec] = []
        for across, align, aside in (
            (rank_axis(f"{holder}s that rebuild, last to finish first", len(order)), "left", 8),
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
    heading = f"{order[0]['name']} finishes last, after {format_duration(end)}"
    if len(order) == 1:
        heading += f": it is the only {holder} that rebuilds"
    else:
        half = format_duration(median(row["finish_seconds"] for row in order))
        heading += f"; half of them are done after {half}"
    made, title = servers_table(order, point), f"finishing time by {holder}"
    return Chart("finish", heading, text, make, made, title, is_for_experts=True)


def _named(found: Sequence[Row], point: SystemRuns) -> list[tuple[str, str, str]]:
    """The columns that say which device it is."""
    classes = [("class", "class", "text")] if any(row["class"] for row in found) else []
    return [("name", point.holder, "text"), *classes]


def servers_table(order: Sequence[Row], point: SystemRuns) -> Table:
    """One row a device, in the order given."""
    return table_of(
        order,
        *_named(order, point),
        ("rebuilt_pieces", f"{point.piece}s rebuilt", "count", lambda row: row["rebuilt_objects"]),
        ("rebuilt_bytes", "data rebuilt", "bytes"),
        ("placement_groups_gained", "placement groups gained", "count"),
        ("finish_seconds", "finished after", "seconds"),
        ("device_busy_share", "device busy", "share", lambda row: row["device_share"]),
        ("link_busy_share", "link busy", "share", lambda row: row["link_share"]),
    )


def busy(every: Sequence[Row], point: SystemRuns) -> Chart | None:
    """The busy share of each device and its link, busiest device first; None where nobody knows."""
    order = [row for row in every if row["device_share"] is not None]
    if not order:
        return None
    order = _most_first(order, "device_share")
    of, first = share_of(point), order[0]
    links = [row["link_share"] for row in order if row["link_share"] is not None]
    is_shared = of == "time" and any(row["rebuilt_objects"] for row in every)
    when = ", with the rebuild or with clients" if is_shared else ""
    text = (
        f"The share of the {of} for which each {point.holder}'s device"
        f"{' and link were' if links else ' was'} busy{when}, busiest first."
    )
    heading = (
        f"Devices are busy {percent(fmean(row['device_share'] for row in order))} of the "
        f"{of} on average; the busiest, {first['name']}'s, {percent(first['device_share'])}"
    )
    if links:
        heading += f", the busiest link {percent(max(links))}"
    if waiting := sum(row["write_backlog_requests"] for row in every):
        heading += f"; {plural(waiting, 'acknowledged write')} still wait for them at the end"
    made, title = _busy_table(order, point), f"busy shares by {point.holder}"
    return Chart("busy", heading, text, lambda: _busy_spec(order, point), made, title, True)


def _busy_spec(order: Sequence[Row], point: SystemRuns) -> Spec:
    """A mark a device by its class, or as failed, and one for its link."""
    data = marks(
        "rank kind y text part",
        (
            (
                rank,
                kind or ("failed" if row["failed"] else row["kind"] or "device"),
                100.0 * row[share],
                _busy_text(row, row[share], what),
                row["name"],
            )
            for share, kind, what in (
                ("device_share", "", "its device"),
                ("link_share", "link", "its link"),
            )
            for rank, row in enumerate(order, 1)
            if row[share] is not None
        ),
    )
    names = list(dict.fromkeys(row["kind"] for row in data["values"]))
    by_name = {"link": ORANGE, "failed": VERMILLION}
    spare = iter((BLUE, GREEN, PURPLE) * len(names))
    named = {name: by_name.get(name) or next(spare) for name in names}
    across = rank_axis(f"{point.holder}s, busiest device first", len(order))
    most = max(row["y"] for row in data["values"])
    ends = (0.0, min(104.0, max(1.08 * most, 0.1)))
    upwards = axis("y", f"busy share of the {share_of(point)} (%)", ends=ends)
    return points(data, across, upwards, named, zooms="zoom")


def _busy_text(row: Row, share: float, what: str) -> str:
    kind = f" ({row['kind']})" if row["kind"] else ""
    text = f"{row['name']}{kind}: {what} is busy {percent(share)}"
    served = row["requests_completed"]
    text += f", {plural(served, 'request')}" if served else ""
    return f"{text}{', failed' if row['failed'] else ''}"


def _busy_table(order: Sequence[Row], point: SystemRuns) -> Table:
    clients = (
        ("requests_completed", "requests completed", "count"),
        ("requests_lost", "requests lost", "count"),
        ("write_backlog_requests", "writes waiting at the end", "count"),
    )
    has_clients = any(row["requests_completed"] or row["requests_lost"] for row in order)
    return table_of(
        order,
        *_named(order, point),
        ("device_busy_share", "device busy", "share", lambda row: row["device_share"]),
        ("link_busy_share", "link busy", "share", lambda row: row["link_share"]),
        *(clients if has_clients else ()),
        ("state", "state", "text", lambda row: "failed" if row["failed"] else "works"),
    )
