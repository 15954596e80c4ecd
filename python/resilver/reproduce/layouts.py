"""Layouts of the same data beside each other: how likely each loses some."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from resilver import redundancy
from resilver.data_loss.answer import Durability
from resilver.data_loss.perform import durability
from resilver.data_loss.study_input import pools_of
from resilver.errors import SimulationError
from resilver.placement_quality import loss_probability
from resilver.reproduce.tables import Row
from resilver.spec import Study

if TYPE_CHECKING:
    from resilver.spec import Study


def layout_rows(
    study: str,
    layouts: Mapping[str, Mapping[str, Any]],
    repairs: Sequence[str],
    swept: Sequence[str],
    outage: Mapping[str, Any],
    durability: Mapping[str, Any] | None = None,
) -> list[Row]:
    """How likely data is lost by drives that fail by themselves, and by an outage of all power.

    Args:
        study: The shipped study of the system.
        layouts: By name what its section ``[placement]`` has instead, beside its number of groups.
        repairs: What a drive gives to repair.
        swept: The layouts that are asked with each of these; the others with the study's own.
        outage: The ``share`` of drives that do not come back from an outage, each by chance, and
            the ``most`` of them that are looked at.
        durability: Keys of ``[durability]`` that are other than the study's.

    Returns:
        A row a layout and repair: ``layout``, ``repair_bytes_per_second``, ``loss_probability``
        within the mission, ``lost_bytes``, ``relative_error``; and of each layout once
        ``different_sets`` and ``outage_probability``, that one outage loses data.
    """
    rows: list[Row] = []
    for name, placement in layouts.items():
        for rank, repair in enumerate((None, *(repairs if name in swept else ()))):
            made = _study(study, placement, repair, durability or {})
            once = _outage(made, **outage) if rank == 0 else {}
            rows.append({"layout": name, **_alone(made), **once})
    return rows


def _study(
    name: str, placement: Mapping[str, Any], repair: str | None, durability: Mapping[str, Any]
) -> Study:
    """The shipped study with one layout, one repair and no sweep."""
    text = files("resilver.catalog").joinpath("studies", name, "study.toml").read_text("utf-8")
    table = tomllib.loads(text)
    del table["study"]["sweep"], table["placement"]["algorithm"]
    table["placement"] |= placement
    table["durability"] |= durability
    if repair is not None:
        table["durability"]["repair"] = {"device": repair}
    return Study.from_dict(table, Path.cwd())


def _alone(study: Study) -> Row:
    """Losses by drives that fail by themselves."""
    found = durability(study, workers=0)
    if not isinstance(found, Durability):
        raise SimulationError("a study without a sweep has one answer")
    (run,) = study.runs()
    asked = run.system.durability
    assert asked is not None and found.expected_lost_bytes is not None
    return {
        "repair_bytes_per_second": dict(asked.repair.rates)["device"],
        "loss_probability": found.loss_probability.value,
        "relative_error": found.loss_probability.relative_error,
        "lost_bytes": found.expected_lost_bytes.value,
    }


def _outage(study: Study, share: float, most: int) -> Row:
    """That one outage loses data: the mean over how many drives do not come back from it."""
    (run,) = study.runs()
    (pool,) = pools_of(run.system, run.seed)
    tree = run.system.cluster.tree
    assert tree is not None
    survives = redundancy(pool.code).is_survivable
    return {
        "different_sets": len(np.unique(np.sort(pool.sets, axis=1), axis=0)),
        "outage_probability": sum(
            chance * loss_probability(pool.sets, tree.devices, lost, survives).probability
            for lost, chance in _lost(tree.devices, share, most)
        ),
    }


def _lost(devices: int, share: float, most: int) -> Iterator[tuple[int, float]]:
    """How many drives are lost, from one to the most, and how likely."""
    for lost in range(1, most + 1):
        yield lost, comb(devices, lost) * share**lost * (1 - share) ** (devices - lost)
