"""`resilver schema`: the JSON schema of study files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from resilver.cli.console import print_json, say
from resilver.cli.options import Json
from resilver.errors import ConfigError


def schema(
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write it there instead of stdout."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Print the JSON schema of study files, for completion and checks in an editor.

    Example: resilver schema -o study.schema.json
    """
    from resilver.spec import Study

    document = Study.json_schema()
    if output is None:
        print_json(document)
        return
    try:
        text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigError(
            f"{str(output)!r} cannot be written: {error.strerror}; choose another with -o FILE"
        ) from error
    if as_json:
        print_json({"schema": str(output)})
    else:
        say(f"wrote {output}; begin a study file with `#:schema ./{output.name}` to use it")
