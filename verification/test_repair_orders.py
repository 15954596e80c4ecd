"""Two commands and plain Python, twenty times as many missions of three systems by both orders."""

from tests.integration.test_repair_orders import (
    test_two_commands_and_plain_python_say_the_same_of_an_order,
)
