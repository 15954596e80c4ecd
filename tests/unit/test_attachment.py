"""Ports of servers: which hosts of the network they are, and what cannot be attached."""

import pytest

from resilver.core_input import endpoints, machine_endpoints, ports_of
from resilver.spec.attachment import Attachment, attachment_problems
from tests.build import system_of


def test_ports_are_hosts_of_neighbouring_leaves() -> None:
    # Leaves 0 and 1 hold hosts 0, 1 and 2, 3: server 0 has slot 0 of both, server 1 slot 1.
    system = system_of("ported")
    assert ports_of(system) == [[0, 2], [1, 3], [4, 6], [5, 7]]
    assert endpoints(system) == [0, 1, 4, 5]
    assert machine_endpoints(system, endpoints(system)) == 8
    # On LogGP, server s has endpoints 2s and 2s + 1, and the routers follow the last.
    system = system_of("ported", cluster__fabric={"routers": 3})
    assert ports_of(system) == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert machine_endpoints(system, endpoints(system)) == 8
    # Server s is host s; nothing is said of ports in the system's content, whose hash is a
    # key.
    system = system_of("ported", cluster__ports=None)
    assert ports_of(system) == []
    assert endpoints(system) == [0, 1, 2, 3]
    assert machine_endpoints(system, endpoints(system)) == 4
    assert {"ports", "attachment"}.isdisjoint(system.resolved()["cluster"])
    assert system_of("ported").resolved()["cluster"]["ports"] == 2


@pytest.mark.parametrize(
    ("attachment", "servers", "says"),
    [
        # 6 servers a group over 4 sets.
        (Attachment("distributed", 8, 3, 2, 6), 12, "6 servers does not divide over 4 sets"),
        # 12 places, of which 8 are taken.
        (Attachment("distributed", 8, 3, 2, 4), 8, "do not fill the 12 places"),
        # 12 servers in groups of 8: one and a half.
        (Attachment("distributed", 8, 3, 2, 8), 12, "12 servers in groups of 8"),
    ],
)
def test_groups_that_cannot_be_dealt_say_why(
    attachment: Attachment, servers: int, says: str
) -> None:
    (problem,) = attachment_problems(attachment, servers)
    assert says in problem.rule
    assert problem.remedy.startswith("use ")
