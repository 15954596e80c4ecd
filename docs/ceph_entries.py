"""What the pages on plans and on the settings of Ceph are made of, from their declarations."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from resilver.spec.toml import write_value
from resilver.whatif.declared import SETTINGS
from resilver.whatif.declared.forms import FLAGS, FORMS
from resilver.whatif.kinds import KINDS
from resilver.whatif.releases import EVER
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
        f"| `{one.name}` | {one.span.words or 'all'} | {_words(one) or one.kind} | "
        f"{_by_release(one)} | {one.sentence} Source: {one.source}. |"
        for one in SETTINGS.values()
    ]
    head = "| setting | releases | kind | default | meaning |\n|---|---|---|---|---|\n"
    yield head + "\n".join(rows)
    named = {**FORMS, **{f"`ceph osd set {flag}`": span for flag, span in FLAGS.items()}}
    rows = [f"| {form} | {span.words} |" for form, span in named.items() if span.words]
    yield "## Commands and flags\n\n| what | releases |\n|---|---|\n" + "\n".join(rows)


def _words(one: Setting) -> str:
    """What a setting may be, where it is a word, with the releases that have each."""
    spans = {word: one.word_spans.get(word, EVER).words for word in one.words}
    return ", ".join(f"`{word}`" + f" ({span})" * bool(span) for word, span in spans.items())


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
