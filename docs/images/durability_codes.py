"""Draws the picture of the page on durability: nines of codes against what they keep.

.venv/bin/python docs/images/durability_codes.py
"""

from __future__ import annotations

from figures import save

import resilver
from resilver.report.durability import durability_answer

CODES = [f"rs {data}+{parity}" for data in range(4, 13) for parity in (2, 3, 4)]
CODES += ["copies 2", "copies 3", "copies 4", "lrc 12+2+2"]

if __name__ == "__main__":
    given = {"afr": "1.36 %", "repair": "10 h", "stored": "10 PB", "device": "20 TB"}
    found = resilver.durability(CODES, **given)
    (chart,) = (one for one in durability_answer(found).charts() if one.name == "pareto")
    save(chart.make(), "durability-codes", 760)
