"""`resilver calibrate coding`: rates of a real library, and what is said where there is none."""

import json
import tomllib
from pathlib import Path

import numpy as np
import pytest

import resilver
from resilver import ConfigError, catalog, cli
from resilver.calibration.coding import CodingCalibration, CodingRates
from resilver.calibration.isal import Library, plain_product, products
from resilver.units import BytesPerSecond


def installed() -> str:
    """Why the library cannot be loaded; empty where it can."""
    try:
        Library()
    except ConfigError as error:
        return str(error)
    return ""


needs_library = pytest.mark.skipif(bool(installed()), reason=installed() or "it is there")


@needs_library
def test_the_command_measures_and_writes_what_a_study_reads(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("resilver.calibration.coding._SECONDS", 0.01)
    place = tmp_path / "coding.toml"
    words = ["rs 4+2", "lrc 4+3 local 2", "--strip", "16 KiB", "--json", "-o", str(place)]
    assert cli.run(["calibrate", "coding", *words]) == 0
    printed = capsys.readouterr()
    assert "redundancy.coding" in printed.err
    found = json.loads(printed.out)
    content = tomllib.loads(place.read_text(encoding="utf-8"))
    assert content["source"] and content["description"] and "libisal" in found["library"]
    assert [row["code"] for row in content["codes"]] == ["rs 4+2", "lrc 4+3 local 2"]
    for row, plain in zip(found["codes"], content["codes"], strict=True):
        rates = [row["encode_bytes_per_second"], *row["decode_bytes_per_second"]]
        # A core moves more than a megabyte and less than ten terabytes a second.
        assert all(1e6 < rate < 1e13 for rate in rates)
        slowest = min(BytesPerSecond.parse(rate) for rate in plain["decode_by_losses"])
        assert BytesPerSecond.parse(plain["decode"]) == slowest
        assert BytesPerSecond.parse(plain["encode"]) == pytest.approx(rates[0], abs=5e5)
    # Two losses are survived by the first code anywhere, and one by the second.
    assert [len(row["decode_bytes_per_second"]) for row in found["codes"]] == [2, 1]


def test_the_slowest_decoding_is_the_table_s() -> None:
    rates = CodingRates("rs 4+2", 65536, 9.8761e9, (7.5e9, 6.25e9))
    text = CodingCalibration((rates,), "libisal.so.2.0.30", "a processor", "2026-01-31").to_toml()
    content = tomllib.loads(text)
    written = {"encode": "9876 MB/s", "decode": "6250 MB/s"}
    written |= {"decode_by_losses": ["7500 MB/s", "6250 MB/s"]}
    assert content["codes"] == [{"code": "rs 4+2", "strip": "64 KiB", **written}]
    assert "2026-01-31" in content["source"] and "a processor" in content["source"]
    for name in catalog.list("coding"):
        entry = catalog.load("coding", name)
        for row in entry.content["codes"]:
            code = resilver.redundancy(row["code"])
            by_losses = [BytesPerSecond.parse(rate) for rate in row["decode_by_losses"]]
            assert len(by_losses) == code.fault_tolerance
            assert BytesPerSecond.parse(row["decode"]) == min(by_losses)
            assert BytesPerSecond.parse(row["encode"]) > 0


def test_the_plain_product_is_that_of_the_field() -> None:
    # 2 is x, and x times x^7 is x^8 = x^4 + x^3 + x^2 + 1 = 29.
    assert products()[2][128] == 29 and (products() == products().T).all()
    sources = [np.array([1, 128, 7], dtype=np.uint8), np.array([5, 0, 7], dtype=np.uint8)]
    (made,) = plain_product(np.array([[2, 1]], dtype=np.uint8), sources)
    # 2 x 1 + 5 = 7, 2 x 128 + 0 = 29, and 2 x 7 + 7 = 14 + 7, which differ in binary: 9.
    assert made.tolist() == [7, 29, 9]


@needs_library
def test_another_matrix_than_the_code_s_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A library of another field or order of bytes must not pass as fast."""
    code = resilver.redundancy("rs 4+2")
    right = Library.prepared
    monkeypatch.setattr(
        Library, "prepared", lambda self, factors: right(self, np.flip(factors, axis=1))
    )
    with pytest.raises(resilver.ResilverError, match="another product"):
        resilver.calibrate_coding([code], strip_bytes=4096)
