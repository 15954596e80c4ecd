"""Advice where to write, in states drawn anew: 1,000 against optima, 10,000 against round robin.

The tests keep 20 and 150 of these states (tests/unit/test_advice.py).
"""

from tests.unit.test_advice import (
    test_a_job_never_ends_later_than_by_round_robin,
    test_behind_servers_the_slowest_stream_is_as_fast_as_a_maximum_flow_allows,
    test_by_routers_the_slowest_stream_is_near_what_a_maximum_flow_allows,
    test_on_targets_the_slowest_stream_is_as_fast_as_any_choice_allows,
    test_round_robin_s_mean_rate_is_that_of_a_poisson_law,
)
