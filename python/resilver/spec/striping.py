"""What a study's codes, streams and soft errors need of its other sections."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Set
from typing import TYPE_CHECKING, Any

from resilver.errors import Problem, Problems, show
from resilver.spec.grouping import group_problems
from resilver.spec.serving import PACKETS_MAX, packets_of
from resilver.spec.steady import is_taken_over
from resilver.units import BYTES_MAX, exact_bytes, exact_duration, exact_rate

if TYPE_CHECKING:
    from resilver.spec.cluster import Cluster
    from resilver.spec.corrupt import Corrupt
    from resilver.spec.faults import Fault
    from resilver.spec.jobs import JobSignature
    from resilver.spec.lanes import Lanes
    from resilver.spec.placement import Placement
    from resilver.spec.redundancy import Redundancy
    from resilver.spec.streams import Bursts
    from resilver.spec.traffic import Traffic

OPERATIONS_MAX = 10_000_000
"""The most operations that all streams together have under way."""

DUE_MAX = 10**10
"""The most operations that come due at a rate in a run, which then takes hours of a processor."""

BURSTS_MAX = 1_000_000
"""The most bursts of a run, each of which is kept until its last write."""


def striping_problems(given: Set[str], sections: Mapping[str, Any]) -> list[Problem]:
    """What is wrong between streams or soft errors and the rest of a study."""
    cluster: Cluster = sections["cluster"]
    traffic: Traffic | None = sections.get("traffic")
    # Sections that were written and are not valid have problems of their own already.
    broken = given - {name for name, value in sections.items() if value is not None}
    faults = [(i, fault) for i, fault in enumerate(sections.get("faults") or ()) if fault.corrupt]
    is_stored = "population" in given
    if traffic is not None and traffic.jobs:
        return _job_problems(traffic, faults, is_stored=is_stored)
    if traffic is None or traffic.streams is None:
        rule = "soft errors are rebuilt beside streams, and there are none"
        remedy = "add traffic.streams = { window = 16 }"
        without = [] if "traffic" in broken else faults
        return [Problem(rule, remedy, key=f"faults.{index}.corrupt") for index, _ in without]
    problems: list[Problem] = []
    redundancy: Redundancy | None = sections.get("redundancy")
    if "redundancy" not in broken and not is_stored:
        problems += _stripe_problems(redundancy)
    if (
        is_stored
        and traffic.streams.bursts is not None
        and traffic.streams.bursts.drain is not None
    ):
        rule = "what is drained is what streams over groups wrote, and objects are placed here"
        problems.append(Problem(rule, "remove it", key="traffic.streams.bursts.drain"))
    if is_stored:
        rule = "soft errors are rebuilt over groups of servers, and objects are placed here"
        remedy = "remove [population], or use fail"
        problems += [Problem(rule, remedy, key=f"faults.{index}.corrupt") for index, _ in faults]
    elif "placement" not in broken and not problems:
        problems += _group_problems(cluster, sections.get("placement"), redundancy, faults)
    if not problems:
        stripes = None if is_stored else redundancy
        problems += _window_problems(cluster, traffic, stripes)
        problems += _rate_problems(cluster, traffic, stripes) + _burst_problems(traffic)
    if traffic.duration is None:
        rule = "nothing ends this rebuild, and so nothing the traffic beside it"
        problems += [
            Problem(rule, "add strips, or traffic.duration", key=f"faults.{index}.corrupt.strips")
            for index, fault in faults
            if fault.corrupt is not None and fault.corrupt.strips is None
        ]
    return problems


def _job_problems(
    traffic: Traffic, faults: list[tuple[int, Fault]], *, is_stored: bool
) -> list[Problem]:
    """Jobs of which nothing is stored, or that ask for more bursts than a run keeps."""
    rule = "soft errors are rebuilt beside streams over groups of servers"
    problems = [Problem(rule, "use fail", key=f"faults.{index}.corrupt") for index, _ in faults]
    if not is_stored:
        rule = "jobs move whole objects of what is stored, and nothing is"
        problems.append(Problem(rule, "add [population]", key="traffic.jobs"))
    lasts = traffic.warm_up_seconds + float(traffic.duration or 0)
    for number, job in enumerate(traffic.jobs):
        left = max(lasts - job.first_seconds, 0.0)
        count = math.ceil(left / float(job.signature.period))
        key = f"traffic.jobs.{number}.signature"
        problems += _too_many_bursts(count, (key, "period"), job.signature)
    return problems


def stored_stripe_problems(
    cluster: Cluster, traffic: Traffic, piece: int, pieces: int
) -> list[Problem]:
    """What is wrong with streams over objects of so many packets that memory would not hold them.

    Args:
        piece: Bytes of a piece of the largest object, which is a stripe.
        pieces: How many pieces an object has.
    """
    packets = pieces * packets_of(cluster, piece)
    if traffic.streams is None or packets <= PACKETS_MAX:
        return []
    rule = f"a stripe is an object here, the largest of them is {packets:,} packets, and "
    rule += f"{PACKETS_MAX:,} at a time is the most"
    remedy = 'cut files, such as population.objects = { chunk = "64 MiB" }, or use larger packets'
    return [Problem(rule, remedy, key="traffic.streams")]


def lane_problems(sections: Mapping[str, Any]) -> list[Problem]:
    """What is wrong between lanes and the rest of a study."""
    lanes: Lanes | None = sections.get("lanes")
    cluster: Cluster = sections["cluster"]
    traffic: Traffic | None = sections.get("traffic")
    if lanes is None:
        return []
    streams = traffic.streams if traffic is not None else None
    has_jobs = traffic is not None and bool(traffic.jobs)
    has_bursts = has_jobs or (streams is not None and streams.bursts is not None)
    problems = lanes.problems(bursts=has_bursts)
    is_without_share = not problems and lanes.shares_with(bursts=has_bursts)[1] == 0
    # Clients in a closed loop always wait for something, and so may a lane without a share.
    if is_without_share and traffic is not None and traffic.arrivals is None:
        faults = list(enumerate(sections.get("faults") or ()))
        told = rebuilt_from(cluster, faults, is_stored=sections.get("population") is not None)
        problems += _endless_rebuild_problems(fault for _, fault in told)
    return problems


def _endless_rebuild_problems(faults: Iterable[Fault]) -> list[Problem]:
    """A rebuild that is to end the run, and gets only what clients leave, which may be nothing."""
    for fault in faults:
        if fault.starts_rebuild or (fault.corrupt is not None and fault.corrupt.strips is not None):
            rule = "clients may leave nothing of a port, and then this rebuild never ends"
            remedy = "give it a share above 0, such as rebuild = 0.01"
            return [Problem(rule, remedy, key="lanes.rebuild", value="0")]
    return []


def rebuilt_from(
    cluster: Cluster, faults: list[tuple[int, Fault]], *, is_stored: bool
) -> list[tuple[int, Fault]]:
    """The faults after which something may be rebuilt: of nothing stored, soft errors alone."""
    return [
        (index, fault)
        for index, fault in faults
        if not is_taken_over(cluster, fault) and (is_stored or fault.broken is None)
    ]


def has_end(faults: list[tuple[int, Fault]]) -> bool:
    """Whether a rebuild comes to an end by itself, which can be that of the traffic."""
    return any(fault.starts_rebuild or fault.corrupt is not None for _, fault in faults)


def _stripe_problems(redundancy: Redundancy | None) -> Problems:
    """What streams need to know of a stripe."""
    if redundancy is None or redundancy.code is None:
        rule = "streams over groups read and write the stripes of a code"
        remedy = 'add redundancy.code = "rs 8+3", or "copies 3"'
        yield Problem(rule, remedy, key="redundancy.code")
    if redundancy is None or redundancy.strip is None:
        rule = "streams move strips, whose size this is"
        yield Problem(rule, 'add strip = "64 KiB"', key="redundancy.strip")


def _group_problems(
    cluster: Cluster,
    placement: Placement | None,
    redundancy: Redundancy | None,
    faults: list[tuple[int, Fault]],
) -> list[Problem]:
    """What streams over groups need of the groups; nothing is stored here."""
    size = placement.group_size if placement is not None else None
    if placement is None or placement.algorithm != "groups" or size is None:
        rule = "where nothing is stored, streams go over groups of servers"
        remedy = 'use algorithm = "groups" with group_size = 24, or add [population]'
        value = None if placement is None else show(placement.algorithm)
        return [Problem(rule, remedy, key="placement.algorithm", value=value)]
    servers = cluster.server_count
    if uneven := group_problems(placement, servers, servers, 1):
        return uneven
    if placement.spare == "dedicated":
        rule = "streams over groups go over every member, and none stands by"
        remedy = "remove it, or add [population] for streams over what is stored"
        return [Problem(rule, remedy, key="placement.spare", value=show(placement.spare))]
    codes = {"redundancy.code": redundancy.code if redundancy is not None else None}
    codes |= {
        f"faults.{index}.corrupt.code": fault.corrupt.code
        for index, fault in faults
        if fault.corrupt is not None
    }
    problems = [
        Problem(
            f"this needs {code.pieces} servers in a group, and a group has {size}",
            "use fewer pieces, or larger groups",
            key=key,
            value=show(code.label),
        )
        for key, code in codes.items()
        if code is not None and code.pieces > size
    ]
    written = codes["redundancy.code"]
    problems += [
        Problem(
            f'with "{written.label}" there is nothing to reconstruct a strip from',
            "use a code with parity",
            key=f"faults.{index}.corrupt",
        )
        for index, fault in faults
        if written is not None
        and written.pieces == 1
        and fault.corrupt is not None
        and fault.corrupt.code is None
    ]
    return problems + _corrupt_problems(servers // size, faults)


def _corrupt_problems(count: int, faults: list[tuple[int, Fault]]) -> list[Problem]:
    """Groups that are not there, or rebuild twice."""
    problems: list[Problem] = []
    named: set[int] = set()
    drawn: list[tuple[str, int]] = []
    for index, fault in faults:
        corrupt: Corrupt | None = fault.corrupt
        if corrupt is None:
            continue
        key = f"faults.{index}.corrupt.groups"
        if isinstance(corrupt.groups, int):
            drawn.append((key, corrupt.groups))
            continue
        for number in corrupt.groups:
            if number >= count:
                remedy = f"the numbers are 0 to {count - 1}"
                problems.append(Problem("there is no such group", remedy, key, show(number)))
            elif number in named:
                rule = "another fault has this group rebuild already"
                problems.append(Problem(rule, "name each once", key=key, value=show(number)))
            named.add(number)
    left = count - len(named)
    for key, groups in drawn:
        if groups > left:
            rule = f"there are {count} groups"
            if left < count:
                rule += f", and the other faults leave {max(left, 0)}"
            problems.append(Problem(rule, "let fewer rebuild", key=key, value=show(groups)))
        left -= groups
    return problems


def _window_problems(
    cluster: Cluster, traffic: Traffic, redundancy: Redundancy | None
) -> list[Problem]:
    """Windows of more operations or packets than fit in memory; packets of strips, where known."""
    streams = traffic.streams
    if streams is None:
        return []
    ends = max(cluster.server_count * cluster.port_count, cluster.fabric.router_count)
    operations = ends * streams.window
    if operations > OPERATIONS_MAX:
        rule = f"all streams together would have {operations:,} operations under way, and "
        rule += f"{OPERATIONS_MAX:,} are the most"
        remedy = f"use at most {OPERATIONS_MAX // ends}"
        return [Problem(rule, remedy, key="traffic.streams.window", value=show(streams.window))]
    if redundancy is None or redundancy.strip is None:
        return []
    problems = []
    messages = traffic.control_message
    for key, size in (
        ("redundancy.strip", redundancy.strip),
        ("traffic.control_message", messages),
    ):
        packets = operations * redundancy.pieces * packets_of(cluster, int(size))
        if packets > PACKETS_MAX:
            rule = f"all streams together would have {packets:,} packets under way, and "
            rule += f"{PACKETS_MAX:,} are the most"
            remedy = f"use a smaller window or {key.split('.')[1]}, or larger packets"
            value = show(exact_bytes(int(size)))
            problems.append(Problem(rule, remedy.replace("_", " "), key=key, value=value))
    return problems


def _rate_problems(
    cluster: Cluster, traffic: Traffic, redundancy: Redundancy | None
) -> list[Problem]:
    """A rate at which more operations come due than a run gets through."""
    streams, code = traffic.streams, redundancy.code if redundancy is not None else None
    if streams is None or streams.rate is None or redundancy is None or code is None:
        return []
    lasts = traffic.warm_up_seconds + float(traffic.duration or 0)
    stripe = code.data * float(redundancy.strip or 1)
    due = cluster.server_count * float(streams.rate) * lasts / stripe
    if due <= DUE_MAX:
        return []
    rule = f"about {due:,.0f} operations would come due in a run, and {DUE_MAX:,} are the most"
    remedy = "lower it, use larger strips, or shorten traffic.duration"
    return [Problem(rule, remedy, key="traffic.streams.rate", value=show(exact_rate(streams.rate)))]


def _burst_problems(traffic: Traffic) -> list[Problem]:
    """Bursts that follow one another too fast, or that write more than sizes are counted to."""
    bursts = traffic.streams.bursts if traffic.streams is not None else None
    if bursts is None or traffic.duration is None:
        return []
    left = traffic.warm_up_seconds + float(traffic.duration) - float(bursts.first)
    count = math.ceil(max(left, 0.0) / float(bursts.every))
    return _too_many_bursts(count, ("traffic.streams.bursts", "every"), bursts)


def _too_many_bursts(count: int, at: tuple[str, str], of: Bursts | JobSignature) -> list[Problem]:
    """Bursts that follow one another too fast, or that move more than sizes are counted to.

    Args:
        count: How many there are in a run.
        at: The key where they stand, and that of the time between them.
        of: What says it.
    """
    key, name = at
    if count > BURSTS_MAX:
        rule = f"this makes {count:,} bursts in a run, and {BURSTS_MAX:,} are the most"
        value = show(exact_duration(getattr(of, name)))
        return [Problem(rule, "let more time pass between them", key=f"{key}.{name}", value=value)]
    if count * int(of.volume) > BYTES_MAX:
        rule = f"{count:,} bursts of this would move more than 8 EiB"
        return [Problem(rule, "move less", key=f"{key}.volume", value=show(exact_bytes(of.volume)))]
    return []
