//! Matrices over the field of 256 elements: ranks, inverses and solutions.

use crate::Pieces;
use crate::field;

/// A matrix of bytes as elements of GF(2^8).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matrix {
    rows: usize,
    columns: usize,
    /// Row by row.
    cells: Vec<u8>,
}

impl Matrix {
    /// A matrix whose cells `cell` gives by row and column.
    pub fn from_cells(rows: usize, columns: usize, mut cell: impl FnMut(usize, usize) -> u8) -> Self {
        let cells = (0..rows * columns).map(|index| cell(index / columns, index % columns)).collect();
        Self { rows, columns, cells }
    }

    /// How many rows it has.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many columns it has.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The cells of a row.
    pub fn row(&self, row: usize) -> &[u8] {
        &self.cells[row * self.columns..(row + 1) * self.columns]
    }

    /// The matrix whose rows are the columns of this one.
    pub fn transposed(&self) -> Self {
        Self::from_cells(self.columns, self.rows, |row, column| self.row(column)[row])
    }

    /// The product with a matrix of as many rows as this one has columns.
    pub fn multiplied(&self, right: &Self) -> Self {
        Self::from_cells(self.rows, right.columns, |row, column| {
            (0..self.columns)
                .fold(0, |sum, inner| sum ^ field::multiply(self.row(row)[inner], right.row(inner)[column]))
        })
    }

    /// The matrix X for which this one times X is `right`, with zeros where it leaves a choice; [`None`] if there is none.
    pub fn solved(&self, right: &Self) -> Option<Self> {
        let width = self.columns + right.columns;
        let mut work = Self::from_cells(self.rows, width, |row, column| match column.checked_sub(self.columns) {
            None => self.row(row)[column],
            Some(column) => right.row(row)[column],
        });
        let pivots = work.reduce(self.columns);
        let is_solvable =
            (pivots.len()..self.rows).all(|row| work.row(row)[self.columns..].iter().all(|&cell| cell == 0));
        is_solvable.then(|| {
            let mut solution = Self::from_cells(self.columns, right.columns, |_, _| 0);
            for (row, &pivot) in pivots.iter().enumerate() {
                let start = pivot * right.columns;
                solution.cells[start..start + right.columns].copy_from_slice(&work.row(row)[self.columns..]);
            }
            solution
        })
    }

    /// Brings the first `columns` columns to reduced row echelon form; the columns of the pivots, one a row.
    fn reduce(&mut self, columns: usize) -> Vec<usize> {
        let mut pivots = Vec::new();
        for column in 0..columns {
            let top = pivots.len();
            let Some(found) = (top..self.rows).find(|&row| self.row(row)[column] != 0) else { continue };
            for cell in 0..self.columns {
                self.cells.swap(top * self.columns + cell, found * self.columns + cell);
            }
            let scale = field::invert(self.row(top)[column]);
            let pivot_row: Vec<u8> = self.row(top).iter().map(|&cell| field::multiply(cell, scale)).collect();
            for row in 0..self.rows {
                let factor = self.row(row)[column];
                let cells = &mut self.cells[row * self.columns..(row + 1) * self.columns];
                if row == top {
                    cells.copy_from_slice(&pivot_row);
                } else if factor != 0 {
                    field::add_multiple(cells, &pivot_row, factor);
                }
            }
            pivots.push(column);
        }
        pivots
    }
}

/// The span of some vectors of at most `WIDTH` elements, grown one by one.
///
/// Each vector kept has a one at its pivot, the first of its elements that is not zero, and no two share a pivot.
pub(crate) struct Span<const WIDTH: usize> {
    vectors: [[u8; WIDTH]; WIDTH],
    /// Which pivots are taken; the vector of a pivot stands at its place.
    pivots: Pieces,
}

impl<const WIDTH: usize> Span<WIDTH> {
    /// The span of nothing.
    pub(crate) fn new() -> Self {
        Self { vectors: [[0; WIDTH]; WIDTH], pivots: Pieces::new() }
    }

    /// What is left of `vector` when all that the span can make of it is taken away; all zeros if it lies in the span.
    pub(crate) fn rest(&self, vector: &[u8]) -> [u8; WIDTH] {
        let mut rest = [0; WIDTH];
        rest[..vector.len()].copy_from_slice(vector);
        for pivot in self.pivots.iter() {
            let factor = rest[pivot as usize];
            if factor != 0 {
                field::add_multiple(&mut rest[..vector.len()], &self.vectors[pivot as usize], factor);
            }
        }
        rest
    }

    /// Adds a vector that [`Span::rest`] left; whether it added a dimension.
    pub(crate) fn add_rest(&mut self, mut rest: [u8; WIDTH]) -> bool {
        let Some(pivot) = rest.iter().position(|&element| element != 0) else { return false };
        let scale = field::invert(rest[pivot]);
        for element in &mut rest {
            *element = field::multiply(*element, scale);
        }
        self.vectors[pivot] = rest;
        self.pivots.insert(pivot as u32);
        true
    }

    /// Adds a vector; whether it added a dimension.
    pub(crate) fn add(&mut self, vector: &[u8]) -> bool {
        self.add_rest(self.rest(vector))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_is_solved_and_a_contradiction_is_not() {
        // Rows 1 and 2 are 1,2 and 3,4; their sum is 2,6, which (1, 1) solves from the left, so transposed it is the solution.
        let matrix = Matrix::from_cells(2, 2, |row, column| [[1, 2], [3, 4]][row][column]);
        let right = Matrix::from_cells(2, 1, |row, _| [2, 6][row]);
        let solution = matrix.transposed().solved(&right).unwrap();
        assert_eq!(solution.cells, [1, 1]);
        assert_eq!(matrix.transposed().multiplied(&solution), right);
        let flat = Matrix::from_cells(2, 1, |_, _| 1);
        assert_eq!(flat.solved(&Matrix::from_cells(2, 1, |row, _| row as u8)), None);
    }

    #[test]
    fn a_span_knows_its_own_sums() {
        let mut span = Span::<3>::new();
        assert!(span.add(&[0, 1, 2]) && span.add(&[5, 1, 7]));
        assert_eq!(span.rest(&[5, 0, 5]), [0; 3], "the sum of both");
        assert!(!span.add(&[5, 0, 5]) && span.add(&[0, 0, 1]));
    }
}
