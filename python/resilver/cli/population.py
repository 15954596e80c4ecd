"""`resilver population show`: files and objects by size, several populations side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resilver import catalog
from resilver.answer import Answer
from resilver.cli.loading import load_study
from resilver.cli.options import file_output, overrides, stated
from resilver.cli.progress import Display
from resilver.cli.saving import PAGES, PICTURES
from resilver.errors import ConfigError, name_remedy
from resilver.request import argument, option, size, value_of
from resilver.units import VOLUME_MAX, exact_bytes

if TYPE_CHECKING:
    from resilver.report.population import PopulationSizes
    from resilver.spec import Population, System

_FILES_DRAWN = 2**24
"""How many files are drawn of a population without a volume of its own: enough that a class with a
ten-thousandth of the files has over a thousand, few enough to take about a second."""

_SHOWN_MAX = 12

_SERVERS, _COPIES = 1024, 3
"""What a population without a study is striped over: the scale and the copies of the study of
rebuilds that the catalog's populations are from."""


@dataclass(frozen=True)
class Asked:
    """Which populations are drawn, and how."""

    names: tuple[str, ...] = argument(
        "NAME|FILE|STUDY.toml",
        text="Populations of the catalog, histograms, listings, folders, or studies.",
    )
    settings: tuple[str, ...] = overrides("the study around each population", "cluster.servers=64")
    volume: str | None = option(
        "--bytes",
        text="Draw this volume, such as '1 PiB'. By default a study's own, and otherwise about 16 "
        "million files.",
        quantity=size("1 PiB"),
    )
    seed: int = stated(min=0, text="The seed that files are drawn by.", default=1)
    picture: Path | None = file_output(
        "FILE",
        "Draw them into a .png, .svg or .pdf file, or write the answer as a page, .html.",
        (*PICTURES, *PAGES),
    )


def show(asked: Asked, quiet: bool = False) -> Answer:
    """Draw populations and show their files and objects by count and by volume.

    Example: resilver population show genomes1000 mira -o populations.png
    """
    from resilver.report.population import population_answer

    if len(asked.names) > _SHOWN_MAX:
        rule = (
            f"{len(asked.names)} populations are named, and at most {_SHOWN_MAX} are shown side by "
            "side"
        )
        raise ConfigError(rule, "name fewer")
    value_of(asked, "volume")
    systems = [_system_of(name, asked.settings) for name in asked.names]
    drawn = [
        _draw(name, system, asked, quiet=quiet)
        for name, system in zip(asked.names, systems, strict=True)
    ]
    return population_answer(drawn)


def _system_of(name: str, settings: Sequence[str]) -> System:
    """The system of a study, or one around a population of the catalog, of a file or a folder."""
    from resilver.importers import import_sizes
    from resilver.spec import Study
    from resilver.spec.sweep import put
    from resilver.spec.toml import split_override

    path = Path(name).expanduser()
    if name not in catalog.list("populations") and path.suffix == ".toml":
        study = load_study(path, settings)
    else:
        if name in catalog.list("populations"):
            histogram: Any = name
        elif path.exists():
            histogram = import_sizes(path)
        else:
            rule = "the catalog has no population of this name, and there is no such file"
            remedy = name_remedy(name, catalog.list("populations"))
            raise ConfigError(rule, remedy, value=f'"{name}"')
        table: dict[str, Any] = {
            "cluster": {"servers": _SERVERS},
            "population": {"histogram": histogram, "files": 0},
            "redundancy": {"replicas": _COPIES},
        }
        for text in settings:
            keys, value = split_override(text)
            table = put(table, keys, value, ".".join(keys))
            if keys[0] == "population" and keys[-1] in ("bytes", "bytes_per_server"):
                table["population"].pop("files", None)
        study = Study.from_dict(table)
    # Of a sweep the first system: --set chooses another.
    system = study.runs()[0].system
    if system.population is None:
        rule = "a real cluster's report states what its PGs hold, and no files"
        raise ConfigError(rule, "show a study with a population", value=f'"{name}"')
    return system


def _draw(name: str, system: System, asked: Asked, *, quiet: bool) -> PopulationSizes:
    from resilver.importers.sizes import expected_by_class
    from resilver.report.population import PopulationSizes
    from resilver.simulate import census

    path, population = Path(name).expanduser(), system.population
    assert population is not None
    label = path.stem if path.suffix == ".toml" else path.name
    volume: str | int | None = asked.volume
    if volume is None and population.files == 0:
        volume = min(int(population.mean_file_bytes * _FILES_DRAWN), VOLUME_MAX)
    servers, copies = system.server_count, system.copies or 1
    with Display(quiet=quiet) as display:
        try:
            table = census(
                population,
                servers=servers,
                copies=copies,
                bytes=volume,
                seed=asked.seed,
                progress=lambda share: display.step(f"drawing {label}", share, 1.0),
            )
        except ConfigError as error:
            raise ConfigError(problem.under(label) for problem in error.problems) from None
    words = _cut_words(population, servers, copies)
    return PopulationSizes.of_census(label, words, table, expected_by_class(population.bins))


def _cut_words(population: Population, servers: int, copies: int) -> str:
    cut = population.cut
    if cut.chunk_bytes is not None:
        return f"chunks of {exact_bytes(cut.chunk_bytes)}"
    if cut.stripe_unit_bytes is not None:
        width = cut.width(servers, copies)
        return f"stripes of {exact_bytes(cut.stripe_unit_bytes)} over {width:,} objects"
    return "whole files"
