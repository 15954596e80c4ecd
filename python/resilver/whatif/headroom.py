"""How full a cluster may be so that it heals from the failure of any part of a level."""

from __future__ import annotations

import re
from dataclasses import replace

from resilver.errors import ConfigError, show
from resilver.importers.ceph import ClusterReport
from resilver.whatif.cluster import read_state
from resilver.whatif.configuration import Configuration, release_of
from resilver.whatif.each import NotSettled, rank_failures
from resilver.whatif.filling import fill_of, make_fuller
from resilver.whatif.fitting import PlanDoesNotFit
from resilver.whatif.options import Request
from resilver.whatif.perform import Told
from resilver.whatif.plan import Plan
from resilver.whatif.several import FillSearch, FillTrial

FILL = "fill"
"""What `--search` names for this."""

_AIM = re.compile(r"any\s+(\S+)\s+heals")


def _counting(told: Told | None, ran: list[int]) -> Told:
    """Tells how many runs are done in all; how many there will be is known at the end."""
    return lambda done, _, state: told is None or told(sum(ran) + done, 0, state)


def search_fill(
    report: ClusterReport, plan: Plan, request: Request, aim: str, told: Told | None = None
) -> FillSearch:
    """Find how full a cluster may be, in whole per cent, by bisection.

    What heals at a fill is taken to heal at every lower one. At each fill the part that left PGs
    behind last fails first, and the others only where it heals. A fill at which the changes do not
    settle, or do not fit, is none at which parts heal.

    Args:
        report: The cluster, as its dumps say.
        plan: Changes that are made in each run too.
        request: What is asked beside.
        aim: ``any LEVEL heals``, of a level such as osd, host or rack.
        told: Told how far it is: how many runs are done, of none in all.

    Raises:
        ConfigError: The aim is not written so, the map has no such level, or a fill is stated.
    """
    match = _AIM.fullmatch(aim.strip())
    if match is None:
        rule = "a fill is searched at which any part of a level heals"
        raise ConfigError(rule, 'such as "any host heals"', "--aim", show(aim))
    if request.fill:
        rule, remedy = "the fill is what is searched", "leave --fill out"
        raise ConfigError(rule, remedy, "--fill", show(request.fill))
    level = match[1]
    release = release_of(report, request.release)
    cluster = read_state(report, request, Configuration(release, report.config or ()))
    make_fuller(cluster, "", request.grow)
    present, most = fill_of(cluster)

    ran: list[int] = []
    counted = _counting(told, ran)

    def tried(percent: int, only: str = "") -> FillTrial:
        share, of = percent / 100, replace(request, fill=f"{percent}%")
        try:
            found = rank_failures(report, level, plan, of, counted, only, with_today=False)
            ran.append(len(found.harms))
            return FillTrial(share, found)
        except NotSettled as error:
            return FillTrial(share, None, error.problems[0].rule)
        except PlanDoesNotFit as error:
            return FillTrial(share, None, str(error))
        except ConfigError as error:
            keys = {"--each": "--aim"}  # The level is the aim's.
            raise ConfigError(
                replace(one, key=keys.get(one.key, one.key)) for one in error.problems
            ) from None

    trials: dict[int, FillTrial] = {}
    culprit, heals, fails = "", 0, int(100 * most) + 1
    while fails - heals > 1:
        middle = (heals + fails) // 2
        found = tried(middle, culprit)
        if found.holds and culprit:
            found = tried(middle)
        trials[middle] = found
        if found.holds:
            heals = middle
        else:
            fails = middle
            culprit = culprit if found.worst is None else found.worst.name
    if not trials:
        rule = "an OSD is full before all OSDs together are 1 % full"
        raise ConfigError(rule, "balance the cluster first", "--search", show(FILL))
    if not heals:
        trials[fails] = tried(fails)
    return FillSearch(aim, level, present, most, tuple(one for _, one in sorted(trials.items())))
