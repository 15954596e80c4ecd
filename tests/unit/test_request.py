"""Requests: quantities of options are read in one way and refused in one form."""

from dataclasses import dataclass
from typing import Any

import pytest

from resilver.cli.replying import command_line
from resilver.errors import ConfigError
from resilver.request import (
    SEPARATOR,
    argument,
    name_of,
    option,
    rate,
    request_of,
    seconds,
    share,
    size,
    unused_options,
    value_of,
)
from tests.build import refused


@dataclass(frozen=True)
class Asked:
    """A request of every kind of field."""

    files: tuple[str, ...] = argument("FILE", text="What is read.")
    within: str | None = option("--within", text="A share.", quantity=share("7.5%", most=0.5))
    wait: str = option("--wait", text="A time.", quantity=seconds(), default="")
    room: str | None = option("--room", text="A size.", quantity=size())
    speed: str | None = option("--speed", "-s", text="A rate.", quantity=rate())
    count: int = option("--count", text="How many.", default=3)
    loud: bool = option("--loud", text="A flag.", default=False)
    sets: tuple[str, ...] = option("--set", text="Keys.", default=())
    order: str = option("--in-order", text="A choice.", choices=("first", "last"), default="")
    back: str = option("--back", text="A flag with a value.", flag="backwards", default="")
    seed: int = option("--seed", text="A number.", min=0, max=9, default=0)
    page: str | None = option("--output", text="Where.", is_output=True)
    most: int = option("--most", text="Of a choice.", default=9, of=("--loud", "--in-order last"))


def test_quantities_are_si_and_the_command_line_has_no_default() -> None:
    asked = Asked((), within="7.5 %", wait="2 min", room="1 KiB", speed="10 Gb/s")
    values = [value_of(asked, name) for name in ("within", "wait", "room", "speed")]
    assert values == [0.075, 120.0, 1024.0, 1.25e9]
    assert value_of(Asked(()), "within") is None and value_of(Asked(()), "wait") is None
    assert value_of(Asked((), within="0.075"), "within") == 0.075
    asked = Asked(("a.csv", "b c.csv"), within="5%", loud=True, sets=("x=1", "y=2"), page="p.html",
                  back="backwards")  # fmt: skip
    assert command_line("some thing", asked) == (
        "resilver some thing a.csv 'b c.csv' --within 5% --loud --set x=1 --set y=2 --back"
    )
    asked = Asked((), sets=(f"osd.1{SEPARATOR}0.5", "x=1"))
    assert command_line("thing", asked) == "resilver thing --set osd.1 0.5 --set x=1"


@pytest.mark.parametrize(
    ("field", "text", "words"),
    [
        ("within", "0%", "above 0 and at most 0.5; such as 7.5%"),
        ("within", "51%", "above 0 and at most 0.5; such as 7.5%"),
        ("within", "some", "a share is a percentage or a number"),
        ("wait", "0 s", "the value must be above 0; such as 10 h"),
        ("wait", "3", "needs a unit"),
        ("room", "3 s", "not a unit of size"),
        ("speed", "nan B/s", "rate"),
    ],
)
def test_what_is_no_such_quantity_is_refused_by_its_option(
    field: str, text: str, words: str
) -> None:
    given: dict[str, Any] = {field: text}
    asked = Asked((), **given)
    said = refused(value_of, asked, field)
    assert said.startswith(f'{name_of(Asked, field)} = "{text}"')
    assert words in said


def test_options_are_refused_with_all_others_and_need_what_they_apply_to() -> None:
    asked = request_of(Asked, {"files": (), "sets": "x=1", "order": "last", "within": 0.05})
    assert asked.sets == ("x=1",) and value_of(asked, "within") == 0.05
    with pytest.raises(ConfigError, match="no option of this name") as caught:
        request_of(Asked, {"files": (), "sed": 3})
    assert "seed" in str(caught.value)
    with pytest.raises(ConfigError) as caught:
        request_of(Asked, {"files": (), "order": "lats", "seed": 10})
    first, second = caught.value.problems
    assert (first.key, first.rule) == ("order", "this is first or last")
    assert (second.key, second.rule) == ("seed", "this is a whole number from 0 to 9")
    assert "from 0 to 9" in refused(request_of, Asked, {"files": (), "seed": True})
    assert unused_options(Asked(())) == unused_options(Asked((), most=5, loud=True)) == []
    assert unused_options(Asked((), most=5, order="last")) == []
    (problem,) = unused_options(Asked((), most=5, order="first"))
    assert str(problem) == (
        "--most: it applies only with --loud or --in-order last; add that, or leave it out"
    )
