"""CRUSH maps: read, made and asked."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resilver import _core
from resilver.core_errors import core_errors
from resilver.crush.model import COPIES_MAX, words_of
from resilver.errors import ConfigError
from resilver.text import CRUSH_MAGIC, read_bytes

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class CrushMap:
    """A CRUSH map. It never changes: an edit returns another map.

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
    def from_bytes(cls, data: bytes) -> CrushMap:
        """Read the binary form of `ceph osd getcrushmap` and `crushtool -c`.

        Raises:
            PlacementError: It is not a map, with the byte at fault, or one that cannot be used.
        """
        with core_errors():
            return cls(_core.CrushMap.from_bytes(data))

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> CrushMap:
        """Read a map from a file, whatever its form.

        Args:
            path: A text map, a binary one, the JSON of `ceph osd crush dump` or `crushtool
                --dump`, or a whole `ceph report`.

        Raises:
            ConfigError: The file cannot be read.
            PlacementError: It holds no map, or one that cannot be used; the file is named.
        """
        return cls.parse(read_bytes(Path(path)), str(path))

    @classmethod
    def parse(cls, data: bytes, place: str) -> CrushMap:
        """Read a map from a file's bytes, whatever its form; see `read`.

        Args:
            data: The bytes.
            place: Where they came from, for messages.

        Raises:
            ConfigError: They are no text and no binary map.
            PlacementError: They hold no map, or one that cannot be used; the place is named.
        """
        with core_errors(place):
            if data.startswith(CRUSH_MAGIC):
                return cls(_core.CrushMap.from_bytes(data))
            try:
                text = data.decode("utf-8-sig")
            except UnicodeDecodeError as error:
                raise ConfigError(
                    f"{place}: byte {error.start}: neither a binary CRUSH map nor UTF-8 text; "
                    "give a map in text, JSON or binary"
                ) from None
            if text.lstrip().startswith("{"):
                return cls(_core.CrushMap.from_json(text))
            return cls(_core.CrushMap.from_text(text))

    @classmethod
    def build(cls, devices: int, layers: Sequence[tuple[str, str, int]]) -> CrushMap:
        """Build a map from layers, as `crushtool --build` does.

        Args:
            devices: How many devices, each of weight 1.
            layers: From the devices up: type name, bucket kind, items a bucket (0 for all).

        Raises:
            PlacementError: There is no such kind, or the layers make no map.

        >>> cluster = CrushMap.build(8, [("host", "straw2", 4), ("root", "straw2", 0)])
        >>> cluster.rules()
        [(0, 'replicated_rule')]
        """
        for what, count in [("devices", devices), *((name, size) for name, _, size in layers)]:
            if not 0 <= count < 2**32:
                raise ConfigError(f"{what} = {count}: use a number from 0 to below 2^32")
        with core_errors():
            return cls(_core.CrushMap.build(devices, list(layers)))

    def to_text(self) -> str:
        """Write the text that `crushtool -d` writes, with more digits where a weight needs them."""
        return self.core.to_text()

    def to_json(self) -> str:
        """Write the JSON that `crushtool --dump` writes."""
        return self.core.to_json()

    def document(self) -> dict[str, Any]:
        """The map as `to_json` writes it; buckets and rules without a name have crushtool's."""
        document: dict[str, Any] = json.loads(self.to_json())
        names = dict(self.core.rules())
        for rule in document["rules"]:
            rule.setdefault("rule_name", names[rule["rule_id"]])
        for bucket in document["buckets"]:
            bucket.setdefault("name", f"bucket{-1 - bucket['id']}")
        return document

    def to_bytes(self) -> bytes:
        """Write the binary form that clusters keep.

        Raises:
            PlacementError: The map holds what that form cannot: a tree of more than 64 items.
        """
        with core_errors():
            return self.core.to_bytes()

    def with_item(
        self, name: str, weight: float, location: Mapping[str, str], *, id: int | None = None
    ) -> CrushMap:
        """Add a device, as `crushtool --add-item` does.

        Args:
            name: Its name.
            weight: Its weight, usually its size in TiB.
            location: The buckets it goes into, by type; those that do not exist are made.
            id: Its number; by default that of a name such as ``osd.7``, else the first beyond all.

        Raises:
            PlacementError: The name or the place is taken, or the location fits nothing.

        >>> small = CrushMap.build(4, [("host", "straw2", 2), ("root", "straw2", 0)])
        >>> more = small.with_item("osd.4", 2.0, {"host": "host2", "root": "root"})
        >>> "item osd.4 weight 2.000" in more.to_text()
        True
        """
        number = self._number_for(name) if id is None else _device_number(id)
        with core_errors():
            return CrushMap(self.core.with_item(number, weight, name, list(location.items())))

    def with_item_updated(
        self, name: str, weight: float, location: Mapping[str, str], *, id: int | None = None
    ) -> CrushMap:
        """Give a device a weight and a location, wherever it was: `crushtool --update-item`.

        Args:
            name: Its name.
            weight: Its weight.
            location: The buckets it goes into, by type.
            id: Its number; by default the one it has, else as for :meth:`with_item`.

        Raises:
            PlacementError: The name is taken, or the location fits nothing.
        """
        known = self.core.device_id(name) if id is None else _device_number(id)
        number = self._number_for(name) if known is None else known
        with core_errors():
            return CrushMap(
                self.core.with_item_updated(number, weight, name, list(location.items()))
            )

    def without_item(self, name: str) -> CrushMap:
        """Remove a device, or a bucket that is empty, as `crushtool --remove-item` does.

        Raises:
            PlacementError: There is no such item, or the bucket is in use.
        """
        with core_errors():
            return CrushMap(self.core.without_item(name))

    def moved(self, name: str, location: Mapping[str, str]) -> CrushMap:
        """Move a device or a bucket with all it holds, as `crushtool --move` does.

        Raises:
            PlacementError: There is no such item, or the location fits nothing.
        """
        with core_errors():
            return CrushMap(self.core.moved(name, list(location.items())))

    def reweighted(self, name: str, weight: float) -> CrushMap:
        """Give an item another weight, and all above it theirs: `crushtool --reweight-item`.

        Raises:
            PlacementError: No bucket holds such an item, or the weight is out of range.
        """
        with core_errors():
            return CrushMap(self.core.reweighted(name, weight))

    def recomputed(self) -> CrushMap:
        """Sum every bucket's weight anew from the devices up, as `crushtool --reweight` does."""
        with core_errors():
            return CrushMap(self.core.recomputed())

    def reclassified(
        self,
        classes: Iterable[Sequence[str]] = (),
        roots: Iterable[Sequence[str]] = (),
        buckets: Iterable[Sequence[str]] = (),
    ) -> CrushMap:
        """Turn trees of one kind of device into device classes, as `crushtool --reclassify` does.

        Args:
            classes: Buckets, each with the class that all devices below it get first.
            roots: Buckets, each with the class that rules take of it from now on.
            buckets: Patterns (``%-ssd``, ``ssd-%`` or a name), each with a class and the bucket
                that a plain name is merged into and that new buckets go into.

        Raises:
            PlacementError: A name or a pattern fits nothing, two patterns fit one bucket, or a rule
                takes a class of such a root already.

        >>> crush = CrushMap.build(4, [("host", "straw2", 2), ("root", "straw2", 0)])
        >>> classes = crush.reclassified([("root", "hdd")], [("root", "hdd")])
        >>> "step take root class hdd" in classes.to_text()
        True
        """
        with core_errors():
            return CrushMap(
                self.core.reclassified(
                    [(name, own) for name, own in classes],
                    [(name, own) for name, own in roots],
                    [(match, own, parent) for match, own, parent in buckets],
                )
            )

    def _number_for(self, name: str) -> int:
        """The number that a new device's name says, else the first beyond all devices."""
        number = name.rpartition(".")[2]
        if number.isascii() and number.isdigit() and len(number) < 9:
            return int(number)
        return self.core.max_device()

    @classmethod
    def flat(cls, servers: int, bucket: str = "straw2", tunables: str = "jewel") -> CrushMap:
        """A map of equal servers in one bucket, and a rule ``replicated`` over them."""
        with core_errors():
            return cls(_core.CrushMap.flat(servers, bucket, tunables))

    def for_codes(self) -> CrushMap:
        """The same map with its rules made for erasure codes, as Ceph makes them.

        Every rule chooses indep instead of firstn: a piece keeps its position, and a failure leaves
        a hole where a position finds no device. It tries 100 times, and 5 below a failure domain.

        >>> import numpy as np
        >>> cluster = CrushMap.flat(32).for_codes()
        >>> cluster.map_rule(0, np.arange(2, dtype=np.uint32), 11).shape
        (2, 11)
        >>> "step choose indep 0 type server" in cluster.to_text()
        True
        """
        return CrushMap(self.core.for_codes())

    def rules(self) -> list[tuple[int, str]]:
        """The rules, as (id, name)."""
        return self.core.rules()

    def device_name(self, device: int) -> str:
        """The name of a device."""
        return self.core.device_name(device)

    def map_rule(
        self,
        rule_id: int,
        inputs: npt.ArrayLike,
        copies: int,
        reweight: npt.ArrayLike | None = None,
        choose_args: int | None = None,
    ) -> npt.NDArray[np.int32]:
        """Map inputs by a rule.

        Args:
            rule_id: The rule.
            inputs: CRUSH inputs, shape (n,).
            copies: How many devices to choose for each.
            reweight: The reweight of each device, 16.16 fixed point; all in when None.
            choose_args: Key of the stand-in weights to draw by, which is a pool's id; the map's
                default where it has no such key. None means pool 0, as for crushtool.

        Returns:
            Devices, shape (n, copies): 2147483647 where an indep rule leaves a hole, and -1 after
            the end of a mapping that is short.

        Raises:
            PlacementError: The map has no such rule.
            ConfigError: Inputs or reweights are no whole numbers of 32 bits, or there are too
                many copies.

        >>> import numpy as np
        >>> CrushMap.flat(8).map_rule(0, np.arange(2, dtype=np.uint32), 3).shape
        (2, 3)
        """
        if not 0 <= copies <= COPIES_MAX:
            raise ConfigError(f"copies = {copies}: use a number from 0 to {COPIES_MAX}")
        placed = words_of("inputs", inputs)
        weights = None if reweight is None else words_of("reweight", reweight)
        with core_errors():
            return self.core.map_rule(rule_id, placed, copies, weights, choose_args)


def _device_number(number: int) -> int:
    """A device's number, within what a map can hold."""
    if not 0 <= number < 2**31:
        raise ConfigError(f"id = {number}: use a number from 0 to below 2^31")
    return number
