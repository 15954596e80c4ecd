"""CRUSH maps: read, made and asked."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from resilver import _core
from resilver.simulate.core_errors import core_errors


class CrushMap:
    """A CRUSH map.

    >>> rules = CrushMap.flat(8).rules()
    >>> rules
    [(0, 'replicated')]
    """

    def __init__(self, core: _core.CrushMap) -> None:
        self.core = core

    @classmethod
    def from_json(cls, text: str) -> CrushMap:
        """Read Ceph's JSON: `ceph osd crush dump`, or the ``crushmap`` of `ceph report`.

        Raises:
            PlacementError: It is not a map, or one that cannot be used.
        """
        with core_errors():
            return cls(_core.CrushMap.from_json(text))

    @classmethod
    def from_text(cls, text: str) -> CrushMap:
        """Read the text that `crushtool -d` writes.

        Raises:
            PlacementError: It is not a map, with line and column, or one that cannot be used.
        """
        with core_errors():
            return cls(_core.CrushMap.from_text(text))

    @classmethod
    def flat(cls, servers: int, bucket: str = "straw2", tunables: str = "jewel") -> CrushMap:
        """A map of equal servers in one bucket, and a rule ``replicated`` over them."""
        with core_errors():
            return cls(_core.CrushMap.flat(servers, bucket, tunables))

    def rules(self) -> list[tuple[int, str]]:
        """The rules, as (id, name)."""
        return self.core.rules()

    def device_name(self, device: int) -> str:
        """The name of a device."""
        return self.core.device_name(device)

    def map_rule(
        self,
        rule_id: int,
        inputs: npt.NDArray[np.uint32],
        copies: int,
        reweight: npt.NDArray[np.uint32] | None = None,
    ) -> npt.NDArray[np.int32]:
        """Map inputs by a rule.

        Args:
            rule_id: The rule.
            inputs: CRUSH inputs, shape (n,).
            copies: How many devices to choose for each.
            reweight: The reweight of each device, 16.16 fixed point; all in when None.

        Returns:
            Devices, shape (n, copies): 2147483647 where an indep rule leaves a hole, and -1 after
            the end of a mapping that is short.

        Raises:
            PlacementError: The map has no such rule.
        """
        with core_errors():
            return self.core.map_rule(rule_id, inputs, copies, reweight)
