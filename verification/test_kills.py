"""Sweeps killed at 20 moments drawn anew, and 20 over Dask, resume to the same bytes.

The tests keep three moments (tests/unit/test_execute.py) and one (tests/integration/test_dask.py),
and every rename, in which there is no chance.
"""

from tests.integration.test_dask import (
    cluster,
    test_a_driver_killed_at_any_moment_resumes_to_the_same_bytes,
)
from tests.unit.test_execute import test_a_sweep_killed_at_any_moment_resumes_to_the_same_bytes
