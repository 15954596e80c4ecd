"""The analytic model of the burst buffer: rates, link counts and lost switches."""

import math
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any

import pytest

from resilver.analytic import (
    Attachment,
    away_share,
    code_figures,
    data_loss_probability,
    level_loads,
    rebuild_ceiling,
    server_rates,
    servers_lost,
    stream_rates,
    stripes_lost,
)
from resilver.errors import ConfigError

LOCAL = Attachment("local", leaves=24, slots=24, ports=2, group_size=24)
DISTRIBUTED = Attachment("distributed", leaves=24, slots=24, ports=2, group_size=24)
STUDIED = (LOCAL, DISTRIBUTED)


def test_rates_of_mixes_and_lanes() -> None:
    # Half reads, half writes of RS 8+3: a pair of operations sends 15 + 10 strips and receives
    # 7 + 18, both 25, and moves 16 strips of user data: 16/25 of the bandwidth.
    assert code_figures("rs 8+3").mixed_share(Fraction(1, 2)) == Fraction(16, 25)
    # With f = 0.1 of 9 GB/s: reads 0.9 x 8/15 x 9 = 4.32, LRC rebuild 0.1 x 9 / 4 = 0.225
    # GB/s. Clients that ask for 2.4 of the 4.8 GB/s they could read leave half the ports: 9 /
    # 2 / 4.
    rs, lrc = code_figures("rs 8+3"), code_figures("lrc 8+5 local 4")
    rates = server_rates(9e9, rs, rebuild_code=lrc, rebuild_fraction=0.1)
    assert rates.read == pytest.approx(4.32e9)
    assert rates.rebuild == pytest.approx(0.225e9)
    slow = server_rates(9e9, rs, rebuild_code=lrc, rebuild_fraction=0.1, offered=2.4e9)
    assert (slow.read, slow.rebuild) == pytest.approx((2.4e9, 1.125e9))
    # A lane without traffic lends all of its share.
    assert server_rates(9e9, rs, rebuild_fraction=0.5).read == pytest.approx(4.8e9)


def test_sums_over_groups() -> None:
    """One of 12 groups gives half its ports to rebuild: 11.5 of 12 groups' reads are left."""
    rs = code_figures("rs 8+3")
    all_ = stream_rates(groups=12, group_size=24, bandwidth=1.0, code=rs)
    part = stream_rates(
        groups=12, group_size=24, bandwidth=1.0, code=rs, rebuild_fraction=0.5, groups_rebuilding=1
    )
    assert part.read == pytest.approx(all_.read * 11.5 / 12)
    assert part.rebuild == pytest.approx(24 * 0.5 / 8)


@pytest.mark.parametrize("attachment", STUDIED, ids=lambda attachment: attachment.kind)
def test_every_place_holds_one_port(attachment: Attachment) -> None:
    """288 servers of 2 ports take the 576 places once each, at the switches they say."""
    hosts = {}
    for server in range(attachment.servers):
        for port, switch in enumerate(attachment.switches(server)):
            host = attachment.host(server, port)
            assert host // attachment.slots == switch
            hosts[host] = server
    assert sorted(hosts) == list(range(576))


def test_where_groups_hang() -> None:
    """Local: a group on two switches. Distributed: two ports of each group on every switch."""
    for group in range(12):
        local = [switch for server in LOCAL.group(group) for switch in LOCAL.switches(server)]
        assert sorted(local) == [2 * group] * 24 + [2 * group + 1] * 24
        spread = [at for server in DISTRIBUTED.group(group) for at in DISTRIBUTED.switches(server)]
        assert sorted(spread) == sorted(2 * list(range(24)))


def test_full_bisection_limits_nothing_and_half_does() -> None:
    """With 24 second-level switches every level carries the full rate. With 12, two hosts share a
    link up: local reads need 2 x 8/15 of it, local writes 2 / 2.25 of the link down; distributed
    reads 2 x (8/15 + 7/15 x 22/23), distributed RS writes 2 x (1 + 1.25 x 22/23) / 2.25.
    """
    rs = code_figures("rs 8+3")
    for attachment in STUDIED:
        for reads in (0.0, 0.5, 1.0):
            full = level_loads(attachment, rs, spines=24, entries_per_spine=24, reads=reads)
            assert max(full.up, full.down, full.entry) <= 1

    def half(attachment: Attachment, reads: float) -> Fraction:
        return level_loads(attachment, rs, spines=12, entries_per_spine=48, reads=reads).bound

    assert half(LOCAL, 1.0) == Fraction(15, 16)
    assert half(LOCAL, 0.0) == 1
    peers = Fraction(22, 23)
    assert half(DISTRIBUTED, 1.0) == 1 / (2 * (Fraction(8, 15) + Fraction(7, 15) * peers))
    down = 2 * (1 + Fraction(5, 4) * peers) / Fraction(9, 4)
    assert half(DISTRIBUTED, 0.0) == 1 / down
    # Writes that reach half their rate of 75 % leave 62.5 % of the ports: 2.5 times 25 %.
    assert rebuild_ceiling(0.25, 0.5) == Fraction(5, 2)
    assert (away_share(LOCAL), away_share(DISTRIBUTED)) == (0, peers)


def enumerated(attachment: Attachment, switches: int, tolerance: int) -> Fraction:
    """The same by trying every set of failed switches."""
    fatal = 0
    for failed in combinations(range(attachment.leaves), switches):
        lost = (len(servers_lost(attachment, failed, g)) for g in range(attachment.groups))
        fatal += any(count > tolerance for count in lost)
    return Fraction(fatal, comb(attachment.leaves, switches))


@pytest.mark.parametrize(
    "attachment",
    [
        Attachment("local", 8, 4, 2, 4),
        Attachment("local", 8, 4, 2, 8),
        Attachment("local", 8, 4, 2, 2),
        Attachment("local", 9, 2, 3, 2),
        Attachment("local", 6, 3, 1, 6),
        Attachment("distributed", 8, 4, 2, 8),
        Attachment("distributed", 8, 3, 2, 4),
        Attachment("distributed", 9, 4, 3, 6),
        Attachment("distributed", 5, 4, 1, 10),
    ],
    ids=str,
)
@pytest.mark.parametrize("tolerance", [0, 1, 3, 4])
def test_data_loss_is_counted_as_by_enumeration(attachment: Attachment, tolerance: int) -> None:
    for switches in range(attachment.leaves + 1):
        counted = data_loss_probability(attachment, switches, tolerance)
        assert counted == enumerated(attachment, switches, tolerance), switches


def test_what_cannot_be_counted_is_refused() -> None:
    with pytest.raises(ConfigError, match="group_size = 6"):
        data_loss_probability(Attachment("local", 8, 4, 2, 6), 2, 3)
    with pytest.raises(ConfigError, match="switches = 25: of 24 first-level switches"):
        data_loss_probability(Attachment("local", 24, 24, 2, 24), switches=25, tolerance=3)


def test_stripes_lost_as_by_enumeration() -> None:
    """Stripes of 5 pieces over 8 servers, 4 of which are lost: every stripe tried."""
    fatal = [Fraction(0), Fraction(0), Fraction(1, 3), Fraction(1)]
    stripes = list(combinations(range(8), 5))
    hits = [sum(server < 4 for server in stripe) for stripe in stripes]
    expected = sum((fatal[min(hit, 3)] for hit in hits), Fraction(0)) / len(stripes)
    assert stripes_lost(8, 5, 4, fatal) == expected


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"bandwidth": -1.0}, "bandwidth = -1.0: a rate is finite"),
        ({"bandwidth": math.nan}, "bandwidth = nan: a rate is finite"),
        ({"offered": -1.0}, "offered = -1.0: a rate is finite"),
        ({"reads": 1.5}, "reads = 1.5: a share is a number from 0 to 1"),
        ({"rebuild_fraction": 2.0}, "rebuild_fraction = 2.0: a share is a number from 0 to 1"),
        ({"groups_rebuilding": 13}, "groups_rebuilding = 13: .* from 0 to groups = 12"),
        ({"group_size": -1}, "group_size = -1: this is a count from 0"),
    ],
)
def test_rates_out_of_their_range_are_refused(keys: dict[str, Any], says: str) -> None:
    given = {"groups": 12, "group_size": 24, "bandwidth": 1.0, "code": code_figures("rs 8+3")}
    with pytest.raises(ConfigError, match=says):
        stream_rates(**{**given, **keys})


def test_no_more_switches_fail_than_there_are() -> None:
    with pytest.raises(ConfigError, match="switches = 25: of 24 first-level switches"):
        data_loss_probability(Attachment("local", 24, 24, 2, 24), switches=25, tolerance=3)
