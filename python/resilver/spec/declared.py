"""What stands in the source of a class below its attributes."""

from __future__ import annotations

import ast
import inspect
import sys
from functools import cache
from itertools import pairwise
from textwrap import dedent


def texts_below(owner: type) -> dict[str, str]:
    """The text below each attribute that a class declares, on one line."""
    found: dict[str, str] = {}
    for before, after in pairwise(_body_of(owner)):
        match before, after:
            case (
                ast.AnnAssign(target=ast.Name(name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                found[name] = " ".join(text.split())
    return found


def _body_of(owner: type) -> list[ast.stmt]:
    declared = _declared(owner.__module__).get(owner.__qualname__)
    if declared is None:
        # It is declared within a function.
        (tree,) = ast.parse(dedent(inspect.getsource(owner))).body
        return tree.body if isinstance(tree, ast.ClassDef) else []
    return declared.body


@cache
def _declared(module: str) -> dict[str, ast.ClassDef]:
    """The classes of a module, read at once: to search for one takes as long."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {one.name: one for one in tree.body if isinstance(one, ast.ClassDef)}
