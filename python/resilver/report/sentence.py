"""The study in a few sentences: what the system is, what breaks, and what is swept."""

from __future__ import annotations

from resilver.report.faults import fault_sentences
from resilver.report.jobs import jobs_words
from resilver.report.provenance import assumptions, certainty
from resilver.spec.assumptions import lead
from resilver.spec.cluster import Cluster
from resilver.spec.device import DeviceClasses, DeviceTable
from resilver.spec.lanes import CLASSES
from resilver.spec.placement import Placement
from resilver.spec.pools import Pool
from resilver.spec.population import Population
from resilver.spec.redundancy import Redundancy
from resilver.spec.system import System
from resilver.spec.traffic import Traffic
from resilver.study.results import StudyTables
from resilver.study.system_runs import SystemRuns, format_swept, number, serves_only, swept_keys
from resilver.units import exact_bytes, exact_duration, exact_rate, format_rate
from resilver.words import listed, percent, plural

_SWEPT_SHOWN_MAX = 6
_FAILED = ("failed_servers", "failed_disks", "failed_links", "failed_switches", "failed_parts")
"""Columns that name what broke, for a system that is not at hand as it was declared."""


def describe(results: StudyTables, point: SystemRuns) -> str:
    """The study in two to six short sentences, its swept values standing at those of `point`.

    Args:
        point: The system that stands for the study.
    """
    system = point.system
    if system is None:
        names = listed([str(point.median[key]) for key in _FAILED if point.median.get(key)])
        lost = f"Lost: {names}." if names else "Nothing fails."
        return f"{plural(point.devices, point.holder)}. {lost} {_swept(results)}"
    first, *rest = system_sentences(system, point)
    origins = lead(assumptions(results))
    # What it rests on names a LogGP network already, with who says so.
    is_told = bool(origins) and system.cluster.fabric.topology is None
    network = f"{fabric_words(system.cluster)}."
    rest = [text for text in rest if not (is_told and text == network)]
    said = [text for text in (first, origins, *rest) if text]
    faults = fault_sentences(point)
    # A system that stores nothing has nothing that ought to fail.
    if faults != ["Nothing fails."] or not serves_only(point.rows):
        said += faults
    return " ".join([*said, _swept(results)])


def system_sentences(system: System, point: SystemRuns) -> list[str]:
    """What exists, what is stored in it, and what its clients do.

    Args:
        point: Its runs, which say how many groups there are.
    """
    cluster = system.cluster
    parts = [cluster_words(cluster)]
    groups = number(point.median, "placement_groups")
    grouped = plural(groups, "placement group") if groups else "no placement groups"
    if system.pools:
        parts += [plural(len(system.pools), "pool"), grouped]
    elif not serves_only(point.rows):
        is_swept = {"placement", "placement.algorithm"} & set(point.swept)
        parts += [*([] if is_swept else [_placement(system.placement)]), grouped]
    elif system.placement is not None and system.placement.group_size:
        parts.append(f"groups of {system.placement.group_size}")
    if system.redundancy is not None and not system.pools:
        parts.append(_redundancy(system.redundancy, system.failure_domains))
    said = [", ".join(part for part in parts if part) + "."]
    holder = point.holder
    if system.population is not None:
        said.append(f"{population_words(system.population, holder)}.")
    of_pools = system.of_pools if system.pools else ()
    said += [_pool(pool, of, holder) for pool, of in zip(system.pools, of_pools, strict=True)]
    if network := fabric_words(cluster):
        said.append(f"{network}.")
    if system.traffic is not None:
        said.append(f"{traffic_words(system.traffic)}.")
    # Shares are resolved together: where one is swept, the sweep's own sentence tells them.
    is_swept_lane = any(key.split(".")[0] == "lanes" for key in point.swept)
    if system.lanes is not None and not is_swept_lane:
        said.append(f"Lanes {lanes_words(system)}.")
    return said


def cluster_words(cluster: Cluster) -> str:
    """What exists: a tree of parts, or servers in racks and rows."""
    count, device = cluster.server_count, device_words(cluster)
    if cluster.parts:
        return f"{plural(count, 'device')} in a tree of parts, {_levels(cluster)}, with {device}"
    text = plural(count, "server")
    text += f" in {plural(cluster.racks, 'rack')}" if cluster.racks else ""
    text += f" and {plural(cluster.rows, 'row')}" if cluster.rows else ""
    return f"{text} with {device}"


def device_words(cluster: Cluster) -> str:
    """The devices of a cluster by their names, or by how long they take."""
    # Of a real cluster, and where no part says its own, they are the cluster's.
    of_parts = cluster.parts and any(part.device is not None for part in cluster.parts)
    given = cluster.device
    kinds = cluster.device_kinds if of_parts else ()
    by_class = given.by_class if isinstance(given, DeviceClasses) else ()
    named = [(kind.device_class, kind.device) for kind in kinds] or list(by_class)
    if len(named) > 1 or (by_class and not kinds):
        words = (f"{name or 'none'} ({one.label or 'a table'})" for name, one in named)
        return f"devices of classes {listed([*words])}"
    device = named[0][1] if named else given
    assert not isinstance(device, DeviceClasses)
    if device.label not in ("", "inline"):
        return f"{device.label} devices"
    if isinstance(device, DeviceTable):
        return "devices of a table"
    read, write = device.read_service, device.write_service
    if not (read or write):
        return "devices that take no time"
    if read == write:
        return f"devices that take {exact_duration(read)} a request"
    return f"devices that take {exact_duration(read)} a read and {exact_duration(write)} a write"


def _levels(cluster: Cluster) -> str:
    """The levels of a tree of parts, such as ``osd in host in rack``, and the devices' classes."""
    tree = cluster.tree
    assert tree is not None
    names = [level.name for level in reversed(tree.levels)]
    classes = [f"{part.count} {part.device_class}" for part in cluster.parts if part.device_class]
    each = f" ({listed(classes)} in each {names[1]})" if classes and len(names) > 1 else ""
    return f"levels {' in '.join(names)}{each}"


_LAYOUTS = {
    "ring": "a hash ring",
    "multi_ring": "several hash rings",
    "rendezvous": "rendezvous hashing",
    "xor": "the least distance by exclusive or",
    "modulo": "the hash modulo the servers",
    "jump": "jump consistent hash",
    "declustered": "declustered parity groups",
    "groups": "fixed groups of servers",
    "sets": "RAID sets",
}


def _placement(placement: Placement | None) -> str:
    """How replicas or pieces find their places."""
    if placement is None:
        return ""
    if placement.algorithm == "crush":
        return f"CRUSH with {placement.bucket or 'straw2'} buckets"
    words = _LAYOUTS.get(placement.algorithm, placement.algorithm)
    points = placement.ring_points
    is_ring = placement.algorithm == "ring" and points
    return f"{words} of {points:,} points per server" if is_ring else words


def _redundancy(redundancy: Redundancy, domains: tuple[str, ...]) -> str:
    """How many replicas or which code, and in which failure domains."""
    groups = "".join(f", each group in a {name} of its own" for name in reversed(domains[:-1]))
    if redundancy.code is None:
        where = f", each on another {domains[-1]}" if domains else ""
        return plural(redundancy.replicas or 0, "replica") + where
    where = f", each piece on another {domains[-1]}" if domains else ""
    variant = f" ({redundancy.code.variant})" if redundancy.code.variant else ""
    return f"{redundancy.code}{variant}{where}{groups}"


def _pool(pool: Pool, system: System, holder: str) -> str:
    """A pool: its devices and its code, what is stored in it, and what its clients do."""
    where = f" on {pool.placement.only_class}" if pool.placement.only_class else ""
    words = [_redundancy(pool.redundancy, system.failure_domains)]
    words.append(population_words(pool.population, holder))
    words += [traffic_words(pool.traffic)] if pool.traffic is not None else []
    return f"Pool {pool.name}{where}: {'; '.join(text[:1].lower() + text[1:] for text in words)}."


def lanes_words(system: System) -> str:
    """What each class of traffic of a system with lanes is guaranteed of every port."""
    lanes = system.lanes
    assert lanes is not None
    if lanes.order == "priority":
        return f"by priority: {', '.join(CLASSES[at] for at in lanes.priority)}"
    shares = lanes.shares_with(bursts=system.has_bursts)
    named = zip(shares, CLASSES, strict=False)
    return (
        f"of shares: {', '.join(f'{percent(share)} for {name}' for share, name in named if share)}"
    )


def population_words(population: Population, holder: str) -> str:
    """What is stored, before redundancy.

    Args:
        holder: What an amount of each is of, such as "server".
    """
    what = "Files"
    if population.file_size is not None:
        what = f"Files of {exact_bytes(population.file_size)} each"
    elif population.histogram is not None and population.histogram.label:
        what = f"Files sized as in {population.histogram.label}"
    objects = population.objects
    if objects is not None and objects.chunk_bytes is not None:
        what += f" in objects of {exact_bytes(objects.chunk_bytes)}"
    elif objects is not None and objects.stripe_unit_bytes is not None:
        what += f" striped in units of {exact_bytes(objects.stripe_unit_bytes)}"
    if population.bytes_per_server is not None:
        each = exact_bytes(population.bytes_per_server)
        return f"{what}, {each} per {holder} before redundancy"
    if population.bytes is not None:
        return f"{what}, {exact_bytes(population.bytes)} before redundancy"
    return f"{what}, {plural(population.files, 'file')}" if population.files is not None else what


_BIT_UNITS = ((1e12, "Tb/s"), (1e9, "Gb/s"), (1e6, "Mb/s"), (1e3, "kb/s"))


def bit_rate(bytes_per_second: float) -> str:
    """A link's rate as networks state it: decimal units of bits where they are exact.

    >>> bit_rate(125_000_000.0), bit_rate(1.5e9), bit_rate(2.0**30)
    ('1 Gb/s', '12 Gb/s', '1.0 GiB/s')
    """
    bits = 8.0 * bytes_per_second
    for size, unit in _BIT_UNITS:
        if bits >= size:
            short = f"{bits / size:.4g}"
            return f"{short} {unit}" if float(short) * size == bits else format_rate(bits / 8.0)
    return format_rate(bytes_per_second)


def fabric_words(cluster: Cluster) -> str:
    """A cluster's network: a LogGP table by name, or a topology and links; empty without a name."""
    fabric = cluster.fabric
    if fabric.topology is None:
        label = getattr(fabric.table, "label", "")
        return f"Network: {label}, LogGP" if label not in ("", "inline") else ""
    parts = [f"Network: {fabric.topology.label}"]
    # A graph of one's own may say the rate of each link.
    one = () if fabric.link_rate is None else (fabric.link_rate,)
    if rates := fabric.link_rates or one:
        slowest, fastest = bit_rate(float(min(rates))), bit_rate(float(max(rates)))
        parts.append(f"links of {slowest}" + (f" to {fastest}" if slowest != fastest else ""))
    if fabric.packet_size is not None:
        parts.append(f"packets of up to {exact_bytes(fabric.packet_size)}")
    if fabric.routing is not None:
        parts.append(f"{fabric.routing} routing")
    return ", ".join(parts)


def traffic_words(traffic: Traffic) -> str:
    """What clients do."""
    if traffic.streams is not None:
        return _streams(traffic)
    if traffic.jobs:
        return jobs_words(traffic)
    parts = [_arrivals(traffic)]
    targets = traffic.targets
    if targets.zipf is not None:
        parts.append(f"servers by Zipf's law with exponent {targets.zipf:g}")
    elif targets.hot_servers is not None and targets.hot_requests is not None:
        hot = f"{percent(targets.hot_requests)} of them to {percent(targets.hot_servers)}"
        parts.append(f"{hot} of the servers")
    elif targets.per_client is not None:
        of_each = plural(targets.per_client, "server")
        how = "drawn" if targets.is_dealt_at_random else "in turn"
        parts.append(f"each client to {of_each} of its own, dealt {how}")
    if traffic.client_rate is not None:
        parts.append(f"each client at most {format_rate(float(traffic.client_rate))}")
    if traffic.timeout is not None:
        parts.append(f"each with a timeout of {exact_duration(traffic.timeout)}")
    return ", ".join(parts)


def _streams(traffic: Traffic) -> str:
    """How clients stream whole stripes, and what bursts there are."""
    streams = traffic.streams
    assert streams is not None
    named = {0.0: "writes", 1.0: "reads"}
    share = traffic.read_share
    what = named.get(share, f"reads ({percent(share)}) and writes")
    text = f"Clients stream {what} of whole stripes"
    if streams.rate is not None:
        text += f" at {format_rate(float(streams.rate))} each"
    text += f", {streams.window:,} under way in each stream"
    if streams.bursts is not None:
        every = exact_duration(streams.bursts.every)
        text += f", and bursts of {exact_bytes(streams.bursts.volume)} every {every}"
        if streams.bursts.drain is not None:
            text += f", drained at {exact_rate(streams.bursts.drain)} a server"
    return text


def _arrivals(traffic: Traffic) -> str:
    """How many requests of which size and kind there are."""
    arrivals = traffic.arrivals
    if arrivals is not None and arrivals.trace is not None:
        trace = arrivals.trace
        name = trace.label or "a trace"
        return f"Clients issue the {plural(len(trace.seconds), 'request')} of {name}"
    share = traffic.read_share
    named = {0.0: "all of them writes", 0.5: "half of them reads", 1.0: "all of them reads"}
    kinds = f", {named.get(share, f'{percent(share)} of them reads')}"
    kinds = "" if traffic.has_operations else kinds
    what = f"requests of {traffic.size_label}"
    if arrivals is not None:
        how = "at random moments" if arrivals.poisson is not None else "in bursts (Pareto)"
        rate = arrivals.requests_per_second
        return f"Clients issue {rate:,.10g} {what} a second {how}{kinds}"
    flows = " as steady flows" if traffic.engine == "flows" else ""
    return f"Clients keep {traffic.outstanding:,} {what} outstanding{flows}{kinds}"


def _swept(results: StudyTables) -> str:
    """Which keys are swept over which values, and how many seeds each combination has."""
    table = results.runs
    words = []
    for key in swept_keys(results):
        values = [format_swept(key, value) for value in dict.fromkeys(table[key].to_pylist())]
        if len(values) > _SWEPT_SHOWN_MAX:
            values = [*values[:3], "…", values[-1]]
        words.append(f"{key} over {', '.join(values)}")
    runs = certainty(results)
    return f"Swept: {'; '.join(words)} ({runs})." if words else f"{runs[0].upper()}{runs[1:]}."
