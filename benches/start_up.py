"""What small commands take from their start to their end, medians beside goals."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time

REPEATS = 15
MAP = "place --build 64 host straw2 4 root straw2 0 -o map.bin"
GOAL_SECONDS = {
    "--version": 0.15,
    "--help": 0.3,
    "run --help": 0.3,
    "what-if --help": 0.3,
    "place --help": 0.3,
    "calibrate disk --help": 0.3,
    "check demo": 0.3,
    "schema": 0.3,
    "topology torus 16x16x16": 0.3,
    "redundancy rs 8+3": 0.3,
    "place map.bin --rule 0 --num-rep 3 --min-x 0 --max-x 9 --show-mappings": 0.3,
}


def main() -> None:
    """Print each median beside its goal; commands take turns, so that all meet the same machine."""
    # Without bytecode an interpreter would compile the package each time.
    env = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    took: dict[str, list[float]] = {words: [] for words in GOAL_SECONDS}
    with tempfile.TemporaryDirectory() as folder:

        def seconds(words: str) -> float:
            begun = time.perf_counter()
            command = [sys.executable, "-m", "resilver", *words.split()]
            subprocess.run(command, cwd=folder, env=env, check=True, capture_output=True)
            return time.perf_counter() - begun

        seconds(MAP)
        for turn in range(REPEATS + 1):
            for words in GOAL_SECONDS:
                one = seconds(words)
                if turn:
                    took[words].append(one)
    for words, goal in GOAL_SECONDS.items():
        median = statistics.median(took[words])
        print(f"{words[:48]:<48} {median:6.3f} s   goal {goal:g} s")


if __name__ == "__main__":
    main()
