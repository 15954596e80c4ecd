"""Commands, flags and what the manager does by itself: which releases have each."""

from __future__ import annotations

from resilver.errors import ConfigError
from resilver.whatif.releases import (
    EVER,
    LUMINOUS,
    MIMIC,
    NAUTILUS,
    OCTOPUS,
    QUINCY,
    REEF,
    Release,
    Span,
)

CONFIG_SET = "`ceph config set`"
ORCHESTRATOR = "`ceph orch`"
DESTROY = "`ceph osd destroy`"
CRUSH_RULE = "`ceph osd pool set POOL crush_rule`"
UPMAP = "`ceph osd pg-upmap-items`"
UPMAP_PRIMARY = "`ceph osd pg-upmap-primary`"
BALANCER = "a balancer"
BALANCER_RUNS = "a balancer that is always loaded"
FORCE_GROUPS = "`ceph pg force-recovery`"
FORCE_POOLS = "`ceph osd pool force-recovery`"
MANAGED_PG_NUM = "pg_num changed step by step by the manager"
MERGES = "merging of PGs (a smaller pg_num)"
SINGLE_COPY = "`mon_allow_pool_size_one`, without which a pool's size is 2 or more"

NEW_CLIENTS = "ceph osd set-require-min-compat-client luminous"
"""What lets clients heed upmap entries, where the map does not demand it."""

FORMS: dict[str, Span] = {
    # Release notes of 13.2.0; before, `ceph tell osd.* injectargs` and ceph.conf.
    CONFIG_SET: Span(MIMIC),
    # Release notes of 15.2.0; before, systemd's units on each host.
    ORCHESTRATOR: Span(OCTOPUS),
    # Release notes of 12.2.0; before, the number is removed and taken again.
    DESTROY: Span(LUMINOUS),
    # Release notes of 12.2.0; before, crush_ruleset with a number.
    CRUSH_RULE: Span(LUMINOUS),
    # Release notes of 12.2.0; clients must be of that release too.
    UPMAP: Span(LUMINOUS),
    # Release notes of 18.2.0; clients must be of that release too.
    UPMAP_PRIMARY: Span(REEF),
    BALANCER: Span(LUMINOUS),
    BALANCER_RUNS: Span(NAUTILUS),
    # PendingReleaseNotes of 12.1.2.
    FORCE_GROUPS: Span(LUMINOUS),
    FORCE_POOLS: Span(NAUTILUS),
    # Release notes of 14.2.0: `OSDMonitor::prepare_command_pool_set` sets pg_num itself below
    # require_osd_release nautilus, and takes no smaller one.
    MANAGED_PG_NUM: Span(NAUTILUS),
    MERGES: Span(NAUTILUS),
    SINGLE_COPY: Span(OCTOPUS),
}
"""The releases that have each form."""

FLAGS: dict[str, Span] = {
    "noout": EVER,
    "noin": EVER,
    "noup": EVER,
    "nodown": EVER,
    "norebalance": EVER,
    "nobackfill": EVER,
    "norecover": EVER,
    "noautoscale": Span(QUINCY),
}
"""The flags that the model heeds, with the releases that have each."""


def has(form: str, release: Release) -> bool:
    """Whether a release has a form."""
    return FORMS[form].holds(release)


def require(form: str, release: Release, value: str) -> None:
    """Refuse what a release lacks.

    Args:
        form: One of `FORMS`.
        release: What the cluster runs.
        value: What was asked, for the message.

    Raises:
        ConfigError: The release does not have it.
    """
    if not has(form, release):
        raise ConfigError(FORMS[form].problem(form, release, value=value))
