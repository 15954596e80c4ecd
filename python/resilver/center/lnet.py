"""Routes as the Lustre network takes them: the option `routes` of the module lnet."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from resilver.center.routes import Routes


def lnet_routes(routes: Routes, client_network: str = "gni", server_network: str = "o2ib") -> str:
    """The routes of every client, one line for those of the same routers.

    A line says which clients it is for, by their numbers, and has the option as modprobe reads it:
    each network of the servers with its gateway (Lustre Operations Manual, "Configuring LNet").

    Args:
        routes: The choice of routers.
        client_network: The network of clients and routers.
        server_network: The kind of the servers' networks, whose numbers are the machine's.
    """
    machine = routes.machine
    names = [f"{server_network}{int(number)}" for number in routes.networks]
    if routes.chosen is None:
        gateways = [_numbers(machine.nids[row[row >= 0]].tolist()) for row in routes.routers]
        line = "; ".join(
            f"{name} 1 [{of}]@{client_network}" for name, of in zip(names, gateways, strict=True)
        )
        return f'# all clients\noptions lnet routes="{line}"\n'
    picked = machine.nids[routes.routers[np.arange(len(names)), routes.chosen]]
    lines, which = np.unique(picked, axis=0, return_inverse=True)
    order = np.argsort(which, kind="stable")
    clients = np.split(machine.nids[machine.clients][order], np.cumsum(np.bincount(which))[:-1])
    found = sorted(zip((of.tolist() for of in clients), lines.tolist(), strict=True))
    text = []
    for of, gateways in found:
        routed = (
            f"{name} 1 {nid}@{client_network}" for name, nid in zip(names, gateways, strict=True)
        )
        text.append(f'# clients {_numbers(of)}\noptions lnet routes="{"; ".join(routed)}"\n')
    return "".join(text)


def _numbers(numbers: list[int]) -> str:
    """Rising numbers as LNet lists them: `2-5,8`."""
    return ",".join(
        f"{first}-{last}" if last > first else f"{first}" for first, last in _runs(numbers)
    )


def _runs(numbers: list[int]) -> Iterator[tuple[int, int]]:
    first = last = None
    for number in sorted(numbers):
        if last is not None and number == last + 1:
            last = number
            continue
        if first is not None and last is not None:
            yield first, last
        first = last = number
    if first is not None and last is not None:
        yield first, last
