"""Sixty small machines whose routers stand where nothing is better, and twenty by integer programs.

The tests keep three and one of each number of routers (tests/oracle/test_siting.py).
"""

from tests.oracle.test_siting import (
    test_places_on_a_small_torus_are_the_best_of_all,
    test_places_on_six_by_four_by_four_are_the_program_s,
)

__all__ = [
    "test_places_on_a_small_torus_are_the_best_of_all",
    "test_places_on_six_by_four_by_four_are_the_program_s",
]
