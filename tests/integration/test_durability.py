"""How likely codes and systems lose data, as `resilver.durability` answers it."""

import math
from typing import Any

import pytest

from resilver import ConfigError, Durabilities, Durability, Study, code_tree, durability, redundancy
from tests.terminal import json_output

YEAR = 365.25 * 86_400.0
HOUR = 3_600.0


def one(what: Any, **asked: Any) -> Durability:
    """The answer for one system."""
    found = durability(what, **asked)
    assert isinstance(found, Durability)
    return found


def value(answer: Durability) -> float:
    """The loss probability, which is known."""
    assert answer.loss_probability.value is not None
    return answer.loss_probability.value


def study(**sections: Any) -> Study:
    """Twenty-four servers in four groups of RS 4+2, or what is said instead."""
    return Study.from_dict(
        {
            "cluster": {"servers": 24},
            "population": {"file_size": "64 MiB", "bytes_per_server": "20 GiB"},
            "redundancy": {"code": "rs 4+2"},
            "placement": {"algorithm": "groups", "group_size": 6},
            **sections,
        }
    )


def test_a_code_alone_loses_as_its_chain_says() -> None:
    """Rare losses come at the rate C(6, 4) 4 l (l / m)^2, over which the mission is a sum."""
    rate, repair = -math.log1p(-0.04) / YEAR, 1 / (10 * HOUR)
    expected = 10 * YEAR * math.comb(6, 4) * 4 * rate * (rate / repair) ** 2
    found = one("rs 4+2", mission="10 y", afr="4 %", repair="10 h")
    # The next order is (lambda / mu) times some tens: 1e-3.
    assert value(found) == pytest.approx(expected, rel=2e-3)
    assert found.loss_probability.method == "exact"
    assert found.loss_probability.low == found.loss_probability.high == value(found)
    assert found.overhead == 1.5
    assert (found.devices, found.groups) == (6, 1)
    assert found.nines == pytest.approx(-math.log10(value(found) / 10), abs=1e-3)
    assert found.mttdl_seconds is not None
    assert found.mttdl_seconds.value == pytest.approx(10 * YEAR / expected, rel=2e-3)


def test_groups_on_devices_of_their_own_lose_independently() -> None:
    """Of n groups none loses data with (1 - p)^n; a given object is lost as its group is."""
    alone = value(one("copies 2", afr="20 %", repair="5 d"))
    found = one("copies 2", afr="20 %", repair="5 d", groups=50, stored="100 TB")
    assert value(found) == pytest.approx(1 - (1 - alone) ** 50, rel=1e-9)
    assert found.object_loss_probability is not None
    assert found.object_loss_probability.value == pytest.approx(alone, rel=1e-12)
    assert found.expected_lost_bytes is not None
    assert found.expected_lost_bytes.value == pytest.approx(alone * 100e12, rel=1e-12)


def test_serial_repair_loses_more_by_the_factorial_and_waits_lengthen_it() -> None:
    """With m + 1 failures to a loss, repairs beside each other go up to m! times as fast."""
    beside = value(one("rs 8+3", afr="2 %", repair="10 h"))
    in_turn = value(one("rs 8+3", afr="2 %", repair="10 h", repairs="serial"))
    assert in_turn / beside == pytest.approx(math.factorial(3), rel=0.01)
    # Waits before a repair lengthen it.
    found = one("rs 4+2", afr="4 %", repair="9 h", detection="15 min", replacement="45 min")
    assert value(found) == pytest.approx(value(one("rs 4+2", afr="4 %", repair="10 h")), rel=1e-12)
    assert found.loss_probability.method == "approximate"
    assert [row.name for row in found.premises] == [
        "mission", "device failures", "detection", "replacement", "repair",
    ]  # fmt: skip
    assert {row.origin for row in found.premises} == {"default", "stated"}


def test_the_code_decides_how_much_each_rate_matters() -> None:
    """Loss goes with the rate of failures to the power m + 1, and with the repair's to m."""
    found = one("rs 8+3", afr="1 %", repair="10 h", sensitivity=True)
    assert found.sensitivity is not None
    rows = {row["factor"]: row["elasticity"] for row in found.sensitivity.to_pylist()}
    assert rows["rate of device failures"] == pytest.approx(4, abs=0.01)
    assert rows["repair time"] == pytest.approx(3, abs=0.01)


def test_unreadable_sectors_cost_the_last_parity() -> None:
    """RS 10+1 of 18 TB meets an error in nearly each repair; RS 10+2 then is as good as 10+1."""
    same = {"afr": "1 %", "repair": "1 d", "device": "18 TB"}
    clean = value(one("rs 10+1", **same))
    bad = value(one("rs 10+2", unreadable="1e-14 /bit", **same))
    assert value(one("rs 10+2", **same)) < bad / 100
    # 1 - exp(-18e12 x 10 x 8e-14) of repairs fail, all but all; 12 devices and not 11 fail.
    assert bad == pytest.approx(clean * 12 / 10, rel=0.1)
    # What is stored follows from the device.
    assert one("rs 8+3", device="20 TB", groups=3, repair="50 MiB/s").user_bytes == 480e12


def test_a_study_of_separate_groups_is_a_code_of_as_many() -> None:
    asked = study(
        durability={
            "mission": "10 y",
            "failures": [{"afr": "4 %"}],
            "repair": {"exponential": "10 h"},
        }
    )
    found = one(asked)
    assert value(found) == value(one("rs 4+2", mission="10 y", afr="4 %", repair="10 h", groups=4))
    assert (found.devices, found.groups, found.overhead) == (24, 4, 1.5)
    assert found.user_bytes == pytest.approx(24 * 20 * 2**30, rel=0.01)
    stated = one(asked, afr="8 %", mission="1 y")
    origins = {row.name: row.origin for row in stated.premises}
    assert [*origins.values()][:4] == ["stated", "stated", "default", "study"]
    assert origins["detection"] == "default"


def test_a_swept_study_is_answered_point_by_point() -> None:
    asked = study(
        durability={"failures": [{"afr": "4 %"}], "repair": {"exponential": "10 h"}},
        study={"sweep": {"durability.mission": ["1 y", "10 y"]}},
    )
    found = durability(asked)
    assert isinstance(found, Durabilities)
    assert [one.name for one in found.systems] == [
        "durability.mission = 1 y", "durability.mission = 10 y",
    ]  # fmt: skip
    first, second = map(value, found.systems)
    # All begins whole, so losses begin some 1.5 repairs late: 15 h of the shorter mission's 8,766.
    assert second / first == pytest.approx(10 * (1 + 15 / 8_766), rel=1e-3)


BAD: list[tuple[Any, dict[str, Any], str]] = [
    ("rs 8+3", {"mission": "0 s"}, 'mission = "0 s": the time must be above zero'),
    ("rs 8+3", {"afr": "0 %"}, 'afr = "0 %": a share that fails in a year is above 0 %'),
    ("rs 8+3", {"afr": "100 %"}, 'afr = "100 %": a share that fails in a year is above 0 %'),
    ("rs 8+3", {"mttf": "0 h"}, 'mttf = "0 h": the time must be above zero'),
    ("rs 8+3", {"mttf": "inf h"}, 'mttf = "inf h": a duration is a finite number'),
    ("rs 8+3", {"mttf": "5 h", "repair": "10 h"}, "a device fails after 5 h 0 min on average"),
    ("rs 8+3", {"repair": "simulate"}, 'repair = "simulate": a code alone has no rebuild'),
    ("rs 8+3", {"repair": "50 MiB/s"}, 'say so, such as device = "20 TB"'),
    ("rs 8+3", {"repair": "{ drawn ="}, 'repair = "{ drawn =": this is no value of TOML'),
    ("rs 8+3", {"groups": 0}, "groups = 0: this is a whole number from 1"),
    ("rs 8+3", {"afr": "1 %", "mttf": "9 y"}, "one of afr, mttf and drive"),
    ("rs 8+3", {"afr": "hdd=1 %"}, "a code alone has devices of one kind; leave the class out"),
    ("rs 8+3", {"drive": "nothing"}, 'drive = "nothing": the catalog has no failure law'),
    ("rs 8+3", {"unreadable": "1e-15 /bit"}, 'say so, such as device = "20 TB"'),
    ("rs 8+3", {"missoin": "1 y"}, 'did you mean "mission"?'),
    ("rs 8+3", {"relative_error": 0.0}, "relative_error = 0.0: the value must be above 0"),
    ("rs 8+3", {"method": "guess"}, 'method = "guess"'),
    ("rs 800+3", {}, "at most 64 pieces, and this one would have 803"),
    ([], {}, "nothing is named"),
]


@pytest.mark.parametrize(("what", "asked", "message"), BAD, ids=[one[2][:40] for one in BAD])
def test_bad_questions_name_field_value_rule_and_remedy(
    what: Any, asked: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        durability(what, **asked)
    assert message in str(caught.value)


def test_bad_studies_name_what_is_wrong() -> None:
    """Codes larger than the system, repairs longer than lives, and what only codes are asked."""
    with pytest.raises(ConfigError, match=r"6 failure domains .* the cluster has 4"):
        study(cluster={"servers": 4})
    with pytest.raises(ConfigError, match=r"durability\.failures\.0\.afr: a device fails after"):
        durability(study(), afr="90 %", repair="1 y")
    with pytest.raises(ConfigError, match=r"groups = .*of codes alone; leave it out"):
        durability(study(), groups=3)
    shared = study(placement={"algorithm": "crush"})
    with pytest.raises(ConfigError, match="returns: a chain's device is whole at the end"):
        durability(shared, afr="1 %", repair="10 h", method="exact")
    with pytest.raises(ConfigError, match="a chain's devices fail at a constant rate"):
        durability(study(), drive="simedc/disk", repair="10 h", method="exact")


def test_a_locally_repairable_code_is_asked_which_pieces_are_lost() -> None:
    """By numbers of lost pieces alone it is off where repair is hardly faster than failure."""
    from resilver.data_loss.chains import code_chain, failure_rate_of
    from resilver.data_loss.sets import sets_chain

    found = one("lrc 8+5 local 4", afr="90 %", repair="60 d", mission="1 y")
    rates = {"failure_rate": failure_rate_of(afr=0.9), "repair_rate": 1 / (60 * 86_400)}
    survives = redundancy("lrc 8+5 local 4").is_survivable
    exact = sets_chain(13, survives, **rates).loss_probability(8_766 * 3_600.0)
    assert value(found) == pytest.approx(exact, rel=1e-12)
    assert found.loss_probability.method == "exact"
    by_number = code_chain(code_tree("lrc 8+5 local 4"), **rates)
    assert abs(by_number.loss_probability(8_766 * 3_600.0) / exact - 1) > 1e-3
    # Of more than 13 pieces, and of codes over one another, numbers are all that is asked.
    for code in ("lrc 12+4 local 6", "rs 2+1 over rs 6+1"):
        near = one(code, afr="1 %", repair="10 h")
        assert near.loss_probability.method == "approximate"
        assert "All loss patterns of the same size" in " ".join(near.notes)


def test_an_unreadable_sector_loses_itself_and_a_device_its_group() -> None:
    # rs 10+2, a group of 20 TB disks, to first order. Two disks and then a sector: N (N - 1) l^2 t
    # a unit of time, times 1 - e^-r, where r = 1.6 are the errors of 200 TB read at 1e-15 a bit.
    # A third disk instead, while both are repaired: N (N - 1) (N - 2) l^3 t^2 / 2.
    rate = -math.log1p(-0.015) / 365.25
    days, errors = 4.0, 10 * 20e12 * 8e-15
    by_sector = 12 * 11 * rate**2 * days * 365.25 * -math.expm1(-errors)
    by_disk = 12 * 11 * 10 * rate**3 * days**2 / 2 * 365.25
    words = ("rs 10+2", "--afr", "1.5%", "--repair", "4 d", "--device", "20 TB")
    found = json_output("durability", *words, "--unreadable", "1e-15 /bit", "-q")
    assert found["loss_probability"]["value"] == pytest.approx(by_sector, rel=0.03)
    lost = by_disk * 200e12 + by_sector * 4096 * errors
    assert found["expected_lost_bytes"]["value"] == pytest.approx(lost, rel=0.1)
    assert found["causes"]["unreadable sectors"] == pytest.approx(1 - by_disk / by_sector, abs=0.01)
