"""The study in a sentence or three: what the system is, what breaks, and what is swept."""

from __future__ import annotations

from typing import Any

from resilver.report.assumptions import assumptions_lead, certainty, guessed_devices
from resilver.report.faults import moments_of, repair_moments, slow_parts, soft_errors
from resilver.report.source import (
    ResultsLike,
    SystemRuns,
    format_swept,
    number,
    serves_only,
    swept_keys,
    with_swept,
)
from resilver.report.traffic_words import device_words, fabric_sentence, traffic_clause
from resilver.report.words import listed, percent, plural
from resilver.units import exact_bytes, format_duration

_SWEPT_SHOWN_MAX = 6
_FAULTS_SHOWN_MAX = 4
_FAILED = ("failed_servers", "failed_disks", "failed_links", "failed_switches", "failed_parts")
"""Columns that name what broke, for a study whose own faults say only how many."""
_NO_FAULTS = "Nothing fails."
_ONE_SIZE = "one size"
"""The label of the histogram that `population.file_size` stands for."""


def describe(results: ResultsLike, point: SystemRuns) -> str:
    """The study in words, its swept values standing at those of `point`.

    Args:
        results: The study's results.
        point: The system that stands for the study.

    Returns:
        Plain text of two to four short sentences.
    """
    study = with_swept(results.study, point.swept)
    cluster = _section(study, "cluster")
    parts = [_cluster(cluster, point), guessed_devices(results)]
    pools = study.get("pools")
    pools = [pool for pool in pools if isinstance(pool, dict)] if isinstance(pools, list) else []
    if pools:
        groups = number(point.median, "placement_groups")
        parts += [plural(float(len(pools)), "pool"), plural(groups or 0, "placement group")]
    elif not serves_only(point.rows):
        parts += [*_placement(study, point), _copies(study)]
    elif size := _section(study, "placement").get("group_size"):
        parts += [f"groups of {size}", _copies(study)]
    sentences = [", ".join(part for part in parts if part) + "."]
    if rests_on := assumptions_lead(results):
        sentences.append(rests_on)
    holder = "device" if cluster.get("parts") else "server"
    if population := _population(_section(study, "population"), holder):
        sentences.append(population)
    sentences += [_pool(pool, holder) for pool in pools]
    if network := fabric_sentence(cluster):
        sentences.append(network)
    if traffic := traffic_clause(_section(study, "traffic")):
        sentences.append(traffic)
    # Shares are resolved together: where one is swept, the sweep's own sentence tells them.
    is_swept = any(key.split(".")[0] == "lanes" for key in point.swept)
    if not is_swept and (lanes := _lanes(_section(study, "lanes"))):
        sentences.append(lanes)
    if shares := _even_shares(cluster.get("ceph")):
        sentences.append(shares)
    if clauses := soft_errors(study):
        sentences.append(f"Soft errors: {'; '.join(clauses)}.")
    faults = _faults(study, point)
    # A system that stores nothing has nothing that ought to fail.
    if faults != _NO_FAULTS or not serves_only(point.rows):
        sentences.append(faults)
    if clauses := slow_parts(study):
        sentences.append(f"Slow: {'; '.join(clauses)}.")
    if swept := _sweep(results):
        sentences.append(swept)
    return " ".join(sentences)


def _section(study: dict[str, Any], name: str) -> dict[str, Any]:
    """A section of the study, empty where it has none."""
    value = study.get(name)
    return value if isinstance(value, dict) else {}


def _name(value: object) -> str:
    """The name of something given by name, by file or by an inline table."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        for key in ("label", "file", "netgauge"):
            if isinstance(value.get(key), str):
                return str(value[key]).replace("\\", "/").rsplit("/", 1)[-1]
    return ""


def _size(value: object) -> str:
    """A size that is resolved to bytes, or still in words."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return exact_bytes(int(value))
    return str(value)


def _cluster(cluster: dict[str, Any], point: SystemRuns) -> str:
    """What exists: a real cluster's devices, or synthetic servers in their racks and rows."""
    count = point.devices or cluster.get("servers") or 0
    if cluster.get("ceph"):
        file = _name(cluster["ceph"])
        return f"The cluster of {file}, {plural(count, 'OSD')}" if file else plural(count, "OSD")
    parts = cluster.get("parts")
    if isinstance(parts, list) and parts:
        return f"{plural(float(count), 'device')} in a tree of parts, {_levels(parts)}"
    text = plural(float(count), "server")
    racks, rows = cluster.get("racks"), cluster.get("rows")
    if racks:
        text += f" in {plural(racks, 'rack')}"
    if rows:
        text += f" and {plural(rows, 'row')}"
    device = _name(cluster.get("device"))
    if device:
        return f"{text} with {device} devices"
    times = device_words(cluster.get("device"))
    return f"{text} with {times}" if times else text


def _even_shares(ceph: object) -> str:
    """What a real cluster's report leaves out, if it does."""
    if not isinstance(ceph, dict):
        return ""
    groups, measured = ceph.get("groups"), ceph.get("groups_measured")
    if not isinstance(groups, int) or not isinstance(measured, int) or measured == groups:
        return ""
    return (
        f"The report states the bytes of {measured:,} of {groups:,} groups; "
        "the others hold even shares of what is left of its sum."
    )


_CLASSES = ("clients", "rebuild", "bursts")
_LAYOUTS = {
    "multi_ring": "several hash rings",
    "rendezvous": "rendezvous hashing",
    "xor": "the least distance by exclusive or",
    "modulo": "the hash modulo the servers",
    "jump": "jump consistent hash",
    "declustered": "declustered parity groups",
    "copysets": "copysets",
    "groups": "fixed groups of servers",
    "sets": "RAID sets",
}


def _placement(study: dict[str, Any], point: SystemRuns) -> list[str]:
    """How replicas find their places."""
    placement = _section(study, "placement")
    groups = number(point.median, "placement_groups")
    # Where layouts are compared, the sweep's own sentence names them all.
    swept = {"placement", "placement.algorithm"} & set(point.swept)
    algorithm = None if swept else placement.get("algorithm")
    words = []
    if algorithm == "crush":
        words.append(f"CRUSH with {placement.get('bucket', 'straw2')} buckets")
    elif algorithm == "ring":
        points = placement.get("ring_points")
        words.append("a hash ring" + (f" of {points:,} points per server" if points else ""))
    elif isinstance(algorithm, str) and algorithm in _LAYOUTS:
        words.append(_LAYOUTS[algorithm])
    elif _section(study, "cluster").get("ceph"):
        words.append("its own CRUSH map")
    words.append(plural(groups, "placement group") if groups else "no placement groups")
    return words


def _copies(study: dict[str, Any]) -> str:
    """How many replicas or which code, and in which failure domains."""
    redundancy = _section(study, "redundancy")
    replicas, code = redundancy.get("replicas"), redundancy.get("code")
    if _section(study, "cluster").get("ceph") or not (replicas or code):
        return ""
    domain = _section(study, "placement").get("failure_domain")
    groups = ""
    if isinstance(domain, list) and domain:
        groups = "".join(f", each group in a {name} of its own" for name in reversed(domain[:-1]))
        domain = domain[-1]
    if code:
        return f"{code}" + (f", each piece on another {domain}{groups}" if domain else "")
    return plural(replicas or 0, "replica") + (f", each on another {domain}" if domain else "")


def _pool(pool: dict[str, Any], holder: str) -> str:
    """A pool: its devices and its code, what is stored in it, and what its clients do."""
    only = _section(pool, "placement").get("class")
    where = f" on {only}" if only else ""
    stored = _population(_section(pool, "population"), holder).removesuffix(".")
    clients = traffic_clause(_section(pool, "traffic")).removesuffix(".")
    words = [_copies(pool), stored[:1].lower() + stored[1:], clients[:1].lower() + clients[1:]]
    return f"Pool {pool.get('name')}{where}: {'; '.join(word for word in words if word)}."


def _lanes(lanes: dict[str, Any]) -> str:
    """What each class of traffic is guaranteed of every port."""
    shares, order = lanes.get("shares"), lanes.get("priority")
    if lanes.get("order") == "priority" and isinstance(order, list):
        return f"Lanes by priority: {', '.join(_CLASSES[number] for number in order)}."
    if not isinstance(shares, list):
        return ""
    parts = [
        f"{percent(share)} for {name}"
        for name, share in zip(_CLASSES, shares, strict=True)
        if share
    ]
    return f"Lanes: {', '.join(parts)}."


def _population(population: dict[str, Any], holder: str) -> str:
    """What is stored; an amount a server is one a device where there is a tree of parts."""
    if not population:
        return ""
    histogram = population.get("histogram")
    # A swept size stands beside the histogram that the first of its values resolved to.
    if population.get("file_size") is not None:
        what = f"Files of {_size(population['file_size'])} each"
    elif isinstance(histogram, dict) and histogram.get("label") == _ONE_SIZE:
        what = f"Files of {_size(histogram['bins'][0][0])} each"
    elif histogram is not None:
        what = f"Files sized as in {_name(histogram)}" if _name(histogram) else "Files"
    else:
        what = "Files"
    objects = population.get("objects")
    if isinstance(objects, dict) and objects.get("chunk") is not None:
        what += f" in objects of {_size(objects['chunk'])}"
    elif isinstance(objects, dict) and objects.get("stripe_unit") is not None:
        what += f" striped in units of {_size(objects['stripe_unit'])}"
    if population.get("bytes_per_server") is not None:
        amount = f"{_size(population['bytes_per_server'])} per {holder} before replication"
    elif population.get("bytes") is not None:
        amount = f"{_size(population['bytes'])} before replication"
    elif population.get("files") is not None:
        amount = plural(population["files"], "file")
    else:
        amount = ""
    return what + (f", {amount}." if amount else ".")


def _faults(study: dict[str, Any], point: SystemRuns) -> str:
    """What breaks, and when."""
    moments = moments_of(study)
    if not moments:
        names = listed([str(point.median[key]) for key in _FAILED if point.median.get(key)])
        return f"Lost at time zero: {names}." if names else _NO_FAULTS
    sentences = []
    for moment in moments[:_FAULTS_SHOWN_MAX]:
        when = f"at {format_duration(moment.seconds)}" if moment.seconds else "at time zero"
        shown = moment.lost[:_SWEPT_SHOWN_MAX]
        more = (
            f" and {len(moment.lost) - len(shown):,} more" if len(moment.lost) > len(shown) else ""
        )
        sentences.append(f"Lost {when}: {', '.join(shown)}{more}.")
    if len(moments) > _FAULTS_SHOWN_MAX:
        sentences.append(f"And so at {len(moments) - _FAULTS_SHOWN_MAX:,} later moments.")
    if repairs := [format_duration(seconds) for seconds in repair_moments(study)]:
        later = len(repairs) - _FAULTS_SHOWN_MAX
        rest = f" and {later:,} later moments" if later > 0 else ""
        sentences.append(f"Repaired at {', '.join(repairs[:_FAULTS_SHOWN_MAX])}{rest}.")
    return " ".join(sentences)


def _levels(parts: list[dict[str, Any]]) -> str:
    """The levels of a tree of parts, such as ``osd in host in rack``, and the devices' classes."""
    # What carries others or is made of them stands beside the tree.
    inside = [part for part in parts if not (part.get("carries") or part.get("of"))]
    above = {part.get("level"): part.get("in") for part in inside}
    names = [name for name in above if name not in above.values()]
    while names and above.get(names[-1]) is not None:
        names.append(above[names[-1]])
    classes = [f"{part['count']} {part['class']}" for part in parts if part.get("class")]
    each = f" ({' and '.join(classes)} in each {names[1]})" if classes and len(names) > 1 else ""
    return f"levels {' in '.join(map(str, names))}{each}"


def _sweep(results: ResultsLike) -> str:
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
