"""Messages name the key, the value, the rule and the remedy, one problem a line."""

from resilver.errors import ConfigError, Problem, name_remedy, nearest, show


def test_problems_names_and_values_are_shown_as_far_as_they_help() -> None:
    problem = Problem("it is too big", "use less", key="a.b", value="3", place="f.txt, line 2")
    assert str(problem) == "a.b = 3: f.txt, line 2: it is too big; use less"
    assert str(Problem("it is too big")) == "it is too big"
    assert str(Problem("no", value="3").under("a").under("b")) == "b.a = 3: no"
    error = ConfigError([Problem("one"), Problem("two"), Problem("one")])
    assert str(error) == "one\ntwo"
    many = ConfigError(Problem(f"problem {number}") for number in range(25))
    assert str(many).splitlines()[-1] == "... and 5 more problems"
    assert nearest("Serverz", ["servers", "racks"]) == "servers"
    assert nearest("x", ["servers", "racks"]) is None
    assert name_remedy("x", ["servers"]) == 'valid names: "servers"'
    assert len(show("x" * 10_000)) <= 72 and len(show(list(range(10_000)))) <= 72
    assert show(10**5000) == "an integer of thousands of digits"

    for value, text in (("20", '"20"'), (True, "true"), ({"servers": 1}, "{ servers = 1 }")):
        assert show(value) == text
    assert show([1, "a"]) == '[1, "a"]'
