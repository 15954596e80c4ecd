"""Plain files: histograms of sizes, traces of requests, and what no reader can decode."""

from pathlib import Path

import pytest

from resilver.errors import ConfigError
from resilver.importers.sizes import Bin, read_sizes
from resilver.importers.trace import read_trace
from resilver.text import parse_json, parse_toml, read_text, read_toml
from tests.build import refused


@pytest.mark.parametrize(
    "text",
    [
        "# total_count: 5\n# sizes in bytes\n0 4096 2\n\n4096 8192 3\n",
        "0 4096 2\n4096 8192 3",
        "min,max,count\n0,4096,2\n4096,8192,3\n",
        "0, 4096, 2\r\n4096, 8192, 3\r\n",
        '"count","min","max"\n2,0,4096\n3,4096,8192\n',
        "Min Max Count\n0 4096 2\n4096 8192 3\n",
        "0 4096.0 2\n4096 8192 3e0\n",
    ],
)
def test_plain_text_and_csv_say_the_same(text: str, tmp_path: Path) -> None:
    (tmp_path / "sizes").write_bytes(text.encode())
    assert read_sizes(tmp_path / "sizes") == (Bin(0, 4096, 2), Bin(4096, 8192, 3))


def test_times_sizes_kinds_and_targets_are_read_with_their_lines(tmp_path: Path) -> None:
    file = tmp_path / "requests.csv"
    file.write_text(
        "# made by hand\n\nTime, Kind, Size, Target\n"
        "0 s, read, 512 KiB, server.3\n22 ms, WRITE, 4096,\n22 ms,read,1 MB,server.0\n"
    )
    trace = read_trace(file)
    assert trace.seconds == (0, 0.022, 0.022)
    assert trace.is_read == (True, False, True)
    assert trace.bytes == (512 * 1024, 4096, 10**6)
    assert trace.targets == ("server.3", "", "server.0")
    assert trace.lines == (4, 5, 6)
    assert (trace.label, len(trace.sha256)) == ("requests.csv", 64)


def test_a_file_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    assert "no such file" in refused(read_text, tmp_path / "absent.toml")
    assert "this is a folder" in refused(read_text, tmp_path)
    assert "cannot be read" in refused(read_text, Path("a" * 300))
    latin = tmp_path / "latin.toml"
    latin.write_bytes(b'title = "caf\xe9"\n')
    assert "not UTF-8 text: byte 12 is 0xe9" in refused(read_toml, latin)
    latin.write_bytes(b"\xef\xbb\xbfa = 1\n")
    assert read_toml(latin) == {"a": 1}, "a byte order mark is no part of the text"


def test_what_is_deeper_or_longer_than_any_file_is_refused() -> None:
    assert "nested too deeply" in refused(parse_json, "[" * 100_000, Path("x"))
    assert "not usable JSON" in refused(parse_json, "9" * 5000, Path("x"))
    with pytest.raises(ConfigError, match=r"not usable TOML|not valid TOML"):
        parse_toml("a = " + "[" * 100_000, Path("x"))
