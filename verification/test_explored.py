"""What a page makes of a study is what the study that it exports makes, in 60 scenarios of each.

The tests keep three of each of 5 of the 13 studies that ship, and 6 of 23 systems to the digest
(tests/unit/test_explore_study.py).
"""

from tests.unit.test_explore_study import (
    pytestmark,
    test_every_stop_but_one_changes_something,
    test_the_exported_study_has_the_digest_of_the_page,
    test_the_exported_study_makes_the_input_of_the_page,
)
