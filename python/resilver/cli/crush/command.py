"""`resilver crush`, from its options to what is printed."""

from __future__ import annotations

from resilver.cli.crush.options import Editing, Inputs
from resilver.cli.options import Json
from resilver.cli.saving import keep_inputs
from resilver.errors import ConfigError, PlacementError, Problem, raise_all
from resilver.request import unused_options


def crush(editing: Editing, inputs: Inputs, as_json: Json = False) -> int:
    """Build, edit, print and test CRUSH maps, in crushtool's words.

    Each stage is optional: read or build a map, edit it, write it, test its rules, print it.

    Examples:

    resilver crush --build --num-osds 64 host straw2 4 root straw2 0 -o map.bin

    resilver crush map.bin --move osd.3 --loc host host1 -o changed.bin

    resilver crush -i map.bin --test --rule 0 --num-rep 3 --show-mappings

    resilver crush -i map.bin --compare changed.bin
    """
    from resilver.cli.console import EXIT_FAILED, report_error

    _check(editing, inputs)
    if not editing.build:
        keep_inputs(editing.output, (*editing.words, inputs.compare, *editing.edit_files))
    try:
        return _perform(editing, inputs, as_json=as_json)
    except (ConfigError, PlacementError) as error:
        if not inputs.test:
            raise
        # crushtool ends with 1 where other commands end with 2.
        report_error(error)
        return EXIT_FAILED


def _perform(editing: Editing, inputs: Inputs, *, as_json: bool) -> int:
    from resilver.cli import replying
    from resilver.cli.crush import edit, tester
    from resilver.cli.crush.source import open_map

    source = edit.edited(editing)
    # Before the text, whose reader may leave before its end.
    edit.save(source, editing)
    code = 0
    if inputs.compare is not None:
        code = tester.compare(source, open_map(inputs.compare), inputs)
    elif inputs.shows or inputs.test:
        tester.show(source, inputs, as_json=as_json)
    elif inputs.rule is not None:
        code = replying.reply(tester.count(source, inputs), as_json=as_json)
    edit.show(source, editing, as_json=as_json)
    return code


def _check(editing: Editing, inputs: Inputs) -> None:
    """Refuse options that exclude each other, and those that mean nothing by themselves."""
    from resilver.cli.crush.edit import edits_of

    # crushtool lets the last of these win; options here have no order.
    either = [
        (inputs.rule, "--rule", (inputs.min_rule, inputs.max_rule), "--min-rule and --max-rule"),
        (inputs.x, "--x", (inputs.first, inputs.last), "--min-x and --max-x"),
        (
            inputs.copies,
            "--num-rep",
            (inputs.min_copies, inputs.max_copies),
            "--min-rep, --max-rep",
        ),
        (editing.compile or None, "--compile", (editing.decompile or None,), "--decompile"),
    ]
    problems = [
        Problem(f"it excludes {others}", "give one or the other", option)
        for one, option, both, others in either
        if one is not None and any(end is not None for end in both)
    ]
    problems += unused_options(editing, inputs)
    problems += edits_of(editing)[1]
    if editing.build and editing.devices is None:
        problems.append(Problem("it needs the number of devices", "add --num-osds N", "--build"))
    if not editing.build and len(editing.words) != 1:
        rule = f"crush takes one FILE, and {len(editing.words)} are given"
        problems.append(Problem(rule, "name a CRUSH map or a cluster's dumps, or use --build"))
    if editing.compile and editing.output is None:
        problems.append(Problem("a compiled map is no text", "add -o FILE", "--compile"))
    if not (problems or editing.prints or inputs.as_crushtool or inputs.rule is not None):
        rule = "nothing is asked of the map"
        remedy = "write it with -o FILE, print it with --decompile, --dump or --tree, or test a "
        problems.append(Problem(rule, f"{remedy}rule with --rule RULE or a --show option"))
    raise_all(problems)
