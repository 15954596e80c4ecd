"""What the catalog says of failures is what was published, and is usable in a study."""

import math

import pytest
from scipy.stats import chi2

from resilver import catalog
from resilver.errors import ConfigError
from resilver.failure_rates import YEAR_SECONDS
from resilver.spec import Failure

FLEETS = ("backblaze-2024",)


def test_every_entry_is_a_failure_with_a_source() -> None:
    """What states sizes of bursts alone needs a rate beside it, which is the system's."""
    for name in catalog.failure_names():
        entry = catalog.failure(name)
        assert entry.description and entry.source, name
        rate = {} if name != "google-2010/burst" else {"rate": "1 /y"}
        assert Failure(like=name, **rate).words


@pytest.mark.parametrize("fleet", FLEETS)
def test_counts_of_drives_add_up_to_the_fleet_and_to_the_printed_rates(fleet: str) -> None:
    """Backblaze prints failures / drive-days x 365 in percent to two digits."""
    content = catalog.load("failures", fleet).content
    rows = content["drives"].values()
    for key in ("drives", "days", "failures"):
        assert sum(row[key] for row in rows) == content["fleet"][key]
    for row in rows:
        percent = 100 * row["failures"] / row["days"] * 365
        assert abs(percent - float(row["afr"].removesuffix(" %"))) <= 0.0051, row


def test_rates_are_the_middle_of_what_was_counted() -> None:
    # Twice Gamma(n + 1/2) is chi-squared with 2 n + 1 degrees of freedom.
    for name in ("backblaze-2024/ST16000NM002J", "backblaze-2024/WUH721816ALE6L4"):
        entry = catalog.failure(name)
        years = entry.drive_days / 365.25
        degrees = 2 * entry.failures + 1
        tails = [chi2.cdf(2 * end * years, degrees) for end in entry.per_year_interval]
        assert tails == pytest.approx([0.025, 0.975], rel=1e-9)
        assert entry.per_year == pytest.approx(degrees / 2 / years, rel=1e-12)
    # 94 failures and a half in 9,365,201 days of 365.25 a year, to six digits.
    failure = Failure(like="backblaze-2024/WUH721816ALE6L4")
    expected = 94.5 / 9_365_201 * 365.25
    assert failure.rate_per_second * YEAR_SECONDS == pytest.approx(expected, rel=5e-6)


def test_the_sizes_of_googles_bursts_hold_the_share_that_was_published() -> None:
    """Of bursts and single failures together, by the exponent that the file states: 37 %."""
    exponent = 3.042
    weights = {k: k**-exponent for k in range(1, 41)}
    inside = math.fsum(k * w for k, w in weights.items() if k > 1)
    assert inside / (1 + inside) == pytest.approx(0.37, abs=5e-4)
    burst = Failure(like="google-2010/burst", rate="1 /y").burst
    total = math.fsum(w for k, w in weights.items() if k > 1)
    for count, weight in burst.sizes.weights:
        assert weight == pytest.approx(weights[count] / total, rel=0.01)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("simedc", "knows several; write one of simedc/disk, simedc/node"),
        ("simedc/dsk", 'did you mean "simedc/disk"'),
        ("backblaze-2024/ST16000NM001", 'did you mean "backblaze-2024/ST16000NM001G"'),
        ("backblaze-2014", "no failure law of this name; did you mean"),
        ("../failures/simedc", "no failure law of this name|no such"),
    ],
)
def test_an_entry_that_is_not_there_is_refused_with_the_nearest(name: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        Failure(like=name)
