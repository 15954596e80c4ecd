"""File sizes: histograms as text, listings that other tools write, and live directory trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from resilver.importers.left_out import LeftOut
from resilver.on_demand import on_demand

if TYPE_CHECKING:
    from resilver.importers.sizes.histogram import (
        Bin,
        check_bin,
        drawn_bytes,
        expected_by_class,
        parse_sizes,
        read_sizes,
    )
    from resilver.importers.sizes.measure import import_sizes
    from resilver.importers.sizes.measured import MeasuredSizes
    from resilver.importers.sizes.tree import scan_tree

__all__ = [
    "Bin",
    "LeftOut",
    "MeasuredSizes",
    "check_bin",
    "drawn_bytes",
    "expected_by_class",
    "import_sizes",
    "parse_sizes",
    "read_sizes",
    "scan_tree",
]

__getattr__, __dir__ = on_demand(
    __name__,
    {
        "histogram": "Bin check_bin drawn_bytes expected_by_class parse_sizes read_sizes",
        "measure": "import_sizes",
        "measured": "MeasuredSizes",
        "tree": "scan_tree",
    },
)
