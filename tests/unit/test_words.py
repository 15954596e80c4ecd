"""Words that must not appear: of the machine, and of no storage system."""

import ast
import re
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
        found = banned.search(text)
        number = text.count("\n", 0, found.start()) + 1 if found else 0
        assert found is None, f"{name_of(path)}:{number} contains {found.group()!r}"


def shown_text(path: Path) -> str:
    """What a person may read of a file: a page whole, of Python its texts but for docstrings."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return text
    shown: dict[int, str] = {}
    alone = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr):
            alone.add(id(node.value))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            shown[id(node)] = node.value
    return "\n\n".join(text for at, text in shown.items() if at not in alone)


def test_no_output_and_no_page_of_docs_has_a_made_up_word() -> None:
    made_up = re.compile(MADE_UP, re.IGNORECASE)
    pages = [path for path in of_kind(".md", ".ts", ".tsx") if path.name != "CHANGELOG.md"]
    read = [path for path in [*package(), *pages] if "decisions" not in path.parts]
    assert len(read) > 500
    for path in read:
        found = made_up.search(shown_text(path))
        assert found is None, f"{name_of(path)} says {found.group()!r}"
