"""What the core in a page is asked: the very text and maps that the native core gets."""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import dataclass
from typing import Literal

from resilver.core_input import core_json
from resilver.simulate.core_errors import core_errors
from resilver.simulate.run import maps_of
from resilver.spec import System
from resilver.whatif.asking import Prepared


@dataclass(frozen=True)
class CoreRequest:
    """A run that the core in a page can begin.

    Attributes:
        kind: Whether a system runs, or a Ceph cluster heals.
        input: The JSON that the native core gets.
        maps: The CRUSH maps beside it, in Ceph's binary form.
    """

    kind: Literal["system", "cluster"]
    input: str
    maps: tuple[bytes, ...] = ()

    def to_json(self) -> str:
        """The request as ``core.mjs`` reads it, with the maps in Base64."""
        maps = [b64encode(one).decode("ascii") for one in self.maps]
        return json.dumps({"kind": self.kind, "input": self.input, "maps": maps})


def system_request(system: System, seed: int) -> CoreRequest:
    """The run of one system with one seed, as `resilver.simulate.simulate` begins it.

    Args:
        system: The system.
        seed: The key of every random draw, 0 to 2^64 - 1.

    Raises:
        PlacementError: A CRUSH map cannot be used, or written.
    """
    with core_errors(f"seed {seed}"):
        maps = tuple(one.to_bytes() for one in maps_of(system))
        return CoreRequest("system", core_json(system, seed), maps)


def cluster_request(ready: Prepared) -> CoreRequest:
    """The run of a real cluster and a plan, as `resilver.whatif` begins it.

    Args:
        ready: The cluster and its plan.
    """
    return CoreRequest("cluster", ready.text)
