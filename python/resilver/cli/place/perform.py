"""`resilver place`, from its options to what is printed."""

from __future__ import annotations

from enum import StrEnum

from resilver.cli.options import Json
from resilver.cli.place.options import Balancing, Editing, Inputs, Judging, Reading
from resilver.errors import ConfigError, PlacementError, Problem


class Mode(StrEnum):
    """What `place` does."""

    groups = "groups"
    object = "object"
    tester = "tester"
    quality = "quality"
    compare = "compare"
    affected = "affected"
    balance = "balance"
    write = "write"


def place(
    reading: Reading,
    inputs: Inputs,
    judging: Judging,
    balancing: Balancing,
    editing: Editing,
    as_json: Json = False,
) -> int:
    """Show where data is placed, how evenly, and what a change would move.

    Examples:

    resilver place report.json --groups --pool rbd

    resilver place map.bin --rule 0 --num-rep 3 --min-x 0 --max-x 9 --show-mappings

    resilver place report.json --quality

    resilver place --compare before.bin after.bin --rule 0

    resilver place report.json --balance bytes --entries 50

    resilver place --build 64 host straw2 4 root straw2 0 -o map.bin
    """
    from resilver.cli.console import EXIT_FAILED, report_error
    from resilver.cli.saving import keep_inputs

    mode = _mode(reading, inputs, judging, balancing, editing)
    _check(mode, reading, inputs, judging, balancing, editing)
    read = (*reading.paths, reading.crush, reading.pg_dump, reading.osd_df, *editing.edit_files)
    keep_inputs(editing.output, () if editing.build is not None else read)
    try:
        if mode is Mode.balance and not editing.changes:
            from resilver.cli.place.balance import print_balance

            print_balance(reading, inputs, judging, balancing, editing.output, as_json=as_json)
            return 0
        return _perform(mode, reading, inputs, judging, editing, as_json=as_json)
    except (ConfigError, PlacementError) as error:
        if not inputs.test:
            raise
        # crushtool ends with 1 where this command ends with 2.
        report_error(error)
        return EXIT_FAILED


def _perform(
    mode: Mode,
    reading: Reading,
    inputs: Inputs,
    judging: Judging,
    editing: Editing,
    *,
    as_json: bool,
) -> int:
    from resilver.cli.place import edit, source, tester
    from resilver.cli.place.quality import print_quality

    on_map = editing.changes or mode in (Mode.tester, Mode.write)
    if mode is Mode.compare:
        return _compare(reading, inputs, judging, editing, as_json=as_json)
    if mode in (Mode.groups, Mode.object) and not on_map:
        from resilver.cli.place.groups import print_groups, print_object

        cluster = source.open_cluster(reading, f"--{mode}").reweighted(inputs)
        printing = print_groups if mode is Mode.groups else print_object
        printing(cluster, judging, as_json=as_json)
    elif mode is Mode.affected and not on_map:
        from resilver.cli.place.affected import print_affected

        found = source.reweighted(source.open_source(reading.words[0], reading), inputs)
        print_affected(found, judging, editing.output, as_json=as_json)
    elif mode is Mode.quality and not on_map:
        found = source.open_source(reading.words[0], reading)
        print_quality(found, inputs, judging, as_json=as_json)
    else:
        made = edit.edited(reading, editing)
        if mode not in (Mode.tester, Mode.quality, Mode.write):
            raise ConfigError(
                f"--{mode} looks at a cluster or a study, and an edited map is neither; write the "
                "map with -o FILE, then compare or place with that file"
            )
        # Before the text, whose reader may leave before its end.
        edit.save(made, editing)
        if mode is Mode.tester:
            show = tester.show if inputs.as_crushtool else tester.count
            show(made, inputs, as_json=as_json)
        elif mode is Mode.quality:
            print_quality(made, inputs, judging, as_json=as_json)
        edit.show(made, editing, as_json=as_json)
    return 0


def _compare(
    reading: Reading, inputs: Inputs, judging: Judging, editing: Editing, *, as_json: bool
) -> int:
    """Two files, or one and what edits make of its map."""
    from resilver.cli.place import edit
    from resilver.cli.place.compare import print_comparison
    from resilver.cli.place.source import MapSource, open_map, open_source
    from resilver.cli.place.tester import compare_as_crushtool

    opened = open_map if inputs.test else open_source
    # One of two may be the cluster that dumps complete, and the other not.
    alone = len(reading.words) == 1
    sources = [opened(path, reading, alone=alone) for path in reading.words]
    if editing.changes:
        made = edit.edited(reading, editing)
        sources.append(made)
        edit.save(made, editing)
        edit.show(made, editing, as_json=False)
    before, after = sources
    if isinstance(before, MapSource) and isinstance(after, MapSource) and inputs.test:
        return compare_as_crushtool(before, after, inputs)
    print_comparison(before, after, inputs, judging, as_json=as_json)
    return 0


def _mode(
    reading: Reading, inputs: Inputs, judging: Judging, balancing: Balancing, editing: Editing
) -> Mode:
    """What to do; refused where two things are asked for at once, or none."""
    wanted = {
        Mode.groups: judging.groups,
        Mode.object: judging.object_name is not None,
        Mode.quality: judging.quality,
        Mode.compare: judging.compare,
        Mode.affected: judging.affected,
        Mode.balance: balancing.balance is not None,
    }
    chosen = [mode for mode, given in wanted.items() if given]
    if inputs.shows and not (inputs.test and chosen == [Mode.compare]):
        chosen.append(Mode.tester)
    if not chosen and (editing.views or (editing.output is not None and inputs.rule is None)):
        return Mode.write
    if not chosen and (inputs.test or inputs.rule is not None):
        chosen.append(Mode.tester)
    if not chosen and editing.changes:
        raise ConfigError(
            "an edited map goes nowhere yet; write it with -o FILE, print it with --decompile, "
            "--dump or --tree, or judge it with --quality or a --show option"
        )
    selects_rule = inputs.rule is not None and chosen[0:1] in ([Mode.groups], [Mode.object])
    if len(chosen) != 1 or selects_rule:
        example = reading.words[0] if reading.words and editing.build is None else "MAP"
        raise ConfigError(
            "place needs exactly one of --groups, --object NAME, --rule RULE (with --show-... "
            "options or without), --quality, --compare, --affected and --balance; for example "
            f"`resilver place {example} --rule 0 --num-rep 3 --show-mappings`"
        )
    return chosen[0]


def _check(
    mode: Mode,
    reading: Reading,
    inputs: Inputs,
    judging: Judging,
    balancing: Balancing,
    editing: Editing,
) -> None:
    """Hold together what only makes sense with something else, and tell all that does not."""
    from resilver.cli.place.edit import edits_of

    needs = [
        (judging.fail and not judging.affected, "--fail", "add --affected"),
        (judging.affected and not judging.fail, "--affected", "add --fail osd.12, or host=NAME"),
        (
            editing.file_format is not None and editing.output is None,
            "--format",
            "add -o FILE, or use --decompile (text) or --dump (JSON) for stdout",
        ),
        (judging.fatal is not None and not judging.quality, "--fatal", "add --quality"),
    ]
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
    ]
    problems = [
        Problem(f"it stands in place of {range_}", "give one or the other", option)
        for one, option, both, range_ in either
        if one is not None and any(end is not None for end in both)
    ]
    problems += [
        Problem("it means nothing by itself", what, name) for no, name, what in needs if no
    ]
    for name, way, given in balancing.options:
        if given and (balancing.balance is None or way not in (None, balancing.balance)):
            remedy = f"add --balance {way or 'ceph, or bytes'}"
            problems.append(Problem("it means nothing by itself", remedy, name))
    problems += edits_of(editing)[1]
    problems += _ignored(mode, inputs, judging, editing)
    count = 2 if mode is Mode.compare and not editing.changes else 1
    if mode is Mode.compare and editing.build is not None:
        problems.append(Problem("there is nothing before it", "leave --compare out", "--build"))
    if editing.build is None and len(reading.words) != count:
        rule = "--compare takes two files"
        remedy = "`resilver place --compare BEFORE AFTER`, or one file and edits of its map"
        if count == 1:
            rule = "place takes one FILE"
            remedy = "name a map, a report, a dump or a study, or use --build"
        problems.append(Problem(f"{rule}, and {len(reading.words)} are given", remedy))
    if problems:
        raise ConfigError(problems)


def _ignored(mode: Mode, inputs: Inputs, judging: Judging, editing: Editing) -> list[Problem]:
    """Options that what is asked for would pass over in silence."""
    option = f"--{mode}" if mode is not Mode.tester else "--rule"
    named = mode in (Mode.groups, Mode.object, Mode.affected, Mode.balance)
    on_map = editing.changes or mode in (Mode.tester, Mode.write)
    of_map = (
        ("--tree", editing.tree),
        ("--dump", editing.dump),
        ("--decompile", editing.decompile),
        ("-o", editing.output is not None and mode not in (Mode.affected, Mode.balance)),
    )
    of_rule = (
        ("--num-rep", inputs.copies),
        ("--x", inputs.x),
        ("--min-x", inputs.first),
        ("--max-x", inputs.last),
        ("--pool-id", inputs.pool_id),
    )
    found = [
        (name, "print or write the map by itself") for name, given in of_map if given and not on_map
    ]
    found += [
        (name, "it is an input of --rule") for name, given in of_rule if given is not None and named
    ]
    if judging.pool is not None and (inputs.rule is not None or mode in (Mode.tester, Mode.write)):
        found.append(("--pool", "a rule's inputs are of no pool; --pool-id mixes its number in"))
        option = "--rule" if inputs.rule is not None else option
    return [Problem(f"{option} passes over it", remedy, name) for name, remedy in found]
