"""mdtest: operations on names per second, of all processes together.

Its table ends with the most, the least, the mean and the standard deviation over iterations; where
it tells of ranks too, these stand before. Phases that were not asked for have zeros.

Source: IOR's source, src/mdtest.c of 3.0 to 4.1.
"""

from __future__ import annotations

import re
from pathlib import Path

from resilver.importers.benchmarks.table import Found, count_of, rate_of

PROGRAM = "mdtest"

KNOWN = re.compile(r"mdtest-\S{1,80} was launched with (\d{1,14}) total task\(s\)")
"""What mdtest prints first of a run."""
_RATES = re.compile(r"SUMMARY(?: rate)?(?: \(in ops/sec\))?: \(of \d+ iterations\)")
_OTHER = re.compile(r"SUMMARY|-- finished at|-- started at")
_ROW = re.compile(r" {2,}((?:File|Directory|Tree) [a-z]+(?: [a-z]+)?) *:? +((?:-?[0-9.]+ *)+)")
_OF_ITERATIONS, _OF_RANKS = 4, 3
_NUMBER = re.compile(r"\d{1,14}\.\d{3}")


def read_mdtest(text: str, path: Path) -> Found:
    """Read what mdtest printed.

    Returns:
        The mean rate of each operation that was tried.

    Raises:
        ConfigError: It has no rate.
    """
    found, is_rates, processes, columns = Found(path, PROGRAM), False, None, _OF_ITERATIONS
    for number, line in enumerate(text.splitlines(), start=1):
        place = f"{path}, line {number}"
        if launched := KNOWN.search(line):
            processes, is_rates = count_of(launched[1], place, "total task(s)"), False
        elif _RATES.match(line.strip()):
            is_rates, columns = True, _OF_ITERATIONS
        elif line.strip().startswith("Operation") and "per Rank:" in line:
            columns = _OF_RANKS + _OF_ITERATIONS
        elif _OTHER.match(line.strip()):
            is_rates = False
        elif is_rates and (row := _ROW.match(line)):
            numbers = row[2].split()
            if len(numbers) != columns or not all(map(_NUMBER.fullmatch, numbers)):
                found.note(number, "the line is cut off: left out")
                continue
            mean = numbers[-2]
            if float(mean) == 0.0:
                continue
            rate = rate_of(mean, 1.0, place, row[1])
            test = row[1].strip().lower()
            found.add("metadata", test, number, clients=processes, operations_per_second=rate)
    return found.whole("mdtest printed no rate", "give its whole output")
