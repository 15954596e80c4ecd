"""House style as tests: sizes, arrows between rooms, words that must not appear.

A limit may be exceeded only by what `TOLERATED` lists, at the size given there: that size may
fall and never rise.
"""

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tools.graph import without_text

ROOT = Path(__file__).resolve().parents[2]
# Each file is read once for all of them.
pytestmark = pytest.mark.xdist_group("style")

FILE_LINES, FUNCTION_LINES = 400, 70

# "path" or "path::function" -> its present number of lines. Lower a number when it falls, remove it
# at the limit.
TOLERATED = {
    # All that a recovery does stands in two files.
    "crates/system/src/recovery/protocol.rs": 567,
    "crates/system/src/recovery/failure.rs": 742,
}

# Each crate may depend on these and on no other of ours (CONTRIBUTING.md, "The map").
PARTS = {"crush", "device", "fabric", "flow", "parts", "placement", "population", "redundancy"}
ARROWS: dict[str, set[str]] = {
    "units": set(),
    "crush": {"units"},
    "flow": set(),
    "kernel": {"units"},
    "parts": {"units"},
    "placement": {"units", "crush"},
    "population": {"units"},
    "redundancy": {"units"},
    "device": {"units", "kernel"},
    "fabric": {"units", "kernel"},
    "detection": {"units", "kernel", "fabric"},
    "system": {"units", "kernel", "detection", *PARTS},
    "walk": set(),
    "ceph": {"units", "kernel", "crush", "redundancy"},
    "durability": {"units", "kernel", "flow", "redundancy"},
    "python": {"units", "kernel", "detection", "system", "walk", "ceph", "durability", *PARTS},
    "web": {"units", "crush", "system", "ceph"},
}


@cache
def files() -> tuple[Path, ...]:
    """All files of the project: tracked, or new and not ignored."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if listed.returncode != 0:
        pytest.skip("not a git checkout, so the project's files cannot be told from others")
    paths = (ROOT / name for name in sorted(set(listed.stdout.split("\0"))) if name)
    return tuple(path for path in paths if path.is_file())


def of_kind(*suffixes: str) -> list[Path]:
    return [path for path in files() if path.suffix in suffixes]


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def rust_functions(source: str) -> Iterator[tuple[str, int]]:
    """Each function of Rust source with its number of lines, from `fn` to its closing brace."""
    code = without_text(source)
    for found in re.finditer(r"\bfn\s+(\w+)", code):
        depth, position = 0, found.end()
        while position < len(code):
            sign = code[position]
            # A `;` outside of all brackets ends a declaration without a body; inside, it is an
            # array's length.
            if sign == ";" and depth == 0:
                break
            if sign in "([":
                depth += 1
            elif sign in ")]":
                depth -= 1
            elif sign == "{":
                break
            position += 1
        if position == len(code) or code[position] == ";":
            continue
        depth, end = 0, position
        for end in range(position, len(code)):
            depth += {"{": 1, "}": -1}.get(code[end], 0)
            if depth == 0:
                break
        yield found.group(1), code.count("\n", found.start(), end) + 1


def statements(tree: ast.Module) -> Iterator[ast.AST]:
    """Every statement, however deep it stands."""
    left: list[ast.AST] = [*tree.body]
    while left:
        yield (node := left.pop())
        for block in ("body", "orelse", "finalbody", "handlers", "cases"):
            left += getattr(node, block, ())


def python_functions(source: str) -> Iterator[tuple[str, int]]:
    for node in statements(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node.end_lineno - node.lineno + 1


@cache
def sizes() -> tuple[tuple[str, int, int], ...]:
    """Everything with a limit, as (name, lines, limit)."""
    found = []
    for path in of_kind(".py", ".rs"):
        text = path.read_text(encoding="utf-8")
        found.append((name_of(path), text.count("\n"), FILE_LINES))
        functions = python_functions if path.suffix == ".py" else rust_functions
        for function, lines in functions(text):
            found.append((f"{name_of(path)}::{function}", lines, FUNCTION_LINES))
    return tuple(found)


def test_files_and_functions_stay_small_and_exceptions_shrink() -> None:
    over = {
        name: f"{lines} lines, the limit is {TOLERATED.get(name, limit)}"
        for name, lines, limit in sizes()
        if lines > TOLERATED.get(name, limit)
    }
    assert not over, f"split what has two subjects: {over}"
    largest: dict[str, int] = {}
    for name, lines, _ in sizes():
        largest[name] = max(lines, largest.get(name, 0))
    stale = {name for name, lines in TOLERATED.items() if largest.get(name) != lines}
    assert not stale, f"TOLERATED must say the present sizes: {stale}"


def test_the_measure_counts_lines_of_rust_functions() -> None:
    # By hand: `long` spans its lines 1 to 4, `short` one; the trait's declaration has no body;
    # braces in text do not count.
    source = (
        'fn long(a: [u8; 2]) {\n    let s = "}{{";\n    // }\n}\n'
        "trait T { fn none(&self) -> [u8; 4]; }\nfn short() { '{'; }\n"
    )
    assert list(rust_functions(source)) == [("long", 4), ("short", 1)]


def crates() -> list[Path]:
    return [path for path in files() if re.fullmatch(r"crates/\w+/Cargo\.toml", name_of(path))]


@pytest.mark.parametrize("manifest", crates(), ids=lambda path: path.parent.name)
def test_arrows_between_crates(manifest: Path) -> None:
    """A crate depends only on crates below it; what only its tests use is free."""
    crate = manifest.parent.name
    table = tomllib.loads(manifest.read_text(encoding="utf-8"))
    dependencies = {*table.get("dependencies", {}), *table.get("build-dependencies", {})}
    ours = {name.removeprefix("resilver-") for name in dependencies if name.startswith("resilver-")}
    assert crate in ARROWS, f"say in ARROWS what the crate {crate} may depend on"
    assert ours <= ARROWS[crate], f"{crate} may not depend on {sorted(ours - ARROWS[crate])}"
    assert crate == "python" or not {"pyo3", "numpy"} & dependencies, (
        "only crates/python knows Python"
    )


@pytest.mark.parametrize("manifest", crates(), ids=lambda path: path.parent.name)
def test_examples_are_run_where_there_are_any(manifest: Path) -> None:
    """To look for examples where there are none takes a compilation of the crate."""
    library = tomllib.loads(manifest.read_text(encoding="utf-8")).get("lib", {})
    sources = (path.read_text(encoding="utf-8") for path in manifest.parent.glob("src/**/*.rs"))
    # The module that Python imports cannot be linked into a test.
    has_any = "cdylib" not in library.get("crate-type", ()) and any(
        re.search(r"^\s*//[/!] ```", text, re.MULTILINE) for text in sources
    )
    assert library.get("doctest", True) == has_any


def test_rust_core_has_no_outside() -> None:
    """No file, network, clock or thread-local generator in the crates that hold the models."""
    outside = re.compile(
        r"\bstd::(fs|net|process|env)\b|\b(Instant|SystemTime)::now\b|\bthread_rng\b|\bpyo3\b"
    )
    for path in of_kind(".rs"):
        crate, inner = re.match(r"crates/(\w+)/(\w+)|.*", name_of(path)).groups()  # type: ignore[union-attr]
        if crate in (None, "python", "walk") or inner != "src":
            continue
        shipped = without_text(path.read_text(encoding="utf-8")).split("#[cfg(test)]")[0]
        found = outside.search(shipped)
        assert found is None, f"{name_of(path)} uses {found.group()}"  # type: ignore[union-attr]


def imports(tree: ast.Module) -> Iterator[str]:
    """The modules that a piece of Python imports, relative ones with their dots."""
    for node in statements(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


@cache
def imports_of(path: Path) -> frozenset[str]:
    """The modules that a file imports anywhere."""
    return frozenset(imports(ast.parse(path.read_text(encoding="utf-8"))))


def package() -> list[Path]:
    return [path for path in of_kind(".py") if name_of(path).startswith("python/resilver/")]


def test_the_core_and_reproductions_are_named_by_their_own_rooms() -> None:
    """Maps know no run, and the walk of a tree is no model: importers call both."""
    others = {f"python/resilver/{one}.py" for one in ("core_errors", "importers/walk")}
    for path in package():
        found, room = imports_of(path), path.parent.name
        core = sorted(name for name in found if "_core" in name.split("."))
        may = room in ("simulate", "crush") or name_of(path) in others
        assert not core or may, f"{name_of(path)} imports {core}"
        made = sorted(name for name in found if name.startswith("resilver.reproduce"))
        assert not made or room in ("reproduce", "cli"), f"{name_of(path)} imports {made}"


BASE = {"catalog", "checked", "errors", "importers", "quantities", "record", "units"}
ASKS = BASE | {"analytic", "core_input", "crush", "failure_rates", "request", "simulate", "spec"}
# What each room of Python may name: a script takes maps without the rest; fits know no run, no
# result and no core; a center is sized without a run or a page; questions know no page.
ROOMS = {
    "calibration": {"errors", "importers", "failure_rates", "record", "spec", "text", "units"},
    "center": BASE | {"simulate", "spec", "text"},
    "crush": {"_core", "core_errors", "errors", "text"},
    "data_loss": ASKS | {"figure", "placement_quality", "study", "whatif"},
    "whatif": ASKS | {"columns", "counterfactuals", "text"},
}
# What pages read of the answers of others.
ANSWERS = {
    "data_loss": ("answer",),
    "whatif": ("answer", "columns", "figures", "held", "several", "watched"),
}


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_names_no_others(room: str) -> None:
    for path in package():
        if name_of(path).startswith(f"python/resilver/{room}/"):
            found = {name for name in imports_of(path) if name.startswith("resilver.")}
            more = {name.split(".")[1] for name in found} - ROOMS[room] - {room}
            assert not more, f"{name_of(path)} imports {sorted(more)}"
            # Of the core a center asks for the rates of flows alone, which know no time.
            cores = {name for name in found if name.startswith("resilver.simulate")}
            assert room != "center" or all("simulate.flows" in name for name in cores), cores


def test_pages_read_answers_and_results_and_ask_nothing_of_the_core() -> None:
    """A code and a network are values that a command has made, and no runs."""
    values = {"resilver.simulate", "resilver.simulate.CodeTree", "resilver.simulate.Topology"}
    for path in package():
        found = imports_of(path)
        ours = {name.split(".")[1] for name in found if name.startswith("resilver.")}
        if name_of(path).startswith("python/resilver/report/"):
            for room, known in ANSWERS.items():
                read = {name for name in found if name.startswith(f"resilver.{room}.")}
                answers = tuple(f"resilver.{room}.{one}" for one in known)
                assert all(name.startswith(answers) for name in read), f"{name_of(path)}: {read}"
            runs = {name for name in found - values if {"simulate", "execute"} & {*name.split(".")}}
            assert not runs, f"{name_of(path)} imports {runs}"
        if path.parent.name == "whatif" and path.stem in ("answer", "columns", "several"):
            assert ours <= {"counterfactuals", "errors", "quantities", "record", "whatif"}


def test_dependencies_are_pinned_exactly_and_alike_and_no_lock_is_committed() -> None:
    locks = {f"{name}.lock" for name in ("Cargo", "uv", "poetry", "Pipfile", "pdm")}
    locks.add("package-lock.json")
    assert not [name_of(path) for path in files() if path.name in locks]
    # pyproject.toml pins with ==, constraints.txt says the same, and Cargo.toml pins with =.
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = settings["project"]["optional-dependencies"].values()
    direct = [
        *settings["project"]["dependencies"],
        *settings["build-system"]["requires"],
        *(pin for extra in extras for pin in extra),
    ]
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    tested = {line for line in lines if line and not line.startswith("#")}
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in tested)
    assert set(direct) <= tested, f"not in constraints.txt: {sorted(set(direct) - tested)}"

    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    for name, wanted in cargo["workspace"]["dependencies"].items():
        version = wanted if isinstance(wanted, str) else wanted.get("version", "=")
        assert version.startswith("="), f"{name} = {version!r} is not pinned exactly"
