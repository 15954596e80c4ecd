"""A system in the core's words: the JSON that the native module reads, and what its numbers name.

A parameter's name in it is its name in the core, which refuses others by their path.
"""

from __future__ import annotations

from resilver.core_input.faults import faults_json
from resilver.core_input.ports import (
    Device,
    devices,
    endpoints,
    levels,
    machine_endpoints,
    ports_of,
)
from resilver.core_input.system import (
    check_synthetic,
    core_json,
    files_json,
)
