"""Chains against many digits, and bursts against every combination, of what is drawn anew."""

from tests.unit.test_correlated_failures import test_any_sets_lose_what_each_combination_does
from tests.unit.test_data_loss_chains import test_any_chain_is_as_exact_as_its_rates
