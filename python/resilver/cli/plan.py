"""`resilver plan`: a change of the map whose data is held where it is, and released in steps."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from resilver.answer import Answer
from resilver.cli.options import file_output
from resilver.cli.progress import HealDisplay
from resilver.cli.saving import check_output
from resilver.cli.what_if import kinds_class, values_of
from resilver.request import argument, option, size, value_of
from resilver.whatif.kinds import BY_KEY, MAP_KINDS
from resilver.whatif.options import HardwareRequest, Request

_KINDS = kinds_class(BY_KEY[key] for key in MAP_KINDS)


class MapChanges(_KINDS):  # type: ignore[misc, valid-type]
    """The changes that can be held: an option a kind."""


@dataclass(frozen=True)
class Asked:
    """What is planned."""

    bundle: Path = argument(
        "BUNDLE",
        text="The cluster: a `ceph report`, or a folder or an archive of what its commands print.",
    )
    step: str | None = option(
        text="Most data that a step of the release moves, where that is more than one PG, such as "
        "1 TiB. Default: a tenth of all.",
        quantity=size("1 TiB"),
    )
    output: Path | None = file_output(
        "FILE",
        "Write the answer as a page (.html), or the steps as a script (any other name).",
        endings=None,
    )


def plan(
    changes: MapChanges,
    asked: Asked,
    hardware: HardwareRequest,
    as_json: bool = False,
    quiet: bool = False,
) -> Answer:
    """Change the CRUSH map of a Ceph cluster without moving data, then move it in steps.

    Finds the upmap entries that hold every PG where it is while the map changes, and checks them as
    the monitors do; then releases PGs in steps of a stated size, each of which can be taken back.
    Nothing is run on the cluster. New OSDs come in with osd_crush_initial_weight 0 first, and get
    their weights in a plan from a bundle that has them. Without a change, the backfill under way is
    cancelled: PGs stay where they are now, and are released in steps.

    Exits with 1 if some PGs cannot be held, or are not clean at the end.

    Examples:

    resilver plan bundle.tar.zst --map new.crush

    resilver plan now.tar.zst -o steps.sh

    resilver plan bundle.tar.zst --crush-reweight host=node9=16.4 --step "2 TiB" -o steps.sh
    """
    from resilver.report.whatif.holding import held_answer
    from resilver.whatif import holding, perform

    check_output(asked.output, (), (asked.bundle, *map(Path, values_of(changes)["map"])))
    report = perform.read_bundle(asked.bundle)
    step_bytes = value_of(asked, "step")
    with HealDisplay(quiet=quiet or as_json) as told:
        request = Request(**vars(hardware))
        most = None if step_bytes is None else max(int(step_bytes), 1)
        held = holding.hold(report, perform.changes_of(values_of(changes)), request, most, told)
    return held_answer(
        held, is_script_printed=asked.output is None or asked.output.suffix == ".html"
    )
