"""Evidence of the layers of a file system: what its parts need, and mixed load on a disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from resilver.reproduce.tables import Row


def part_rows(study: str, target: str) -> list[Row]:
    """How many parts of each level a study of the catalog has, and what each needs for a target.

    Args:
        study: Its name.
        target: The rate of all clients, with its unit.

    Returns:
        A row a level: ``level``, ``parts`` and ``each`` in bytes per second.
    """
    from resilver.spec import Study
    from resilver.study.profiling import needed_parts, study_path
    from resilver.units import BytesPerSecond

    system = Study.load(study_path(study)).runs()[0].system
    return [
        {"level": one.level, "parts": float(one.parts), "each": one.each_bytes_per_second}
        for one in needed_parts(system, float(BytesPerSecond.parse(target)))
    ]


def mixed_rows(
    device: str, sizes: Mapping[str, str], writes: float, shares: Sequence[float], requests: int
) -> list[Row]:
    """What a disk moves of small and large requests, reads and writes, mixed: by law and by events.

    Each class c of requests is moved at r(c) alone; of a mix with its shares of the bytes a disk
    moves 1 / sum(share(c) / r(c)).

    Args:
        device: A device of the catalog.
        sizes: The ``small`` and the ``large`` request.
        writes: The share of the bytes that are written, of either size.
        shares: Shares of the bytes that small requests move.
        requests: How many requests of a mix are replayed, one after another.

    Returns:
        A row a share: ``share``, and ``law`` and ``events`` in bytes per second.

    Source: the harmonic mean of rates, weighted by bytes.
    """
    from resilver.calibration.disk import service_seconds
    from resilver.spec import Cluster, DeviceTable
    from resilver.units import Bytes

    table = Cluster.model_validate({"servers": 1, "device": device}).device
    assert isinstance(table, DeviceTable), "the entry names a device with a table"
    small, large = (int(Bytes.parse(sizes[name])) for name in ("small", "large"))
    rows: list[Row] = []
    for share in shares:
        mix = [
            (size, is_read, of_size * of_kind)
            for size, of_size in ((small, share), (large, 1.0 - share))
            for is_read, of_kind in ((True, 1.0 - writes), (False, writes))
        ]
        rates = {
            (size, is_read): size
            / service_seconds(table, "rand" + ("write", "read")[is_read], size)
            for size, is_read, _ in mix
        }
        law = 1.0 / sum(of_class / rates[size, is_read] for size, is_read, of_class in mix)
        rows.append({"share": share, "law": law, "events": _replayed(device, mix, requests)})
    return rows


def _replayed(device: str, mix: Sequence[tuple[int, bool, float]], requests: int) -> float:
    """Bytes over busy seconds of a disk that serves a mix by events, given by shares of bytes."""
    from tempfile import TemporaryDirectory

    from resilver.simulate import simulate
    from resilver.spec import Study

    # Shares of bytes are shares of requests by their size; each class comes evenly among others.
    weights = [of_class / size for size, _, of_class in mix]
    owed, lines = [0.0] * len(mix), []
    for number in range(requests):
        owed = [one + weight / sum(weights) for one, weight in zip(owed, weights, strict=True)]
        chosen = max(range(len(mix)), key=owed.__getitem__)
        owed[chosen] -= 1.0
        size, is_read, _ = mix[chosen]
        lines.append(f"{number} ms,{('write', 'read')[is_read]},{size},server.0\n")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "mix.csv"
        path.write_text("time,kind,size,target\n" + "".join(lines), encoding="utf-8")
        # Far longer than the disk takes for all of them.
        traffic = {"arrivals": {"trace": str(path)}, "duration": f"{requests} s"}
        cluster = {"servers": 1, "device": device, "fabric": {"routers": 1}}
        run = Study.from_dict({"cluster": cluster, "traffic": traffic}).runs()[0]
    (disk,) = simulate(run.system, run.seed).servers.to_pylist()
    moved = disk["device_bytes_read"] + disk["device_bytes_written"]
    return float(moved / disk["device_busy_seconds"])
