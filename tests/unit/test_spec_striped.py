"""Codes, lanes, streams and soft errors in a study file."""

import re
from pathlib import Path

import pytest

from resilver.analytic.of_groups import analytic_rates
from resilver.core_input import faults_json
from resilver.errors import ConfigError
from resilver.estimate import estimate
from resilver.spec import Lanes, Redundancy
from resilver.spec.code import code_of
from tests.build import refusal, refused, study_of, system_of


@pytest.mark.parametrize(
    ("text", "label", "pieces", "repair"),
    [
        ("rs 8+3", "rs 8+3", 11, 8),
        ("  RS  8 + 3 ", "rs 8+3", 11, 8),
        ("lrc 8+5 local 4", "lrc 8+5 local 4", 13, 4),
        ("LRC 12 + 2+2", "lrc 12+2+2", 16, 6),
        ("copies 3", "copies 3", 3, 1),
        ("copies 1", "copies 1", 1, 1),
        # 64 pieces are the most.
        ("rs 60+4", "rs 60+4", 64, 60),
        # Six rows of four; a piece is made of the three others in its row.
        ("Product rs 4+2  x RS 3 + 1", "product rs 4+2 x rs 3+1", 24, 3),
    ],
)
def test_a_code_is_read_by_its_numbers(text: str, label: str, pieces: int, repair: int) -> None:
    code = code_of(text)
    assert (code.label, code.pieces, code.repair_pieces) == (label, pieces, repair)
    assert code_of(code.label) == code


RATES = '[[codes]]\ncode = "rs 4+2"\nencode = "8 GB/s"\ndecode = "6 GB/s"\n'


def test_a_table_of_rates_gives_the_slower_of_coding_and_decoding(tmp_path: Path) -> None:
    file = tmp_path / "coding.toml"

    def coded(table: str, code: str = "rs 4+2") -> Redundancy:
        file.write_text(table)
        return Redundancy(code=code, coding={"file": str(file)})

    assert coded(RATES).coding_rate == 6e9
    with pytest.raises(ConfigError, match=r'coding = .*no rate for "rs 8\+3", but for rs 4\+2'):
        coded(RATES, "rs 8+3")
    # Copies are made without coding, whatever the table says.
    assert coded(RATES, "copies 3").coding_rate is None
    for wrong, says in (
        (RATES.replace('encode = "8 GB/s"\n', ""), "codes.0.encode"),
        (RATES.replace("rs 4+2", "sr 4+2"), 'codes.0.* this is not a code; write "rs 8'),
        (RATES.replace("6 GB/s", "0 B/s"), "codes.0: .*above zero"),
        ("codes = 3\n", "a list of codes"),
    ):
        said = refused(coded, wrong)
        assert re.search(says, said), said


def test_codes_and_their_rates_are_part_of_a_run_by_value() -> None:
    plain = Redundancy()
    assert (plain.pieces, plain.replicas, plain.key) == (3, 3, "redundancy.replicas")
    free, slow, named = (
        study_of("coded", redundancy__coding=coding).runs()[0].key
        for coding in ("none", "1 GB/s", "1000 MB/s")
    )
    assert free != slow == named
    assert "this is not a code" in refused(Redundancy, code="copies " + "9" * 5000)


@pytest.mark.parametrize(
    ("keys", "bursts", "shares"),
    [
        # Of 1, what is left beside 0.9 is 0.1.
        ({"clients": 0.9}, False, (0.9, 0.1, 0.0)),
        ({"rebuild": 0.05}, False, (0.95, 0.05, 0.0)),
        ({"clients": 0.5, "rebuild": 0.3}, True, (0.5, 0.3, 0.2)),
        ({"clients": 0.5, "rebuild": 0.3, "bursts": 0.2}, False, (0.5, 0.3, 0.2)),
        ({"clients": 0.7, "bursts": 0.1}, False, (0.7, 0.2, 0.1)),
        ({"clients": 1.0}, False, (1.0, 0.0, 0.0)),
    ],
)
def test_a_class_that_is_left_out_gets_the_rest(
    keys: dict[str, float], bursts: bool, shares: tuple[float, ...]
) -> None:
    lanes = Lanes(**keys)
    assert lanes.problems(bursts=bursts) == []
    assert lanes.shares_with(bursts=bursts) == pytest.approx(shares, abs=1e-12)
    assert sum(lanes.shares_with(bursts=bursts)) == pytest.approx(1)


def test_strict_priority_numbers_the_classes() -> None:
    assert Lanes(order="priority").priority == (0, 1, 2)
    lanes = Lanes(order="priority", classes=["rebuild", "clients", "bursts"])
    assert lanes.priority == (1, 0, 2)
    assert lanes.problems(bursts=True) == []


def test_groups_are_of_servers_in_order_and_streams_share_what_lanes_leave() -> None:
    assert system_of("streamed").stripe_groups == (range(6), range(6, 12))
    system = system_of("streamed", traffic__streams__rate="0 B/s")
    assert system.streams is not None and system.streams.rate == 0
    rates = analytic_rates(system)
    # All of six servers' 20 Gb/s, less the headers of 38 B a packet of 4 KiB, by 4 strips: the lane
    # guarantees a quarter, and clients leave the rest.
    assert rates is not None and rates.read == 0
    assert rates.rebuild == pytest.approx(6 * 2.5e9 * 4096 / 4134 / 4, rel=1e-3)
    keys = {"traffic__streams__window": 65535, "redundancy__strip": "1 KiB"}
    system = system_of("streamed", faults__0__corrupt__groups=[0], **keys)
    # Two sides of 65,535 operations each would be 131,070.
    assert [one["corrupt"]["window"] for one in faults_json(system)["faults"]] == [65535]
    # A million strips a server last longer than the 1.2 ms of the traffic, in proportion.
    few, many = (
        estimate(system_of("streamed", faults__0__corrupt__strips=count))
        for count in (1_000_000, 2_000_000)
    )
    assert many["events"] == pytest.approx(2 * few["events"], rel=0.01)


def test_a_placement_that_is_not_valid_is_not_held_against_the_attachment() -> None:
    text = refusal("streamed", placement__group_size=0, cluster__attachment="distributed")
    assert text.startswith("placement.group_size = 0: ") and len(text.splitlines()) == 1
