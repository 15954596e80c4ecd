"""What ships is usable, has its source, and says what the published figures say."""

import math
import tomllib
from pathlib import Path

import pytest

from resilver import catalog
from resilver.spec import Cluster, Population, Study
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


def test_the_genomes_bins_are_the_published_ones(shared_data: Path) -> None:
    published = tomllib.loads((shared_data / "populations.toml").read_text())["genomes1000"]
    population = Population(histogram="genomes1000", bytes="20 PiB")
    bins = [[item.min_bytes, item.max_bytes, item.file_count] for item in population.bins]
    assert bins == published["bins"]
    assert population.cut.chunk_bytes == published["chunk_bytes"]
    assert sum(item.file_count for item in population.bins) == 9200


def test_the_mira_bins_follow_their_formula(shared_data: Path) -> None:
    published = tomllib.loads((shared_data / "populations.toml").read_text())["mira"]
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
