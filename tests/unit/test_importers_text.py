"""Reading files fails with the file, the position and the remedy, and never otherwise."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from resilver.errors import ConfigError
from resilver.text import parse_json, parse_toml, read_text, read_toml
from tests.build import refused


@pytest.mark.parametrize(
    ("parse", "text", "says"),
    [
        (
            parse_json,
            "",
            "line 1, column 1: not valid JSON: expected value; .* seems to be cut off",
        ),
        (parse_json, '{"a": [1,\n 2', "line 2, column 3: not valid JSON: .*cut off"),
        (parse_json, '{"a": "b', "line 1, column 7: .*no closing quote; .* seems to be cut off"),
        (parse_json, "{'a': 1}", "line 1, column 2: .*property name enclosed in double quotes"),
        (parse_json, '{"a": 1} x', "line 1, column 10: not valid JSON: extra data"),
        (parse_json, '{"a":\n  NaN}', "line 2, column 3: NaN is not a JSON number"),
        (parse_json, '{"a": -Infinity}', "line 1, column 7: -Infinity is not a JSON number"),
        (parse_json, '{"a": 1e999}', "line 1, column 7: 1e999 is not a JSON number"),
        (parse_json, "[" * 100_000, "nested too deeply"),
        (parse_json, "9" * 5000, "not usable JSON"),
        (parse_toml, "[cluster\n", "line 1, column 9: not valid TOML: expected ']'"),
        (parse_toml, "a = \n", "line 1, column 5: not valid TOML: invalid value"),
        (parse_toml, "a = 1\na = 2\n", "line 2, column 6: .*overwrite"),
        (parse_toml, "a = [1", "at its end: not valid TOML"),
        (parse_toml, "a = " + "[" * 100_000, "not usable TOML|not valid TOML"),
    ],
)
def test_bad_text_names_line_column_and_what_was_expected(
    parse: Callable[[str, Path], Any], text: str, says: str
) -> None:
    with pytest.raises(ConfigError, match=says):
        parse(text, Path("x"))


def test_a_file_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    assert "no such file" in refused(read_text, tmp_path / "absent.toml")
    assert "this is a folder" in refused(read_text, tmp_path)
    assert "cannot be read" in refused(read_text, Path("a" * 300))
    latin = tmp_path / "latin.toml"
    latin.write_bytes(b'title = "caf\xe9"\n')
    assert "not UTF-8 text: byte 12 is 0xe9" in refused(read_toml, latin)


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    file = tmp_path / "bom.toml"
    file.write_bytes(b"\xef\xbb\xbfa = 1\n")
    assert read_toml(file) == {"a": 1}
