"""Maps drawn anew are read, placed and judged as Ceph's own tools do.

The tests keep 50 OSD maps and each eleventh OSD of a real cluster
(tests/oracle/test_osdmaptool.py), 20 clusters balanced (tests/oracle/test_upmaps.py), and 20 CRUSH
maps judged and 10 pairs compared (tests/integration/test_crush_tester.py).
"""

import shutil

import pytest

from tests.integration.test_crush_tester import (
    test_compare_prints_crushtools_bytes,
    test_every_show_option_prints_crushtools_bytes,
)
from tests.oracle.test_osdmaptool import (
    test_a_real_cluster_after_marking_any_osd_out,
    test_any_osd_map,
)
from tests.oracle.test_upmaps import test_bytes_are_at_least_as_even, test_random_clusters

pytestmark = pytest.mark.skipif(
    not (shutil.which("crushtool") and shutil.which("osdmaptool")),
    reason="crushtool and osdmaptool are not installed (Debian: ceph-base)",
)
