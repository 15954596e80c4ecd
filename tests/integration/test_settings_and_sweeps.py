"""What `--set` and sweeps say of themselves: values in their words, and sweeps that were ended."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("resilver._core", reason="the native core is not built")

from resilver import cli
from resilver.report.source import format_swept
from resilver.units import Bytes, BytesPerSecond

STUDY = """
[cluster]
servers = 8
[population]
file_size = "64 MiB"
files = 40
[placement]
placement_groups = 64
[[faults]]
fail = { servers = 1 }
[study.sweep]
"recovery.bandwidth" = ["50 MB/s", "2.5 GiB/s"]
"population.files, population.file_size" = [[40, "1.5 MiB"], [20, "1 MB"]]
"""


@pytest.fixture
def swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "swept.toml"
    path.write_text(STUDY)
    return path


def test_swept_values_keep_their_words(swept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["check", str(swept)]) == 0
    said = capsys.readouterr().out
    for words in ("50 MB/s", "2.5 GiB/s", "1.5 MiB", "1 MB"):
        assert words in said, words
    assert "50000000" not in said and "2560" not in said


@pytest.mark.parametrize("text", ["1 B", "1000 B", "1 kB", "1 KiB", "1.5 MiB", "12.5 MB", "7 B"])
def test_words_of_a_value_mean_the_value(text: str) -> None:
    size = int(Bytes.parse(text))
    assert int(Bytes.parse(format_swept("population.file_size", size))) == size
    rate = float(BytesPerSecond.parse(f"{text}/s"))
    assert float(BytesPerSecond.parse(format_swept("recovery.bandwidth", rate))) == rate


@pytest.mark.parametrize(
    ("setting", "key"),
    [
        ("recovery.bandwidth=80 MB/s", "recovery.bandwidth"),
        ("population.files=10", "population.files, population.file_size"),
    ],
)
def test_a_sweep_that_a_setting_ends_is_told_of(
    swept: Path, setting: str, key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in (["check", str(swept)], ["run", str(swept), "-q", "-o", f"runs/{key[:10]}"]):
        if key == "recovery.bandwidth" or command[0] == "check":
            code = cli.run([*command, "--set", setting])
            said = capsys.readouterr().err
            assert f"note: the study sweeps {key}; --set {setting}" in said, (code, said)


def test_a_setting_beside_a_sweep_says_nothing(
    swept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["check", str(swept), "--set", "cluster.servers=9"]) == 0
    assert capsys.readouterr().err == ""


def test_a_study_file_of_dots_has_its_runs_below_runs(swept: Path) -> None:
    dots = swept.with_name("...toml")
    dots.write_text(STUDY)
    assert cli.run(["run", str(dots), "-q", "--set", "recovery.bandwidth=1 GB/s"]) == 0
    assert (swept.parent / "runs" / "study" / "runs.parquet").is_file()
    assert sorted(path.name for path in swept.parent.iterdir()) == ["...toml", "runs", "swept.toml"]
