"""dev.py test --since runs what a change can reach, and says what that is."""

import subprocess
from pathlib import Path

import pytest

import dev
from tools import checkout, since, steps

ASKING = "from tests.front_door import command\ndef test_it(word): command"
MANIFEST = '[package]\nname = "resilver-{}"\n[{}]\nresilver-low = {{}}\n'
# `place` and `study` are commands; `spec` is used by `study` alone, `units` by both and `core.one`
# of the native core by `native`. `pack` hands on what `pack.inner` defines.
HOUSE = {
    "python/resilver/__init__.py": "",
    "python/resilver/units.py": "def one(): return 1\ndef two(): return 2\n",
    "python/resilver/spec.py": "from resilver.units import two\ndef read(): return two()\n",
    "python/resilver/native.py": "from resilver import _core\ndef run(): _core.one()\n",
    "python/resilver/pack/__init__.py": "from resilver.pack.inner import thing as thing\n",
    "python/resilver/pack/inner.py": "def thing(): return 1\n",
    "python/resilver/pack/rates.toml": "",
    "python/resilver/cli/__init__.py": "def run(): from resilver.cli.app import app\n",
    "python/resilver/cli/app.py": (
        'A = {"x": [Promise("place", "place:place"), Promise("study", "study:study")]}\napp = A\n'
    ),
    "python/resilver/cli/place.py": "from resilver.units import one\ndef place(): return one()\n",
    "python/resilver/cli/study.py": "def study(): from resilver.spec import read; read()\n",
    "tests/front_door.py": (
        "def _door(): ...\ndef serve(): import resilver.spec; _perform()\n"
        "def _perform(): from resilver.cli import run\n"
        "def command(*words): return _door()\n"
    ),
    "tests/unit/test_units.py": "from resilver.units import one\nONE = one()\n",
    "tests/unit/test_place.py": ASKING + '("place", "a")\n',
    "tests/unit/test_study.py": ASKING + '("study", "a")\n',
    "tests/unit/test_any.py": ASKING + "(word)\n",
    "tests/unit/test_native.py": "from resilver.native import run\nRUN = run()\n",
    "tests/unit/test_pack.py": "from resilver.pack import thing\nTHING = thing\n",
    "tests/unit/test_case.py": 'CASE = ROOT / "studies" / "lab" / "study.toml"\n',
    "tests/unit/test_style.py": "",
    "tests/docs/test_how_to.py": "def test_page_does_what_it_says(): ...\n",
    "docs/how-to/put.md": "```console\n$ resilver place here\n```\n",
    "docs/how-to/ask.md": "```console\n$ resilver study here\n```\n",
    "studies/lab/study.toml": "",
    "studies/other/study.toml": "",
    "web/src/page.ts": "",
    "tools/front.py": "BUILT = 1\n",
    "tests/browser/test_page.py": "from tools import front\nBUILT = front.BUILT\n",
    "Cargo.toml": "",
    "crates/low/Cargo.toml": '[package]\nname = "resilver-low"\n',
    "crates/low/src/lib.rs": "",
    "crates/low/tests/all.rs": "",
    "crates/top/Cargo.toml": MANIFEST.format("top", "dev-dependencies"),
    "crates/python/Cargo.toml": MANIFEST.format("python", "dependencies"),
    "crates/python/src/lib.rs": "mod low;\n",
    "crates/python/src/low.rs": "use resilver_low::a;\n#[pyfunction]\npub(crate) fn one() {}\n",
}


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in HOUSE.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    who = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
    for words in (["init", "--quiet"], ["add", "."], [*who, "commit", "--quiet", "-m", "a"]):
        subprocess.run(["git", "-C", str(tmp_path), *words], check=True)
    monkeypatch.setattr(checkout, "ROOT", tmp_path)
    return tmp_path


UNITS = "python/resilver/units.py"
ONE, TWO = (
    HOUSE[UNITS].replace("return 1", "return 0"),
    HOUSE[UNITS].replace("return 2", "return 0"),
)
PLACING, STUDYING = {"any", "place", "[put]"}, {"any", "study", "[ask]"}


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        # Of one definition, who uses that; of a comment, nobody.
        (UNITS, ONE, {"units", *PLACING}),
        (UNITS, TWO, STUDYING),
        (UNITS, "# Nothing.\n" + HOUSE[UNITS], set()),
        # Who names what is gone uses its module.
        (UNITS, "def two(): return 2\n", {"units", *PLACING, *STUDYING}),
        ("python/resilver/cli/study.py", None, STUDYING),
        ("python/resilver/cli/app.py", HOUSE["python/resilver/cli/app.py"] + "B = 1\n", set()),
        ("python/resilver/cli/__init__.py", "def run(): ...\n", PLACING | STUDYING),
        ("python/resilver/pack/inner.py", "def thing(): return 2\n", {"pack"}),
        ("python/resilver/pack/rates.toml", "a = 1\n", {"pack"}),
        # What a package hands on anew counts as changed where it is defined.
        (
            "python/resilver/pack/__init__.py",
            "from resilver.units import one as thing\n",
            {"pack", "units", *PLACING},
        ),
        ("tests/unit/test_units.py", "def test_it(): ...\n", {"units"}),
        ("tests/unit/test_new.py", "", {"new"}),
        ("tests/unit/test_units.py", None, set()),
        # What a test types is no change of the command.
        ("tests/unit/test_study.py", "", {"study"}),
        ("tests/front_door.py", "def command(): ...\n", PLACING | STUDYING),
        ("tests/docs/test_how_to.py", "def new(): ...\n", {"how_to"}),
        ("studies/lab/study.toml", "a = 1\n", {"case"}),
        ("studies/other/study.toml", "a = 1\n", set()),
        ("web/src/page.ts", "// New.\n", {"page"}),
        # The crate that Python has hands on one name, which one module uses.
        ("crates/low/src/lib.rs", "// New.\n", {"native"}),
        ("crates/low/tests/all.rs", "// New.\n", set()),
        ("crates/python/src/lib.rs", "mod low; // New.\n", {"native"}),
        ("docs/how-to/put.md", "```console\n$ resilver place\n```\n", {"[put]"}),
    ],
)
def test_a_change_chooses_what_reaches_it(
    house: Path, name: str, text: str | None, expected: set[str]
) -> None:
    if text is None:
        (house / name).unlink()
    else:
        (house / name).write_text(text, encoding="utf-8")
    found = since.choose("HEAD")
    chosen = {
        f"[{test.partition('[')[2]}" if "::" in test else Path(test).stem.removeprefix("test_")
        for test in found.tests
    }
    assert chosen == expected | {"style"}


def test_crates_are_followed_to_their_users(house: Path) -> None:
    """By dependencies, and to the tests of who needs them for tests; a crate's own tests alone."""
    (house / "crates/low/src/lib.rs").write_text("// New.\n", encoding="utf-8")
    found = since.choose("HEAD")
    assert found and found.packages == ["resilver-low", "resilver-python", "resilver-top"]
    assert found.tested == ["resilver-low", "resilver-top"]
    assert found.left_out == {"mypy", "docs", "web"}
    subprocess.run(["git", "-C", str(house), "checkout", "--quiet", "."], check=True)
    (house / "crates/low/tests/all.rs").write_text("// New.\n", encoding="utf-8")
    found = since.choose("HEAD")
    assert found and found.packages == ["resilver-low"]


def test_a_renamed_module_is_missed_by_who_names_it_and_a_root_by_all(house: Path) -> None:
    (house / UNITS).rename(house / "python/resilver/measures.py")
    found = since.choose("HEAD")
    assert found and "tests/unit/test_units.py" in found.tests
    assert found.sentence == (
        "since HEAD: 2 files changed; 0 of 3 crates, 5 of 10 test files, 2 of 2 how-to pages; "
        "left out: docs, rustfmt, clippy, cargo, web"
    )
    (house / "Cargo.toml").write_text("[workspace]\n", encoding="utf-8")
    found = since.choose("HEAD")
    assert found and "everything" in found.sentence and not found.tests and not found.left_out


def test_nothing_changed_passes_and_an_unknown_commit_is_bad_input(
    house: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert dev.main(["test", "--since", "HEAD"]) == 0
    assert "nothing changed" in capsys.readouterr().out
    assert dev.main(["test", "--since", "nowhere"]) == 2
    assert "this checkout has no commit 'nowhere'" in capsys.readouterr().err


def test_a_step_that_is_left_out_does_not_run() -> None:
    few, ran = steps.Steps(left_out={"one"}), list[str]()
    few.step("one", lambda: ran.append("one"))
    few.step("two", lambda: ran.append("two"))
    assert ran == ["two"]


@pytest.mark.xdist_group("of this test")
def test_what_a_group_makes_once_is_made_by_one_worker(request: pytest.FixtureRequest) -> None:
    """Workers part tests by the ends of their names, which pytest 9.2 hides from pytest-xdist."""
    is_grouped = request.config.getoption("loadgroup", False)
    assert request.node.nodeid.endswith("@of this test") == is_grouped
