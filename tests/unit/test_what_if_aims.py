"""Aims of a search, and the settings that it tries."""

from collections.abc import Callable
from typing import Any

import pytest

from resilver.whatif.aims import read_aim, read_axes
from resilver.whatif.answer import Outcome
from tests.build import refused

OUTCOME = Outcome(
    whole_seconds=7200.0,
    degraded_seconds=3600.0,
    at_risk_seconds=0.0,
    inactive_seconds=None,
    at_risk_groups=3,
    at_risk_end_groups=0,
    inactive_groups=2,
    peak_share=0.83,
    peak_osd="osd.7",
    nearfull_seconds=None,
    backfillfull_seconds=None,
    full_seconds=None,
    toofull_groups=0,
    stuck_groups=0,
    lost_groups=0,
    recovered_bytes=10,
    moved_bytes=20,
    least_bytes=25,
    served_share=1.0,
    p99_seconds=0.04,
    loss_chance=2e-9,
)


@pytest.mark.parametrize(
    ("aim", "met"),
    [
        ("whole in 2 h", True),
        ("whole within 119 min", False),
        ("degraded under 1 h", True),
        ("not degraded by 59 min", False),
        ("at risk under 1 s", True),
        # It is still inactive at the end, so that no time is long enough.
        ("inactive under 100 d", False),
        ("clients p99 under 50 ms", True),
        ("clients' p99 under 39 ms", False),
        ("fullest OSD under 85%", True),
        ("fullest OSD below 82.9 %", False),
        ("chance of loss under 2e-9", True),
        ("chance of loss under 1e-9", False),
        ("whole in 1 d and clients p99 under 50 ms", True),
        ("whole in 1 h and clients p99 under 50 ms", False),
    ],
)
def test_an_aim_is_met_by_the_figure_that_it_names(aim: str, met: bool) -> None:
    assert all(goal.is_met(OUTCOME) for goal in read_aim(aim)) is met


@pytest.mark.parametrize(
    ("read", "text", "says"),
    [
        (read_aim, "chance of loss under 2", "a chance is a number between 0 and 1"),
        (read_aim, "whole", "an aim says what is to be under which figure"),
        (read_aim, "heathy in 1 d", 'did you mean "healthy"?'),
        (read_aim, "whole in 1", "a duration needs a unit"),
        (read_aim, "fullest OSD under 1.2", "a percentage above 0 and up to 100"),
        (read_aim, "fullest OSD under 120%", "a percentage above 0 and up to 100"),
        (read_aim, "", "an aim says what is to be under which figure"),
        (read_axes, "osd_max_backfils", 'did you mean "osd_max_backfills"?'),
        (read_axes, "osd_max_backfills, max backfills", "this setting stands twice"),
        (read_axes, "osd_max_backfills=1", "from 2 to 32 values are tried"),
        (read_axes, "osd_max_backfills=1/x", "a whole number from 1"),
        (read_axes, "osd_heartbeat_grace", 'such as "osd_heartbeat_grace=1/2/4"'),
    ],
)
def test_a_wrong_aim_or_setting_is_told_with_what_it_may_be(
    read: Callable[..., Any], text: str, says: str
) -> None:
    assert says in refused(read, text, *[(18, 2, 4)] * (read is read_axes))


def test_settings_are_tried_from_the_gentlest_on_as_the_release_has_them() -> None:
    axes, left_out = read_axes(
        "osd_max_backfills, mclock profile, recovery sleep hdd=0.1/0", (18, 2, 4)
    )
    assert not left_out
    assert [(axis.setting.name, axis.values) for axis in axes] == [
        ("osd_max_backfills", ("1", "2", "4", "8")),
        ("osd_mclock_profile", ("high_client_ops", "balanced", "high_recovery_ops")),
        ("osd_recovery_sleep_hdd", ("0.1", "0")),
    ]
    names = "mclock profile, osd_max_backfills=1/2, osd_op_queue=wpq/mclock_scheduler"
    axes, left_out = read_axes(names, (10, 2, 7))
    assert [(axis.setting.name, axis.values) for axis in axes] == [
        ("osd_max_backfills", ("1", "2")),
        ("osd_op_queue", ("wpq",)),
    ]
    has = "and this cluster runs 10.2.7."
    assert left_out == (
        f"Left out: Ceph has osd_mclock_profile since 16.2.0, {has}",
        f"Left out: Ceph has osd_op_queue = mclock_scheduler since 15.2.0, {has}",
    )
    said = refused(read_axes, "mclock profile", (10, 2, 7))
    assert "osd_mclock_profile since 16.2.0" in said
