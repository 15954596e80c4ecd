"""`resilver crush` prints what `crushtool --test` prints, byte for byte, on both streams."""

import functools
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.oracle.crush_maps import questions
from tests.oracle.osdmap_file import NEEDS_TOOLS
from tests.scale import times
from tests.terminal import Ended, command, refusal

pytestmark = NEEDS_TOOLS

ours = functools.partial(command, "crush")


def theirs(*words: object) -> Ended:
    done = subprocess.run(
        ["crushtool", *map(str, words)], capture_output=True, text=True, check=False, timeout=60
    )
    return Ended(done.returncode, done.stdout, done.stderr)


HEAD = re.compile(r"\tid (\d)\n\ttype (\w+)\n\tmin_size 1\n\tmax_size 10\n")

WITHOUT_DEVICES = """
type 0 osd
type 1 host
type 2 root
host bare { id -2 alg straw2 hash 0 }
root default { id -1 alg straw2 hash 0 item bare weight 0.000 }
rule r0 {
    id 0
    type replicated
    min_size 1
    max_size 3
    step take default
    step chooseleaf firstn 0 type host
    step emit
}
"""


@st.composite
def maps(draw: st.DrawFn) -> str:
    """A map with rules of all kinds, some of their numbers left out, for some numbers of copies."""
    if draw(st.integers(0, 9)) == 0:
        return WITHOUT_DEVICES
    numbers = iter(sorted(draw(st.sets(st.integers(0, 4), min_size=3, max_size=3))))

    def head(match: re.Match[str]) -> str:
        low = draw(st.integers(1, 3))
        sizes = f"\tmin_size {low}\n\tmax_size {draw(st.integers(low, 5))}\n"
        return f"\tid {next(numbers)}\n\ttype {match[2]}\n{sizes}"

    return HEAD.sub(head, draw(questions()).text)


@st.composite
def option_lists(draw: st.DrawFn) -> list[str]:
    """Options that both commands take; inputs are few, to compare many."""
    shows = ["mappings", "statistics", "utilization", "utilization-all", "bad-mappings"]
    chosen = draw(st.lists(st.sampled_from(shows), min_size=1, max_size=3, unique=True))
    words = [f"--show-{show}" for show in chosen]
    first = draw(st.integers(0, 2**31 - 200))
    words += draw(
        st.sampled_from(
            [
                ["--min-x", "0", "--max-x", "99"],
                ["--min-x", str(first), "--max-x", str(first + 50)],
                ["--x", str(first)],
                ["--max-x", "9"],
                ["--min_x", "5", "--max_x", "25"],
            ]
        )
    )
    words += draw(st.sampled_from([[], ["--num-rep", "3"], ["--num-rep", "6"], ["--num-rep", "1"]]))
    rules = [[], ["--rule", "0"], ["--rule", "1"], ["--rule", "-1"]]
    rules += [["--min-rule", "0", "--max-rule", "1"]]
    words += draw(st.sampled_from(rules))
    words += draw(st.sampled_from([[], ["--pool-id", "3"], ["--pool-id", "0"]]))
    for _ in range(draw(st.integers(0, 3))):
        weight = draw(st.sampled_from(["0", "0.5", "1", "0.33333", "2.0", "-1"]))
        words += ["--weight", str(draw(st.integers(0, 12))), weight]
    return words


@settings(max_examples=times(20), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=maps(), options=option_lists())
def test_every_show_option_prints_crushtools_bytes(
    tmp_path: Path, text: str, options: list[str]
) -> None:
    source, compiled = tmp_path / "map.txt", tmp_path / "map"
    source.write_text(text)
    made = theirs("-c", source, "-o", compiled)
    assert made.returncode == 0, made.stderr
    expected = theirs("-i", compiled, "--test", *options)
    found = ours(source, "--test", *options)
    assert found.stdout == expected.stdout
    assert found.returncode == expected.returncode == 0
    # The note about a range that counts for nothing is ours alone.
    lines = found.stderr.splitlines(True)
    assert "".join(line for line in lines if not line.startswith("note: ")) == expected.stderr


@settings(max_examples=times(10), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(before=maps(), after=maps(), same=st.booleans(), copies=st.sampled_from([[], [3]]))
def test_compare_prints_crushtools_bytes(
    tmp_path: Path, before: str, after: str, same: bool, copies: list[int]
) -> None:
    paths = []
    for name, text in (("a", before), ("b", before if same else after)):
        (tmp_path / f"{name}.txt").write_text(text)
        assert theirs("-c", tmp_path / f"{name}.txt", "-o", tmp_path / name).returncode == 0
        paths.append(tmp_path / name)
    options: list[object] = ["--min-x", 0, "--max-x", 49]
    options += [word for number in copies for word in ("--num-rep", number)]
    expected = theirs("-i", paths[0], "--compare", paths[1], *options)
    # crushtool crashes where the second map has fewer slots for rules than the first.
    assume(expected.returncode >= 0)
    found = ours(tmp_path / "a.txt", "--test", "--compare", tmp_path / "b.txt", *options)
    assert found == expected


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixteen devices in four hosts, made by crushtool; its text beside it."""
    path = tmp_path_factory.mktemp("built") / "map"
    layers = ["host", "straw2", 4, "root", "straw2", 0]
    assert theirs("-o", path, "--build", "--num_osds", 16, *layers).returncode == 0
    assert theirs("-d", path, "-o", path.with_suffix(".txt")).returncode == 0
    return path


@pytest.mark.parametrize(
    "options",
    [
        ["--show-statistics"],
        ["--show-statistics", "--show-mappings", "--show-bad-mappings", "--num-rep", "6"],
        ["--show-utilization", "--num-rep", "20"],
        ["--rule", "7", "--show-statistics"],
        ["--rule", "7", "--show-mappings"],
        ["--min-rule", "1", "--max-rule", "5", "--show-mappings"],
        ["--num-rep", "2", "--show-statistics", "--min-x", "3", "--max-x", "1"],
        ["--show-mappings", "--weight", "99", "0.5", "--x", "1"],
        # Without any weight nothing is mapped, and only the header is printed.
        ["--show-utilization", *(w for osd in range(16) for w in ("--weight", str(osd), "0"))],
        [],
    ],
)
def test_defaults_and_corners_are_crushtools(built: Path, options: list[str]) -> None:
    expected = theirs("-i", built, "--test", *options)
    assert ours(built.with_suffix(".txt"), "--test", *options) == expected


def test_what_is_no_number_and_no_map_ends_as_crushtool_ends(built: Path, tmp_path: Path) -> None:
    options = ["--rule", "abc", "--show-mappings"]
    assert theirs("-i", built, "--test", *options).returncode == 1
    refusal("crush", built.with_suffix(".txt"), "--test", *options, code=1)
    (tmp_path / "bad").write_text("begin")
    for path in (tmp_path / "bad", tmp_path / "missing"):
        assert theirs("-i", path, "--test", "--show-statistics").returncode == 1
        assert ours(path, "--test", "--show-statistics").returncode == 1
        # Without --test it is bad input, which this command ends with 2.
        assert ours(path, "--show-statistics").returncode == 2
