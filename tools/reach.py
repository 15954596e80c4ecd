"""Who uses whom in Python, by definitions: a function uses what its own lines name.

A command is used by who types its words. Standard library only, as `tools/checkout.py`.
"""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterable, Iterator

from tools import checkout, graph

APP, DOOR = "resilver.cli.app", "tests.front_door"
ANSWERED = "tests.terminal.answered"
STARTERS = {ANSWERED, f"{DOOR}.command", f"{DOOR}.shell_environment", "resilver.cli"}
STARTERS |= {"resilver.cli.run", "resilver.cli.main", APP, f"{APP}.app", "resilver.__main__"}
"""Definitions that start a command of words which their user has."""

WORDS = re.compile(r"(?:\A|\bresilver\s)\s*(?:resilver\s+)?([\w-]+)(?:\s+([\w-]+))?")
"""Words that may be those of a command: at the start of a text, or after `resilver`."""

SCRIPT = re.compile(r"(?:from resilver[\w.]* )?import [\w., ]+|\bresilver(?:\.\w+)+")
"""What a script in a text imports, and what it names of the package."""

Parts = dict[str, list[ast.stmt]]


def parts_of(module: str, tree: ast.Module) -> tuple[Parts, dict[str, tuple[str, str]]]:
    """The definitions of a module, and what it imports by name.

    Returns:
        Each name's statements, with the imports that they need and one of each definition beside
        them that they name; and each imported name's module and name there.
    """
    imports: dict[str, ast.stmt] = {}
    handed: dict[str, tuple[str, str]] = {}
    parts: Parts = {}
    always: list[ast.stmt] = []
    for part in tree.body:
        if isinstance(part, ast.Import | ast.ImportFrom):
            for alias in part.names:
                name = alias.asname or alias.name
                if isinstance(part, ast.Import):
                    imports[name.partition(".")[0]] = ast.Import([alias])
                elif part.module:
                    imports[name] = ast.ImportFrom(part.module, [alias], 0)
                    handed[name] = (part.module, alias.name)
        elif names := [*_defined(part)]:
            for name in names:
                parts.setdefault(name, []).append(part)
        elif ast.unparse(getattr(part, "test", part)) != "TYPE_CHECKING":
            # What only types name does not run; all types are checked anyway.
            always.append(part)
    for name, own in parts.items():
        nodes = [node for part in (*own, *always) for node in ast.walk(part)]
        used = {node.id for node in nodes if isinstance(node, ast.Name)}
        used |= {node.arg for node in nodes if isinstance(node, ast.arg)} & set(parts)
        needed = [imports[other] for other in sorted(used & set(imports))]
        beside = [ast.alias(other) for other in sorted(used & set(parts) - {name})]
        needed += [ast.ImportFrom(module, beside, 0)] if beside else []
        parts[name] = [*needed, *always, *own]
    return parts, handed


def _defined(part: ast.stmt) -> Iterator[str]:
    if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield part.name
    elif isinstance(part, ast.Assign | ast.AnnAssign | ast.AugAssign):
        targets = part.targets if isinstance(part, ast.Assign) else [part.target]
        names = [
            node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)
        ]
        yield from names


class Reach:
    """The definitions of tests, tools and package, and the how-to pages: who uses whom.

    Attributes:
        graph: Each module, definition, command and page with those that it uses.
    """

    def __init__(self, names: list[str], gone: Iterable[str]) -> None:
        """Read the files of Python; who still names one that is gone uses it."""
        self.modules = modules = graph.Python.of(checkout.ROOT, names)
        for name in gone:
            modules.paths[graph.module_name(name)] = checkout.ROOT / name
            modules.trees[graph.module_name(name)] = ast.Module([], [])
        self.graph: graph.Graph = {}
        for module, path in list(modules.paths.items()):
            parts, handed = parts_of(module, modules.trees[module])
            if path.name == "__init__.py":
                modules.stubs[module] = handed | modules.stubs.get(module, {})
            self.graph[module] = {f"{module}.{name}" for name in parts}
            for name, body in parts.items():
                modules.paths[f"{module}.{name}"] = path
                modules.trees[f"{module}.{name}"] = ast.Module(body, [])
        whole = list(self.graph)
        self.graph |= {
            node: set(modules.uses(node)) for node in modules.paths if node not in self.graph
        }
        self.commands = dict(self._promised())
        if {f"{DOOR}.serve", f"{DOOR}._door"} <= self.graph.keys():
            # It imports the whole package, so that its forks need not: no test uses it by that.
            self.graph[f"{DOOR}.serve"] &= self.graph[DOOR]
            self.graph[f"{DOOR}._door"].add(f"{DOOR}.serve")
        of_tests = [node for node in self.graph if node.startswith("tests.") and node not in whole]
        self.texts = {
            node: list(texts_of(tree)) for node, tree in modules.trees.items() if node not in whole
        }
        for node in of_tests:
            if modules.paths[node].name != "front_door.py":
                self.graph[node] |= set(self._unimported(node))
        near = {node: used for node, used in self.graph.items() if node.startswith("tests.")}
        near = {node: used for node, used in near.items() if not node.startswith(DOOR)}
        begin = [node for node, used in near.items() if used & STARTERS]
        starting = graph.reach(graph.users_of(near), begin)
        for module in starting & set(whole):
            if module.rpartition(".")[2].startswith("test_"):
                self.graph[module] |= self._started(module, near, starting)

    def _started(self, test: str, near: graph.Graph, starting: set[str]) -> set[str]:
        """The commands of which a test file has the words, itself or in what starts them."""
        texts = []
        for node in graph.reach(near, [test]) & set(self.texts):
            is_own = node in near[test]
            is_value = not isinstance(
                self.modules.trees[node].body[-1], (ast.FunctionDef, ast.ClassDef)
            )
            if is_own or is_value or node in starting:
                texts += self.texts[node]
                texts += ["what-if"] if ANSWERED in self.graph[node] else []
        return self.typed(texts)

    def _promised(self) -> Iterator[tuple[str, set[str]]]:
        """The definition of each command and its words, as the table of commands has them."""
        tables = self.modules.trees.get(APP, ast.Module([], []))
        for table in [node for node in ast.walk(tables) if isinstance(node, ast.Dict)]:
            for key, value in zip(table.keys, table.values, strict=True):
                # A group of commands is a tuple of its help and of them.
                group = {ast.literal_eval(key)} if key and isinstance(value, ast.Tuple) else set()
                for call in [node for node in ast.walk(value) if isinstance(node, ast.Call)]:
                    word, function, *kind = (ast.literal_eval(part) for part in call.args)
                    node, *kinds = (
                        f"resilver.cli.{of.replace(':', '.')}" for of in (function, *kind)
                    )
                    self.graph.setdefault(node, set()).update(kinds)
                    yield node, group | {word}

    def typed(self, texts: Iterable[str]) -> set[str]:
        """The commands whose words stand in some texts; all commands where none does."""
        words = {word for text in texts for match in WORDS.findall(text) for word in match}
        typed = {node for node, path in self.commands.items() if path <= words}
        return typed or set(self.commands)

    def _unimported(self, node: str) -> Iterator[str]:
        """What a definition of a test uses without importing it."""
        tree, path = self.modules.trees[node], self.modules.paths[node]
        parts = [part for part in ast.walk(tree)]
        folder = ".".join(path.relative_to(checkout.ROOT).parent.parts)
        conftest = self.graph.get(f"{folder}.conftest", set()) if folder != "tests" else set()
        names = {part.arg for part in parts if isinstance(part, ast.arg)} | set(self.texts[node])
        fixtures = {f"{folder}.conftest.{name}" for name in names}
        yield from fixtures & conftest
        yield from self.scripted(self.texts[node])
        below = {name for name in self.graph if name.startswith("resilver.")}
        for prefix in {begin for part in parts if (begin := _begin(part))}:
            ends = {name: name.removeprefix(prefix) for name in below if name.startswith(prefix)}
            yield from {name for name, end in ends.items() if end in self.texts[node]} or ends
        if any(isinstance(part, ast.Name) and part.id == "pkgutil" for part in parts):
            packages = tuple(f"{name}." for name in self.graph[node])
            yield from (name for name in below if name.startswith(packages))

    def scripted(self, texts: Iterable[str]) -> set[str]:
        """What scripts in texts import from the package and name of it."""
        script = ast.parse("import resilver")
        found = [line for text in texts for line in SCRIPT.findall(text)]
        for line in found:
            with contextlib.suppress(SyntaxError):
                script.body += ast.parse(line.strip()).body
        self.modules.trees["script"] = script
        named = {name for line in found for name in self.modules.named(line)}
        return (set(self.modules.uses("script")) | named) - {"resilver"} if found else set()


def _begin(part: ast.AST) -> str:
    """The beginning of a module's name that a value ends, as in ``f"resilver.spec.{name}"``."""
    values = part.values if isinstance(part, ast.JoinedStr) else []
    begin = getattr(values[0], "value", "") if len(values) > 1 else ""
    return begin if isinstance(begin, str) and re.fullmatch(r"resilver[\w.]*", begin) else ""


def texts_of(tree: ast.AST) -> Iterator[str]:
    """The texts in a definition but its docstrings; those that ``/`` joins are one path."""
    nodes = list(ast.walk(tree))
    joined = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    joined |= {id(node.slice) for node in nodes if isinstance(node, ast.Subscript)}
    for node in nodes:
        if id(node) in joined:
            continue
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            parts: list[str] = []
            left: ast.expr = node
            while isinstance(left, ast.BinOp) and isinstance(left.op, ast.Div):
                joined |= {id(left), id(left.right)}
                if isinstance(left.right, ast.Constant):
                    parts.insert(0, str(left.right.value))
                elif parts:
                    yield "/".join(parts)
                    parts = []
                left = left.left
            yield "/".join(parts)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
