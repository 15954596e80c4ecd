"""Codes, their strips and their speed in a study file: what is taken, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from resilver.errors import ConfigError
from resilver.spec import Redundancy, Study
from resilver.spec.code import code_of
from tests.unit.striped_studies import CODED, changed, system_of


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
    assert code is not None
    assert (code.label, code.pieces, code.repair_pieces) == (label, pieces, repair)
    assert code_of(code.label) == code


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("", r'this is not a code; .*write "rs 8\+3"'),
        ("sr 8+3", 'valid codes: "rs", "lrc", "copies"'),
        ("rs 8", "this is not a code"),
        ("rs 8+-3", "this is not a code"),
        ("lrc 8+5", "this is not a code"),
        ("copies three", "this is not a code"),
        ("rs 0+3", "at least one piece of data"),
        ("rs 8+0", "without parity nothing survives"),
        ("copies 0", "at least one piece of data"),
        ("rs 60+5", "65 pieces are more than 64"),
        ("rs 999999999+1", "1000000000 pieces are more than 64"),
        ("lrc 8+5 local 3", "groups of 3 pieces do not divide 8"),
        ("lrc 8+5 local 0", "groups of 0 pieces do not divide 8"),
        ("lrc 8+3+2", "3 local groups do not divide 8"),
        ("lrc 8+0+2", "0 local groups do not divide 8"),
        ("lrc 8+2+3", 'use fewer, or "lrc 8\\+5 local 4", which survives a loss less'),
        ("lrc 8+1 local 4", "each of 2 local groups has a parity of its own, and there are 1"),
        ("product rs 4+2", "this is not a code"),
        ("product rs 4+2 x rs 3+1 x rs 2+1", "this is not a code"),
        ("product rs 4+2 x raid 6", "this is not a code"),
        ("copies " + "9" * 5000, "this is not a code"),
        ("product rs 4+2 x rs 3+0", "without parity nothing survives"),
        ("product rs 4+2 x copies 1", "both codes of a product have parity"),
        ("product rs 6+3 x rs 6+2", "72 pieces are more than 64"),
        ("rs 4+2 over", "this is not a code"),
        (
            "rs 17+3 over rs 8+2",
            "200 pieces are more than 64; use fewer, or judge the levels",
        ),
        (11, "a code is text"),
        ({"data": 8}, "a code is text"),
    ],
)
def test_what_is_no_code_is_refused(value: Any, says: str) -> None:
    with pytest.raises(ConfigError, match=says) as caught:
        Redundancy(code=value)
    assert str(caught.value).startswith("code = ")


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"code": "rs 4+2", "replicas": 3}, 'replicas = 3: a code says .*code = "copies 3"'),
        ({"code": "rs 4+2", "strip": "0 B"}, "strip = .*the size must be above zero"),
        ({"code": "rs 4+2", "strip": 65536}, "strip = 65536: .*unit"),
        ({"strip": "64 KiB"}, "strip = .*copies that are pulled whole have no such thing"),
        ({"coding": "5 GB/s"}, "coding = .*copies that are pulled whole have no such thing"),
        ({"code": "rs 4+2", "coding": "0 B/s"}, 'coding = .*above zero; write "none"'),
        ({"code": "rs 4+2", "coding": "5 GB"}, "coding = .*GB/s"),
        ({"code": "rs 4+2", "coding": "nome"}, 'coding = "nome": .*did you mean "none"'),
        ({"code": "rs 4+2", "coding": 5}, "coding = 5: "),
        ({"code": "rs 4+2", "coding": "-1 GB/s"}, "coding = .*a rate cannot be negative"),
        ({"code": "rs 4+2", "coding": {}}, "coding = .*the key file is needed; give it"),
        ({"code": "rs 4+2", "coding": {"path": "x"}}, "coding.path: there is no such key"),
        ({"code": "rs 4+2", "coding": {"file": "absent.toml"}}, "absent.toml.*no such file"),
    ],
)
def test_what_a_code_cannot_have_is_refused(keys: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Redundancy(**keys)
    assert re.search(says, str(caught.value)), str(caught.value)


RATES = """
[[codes]]
code = "rs 4+2"
encode = "8 GB/s"
decode = "6 GB/s"
"""


def test_a_table_of_rates_gives_the_slower_of_coding_and_decoding(tmp_path: Path) -> None:
    file = tmp_path / "coding.toml"
    file.write_text(RATES)
    made = Redundancy(code="rs 4+2", coding={"file": str(file)})
    assert made.coding_rate == 6e9
    with pytest.raises(ConfigError, match=r'coding = .*no rate for "rs 8\+3", but for rs 4\+2'):
        Redundancy(code="rs 8+3", coding={"file": str(file)})
    # Copies are made without coding, whatever the table says.
    assert Redundancy(code="copies 3", coding={"file": str(file)}).coding_rate is None
    for wrong, says in (
        (RATES.replace('encode = "8 GB/s"\n', ""), "codes.0.encode"),
        (RATES.replace("rs 4+2", "sr 4+2"), 'codes.0.* valid codes: "rs"'),
        (RATES.replace("6 GB/s", "0 B/s"), "codes.0: .*above zero"),
        ("codes = 3\n", "a list of codes"),
    ):
        file.write_text(wrong)
        with pytest.raises(ConfigError) as caught:
            Redundancy(code="rs 4+2", coding={"file": str(file)})
        assert re.search(says, str(caught.value)), str(caught.value)


def test_pieces_take_the_place_of_copies() -> None:
    assert (Redundancy().pieces, Redundancy().replicas, Redundancy().key) == (
        3,
        3,
        "redundancy.replicas",
    )
    system = system_of(CODED)
    assert (system.copies, system.code) == (6, code_of("rs 4+2"))
    # 100 x 64 / 6 = 1,067 groups, and the next power of two is 2,048.
    crush = system_of(CODED, cluster__servers=64, placement={"algorithm": "crush"})
    assert crush.placement_group_count == 2048
    assert system_of(CODED, redundancy=None).copies == 3


def test_a_code_needs_a_failure_domain_a_piece() -> None:
    with pytest.raises(ConfigError) as caught:
        system_of(CODED, redundancy__code="rs 8+3")
    assert str(caught.value) == (
        "redundancy.code = \"rs 8+3\": this needs 11 failure domains of type 'server', and the "
        "cluster has 8; each of its k=8 + m=3 pieces is on one of its own; use fewer, or more "
        "servers"
    )
    racks = changed(CODED, cluster__racks=4)
    with pytest.raises(ConfigError, match=r"6 failure domains of type 'rack'.*has 4"):
        Study.from_dict(racks)


def test_memory_holds_a_buffer_of_each_piece_that_is_gathered() -> None:
    # 4 x 16 MiB are just 64 MiB.
    assert system_of(CODED, recovery={"receive_memory": "64 MiB"}).code is not None
    with pytest.raises(ConfigError) as caught:
        system_of(CODED, recovery={"receive_memory": "63 MiB"})
    assert str(caught.value) == (
        'recovery.receive_memory = "63 MiB": a piece of "rs 4+2" may be made of 4 others, and a '
        "buffer of 16 MiB from each is 64 MiB; enlarge the memory, or use smaller buffers"
    )


def test_a_coded_study_is_written_and_read_again(tmp_path: Path) -> None:
    table = changed(
        CODED,
        redundancy={"code": "lrc 4+3 local 2", "strip": "64 KiB", "coding": "2.5 GB/s"},
        study={"sweep": {"redundancy.code": ["rs 4+2", "copies 3", "lrc 4+3 local 2"]}},
    )
    study = Study.from_dict(table)
    assert [run.swept["redundancy.code"] for run in study.runs()] == [
        "rs 4+2",
        "copies 3",
        "lrc 4+3 local 2",
    ]
    file = tmp_path / "again.toml"
    file.write_text(study.to_toml())
    assert [run.key for run in Study.load(file).runs()] == [run.key for run in study.runs()]


def test_a_code_may_be_swept_where_no_redundancy_is_written() -> None:
    table = changed(CODED, redundancy=None, study={"sweep": {"redundancy.code": ["rs 4+2"]}})
    (run,) = Study.from_dict(table).runs()
    assert run.system.copies == 6


def test_a_rate_of_coding_is_part_of_a_run_by_its_value() -> None:
    free, slow = (
        Study.from_dict(changed(CODED, redundancy={"code": "rs 4+2", "coding": coding}))
        for coding in ("none", "1 GB/s")
    )
    assert free.runs()[0].key != slow.runs()[0].key
    named = Study.from_dict(changed(CODED, redundancy={"code": "rs 4+2", "coding": "1000 MB/s"}))
    assert named.runs()[0].key == slow.runs()[0].key
