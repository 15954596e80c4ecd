"""Rates of flows by SimGrid: a system from standard input, its rates to standard output.

A system is ``{"capacities": [...], "ways": [[...], ...], "weights": [...]}``; its answer has
rates, and the seconds of processor time that SimGrid took. It runs under the Python that has
the package `simgrid`, a process a system, since SimGrid has one engine a process.
"""

from __future__ import annotations

import json
import sys
import time

from simgrid import Actor, Comm, Engine, LinkInRoute, NetZone, this_actor

LATENCY = 1e-3
"""Seconds that a flow of weight 1 is on its way; SimGrid shares by the inverse of that time."""
SECONDS = 1.0
"""How long flows are watched."""
BYTES = 10**12
"""More than any flow moves by then."""


def main() -> None:
    system = json.load(sys.stdin)
    engine = Engine(["rates", "--log=root.threshold:error"])
    settings = {
        "network/model": "CM02",
        "network/optim": "Full",
        "network/crosstraffic": "0",
        "network/TCP-gamma": "0",
        "network/weight-S": "0",
        "network/latency-factor": "1",
        "network/bandwidth-factor": "1",
        "maxmin/precision": "1e-12",
    }
    for key, value in settings.items():
        Engine.set_config(f"{key}:{value}")
    zone = NetZone.create_full_zone("flows")
    links = [
        zone.create_link(f"link{number}", capacity).set_latency(0.0).seal()
        for number, capacity in enumerate(system["capacities"])
    ]
    hosts = []
    for number, (way, weight) in enumerate(zip(system["ways"], system["weights"], strict=True)):
        # A link of its own, of no account but for its latency.
        own = zone.create_link(f"own{number}", 1e18).set_latency(LATENCY / weight).seal()
        ends = [zone.create_host(f"{side}{number}", 1e9).seal() for side in ("from", "to")]
        route = [LinkInRoute(one) for one in (own, *(links[link] for link in way))]
        zone.add_route(ends[0].netpoint, ends[1].netpoint, None, None, route, False)
        hosts.append(ends)
    zone.seal()
    rates: list[float] = []

    def watch() -> None:
        comms = [Comm.sendto_init(*ends).set_payload_size(BYTES).start() for ends in hosts]
        # The last one has begun by now, and rates stay as they are.
        this_actor.sleep_for(LATENCY / min(system["weights"]) + 1e-6)
        before = [comm.remaining for comm in comms]
        this_actor.sleep_for(SECONDS)
        rates.extend(
            (left - comm.remaining) / SECONDS for left, comm in zip(before, comms, strict=True)
        )
        for comm in comms:
            comm.cancel()

    Actor.create("watch", hosts[0][0], watch)
    began = time.process_time()
    engine.run()
    print(json.dumps({"rates": rates, "seconds": time.process_time() - began}))


if __name__ == "__main__":
    main()
