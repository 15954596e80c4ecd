"""Reading files fails with the file, the position and the remedy, and never otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

from resilver.errors import ConfigError
from resilver.text import parse_json, parse_toml, read_text, read_toml

PLACE = Path("x.json")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "line 1, column 1: not valid JSON: expected value; the file seems to be cut off"),
        ('{"a": [1,\n 2', "line 2, column 3: not valid JSON: .*cut off"),
        ('{"a": "b', "line 1, column 7: .*no closing quote; the file seems to be cut off"),
        ("{'a': 1}", "line 1, column 2: .*property name enclosed in double quotes"),
        ('{"a": 1} x', "line 1, column 10: not valid JSON: extra data"),
        ('{"a":\n  NaN}', "line 2, column 3: NaN is not a JSON number"),
        ('{"a": -Infinity}', "line 1, column 7: -Infinity is not a JSON number"),
        ('{"a": 1e999}', "line 1, column 7: 1e999 is not a JSON number"),
        ("[" * 100_000, "nested too deeply"),
        ("9" * 5000, "not usable JSON"),
    ],
)
def test_bad_json_names_line_column_and_what_was_expected(text: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        parse_json(text, PLACE)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[cluster\n", "line 1, column 9: not valid TOML: expected ']'"),
        ("a = \n", "line 1, column 5: not valid TOML: invalid value"),
        ("a = 1\na = 2\n", "line 2, column 6: .*overwrite"),
        ("a = [1", "at its end: not valid TOML"),
        ("a = " + "[" * 100_000, "not usable TOML|not valid TOML"),
    ],
)
def test_bad_toml_names_line_and_column(text: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        parse_toml(text, PLACE)


def test_a_file_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such file"):
        read_text(tmp_path / "absent.toml")
    with pytest.raises(ConfigError, match="this is a folder"):
        read_text(tmp_path)
    with pytest.raises(ConfigError, match="cannot be read"):
        read_text(Path("a" * 300))
    latin = tmp_path / "latin.toml"
    latin.write_bytes(b'title = "caf\xe9"\n')
    with pytest.raises(ConfigError, match="not UTF-8 text: byte 12 is 0xe9"):
        read_toml(latin)


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    file = tmp_path / "bom.toml"
    file.write_bytes(b"\xef\xbb\xbfa = 1\n")
    assert read_toml(file) == {"a": 1}
