"""Systems, codes and parts drawn anew run as their plain-Python twins do, to the picosecond.

The tests keep 15 systems, each with a sequence of faults, and 2 loops of requests
(tests/unit/test_reference_*.py), 4 sets of failed devices a layout (tests/unit/test_affected.py), 3
partitions of a scan (tests/unit/test_parts.py), and 20 trees of sets (tests/oracle/test_sets.py).
"""

from tests.oracle.test_sets import test_the_study_file_s_parts_are_those_of_the_core
from tests.unit.test_affected import test_rows_equal_the_forward_answer
from tests.unit.test_parts import test_a_run_of_parts_equals_a_run
from tests.unit.test_reference_rebuild import test_any_sequence_of_faults_equals_the_twin
from tests.unit.test_reference_requests import test_drawn_loops_equal_those_of_the_twin
