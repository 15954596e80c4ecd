"""`resilver size`: units by demand, offers side by side, thin file systems and islands."""

from pathlib import Path

import pytest

import resilver
from resilver import size
from resilver.center import SizingFile
from tests.integration.sizings import sized, values
from tests.terminal import json_output, output, with_page, written

TWO = """
[demand]
bandwidth = "100 GB/s"
capacity = { bytes = "4 PB", below = 0.5 }
[[offers]]
name = "disks"
disks = 105
disk = { size = "10 TB", sequential = "200 MB/s" }
power = "1.5 kW"
price = "100000 USD"
[[offers]]
name = "flash"
disks = 24
disk = { size = "15.36 TB", sequential = "3 GB/s" }
rate = "40 GB/s"
power = "1 kW"
price = "200000 USD"
"""
HUNGRY = TWO[TWO.index("[[offers]]") : TWO.index('[[offers]]\nname = "flash"')]
HUNGRY = HUNGRY.replace('"disks"', '"more disks"').replace("1.5 kW", "2 kW")


def test_spider_2_as_it_was_asked_for() -> None:
    """0.75 x 600 TB in 360 s is 1.25 TB/s, which 27.8 GB/s a unit give 45 times (44.96)."""
    found = json_output("size", "spider-2")
    demands = values(found["demands"])
    assert demands["checkpoint_bytes_per_second"] == pytest.approx(1.25e12, rel=1e-12)
    # 30 x 770 TB = 23.1 PB; below 70 % full that is 33 PB formatted.
    assert demands["stored_bytes"] == pytest.approx(23.1e15, rel=1e-12)
    assert demands["formatted_bytes"] == pytest.approx(33e15, rel=1e-12)
    (offer,) = found["offers"]
    assert (offer["needed"], offer["binding"], offer["short_of"]) == (45, "bandwidth", [])
    # 240 GB/s of a fifth of 27.8 GB/s are 43.2 units, of a quarter 34.5; 33 PB of 896 TB 36.8.
    needs = {need["demand"]: (need["least"], need["units"]) for need in offer["needs"]}
    assert needs == {"bandwidth": (45, 45), "random": (35, 44), "capacity": (37, 37)}


def test_spider_2_as_it_was_bought() -> None:
    """36 units: 1 TB/s, a checkpoint of 7.5 min, 32.256 PB, 22.6 at one knee and 16.1 at the other.

    They are short of 240 GB/s where disks move a fifth at random, and of the head room.
    """
    bought = ("--set", "demand.bandwidth=1 TB/s", "--set", "offers.0.units=36")
    found = json_output("size", "spider-2", *bought, code=1)
    demands = values(found["demands"])
    assert demands["checkpoint_seconds"] == pytest.approx(450.0)
    assert demands["random_share"] == pytest.approx(0.24)
    (offer,) = found["offers"]
    assert offer["short_of"] == ["random", "capacity"] and not found["holds"]
    of_all = values(offer["figures"])
    assert (of_all["disks"], of_all["groups"]) == (20_160, 2_016)
    # 20,160 x 2 TB x 8/10.
    assert of_all["usable_bytes"] == pytest.approx(32.256e15, rel=1e-12)
    assert of_all["usable_bytes_below_70_percent"] == pytest.approx(22.5792e15, rel=1e-12)
    assert of_all["usable_bytes_below_50_percent"] == pytest.approx(16.128e15, rel=1e-12)
    assert of_all["random_least_bytes_per_second"] == pytest.approx(0.2 * 36 * 27.8e9)
    assert of_all["random_most_bytes_per_second"] == pytest.approx(0.25 * 36 * 27.8e9)
    # To stay below 70 % full, 43 % more than what is stored is bought; below half, twice as much.
    knees = values(found["knees"])
    assert knees["more_below_70_percent"] == pytest.approx(3 / 7)
    assert knees["more_below_50_percent"] == pytest.approx(1.0)


def test_three_tenths_more_than_is_stored_are_77_percent_full() -> None:
    file = SizingFile.load(
        "spider-2",
        ["demand.capacity={ memory_multiple = 30.0, head_room = 0.3 }", "demand.bandwidth=1 TB/s"],
    )
    demand = file.demand
    assert demand is not None and demand.capacity is not None
    assert demand.capacity.fill == pytest.approx(1 / 1.3)
    # 23.1 PB x 1.3 = 30.03 PB, of 896 TB each: 33.5 units.
    assert resilver.size(file).offers[0].needs[2].units == 34


def test_offers_stand_side_by_side_without_a_score(tmp_path: Path) -> None:
    """100 GB/s of 80 data disks x 200 MB/s (16 GB/s) are 7 units, 8 PB of 800 TB are 10.

    Of flash, two groups of ten and four that stand by: 16 x 15.36 TB = 245.76 TB, 33 units.
    """
    disks, flash, more = sized(tmp_path, TWO + HUNGRY)["offers"]
    assert [need["units"] for need in disks["needs"]] == [7, 10]
    assert [need["units"] for need in flash["needs"]] == [3, 33]
    assert (disks["binding"], flash["binding"]) == ("capacity", "capacity")
    assert disks["power_watts"] == 15_000 and disks["price"]["amount"] == 1_000_000
    # The same with less power; flash is better in bandwidth and worse in price.
    assert more["dominated_by"] == ["disks"]
    assert disks["dominated_by"] == flash["dominated_by"] == []


def test_the_page_holds_every_derivation(tmp_path: Path) -> None:
    out, text = with_page(tmp_path, "size", "spider-2")
    assert "÷" in out
    for figure in resilver.size("spider-2").offers[0].figures:
        assert figure.what in text and figure.derivation in text
    assert "resilver size spider-2" in text and "45 units" in text


@pytest.mark.parametrize(("command", "kind"), [("size", "sizings"), ("profile", "lots")])
def test_what_ships_can_be_copied_and_changed(
    command: str, kind: str, root: Path, tmp_path: Path
) -> None:
    shipped = root / "python" / "resilver" / "catalog" / kind / "spider-2.toml"
    mine = written(tmp_path / "mine.toml", shipped.read_text(encoding="utf-8"))
    assert output(command, "spider-2", "--json") == output(command, mine, "--json")


ISLANDS = """
[islands]
mover = "20 GB/s"
workflows = [
  { name = "combustion", data = "100 TB", every = "1 d", copies = 2, kept = "14 d" },
  { name = "climate", data = "300 TB", every = "7 d" },
]
"""


def test_a_thin_file_system_takes_its_share_of_what_users_have() -> None:
    """36 units hold 32.256 PB and pass 1.0008 TB/s: 1 % is 322.56 TB, full after 322.3 s."""
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


def test_days_fill_what_is_left_to_users(tmp_path: Path) -> None:
    """One unit of 10 disks of 1 TB holds 8 TB, of which a tenth is for tests; 14 d x 0.1 TB."""
    text = (
        'thin = 0.1\n[[offers]]\nname = "unit"\nunits = 1\ndisks = 10\nrate = "1 GB/s"\n'
        'disk = { size = "1 TB" }\n[capacity]\ninflow = "0.1 TB/d"\n'
        'purge = { last_access = "14 d" }\n'
    )
    found = sized(tmp_path, text)["capacity"]
    assert found["usable_bytes"] == pytest.approx(7.2e12)
    assert values(found["figures"])["steady_fill"] == pytest.approx(1.4 / 7.2)


def test_islands_copy_keep_and_wait(tmp_path: Path) -> None:
    """2 x 100 TB a day and 300 TB a week; 200 TB/d for 14 days and 300 TB for its week are kept."""
    found = sized(tmp_path, ISLANDS)["islands"]
    rate = (200e12 + 300e12 / 7) / 86_400
    assert found["bytes_per_second"] == pytest.approx(rate)
    assert found["kept_bytes"] == pytest.approx(14 * 200e12 + 300e12)
    assert found["mover_share"] == pytest.approx(rate / 20e9)
    figures = values(found["figures"])
    assert figures["copied_bytes_combustion"] == 200e12
    assert figures["wait_seconds_climate"] == pytest.approx(300e12 / 20e9)
    assert "load_share" not in figures
    # Copies load file systems twice.
    offer = '[[offers]]\nname = "u"\nunits = 2\ndisks = 10\nrate = "10 GB/s"\ndisk={size="1 TB"}\n'
    found = sized(tmp_path, offer + ISLANDS)["islands"]
    assert values(found["figures"])["load_share"] == pytest.approx(2 * rate / 20e9)


def test_a_mover_that_cannot_keep_up_is_a_no(tmp_path: Path) -> None:
    """243 TB a day are 2.81 GB/s."""
    path = written(tmp_path / "sizing.toml", ISLANDS.replace("20 GB/s", "2.8 GB/s"))
    out, text = with_page(tmp_path, "size", path, code=1)
    assert "Islands copy 242.9 TB/d" in out and "would have to pass 1" in " ".join(out.split())
    assert "Copied between islands" in text
    path.write_text(ISLANDS.replace("20 GB/s", "2.82 GB/s"))
    output("size", path, "-q")
