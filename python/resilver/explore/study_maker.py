"""The core's input of a study under other values of its keys."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from resilver.browser.request import system_maps
from resilver.core_input import core_json, faults_json
from resilver.errors import ConfigError, PlacementError
from resilver.explore.study_figures import frames_of
from resilver.explore.study_parts import levels_that_fail
from resilver.spec import Run, System
from resilver.spec.sweep import sections_at
from resilver.study.run import validate_runs

_MAPS_BYTES_MAX = 2**19
"""The most bytes of CRUSH maps that a page holds for choices of placement."""


_LONG = re.compile(r"(?<![\d.eE+-])\d{16,}(?![\d.eE])")


class Maker:
    """Makes the core's input of a study under other values of its keys.

    The CRUSH maps of all that it makes stand in one list, by whose numbers inputs name them.
    """

    def __init__(self, sections: Mapping[str, Any], seed: int, folder: Path) -> None:
        self.sections, self.seed, self.folder = sections, seed, folder
        self.system = System(**sections)
        self.levels = levels_that_fail(self.system)
        self.maps: list[bytes] = []
        self._own_maps = system_maps(self.system, seed)
        self.maps += self._own_maps
        self.base = self._input(self.system, self._own_maps)

    def made(self, values: Mapping[str, Any]) -> Any:
        """The input under values by dotted key; None where they are refused."""
        found = self._system(values)
        if found is None:
            return None
        system, places = found
        try:
            maps = system_maps(system, self.seed) if places else self._own_maps
            made = self._input(system, maps)
            # A page has whole numbers in 53 bits, and writes the fewest digits that tell one from
            # its neighbours, as Python does.
            long = _LONG.findall(json.dumps(made["pools"]))
            exact = (int(Decimal(repr(float(digits)))) == int(digits) for digits in long)
            return made if all(exact) else None
        except (ConfigError, PlacementError):
            return None

    def refuses(self, values: Mapping[str, Any]) -> bool:
        """Whether values by dotted key are refused."""
        return self._system(values) is None

    def system_of(self, values: Mapping[str, Any]) -> System | None:
        """The system under values by dotted key; None where they are refused."""
        found = self._system(values)
        return None if found is None else found[0]

    def _system(self, values: Mapping[str, Any]) -> tuple[System, bool] | None:
        """The system under values, and whether other CRUSH maps may be its; None if refused.

        Refused is too what changes the parts, since the page has one map of them.
        """
        try:
            sections = sections_at(self.sections, values, self.folder)
            system = System(**sections)
            validate_runs([Run(system, {}, self.seed, "")])
        except (ConfigError, PlacementError):
            return None
        reports = [one.report and one.report.sha256 for one in (system, self.system)]
        if system.cluster.tree != self.system.cluster.tree or reports[0] != reports[1]:
            return None
        names = ("placement", "redundancy", "pools")
        return system, any(sections.get(one) is not self.sections.get(one) for one in names)

    def _input(self, system: System, maps: Sequence[bytes]) -> Any:
        made = json.loads(core_json(system, self.seed))
        faults = json.loads(json.dumps(faults_json(system, self.levels)))
        faults["levels"].sort(key=lambda level: level["level"])
        made["faults"] = faults
        made["frames"] = frames_of(system, len(made["endpoint_of"]))
        for pool in made["pools"]:
            crush = pool["placement"].get("crush")
            if crush is not None:
                crush["map"] = self._number_of(maps[crush["map"]], crush["map"])
        return made

    def _number_of(self, content: bytes, number: int) -> int:
        """The number of a map: its own where the base has the same one there."""
        if self.maps[number : number + 1] == [content]:
            return number
        if content not in self.maps:
            if sum(map(len, self.maps)) + len(content) > _MAPS_BYTES_MAX:
                raise ConfigError("the maps of these choices are more than a page holds")
            self.maps.append(content)
        return self.maps.index(content)
