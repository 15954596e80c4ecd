"""File-size histograms are read from plain text and CSV, or refused with the wrong line."""

from pathlib import Path

import pytest

from resilver.errors import ConfigError
from resilver.importers.sizes import Bin, parse_sizes, read_sizes

PLAIN = "# total_count: 5\n# sizes in bytes\n0 4096 2\n\n4096 8192 3\n"
BINS = (Bin(0, 4096, 2), Bin(4096, 8192, 3))


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        "0 4096 2\n4096 8192 3",
        "min,max,count\n0,4096,2\n4096,8192,3\n",
        "0, 4096, 2\r\n4096, 8192, 3\r\n",
        '"count","min","max"\n2,0,4096\n3,4096,8192\n',
        "Min Max Count\n0 4096 2\n4096 8192 3\n",
        "0 4096.0 2\n4096 8192 3e0\n",
    ],
)
def test_plain_text_and_csv_say_the_same(text: str) -> None:
    assert parse_sizes(text, "s.txt") == BINS


def test_a_file_is_read_as_its_text(tmp_path: Path) -> None:
    file = tmp_path / "sizes.txt"
    file.write_text(PLAIN)
    assert read_sizes(file) == BINS


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "s.txt: the histogram is empty"),
        ("# total_count: 0\n", "the histogram is empty"),
        ("min,max,count\n", "the histogram is empty"),
        ("# total_count: 4\n0 1 5\n", "total_count is 4, but the bins' counts add up to 5"),
        ("# total_count: many\n0 1 5\n", 'line 1: total_count "many" is not a whole number'),
        ("0 1 5\n5 -3 1\n", 'line 2: max "-3" is not a whole number of bytes'),
        ("-1 1 5\n", 'line 1: min "-1" is not a whole number of bytes'),
        ("nan 1 5\n", 'min "nan" is not'),
        ("0 inf 5\n", 'max "inf" is not'),
        ("0 1 NaN\n", 'count "NaN" is not'),
        ("0 1.5 5\n", 'max "1.5" is not'),
        ("0 1 0\n", "line 1: a bin's count must be at least 1; leave empty bins out"),
        ("4 4 1\n", "line 1: a bin's min is below its max, and 4 is not below 4"),
        ("0 9 1\n5 20 1\n", "line 2: the bin from 5 overlaps the one before, up to 9"),
        ("8 9 1\n1 2 1\n", "line 2: the bin from 1 overlaps"),
        ("0 1\n", "line 1: 2 values where a bin has three"),
        ("0,1,2,3\n", "line 1: 4 values"),
        ("0 9999999999999999999999 1\n", "max .* is not a whole number"),
        ("0 1e999999999 1\n", "max .* is not a whole number"),
    ],
)
def test_a_bad_histogram_is_refused_with_its_line(text: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        parse_sizes(text, "s.txt")
