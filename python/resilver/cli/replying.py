"""How every command replies: its answer in the terminal, as JSON, as a page, as files."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import Field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resilver.cli.console import EXIT_FAILED, make_folder, output, print_json, say
from resilver.cli.saving import PAGES, PICTURES, check_output, save_whole
from resilver.request import names_of, places_of, words_of

if TYPE_CHECKING:
    from resilver.answer import Answer

_FILES = ("--output", "--metrics", "--culled", "--figure")
_FOLDERS = ("--tables", "--figures")


def command_line(name: str, *requests: Any, has_folders: bool = False) -> str:
    """What makes the same answer again, as it is typed beside the files that it names.

    Args:
        name: The command.
        requests: What was asked: instances of the dataclasses that declare its options. What has
            its default is left out, and so is where the answer went.
        has_folders: Whether it names the files where they are, for who types it next.
    """
    said = [words_of(request, has_folders=has_folders) for request in requests]
    words = [word for kind in (0, 1) for one in said for word in one[kind]]
    return shlex.join(["resilver", *name.split(), *words])


def check_places(requests: Sequence[Any]) -> None:
    """Refuse places where an answer cannot go, before anything is computed for it.

    Raises:
        ConfigError: The command reads the file, its name ends otherwise, or it cannot be written.
    """
    asked = [(request, field) for request in requests for field in fields(request)]
    reads = [one for request, field in asked for one in _files(request, field)]
    for request, field in asked:
        if (endings := field.metadata.get("endings")) is not None:
            for path in _several(getattr(request, field.name)):
                check_output(path, endings, reads, names_of(field)[0])
    for name, folder in places_of(*requests).items():
        if name in _FOLDERS and folder is not None:
            make_folder(folder, name, later=True)


def _files(request: Any, field: Field[Any]) -> list[str]:
    """What a field may name as a file that is read: its text, and the words in it."""
    declared, found = field.metadata, _several(getattr(request, field.name))
    if declared.get("is_output") or "text" not in declared:
        return []
    is_path = names_of(field) and "FILE" not in str(declared.get("metavar"))
    texts = [str(one) for one in found if isinstance(one, Path if is_path else str | Path)]
    return [word for text in texts for word in (text, *text.replace("=", " ").split())]


def _several(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else () if value is None else (value,)


def written(answer: Answer, places: Mapping[str, Any], command: str = "") -> list[str]:
    """Write an answer where it should go.

    Args:
        places: The places by the options that say them.
        command: What makes it again, for its page.

    Returns:
        What is said of each place.
    """
    files = (path for name in _FILES for path in _several(places.get(name)))
    said = [_write(answer, path, command) for path in files]
    folders = [name for name in _FOLDERS if places.get(name) is not None]
    for name in folders:
        make_folder(places[name], name)
    if folders:
        from resilver.answer.page import write_files

        tables, pictures = map(places.get, _FOLDERS)
        write_files(answer, tables, pictures, places.get("--format", "png"))
    said += [f"wrote {places[name]}" for name in folders]
    return [text for text in said if text]


def reply(
    answer: Answer, said: Iterable[str] = (), *, as_json: bool = False, quiet: bool = False
) -> int:
    """Print an answer.

    Args:
        said: What is said of it afterwards.
        as_json: Print its record, and nothing else.
        quiet: Print nothing but, where the answer is no, its first sentence.

    Returns:
        The exit code: 1 where the answer is no.
    """
    quiet = quiet or bool(answer.text)
    if answer.text:
        sys.stdout.write(answer.text)
    elif as_json:
        print_json(answer.to_dict())
    elif not quiet:
        from resilver.answer.terminal import print_answer

        print_answer(answer, output())
    for text in () if quiet else said:
        say(text)
    if quiet and not answer.holds:
        # Why the exit code is 1, for the log of a script that prints nothing else.
        say(answer.verdict[0])
    return 0 if answer.holds else EXIT_FAILED


def _write(answer: Answer, path: Path, command: str) -> str:
    """Write an answer as what a file's name says; what is said of that."""
    suffix = path.suffix.lower()
    form = answer.forms.get(suffix, answer.forms.get("") if suffix not in PAGES else None)
    if form is not None:
        if form.content is None:
            return form.use.replace("{}", str(path))
        save_whole(path, form.content())
        return f"wrote {path}; {form.use.format(path.name)}" if form.use else f"wrote {path}"
    if suffix in PICTURES:
        from resilver.charts.vega import write_picture

        chart = answer.charts()[0]
        write_picture(chart.make(), path, chart.heading, "--figure")
    else:
        from resilver.answer.page import write

        write(answer, path, command)
    return f"wrote {path}"
