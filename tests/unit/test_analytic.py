"""The analytic models: a burst buffer's rates and switches, loss at risk, declustered RAID."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from math import comb
from typing import Any

import numpy as np
import pytest

from resilver.analytic import (
    Attachment,
    Declustered,
    at_risk,
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
from resilver.analytic.at_risk import Windows, chance_of_loss, critical_seconds
from resilver.analytic.of_devices import held_by_devices
from resilver.analytic.streams import Rates
from resilver.errors import ConfigError
from tests.build import STREAMED, refused, system_of

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


@pytest.mark.parametrize("devices", [True, False])
def test_devices_hold_what_the_network_passes_by_their_lanes(devices: bool) -> None:
    """A strip of 64 KiB takes 0.1 + 0.5 + 1 ms to read, and 0.2 + 1 + 2 ms to write."""
    device = {"request_sizes": ["4 KiB", "64 KiB", "1 MiB"]}
    for way, rate, overhead, seek in (("read", 2000, 0.1, 1), ("write", 1000, 0.2, 2)):
        device |= {f"{way}_rate": f"{64 * rate} KiB/s", f"{way}_overhead": f"{overhead} ms"}
        device[f"{way}_seek"] = ["9 ms", f"{seek} ms", "9 ms"]
    system = system_of(
        STREAMED, cluster__device=device, lanes={"clients": 0.75, "devices": devices}
    )
    rs, strip, reading, writing = code_figures("rs 8+3"), 65536.0, 1.6e-3, 3.2e-3
    rebuilt = (code_figures("lrc 8+5 local 4"), 0.25)
    for asked, served, left in ((2.0, 0.75, 0.25), (0.375, 0.375, 0.625)):
        if not devices:
            served, left = min(asked, 1.0), 1.0
        network = Rates(asked * strip / reading, 0.0, 1e9)
        rates = held_by_devices(system, network, strip, rs, rebuilt)
        assert rates.read == pytest.approx(served * strip / reading)
        assert rates.rebuild == pytest.approx(left * strip / (4 * reading + writing))
    rates = held_by_devices(system, Rates(0.0, 1e9, 0.0), strip, rs)
    assert rates.write == pytest.approx(strip / writing * 8 / 11)


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


def test_stripes_lost_as_by_enumeration_and_what_cannot_be_counted() -> None:
    assert "group_size = 6" in refused(data_loss_probability, Attachment("local", 8, 4, 2, 6), 2, 3)
    with pytest.raises(ConfigError, match="switches = 25: of 24 first-level switches"):
        data_loss_probability(Attachment("local", 24, 24, 2, 24), switches=25, tolerance=3)
    # Stripes of 5 pieces over 8 servers, 4 of which are lost: every stripe tried.
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


def windows(rows: list[tuple[list[int], int, float, float]]) -> Windows:
    """Windows of (holders, survives, begin, end)."""
    width = max((len(row[0]) for row in rows), default=0)
    holders = np.full((len(rows), width), -1, dtype=np.int64)
    for number, (own, *_) in enumerate(rows):
        holders[number, : len(own)] = own
    columns = [np.array([row[place] for row in rows]) for place in (1, 2, 3)]
    return Windows(holders, columns[0].astype(np.int64), *map(np.asarray, columns[1:]))


def by_every_way(of: Windows, rates: list[float]) -> float:
    """The exact probability: every device fails in one of the intervals between ends, or later."""
    ends = sorted({float(end) for end in of.end_seconds})
    edges = [0.0, *ends, math.inf]
    total = 0.0
    for when in product(range(len(ends) + 1), repeat=len(rates)):
        weight = 1.0
        for rate, slot in zip(rates, when, strict=True):
            weight *= math.exp(-rate * edges[slot]) - math.exp(-rate * edges[slot + 1])
        for own, survives, end in zip(of.holders, of.survives, of.end_seconds, strict=True):
            failed = [edges[when[device] + 1] <= end for device in own if device >= 0]
            if sum(failed) > survives:
                total += weight
                break
    return total


def test_chances_of_sets_that_are_told_by_hand() -> None:
    # Device 1 is fatal from 0 to 10 and from 30 to 40, device 2 from 5 to 20: a rate of 0.01 each
    # gives 1 - exp(-0.01 (10 + 10 + 15)), and a device whose rate is 0 adds nothing.
    of = windows([([1], 0, 0, 10), ([1, 2], 0, 5, 10), ([2], 0, 10, 20), ([1, 0], 0, 30, 40)])
    assert critical_seconds(of, 3).tolist() == [10.0, 20.0, 15.0]
    assert chance_of_loss(of, [0.0, 0.01, 0.01]) == pytest.approx(-math.expm1(-0.35), rel=1e-14)
    # Twenty groups on the same two devices: both fail within the longest window of 100 s.
    rows = [([0, 1], 1, 0.0, float(5 * number + 5)) for number in range(20)]
    once = math.expm1(-0.001 * 100.0) ** 2
    assert chance_of_loss(windows(rows), [0.001, 0.001]) == pytest.approx(once, rel=1e-12)
    assert chance_of_loss(windows([([0], -1, 0.0, 1.0)]), [1e-9]) == 1.0
    assert chance_of_loss(windows([]), [1e-9]) == 0.0
    assert chance_of_loss(windows([([0, 1], 0, 0.0, 1e9)]), [0.0, 0.0]) == 0.0


@pytest.mark.parametrize("rate", [1e-9, 1e-6, 1e-4])
@pytest.mark.parametrize("seed", range(6))
def test_sets_are_never_below_the_truth_and_close_above(seed: int, rate: float) -> None:
    """Of windows that begin together: between the exact chance P and P (1 + 3 S), S = -log(1-P)."""
    draw = np.random.default_rng(seed)
    devices = 6
    rates = (rate * draw.uniform(0.5, 2.0, devices)).tolist()
    rows: list[tuple[list[int], int, float, float]] = []
    for _ in range(5):
        size = int(draw.integers(2, 5))
        own = draw.choice(devices, size, replace=False).tolist()
        rows.append((own, int(draw.integers(0, size)), 0.0, float(draw.choice([100.0, 400.0]))))
    of = windows(rows)
    exact, ours = by_every_way(of, rates), chance_of_loss(of, rates)
    assert exact <= ours * (1 + 1e-9)
    # Where only sets of several are fatal, they overlap in devices: a factor of device failures.
    several = 3 * (sum(rates) * 400.0 - math.log1p(-exact))
    assert ours <= exact * (1 + several) + 1e-300


def test_groups_apart_are_those_of_sets_where_no_set_is_shared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Beyond the most sets each group counts by itself, by the binomial law of its own holders."""
    rows = [(list(range(5 * number, 5 * number + 5)), 2, 0.0, 50.0) for number in range(4)]
    rates = np.full(20, 1e-3)
    monkeypatch.setattr(at_risk, "SETS_MAX", 0)
    p = -math.expm1(-0.05)
    tail = sum(math.comb(5, lost) * p**lost * (1 - p) ** (5 - lost) for lost in (3, 4, 5))
    assert chance_of_loss(windows(rows), rates) == pytest.approx(1 - (1 - tail) ** 4, rel=1e-12)


@pytest.mark.parametrize(
    ("row", "rates", "says"),
    [
        (([0], 0, 0.0, 1.0), [-1.0], "rates_per_second"),
        (([0], 0, 0.0, 1.0), [math.inf], "rates_per_second"),
        (([0], 0, 2.0, 1.0), [1.0], "end_seconds"),
        (([3], 0, 0.0, 1.0), [1.0], "holders"),
    ],
)
def test_what_cannot_be_is_refused(row: Any, rates: list[float], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        chance_of_loss(windows([row]), rates)


LOT = Declustered(disks=21, capacity_bytes=8e9, segment_bytes=1e6, rate=1e8)


def test_a_rebuild_takes_its_transfers_and_its_overheads() -> None:
    # Without overhead, k + 1 bytes move for each byte lost, over all survivors.
    for data in (1, 4, 10, 20):
        assert LOT.rebuild_seconds(data) == pytest.approx((data + 1) * 8e9 / 1e8 / 20, rel=1e-12)
    # k times as many chunks, each of k + 1 requests: overhead alone is k (k + 1) of them.
    slow = replace(LOT, rate=1e30, overhead_seconds=0.01)
    assert slow.rebuild_seconds(10) / slow.rebuild_seconds(1) == pytest.approx(110 / 2)
    # Chunks of 62.5 kB, two of which fit 131,072 B, cost half an overhead each.
    slow = replace(LOT, rate=1e30, overhead_seconds=0.01)
    merged = replace(slow, merged_bytes=131072)
    assert merged.rebuild_seconds(16) == pytest.approx(slow.rebuild_seconds(16) / 2)
    # Chunks of 83 kB do not fit twice.
    assert merged.rebuild_seconds(12) == slow.rebuild_seconds(12)
    # The overhead is found again from a rebuild that has it.
    known = replace(LOT, overhead_seconds=0.0123)
    fitted = LOT.fitted(8, known.rebuild_seconds(8))
    assert fitted.overhead_seconds == pytest.approx(0.0123)
    # A group wider than the survivors, and a rebuild faster than its transfers.
    assert "data = 21" in refused(LOT.rebuild_seconds, 21)
    assert "transfers alone take 36 s" in refused(LOT.fitted, 8, 1.0)
