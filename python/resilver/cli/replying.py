"""How every command replies: its answer in the terminal, as JSON, as a page, as files."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resilver.cli.console import EXIT_FAILED, make_folder, output, print_json, say
from resilver.cli.saving import PAGES, PICTURES, save_whole
from resilver.request import names_of, words_of

if TYPE_CHECKING:
    from resilver.answer import Answer


def command_line(name: str, *requests: Any) -> str:
    """What makes the same answer again, as it is typed beside the files that it names.

    Args:
        name: The command.
        requests: What was asked: instances of the dataclasses that declare its options. What has
            its default is left out, and so is where the answer went.
    """
    said = [words_of(request) for request in requests]
    words = [word for kind in (0, 1) for one in said for word in one[kind]]
    return shlex.join(["resilver", *name.split(), *words])


def reply(
    answer: Answer,
    command: str = "",
    *,
    page: Path | None = None,
    tables: Path | None = None,
    files: Iterable[Path | None] = (),
    pictures: Path | None = None,
    format: str = "png",
    wrote: tuple[Path | str | None, ...] = (),
    as_json: bool = False,
    quiet: bool = False,
) -> int:
    """Give an answer to whoever asked.

    Args:
        answer: The answer.
        command: What makes it again, for its page.
        page: Where its page goes; None for none.
        tables: The folder of its tables; None for none.
        files: Where else it goes: each as what the ending of its name says.
        pictures: The folder of its charts; None for none.
        format: As what those are written.
        wrote: What else was written, which is said.
        as_json: Print its record, and nothing else.
        quiet: Print nothing but, where the answer is no, its first sentence.

    Returns:
        The exit code: 1 where the answer is no.
    """
    said = [str(path) for path in wrote if path is not None]
    said += [_write(answer, path, command) for path in (page, *files) if path is not None]
    if tables is not None or pictures is not None:
        from resilver.answer.pictures import write_files

        for folder, option in ((tables, "--tables"), (pictures, "--figures")):
            if folder is not None:
                make_folder(folder, option, f"{option} DIR")
        write_files(answer, tables, pictures, format)
    if as_json:
        print_json(answer.to_dict())
    elif not quiet:
        from resilver.answer.terminal import print_answer

        print_answer(answer, output())
    for path in () if quiet else (*said, tables, pictures):
        if path is not None:
            say(f"wrote {path}")
    if quiet and not answer.holds:
        # Why the exit code is 1, for the log of a script that prints nothing else.
        say(answer.verdict[0])
    return 0 if answer.holds else EXIT_FAILED


def give(answer: Answer, name: str, requests: Iterable[Any], *, as_json: bool, quiet: bool) -> int:
    """Give the answer of the command that is performed, where its requests say.

    Args:
        answer: The answer.
        name: The command.
        requests: What was asked, in the order of the command's options.
        as_json: Print its record, and nothing else.
        quiet: Print nothing but, where the answer is no, its first sentence.

    Returns:
        The exit code: 1 where the answer is no.
    """
    asked = [*requests]
    places = {
        names_of(field)[0]: getattr(request, field.name)
        for request in asked
        for field in fields(request)
        if field.metadata.get("is_output")
    }
    return reply(
        answer,
        command_line(name, *asked),
        files=[places.get(name) for name in ("--output", "--culled", "--figure")],
        pictures=places.get("--figures"),
        format=places.get("--format", "png"),
        as_json=as_json,
        quiet=quiet,
    )


def _write(answer: Answer, path: Path, command: str) -> str:
    """Write an answer as what a file's name says; what is said of that."""
    suffix = path.suffix.lower()
    form = answer.forms.get(suffix, answer.forms.get("") if suffix not in PAGES else None)
    if form is not None:
        save_whole(path, form.content())
        return f"{path}; {form.use.format(path.name)}" if form.use else str(path)
    if suffix in PICTURES:
        from resilver.charts.vega import write_picture

        chart = answer.charts()[0]
        write_picture(chart.make(), path, chart.heading, "--figure")
    else:
        from resilver.answer.page import write

        write(answer, path, command)
    return str(path)
