"""The storage side of machines and the rates of their parts: Spider II's targets, and refusals."""

from typing import Any

import numpy as np
import pytest

from resilver.center import Storage, machine, storage
from resilver.errors import ConfigError


@pytest.fixture(scope="module")
def spider() -> Storage:
    return storage(machine("titan"))


def small(**changed: Any) -> Storage:
    """Two rows of three blocks with two servers of two targets, behind one router a network."""
    side = {"rows": 2, "blocks": 3, "servers": 2, "targets": 2, "network": 5, **changed}
    groups = [[f"x{at % 4}y{at // 4}z0n0"] for at in range(6)]
    return storage(
        machine(
            {"torus": [4, 4, 4], "routers": {"groups": groups, "networks": [5]}, "storage": side}
        )
    )


def test_spider_s_targets_are_where_its_servers_say(spider: Storage) -> None:
    # Server oss of block ssu in a row has the index i = oss - 1 + 8 (ssu - 1) + 72 (row - 1), less
    # 144 in the second namespace, and the targets i, i + 144, ... below 1,008; servers 5 to 8 use
    # the leaf of the next block of the row.
    seen = set()
    for row in range(1, 5):
        for ssu in range(1, 10):
            for oss in range(1, 9):
                server = oss - 1 + 8 * (ssu - 1) + 72 * (row - 1)
                first = server if row <= 2 else server - 144
                leaf = ssu - 1 if oss <= 4 else ssu % 9
                for target in range(first, 1008, 144):
                    whole = target + (0 if row <= 2 else 1008)
                    assert spider.target_servers[whole] == server
                    assert spider.target_networks[whole] == 201 + 9 * (row - 1) + leaf
                    assert spider.target_namespaces[whole] == (row - 1) // 2
                    assert spider.server_blocks[server] == 9 * (row - 1) + ssu - 1
                    seen.add(whole)
    assert seen == set(range(2016))


def test_leaves_and_targets_are_numbered_in_their_rows() -> None:
    found = small(leaves=[0, 2])
    # Block b's second server is on the leaf of b + 2 of the three blocks of its row.
    assert found.server_networks.tolist() == [5, 7, 6, 5, 7, 6, 8, 10, 9, 8, 10, 9]
    assert small().server_networks.tolist() == [5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10]
    assert small().target_servers.tolist() == [*range(12), *range(12)]
    found = small(namespaces=2)
    assert found.target_servers.tolist() == [*range(6), *range(6), *range(6, 12), *range(6, 12)]
    assert found.target_namespaces.tolist() == [0] * 12 + [1] * 12
    plain = machine({"torus": [4, 4, 4], "routers": {"groups": [["x0y0z0n0"]]}})
    with pytest.raises(ConfigError, match=r"add \[storage\]"):
        storage(plain)


def test_channels_have_the_rates_of_their_places() -> None:
    # Two rates that follow one another round a ring of four: 0-1 and 2-3 have the first, 1-2 and
    # 3-0 the second, in both directions.
    found = machine(
        {
            "torus": [4, 4, 4],
            "routers": {"groups": [["x0y0z0n0"]]},
            "rates": {"x": "3 GB/s", "y": ["1 GB/s", "2 GB/s"]},
        }
    )
    assert (found.channel_rates(0) == 3e9).all()
    up, down = found.channel_rates(1)[:, 2, :, 3]
    assert up.tolist() == [1e9, 2e9, 1e9, 2e9]
    assert down.tolist() == [2e9, 1e9, 2e9, 1e9]
    assert np.isinf(found.channel_rates(2)).all()


def test_titan_s_blades_and_cages_have_channels_of_their_own() -> None:
    titan = machine("titan")
    at = {name: titan.places[titan.node(name)] for name in ("c0-0c0s0n0", "c0-0c0s0n2")}
    first, second = at.values()
    assert second[1] == first[1] + 1
    # Within a blade, then by cable to the next; of 24 channels up in Z three leave a cage.
    along_y = titan.channel_rates(1)[0, first[0], :, first[2]]
    assert along_y[first[1]] == along_y.max() > along_y[second[1]]
    along_z = titan.channel_rates(2)[0, 0, 0]
    assert np.flatnonzero(along_z == along_z.min()).tolist() == [7, 15, 23]
    for height in (7, 15, 23):
        chip, above = (
            titan.names[np.flatnonzero((titan.places == (0, 0, z % 24)).all(axis=1))[0]]
            for z in (height, height + 1)
        )
        assert chip.partition("s")[0] != above.partition("s")[0]
