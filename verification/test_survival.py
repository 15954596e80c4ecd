"""Chains against many digits, and bursts against every combination, of what is drawn anew."""

from tests.unit.test_survival_chains import test_any_chain_is_as_exact_as_its_rates
from tests.unit.test_survival_crowds import test_any_sets_lose_what_each_combination_does
