"""The crates of the workspace: who depends on whom, and what of them Python has.

Standard library only, as `tools/checkout.py`.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass

from tools import checkout, graph

EXPORT = re.compile(
    r'#\[py(?:class|function)(?:[^\]]*?name\s*=\s*"(?P<renamed>\w+)")?[^\]]*\](?:\s*#\[[^\]]*\])*\s*'
    r"(?:pub(?:\([^)]*\))?\s+)?(?:fn|struct|enum)\s+(?P<name>\w+)"
)
"""A function or a class that Python has, by its name there or here."""


@dataclass(frozen=True)
class Crates:
    """The crates by the names of their folders.

    Attributes:
        needs: Each with those of the workspace that it depends on.
        for_tests: Each with those that its tests and benches depend on besides.
        files: All files of theirs.
    """

    needs: graph.Graph
    for_tests: graph.Graph
    files: list[str]

    @classmethod
    def of(cls, files: list[str]) -> Crates:
        """The crates among the files of a checkout."""
        manifests = {}
        for name in files:
            if match := re.fullmatch(r"crates/(\w+)/Cargo\.toml", name):
                manifests[match[1]] = tomllib.loads((checkout.ROOT / name).read_text("utf-8"))
        folders = {manifest["package"]["name"]: crate for crate, manifest in manifests.items()}

        def table(key: str) -> graph.Graph:
            return {
                crate: {folders[name] for name in manifest.get(key, ()) if name in folders}
                for crate, manifest in manifests.items()
            }

        inside = [name for name in files if name.startswith("crates/")]
        return cls(table("dependencies"), table("dev-dependencies"), inside)

    def reached(self, changed: list[str]) -> set[str]:
        """The crates whose code a change reaches, tests and benches aside."""
        code = re.compile(r"crates/(\w+)/(?!tests/|benches/|src/.*\btests\b)")
        crates = {match[1] for name in changed if (match := code.match(name))}
        return graph.reach(graph.users_of(self.needs), sorted(crates & set(self.needs)))

    def packages(self, changed: list[str]) -> list[str]:
        """The crates to check and to test, by the names of their packages."""
        reached = self.reached(changed)
        crates = reached | {crate for crate, used in self.for_tests.items() if used & reached}
        crates |= {name.split("/")[1] for name in changed if name.startswith("crates/")}
        return [f"resilver-{crate}" for crate in sorted(crates & set(self.needs))]

    def exports(self, changed: list[str]) -> set[str]:
        """The names of `resilver._core` that a change reaches; ``*`` where that cannot be told."""
        if "python" not in (reached := self.reached(changed)):
            return set()
        begin = "crates/python/src/"
        paths = [name.removeprefix(begin) for name in self.files if name.startswith(begin)]
        sources = {path: (checkout.ROOT / begin / path).read_text("utf-8") for path in paths}
        touched = re.compile(rf"\bresilver_({'|'.join(sorted(reached))})\b")
        hit = {path for path, text in sources.items() if touched.search(text)}
        hit |= {name.removeprefix(begin) for name in changed if name.startswith("crates/python/")}
        users = graph.users_of(graph.crate_modules(sources))
        names: set[str] = set()
        for path in hit:
            near = graph.reach(users, [re.split(r"[./]", path)[0]])
            files = [text for file, text in sources.items() if re.split(r"[./]", file)[0] in near]
            exported = {
                match["renamed"] or match["name"]
                for text in files
                for match in EXPORT.finditer(text)
            }
            if not exported or path == "lib.rs":
                return {"*"}
            names |= exported
        return names
