"""Who uses whom: modules of Python by their imports, modules of a crate by their paths.

Imports inside functions count, and a name that a package imports on demand counts for the module
that defines it. Standard library only, as `tools/checkout.py`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

Graph = dict[str, set[str]]

_TEXT = (
    r'//[^\n]*|/\*.*?\*/|b?r(?P<hash>#*)".*?"(?P=hash)|b?"(?:\\.|[^"\\])*"'
    r"|b?'(?:\\(?:x..|u\{[^}]*\}|.)|[^'\\])'"
)


def module_name(path: str) -> str:
    """The dotted name of a file of Python; those of ``python/`` begin below it."""
    parts = Path(path).with_suffix("").parts
    parts = parts[1:] if parts[0] == "python" else parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@dataclass
class Python:
    """The modules below some folders of a checkout.

    Attributes:
        paths: Each module's file by its dotted name; those of ``python/`` begin below it.
        trees: What is in each, parsed.
        stubs: Of a package that imports names on demand: each name's (module, name).
    """

    paths: dict[str, Path] = field(default_factory=dict)
    trees: dict[str, ast.Module] = field(default_factory=dict)
    stubs: dict[str, dict[str, tuple[str, str]]] = field(default_factory=dict)

    @classmethod
    def of(cls, root: Path, names: list[str]) -> Python:
        """The modules among the files of a checkout."""
        found = cls()
        for name in names:
            if not name.endswith((".py", ".pyi")) or name.endswith("_core.pyi"):
                continue
            module = module_name(name)
            tree = ast.parse((root / name).read_text(encoding="utf-8"))
            if name.endswith(".pyi"):
                found.stubs[module] = dict(_exports(module, tree))
            else:
                found.paths[module] = root / name
                found.trees[module] = tree
        return found

    def defining(self, module: str, name: str) -> str | None:
        """The module that ``from module import name`` is from; None where it is not here."""
        if (whole := f"{module}.{name}") in self.paths:
            return whole
        if (module, name) != (there := self.stubs.get(module, {}).get(name, (module, name))):
            return self.defining(*there)
        return module if module in self.paths else None

    def uses(self, module: str) -> Iterator[str]:
        """The modules that one imports anywhere or names whole in a text, itself perhaps too."""
        folder = module.rpartition(".")[0]
        bound: dict[str, str] = {}
        kinds = (ast.Import, ast.ImportFrom, ast.Constant, ast.Attribute, ast.Name)
        nodes = [one for one in ast.walk(self.trees[module]) if isinstance(one, kinds)]
        for node in nodes:
            if isinstance(node, ast.Import):
                for one in node.names:
                    yield from self._beside(one.name, folder)
                    top = one.name if one.asname else one.name.partition(".")[0]
                    bound[one.asname or top] = top
            elif isinstance(node, ast.ImportFrom) and node.module:
                for one in node.names:
                    yield from self._from(node.module, one.name, folder)
                    bound[one.asname or one.name] = f"{node.module}.{one.name}"
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield from self.named(node.value)
        asked: set[int] = set()
        for node in nodes:
            if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
                continue
            if (package := bound.get(node.value.id, "")) in self.stubs:
                asked.add(id(node.value))
                yield from self._from(package, node.attr, folder)
        for node in nodes:
            # A package that is handed on may be asked for any of its names.
            if isinstance(node, ast.Name) and id(node) not in asked:
                for name in self.stubs.get(bound.get(node.id, ""), {}):
                    yield from self._from(bound[node.id], name, folder)

    def named(self, text: str) -> Iterator[str]:
        """The module that a text is the dotted name of, or of something in it."""
        parts = text.split(".") if re.fullmatch(r"\w+(\.\w+)+", text) else []
        for end in range(len(parts), 1, -1):
            if (name := ".".join(parts[:end])) in self.paths:
                yield name
                return

    def graph(self) -> Graph:
        """Each module with those that it uses."""
        return {name: set(self.uses(name)) - {name} for name in self.paths}

    def inner_imports(self) -> int:
        """How many imports stand inside functions."""
        return sum(_inner_imports(tree, inside=False) for tree in self.trees.values())

    def _from(self, module: str, name: str, folder: str) -> Iterator[str]:
        if (found := self.defining(module, name)) is not None:
            yield found
        else:
            yield from self._beside(module, folder)

    def _beside(self, name: str, folder: str) -> Iterator[str]:
        """A module by its name, or by that of a file in the same folder."""
        yield from (one for one in (name, f"{folder}.{name}") if one in self.paths)


def _inner_imports(statement: ast.AST, *, inside: bool) -> int:
    """How many imports stand inside functions at and below a statement."""
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return int(inside)
    inside |= isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef)
    blocks = ("body", "orelse", "finalbody", "handlers", "cases")
    below = (one for block in blocks for one in getattr(statement, block, ()))
    return sum(_inner_imports(one, inside=inside) for one in below)


def _exports(package: str, tree: ast.Module) -> Iterator[tuple[str, tuple[str, str]]]:
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            module = ".".join(filter(None, (package if node.level else "", node.module)))
            for one in node.names:
                yield one.asname or one.name, (module, one.name)


def rooms(graph: Graph, package: str) -> Graph:
    """Each folder and file right below a package with those that its modules use."""
    found: Graph = {}
    for module, used in graph.items():
        for one in (module, *used):
            if one.startswith(f"{package}."):
                found.setdefault(one.split(".")[1], set())
        if module.startswith(f"{package}."):
            room = module.split(".")[1]
            below = {one.split(".")[1] for one in used if one.startswith(f"{package}.")}
            found[room] |= below - {room}
    return found


def without_text(rust: str) -> str:
    """Rust source with comments, strings and character literals blanked, line ends kept."""
    return re.sub(_TEXT, lambda found: re.sub(r"[^\n]", " ", found.group()), rust, flags=re.DOTALL)


def crate_modules(sources: Mapping[str, str]) -> Graph:
    """The modules right below a crate with those that they use, its own tests left out.

    Args:
        sources: Rust by its path below ``src``.
    """
    code = {path: without_text(text).split("#[cfg(test)]")[0] for path, text in sources.items()}
    owners = {path: Path(path).with_suffix("").parts for path in code}
    found: Graph = {parts[0]: set() for parts in owners.values() if parts[0] != "lib"}
    # What the crate's root hands on under a name of its own counts for where it is from.
    handed = {
        name: target[0]
        for tree in re.findall(r"\buse\s+([^;]+);", code.get("lib.rs", ""))
        for target in _paths(tree)
        if (name := target[-1]) not in found
    }
    for path, parts in owners.items():
        if parts[0] == "lib" or "tests" in parts:
            continue
        # `mod.rs` is the module of its folder.
        depth = len(parts) - (parts[-1] == "mod")
        root = "(?:crate::|" + "super::" * depth + ")"
        close = re.sub(r"\s*::\s*", "::", code[path])
        for tree in re.findall(rf"(?<![\w:]){root}(\{{[^;]*\}}|\w+)", close):
            for target in _paths(tree):
                room = handed.get(target[0], target[0])
                if room in found and room != parts[0]:
                    found[parts[0]].add(room)
    return found


def _paths(tree: str) -> Iterator[list[str]]:
    """The paths of a tree of `use`: ``a::{b, c::d}`` has a, b and a, c, d."""
    tree = re.sub(r"\s+(as\s+\w+)?", "", tree)
    head, brace, rest = tree.partition("{")
    prefix = [part for part in head.split("::") if part and part not in ("crate", "self")]
    if not brace:
        yield prefix or [""]
        return
    depth, begin = 0, 0
    inner = rest[: rest.rindex("}")] if "}" in rest else rest
    for at, sign in enumerate([*inner, ","]):
        depth += {"{": 1, "}": -1}.get(sign, 0)
        if sign == "," and depth == 0:
            if part := inner[begin:at]:
                yield from ([*prefix, *path] for path in _paths(part))
            begin = at + 1


def circles(graph: Graph) -> list[list[str]]:
    """The largest sets of modules of which each reaches each other, the largest first."""
    reached = {name: reach(graph, [name]) for name in graph}
    found = {
        tuple(sorted(other for other in reached[name] if name in reached.get(other, ())))
        for name in graph
    }
    return sorted((list(one) for one in found if len(one) > 1), key=lambda one: (-len(one), one))


def reach(graph: Graph, begin: list[str]) -> set[str]:
    """What can be reached from some modules, themselves included."""
    seen, left = set(begin), list(begin)
    while left:
        for other in graph.get(left.pop(), ()):
            if other not in seen:
                seen.add(other)
                left.append(other)
    return seen


def users_of(uses: Graph) -> Graph:
    """The same arrows from the used to their users."""
    users: Graph = {}
    for user, used in uses.items():
        for node in used:
            users.setdefault(node, set()).add(user)
    return users
