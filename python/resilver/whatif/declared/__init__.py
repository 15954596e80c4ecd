"""Every setting of Ceph that healing goes by, each declared once."""

from __future__ import annotations

from resilver.whatif.declared.groups import inside_a_group, reservations
from resilver.whatif.declared.monitors import monitors
from resilver.whatif.declared.queues import mclock, queues
from resilver.whatif.settings import Setting

SETTINGS: dict[str, Setting] = {
    one.name: one
    for some in (reservations, inside_a_group, queues, mclock, monitors)
    for one in some()
}
"""The settings by name, in the order of their page."""
