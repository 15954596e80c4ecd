//! What a linear code is made of: its parity checks, and the generator that follows from them.

use crate::Pieces;
use crate::matrix::{Matrix, Span};

/// The most pieces for which what is survived stands in a table, of a bit a set: 8 KiB.
const TABLE_PIECES: u32 = 16;

/// The widest parity checks for which the small work space does.
const NARROW: usize = 16;

/// A systematic linear code over GF(2^8): the first pieces are the data, and the rest follows from its parity checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LinearCode {
    /// A row for each piece: its column of the parity-check matrix. The sum over all pieces of row times piece is zero.
    checks: Matrix,
    /// A row for each piece: how the data make it.
    generator: Matrix,
}

impl LinearCode {
    /// The sets of few enough pieces that it survives, as bits of their numbers; empty for more pieces than a table takes.
    pub(crate) fn survived_sets(&self, fault_tolerance: u32, survives: impl Fn(Pieces) -> bool) -> Vec<u64> {
        if self.pieces() > TABLE_PIECES {
            return Vec::new();
        }
        let mut survived = vec![0u64; (1usize << self.pieces()).div_ceil(64)];
        for losses in fault_tolerance + 1..=self.parity() {
            for lost in Pieces::combinations(self.pieces(), losses).filter(|&lost| survives(lost)) {
                survived[(lost.bits() / 64) as usize] |= 1 << (lost.bits() % 64);
            }
        }
        survived
    }

    /// The code of parity checks whose last columns, as many as there are rows, can be inverted.
    pub(crate) fn from_checks(parity_check: &Matrix) -> Self {
        let (parity, pieces) = (parity_check.rows(), parity_check.columns());
        let data = pieces - parity;
        let of_data = Matrix::from_cells(parity, data, |row, column| parity_check.row(row)[column]);
        let of_parity = Matrix::from_cells(parity, parity, |row, column| parity_check.row(row)[data + column]);
        let made = of_parity.solved(&of_data).expect("the parities' columns of a parity-check matrix are independent");
        let generator = Matrix::from_cells(pieces, data, |piece, column| match piece.checked_sub(data) {
            None => u8::from(piece == column),
            Some(row) => made.row(row)[column],
        });
        Self { checks: parity_check.transposed(), generator }
    }

    /// The code of a generator whose first rows are the unit matrix.
    ///
    /// Each parity sums with what the data make of it to zero, which is its check.
    pub(crate) fn from_generator(generator: Matrix) -> Self {
        let (pieces, data) = (generator.rows(), generator.columns());
        let checks = Matrix::from_cells(pieces, pieces - data, |piece, check| match piece.checked_sub(data) {
            None => generator.row(data + check)[piece],
            Some(parity) => u8::from(parity == check),
        });
        Self { checks, generator }
    }

    /// How many pieces there are.
    pub(crate) fn pieces(&self) -> u32 {
        self.generator.rows() as u32
    }

    /// How many of them are data.
    pub(crate) fn data(&self) -> u32 {
        self.generator.columns() as u32
    }

    /// How many of them are parity.
    pub(crate) fn parity(&self) -> u32 {
        self.checks.columns() as u32
    }

    /// How the data make the pieces, a row each.
    pub(crate) fn generator(&self) -> &Matrix {
        &self.generator
    }

    /// A piece's column of the parity-check matrix.
    pub(crate) fn check(&self, piece: u32) -> &[u8] {
        self.checks.row(piece as usize)
    }

    /// Whether the parity checks determine the lost pieces from all others: their columns are independent.
    pub(crate) fn determines(&self, lost: Pieces) -> bool {
        if self.checks.columns() <= NARROW {
            self.are_independent::<NARROW>(lost)
        } else {
            self.are_independent::<{ Pieces::LIMIT as usize }>(lost)
        }
    }

    fn are_independent<const WIDTH: usize>(&self, lost: Pieces) -> bool {
        let mut span = Span::<WIDTH>::new();
        lost.iter().all(|piece| span.add(self.check(piece)))
    }

    /// Adds to `gathered` the survivors that make `piece`, none of which could be spared; whether there are any.
    ///
    /// A piece follows from others if some sum of the parity checks holds it and, beside it, them alone: its column lies
    /// outside the span of the columns of all that is not gathered. So survivors are left out, the last in `order` first,
    /// for as long as that stays true.
    pub(crate) fn gather_least(&self, lost: Pieces, piece: u32, order: &[u8], gathered: &mut Vec<u32>) -> bool {
        if self.checks.columns() <= NARROW {
            self.gather_within::<NARROW>(lost, piece, order, gathered)
        } else {
            self.gather_within::<{ Pieces::LIMIT as usize }>(lost, piece, order, gathered)
        }
    }

    fn gather_within<const WIDTH: usize>(
        &self,
        lost: Pieces,
        piece: u32,
        order: &[u8],
        gathered: &mut Vec<u32>,
    ) -> bool {
        let mut left_out = Span::<WIDTH>::new();
        for other in lost.iter().filter(|&other| other != piece) {
            left_out.add(self.check(other));
        }
        let mut target = left_out.rest(self.check(piece));
        if target.iter().all(|&element| element == 0) {
            return false;
        }
        for &survivor in order.iter().rev() {
            let rest = left_out.rest(self.check(u32::from(survivor)));
            if is_multiple(&rest, &target) {
                gathered.push(u32::from(survivor));
            } else {
                left_out.add_rest(rest);
                target = left_out.rest(&target[..self.checks.columns()]);
            }
        }
        gathered.reverse();
        true
    }

    /// Adds to `gathered` what of `order` completes the surviving data to all the data; whether that can be.
    ///
    /// Of a piece of parity only its part in the lost data counts, so the span has their number of dimensions.
    pub(crate) fn complete_data(&self, lost_data: Pieces, order: &[u8], gathered: &mut Vec<u32>) -> bool {
        let mut span = Span::<{ Pieces::LIMIT as usize }>::new();
        let (mut missing, mut part) = (lost_data.len(), [0u8; Pieces::LIMIT as usize]);
        for &piece in order {
            if missing == 0 {
                break;
            }
            let row = self.generator.row(usize::from(piece));
            for (cell, column) in part.iter_mut().zip(lost_data.iter()) {
                *cell = row[column as usize];
            }
            if u32::from(piece) >= self.data() && span.add(&part[..lost_data.len() as usize]) {
                gathered.push(u32::from(piece));
                missing -= 1;
            }
        }
        missing == 0
    }
}

/// Whether two vectors, of which `right` is not zero, differ by a factor other than zero.
fn is_multiple<const WIDTH: usize>(left: &[u8; WIDTH], right: &[u8; WIDTH]) -> bool {
    let mut span = Span::<WIDTH>::new();
    span.add_rest(*right);
    left.iter().any(|&element| element != 0) && span.rest(left) == [0; WIDTH]
}
