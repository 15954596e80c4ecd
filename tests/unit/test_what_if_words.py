"""Words that the core tells and a page explains are the same, and so are names of settings."""

import re
from pathlib import Path

from resilver.report.whatif.sentences import GOVERNS
from resilver.whatif.declared import SETTINGS

CRATE = Path(__file__).parents[2] / "crates" / "ceph" / "src" / "healing"


def test_every_limit_that_is_explained_is_the_core_s_and_of_a_setting() -> None:
    told = {
        word
        for path in CRATE.rglob("*.rs")
        for word in re.findall(r'"([a-z ]+)"', path.read_text(encoding="utf-8"))
    }
    assert set(GOVERNS) <= told, sorted(set(GOVERNS) - told)
    for name in GOVERNS.values():
        assert name in SETTINGS or name.endswith(" ratio"), name
