"""What the pages on plans and on the settings of Ceph are made of, from their declarations."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from resilver.spec.toml import write_value
from resilver.whatif.declared import SETTINGS
from resilver.whatif.kinds import KINDS
from resilver.whatif.settings import Setting


def plan_keys() -> Iterator[str]:
    """The keys of a step of a plan: an entry each."""
    for one in KINDS:
        head = "| value | option | example |\n|---|---|---|\n"
        row = f"| `{one.metavar}` | `{one.option}` | `{one.key} = {write_value(one.example)}` |"
        yield f"## `{one.key}`\n\n{one.sentence}\n\n{head}{row}"


def ceph_settings() -> Iterator[str]:
    """The settings of Ceph that healing goes by, as a table."""
    rows = [
        f"| `{one.name}` | {', '.join(f'`{word}`' for word in one.words) or one.kind} | "
        f"{_by_release(one)} | {one.sentence} Source: {one.source}. |"
        for one in SETTINGS.values()
    ]
    yield "| setting | kind | default | meaning |\n|---|---|---|---|\n" + "\n".join(rows)


def _by_release(one: Setting) -> str:
    """A setting's defaults, with the release that each came in."""
    first, *later = one.defaults
    told = [f"`{one.words_of(first[1])}`"]
    told += [f"`{one.words_of(value)}` since {'.'.join(map(str, at))}" for at, value in later]
    return ", ".join(told)


CEPH_PAGES: dict[str, Callable[[], Iterator[str]]] = {
    "plan": plan_keys,
    "ceph_settings": ceph_settings,
}
"""What makes the entries of each page."""
