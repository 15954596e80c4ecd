"""Codes of Ceph's plugins lrc, clay and shec, as an erasure code profile says them."""

from __future__ import annotations

import json
import re

from resilver.importers.ceph.model import SIZE_MAX
from resilver.importers.jsonpath import Node

KEYS = {
    "lrc": ("k", "m", "l", "mapping", "layers"),
    "clay": ("k", "m", "d"),
    "shec": ("k", "m", "c", "technique"),
}
"""The keys of a profile that say which code it is, by plugin."""


def plugin_code(plugin: str, profile: Node) -> tuple[int, int, str, dict[str, str]]:
    """The code of a profile, whose plugin is one of `KEYS`.

    Whether its plugin takes the numbers, the core says.

    Returns:
        Shards of data; the others; the code as `resilver redundancy` writes it; the values that say
        it, by their keys, without what else they say.

    Raises:
        ConfigError: A number is missing or none, l does not divide k + m, or the mapping has other
            data than the layers.
    """
    if plugin == "lrc" and profile.has("layers"):
        return _layered(profile)
    keys = KEYS[plugin][:3]
    is_default = plugin == "shec" and not any(profile.has(key) for key in keys)
    size = {"k": 4, "m": 3, "c": 2} if is_default else {}
    for key in keys if not size else ():
        if key == "d" and not profile.has("d"):
            size["d"] = size["k"] + size["m"] - 1
        else:
            size[key] = profile.at(key).whole(0 if key in "cdl" else 1, SIZE_MAX)
    data, parity = size["k"], size["m"]
    values = {key: str(number) for key, number in size.items()}
    if plugin == "clay":
        return data, parity, f"clay {data}+{parity} d {size['d']}", values
    if plugin == "shec":
        text = f"shec {data}+{parity} c {size['c']}"
        if profile.text_of("technique") == "single":
            return data, parity, f"{text} single", {**values, "technique": "single"}
        return data, parity, text, values
    if not size["l"] or (data + parity) % size["l"]:
        profile.at("l").fail(f"a divisor of k + m, {data + parity}")
    groups = (data + parity) // size["l"]
    return data, parity + groups, f"ceph lrc {data}+{parity} local {size['l']}", values


def _layered(profile: Node) -> tuple[int, int, str, dict[str, str]]:
    """The code of layers, whose data must be those of the profile's mapping."""
    # Ceph allows commas at the end of lists, and reads any letter but D and c as a shard left out.
    texts = re.findall(r'\[\s*"([^"]+)"\s*[,\]]', profile.at("layers").text())
    layers = [re.sub("[^Dc]", "_", layer) for layer in texts]
    if not layers:
        profile.at("layers").fail("""layers such as [ [ "DDc_DDc_", "" ], ... ]""")
    coded = {at for layer in layers for at, letter in enumerate(layer) if letter == "c"}
    data = "".join("_" if at in coded else "D" for at in range(len(layers[0])))
    mapping = profile.at("mapping")
    if re.sub("[^D]", "_", mapping.text()) != data:
        mapping.fail(f'"{data}", the data of its layers')
    values = {"mapping": data, "layers": json.dumps([[layer, ""] for layer in layers])}
    return data.count("D"), data.count("_"), f"ceph lrc {' '.join(layers)}", values
