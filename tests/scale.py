"""How much of a claim is tried: little at each change, many times that by `dev.py verify`.

The tests draw the same each time, so that a failure is about the change and not about luck.
Verification sets `RESILVER_SCALE`, and draws anew each time: `RESILVER_SEED` says from where.
"""

import os

SCALE = int(os.environ.get("RESILVER_SCALE", "1"))
SEED = int(os.environ.get("RESILVER_SEED", "0"))


def times(few: int) -> int:
    """How many examples, maps, kills or studies, where the tests try a few."""
    return few * SCALE


def numbers(few: int) -> range:
    """The numbers that examples are drawn from: from 0 in the tests, from the seed on otherwise."""
    return range(SEED, SEED + times(few))
