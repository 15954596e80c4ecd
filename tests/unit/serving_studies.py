"""Studies of clients over switches, from which the tests of their keys start."""

from __future__ import annotations

from pathlib import Path

import pytest

from resilver.errors import ConfigError
from resilver.simulate import validate_runs
from resilver.spec import Study

TORUS = """
[cluster]
device = "cheetah-15k"
queue = "reads_first"
[cluster.fabric]
model = "switched"
topology = "torus 4x4 routers 4"
link_rate = "1 Gb/s"
"""
CLOSED = '[traffic]\noutstanding = 32\ninterval = "22 ms"\nduration = "10 s"\n'


def study_of(tmp_path: Path, text: str, *overrides: str) -> Study:
    file = tmp_path / "study.toml"
    file.write_text(text)
    return Study.load(file, overrides)


def problems(tmp_path: Path, text: str, *overrides: str) -> str:
    with pytest.raises(ConfigError) as caught:
        validate_runs(study_of(tmp_path, text, *overrides).runs())
    return str(caught.value).replace(f"{tmp_path}/", "")
