"""What the core computes is the same on every processor and in a browser."""

import re

from tests.unit.test_style import name_of, of_kind
from tools.graph import without_text

# Of floating-point numbers, all that a C library rounds as it likes.
OPEN = re.compile(
    r"\.(ln|ln_1p|log|log2|log10|exp|exp2|exp_m1|powf|sin|cos|tan|sin_cos|asin|acos|atan|atan2"
    r"|sinh|cosh|tanh|cbrt|hypot)\(|\bf64::(ln|exp|exp2|powf|sin|cos)\b"
)
# No page runs these: places in a picture, and chances, which are estimates.
NOT_OF_A_RUN = ("crates/fabric/src/topology/drawing.rs", "crates/durability/", "crates/python/")
# The core's own are named as the library's.
OWN = "crates/units/src/elementary.rs"


def test_no_run_hangs_on_a_library_s_last_digit() -> None:
    """`resilver_units::elementary` has them by the four operations, which IEEE 754 fixes."""
    found = []
    for path in of_kind(".rs"):
        name = name_of(path)
        if not re.match(r"crates/\w+/src/", name) or name.startswith((*NOT_OF_A_RUN, OWN)):
            continue
        if path.stem == "tests" or "/testing/" in name:
            continue
        shipped = without_text(path.read_text(encoding="utf-8")).split("#[cfg(test)]")[0]
        found += [f"{name}: {one.group()}" for one in OPEN.finditer(shipped)]
    assert not found
