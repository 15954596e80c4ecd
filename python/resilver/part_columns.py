"""The columns of the result tables that say what parts of a system did and limited."""

from __future__ import annotations

import pyarrow as pa

_COUNT = pa.int64()
_REAL = pa.float64()
_TEXT = pa.string()

COST_OF_DETECTION = (
    ("false_alarms", _COUNT),
    ("false_alarms_per_hour", _REAL),
    ("detection_messages_per_second", _REAL),
    ("detection_bytes_per_second", _REAL),
    ("busiest_messages_per_second", _REAL),
)
"""What detection costs each device, and gets wrong, while all are healthy."""

OF_RUNS = (
    # What became of what bursts wrote, where it is drained.
    ("drain_bytes_per_second", _REAL),
    ("undrained_bytes", _COUNT),
    ("undrained_bytes_max", _COUNT),
    ("carried_bytes", _COUNT),
    ("detection_seconds", _REAL),
    *COST_OF_DETECTION,
)
"""Metrics of a run that only some have."""

# A row a part between devices and ports that takes time.
PARTS = pa.schema(
    [
        ("run", _TEXT),
        ("level", _TEXT),
        ("part", pa.int32()),
        ("name", _TEXT),
        ("requests", _COUNT),
        ("bytes", _COUNT),
        ("busy_seconds", _REAL),
        ("busy_fraction", _REAL),
    ]
)
# A row a part that the device waited for which made the last lost piece; the limit comes first.
LIMITS = pa.schema(
    [
        ("run", _TEXT),
        ("destination", _TEXT),
        ("window_seconds", _REAL),
        ("kind", _TEXT),
        ("level", _TEXT),
        ("name", _TEXT),
        ("parts", _COUNT),
        ("busy_fraction", _REAL),
        ("waited_fraction", _REAL),
        ("waited_seconds", _REAL),
        ("buffer_seconds", _REAL),
        ("buffers", _REAL),
        ("destinations", _COUNT),
        ("rebuild_fraction", _REAL),
        ("lane_share", _REAL),
        ("is_limit", pa.bool_()),
    ]
)
# A row a stretch of time, traffic and part that binds steady flows.
FLOWS = pa.schema(
    [
        ("run", _TEXT),
        ("start_seconds", _REAL),
        ("duration_seconds", _REAL),
        ("pool", _TEXT),
        ("traffic", _TEXT),
        ("flows", _COUNT),
        ("bytes_per_second", _REAL),
        ("least_bytes_per_second", _REAL),
        ("largest_bytes_per_second", _REAL),
        ("bytes", _COUNT),
        ("binding", _TEXT),
        ("binding_level", _TEXT),
        ("full_parts", _COUNT),
        ("backlog_bytes", _COUNT),
    ]
)
# A row a stretch of time and layer of parts, from devices to clients.
LAYERS = pa.schema(
    [
        ("run", _TEXT),
        ("start_seconds", _REAL),
        ("duration_seconds", _REAL),
        ("layer", _TEXT),
        ("parts", _COUNT),
        ("alone_bytes_per_second", _REAL),
        ("stacked_bytes_per_second", _REAL),
        ("lost_bytes_per_second", _REAL),
        ("flows_bound", _COUNT),
    ]
)
# A row a device that is gone with faults that devices find out.
DETECTION = pa.schema(
    [
        ("run", _TEXT),
        ("faults", _TEXT),
        ("at_seconds", _REAL),
        ("device", _TEXT),
        ("detection_seconds", _REAL),
        ("first_seconds", _REAL),
        ("first_device", _TEXT),
        ("half_seconds", _REAL),
        ("all_seconds", _REAL),
        ("informed", _COUNT),
        ("others", _COUNT),
        *COST_OF_DETECTION,
    ]
)
# A row a burst that a job asked for.
JOBS = pa.schema(
    [
        ("run", _TEXT),
        ("job", _TEXT),
        ("burst", _COUNT),
        ("asked_seconds", _REAL),
        ("began_seconds", _REAL),
        ("ended_seconds", _REAL),
        ("seconds", _REAL),
        ("bytes", _COUNT),
        ("slowed", _REAL),
        ("binding_level", _TEXT),
    ]
)
