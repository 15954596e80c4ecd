"""What must hold between the sections of one system.

Every check, here and in the modules that this one calls, gives its problems with full keys. Faults
come with their places in the study file, and a section that is not there, or not valid, is None.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import TYPE_CHECKING, Any

from resilver.errors import Problem, collected, name_remedy, show
from resilver.spec.attachment import port_problems
from resilver.spec.ceph_run import ceph_problems
from resilver.spec.cluster import Cluster
from resilver.spec.durability_checks import durability_problems
from resilver.spec.failing import fault_problems, kind_problems
from resilver.spec.grouping import group_problems, set_problems, sets_of
from resilver.spec.metadata import holder_problems
from resilver.spec.pools import pool_list_problems
from resilver.spec.serving import (
    PACKETS_MAX,
    late_fault_problems,
    nothing_stored_problems,
    packets_of,
    traffic_problems,
)
from resilver.spec.steady import carrier_problems, is_taken_over, steady_problems
from resilver.spec.striping import (
    has_end,
    lane_problems,
    rebuilt_from,
    stored_stripe_problems,
    striping_problems,
)
from resilver.spec.tree import plural
from resilver.units import Bytes, exact_bytes

if TYPE_CHECKING:
    from resilver.spec.placement import Placement
    from resilver.spec.population import Population
    from resilver.spec.recovery import Recovery
    from resilver.spec.redundancy import Redundancy

BUFFERS_MAX = 2**30
"""The most pipeline buffers of an object, as in the core."""

RING_POINTS_MAX = 2**27
"""The most points on a hash ring, of all servers together: their 8 bytes each then take 1 GiB."""

COPYSET_PLACES_MAX = 2**27
"""The most servers in all copysets together: their 4 bytes each then take 512 MiB."""


def cross_problems(given: Set[str], sections: Mapping[str, Any]) -> list[Problem]:
    """What is wrong between sections that are valid each on its own."""
    cluster: Cluster | None = sections.get("cluster")
    if cluster is None:
        return []
    asked = sections.get("durability")
    problems = durability_problems(cluster, asked) if asked is not None else []
    faults = list(enumerate(sections.get("faults") or ()))
    if cluster.ceph is not None:
        named = kind_problems(cluster, faults) or fault_problems(cluster, faults)
        own = ceph_problems(given, sections)
        told = {problem.key for problem in own}
        return [*problems, *own, *(problem for problem in named if problem.key not in told)]
    if sections.get("ceph") is not None:
        rule, remedy = "it is of a real Ceph cluster", "add cluster.ceph, or remove [ceph]"
        problems.append(Problem(rule, remedy, key="ceph"))
    detection = sections.get("detection")
    if detection is not None:
        with collected(problems, "detection"):
            detection.messages(cluster.server_count)
    if sections.get("pools"):
        return problems + _pool_problems(cluster, given, sections)
    return problems + _system_problems(cluster, given, sections)


def _system_problems(
    cluster: Cluster, given: Set[str], sections: Mapping[str, Any]
) -> list[Problem]:
    """What is wrong between the sections of a system of one pool."""
    faults = list(enumerate(sections.get("faults") or ()))
    traffic, population = sections.get("traffic"), sections.get("population")
    if problems := kind_problems(cluster, faults):
        return problems
    problems = fault_problems(cluster, faults)
    problems += striping_problems(given, sections)
    placement = sections.get("placement")
    if placement is not None or "placement" not in given:
        # A placement that is not valid has a problem of its own, and may have been one of groups.
        problems += port_problems(cluster, placement)
    problems += lane_problems(sections)
    problems += steady_problems(cluster, sections)
    if traffic is not None:
        is_stored = "population" in given
        told = rebuilt_from(cluster, faults, is_stored=is_stored)
        problems += traffic_problems(cluster, traffic, has_rebuild=has_end(told))
        # What failed is rebuilt whenever that begins; soft errors are of the time of the traffic.
        if not any(fault.starts_rebuild for _, fault in told):
            problems += late_fault_problems(traffic, faults)
        if not is_stored:
            lost = [one for one in faults if not is_taken_over(cluster, one[1])]
            problems += nothing_stored_problems(given, lost, is_striped=traffic.is_striped)
            return problems + carrier_problems(cluster, faults)
    # Where traffic was written and is not valid, it may have been all that there is to be.
    is_traffic_broken = "traffic" in given and "traffic" not in sections
    if "population" not in given and not is_traffic_broken:
        remedy = 'add [population] with histogram = "genomes1000" and bytes_per_server = "20 TiB"'
        problems.append(Problem("a synthetic cluster needs a population", remedy, key="population"))
    redundancy = sections.get("redundancy")
    if population is not None:
        problems += holder_problems(cluster, placement)
    if placement is not None:
        problems += _placement_problems(cluster, placement, redundancy)
    problems += _manager_problems(cluster, sections.get("recovery"))
    count = holders(cluster, placement)
    problems += _volume_problems(cluster, count, population)
    if population is not None and redundancy is not None:
        largest = _largest_piece(count, population, redundancy)
        problems += _buffer_problems(cluster, largest, sections.get("recovery"))
        problems += _gather_problems(redundancy, sections.get("recovery"))
        if traffic is not None:
            problems += stored_stripe_problems(cluster, traffic, largest, redundancy.pieces)
    return problems


def _pool_problems(cluster: Cluster, given: Set[str], sections: Mapping[str, Any]) -> list[Problem]:
    """What is wrong with several pools: each beside the other sections, and all together."""
    own = ("population", "placement", "redundancy")
    problems = [
        Problem("each pool has its own", "move it into a pool", key=name)
        for name in own
        if name in given
    ]
    if problems:
        return problems
    pools = sections["pools"]
    problems += pool_list_problems(pools, has_traffic=sections.get("traffic") is not None)
    problems += steady_problems(cluster, {"pools": pools})
    for index, pool in enumerate(pools):
        traffic = pool.traffic or sections.get("traffic")
        stored = {**{name: getattr(pool, name) for name in own}, "traffic": traffic}
        keys = ((given - {"pools"}) | pool.model_fields_set & {*own, "traffic"}) - {"name"}
        for problem in _system_problems(cluster, keys, {**sections, "pools": (), **stored}):
            head = (problem.key or "").partition(".")[0]
            if head in own or (head == "traffic" and pool.traffic is not None):
                problem = problem.under(f"pools.{index}")
            if problem not in problems:
                problems.append(problem)
    return problems


def _placement_problems(
    cluster: Cluster, placement: Placement, redundancy: Redundancy | None
) -> list[Problem]:
    """What is wrong between a placement, the cluster and the pieces of an object."""
    if placement.algorithm == "sets":
        return set_problems(cluster, placement, redundancy)
    copies = redundancy.pieces if redundancy is not None else 1
    domains = _domain_count(cluster, placement)
    return [
        *_domain_problems(cluster, placement, redundancy),
        *_ring_problems(cluster, placement, copies),
        *_copyset_problems(cluster, placement, copies),
        *group_problems(placement, cluster.server_count, domains, copies),
    ]


def _manager_problems(cluster: Cluster, recovery: Recovery | None) -> list[Problem]:
    """More managers than devices that they could be at."""
    managers, devices = (recovery and recovery.managers) or 0, cluster.server_count
    if managers <= devices:
        return []
    rule = f"the cluster has {devices:,} devices that could be managers"
    return [Problem(rule, "use fewer", key="recovery.managers", value=show(managers))]


def _gather_problems(redundancy: Redundancy, recovery: Recovery | None) -> list[Problem]:
    """A memory that does not hold a buffer of each piece that one may be made of."""
    code = redundancy.code
    if code is None or recovery is None:
        return []
    needed = int(recovery.pipeline_buffer) * code.data
    if needed <= recovery.receive_memory:
        return []
    rule = (
        f'a piece of "{code.label}" may be made of {code.data} others, and a buffer of '
        f"{exact_bytes(recovery.pipeline_buffer)} from each is {exact_bytes(needed)}"
    )
    remedy = "enlarge the memory, or use smaller buffers"
    value = show(exact_bytes(recovery.receive_memory))
    return [Problem(rule, remedy, key="recovery.receive_memory", value=value)]


def _domain_problems(
    cluster: Cluster, placement: Placement, redundancy: Redundancy | None
) -> list[Problem]:
    if class_problems := _class_problems(cluster, placement):
        return class_problems
    if len(placement.domains) > 1 and redundancy is not None:
        return _levels_problems(cluster, placement, redundancy)
    domain = _lowest_domain(cluster, placement)
    count = _domain_count(cluster, placement)
    if count is None:
        levels = [level.name for level in cluster.tree.levels] if cluster.tree else []
        remedy = f"add cluster.{plural(domain)}, or use a failure domain that exists"
        if cluster.parts or domain not in ("rack", "row"):
            remedy = name_remedy(domain, levels, "levels")
        rule = f"the cluster has no {plural(domain)}"
        return [Problem(rule, remedy, key="placement.failure_domain", value=show(domain))]
    if redundancy is not None and redundancy.pieces > count:
        code = redundancy.code
        pieces = f"k={code.data} + m={code.parity} pieces" if code is not None else ""
        rule = (
            f"this needs {redundancy.pieces} failure domains of type '{domain}', "
            f"and the cluster has {count}"
        )
        remedy = (
            f"use at most {count} replicas, or more {plural(domain)}"
            if code is None
            else f"each of its {pieces} is on one of its own; use fewer, or more {plural(domain)}"
        )
        value = show(redundancy.replicas if code is None else code.label)
        return [Problem(rule, remedy, key=redundancy.key, value=value)]
    return []


def _levels_problems(
    cluster: Cluster, placement: Placement, redundancy: Redundancy
) -> list[Problem]:
    """What is wrong with a failure domain for each level of a code."""
    domains, tree = placement.domains, cluster.tree
    key, value = "placement.failure_domain", show(list(domains))
    levels = redundancy.code.levels if redundancy.code is not None else (redundancy.pieces,)
    if len(levels) != len(domains):
        rule = f"the code has {len(levels)} level{'s' if len(levels) > 1 else ''}"
        remedy = "name a level for each of the code's, from the top, or one for all pieces"
        return [Problem(rule, remedy, key=key, value=value)]
    names = [level.name for level in tree.levels] if tree is not None else []
    for name in domains:
        if name not in names:
            remedy = name_remedy(name, names, "levels")
            return [Problem(f"the cluster has no {plural(name)}", remedy, key=key, value=value)]
    if tree is None or [name for name in names if name in domains] != list(domains):
        rule, remedy = "each lies in the one before it", "write them from the top"
        return [Problem(rule, remedy, key=key, value=value)]
    above = 1
    for name, needed in zip(domains, levels, strict=True):
        count = tree.count(name) or 0
        if name == tree.device_level and placement.only_class is not None:
            count = holders(cluster, placement)
        if needed > count // above:
            where = f" in each {domains[domains.index(name) - 1]}" if above > 1 else ""
            rule = f"this needs {needed} {plural(name)}{where}, and there are {count // above}"
            remedy = "use a smaller code at this level, or more parts"
            return [Problem(rule, remedy, key=redundancy.key, value=show(redundancy.code))]
        above = count
    return []


def _lowest_domain(cluster: Cluster, placement: Placement) -> str:
    """What no two pieces share."""
    return placement.domains[-1] if placement.domains else default_failure_domain(cluster)


def _domain_count(cluster: Cluster, placement: Placement) -> int | None:
    """How many failure domains there are, or None where the cluster has none of that type."""
    tree, domain = cluster.tree, _lowest_domain(cluster, placement)
    if tree is None or placement.only_class is None or domain != tree.device_level:
        return tree.count(domain) if tree is not None else None
    return holders(cluster, placement)


def holders(cluster: Cluster, placement: Placement | None) -> int:
    """How many devices a placement takes: all, or those of its class."""
    tree, name = cluster.tree, placement.only_class if placement is not None else None
    side = tree.side(placement.level or "") if tree is not None and placement is not None else None
    if tree is not None and placement is not None and side is not None and side.size:
        # Spares hold nothing until a member fails.
        return len(sets_of(tree, placement)) * side.size
    if tree is None or name is None:
        return cluster.server_count
    of_class = [kind.device_class == name for kind in cluster.device_kinds]
    # Every container holds the same kinds in turn.
    return tree.devices * sum(of_class[kind] for kind in tree.kinds) // len(tree.kinds)


def _class_problems(cluster: Cluster, placement: Placement) -> list[Problem]:
    """A class that no device has."""
    name = placement.only_class
    known = [kind.device_class for kind in cluster.device_kinds if kind.device_class is not None]
    if name is None or name in known:
        return []
    remedy = name_remedy(name, known, "classes")
    if not known:
        remedy = "remove it, or give devices classes in cluster.parts"
    return [Problem("no device has this class", remedy, key="placement.class", value=show(name))]


def _volume_problems(cluster: Cluster, count: int, population: Population | None) -> list[Problem]:
    per_server = population.bytes_per_server if population is not None else None
    if population is None or per_server is None:
        return []
    level = cluster.tree.device_level if cluster.tree is not None else "server"
    volume, holder = int(per_server) * count, f"{count} {plural(level)}"
    problems = population.volume_problems(volume, "bytes_per_server", holder)
    return [problem.under("population") for problem in problems]


def _largest_file(count: int, population: Population) -> int:
    """The largest file there can be: drawing stops before a file would pass a given volume."""
    volume = population.bytes
    if population.bytes_per_server is not None:
        volume = Bytes(population.bytes_per_server * count)
    size = population.largest_file_bytes
    return size if volume is None else min(size, volume)


def _largest_piece(count: int, population: Population, redundancy: Redundancy) -> int:
    """The largest piece that there can be of an object: all of it, or its share under a code."""
    width = population.cut.width(count, redundancy.pieces)
    largest = population.cut.largest(_largest_file(count, population), width)
    return -(-largest // (redundancy.code.data if redundancy.code is not None else 1))


def default_failure_domain(cluster: Cluster) -> str:
    """What no two copies share where a study does not say.

    It is the level above that of the network ports, as the rack above servers or hosts, where
    there is one, else the latter.
    """
    if cluster.tree is None:
        return "server"
    names = [level.name for level in cluster.tree.levels]
    return names[max(names.index(cluster.tree.port_level) - 1, 0)]


def _ring_problems(cluster: Cluster, placement: Placement, copies: int) -> list[Problem]:
    rings = (placement.rings or copies) if placement.algorithm == "multi_ring" else 1
    per_server = (placement.ring_points or 0) * rings
    points = per_server * cluster.server_count
    if points <= RING_POINTS_MAX:
        return []
    what = "a ring has" if rings == 1 else f"{rings} rings have"
    most = RING_POINTS_MAX // cluster.server_count // rings
    rule = (
        f"{cluster.server_count} servers would have {points} points, "
        f"and {what} at most 2^27 = {RING_POINTS_MAX}"
    )
    remedy = f"use at most {most} points a server"
    return [Problem(rule, remedy, key="placement.ring_points", value=show(placement.ring_points))]


def _copyset_problems(cluster: Cluster, placement: Placement, copies: int) -> list[Problem]:
    width, others = placement.scatter_width, cluster.server_count - 1
    if width is None:
        return []
    # Each permutation gives a server copies - 1 others; one is enough where there are no copies.
    permutations = -(-width // (copies - 1)) if copies > 1 else 1
    # The default may be more than a small cluster has; the layout then has as many sets as it says.
    if width > max(others, 1) and "scatter_width" in placement.model_fields_set:
        rule = f"a server has {others} others to share data with"
        most = max(others, 1)
    elif permutations * cluster.server_count > COPYSET_PLACES_MAX:
        rule = (
            f"{permutations} permutations of {cluster.server_count} servers are more than "
            f"2^27 = {COPYSET_PLACES_MAX} places in copysets"
        )
        most = COPYSET_PLACES_MAX // cluster.server_count * max(copies - 1, 1)
    else:
        return []
    return [Problem(rule, f"use at most {most}", key="placement.scatter_width", value=show(width))]


def _buffer_problems(
    cluster: Cluster, object_bytes: int, recovery: Recovery | None
) -> list[Problem]:
    if recovery is None:
        return []
    key, value = "recovery.pipeline_buffer", show(exact_bytes(recovery.pipeline_buffer))
    if object_bytes > BUFFERS_MAX * recovery.pipeline_buffer:
        rule = f"an object of {exact_bytes(object_bytes)} would take more than "
        rule += f"2^30 = {BUFFERS_MAX} buffers"
        remedy = f"use at least {-(-object_bytes // BUFFERS_MAX)} B, or smaller objects"
        return [Problem(rule, remedy, key=key, value=value)]
    packets = packets_of(cluster, min(object_bytes, recovery.pipeline_buffer))
    if packets <= PACKETS_MAX:
        return []
    rule = f"this is {packets:,} packets, and {PACKETS_MAX:,} at a time is the most"
    return [Problem(rule, "use a smaller buffer, or larger packets", key=key, value=value)]
