"""What a change can reach: the tests, how-to pages and crates that `dev.py test --since` runs.

Python is followed by definitions and the command by its words, as `tools/reach.py` has them, Rust
by the manifests, and from Rust into Python by the names that `crates/python` exports. A file of
data reaches what names it or its folder.

It misses what no text names: a definition, command or file whose name is computed, methods that a
library finds by itself, a word that a helper's function returns. Docstrings reach no documentation.
The whole of `dev.py test` decides. Standard library only, as `tools/checkout.py`.
"""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath as Pure

from tools import budget, checkout, graph
from tools.checkout import DevError
from tools.crates import Crates
from tools.reach import APP, DOOR, Reach, parts_of

ALWAYS = {f"tests/unit/test_{name}.py" for name in ("style", "words", "acyclic")}
EVERYTHING = r"(pyproject|Cargo|rustfmt)\.toml|constraints\.txt|locks/.*|tests/conftest\.py"
"""Files on which all tests rest."""

PYTHON = r"((python/resilver|tests|tools)/.*|dev)\.pyi?"
WEB = "the page that computes"
WEB_BUILDERS = ("tools.front", "tools.web")
PAGES = "tests/docs/test_how_to.py"
PLACE = re.compile(r"/?(\w[\w.+-]*(?:/[\w.+-]+)*)(?=$|/|[\\*?{(\[])")
"""A path at the start of a text or of a pattern."""

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Selection:
    """What a change can reach.

    Attributes:
        sentence: What was chosen, and of how many.
        tests: Test files and node ids for pytest; empty for all.
        packages: Crates to check, for cargo; empty for all.
        tested: Those of them that have Rust tests; empty for all.
        left_out: Steps of `dev.py test` that do not run.
    """

    sentence: str
    tests: list[str] = field(default_factory=list)
    packages: list[str] = field(default_factory=list)
    tested: list[str] = field(default_factory=list)
    left_out: set[str] = field(default_factory=set)


def choose(revision: str) -> Selection | None:
    """What the change since a commit can reach; None if nothing changed.

    Raises:
        DevError: There is no such commit.
    """
    if not (changed := changed_files(revision)):
        return None
    sentence = f"since {revision}: {len(changed)} file{'s'[: len(changed) != 1]} changed; "
    if basic := [name for name in changed if re.fullmatch(EVERYTHING, name)]:
        return Selection(f"{sentence}everything runs, because all tests rest on {basic[0]}")
    files = budget.tracked()
    crates = Crates.of(files)
    try:
        house = House(files, [name for name in changed if name not in files])
        seeds = {seed for name in changed for seed in house.seeds(name, revision)}
    except SyntaxError as problem:
        return Selection(f"{sentence}everything runs, because Python is not understood: {problem}")
    seeds |= set(house.using_core(crates.exports(changed)))
    if "web" in crates.reached(changed) or any(name.startswith("web/") for name in changed):
        seeds.add(WEB)
    reached = graph.reach(graph.users_of(house.graph), sorted(seeds))
    tests = [name for name in files if re.fullmatch(r"tests/(.+/)?test_\w+\.py", name)]
    chosen = [name for name in tests if _is_chosen(name, changed, reached)]
    pages = [page for page in house.pages if page in reached or PAGES in chosen]
    test = f"{PAGES}::test_page_does_what_it_says"
    ids = [f"{test}[{Pure(page).stem}]" for page in pages if PAGES not in chosen]
    packages = crates.packages(changed)
    # The tests of crates/python are the Python tests.
    tested = [name for name in packages if name != "resilver-python"]
    is_needed = {
        "mypy": any(re.fullmatch(r"(python|tools)/.*\.pyi?|dev\.py", name) for name in changed),
        "docs": any(name.startswith("docs/") for name in changed),
        "rustfmt": bool(packages),
        "clippy": bool(packages),
        "cargo": bool(tested),
        "web": WEB in reached or any(name.startswith("tests/browser/") for name in chosen),
    }
    left_out = [step for step, needed in is_needed.items() if not needed]
    sentence += (
        f"{len(packages)} of {len(crates.needs)} crates, {len(chosen)} of {len(tests)} test "
    )
    sentence += f"files, {len(pages)} of {len(house.pages)} how-to pages"
    sentence += f"; left out: {', '.join(left_out)}" if left_out else ""
    return Selection(sentence, [*chosen, *ids], packages, tested, set(left_out))


def _is_chosen(test: str, changed: list[str], reached: set[str]) -> bool:
    """Whether a test file is to run."""
    of_docs = test.startswith("tests/docs/") and test != PAGES
    of_tools = test.startswith("tests/unit/test_dev")
    return (
        test in ALWAYS
        or test in changed
        or graph.module_name(test) in reached
        or (of_docs and any(name.startswith("docs/") for name in changed))
        or (of_tools and any(re.fullmatch(r"dev\.py|tools/.*", name) for name in changed))
    )


def changed_files(revision: str) -> list[str]:
    """The files that differ from a commit: edited, gone, new, renamed by both names."""
    commit = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if not (known := _git(*commit).strip()):
        raise DevError(f"--since: this checkout has no commit {revision!r}; see `git log`", 2)
    differ = _git("diff", "--name-only", "--no-renames", "-z", known, "--")
    new = _git("ls-files", "--others", "--exclude-standard", "-z")
    return sorted({*differ.split("\0"), *new.split("\0")} - {""})


def _git(*words: str) -> str:
    command = ["git", *words]
    return subprocess.run(command, cwd=checkout.ROOT, capture_output=True, text=True).stdout


class House(Reach):
    """The definitions of a checkout with its how-to pages and its files of data.

    Args:
        files: The files of the checkout.
        gone: Files that it had.
    """

    def __init__(self, files: list[str], gone: list[str]) -> None:
        modules = [name for name in gone if re.fullmatch(PYTHON, name) and name.endswith(".py")]
        super().__init__([name for name in files if re.fullmatch(PYTHON, name)], modules)
        self._files = files
        for node, used in self.graph.items():
            if node.startswith("tests.") and any(name.startswith(WEB_BUILDERS) for name in used):
                used.add(WEB)
        # A page is a test of its own, and needs of this file's helpers what it names.
        module = graph.module_name(PAGES)
        for node in self.graph.get(module, ()):
            self.graph[node] &= self.graph[module]
        self.graph[module] = set()
        page = re.compile(r"docs/(how-to/(?!index\.)[\w-]+|tutorial)\.md")
        self.pages = [name for name in files if page.fullmatch(name)]
        self.graph |= {name: set(self._of_page(name)) for name in self.pages}

    def _of_page(self, page: str) -> Iterator[str]:
        """What a page's commands, its Python and its notes to the test use."""
        text = (checkout.ROOT / page).read_text(encoding="utf-8")
        blocks = [body for _, body in BLOCK.findall(text)]
        self.texts[page] = text.split()
        yield from (f"{graph.module_name(PAGES)}.test_page_does_what_it_says", DOOR)
        yield from self.scripted(blocks)
        if "resilver explore" in text:
            yield "tests.browser.explore_pages.built"
        if "<!-- made:" in text:
            yield "tests.reference.ceph_cluster.write_cluster"
        if any(re.search(r"^\$.*\bresilver\b", body, re.MULTILINE) for body in blocks):
            yield from self.typed(blocks)

    def seeds(self, changed: str, revision: str) -> Iterator[str]:
        """The definitions that differ in a changed file, and all that name it as a file."""
        yield changed
        yield from self._naming(Pure(changed))
        if re.fullmatch(r"python/.*\.(?!py$|pyi$|html$|css$|js$)\w+", changed):
            yield from self._beside(Pure(changed))
        if not re.fullmatch(PYTHON, changed):
            return
        module, path = graph.module_name(changed), checkout.ROOT / changed
        new = ast.parse(path.read_bytes() if path.is_file() else b"")
        old = ast.parse(_git("show", f"{revision}:{changed}"))
        if "__init__.py" in changed:
            # Who imports a name from a package uses what defines it.
            handed = {name for name, *_ in _handed(old) ^ _handed(new)}
            yield from (self.modules.defining(module, name) or module for name in handed)
        if changed.endswith(".pyi"):
            return
        before, after = (parts_of(module, tree)[0] for tree in (old, new))
        if before.keys() - after.keys() or not after:
            # Who names what is gone, or imports what defines nothing, imports the module.
            yield module
            yield from (node for node in self.graph if node.startswith(f"{module}."))
        for name in after.keys() & before.keys():
            if ast.dump(ast.Module(before[name], [])) != ast.dump(ast.Module(after[name], [])):
                yield f"{module}.{name}"
        yield from (f"{module}.{name}" for name in after.keys() ^ before.keys())

    def using_core(self, exports: set[str]) -> Iterator[str]:
        """The definitions that name one of some names of the native core, or ``*``."""
        for node, tree in self.modules.trees.items() if exports else ():
            names = set()
            for part in ast.walk(tree):
                if isinstance(part, ast.Attribute) and ast.unparse(part.value) == "_core":
                    names.add(part.attr)
                elif isinstance(part, ast.ImportFrom) and part.module == "resilver._core":
                    names |= {alias.name for alias in part.names}
            if names & exports or (names and "*" in exports):
                yield node

    def _naming(self, path: Pure) -> Iterator[str]:
        """The definitions and pages that name a file, or a folder that it is in."""
        is_python = path.suffix in (".py", ".pyi")
        study = path.parts[1] if path.parts[0] == "studies" else ""
        of_package = () if is_python else tuple(self._names_of_resource(path))
        for node, texts in self.texts.items():
            is_page = node.endswith(".md")
            if (
                (str(path) in texts and not (is_python and is_page))
                # The table of commands is no study for having a command of its name.
                or (study in texts and bool(study) and not node.startswith(APP))
                or (node.startswith("resilver.") and any(t.endswith(of_package) for t in texts))
                or (node.startswith("tests.") and self._is_placed(path, node, texts))
            ):
                yield node

    def _is_placed(self, path: Pure, node: str, texts: list[str]) -> bool:
        """Whether texts of a test name a file, from the root, from the test's folder or alone."""
        folders = self.modules.paths[node].relative_to(checkout.ROOT).parents
        is_python = path.suffix in (".py", ".pyi")
        is_alone = not is_python and path.suffix != ".rs" and path.parts[0] != "studies"
        for text in texts:
            # Of a pattern, what stands before its first sign.
            place = PLACE.match(text)
            begin = place[1] if place and ("/" in place[1] or not is_python) else ""
            if begin and any(path.is_relative_to(folder / begin) for folder in folders):
                return True
            if is_alone and Pure(text).name == path.name:
                return True
        return False

    def _names_of_resource(self, path: Pure) -> set[str]:
        """The names of a file of the package, and of those there that name it in turn."""
        if not path.is_relative_to("python"):
            return set()
        names, count = {path.name}, 0
        others = [
            name for name in self._files if re.fullmatch(r"python/.*(?<!\.py)(?<!\.pyi)", name)
        ]
        while count < len(names):
            count = len(names)
            for name in others:
                text = (checkout.ROOT / name).read_bytes().decode("utf-8", "replace")
                names |= {Pure(name).name} if any(one in text for one in names) else set()
        return names

    def _beside(self, path: Pure) -> Iterator[str]:
        """The modules in the folder of a file of the package, or in the nearest that has some."""
        folders = {Pure(name).parent for name in self._files if name.endswith(".py")}
        folder = next(parent for parent in path.parents if parent in folders)
        for name in self._files:
            if Pure(name).parent == folder and name.endswith(".py"):
                yield from self.graph[graph.module_name(name)]


def _handed(tree: ast.Module) -> set[tuple[str, ...]]:
    """What a package imports by name: each name, and where it is from."""
    return {
        (alias.asname or alias.name, "." * part.level + (part.module or ""), alias.name)
        for part in tree.body
        if isinstance(part, ast.ImportFrom)
        for alias in part.names
    }
