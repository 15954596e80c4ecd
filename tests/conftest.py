"""What all tests share: places, real inputs, and the same surroundings everywhere."""

import os
import signal
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.front_door import processor_seconds
from tests.terminal import Terminal
from tools.summaries import allowed_seconds

# A shell that starts the tests in the background has them ignore interrupts, and so would every
# process that they start and interrupt on purpose.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Random examples are the same in every run, so that a failure is about the change and not about
# luck; machines differ in speed, so no example has a deadline.
settings.register_profile("resilver", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("resilver")

# Rich and Typer read these, and would colour or wrap what the tests compare.
for name in ("FORCE_COLOR", "PY_COLORS", "CLICOLOR_FORCE", "GITHUB_ACTIONS", "COLUMNS", "LINES"):
    os.environ.pop(name, None)

ROOT = Path(__file__).resolve().parent.parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that share what their module makes once run in one worker, one after the other.

    So it is made once. Those that take longest begin first, so that none is left at the end for one
    worker alone.
    """
    allowed = allowed_seconds()
    together: dict[str, float] = {}
    for item in items:
        used = getattr(item, "_fixtureinfo", None)
        fixtures = used.name2fixturedefs.values() if used else ()
        if any(fixture.scope == "module" for of_name in fixtures for fixture in of_name):
            module = item.nodeid.partition("::")[0]
            item.add_marker(pytest.mark.xdist_group(module))
            together[module] = max(together.get(module, 0.0), allowed.get(item.nodeid, 0.0))

    def rank(item: pytest.Item) -> tuple[float, str]:
        group = item.get_closest_marker("xdist_group")
        module = item.nodeid.partition("::")[0] if group else ""
        return -together.get(module, allowed.get(item.nodeid, 0.0)), module

    items.sort(key=rank)


SECONDS = pytest.StashKey[defaultdict[str, float]]()
ELSEWHERE = "imports, and what tests share"


def pytest_configure(config: pytest.Config) -> None:
    config.stash[SECONDS] = defaultdict(float)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, bool | None, bool | None]:
    """Count a test's processor time for its folder."""
    before = processor_seconds()
    done = yield
    folder = item.nodeid.partition("::")[0].rpartition("/")[0]
    item.config.stash[SECONDS][folder] += processor_seconds() - before
    return done


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Tell the process that collects what those of its workers took."""
    taken = session.config.stash[SECONDS]
    taken[ELSEWHERE] += max(processor_seconds() - sum(taken.values()), 0.0)
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["seconds"] = dict(taken)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Add what a worker took."""
    for folder, seconds in getattr(node, "workeroutput", {}).get("seconds", {}).items():
        node.config.stash[SECONDS][folder] += seconds


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line a folder, which `dev.py test` reads."""
    for folder, seconds in sorted(terminalreporter.config.stash[SECONDS].items()):
        terminalreporter.write_line(f"processor seconds of {folder}: {seconds:.1f}")


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real inputs; a test that needs it is skipped where it is absent."""
    folder = Path(os.environ.get("RESILVER_SHARED_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("the real inputs are absent: set RESILVER_SHARED_DATA to their folder")
    return folder


@pytest.fixture
def terminal() -> Terminal:
    """The command in this process."""
    return Terminal()
