"""Max-min fair rates from Python: what is given, what comes back, and what is refused."""

from typing import Any

import numpy as np
import pytest

from resilver import ConfigError, fair_rates


def test_rates_bindings_and_what_resources_give() -> None:
    # A disk of 1 s/s: a flow at 1 ns a byte that asks for 0.1 GB/s takes 0.1 s/s; two equal ones at
    # 4 ns a byte share the other 0.9 s/s: 0.1125 GB/s each.
    found = fair_rates(
        [1.0], [0, 1, 2, 3], [0, 0, 0], [1e-9, 4e-9, 4e-9], caps=[0.1e9, np.inf, np.inf]
    )
    np.testing.assert_allclose(found.rates, [0.1e9, 0.1125e9, 0.1125e9], rtol=1e-12)
    assert found.binding.tolist() == [-1, 0, 0]
    np.testing.assert_allclose(found.used, [1.0])
    assert found.distinct == 2
    # Nine flows share 18: 2 each.
    found = fair_rates([18.0], [0, 1, 2], [0, 0], counts=[4, 5])
    assert found.rates.tolist() == [2.0, 2.0]
    found = fair_rates([1.0, 2.0], [0], [])
    assert found.rates.tolist() == [] and found.used.tolist() == [0.0, 0.0]


GIVEN: dict[str, Any] = {"capacities": [1.0], "starts": [0, 1], "resources": [0]}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"capacities": [-1.0]}, r"capacities\[0\] = -1"),
        ({"capacities": [[1.0]]}, "capacities: it is one row"),
        ({"starts": [1, 1]}, "starts: it begins with 0"),
        ({"starts": [0, 1, 0]}, "starts: it begins with 0"),
        ({"starts": [0.0, 1.0]}, "starts: it holds numbers of type float64"),
        ({"resources": [-1]}, "resources: it holds -1"),
        ({"resources": [2**32]}, "resources: it holds 4294967296"),
        ({"resources": [1]}, "resources: flow 0 uses resource 1, and there are 1"),
        ({"resources": [0, 0]}, r"resources: it has the shape \(2,\), not \(1,\)"),
        ({"costs": [0.0]}, "costs: flow 0 has 0"),
        ({"costs": [1.0, 1.0]}, "costs: it has the shape"),
        ({"weights": [0.0]}, "weights: flow 0 has 0"),
        ({"caps": [-1.0]}, "caps: flow 0 has -1"),
        ({"counts": [0]}, "counts: flow 0 has 0"),
        ({"counts": [-1]}, "counts: it holds -1"),
        ({"counts": [1, 1]}, "counts: it has the shape"),
        ({"starts": [0, 0], "resources": []}, "resources: flow 0 uses no resource and has no cap"),
    ],
)
def test_what_means_nothing_is_refused_by_name(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        fair_rates(**{**GIVEN, **changed})
