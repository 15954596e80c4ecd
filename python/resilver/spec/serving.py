"""What a study's traffic needs of its cluster."""

from __future__ import annotations

import math
from collections.abc import Set

from resilver.errors import Problem, Problems, show
from resilver.importers.trace import RequestTrace
from resilver.spec.cluster import Cluster
from resilver.spec.fabric import ROUTERS_MAX
from resilver.spec.faults import HORIZON_SECONDS, Fault
from resilver.spec.jobs import job_problems
from resilver.spec.metadata import operation_problems
from resilver.spec.traffic import Traffic
from resilver.spec.tree import number_of, plural
from resilver.units import exact_bytes, exact_duration, format_duration

PACKETS_MAX = 2**26
"""The most packets that clients have under way at a time: the core's 64 bytes each take 4 GiB."""

REQUESTS_MAX = 2**25
"""The most requests that wait at a time in an open loop, for about as much memory."""

_PROBLEMS_OF_A_TRACE = 20


def traffic_problems(cluster: Cluster, traffic: Traffic, *, has_rebuild: bool) -> Problems:
    """What is wrong between traffic and the cluster that it goes to.

    Args:
        has_rebuild: Whether a fault starts a rebuild, whose end can end the traffic.
    """
    fabric = cluster.fabric
    topology = fabric.topology
    # LogGP gets as many as it needs; of a topology they are nodes, which somebody has to place.
    if topology is not None and topology.routers == 0:
        rule = "clients enter by routers, and the fabric has none"
        example = "torus 16x16x16 routers 128"
        if topology.kind == "leaf_spine":
            example = "leaf spine 24x24 hosts 24 entries 24"
        remedy = f'give the topology routers, such as "{example}"'
        if topology.graph is not None:
            remedy = "mark nodes with kind = router in the file, or name them in routers"
        value = show(topology.label)
        yield Problem(rule, remedy, key="cluster.fabric.topology", value=value)
    if traffic.duration is None and not has_rebuild:
        rule = "no rebuild ends this traffic, so that it needs a duration"
        yield Problem(rule, 'such as duration = "10 s"', key="traffic.duration")
    elif traffic.warm_up_seconds + float(traffic.duration or 0) >= HORIZON_SECONDS:
        rule = "the run would last longer than 213 days"
        yield Problem(rule, "shorten it", key="traffic.duration")
    yield from job_problems(traffic.jobs, with_routers(cluster).fabric.router_count)
    yield from operation_problems(cluster, traffic)
    yield from _target_problems(cluster, traffic)
    yield from _packet_problems(cluster, traffic)
    if traffic.arrivals is not None and traffic.arrivals.trace is not None:
        yield from _trace_problems(cluster, traffic.arrivals.trace)


def _target_problems(cluster: Cluster, traffic: Traffic) -> list[Problem]:
    """Clients with more servers of their own than there are."""
    own, count = traffic.targets.per_client, cluster.server_count
    if own is None or not count or own <= count:
        return []
    rule = f"there are {count:,} servers that a client could have of its own"
    remedy = f'give at most {count}, or write targets = "uniform"'
    return [Problem(rule, remedy, key="traffic.targets.per_client", value=show(own))]


def with_routers(cluster: Cluster) -> Cluster:
    """A cluster by whose fabric clients can enter.

    Returns:
        The cluster; where LogGP has no routers it gets one for each network port of a host, so that
        together they take and give no less than the hosts do.
    """
    fabric = cluster.fabric
    if fabric.topology is not None or fabric.router_count:
        return cluster
    routers = min(max(cluster.machine_count, 1) * cluster.port_count, ROUTERS_MAX)
    return cluster.model_copy(update={"fabric": fabric.model_copy(update={"routers": routers})})


def packets_of(cluster: Cluster, size: float) -> int:
    """Packets of a message; one on a fabric without packets."""
    packet = cluster.fabric.packet_size
    return max(1, math.ceil(size / packet)) if packet else 1


def _packet_problems(cluster: Cluster, traffic: Traffic) -> Problems:
    """Requests of more packets than fit in memory, in a closed loop all of them at one time."""
    # Flows are tried with one request at a time.
    at_a_time = (traffic.outstanding or 1) if traffic.engine == "events" else 1
    trace = traffic.arrivals.trace if traffic.arrivals is not None else None
    largest = "request_size" if traffic.mix is None else "mix"
    sizes = {largest: traffic.largest_bytes, "control_message": int(traffic.control_message)}
    for name, size in sizes.items():
        packets = packets_of(cluster, size)
        if packets * at_a_time <= PACKETS_MAX:
            continue
        one = f"this is {packets:,} packets of {exact_bytes(int(cluster.fabric.packet_size or 1))}"
        many = f"{one}, with {at_a_time:,} outstanding {packets * at_a_time:,}"
        rule = f"{many if at_a_time > 1 else one}, and {PACKETS_MAX:,} at a time is the most"
        key = f"traffic.{name}"
        if trace is not None and name == "request_size":
            key = "traffic.arrivals.trace"
        remedy = "move less at a time, or use larger packets"
        yield Problem(rule, remedy, key=key, value=show(exact_bytes(size)))


def late_fault_problems(traffic: Traffic, faults: list[tuple[int, Fault]]) -> list[Problem]:
    """Faults that nothing comes to see: the run is over by then.

    Args:
        traffic: Traffic, beside which nothing is rebuilt.
    """
    if traffic.duration is None:
        return []
    end = traffic.warm_up_seconds + float(traffic.duration)
    return [
        Problem(
            f"the run ends after {format_duration(end)}, before this",
            "let it fail earlier, or lengthen traffic.duration",
            key=f"faults.{index}.at",
            value=show(exact_duration(fault.at)),
        )
        for index, fault in faults
        if fault.at >= end
    ]


def target_numbers(cluster: Cluster, trace: RequestTrace) -> list[int | None]:
    """The device of each request of a trace.

    Returns:
        Its number, -1 where it is to be drawn, None where there is no such server.
    """
    level = cluster.tree.device_level if cluster.tree is not None else "server"
    known: dict[str, int | None] = {"": -1}
    for name in trace.targets:
        if name not in known:
            known[name] = number_of(name, level, cluster.server_count)
    return [known[name] for name in trace.targets]


def _trace_problems(cluster: Cluster, trace: RequestTrace) -> list[Problem]:
    problems: list[Problem] = []
    for number, name, line in zip(
        target_numbers(cluster, trace), trace.targets, trace.lines, strict=True
    ):
        if number is not None or len(problems) == _PROBLEMS_OF_A_TRACE:
            continue
        level = cluster.tree.device_level if cluster.tree is not None else "server"
        remedy = f"the names are {level}.0 to {level}.{(cluster.server_count or 1) - 1}"
        place = f"{trace.path}, line {line}"
        key, rule = "traffic.arrivals.trace", "there is no such server"
        problems.append(Problem(rule, remedy, key=key, value=show(name), place=place))
    return problems


def nothing_stored_problems(
    given: Set[str], faults: list[tuple[int, Fault]], *, is_striped: bool
) -> list[Problem]:
    """What is wrong with a study that has traffic alone.

    Args:
        is_striped: Whether there are streams, whose groups and code those sections then say.
    """
    problems = [
        Problem(
            "there is only traffic here, and nothing is stored that this could be about",
            f"add [population], or remove [{name}]",
            key=name,
        )
        for name in ("placement", "redundancy")
        if name in given and not is_striped
    ]
    for index, fault in faults:
        broken = fault.broken
        if broken is not None and broken.is_told and not is_striped:
            rule = f"{plural(broken.level)} that fail start a rebuild, and nothing is stored here"
            remedy = "write told = false, or add [population]"
            key, value = f"faults.{index}.{broken.key}", show(broken.targets)
            problems.append(Problem(rule, remedy, key=key, value=value))
    return problems
