"""The public names of `resilver.importers.sizes` and where each is from."""

from .histogram import (
    Bin as Bin,
    check_bin as check_bin,
    drawn_bytes as drawn_bytes,
    expected_by_class as expected_by_class,
    parse_sizes as parse_sizes,
    read_sizes as read_sizes,
)
from .measure import import_sizes as import_sizes, scan_tree as scan_tree
from .measured import MeasuredSizes as MeasuredSizes
