"""`resilver size`: what a thin file system for tests costs, and what islands copy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from resilver import cli, size

ISLANDS = """
[islands]
mover = "20 GB/s"
workflows = [
  { name = "combustion", data = "100 TB", every = "1 d", copies = 2, kept = "14 d" },
  { name = "climate", data = "300 TB", every = "7 d" },
]
"""


def asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, code: int = 0
) -> dict[str, Any]:
    path = tmp_path / "sizing.toml"
    path.write_text(text)
    assert cli.run(["size", str(path), "--json"]) == code
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return found


def of(figures: list[dict[str, Any]]) -> dict[str, float]:
    return {one["key"]: one["value"] for one in figures}


def test_a_thin_file_system_takes_its_share_of_what_users_have() -> None:
    """36 units hold 32.256 PB and pass 1.0008 TB/s: 1 % is 322.56 TB, full after 322.3 s."""
    from resilver.center import SizingFile

    settings = ("offers.0.units=36", 'demand.bandwidth="1 TB/s"')
    plain, thin = (
        size(SizingFile.load("spider-2", [*settings, *more])).offers[0]
        for more in ((), ("thin=0.01",))
    )
    figures = {one.key: one.value for one in thin.figures}
    assert figures["usable_bytes"] == pytest.approx(32.256e15) == thin.usable_bytes
    assert figures["thin_bytes"] == pytest.approx(322.56e12)
    assert figures["users_bytes"] == pytest.approx(32.256e15 - 322.56e12)
    assert figures["thin_seconds"] == pytest.approx(322.56e12 / (36 * 27.8e9))
    assert figures["usable_bytes_below_70_percent"] == pytest.approx(0.7 * 0.99 * 32.256e15)
    assert figures["fill"] == pytest.approx(23.1 / (0.99 * 32.256))
    # 23.1 PB below 70 % are 36.83 units of 896 TB, and of 99 % of these 37.2.
    assert [need.units for need in plain.needs if need.demand == "capacity"] == [37]
    assert [need.units for need in thin.needs if need.demand == "capacity"] == [38]
    # What moves bytes is the same.
    assert [need.units for need in plain.needs][:2] == [need.units for need in thin.needs][:2]


def test_days_fill_what_is_left_to_users(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One unit of 10 disks of 1 TB holds 8 TB, of which a tenth is for tests; 14 d x 0.1 TB."""
    text = (
        'thin = 0.1\n[[offers]]\nname = "unit"\nunits = 1\ndisks = 10\nrate = "1 GB/s"\n'
        'disk = { size = "1 TB" }\n[capacity]\ninflow = "0.1 TB/d"\n'
        'purge = { last_access = "14 d" }\n'
    )
    found = asked(tmp_path, capsys, text)["capacity"]
    assert found["usable_bytes"] == pytest.approx(7.2e12)
    assert of(found["figures"])["steady_fill"] == pytest.approx(1.4 / 7.2)


def test_islands_copy_keep_and_wait(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """2 x 100 TB a day and 300 TB a week; 200 TB/d for 14 days and 300 TB for its week are kept."""
    found = asked(tmp_path, capsys, ISLANDS)["islands"]
    rate = (200e12 + 300e12 / 7) / 86_400
    assert found["bytes_per_second"] == pytest.approx(rate)
    assert found["kept_bytes"] == pytest.approx(14 * 200e12 + 300e12)
    assert found["mover_share"] == pytest.approx(rate / 20e9)
    figures = of(found["figures"])
    assert figures["copied_bytes_combustion"] == 200e12
    assert figures["wait_seconds_climate"] == pytest.approx(300e12 / 20e9)
    assert "load_share" not in figures


def test_copies_load_file_systems_twice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    offer = '[[offers]]\nname = "u"\nunits = 2\ndisks = 10\nrate = "10 GB/s"\ndisk={size="1 TB"}\n'
    found = asked(tmp_path, capsys, offer + ISLANDS)["islands"]
    share = 2 * found["bytes_per_second"] / 20e9
    assert of(found["figures"])["load_share"] == pytest.approx(share)


def test_a_mover_that_cannot_keep_up_is_a_no(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """243 TB a day are 2.81 GB/s."""
    path, page = tmp_path / "sizing.toml", tmp_path / "islands.html"
    path.write_text(ISLANDS.replace("20 GB/s", "2.8 GB/s"))
    assert cli.run(["size", str(path), "-o", str(page)]) == 1
    out = " ".join(capsys.readouterr().out.split())
    assert "Islands copy 242.9 TB/d" in out and "would have to pass 1" in out
    assert "Copied between islands" in page.read_text(encoding="utf-8")
    path.write_text(ISLANDS.replace("20 GB/s", "2.82 GB/s"))
    assert cli.run(["size", str(path), "-q"]) == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("thin = 0.6\n" + ISLANDS, "thin = 0.6"),
        ("thin = -0.1\n" + ISLANDS, "thin = -0.1"),
        (ISLANDS.replace("climate", "combustion"), "two workflows have this name"),
        (ISLANDS.replace("300 TB", "0 TB"), "above zero"),
        (ISLANDS.replace("copies = 2", "copies = 0"), "copies = 0"),
        (ISLANDS.replace('"7 d"', '"7"'), "every"),
        ("[islands]\nworkflows = []\n", "islands.workflows"),
        (ISLANDS.replace("mover", "mvoer"), 'did you mean "mover"?'),
    ],
)
def test_what_means_nothing_is_refused(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "sizing.toml"
    path.write_text(text)
    assert cli.run(["size", str(path)]) == 2
    captured = capsys.readouterr()
    assert message in " ".join(captured.err.split()) and captured.out == ""
