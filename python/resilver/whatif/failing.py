"""Further failures while a cluster heals: how often OSDs fail, and how likely that loses data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from resilver.analytic.at_risk import Windows, chance_of_loss, critical_seconds
from resilver.errors import ConfigError, Problem, name_remedy, show
from resilver.failure_rates import YEAR_SECONDS, FailedShare
from resilver.spec.failures import Failure
from resilver.spec.osd_devices import KNOWN_CLASSES
from resilver.whatif.answer import ClusterFacts
from resilver.whatif.columns import TABLES
from resilver.whatif.configuration import Ledger

_DISKS, _FLASH = "backblaze-2025", "netapp-2020"
"""What fails as often as OSDs of which nobody says how often they do."""


def failure_rates(texts: Sequence[str], classes: Iterable[str], ledger: Ledger) -> dict[str, float]:
    """How often OSDs of each device class fail.

    Args:
        texts: ``1.36%`` of all a year, or ``ssd=0.9%`` of a class; what is not said is that of
            disks or of flash of the catalog.
        classes: The classes of the cluster, the empty one for OSDs without.
        ledger: Where it is kept what was chosen.

    Returns:
        Failures a second of an OSD of each class: where a share a fails in a year, -ln(1 - a) a
        year of 365.25 days.

    Raises:
        ConfigError: A text is not written so, or names no class of the cluster.
    """
    known = sorted(set(classes))
    stated: dict[str, FailedShare] = {}
    for text in texts:
        name, sign, share = (one.strip() for one in text.rpartition("="))
        if sign and name not in known:
            remedy = name_remedy(name, [one for one in known if one], "classes")
            problem = Problem("no OSD has this class", remedy, key="--afr", value=show(text))
            raise ConfigError(problem)
        try:
            stated[name] = FailedShare.parse(share)
        except ConfigError as error:
            raise ConfigError(problem.under("--afr") for problem in error.problems) from None
    found = {}
    for name in known:
        what = f"AFR of class {name}" if name else "AFR"
        afr = stated.get(name, stated.get(""))
        if afr is not None:
            found[name] = afr.per_second
            ledger.note(what, f"{100 * afr:.4g} %", "stated", "", "")
        else:
            like = _FLASH if name in KNOWN_CLASSES[1:] else _DISKS
            found[name] = rate = Failure(like=like).rate_per_second or 0.0
            count = rate * YEAR_SECONDS
            sentence = (
                f"{like} of the catalog: {100 * count:.3g} failures of 100 in a year; --afr states "
                "another"
            )
            ledger.note(what, f"{-100 * math.expm1(-count):.4g} %", "assumed", sentence, "")
    return found


def risks_table(
    lacking: pa.Table, facts: ClusterFacts, rates: Mapping[str, float], until_seconds: float
) -> pa.Table:
    """How likely further failures lose data while groups lack pieces: all pools, and each.

    Each OSD fails by itself at the rate of its class; a further failure is taken not to change when
    groups become whole.

    Args:
        lacking: The table of `resilver.whatif.columns.TABLES`.
        facts: The cluster.
        rates: Failures a second of an OSD of each device class.
        until_seconds: Until when groups that lack pieces at the end are followed.

    Returns:
        The table ``risks``: a row of all pools, then one for each of which a group lacked pieces.
    """
    osds = [*facts.places, *facts.classes, 0]
    of_osd = np.array([rates.get(facts.classes.get(osd, ""), 0.0) for osd in range(max(osds) + 1)])
    pool = lacking["pool"].to_numpy()
    windows = _windows(lacking, until_seconds)
    groups = np.array(lacking["pgid"].to_pylist(), dtype=object)
    is_open = np.asarray(lacking["until_seconds"].is_null())
    rows = []
    for number, rows_of in _choices(pool):
        own = windows.of(rows_of)
        rows.append(
            {
                "pool": number,
                "name": "" if number is None else facts.pools.get(number, str(number)),
                "lacking_groups": len(set(groups[rows_of].tolist())),
                "fewest_failures": int(own.survives.min()) + 1 if rows_of.any() else None,
                "critical_osds": int(np.count_nonzero(critical_seconds(own, len(of_osd)))),
                "lacking_seconds": None
                if is_open[rows_of].any()
                else float(own.end_seconds.max(initial=0.0)),
                "loss_chance": chance_of_loss(own, of_osd),
            }
        )
    return pa.Table.from_pylist(rows, TABLES["risks"])


def _choices(pool: npt.NDArray[np.int64]) -> Iterator[tuple[int | None, npt.NDArray[np.bool_]]]:
    """All rows, and those of each pool."""
    yield None, np.ones(len(pool), dtype=bool)
    for number in np.unique(pool).tolist():
        yield number, pool == number


def _windows(lacking: pa.Table, until_seconds: float) -> Windows:
    """A window a spell, from when its group began to lack pieces: what fails then is not made anew
    before the spell ends.
    """
    begin = np.asarray(lacking["from_seconds"].to_numpy(), dtype=np.float64).copy()
    end = np.asarray(lacking["until_seconds"].fill_null(until_seconds).to_numpy(), dtype=np.float64)
    names = lacking["pgid"].to_pylist()
    last: dict[str, int] = {}
    for row in np.argsort(begin, kind="stable").tolist():
        before = last.get(names[row])
        # begin[before] is by now that of the first spell of an unbroken row.
        if before is not None and end[before] == begin[row]:
            begin[row] = begin[before]
        last[names[row]] = row
    own = [[int(osd) for osd in (text or "").split()] for text in lacking["osds"].to_pylist()]
    holders = np.full((len(own), max(map(len, own), default=0)), -1, dtype=np.int64)
    for row, osds in enumerate(own):
        holders[row, : len(osds)] = osds
    return Windows(holders, lacking["survives"].to_numpy(), begin, np.maximum(end, begin))
