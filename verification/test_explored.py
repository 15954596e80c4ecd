"""What a page makes of a study is what the study that it exports makes, in 60 scenarios of each.

The tests keep three of each of 7 of the 13 studies that ship (tests/unit/test_explore_study.py).
"""

from tests.unit.test_explore_study import (
    pytestmark,
    test_the_exported_study_makes_the_input_of_the_page,
)
