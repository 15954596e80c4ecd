"""What ships is usable, has its source, and says what the published figures say."""

import math
import tomllib
from pathlib import Path

import pytest
from scipy.stats import chi2

from resilver import catalog
from resilver.errors import ConfigError
from resilver.failure_rates import YEAR_SECONDS
from resilver.spec import Cluster, Failure, Population, Study
from resilver.spec.device import DeviceTable
from tests.build import refused

MIB, PIB = 2**20, 2**50


def test_every_entry_is_valid_and_all_but_studies_have_a_source() -> None:
    for kind in ("coding", "devices", "failures", "networks", "populations"):
        assert catalog.list(kind)
        for name in catalog.list(kind):
            entry = catalog.load(kind, name)
            assert entry.description and entry.source, name
    for name in catalog.list("devices"):
        assert Cluster(servers=4, device=name).device.label == name
    for name in catalog.list("networks"):
        cluster = Cluster(servers=4, fabric={"model": "loggp", "table": name})
        assert cluster.fabric.table.label == name
    for name in catalog.list("populations"):
        assert Population(histogram=name, bytes="1 TiB").histogram is not None
    for name in catalog.list("studies"):
        assert Study.from_dict(catalog.load("studies", name).content).runs()
    for name in catalog.failure_names():
        law = catalog.failure(name)
        assert law.description and law.source, name
        # What states sizes of bursts alone needs a rate beside it, which is the system's.
        rate = {} if name != "google-2010/burst" else {"rate": "1 /y"}
        assert Failure(like=name, **rate).words


def test_an_unknown_name_or_kind_is_refused_with_the_nearest() -> None:
    assert 'did you mean "genomes1000"' in refused(catalog.load, "populations", "genome1000")
    assert 'did you mean "devices"' in refused(catalog.list, "device")
    assert "no device of this name" in refused(catalog.load, "devices", "../devices/jbod10-sata")


def test_the_tables_of_device_and_network_are_the_published_ones(shared_data: Path) -> None:
    published = tomllib.loads((shared_data / "disk-jbod10.toml").read_text())
    table = Cluster(servers=1).device
    assert list(table.request_sizes) == published["request_sizes_bytes"]
    for way in ("read", "write"):
        seeks = [seek.picoseconds for seek in getattr(table, f"{way}_seek")]
        assert seeks == [round(seek * 10**6) for seek in published[f"{way}_seek_us"]]
        overhead = getattr(table, f"{way}_overhead").picoseconds
        assert overhead == round(published[f"{way}_overhead_us"] * 10**6)
        rate = published[f"{way}_rate_mib_per_s"] * MIB
        assert getattr(table, f"{way}_rate") == pytest.approx(rate, rel=1e-15)
    assert table.sequential_gap == 512
    from resilver.importers import read_netgauge

    published = read_netgauge(shared_data / "loggp-qdr-infiniband.dat")
    assert Cluster(servers=1).fabric.table.rows == published.rows


def test_the_bins_are_the_published_ones_or_follow_their_formula(shared_data: Path) -> None:
    papers = tomllib.loads((shared_data / "populations.toml").read_text())
    published = papers["genomes1000"]
    population = Population(histogram="genomes1000", bytes="20 PiB")
    bins = [[item.min_bytes, item.max_bytes, item.file_count] for item in population.bins]
    assert bins == published["bins"]
    assert population.cut.chunk_bytes == published["chunk_bytes"]
    assert sum(item.file_count for item in population.bins) == 9200
    published = papers["mira"]
    population = Population(histogram="mira", bytes="20 PiB")
    assert population.cut.stripe_unit_bytes == 4 * MIB
    small, *rest = population.bins
    # The catalog's counts are for 20,000 PiB; the formula splits the volume by
    # exp(-(i - 38)^2 / 18) over bins whose mean size is 1.5 * 2^i.
    scale = 1000
    exponents = range(published["exponent_min"], published["exponent_max"] + 1)
    weights = {
        i: math.exp(
            -((i - published["volume_peak_exponent"]) ** 2) / published["volume_spread_squared"]
        )
        for i in exponents
    }
    total = sum(weights.values())
    expected = {i: weights[i] / total * scale * 20 * PIB / (1.5 * 2**i) for i in exponents}
    by_exponent = {item.min_bytes.bit_length() - 1: item for item in rest}
    for i in exponents:
        count = by_exponent[i].file_count if i in by_exponent else 0
        assert abs(count - expected[i]) <= 0.5, i
        if i in by_exponent:
            assert (by_exponent[i].min_bytes, by_exponent[i].max_bytes) == (2**i, 2 ** (i + 1))
    assert small.max_bytes == published["small_file_max_bytes"]
    assert small.file_count == published["small_files_per_20_pib"] * scale


def test_counts_of_drives_add_up_to_the_fleet_and_rates_are_their_middle() -> None:
    """Backblaze prints failures / drive-days x 365 in percent to two digits."""
    content = catalog.load("failures", "backblaze-2024").content
    rows = content["drives"].values()
    for key in ("drives", "days", "failures"):
        assert sum(row[key] for row in rows) == content["fleet"][key]
    for row in rows:
        percent = 100 * row["failures"] / row["days"] * 365
        assert abs(percent - float(row["afr"].removesuffix(" %"))) <= 0.0051, row
    # Twice Gamma(n + 1/2) is chi-squared with 2 n + 1 degrees of freedom.
    for name in ("backblaze-2024/ST16000NM002J", "backblaze-2024/WUH721816ALE6L4"):
        entry = catalog.failure(name)
        years = entry.drive_days / 365.25
        degrees = 2 * entry.failures + 1
        tails = [chi2.cdf(2 * end * years, degrees) for end in entry.per_year_interval]
        assert tails == pytest.approx([0.025, 0.975], rel=1e-9)
        assert entry.per_year == pytest.approx(degrees / 2 / years, rel=1e-12)
    # 94 failures and a half in 9,365,201 days of 365.25 a year, to six digits.
    failure = Failure(like="backblaze-2024/WUH721816ALE6L4")
    expected = 94.5 / 9_365_201 * 365.25
    assert failure.rate_per_second * YEAR_SECONDS == pytest.approx(expected, rel=5e-6)


def test_the_sizes_of_googles_bursts_hold_the_share_that_was_published() -> None:
    """Of bursts and single failures together, by the exponent that the file states: 37 %."""
    exponent = 3.042
    weights = {k: k**-exponent for k in range(1, 41)}
    inside = math.fsum(k * w for k, w in weights.items() if k > 1)
    assert inside / (1 + inside) == pytest.approx(0.37, abs=5e-4)
    burst = Failure(like="google-2010/burst", rate="1 /y").burst
    total = math.fsum(w for k, w in weights.items() if k > 1)
    for count, weight in burst.sizes.weights:
        assert weight == pytest.approx(weights[count] / total, rel=0.01)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("simedc", "knows several; write one of simedc/disk, simedc/node"),
        ("backblaze-2024/ST16000NM001", 'did you mean "backblaze-2024/ST16000NM001G"'),
        ("backblaze-2014", "no failure law of this name; did you mean"),
        ("../failures/simedc", "no failure law of this name|no such"),
    ],
)
def test_an_entry_that_is_not_there_is_refused_with_the_nearest(name: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        Failure(like=name)


@pytest.mark.parametrize("filled", [0.02, 0.58, 1.0])
def test_a_filled_disk_is_passed_at_the_rates_of_its_tracks(filled: float) -> None:
    # Rule: each stretch takes its bytes over its rate, which falls evenly from 255 to 120.9 MB/s.
    parts = 10_000
    rates = [255e6 - (255e6 - 120.9e6) * filled * (at + 0.5) / parts for at in range(parts)]
    expected = parts / sum(1 / rate for rate in rates)
    disk = {"like": "hdd-7k2-12tb", "filled": filled}
    table = Cluster.model_validate({"servers": 1, "device": disk}).device
    assert isinstance(table, DeviceTable)
    assert float(table.read_rate) == pytest.approx(expected, rel=1e-6)
    # Extents of 1 MiB cost a seek of 12.16 ms each beside their bytes.
    cut = Cluster.model_validate({"servers": 1, "device": {**disk, "extent": "1 MiB"}}).device
    assert isinstance(cut, DeviceTable)
    assert float(cut.read_rate) == pytest.approx(1 / (1 / expected + 0.01216 / 2**20), rel=1e-6)
