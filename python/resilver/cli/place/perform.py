"""One request, from its file to what is printed."""

from __future__ import annotations

from resilver.cli.place.request import Mode, PlaceRequest
from resilver.cli.saving import keep_inputs
from resilver.errors import ConfigError, PlacementError, ResilverError


def place(request: PlaceRequest, *, as_json: bool) -> int:
    """Print or write what was asked for.

    Args:
        request: What to do.
        as_json: Print JSON instead of text.

    Returns:
        The exit code: 0, or with --test what crushtool would end with.

    Raises:
        ConfigError: A file is none of the known kinds, lacks what was asked for, or the options do
            not go together.
        PlacementError: A map cannot be used as asked.
    """
    mode = request.mode
    request.check()
    inputs = (*request.files, request.crush, request.pg_dump, request.osd_df)
    keep_inputs(request.output, inputs)
    if not request.test:
        return _perform(mode, request, as_json=as_json)
    try:
        return _perform(mode, request, as_json=as_json)
    except (ConfigError, PlacementError) as error:
        # crushtool ends with 1 where this command ends with 2.
        return _failed_as_crushtool(error)


def _failed_as_crushtool(error: ResilverError) -> int:
    from resilver.cli.console import EXIT_FAILED, report_error

    report_error(error)
    return EXIT_FAILED


def _perform(mode: Mode, request: PlaceRequest, *, as_json: bool) -> int:
    if mode is Mode.compare:
        return _compare(request, as_json=as_json)
    if request.edits or mode is Mode.write:
        return _on_map(mode, request, as_json=as_json)
    path = request.files[0]
    if mode is Mode.groups or mode is Mode.object:
        from resilver.cli.place.groups import print_groups, print_object
        from resilver.cli.place.source import open_cluster

        option = "--groups" if mode is Mode.groups else "--object"
        source = open_cluster(path, request, option)
        printing = print_groups if mode is Mode.groups else print_object
        printing(source, request, as_json=as_json)
    elif mode is Mode.quality:
        from resilver.cli.place.quality import print_quality
        from resilver.cli.place.source import open_source

        print_quality(open_source(path, request), request, as_json=as_json)
    elif mode is Mode.affected:
        from resilver.cli.place.affected import print_affected
        from resilver.cli.place.source import open_source

        print_affected(open_source(path, request), request, as_json=as_json)
    else:
        return _on_map(mode, request, as_json=as_json)
    return 0


def _compare(request: PlaceRequest, *, as_json: bool) -> int:
    from resilver.cli.place.compare import print_comparison
    from resilver.cli.place.crushtool_compare import compare_as_crushtool
    from resilver.cli.place.source import open_map, open_source

    before, after = request.files
    if request.test:
        return compare_as_crushtool(open_map(before, request), open_map(after, request), request)
    print_comparison(
        open_source(before, request), open_source(after, request), request, as_json=as_json
    )
    return 0


def _on_map(mode: Mode, request: PlaceRequest, *, as_json: bool) -> int:
    """Build or read a map, change it, then show, judge or write it, in crushtool's order."""
    from resilver.cli.place import edit, tester
    from resilver.cli.place.quality import print_quality

    source = edit.edited(request)
    if mode is Mode.tester:
        show = tester.show if request.shows or request.test else tester.count
        show(source, request, as_json=as_json)
    elif mode is Mode.quality:
        print_quality(source, request, as_json=as_json)
    elif mode is not Mode.write:
        raise ConfigError(
            f"--{mode} looks at a cluster or a study, and an edited map is neither; write the map "
            "with -o FILE, then compare or place with that file"
        )
    edit.write(source, request, as_json=as_json)
    return 0
