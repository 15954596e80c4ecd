"""What was measured of a store's files, and the histograms that are drawn from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from resilver.errors import ConfigError, show
from resilver.importers.sizes.histogram import Bin, drawn_bytes
from resilver.importers.sizes.tally import CLASSES_PER_DOUBLING, Tally, kept_bin, plain_bin
from resilver.importers.walk import LeftOut, printable
from resilver.units import format_bytes


@dataclass(frozen=True)
class MeasuredSizes:
    """The file sizes of a tree, of listings or of a histogram.

    Attributes:
        source: What was measured, for people.
        left_out: What was met and not counted.
        given: The bins, where a histogram was imported, which knows no more than its bins.
    """

    source: str
    tally: Tally = field(repr=False, compare=False)
    left_out: LeftOut = field(default_factory=LeftOut)
    given: tuple[Bin, ...] | None = None

    @cached_property
    def files(self) -> int:
        """How many files there are."""
        if self.given is not None:
            return sum(item.file_count for item in self.given)
        return self.tally.files

    @cached_property
    def bytes(self) -> int:
        """What they hold; of a histogram, what is expected of its bins."""
        return round(drawn_bytes(self.given)) if self.given is not None else self.tally.bytes

    def bins(self, per_doubling: int = 1, *, keep_volume: bool = True) -> tuple[Bin, ...]:
        """The histogram to draw files from.

        Args:
            per_doubling: Into how many equal parts each power of two is divided: 1, 2, 4 ... 64. A
                histogram that was imported cannot be divided, and has its own bins with 1.
            keep_volume: Narrow each bin to the sizes that occur in it and so that its middle is
                their mean, which keeps the volume; otherwise bins have plain edges.

        Returns:
            The bins that hold files, sizes rising.

        Raises:
            ConfigError: The number is none of these, or a histogram was to be divided.
        """
        allowed = (1, 2, 4, 8, 16, 32, CLASSES_PER_DOUBLING)
        if isinstance(per_doubling, bool) or per_doubling not in allowed:
            rule = "a power of two of sizes is divided into 1, 2, 4, 8, 16, 32 or 64 bins"
            raise ConfigError(rule, key="bins", value=show(per_doubling))
        if self.given is not None:
            if per_doubling != 1:
                rule = "a histogram cannot be divided further: it does not say what its bins hold"
                raise ConfigError(rule, "import the sizes themselves", "bins", show(per_doubling))
            return self.given
        groups = self.tally.groups(per_doubling)
        if keep_volume:
            return tuple(kept_bin(group) for group in groups)
        return tuple(plain_bin(group, per_doubling) for group in groups)

    def volume_error(self, bins: tuple[Bin, ...]) -> float:
        """By how much the expected volume of as many files drawn from `bins` differs.

        Args:
            bins: The bins, as `bins` returns them.

        Returns:
            The expected volume over the measured one, less 1; infinite where only empty files were
            measured, each of which is drawn as one byte.
        """
        drawn = drawn_bytes(bins)
        stored = Fraction(self.bytes) if self.given is None else drawn_bytes(self.given)
        if stored == 0:
            return float("inf") if drawn else 0.0
        return float(drawn / stored - 1)

    def text(self, bins: tuple[Bin, ...]) -> str:
        """The file of `bins` that ``histogram = { file = ... }`` reads.

        Args:
            bins: The bins, as `bins` returns them.

        Returns:
            Lines ``min max count``, below comments that say what was measured.
        """
        left_out = ", ".join(
            f"{name.replace('_', ' ')}: {count}" for name, count in self.left_out.counts().items()
        )
        if self.bytes:
            # Rounded first, so that no minus stands before a zero.
            error = round(self.volume_error(bins), 6) + 0.0
            drawn = f"expected volume of as many files drawn from these bins: {error:+.4%} off"
        else:
            drawn = "all files are empty, and each is drawn as one byte"
        head = [
            f"# apparent file sizes of {printable(self.source)}: files {self.files}, bytes "
            f"{self.bytes} ({format_bytes(self.bytes)})",
            f"# left out: {left_out or 'nothing'}",
            f"# {drawn}",
            "# each line: min max count; sizes from min up to, and without, max, in bytes",
            f"# total_count: {self.files}",
        ]
        rows = [f"{item.min_bytes} {item.max_bytes} {item.file_count}" for item in bins]
        return "\n".join([*head, *rows]) + "\n"
