"""Whatever study files, reports, benchmarks' outputs or codes have is taken, or refused as input.

The tests keep 60 values of a study (tests/unit/test_spec_refused.py), 20 reports cut off
(tests/unit/test_importers_ceph.py), 100 of bundles (tests/unit/test_importers_bundle_faults.py),
150 texts of codes (tests/oracle/test_code_text.py), 20 mutants of each text that a reader knows
and 5 texts after its beginning (tests/unit/test_any_file.py), 2 of a Darshan log
(tests/unit/test_importers_logs.py), 3 mutants of each of 26 families of files
(tests/integration/test_mutants.py), which by default are 2,000 here.
"""

from tests.integration.conftest import kinds
from tests.integration.test_mutants import test_any_mutant_of_a_file_is_read_or_refused_as_input
from tests.oracle.test_code_text import test_both_take_the_same_texts_for_the_same_codes
from tests.unit.test_any_file import (
    test_a_mutant_is_read_or_refused,
    test_any_text_alone_or_after_a_beginning_is_read_or_refused,
)
from tests.unit.test_importers_benchmarks import (
    test_a_text_cut_off_anywhere_is_read_in_part_or_refused,
)
from tests.unit.test_importers_bundle_faults import (
    test_any_mutant_of_a_bundle_is_read_or_refused_as_input,
)
from tests.unit.test_importers_ceph import (
    test_a_report_cut_off_anywhere_is_refused_with_its_position,
)
from tests.unit.test_importers_logs import test_a_damaged_darshan_log_is_refused
from tests.unit.test_spec_refused import test_any_value_anywhere_is_taken_or_refused_as_input
