"""What clients and a network of packets add to the cost of a run, before it is run.

Rates follow from the narrowest place: how many requests the clients keep outstanding, what the
disks can do, and what the links can carry. Good to a factor of two, as the rest of an estimate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from resilver.analytic.of_devices import device_seconds
from resilver.analytic.of_groups import port_seconds
from resilver.errors import Problem
from resilver.estimate.devices import (
    device_shares,
    operations_per_second,
    pieces_touched,
    rebuild_seconds,
)
from resilver.estimate.network import Network, network_of, tried
from resilver.estimate.rebuild import about_rebuild_seconds, mean_link_rate
from resilver.estimate.streams import (
    packets_of_stripes,
    stream_bytes_per_second,
    strip_bytes,
    stripes_per_second,
    strips_in_place,
)
from resilver.spec import System
from resilver.spec.device import DeviceService
from resilver.spec.serving import PACKETS_MAX, REQUESTS_MAX, packets_of

if TYPE_CHECKING:
    from resilver.spec import Traffic
    from resilver.spec.streams import Streams

# Of a message over a fabric without packets: it is handed over, and it arrives.
_EVENTS_PER_MESSAGE = 2
# A request is issued, comes to its disk, is served and answered.
_EVENTS_PER_REQUEST = 5
# Packets and requests in tables of the core: records with what queues and lists of them take.
_BYTES_PER_REQUEST = 100
_BYTES_PER_PACKET = 64
# The interval of the closed loop is drawn evenly.
_MEAN_OF_INTERVAL = 0.5
_SHARE_ACROSS = 0.5


@dataclass(frozen=True)
class Served:
    """What clients are expected to do in a run.

    Attributes:
        requests: Requests from first to last, the warm-up's included.
        packet_hops: How often a packet of theirs is sent over a link.
        events: Events of the core besides those.
        outstanding: Requests under way at one time.
        packets_under_way: Packets under way at one time.
        built: Devices and clients that are built anew for trials of steady flows.
        pieces: Pieces of objects that streams ask of devices.
    """

    requests: float
    packet_hops: float
    events: float
    outstanding: float
    packets_under_way: float
    built: float = 0.0
    pieces: float = 0.0

    @property
    def memory_bytes(self) -> float:
        """What the core holds of them at one time."""
        return self.outstanding * _BYTES_PER_REQUEST + self.packets_under_way * _BYTES_PER_PACKET


def hops_of_buffers(
    system: System, network: Network, buffers: float, bytes_to_move: float
) -> float:
    """How often a packet of a rebuild is sent over a link: a request, and a buffer's data.

    Args:
        network: Its network.
        buffers: How many buffers are pulled.
        bytes_to_move: What they hold together; the last of an object may be far from full.
    """
    if not buffers:
        return 0.0
    mean = max(round(bytes_to_move / buffers), 1)
    packets = 1 + packets_of(system.cluster, mean)
    return buffers * packets * network.hops_between_servers


def served(system: System, network: Network | None, bytes_to_move: float) -> Served | None:
    """What clients are expected to do.

    Args:
        network: Its network; None where the fabric has no links of its own.
        bytes_to_move: What is rebuilt meanwhile, whose end may be that of the traffic.

    Returns:
        The counts; None without traffic.
    """
    traffic = system.traffic
    if traffic is None:
        return None
    if traffic.engine == "flows":
        return _tried(system, traffic, network)
    if traffic.jobs:
        return _moved_by_jobs(system, traffic, network)
    if traffic.streams is not None:
        return _streamed(system, traffic, traffic.streams, network, bytes_to_move)
    data = packets_of(system.cluster, traffic.request_bytes)
    pace = _requests_per_second(system, traffic, network, data)
    duration = traffic.duration
    if duration is None:
        # Clients go on until what failed last is rebuilt.
        lasts = about_rebuild_seconds(system, bytes_to_move)
        lasts += max((float(fault.at) for fault in system.faults), default=0.0)
    else:
        lasts = float(duration)
    lasts += traffic.warm_up_seconds
    requests = pace.asked * lasts
    # Of an open loop, what comes faster than it is done waits.
    waiting = max(pace.asked - pace.most, 0.0) * lasts
    outstanding = float(traffic.outstanding or pace.asked * pace.alone_seconds + waiting)
    hops = 0.0 if network is None else network.hops
    work = _work(system, traffic)
    # What waits has not been carried.
    packet_hops = min(pace.asked, pace.most) * lasts * (data + 1) * hops * work.carried
    # Of a request and its answer, one event each beside those of the request.
    messages = 0.0 if network is not None else 2 * requests * work.pieces
    return Served(
        requests,
        packet_hops,
        messages + requests * work.pieces * _EVENTS_PER_REQUEST,
        outstanding,
        # A read that waits has one packet, and a write all of its data.
        outstanding * (traffic.read_share + (1 - traffic.read_share) * data),
    )


def _tried(system: System, traffic: Traffic, network: Network | None) -> Served:
    """What flows are expected to take: their costs are tried, one request at a time."""
    requests, kept, built = tried(system, traffic)
    size = round(strip_bytes(system)) if traffic.is_striped else traffic.request_bytes
    data = packets_of(system.cluster, size)
    work, hops = _work(system, traffic), 0.0 if network is None else network.hops
    messages = 0.0 if network is not None else 2 * requests * work.pieces
    events = messages + requests * work.pieces * _EVENTS_PER_REQUEST
    packet_hops = requests * (data + 1) * hops * work.carried
    return Served(requests, packet_hops, events, kept / _BYTES_PER_REQUEST, data, built)


def _moved_by_jobs(system: System, traffic: Traffic, network: Network | None) -> Served:
    """What jobs are expected to do: all bursts that they ask for, in stripes."""
    lasts, pieces = traffic.warm_up_seconds + float(traffic.duration or 0), system.copies or 1
    strip = max(strip_bytes(system), 1.0)
    stripe, operations, under_way = strip * _work(system, traffic).read, 0.0, 0.0
    entries = system.cluster.fabric.router_count
    for job in traffic.jobs:
        left = max(lasts - job.first_seconds, 0.0)
        bursts = math.ceil(left / float(job.signature.period))
        operations += bursts * float(job.signature.volume) / stripe
        under_way += len(job.places(entries)) * job.window
    messages = 0.0 if network is not None else 2 * operations * pieces * _EVENTS_PER_MESSAGE
    packets = packets_of(system.cluster, strip)
    hops = 0.0 if network is None else operations * pieces * packets * 2 * network.hops
    events = operations * (pieces * _EVENTS_PER_REQUEST + _EVENTS_PER_MESSAGE) + messages
    return Served(operations, hops, events, under_way, under_way * pieces * packets)


def _streamed(
    system: System,
    traffic: Traffic,
    streams: Streams,
    network: Network | None,
    bytes_to_move: float,
) -> Served:
    """What streams are expected to do, in stripes and in strips that are made anew."""
    rates, lasts = stream_bytes_per_second(system), traffic.warm_up_seconds
    each = stripes_per_second(system, rates)
    before, after = device_shares(system, each)
    steady = lasts * before
    if traffic.duration is not None:
        lasts += float(traffic.duration)
        steady = lasts * before
    elif bytes_to_move:
        alone = rebuild = about_rebuild_seconds(system, bytes_to_move)
        if not system.stripe_groups:
            rebuild = max(rebuild, rebuild_seconds(system, bytes_to_move, each))
            # What the rebuild takes of the devices' time is not the streams'; they keep about half.
            after *= max(0.5, 1.0 - alone / rebuild)
        begin = max([lasts, *(float(fault.at) for fault in system.faults)])
        lasts, steady = begin + rebuild, begin * before + rebuild * after
    # What is rebuilt in place, and has an end, is waited for. Without a share of its own it gets
    # what clients leave, which is taken for a hundredth.
    rebuild = max(rates.rebuild, (rates.read + rates.write) / 100, 1.0)
    if (in_place := strips_in_place(system) / rebuild) > lasts:
        lasts = steady = in_place
    operations = each * steady
    pieces = pieces_touched(system)
    # Each strip is asked for, read or written, sent and acknowledged.
    events = operations * (pieces * _EVENTS_PER_REQUEST + _EVENTS_PER_MESSAGE)
    if network is None:
        events += operations * pieces * 2 * _EVENTS_PER_MESSAGE
        hops = 0.0
    else:
        between, entry = network.hops_between_servers, network.hops
        hops = packets_of_stripes(system, rates, between, entry) * steady
    ends = max(system.server_count * system.cluster.port_count, system.cluster.fabric.router_count)
    if not system.stripe_groups:
        ends = system.cluster.fabric.router_count
    under_way = float(ends * streams.window)
    packets = under_way * (system.copies or 1) * packets_of(system.cluster, strip_bytes(system))
    touched = 0.0 if system.stripe_groups else operations * pieces
    return Served(operations, hops, events, under_way, packets, pieces=touched)


def crowding_problems(system: System) -> list[Problem]:
    """What is wrong with an open loop, or streams, of more under way than fits in memory.

    Returns:
        The problem, with its full key.
    """
    traffic = system.traffic
    if traffic is not None and traffic.engine == "flows":
        return []
    if traffic is not None and traffic.streams is not None:
        return _crowded_windows(system, traffic.streams)
    if traffic is None or traffic.arrivals is None or traffic.duration is None:
        return []
    clients = served(system, network_of(system), 0.0)
    if clients is None:
        return []
    waiting, packets = clients.outstanding, max(clients.packets_under_way, 1.0)
    if traffic.timeout is not None:
        # Those that wait grow in number from the start on, and each is tried again and again; what
        # was given up is still carried and served.
        waiting *= max(1.0, float(traffic.duration) / float(traffic.timeout) / 2)
        packets *= waiting / max(clients.outstanding, 1.0)
    most = min(REQUESTS_MAX, PACKETS_MAX * waiting / packets)
    if waiting <= most:
        return []
    rule = (
        f"clients ask for more than the system can do, so that about {waiting:,.0f} requests would "
        f"wait at the end, and {most:,.0f} are the most"
    )
    remedy = "let fewer come a second, or shorten traffic.duration"
    return [Problem(rule, remedy, key="traffic.arrivals")]


def _crowded_windows(system: System, streams: Streams) -> list[Problem]:
    """Windows over objects that are placed, of so many packets that memory would not hold them."""
    clients = served(system, network_of(system), 0.0)
    if clients is None or clients.packets_under_way <= PACKETS_MAX:
        return []
    rule = (
        f"about {clients.packets_under_way:,.0f} packets would be under way at a time, and "
        f"{PACKETS_MAX:,} are the most"
    )
    remedy = "use a smaller window, smaller objects or larger packets"
    return [Problem(rule, remedy, key="traffic.streams.window", value=str(streams.window))]


@dataclass(frozen=True)
class _Work:
    """What a request costs, in the mean of reads and writes; one piece where nothing is stored.

    Attributes:
        read: Pieces that a read asks of devices.
        write: Pieces that a write asks of devices.
        piece_bytes: The size of a piece.
        pieces: Pieces that a request asks of devices.
        carried: How often its data cross the network.
    """

    read: int
    write: int
    piece_bytes: float
    pieces: float
    carried: float


def _work(system: System, traffic: Traffic) -> _Work:
    """What requests cost where they are on objects."""
    data = pieces = 1
    if not system.is_traffic_only:
        code = system.redundancy.code if system.redundancy is not None else None
        data = code.data if code is not None else 1
        pieces = max(system.copies or 1, data)
    share = traffic.read_share
    # A coordinator gathers all but its own piece, and sends on all but its own.
    carried = share * (2 * data - 1) + (1 - share) * (data + pieces - 1)
    return _Work(
        data,
        pieces,
        traffic.request_bytes / data,
        share * data + (1 - share) * pieces,
        carried / data,
    )


@dataclass(frozen=True)
class _Pace:
    """How fast requests come.

    Attributes:
        asked: Requests a second; a closed loop asks for no more than is done.
        most: Requests a second that disks and network can do.
        alone_seconds: The time of one that meets no other.
    """

    asked: float
    most: float
    alone_seconds: float


def _requests_per_second(
    system: System, traffic: Traffic, network: Network | None, data: int
) -> _Pace:
    """Requests a second, as the narrowest place lets them through."""
    service = _service_seconds(system, traffic)
    sending = 0.0
    limits = [max(system.server_count, 1) / service if service > 0 else math.inf]
    link_rate = mean_link_rate(system)
    if network is not None and link_rate > 0:
        overhead = int(system.cluster.fabric.packet_overhead or 0)
        alone_bytes = traffic.request_bytes + data * overhead
        wire = alone_bytes * _work(system, traffic).carried
        # Packets follow one another: the last is sent in after the others, and over each hop once.
        sending = alone_bytes / link_rate * (data + network.hops - 1) / data
        limits.append(2 * network.links * link_rate / (wire * network.hops))
        # Half of the requests are of a router and a disk in different halves, each way alike.
        limits.append(2 * network.bisection_links * link_rate / (wire * _SHARE_ACROSS))
        # What is read leaves the network by the routers' ports, and what is written enters there.
        widest = max(traffic.read_share, 1 - traffic.read_share)
        limits.append(network.ports_of_routers * link_rate / (alone_bytes * widest))
    alone = traffic.read_share * service + sending
    if network is None:
        # Over LogGP a message waits at the two ends alone.
        sending = port_seconds(system, traffic.request_bytes)
        ends = min(max(system.server_count, 1), system.cluster.fabric.router_count or 1)
        limits.append(ends * system.cluster.port_count / sending)
    if traffic.has_operations:
        limits.append(operations_per_second(system, traffic))
    if traffic.duration is None:
        # Until the rebuild is over, a read waits about as long as a buffer of the rebuild takes.
        alone += traffic.read_share * _buffer_seconds(system)
    if traffic.outstanding is None:
        arrivals = traffic.arrivals
        asked = arrivals.requests_per_second if arrivals is not None else 0.0
        return _Pace(asked, min(limits), alone)
    between = alone + _MEAN_OF_INTERVAL * traffic.interval_seconds
    limits.append(traffic.outstanding / between if between > 0 else math.inf)
    return _Pace(min(limits), min(limits), alone)


def _service_seconds(system: System, traffic: Traffic) -> float:
    """The mean time of disks for a request of the traffic, over all of its pieces."""
    work = _work(system, traffic)
    # An operation on a file is a read of no data, but for the stripes that it asks.
    data = traffic.read_share - sum(one.share for one in traffic.classes if one.operation)
    read = data * work.read + sum(one.share * one.stripes for one in traffic.classes)
    write = (1 - traffic.read_share) * work.write
    reading = device_seconds(system, work.piece_bytes, is_read=True)
    return read * reading + write * device_seconds(system, work.piece_bytes, is_read=False)


def _buffer_seconds(system: System) -> float:
    """A disk's time for a buffer of the rebuild."""
    device, buffer = system.device, int(system.recovery.pipeline_buffer)
    if isinstance(device, DeviceService):
        return float(device.read_service)
    return buffer / float(min(device.read_rate, device.write_rate))
