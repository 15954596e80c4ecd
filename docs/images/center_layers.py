"""Draws the picture of a center-wide file system: what each layer of Spider II leaves.

.venv/bin/python docs/images/center_layers.py
"""

from __future__ import annotations

from figures import save

import resilver
from resilver.center.layering import LayerProfile
from resilver.report.layering import waterfall_chart


def main() -> None:
    """Profile, draw and save."""
    found = resilver.profile("center-spider-2", target="1 TB/s")
    assert isinstance(found, LayerProfile)
    save(waterfall_chart(found).make(), "center-layers", 760)


if __name__ == "__main__":
    main()
