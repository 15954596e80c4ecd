"""How long a declustered RAID takes to make a lost disk anew in its distributed spare."""

from __future__ import annotations

from dataclasses import dataclass, replace

from resilver.errors import ConfigError, show


@dataclass(frozen=True)
class Declustered:
    """Disks whose parity groups, and whose spare space, lie over all of them evenly.

    Args:
        disks: How many there are, the lost one among them.
        capacity_bytes: What was on the lost disk.
        segment_bytes: How much of a group's data one step of the rebuild covers.
        rate: B/s of a disk while it reads or writes.
        overhead_seconds: What a request takes beside its bytes.
        merged_bytes: Up to how many bytes a disk takes neighbouring requests as one; 0 for none.
    """

    disks: int
    capacity_bytes: float
    segment_bytes: float
    rate: float
    overhead_seconds: float = 0.0
    merged_bytes: float = 0.0

    def rebuild_seconds(self, data: int) -> float:
        """How long the rebuild takes, all disks busy all the time.

        A segment has a chunk of ``segment_bytes / data`` on each data disk of its group. For each
        chunk of the lost disk, `data` chunks are read and one is written, so the survivors share
        ``data + 1`` requests a chunk. Requests of one disk come in order, and as many neighbours
        as fit ``merged_bytes`` are one.

        Args:
            data: Data disks of a group.

        Returns:
            Seconds: chunks x (data + 1) x (overhead / merged + chunk / rate) / (disks - 1).

        Raises:
            ConfigError: A group does not fit.

        >>> lot = Declustered(disks=11, capacity_bytes=1e6, segment_bytes=1e3, rate=1e6)
        >>> lot.rebuild_seconds(1)  # a thousand chunks, each read and written, over ten disks
        0.2
        """
        if not 1 <= data < self.disks:
            raise ConfigError(
                "a group has from one data disk to one less than there are disks",
                "choose a smaller group, or more disks",
                "data",
                show(data),
            )
        chunk = self.segment_bytes / data
        merged = max(1, int(self.merged_bytes // chunk))
        requests = self.capacity_bytes / chunk * (data + 1)
        busy = self.overhead_seconds / merged + chunk / self.rate
        return requests * busy / (self.disks - 1)

    def fitted(self, data: int, seconds: float) -> Declustered:
        """The same disks with the overhead that makes one rebuild take as long as measured.

        Args:
            data: Data disks of a group there.
            seconds: How long it took.

        Returns:
            The disks, with ``overhead_seconds`` fitted.

        Raises:
            ConfigError: Transfers alone take longer than that.
        """
        bare = replace(self, overhead_seconds=0.0).rebuild_seconds(data)
        one = replace(self, overhead_seconds=1.0).rebuild_seconds(data)
        if seconds < bare:
            raise ConfigError(
                f"transfers alone take {bare:.4g} s there",
                "state a higher rate, or another rebuild",
                "seconds",
                show(seconds),
            )
        return replace(self, overhead_seconds=(seconds - bare) / (one - bare))
