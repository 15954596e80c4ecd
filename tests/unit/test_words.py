"""Words that must not appear: of the machine, and of no storage system."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.unit.test_style import files, name_of, of_kind, package

# Words that no reader meets where the field has its own: re-replicated, healthy, commands, target,
# undetected, substituted, correlated, retried, impact, bottleneck, Pareto-optimal, deterministic.
MADE_UP = (
    r"made (anew|whole)|whole again|to paste|for ever\b|new homes?\b|told apart|given up after|"
    r"\buntold\b|stand-ins?\b(?!\.toml)|stands? in for\b|correct it\b|write it so|asked again|"
    r"by harm\b|failures that come together|no chance in|binding part|nothing as cheap|"
    r"bytes kept for|lost or away|strip anew|not at all\b|from losing data|it takes \d+ more"
)


def test_words_that_must_not_appear() -> None:
    """No path of the machine it was written on, no registry address, no note to oneself, no file
    that the project does not have.
    """
    # Put together from pieces, so that this file does not contain them.
    folders = "|".join(["wo" + "rk", "ro" + "ot", "tm" + "p", "fa" + "rm"])
    hosts = "|".join(["python" + "hosted", "npm" + "js", "crates[.]io-" + "index", "go" + "proxy"])
    # Notes and inputs beside the project, which its readers do not have.
    beside = r"science\.md|\bdata/(?:disk|loggp|populations)"
    banned = re.compile(
        rf"(?<![\w.~*}})\]-])/(?:{folders})(?:/|\b)|{hosts}|{beside}|\b(?:TO"
        + r"DO|FIX"
        + r"ME|XX"
        + r"X)\b"
    )
    for path in files():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            found = banned.search(line)
            assert found is None, f"{name_of(path)}:{number} contains {found.group()!r}"  # type: ignore[union-attr]


def shown_texts(path: Path) -> Iterator[str]:
    """What a person may read of a file: a page whole, of Python its texts but for docstrings."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        yield text
        return
    tree = ast.parse(text)
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield node.value


def test_no_output_and_no_page_of_docs_has_a_made_up_word() -> None:
    pages = [path for path in of_kind(".md", ".ts", ".tsx") if path.name != "CHANGELOG.md"]
    seen = 0
    for path in [*package(), *pages]:
        if "decisions" in path.parts:
            continue
        for text in shown_texts(path):
            found = re.search(MADE_UP, text, re.IGNORECASE)
            assert found is None, f"{name_of(path)} says {found.group()!r}"  # type: ignore[union-attr]
            seen += 1
    assert seen > 1000
