"""Who sent how much to whom, as the files that Circos draws.

Source: circos.ca, "Karyotypes" and "Data Formats: links": a line `chr - id label start end color`
a part of the circle, and a line `id start end id start end` a ribbon between two of them.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

_COLORS = 22
"""Circos' own palette names its colors after the human chromosomes, from chr1 on."""


def circos_files(transfers: pa.Table, names: Mapping[int, str]) -> dict[str, str]:
    """The karyotype and the links of a run's transfers.

    Each device takes up as much of the circle as it sent and received, first what it sent.

    Args:
        transfers: Those of a result: source, destination, bytes.
        names: The devices' names by number.

    Returns:
        The files' content by name.
    """
    rows = [row for row in transfers.to_pylist() if row["bytes"]]
    sent: dict[int, int] = {}
    received: dict[int, int] = {}
    for row in rows:
        sent[row["source"]] = sent.get(row["source"], 0) + row["bytes"]
        received[row["destination"]] = received.get(row["destination"], 0) + row["bytes"]
    numbers = sorted({*sent, *received})
    karyotype = [
        f"chr - d{number} {names[number]} 0 {sent.get(number, 0) + received.get(number, 0)}"
        f" chr{place % _COLORS + 1}"
        for place, number in enumerate(numbers)
    ]
    # Where the next ribbon leaves each device, and where the next one comes to it.
    leaves, comes = dict.fromkeys(numbers, 0), {one: sent.get(one, 0) for one in numbers}
    links = []
    for row in rows:
        source, destination, bytes = row["source"], row["destination"], row["bytes"]
        first, second = leaves[source], comes[destination]
        ends = f"d{source} {first} {first + bytes} d{destination} {second} {second + bytes}"
        links.append(ends)
        leaves[source] += bytes
        comes[destination] += bytes
    return {"karyotype.txt": _lines(karyotype), "links.txt": _lines(links)}


def _lines(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
