"""A study's network and clients in a sentence each."""

from __future__ import annotations

from typing import Any

from resilver.report.words import listed, percent, plural
from resilver.units import exact_bytes, exact_duration, format_rate

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


def fabric_sentence(cluster: dict[str, Any]) -> str:
    """The network of switches, where the study has one; else empty.

    Args:
        cluster: The section `cluster` of the resolved study.
    """
    fabric = cluster.get("fabric")
    if not isinstance(fabric, dict) or fabric.get("model") != "switched":
        return ""
    topology = fabric.get("topology")
    label = topology.get("label") if isinstance(topology, dict) else topology
    text = f"Network: {label}" if isinstance(label, str) else "A network of switches"
    parts = []
    # A graph of one's own may say the rate of each link.
    rates = fabric.get("link_rates") or [fabric.get("link_rate")]
    if all(isinstance(rate, int | float) for rate in rates):
        slowest, fastest = (bit_rate(float(rate)) for rate in (min(rates), max(rates)))
        both = slowest if slowest == fastest else f"{slowest} to {fastest}"
        parts.append(f"links of {both}")
    packet = fabric.get("packet_size")
    if isinstance(packet, int):
        parts.append(f"packets of up to {exact_bytes(packet)}")
    routing = fabric.get("routing")
    if isinstance(routing, str):
        parts.append(f"{routing} routing")
    return f"{text}; {', '.join(parts)}." if parts else f"{text}."


def traffic_clause(traffic: dict[str, Any]) -> str:
    """What clients do; empty for a study without them.

    Args:
        traffic: The section `traffic` of the resolved study, or an empty one.
    """
    if not traffic:
        return ""
    if isinstance(traffic.get("streams"), dict):
        return f"{_streams(traffic, traffic['streams'])}."
    parts = [_arrivals(traffic)]
    targets = _targets(traffic.get("targets"))
    if targets:
        parts.append(targets)
    if isinstance(traffic.get("timeout"), int | float):
        parts.append(f"each given up after {exact_duration(float(traffic['timeout']))}")
    return f"{', '.join(parts)}."


def _streams(traffic: dict[str, Any], streams: dict[str, Any]) -> str:
    """How clients stream whole stripes, and what bursts there are."""
    share = traffic.get("reads")
    named = {0.0: "writes", 1.0: "reads"}
    what = "reads and writes"
    if isinstance(share, int | float):
        what = named.get(float(share), f"reads ({percent(float(share))}) and writes")
    text = f"Clients stream {what} of whole stripes"
    window, rate, bursts = (streams.get(key) for key in ("window", "rate", "bursts"))
    if isinstance(rate, int | float):
        text += f" at {format_rate(float(rate))} each"
    if isinstance(window, int):
        text += f", {window:,} under way in each stream"
    if isinstance(bursts, dict) and isinstance(bursts.get("volume"), int):
        every = exact_duration(float(bursts.get("every") or 0.0))
        text += f", and bursts of {exact_bytes(bursts['volume'])} every {every}"
    return text


def _arrivals(traffic: dict[str, Any]) -> str:
    """How many requests of which size and kind there are."""
    size = traffic.get("request_size")
    what = f"requests of {exact_bytes(size)}" if isinstance(size, int) else "requests"
    share = traffic.get("reads")
    reads = ""
    if isinstance(share, int | float):
        named = {0.0: "all of them writes", 0.5: "half of them reads", 1.0: "all of them reads"}
        reads = named.get(float(share), f"{percent(float(share))} of them reads")
    kinds = f", {reads}" if reads else ""
    outstanding = traffic.get("outstanding")
    if isinstance(outstanding, int):
        return f"Clients keep {outstanding:,} {what} outstanding{kinds}"
    arrivals = traffic.get("arrivals")
    for key, words in (("poisson", "at random moments"), ("pareto", "in bursts (Pareto)")):
        rate = arrivals.get(key) if isinstance(arrivals, dict) else None
        if isinstance(rate, int | float):
            return f"Clients issue {rate:,.10g} {what} a second {words}{kinds}"
    trace = arrivals.get("trace") if isinstance(arrivals, dict) else None
    if isinstance(trace, dict) and isinstance(trace.get("requests"), int):
        name = trace.get("label") or "a trace"
        return f"Clients issue the {plural(trace['requests'], 'request')} of {name}"
    return f"Clients issue {what}{kinds}"


def _targets(targets: object) -> str:
    """Which servers requests go to, where they do not go to all alike."""
    if not isinstance(targets, dict):
        return ""
    if isinstance(targets.get("zipf"), int | float):
        return f"servers by Zipf's law with exponent {targets['zipf']:g}"
    exponent = targets.get("exponent")
    if isinstance(exponent, int | float):
        return f"servers by Zipf's law with exponent {exponent:g}"
    servers, requests = targets.get("hot_servers"), targets.get("hot_requests")
    if isinstance(servers, int | float) and isinstance(requests, int | float):
        return f"{percent(requests)} of them to {percent(servers)} of the servers"
    return ""


def device_words(device: object) -> str:
    """A device given by the times it serves in, where it is; else empty.

    Args:
        device: The key `cluster.device` of the resolved study.
    """
    if not isinstance(device, dict):
        return ""
    kinds = (("read_service", "read"), ("write_service", "write"))
    given = {kind: device[key] for key, kind in kinds if isinstance(device.get(key), int | float)}
    if given and not any(given.values()):
        return "devices that take no time"
    if len(given) == len(kinds) and len(set(given.values())) == 1:
        return f"devices that take {exact_duration(float(given['read']))} a request"
    times = [f"{exact_duration(float(time))} a {kind}" for kind, time in given.items()]
    return f"devices that take {listed(times)}" if times else ""
