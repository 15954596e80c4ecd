"""`resilver schema`: the JSON schema of study files."""

from __future__ import annotations

import json
from pathlib import Path

from resilver.cli.console import print_json, say
from resilver.errors import ConfigError


def schema(output: Path | None, *, as_json: bool) -> None:
    """Print or write the schema.

    Args:
        output: the file to write; stdout if there is none.
        as_json: with an output file, print its path as JSON.

    Raises:
        ConfigError: the file cannot be written.
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
