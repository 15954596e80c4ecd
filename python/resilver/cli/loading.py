"""Study files that commands read, with the keys that the command line replaces."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from resilver.cli.console import say
from resilver.text import read_toml

if TYPE_CHECKING:
    from resilver.spec import Study


def load_study(path: Path, settings: Sequence[str]) -> Study:
    """A study with its overrides; a sweep that an override ends is told of.

    Args:
        path: The study file, or the name of a study in the catalog.
        settings: Overrides as KEY=VALUE.

    Raises:
        ConfigError: The file cannot be read, or with every problem in it.
    """
    from resilver.catalog.entries import study_path
    from resilver.spec import Study
    from resilver.spec.ensemble import keys_of

    path = study_path(path)
    study = Study.load(path, overrides=settings)
    if settings:
        # As the file has them: without its overrides the study may be none.
        written = read_toml(path.expanduser()).get("study", {}).get("sweep", {})
        for swept in (name for name in written if name not in study.study.sweep):
            for setting in settings:
                if setting.partition("=")[0].strip() in keys_of(swept):
                    say(f"note: the study sweeps {swept}; --set {setting} takes the place of that")
    return study
