"""What the browser tests share: one browser a file."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.browser.chromium import Page, chromium, find_chromium


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    """One browser for all tests of this file."""
    program = find_chromium()
    if program is None:
        pytest.skip("no Chromium on PATH: install it (Debian: apt-get install chromium)")
    with chromium(program) as opened:
        yield opened
