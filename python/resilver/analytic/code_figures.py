"""What a redundancy code moves and keeps, and the shares of bandwidth it leaves, as fractions."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from resilver.errors import ConfigError
from resilver.spec.code import ErasureCode, code_of


@dataclass(frozen=True)
class CodeFigures:
    """A code by what its operations gather and send, counted in strips.

    A server that coordinates keeps or provides one strip of each stripe itself. All servers of a
    group do the same at once, so what one sends to its peers it also receives from them; the
    direction of its network that carries more limits it.

    Args:
        name: The code's text.
        data: Data strips of a stripe, k.
        parity: Parity strips of a stripe, p.
        gathered: Strips that the repair of one lost strip gathers, y; the mean over the strips
            where they differ.
        tolerance: Losses of which every set is survived.

    Source: Gonsiorowski et al. (2017), sections 5 and 6.1, Tables 1 and 2.

    >>> code = code_figures("rs 8+3")
    >>> code.read_share, code.write_share, code.rebuild_share
    (Fraction(8, 15), Fraction(4, 9), Fraction(1, 8))
    """

    name: str
    data: int
    parity: int
    gathered: Fraction
    tolerance: int

    @property
    def strips(self) -> int:
        """Strips of a stripe, k + p: what the write of a stripe stores."""
        return self.data + self.parity

    @property
    def read_share(self) -> Fraction:
        """The largest rate of reads over a server's bandwidth: k / (2k - 1).

        For k strips that leave to clients, k - 1 leave to peers that read.
        """
        return Fraction(self.data, 2 * self.data - 1)

    @property
    def write_share(self) -> Fraction:
        """The largest rate of writes over a server's bandwidth: k / (2k + p - 1).

        For k strips that come from clients, k + p - 1 come from peers that write.
        """
        return Fraction(self.data, 2 * self.data + self.parity - 1)

    @property
    def rebuild_share(self) -> Fraction:
        """The largest rate of strips made over a server's bandwidth: 1 / y."""
        return 1 / self.gathered

    @property
    def overhead_factor(self) -> Fraction:
        """Strips sent to peers beyond the data, over the data: x = (p - 1) / k of Table 1.

        It is the x of a write's B / (2 + x), and not the storage overhead p / k.
        """
        return Fraction(self.parity - 1, self.data)

    @property
    def storage_overhead(self) -> Fraction:
        """Additional space over the data's: p / k."""
        return Fraction(self.parity, self.data)

    @property
    def redundancy_share(self) -> Fraction:
        """The part of all space that holds parity: p / (k + p), Table 2's "efficiency"."""
        return Fraction(self.parity, self.strips)

    def mixed_share(self, reads: Fraction) -> Fraction:
        """The largest rate of user data over a server's bandwidth when it reads and writes.

        A read sends k to clients and k - 1 to peers and receives k - 1 from peers; a write
        receives k from clients and k + p - 1 from peers and sends k + p - 1 to peers. The
        direction with more strips an operation limits.

        Args:
            reads: The share of stripe operations that read, 0 to 1.

        Returns:
            The share of the bandwidth; at 1 it is `read_share`, at 0 `write_share`.
        """
        k, spread = self.data, self.strips - 1
        out = reads * (2 * k - 1) + (1 - reads) * spread
        into = reads * (k - 1) + (1 - reads) * (k + spread)
        return k / max(out, into)


def code_figures(text: str) -> CodeFigures:
    """The figures of a code.

    A Reed-Solomon repair gathers k strips. In a locally repairable code with groups of r data
    strips, k / r of the parities are local and the others global. A data strip is made from the r
    others of its group. The globals add up to what the local parities do (the implied parity), so
    any parity is made from all the other parities; where those are more, and always in a maximally
    recoverable code, a local parity is made from its group and a global one from k strips. A strip
    of a product code is made from its row or its column, whichever takes fewer.

    Args:
        text: ``rs K+P``, ``lrc K+P local R``, ``lrc K+L+G``, ``copies N``, or ``product A x B`` of
            two of these.

    Returns:
        The figures.

    Raises:
        ConfigError: The text is no code, or such a code cannot be.

    >>> code_figures("lrc 8+5 local 4").gathered
    Fraction(4, 1)
    >>> code_figures("copies 3").write_share
    Fraction(1, 3)
    """
    try:
        code = code_of(text)
    except ConfigError as error:
        raise ConfigError(problem.under("code") for problem in error.problems) from None
    assert code is not None, "text is a code or refused"
    gathered = _gathered(code)
    mean = Fraction(sum(gathered), len(gathered))
    return CodeFigures(code.label, code.data, code.parity, mean, code.tolerance)


def _gathered(code: ErasureCode) -> list[int]:
    """How many strips the repair of each strip gathers, no other being lost."""
    if code.factors:
        column, row = map(_gathered, code.factors)
        return [min(down, along) for down in column for along in row]
    if code.local is None:
        return [code.data] * code.pieces
    groups = code.data // code.local
    # Without globals there is no implied parity, nor has a maximally recoverable code one.
    has_implied = code.parity > groups and code.groups is None
    others = code.parity - 1 if has_implied else code.data
    of_parities = [min(code.local, others)] * groups
    of_parities += [min(code.data, others)] * (code.parity - groups)
    return [code.local] * code.data + of_parities
