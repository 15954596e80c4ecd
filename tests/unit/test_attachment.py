"""Ports of servers: which hosts of the network they are, and what cannot be attached."""

import copy
from typing import Any

import pytest

from resilver import Study
from resilver.core_input import endpoints, machine_endpoints, ports_of
from resilver.spec import System
from resilver.spec.attachment import Attachment, attachment_problems
from tests.build import refused

SMALL: dict[str, Any] = {
    "cluster": {
        "servers": 4,
        "ports": 2,
        "fabric": {
            "model": "switched",
            "topology": "leaf spine 4x2 hosts 2 entries 1",
            "link_rate": "10 Gbit/s",
        },
    },
    "traffic": {"outstanding": 1, "request_size": "4 KiB", "duration": "1 ms"},
}


def study(**given: Any) -> dict[str, Any]:
    """The small study with other values of its cluster; None leaves a key out."""
    content = copy.deepcopy(SMALL)
    content["cluster"].update(given)
    content["cluster"] = {key: value for key, value in content["cluster"].items() if value}
    return content


def system_of(**given: Any) -> System:
    return Study.from_dict(study(**given)).runs()[0].system


def fabric(topology: str) -> dict[str, Any]:
    return {"model": "switched", "topology": topology, "link_rate": "10 Gbit/s"}


def test_ports_are_hosts_of_neighbouring_leaves() -> None:
    """Leaves 0 and 1 hold hosts 0, 1 and 2, 3: server 0 has slot 0 of both, server 1 slot 1."""
    system = system_of()
    assert ports_of(system) == [[0, 2], [1, 3], [4, 6], [5, 7]]
    assert endpoints(system) == [0, 1, 4, 5]
    assert machine_endpoints(system, endpoints(system)) == 8


def test_without_leaves_ports_are_in_a_row() -> None:
    """On LogGP, server s has endpoints 2s and 2s + 1, and the routers follow the last."""
    system = system_of(fabric={"routers": 3})
    assert ports_of(system) == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert machine_endpoints(system, endpoints(system)) == 8


def test_one_port_a_server_is_as_ever() -> None:
    """Server s is host s; nothing is said of ports in the system's content, whose hash is a key."""
    system = system_of(ports=None)
    assert ports_of(system) == []
    assert endpoints(system) == [0, 1, 2, 3]
    assert machine_endpoints(system, endpoints(system)) == 4
    assert {"ports", "attachment"}.isdisjoint(system.resolved()["cluster"])
    assert system_of().resolved()["cluster"]["ports"] == 2


def test_servers_are_by_default_what_the_hosts_are_ports_of() -> None:
    assert system_of(servers=None).server_count == 4


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"servers": 5}, "cluster.servers = 5: 5 servers of 2 ports are more than the 8 hosts"),
        ({"servers": 2, "ports": 3}, "4 first-level switches do not divide into sets of 3 ports"),
        ({"ports": 9}, "cluster.ports = 9"),
        ({"ports": "two"}, "cluster.ports"),
        ({"attachment": "spread"}, 'valid choices: "local", "distributed"'),
        ({"attachment": "distributed"}, "and there are none; use placement.algorithm"),
        (
            {"attachment": "distributed", "fabric": fabric("torus 4x4 routers 2")},
            "over the first-level switches of a leaf spine",
        ),
        (
            {"servers": 2, "fabric": fabric("leaf spine 4x2 hosts 2 routers 1")},
            'use "entries" of the leaf spine in place of "routers"',
        ),
    ],
)
def test_what_cannot_be_attached_says_why(given: dict[str, Any], says: str) -> None:
    assert says in refused(Study.from_dict, study(**given))


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
