"""Measure the low-order table of straw2's logarithm (`LL` of `choosing/ln.rs`) with `crushtool`.

`crushtool --test` is asked which of two items of a straw2 bucket wins. Both draw by known hashes,
so the answer compares `distance(u1) // weight1` with `distance(u2) // weight2`. The second item's
distance is one whose `LL` index is 0, hence known; the first one's contains the entry in question;
and the weights are chosen such that the answer cuts the interval in which the entry may lie. Some
four thousand such contests fit into one map, so all 255 entries are enclosed in parallel.

Needs `crushtool` (Debian: ceph-base) and NumPy. Prints, for each entry, the interval of its excess
over `2^48 log2(1 + k/2^15)`. Two minutes enclose every entry within 100,000, more time within less.

    python3 derive_ln.py [SECONDS]
"""

from __future__ import annotations

import math
import subprocess
import sys
import tempfile
import time
from decimal import Decimal, getcontext
from pathlib import Path

import numpy as np

getcontext().prec = 60
Contest = tuple[int, int, int, int]
"""Draw and 16.16 weight of the first item, draw and weight of the second."""

INPUT = 7
"""The one input mapped; device ids then give every draw."""
CONTESTS_PER_MAP = 4000
QUANTILES = 6
"""Contests an entry and round, at equal steps of the interval."""
TUNABLES = """tunable choose_local_tries 0
tunable choose_local_fallback_tries 0
tunable choose_total_tries 50
tunable chooseleaf_descend_once 1
tunable chooseleaf_vary_r 1
tunable chooseleaf_stable 1
tunable straw_calc_version 1
tunable allowed_bucket_algs 54
"""


def rjenkins1_3(first: np.ndarray, second: np.ndarray, third: np.ndarray) -> np.ndarray:
    """Hash three words as `hash::rjenkins1_3` does, elementwise on uint32 arrays."""
    shifts = ((-13, 8, -13), (-12, 16, -5), (-3, 10, -15))
    words = {"a": first, "b": second, "c": third}
    words["x"] = np.full_like(first, 231232)
    words["y"] = np.full_like(first, 1232)
    words["h"] = np.uint32(1315423911) ^ first ^ second ^ third
    for names in ("abh", "cxh", "yah", "bxh", "ych"):
        for shift in shifts:
            for position, amount in enumerate(shift):
                one, two, three = (names[(position + step) % 3] for step in range(3))
                other = words[three]
                moved = other >> np.uint32(-amount) if amount < 0 else other << np.uint32(amount)
                words[one] = (words[one] - words[two] - other) ^ moved
    return words["h"]


def log2_fixed(numerator: int, denominator: int) -> int:
    """Return `2^48 log2(numerator / denominator)`, rounded."""
    exact = (Decimal(numerator) / Decimal(denominator)).ln() / Decimal(2).ln() * (1 << 48)
    return int(exact.to_integral_value(rounding="ROUND_HALF_EVEN"))


class Draws:
    """For each of the 65,536 draws: a device that draws it, and the parts of its logarithm."""

    def __init__(self) -> None:
        """Hash devices until every draw has one, and split every draw's logarithm."""
        devices = np.arange(1 << 20, dtype=np.uint32)
        hashes = rjenkins1_3(np.full_like(devices, INPUT), devices, np.zeros_like(devices))
        self.device = np.full(1 << 16, -1, dtype=np.int64)
        self.device[hashes & 0xFFFF] = devices
        assert (self.device >= 0).all(), "a million devices draw every number"
        operand = np.arange(1, (1 << 16) + 1)
        shift = np.array([max(0, 16 - int(value).bit_length()) for value in operand])
        operand <<= shift
        self.exponent = (15 - shift).astype(np.int64)
        high = (operand >> 8) - 128
        reciprocal = [-(-(128 << 48) // (128 + k)) for k in range(129)]
        pairs = zip(operand, high, strict=True)
        self.index = np.array([(int(value) * reciprocal[k] >> 48) & 0xFF for value, k in pairs])
        table = np.array([log2_fixed(128 + k, 128) for k in range(129)], dtype=np.int64)
        self.high = table[high]
        # The distance without the low entry, exact where the entry is 0.
        self.known = (1 << 48) - ((self.exponent << 44) + (self.high >> 4))
        # The last draw has a high entry of its own and tells nothing here.
        below_last = self.index[:-1]
        self.with_index = [np.nonzero(below_last == entry)[0] for entry in range(256)]


def ask(contests: list[Contest], draws: Draws, folder: Path) -> list[bool]:
    """Return for each contest whether its first item wins (it also wins a tie)."""
    answers: list[bool] = []
    for start in range(0, len(contests), CONTESTS_PER_MAP):
        part = contests[start : start + CONTESTS_PER_MAP]
        pairs = [(int(draws.device[one]), int(draws.device[two])) for one, _, two, _ in part]
        lines = [TUNABLES]
        used = sorted({device for pair in pairs for device in pair})
        lines += [f"device {device} osd.{device}\n" for device in used]
        lines.append("type 0 osd\ntype 1 root\n")
        steps = []
        for number, (contest, (one, two)) in enumerate(zip(part, pairs, strict=True)):
            # A quarter more survives the compiler's single precision and truncation.
            texts = [f"{(weight + 0.25) / 65536:.9f}" for weight in (contest[1], contest[3])]
            items = f" item osd.{one} weight {texts[0]}\n item osd.{two} weight {texts[1]}\n"
            lines.append(f"root b{number} {{\n id {-1 - number}\n alg straw2\n hash 0\n{items}}}\n")
            steps.append(f" step take b{number}\n step choose firstn 1 type osd\n step emit\n")
        lines.append("rule r {\n id 0\n type replicated\n min_size 1\n max_size 100\n")
        lines += [*steps, "}\n"]
        (folder / "map.txt").write_text("".join(lines))
        subprocess.run(["crushtool", "-c", "map.txt", "-o", "map"], cwd=folder, check=True)
        test = ["crushtool", "-i", "map", "--test", "--rule", "0", "--show-mappings"]
        test += ["--num-rep", str(len(part)), "--x", str(INPUT)]
        output = subprocess.run(test, cwd=folder, check=True, capture_output=True, text=True).stdout
        winners = output[output.index("[") + 1 : output.index("]")].split(",")
        answers += [int(winner) == one for winner, (one, _) in zip(winners, pairs, strict=True)]
    return answers


def contests_for(
    entry: int, low: int, high: int, draws: Draws, random: np.random.Generator
) -> list[tuple[int, Contest]]:
    """Return contests that the first item wins if the entry is at least the number beside them."""
    # Wide intervals are cut anywhere; narrow ones need finely divided weights, and luck.
    wide = high - low > 1 << 24
    samples, widest = (40_000, 13.0) if wide else (1_000_000, 20.0)
    known = draws.known
    first = random.choice(draws.with_index[entry], samples)
    second = random.choice(draws.with_index[0], samples)
    weight1 = np.exp2(random.uniform(0 if wide else 10, widest, samples)).astype(np.int64)
    guess = low + random.random(samples) * (high - low)
    base = (1 << 48) - (draws.exponent[first] << 44)
    quotient = (base - (draws.high[first] + guess) / 16) / weight1
    weight2 = np.rint(known[second] / np.maximum(quotient, 1)).astype(np.int64)
    usable = (weight2 >= 1) & (weight2 < 1 << 21)
    rival = known[second] // np.maximum(weight2, 1)
    # First wins if (base - (high + entry) // 16) // weight1 <= rival, solved for the entry.
    threshold = 16 * (base - (rival + 1) * weight1 + 1) - draws.high[first]
    usable &= (threshold > low) & (threshold < high)
    at = np.nonzero(usable)[0]
    place = (threshold[at] - low) / (high - low)
    steps = [step / QUANTILES for step in range(1, QUANTILES)] if len(at) else []
    chosen = {int(at[np.argmin(abs(place - step))]) for step in steps}
    return [
        (int(threshold[i]), (int(first[i]), int(weight1[i]), int(second[i]), int(weight2[i])))
        for i in chosen
    ]


def main() -> None:
    """Enclose every entry and print the intervals."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 180.0
    draws, random = Draws(), np.random.default_rng(1)
    low, high = [-(1 << 40)] * 256, [1 << 43] * 256
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        while time.monotonic() - start < seconds:
            asked = [
                (entry, *contest)
                for entry in range(1, 256)
                if high[entry] - low[entry] > 64
                for contest in contests_for(entry, low[entry], high[entry], draws, random)
            ]
            answers = ask([contest for _, _, contest in asked], draws, Path(name))
            for (entry, threshold, _), first_wins in zip(asked, answers, strict=True):
                if first_wins:
                    low[entry] = max(low[entry], threshold)
                else:
                    high[entry] = min(high[entry], threshold)
            assert all(one < two for one, two in zip(low, high, strict=True)), "answers contradict"
            widths = sorted(math.log2(high[k] - low[k]) for k in range(1, 256))
            summary = f"log2 of width: median {widths[127]:.1f}, largest {widths[-1]:.1f}"
            print(f"{len(asked)} contests; {summary}", file=sys.stderr)
    for entry in range(1, 256):
        exact = log2_fixed(32768 + entry, 32768)
        print(f"{entry:3d}  [{low[entry] - exact}, {high[entry] - exact})")


if __name__ == "__main__":
    main()
