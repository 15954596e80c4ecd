"""How likely a system loses data: codes alone, studies, and real clusters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias, cast

from resilver.data_loss.answer import Durabilities, Durability
from resilver.data_loss.request import DurabilityRequest, Where, check
from resilver.data_loss.scenario import Told
from resilver.errors import ConfigError
from resilver.importers.ceph import ClusterReport
from resilver.request import request_of
from resilver.spec import Study
from resilver.spec.code import lrc_notes

System: TypeAlias = "str | Path | Study | ClusterReport"
"""A code, a file or a folder, a study, or a cluster that was read."""


def durability(
    what: System | Sequence[System],
    *,
    folder: str | Path | None = None,
    workers: int | None = None,
    executor: Any = None,
    told: Told | None = None,
    **options: Any,
) -> Durability | Durabilities:
    """How likely a system loses data within its mission.

    Args:
        what: A code (``rs 8+3``), a study file or a study, the dumps of a Ceph cluster (a
            `ceph report`, a folder, an archive, or a cluster that was read); or several of these.
        folder: Keeps finished batches and repair times: a killed run goes on and gives the same.
        workers: Processes of this machine, each with its share of the processors; None and 0 for
            this process alone, with all of them.
        executor: As of `resilver.execute`: a Dask scheduler's address, a client, an executor.
        told: Told how far it is; answers whether to go on.
        options: The options of ``resilver durability`` by the names of
            `resilver.data_loss.request.DurabilityRequest`, such as ``mission="10 y"``,
            ``afr="1.36 %"``, ``repair="10 h"``, ``repairs="serial"``.

    Returns:
        The answer; for several systems and for each point of a swept study, `Durabilities`.

    Raises:
        ConfigError: Something cannot be: the message names it, its value, the rule and a remedy.
        PlacementError: A layout cannot be built.
        Interrupted: `told` answered False; finished batches are kept in `folder`.
    """
    where = Where(None if folder is None else Path(folder), workers, executor)
    return answer_of(what, request_of(DurabilityRequest, options), where, told)


def answer_of(
    what: System | Sequence[System],
    request: DurabilityRequest,
    where: Where | None = None,
    told: Told | None = None,
) -> Durability | Durabilities:
    """The same of what a command asks; see `durability`."""
    check(request)
    is_one = isinstance(what, str | Path) or not isinstance(what, Sequence)
    named: list[Any] = [what] if is_one else list(cast("Sequence[Any]", what))
    if not named:
        rule = "nothing is named whose durability could be asked"
        raise ConfigError(rule, 'name a code, such as "rs 8+3", or a study')
    subjects = [subject for one in named for subject in _subjects(one, request)]
    found = [subject(where or Where(), told) for subject in subjects]
    # Which locally repairable codes each is of goes first.
    answers = tuple(replace(one, notes=(*lrc_notes(one.code), *one.notes)) for one in found)
    if is_one and len(answers) == 1:
        return answers[0]
    return Durabilities(_told_apart(answers), _compared(answers))


Subject = Callable[[Where, "Told | None"], Durability]


def _subjects(what: System, request: DurabilityRequest) -> list[Subject]:
    """What is asked: a code, a cluster, or each point of a study; checked, and not performed."""
    from resilver.data_loss.codes import code_subject
    from resilver.data_loss.systems import cluster_subject, study_subjects

    if isinstance(what, Study):
        return study_subjects(what, request)
    if isinstance(what, ClusterReport):
        return [cluster_subject(what, request, None)]
    path = Path(what)
    if isinstance(what, str) and not path.exists() and not path.suffix and "/" not in what:
        return [code_subject(what, request)]
    if path.suffix == ".toml":
        return study_subjects(Study.load(path), request)
    from resilver.whatif.perform import read_bundle

    return [cluster_subject(read_bundle(path), request, None)]


def _told_apart(answers: Sequence[Durability]) -> tuple[Durability, ...]:
    """The answers, with a number behind names that several have."""
    names = [one.name for one in answers]
    return tuple(
        replace(one, name=f"{one.name} ({names[:place].count(one.name) + 1})")
        if names.count(one.name) > 1
        else one
        for place, one in enumerate(answers)
    )


def _compared(answers: Sequence[Durability]) -> str:
    """What differs between answers, as a clause."""
    codes, overheads = {one.code for one in answers}, {round(one.overhead, 6) for one in answers}
    if all(one.name == one.code for one in answers):
        return "codes"
    if len(codes) == 1:
        return f"systems of {next(iter(codes))}"
    if len(overheads) == 1:
        return f"systems at overhead {next(iter(overheads)):g}"
    return "systems"
