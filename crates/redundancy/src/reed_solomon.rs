//! Reed-Solomon codes: any k pieces of k + m give all the others.
//!
//! The parity checks are m rows of powers, row i holding the i-th powers of distinct elements, one a piece. Any m columns are
//! a Vandermonde matrix and so independent: the code is maximum distance separable. Row 0 is all ones: the pieces sum
//! to zero. Source: I. S. Reed and G. Solomon, 1960, in the form of parity checks that Reed-Solomon codes in storage take
//! (Sathiamoorthy et al., 2013, appendix).

use crate::field;
use crate::matrix::Matrix;

/// The parity checks of `parity` pieces over `pieces`, data first.
pub(crate) fn parity_check(pieces: u32, parity: u32) -> Matrix {
    Matrix::from_cells(parity as usize, pieces as usize, |row, piece| field::power(row as u32 * piece as u32))
}
