"""Maps drawn anew are read, placed and judged as Ceph's own tools do.

The tests keep 15 CRUSH maps (tests/oracle/test_crush_oracle.py), 50 OSD maps and each eleventh OSD
of a real cluster (tests/oracle/test_osdmaptool.py), and 20 maps judged and 10 pairs compared
(tests/integration/test_crush_tester.py).
"""

import shutil

import pytest

from tests.integration.test_crush_tester import (
    test_compare_prints_crushtools_bytes,
    test_every_show_option_prints_crushtools_bytes,
)
from tests.oracle.test_crush_oracle import test_random_maps_place_alike
from tests.oracle.test_osdmaptool import (
    test_a_real_cluster_after_marking_any_osd_out,
    test_any_osd_map,
)

pytestmark = pytest.mark.skipif(
    not (shutil.which("crushtool") and shutil.which("osdmaptool")),
    reason="crushtool and osdmaptool are not installed (Debian: ceph-base)",
)
