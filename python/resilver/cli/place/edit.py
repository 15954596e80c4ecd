"""Maps built and changed, then written as a file or printed as crushtool prints them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from resilver.cli.console import say
from resilver.cli.place.request import MapFormat, PlaceRequest
from resilver.cli.place.source import MapSource, open_map
from resilver.cli.saving import save_whole
from resilver.errors import ConfigError, PlacementError, name_remedy

if TYPE_CHECKING:
    from resilver.simulate import CrushMap

_BUCKET_KINDS = ("uniform", "list", "tree", "straw", "straw2", "vring")

_FORMATS = {".txt": MapFormat.text, ".text": MapFormat.text, ".json": MapFormat.json}


def edited(request: PlaceRequest) -> MapSource:
    """The map of the request, built or read, with its edits made in the order in which they stand.

    Args:
        request: A file or --build, and the edits.

    Returns:
        The map.

    Raises:
        ConfigError: The file cannot be used, or the layers are no layers.
        PlacementError: An edit cannot be made.
    """
    if request.build is None:
        source = open_map(request.files[0], request)
    else:
        source = MapSource("--build", _built(request.build, request.words))
    if not request.changes:
        return source
    try:
        return MapSource(source.label, _changed(source.crush, request))
    except PlacementError as error:
        raise PlacementError(f"{source.label}: {error}") from None


def _changed(crush: CrushMap, request: PlaceRequest) -> CrushMap:
    for edit in request.map_edits[0]:
        crush = edit.made(crush)
    if request.reweight:
        crush = crush.recomputed()
    return crush


def _built(devices: int, words: tuple[str, ...]) -> CrushMap:
    from resilver.simulate import CrushMap

    if not words or len(words) % 3:
        raise ConfigError(
            f"--build {devices} {' '.join(words)}: a layer is a type, a bucket kind and a size; "
            f"for example `--build {devices} host straw2 16 rack straw2 8 root straw2 0`"
        )
    layers = []
    for name, kind, size in zip(words[::3], words[1::3], words[2::3], strict=True):
        if kind not in _BUCKET_KINDS:
            remedy = name_remedy(kind, _BUCKET_KINDS, "kinds")
            raise ConfigError(f'--build: "{kind}" of layer "{name}" is not a bucket kind; {remedy}')
        if not (size.isascii() and size.isdecimal() and len(size) < 10):
            raise ConfigError(
                f'--build: "{size}" of layer "{name}" is not a number of items; write one, 0 for '
                "all that there are"
            )
        layers.append((name, kind, int(size)))
    return CrushMap.build(devices, layers)


def write(source: MapSource, request: PlaceRequest, *, as_json: bool) -> None:
    """Print or write a map, as far as that was asked for.

    Args:
        source: The map.
        request: What to print, and the file and its form.
        as_json: Say what was written as JSON.

    Raises:
        ConfigError: The file cannot be written.
    """
    form = MapFormat.binary
    if request.output is not None:
        form = request.file_format or _FORMATS.get(request.output.suffix.lower(), form)
        save_whole(request.output, _content(source.crush, form))
    if request.tree and as_json:
        from resilver.cli.console import print_json
        from resilver.cli.place.tree import tree_rows

        print_json(tree_rows(source.crush.to_json()))
    elif request.tree:
        from resilver.cli.place.tree import tree_lines

        sys.stdout.write("".join(f"{line}\n" for line in tree_lines(source.crush.to_json())))
    if request.dump:
        # crushtool ends its dump with an empty line.
        sys.stdout.write(_terminated(source.crush.to_json()) + "\n")
    if request.decompile:
        sys.stdout.write(_terminated(source.crush.to_text()))
    if request.output is None:
        return
    if as_json:
        from resilver.cli.console import print_json

        print_json({"map": str(request.output), "format": form.value})
    else:
        say(f"{form.value} map written to {request.output}")


def _terminated(text: str) -> str:
    return text if text.endswith("\n") else text + "\n"


def _content(crush: CrushMap, form: MapFormat) -> bytes:
    if form is MapFormat.binary:
        return crush.to_bytes()
    text = crush.to_text() if form is MapFormat.text else crush.to_json()
    return _terminated(text).encode()
