"""Files that nobody means to give: each is refused in words, soon and in little memory."""

import csv
import gzip
import io
import json
import tomllib
import tracemalloc
from pathlib import Path

import pytest

from resilver import ConfigError, catalog
from resilver.importers.packed import packed_files
from tests import front_door
from tests.integration.test_import_ceph import SHAPE
from tests.reference.ceph_cluster import write_cluster
from tests.terminal import command, output, refusal
from tests.unit.benchmark_texts import IOR_JSON
from tests.unit.small_reports import put


@pytest.mark.parametrize(
    "words",
    [
        ("check", "k.toml"),
        ("size", "k.toml"),
        ("route", "k.toml"),
        ("profile", "k.toml"),
        ("signature", "compare", "k.toml", "k.toml"),
        ("what-if", "dumps", "--plan", "k.toml"),
    ],
)
@pytest.mark.parametrize("key", ["a", '"a" ', " a"])
def test_a_key_of_100_000_dots_is_refused_at_once(
    words: tuple[str, ...], key: str, tmp_path: Path
) -> None:
    # Python's own reader takes time by the square of the dots: two minutes and more.
    (tmp_path / "k.toml").write_text(".".join([key] * 100_001) + " = 1\n")
    if "dumps" in words:
        write_cluster(tmp_path / "dumps", SHAPE)
    done = front_door.command(*words, cwd=tmp_path, timeout=60)
    assert done.returncode == 2, done.stderr
    assert "k.toml: not usable TOML: a key has more than 64 dots" in done.stderr


def test_dots_in_texts_and_numbers_are_no_keys(tmp_path: Path) -> None:
    text = "[demo]\n" + "# " + "." * 200 + "\n" + 'a = "' + "." * 200 + '"\n'
    text += "b = [" + "1.5, " * 200 + "]\nc = '''\n" + "x." * 100 + "\n'''\n"
    (tmp_path / "study.toml").write_text(text)
    assert tomllib.loads(text)
    done = refusal("check", "study.toml", cwd=tmp_path)
    assert "dots" not in done and "demo" in done


@pytest.mark.parametrize("value", ["inf", "nan", "-inf", "1e999", "1e308", "-1.0"])
@pytest.mark.parametrize(
    ("kind", "command_of", "key"),
    [
        ("sizings", "size", "capacity.memory_multiple"),
        ("sizings", "size", "capacity.head_room"),
        ("lots", "profile", "lot.spread"),
        ("machines", "route", "weights"),
    ],
)
def test_no_figure_is_infinite(
    kind: str, command_of: str, key: str, value: str, tmp_path: Path
) -> None:
    (name,) = catalog.list(kind)
    given = f"[1, {value}, 1]" if key == "weights" else value
    words = [command_of, name, "--set", f"{key}={given}"]
    assert key.split(".")[-1] in refusal(*words, cwd=tmp_path)


def test_names_in_hdf5_that_are_no_utf_8_are_shown_as_far_as_they_are(
    shared_data: Path, tmp_path: Path
) -> None:
    data = bytearray((shared_data / "lustre" / "tokio-sample_tokiots.hdf5").read_bytes())
    data[80_000:80_008] = bytes(8)
    (tmp_path / "l.h5").write_bytes(data)
    done = command("import", "logs", "l.h5", "--json", cwd=tmp_path)
    assert "defect" not in done.stderr and done.returncode in (0, 2), done.stderr


@pytest.mark.parametrize("kind", ["plain", "packed"])
def test_a_file_without_an_end_takes_no_more_than_its_limit(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where 64 MiB are the limit, what is asked of the operating system stays below twice that."""
    limit = 64 * 2**20
    monkeypatch.setattr("resilver.importers.packed.INPUT_MAX", limit)
    path = tmp_path / "big.json"
    if kind == "plain":
        path = Path("/dev/zero")
    else:
        path = tmp_path / "big.json.gz"
        with gzip.open(path, "wb", compresslevel=1) as file:
            for _ in range(80):
                file.write(bytes(2**20))
    tracemalloc.start()
    with pytest.raises(ConfigError, match="holds more than 1 GiB, or never ends"):
        list(packed_files(path, lambda head: True))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # The buffer grows by an eighth at a time, and for a moment both are there.
    assert limit < peak < 1.3 * limit


def test_a_signature_of_a_file_without_an_end_is_refused() -> None:
    done = front_door.command("signature", "/dev/zero", timeout=100)
    assert done.returncode == 2, done.stderr
    assert "it holds more than 1 GiB, or never ends" in done.stderr


def test_links_to_themselves_and_to_nowhere_are_passed_over(tmp_path: Path) -> None:
    folder = write_cluster(tmp_path / "dumps", SHAPE)
    before = command("import", "ceph", folder, "-o", tmp_path / "a.tar.gz")
    (folder / "self").symlink_to("self")
    (folder / "nowhere").symlink_to(tmp_path / "none")
    after = command("import", "ceph", folder, "-o", tmp_path / "b.tar.gz")
    assert (before.returncode, after.returncode) == (0, 0), after.stderr
    assert (tmp_path / "a.tar.gz").read_bytes() == (tmp_path / "b.tar.gz").read_bytes()


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\t"])
def test_no_cell_of_csv_is_a_formula(sign: str, tmp_path: Path) -> None:
    """A spreadsheet computes a cell that begins so; a quote before it makes it text."""
    name = f"{sign}HYPERLINK(1)"
    (tmp_path / f"{name}.json").write_text(IOR_JSON)
    words = ("import", "benchmark", f"./{name}.json", "-o", "table.csv")
    output(*words, cwd=tmp_path)
    rows = list(csv.reader(io.StringIO((tmp_path / "table.csv").read_text())))
    cells = [cell for row in rows for cell in row if "HYPERLINK" in cell]
    assert cells and all(cell.startswith(("'", "./", "IOR")) for cell in cells), cells
    # Numbers below zero are numbers still, and the table is read as it was written.
    again = command("import", "benchmark", "table.csv", "--json", cwd=tmp_path)
    assert again.returncode == 0 and f"'{sign}" not in again.stdout, again.stdout


def test_a_quiet_what_if_that_fails_says_why_in_one_line(tmp_path: Path) -> None:
    """What is named is what --json counts."""
    folder = write_cluster(tmp_path / "dumps", SHAPE)
    words = ("what-if", folder, "--stop", "rack=rack-00", "--flag", "noout", "--horizon", "1 h")
    found = json.loads(command(*words, "--json").stdout)
    done = command(*words, "-q")
    assert (done.returncode, done.stdout) == (1, "")
    stuck, lost = found["answer"]["stuck_groups"], found["answer"]["lost_groups"]
    assert lost == 0 and f": {stuck:,} of 400 PGs are not clean" in done.stderr
    assert done.stderr.count("\n") == 1 and stuck + lost > 0


@pytest.fixture
def dumps(tmp_path: Path) -> Path:
    folder = write_cluster(tmp_path / "dumps", SHAPE)
    # It has the map once more.
    (folder / "ceph_report.json").unlink()
    return folder


def test_a_rule_without_a_name_has_that_of_its_number(dumps: Path) -> None:
    file = next(dumps.glob("*crush*"))
    document = put(json.loads(file.read_text()), "rules.0.rule_name", None)
    file.write_text(json.dumps(document))
    whole = command("what-if", dumps, "--fail", "osd.3", "--json")
    assert whole.returncode in (0, 1), whole.stderr
    tree = output("crush", dumps, "--rule", "rule0", "--num-rep", 2, "--max-x", 3, "--json")
    named = command("crush", dumps, "--rule", "0", "--num-rep", 2, "--max-x", 3, "--json")
    assert tree == named.stdout


def test_a_binary_map_names_no_rule_and_is_read(shared_data: Path, tmp_path: Path) -> None:
    # In a binary map the names of rules are a table of their own, by number: in this one the entry
    # of rule 0, its number, its length and its letters, is made that of a rule that is not there.
    data = (shared_data / "ceph" / "maps" / "flax.bin").read_bytes()
    entry = b"\0\0\0\0" + len("replicated_ruleset").to_bytes(4, "little") + b"replicated_ruleset"
    assert data.count(entry) == 1
    path = tmp_path / "map.bin"
    path.write_bytes(data.replace(entry, b"\x40" + entry[1:]))
    options = ("--rule", "rule0", "--num-rep", 3, "--min-x", 0, "--max-x", 31, "--show-mappings")
    told = output("crush", path, *options)
    # The steps are the same: so are the mappings.
    same = command(
        "crush", shared_data / "ceph" / "maps" / "flax.bin", *options[:1], "0", *options[2:]
    )
    assert told == same.stdout and told.count("CRUSH rule 0 x ") == 32
