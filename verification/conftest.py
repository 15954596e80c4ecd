"""Claims of the tests, tried many times over on what is drawn anew each time: `dev.py verify`."""

from hypothesis import settings

# Importing it loads the tests' own profile, which this one then takes the place of.
from tests.conftest import pytest_collection_modifyitems, root, shared_data
from tests.scale import SCALE, SEED

settings.register_profile("verification", deadline=None, print_blob=True, database=None)
settings.load_profile("verification")


def pytest_report_header() -> str:
    return f"{SCALE} times what the tests try, drawn from RESILVER_SEED={SEED}"
