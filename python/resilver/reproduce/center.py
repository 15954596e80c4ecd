"""Evidence of a center's file system that needs no run: sizes, slow disks, sets and namespaces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from resilver.reproduce.tables import Row


def sizing_rows(sizing: str, variants: Mapping[str, Sequence[str]]) -> list[Row]:
    """What a sizing of the catalog comes to, as it is and with some keys replaced.

    Args:
        sizing: Its name.
        variants: By name, ``KEY=VALUE`` texts.

    Returns:
        A row a variant and figure (``part`` is "demand", "knee", "offer" or "capacity", ``key`` the
        figure's name, ``value`` in SI units), and a row a variant and demand (``part`` is "need",
        ``key`` the demand, ``value`` and ``least`` the units).
    """
    from resilver.center import SizingFile, size

    rows: list[Row] = []
    for variant, settings in variants.items():
        found = size(SizingFile.load(sizing, settings))
        of_capacity = () if found.outlook is None else found.outlook.figures
        for part, figures in (
            ("demand", found.demands),
            ("knee", found.knees),
            ("offer", found.offers[0].figures),
            ("capacity", of_capacity),
        ):
            rows += [
                {"variant": variant, "part": part, "key": one.key, "value": float(one.value)}
                for one in figures
            ]
        rows += [
            {
                "variant": variant,
                "part": "need",
                "key": need.demand,
                "value": float(need.units),
                "least": float(need.least),
            }
            for need in found.offers[0].needs
        ]
    return rows


def culling_rows(
    lot: str, seeds: int, cases: Sequence[Sequence[float | str]], slow: int
) -> list[Row]:
    """What slow disks cost, in closed form, and culling in rounds.

    Args:
        lot: A lot of the catalog.
        seeds: Draws a case.
        cases: A spread, an envelope and its reference each.
        slow: How many disks are slow where groups without one are counted.

    Returns:
        A row a form (``form``, ``within``, ``of``, ``value``), and a row a case and seed
        (``spread``, ``within``, ``of``, ``seed``, ``replaced``, ``rounds``, ``mean_gain``,
        ``slowest_gain``).
    """
    from dataclasses import replace

    from resilver.center import LotFile
    from resilver.center.culling import cull
    from resilver.center.order import (
        clean_groups,
        expected_group,
        expected_replaced,
        expected_slowest,
        spread_most,
    )

    one = LotFile.load(lot).lot.lot
    forms: list[tuple[str, float | None, str | None, float]] = [
        ("slowest", None, None, expected_slowest(one.members)),
        ("clean_groups", None, None, clean_groups(one.groups, one.members, slow)),
        ("replaced", None, None, expected_replaced(one.disks, slow / (one.disks + slow))),
        (
            "mean_gain",
            None,
            None,
            1.0 / expected_group(one.members, 0.0, slow / one.disks, one.factor),
        ),
    ]
    forms += [
        ("spread", within, of, spread_most(within, of, one.groups, one.members, one.units))
        for within in (0.05, 0.075)
        for of in ("fastest", "average")
    ]
    rows: list[Row] = [
        {"form": form, "within": within, "of": of, "value": value}
        for form, within, of, value in forms
    ]
    for spread, within, of in cases:
        drawn = replace(one, spread=float(spread))
        for seed in range(1, seeds + 1):
            found = cull(drawn, float(within), of, seed)  # type: ignore[arg-type]
            rows.append(
                {
                    "spread": float(spread),
                    "within": float(within),
                    "of": of,
                    "seed": seed,
                    "replaced": found.replaced,
                    "rounds": len(found.rounds) - 1,
                    "mean_gain": found.gain,
                    "slowest_gain": found.slowest_gain,
                }
            )
    return rows


def set_rows(enclosures: Sequence[int], sets: int, rebuilding: Sequence[int]) -> list[Row]:
    """How likely a lost enclosure kills a set while others are rebuilt, by enumeration.

    Args:
        enclosures: Over how many enclosures the sets of 8+2 are dealt.
        sets: How many sets there are.
        rebuilding: How many of them rebuild a disk.

    Returns:
        A row a case: ``enclosures``, ``rebuilding``, ``probability``.
    """
    from resilver.simulate import set_loss_probability
    from resilver.spec import Cluster

    rows: list[Row] = []
    for count in enclosures:
        parts = [
            {"level": "enclosure", "count": count},
            {"level": "drive", "in": "enclosure", "count": 10 * sets // count},
            {"level": "raid", "of": "drive", "size": 10, "across": "enclosure"},
        ]
        cluster = Cluster.model_validate({"parts": parts})
        rows += [
            {
                "enclosures": count,
                "rebuilding": number,
                "probability": set_loss_probability(
                    cluster, "raid", "enclosure", rebuilding=number, survives=2
                ),
            }
            for number in rebuilding
        ]
    return rows


def namespace_rows(cases: int, projects: Sequence[int], namespaces: Sequence[int]) -> list[Row]:
    """Greedy and exchanged dealing of projects against the optimum.

    Args:
        cases: How many cases a number of needs; needs are Pareto of shape 1.5.
        projects: The least and the most projects.
        namespaces: The least and the most namespaces.

    Returns:
        A row a case: ``needs`` (1 or 2), ``case``, ``namespaces``, and the greatest load over the
        optimum's, ``greedy`` and ``exchanged``.
    """
    import numpy as np

    from resilver.center import deal
    from resilver.center.namespaces import greedy, worst_load

    rows: list[Row] = []
    for kinds in (1, 2):
        for case in range(cases):
            draws = np.random.Generator(np.random.Philox(key=[case, kinds]))
            count = int(draws.integers(namespaces[0], namespaces[1] + 1))
            number = int(draws.integers(projects[0], projects[1] + 1))
            needs = draws.pareto(1.5, (number, kinds)) + 0.1
            best = deal(needs, count).optimum
            if best is None:
                continue
            plain = worst_load(needs, greedy(needs, count).tolist(), count)
            better = deal(needs, count, with_optimum=False).worst
            rows.append(
                {
                    "needs": kinds,
                    "case": case,
                    "namespaces": count,
                    "greedy": plain / best,
                    "exchanged": better / best,
                }
            )
    return rows


def route_rows(machine: str, cases: Sequence[Sequence[str]]) -> list[Row]:
    """What ways of choosing routers come to.

    Args:
        machine: A machine of the catalog.
        cases: A policy and what routers are near by, each.

    Returns:
        A row a case: ``policy``, ``near_by``, ``clients``, ``routers`` and the policies' figures.
    """
    from resilver.center import machine as machine_of
    from resilver.center import route, route_figures

    found = machine_of(machine)
    rows: list[Row] = []
    for policy, by in cases:
        figures = route_figures(route(found, policy, by))
        row: dict[str, Any] = {
            "policy": policy,
            "near_by": by,
            "clients": len(found.clients),
            "routers": int((found.routers >= 0).sum()),
            "mean_hops": figures.mean_hops,
            "mean_cost": figures.mean_cost,
            "least_cost": figures.least_cost,
            "most_cost": figures.most_cost,
        }
        for name, values in (("hops", figures.mean_hops_by_axis), ("load", figures.largest_loads)):
            row |= {f"{name}_{axis}": value for axis, value in zip("xyz", values, strict=True)}
        names = ("clients_least", "clients_mean", "clients_most")
        row |= dict(zip(names, figures.clients_a_router, strict=True))
        rows.append(row)
    return rows
