"""Evidence of a center's file system that needs no run: sizes, slow disks, sets and namespaces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from resilver.catalog.entries import study_path
from resilver.center import (
    LotFile,
    MachineFile,
    SizingFile,
    deal,
    job_rates,
    route,
    route_figures,
    size,
    storage,
)
from resilver.center import machine as machine_of
from resilver.center.culling import cull
from resilver.center.namespaces import greedy, worst_load
from resilver.center.order import (
    clean_groups,
    expected_group,
    expected_replaced,
    expected_slowest,
    spread_most,
)
from resilver.reproduce.tables import Row
from resilver.simulate import set_loss_probability
from resilver.spec import Cluster, Study
from resilver.study.profiling import needed_parts
from resilver.units import BytesPerSecond

if TYPE_CHECKING:
    from resilver.center import Routes


_BEGINNINGS = 0x6A6F6261
"""The key of the streams that say where contiguous jobs begin."""


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


def route_rows(
    machine: str, cases: Sequence[Sequence[str]], jobs: Mapping[str, Any] | None = None
) -> list[Row]:
    """What ways of choosing routers come to, and what jobs get by them.

    Args:
        machine: A machine of the catalog.
        cases: A policy and what routers are near by, each.
        jobs: What `job_rows` is asked about that machine.

    Returns:
        A row a case: ``policy``, ``near_by``, ``clients``, ``routers`` and the policies' figures;
        and those of `job_rows`.
    """
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
    return rows + (job_rows(machine, **jobs) if jobs is not None else [])


def job_rows(
    machine: str,
    clients: int,
    namespace: int,
    seeds: int,
    routers: Sequence[str],
    channels: Sequence[float],
) -> list[Row]:
    """What a job of one client a target gets by fine-grained routes, by where its clients are.

    Args:
        machine: A machine of the catalog.
        clients: How many clients, as many as targets.
        namespace: The targets' namespace.
        seeds: How many draws of clients at random, and of places at which a contiguous job begins.
        routers: Rates of routers.
        channels: By which the rates of channels are multiplied, where routers have the first rate.

    Returns:
        A row a job (``job`` is "placed", "random", "contiguous", "chosen", which is drawn clients
        with the best targets for them, or "everyone" on all targets; ``seed``, ``router`` in GB/s,
        ``channels``, ``total`` and ``lasting`` in bytes a second, ``used`` targets,
        ``busiest_channel`` as a share, and ``by_routers`` and so on, what each layer holds back, in
        bytes a second), and a row a rate of what drawn clients get in closed form (``job`` is
        "expected", or "shared" where each router has its own share of clients).
    """
    found = machine_of(machine)
    fine = route(found)
    rows: list[Row] = []
    cases = [(rate, 1.0) for rate in routers]
    cases += [(routers[0], factor) for factor in channels if factor != 1.0]
    for rate, factor in cases:
        rates = found.file.rates.model_dump() | {"router": rate}
        for axis, along in zip("xyz", found.file.rates.along, strict=True):
            rates[axis] = [f"{factor * one:.0f} B/s" for one in along]
        # Nobody's router depends on rates.
        file = MachineFile.of(found.file.model_dump() | {"rates": rates})
        routes = replace(fine, machine=replace(found, file=file))
        asked: list[tuple[str, int, str, str | None]] = [("placed", 0, f"placed:{clients}", None)]
        for seed in range(1, seeds + 1):
            draws = np.random.Generator(np.random.Philox(key=[seed, _BEGINNINGS]))
            at = ",".join(str(int(draws.integers(length))) for length in found.torus)
            asked += [
                ("random", seed, f"random:{clients}", None),
                ("contiguous", seed, f"job:{clients}@{at}", None),
            ]
            if (rate, factor) == cases[0]:
                asked.append(("chosen", seed, f"random:{clients}", "optimal"))
        given = {"router": BytesPerSecond.parse(rate) / 1e9, "channels": factor}
        rows += [
            {"job": job, "seed": seed, **given, **_job_row(routes, where, targets, namespace, seed)}
            for job, seed, where, targets in asked
        ]
        everyone = f"random:{len(found.clients)}"
        rows.append({"job": "everyone", **given, **_job_row(routes, everyone, None, None, 1)})
        if factor == 1.0:
            rows += [
                {"job": job, **given, "total": _drawn_rate(routes, clients, namespace, is_even)}
                for job, is_even in (("expected", True), ("shared", False))
            ]
    return rows


def _job_row(
    routes: Routes, clients: str, targets: str | None, namespace: int | None, seed: int
) -> dict[str, Any]:
    """What a job gets, and what it is bound by."""
    job = job_rates(routes, clients, targets, namespace=namespace, seed=seed)
    bound = {one.layer: one.bound_bytes_per_second for one in job.layers}
    torus = [one for one in job.layers if one.layer.startswith("channel")]
    return {
        "total": job.bytes_per_second,
        "lasting": job.lasting_bytes_per_second,
        "used": len(np.unique(job.writes.targets)),
        "busiest_channel": max(one.busiest for one in torus),
        "by_torus": sum(bound[one.layer] for one in torus),
        "by_routers": bound["router"],
        "by_servers": bound["server"],
        "by_targets": bound["target"],
    }


def _drawn_rate(routes: Routes, clients: int, namespace: int, is_even: bool) -> float:
    """What clients drawn at random get where targets and routers alone hold them back.

    A router has each of its network's clients with a chance, that of all routers or its own, so
    that their number is binomial; it passes what they ask for, or its rate.
    """
    from scipy.special import comb

    rates, side = routes.machine.file.rates, storage(routes.machine)
    assert rates.router is not None and rates.target is not None
    used = side.target_networks[side.target_namespaces == namespace][:clients]
    is_there = routes.routers >= 0
    network = np.repeat(routes.networks, is_there.sum(axis=1))
    chance = routes.served / len(routes.machine.clients)
    if is_even:
        chance = np.repeat(1.0 / is_there.sum(axis=1), is_there.sum(axis=1))
    total = 0.0
    for number, share in zip(network, chance, strict=True):
        counts = np.arange(int((used == number).sum()) + 1)
        passed = np.minimum(float(rates.router), counts * float(rates.target))
        ways = comb(counts[-1], counts) * share**counts * (1 - share) ** counts[::-1]
        total += float(ways @ passed)
    return total


def part_rows(study: str, target: str) -> list[Row]:
    """How many parts of each level a study of the catalog has, and what each needs for a target.

    Args:
        study: Its name.
        target: The rate of all clients, with its unit.

    Returns:
        A row a level: ``level``, ``parts`` and ``each`` in bytes per second.
    """
    system = Study.load(study_path(study)).runs()[0].system
    return [
        {"level": one.level, "parts": float(one.parts), "each": one.each_bytes_per_second}
        for one in needed_parts(system, float(BytesPerSecond.parse(target)))
    ]
