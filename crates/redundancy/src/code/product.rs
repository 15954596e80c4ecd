//! Product codes: a table of pieces of which every column is a stripe of one code and every row one of another.
//!
//! The data fill the upper left corner. Coding the columns and then the rows gives the same as the other way round, because
//! the generator is the tensor product of both codes' generators; its least weight is the product of both (Elias, 1954).
//!
//! **Two ways to decode.** By lines: rows and columns that their own code can make whole are made so, again and again, until
//! nothing changes. By rank: all checks at once, which is all that can be done. Some losses stop the lines and not the rank.

use crate::field;
use crate::matrix::Matrix;
use crate::{Code, LinearCode, Pieces};

/// The table of a product code's pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Table {
    /// The code of each column, whose pieces are the rows.
    column: Code,
    /// The code of each row, whose pieces are the columns.
    row: Code,
    /// Row and column of each piece: first the data, then the rest, both row by row.
    cells: Vec<(u32, u32)>,
    /// The pieces of each row and then of each column; the order of their numbers is that within a line as well.
    lines: Vec<Pieces>,
}

impl Table {
    /// The table of two codes whose pieces together number [`Pieces::LIMIT`] at most.
    pub(crate) fn of(column: Code, row: Code) -> Self {
        let (rows, columns) = (column.pieces(), row.pieces());
        let all = (0..rows).flat_map(|at_row| (0..columns).map(move |at_column| (at_row, at_column)));
        let is_data = |&(at_row, at_column): &(u32, u32)| at_row < column.data() && at_column < row.data();
        let (mut cells, parity): (Vec<_>, Vec<_>) = all.partition(is_data);
        cells.extend(parity);
        let mut lines = vec![Pieces::new(); (rows + columns) as usize];
        for (piece, &(at_row, at_column)) in (0..).zip(&cells) {
            lines[at_row as usize].insert(piece);
            lines[(rows + at_column) as usize].insert(piece);
        }
        Self { column, row, cells, lines }
    }

    /// The code by which the data make the cells.
    pub(crate) fn linear(&self) -> LinearCode {
        let data = (self.column.data() * self.row.data()) as usize;
        let (column, row) = (self.column.generator(), self.row.generator());
        LinearCode::from_generator(Matrix::from_cells(self.cells.len(), data, |piece, datum| {
            let ((to_row, to_column), (from_row, from_column)) = (self.cells[piece], self.cells[datum]);
            let down = column.row(to_row as usize)[from_row as usize];
            field::multiply(down, row.row(to_column as usize)[from_column as usize])
        }))
    }

    /// How many losses it survives wherever they are: the least number of cells that are not is the product of both codes'.
    pub(crate) fn fault_tolerance(&self) -> u32 {
        (self.column.fault_tolerance() + 1) * (self.row.fault_tolerance() + 1) - 1
    }

    /// The code as it is written.
    pub(crate) fn name(&self, joint: &str) -> String {
        [self.column.name(), self.row.name()].join(joint)
    }

    /// Whether the columns' code survives the loss of all rows that their own does not make whole.
    pub(crate) fn survives_by_groups(&self, lost: Pieces) -> bool {
        let rows = &self.lines[..self.column.pieces() as usize];
        let is_dead = |&(_, &row): &(u32, &Pieces)| !self.row.is_survivable(within(row, lost));
        self.column.is_survivable(Pieces::of((0..).zip(rows).filter(is_dead).map(|(row, _)| row)))
    }

    /// Puts into `gathered` what makes `piece` within its row where that lives, else within its column, of survivors listed in
    /// `order`; whether either can.
    pub(crate) fn repair_in_group(&self, lost: Pieces, piece: u32, order: &[u8], gathered: &mut Vec<u32>) -> bool {
        let column = |&(_, line): &(&Code, Pieces)| line.contains(piece);
        let of_columns = || self.lines().skip(self.column.pieces() as usize).find(column);
        let by_column =
            || of_columns().and_then(|(code, line)| repaired(code, line, (lost, piece), order, Code::repair));
        let found = self.made_in_row((lost, piece), order).or_else(by_column);
        gathered.extend(found.iter().flatten());
        found.is_some()
    }

    /// What makes `piece` within its row, or within a group of that where the row's code has several levels.
    pub(crate) fn made_in_row(&self, (lost, piece): (Pieces, u32), order: &[u8]) -> Option<Vec<u32>> {
        let row = self.lines().find(|(_, line)| line.contains(piece));
        row.and_then(|(code, line)| repaired(code, line, (lost, piece), order, Code::repair_where_alive))
    }

    /// For each piece its place where rows stand one behind another, each in the order of its own code's places.
    pub(crate) fn places(&self) -> Vec<u32> {
        let of_row = self.row.group_places();
        self.cells.iter().map(|&(row, column)| row * self.row.pieces() + of_row[column as usize]).collect()
    }

    /// The pieces of each level, from the top.
    pub(crate) fn levels(&self) -> Vec<u32> {
        std::iter::once(self.column.pieces()).chain(self.row.levels()).collect()
    }

    /// What stays lost when every row and column that its own code can make whole is made so, for as long as there is one.
    pub(crate) fn left_by_lines(&self, lost: Pieces) -> Pieces {
        let mut left = lost;
        loop {
            let before = left;
            for (code, line) in self.lines() {
                let losses = left.and(line).len();
                let is_made = losses <= code.fault_tolerance()
                    || losses <= code.parity() && code.is_survivable(within(line, left));
                if is_made {
                    left = left.without(line);
                }
            }
            if left == before {
                return left;
            }
        }
    }

    /// Puts into `gathered` what makes `piece` within its row or its column, whichever takes fewer, and of equals the first by
    /// `order`, in which all survivors are listed; whether either can.
    pub(crate) fn repair(&self, lost: Pieces, piece: u32, order: &[u8], gathered: &mut Vec<u32>) -> bool {
        let place = |survivor: &u32| order.iter().position(|&one| u32::from(one) == *survivor);
        let lines = self.lines().filter(|(_, line)| line.contains(piece));
        let repairs = lines.filter_map(|(code, line)| repaired(code, line, (lost, piece), order, Code::repair));
        let best = repairs.min_by_key(|found| (found.len(), found.iter().map(place).collect::<Vec<_>>()));
        gathered.extend(best.iter().flatten());
        best.is_some()
    }

    /// Each row and each column with the code that it is a stripe of.
    fn lines(&self) -> impl Iterator<Item = (&Code, Pieces)> {
        let (rows, columns) = self.lines.split_at(self.column.pieces() as usize);
        rows.iter().map(|&line| (&self.row, line)).chain(columns.iter().map(|&line| (&self.column, line)))
    }
}

/// What makes a piece within a line that is a stripe of `code`, of survivors in this order.
fn repaired(
    code: &Code,
    line: Pieces,
    (lost, piece): (Pieces, u32),
    order: &[u8],
    repair: impl Fn(&Code, Pieces, u32, &[u32], &mut Vec<u32>) -> bool,
) -> Option<Vec<u32>> {
    let members: Vec<u32> = line.iter().collect();
    let index = |number: u32| members.iter().position(|&member| member == number).map(|index| index as u32);
    let prefer: Vec<u32> = order.iter().filter_map(|&survivor| index(u32::from(survivor))).collect();
    let mut found = Vec::new();
    repair(code, within(line, lost), index(piece)?, &prefer, &mut found)
        .then(|| found.iter().map(|&index| members[index as usize]).collect())
}

/// Which members of a line are lost, by their place in it.
fn within(line: Pieces, lost: Pieces) -> Pieces {
    let lost = line.iter().zip(0..).filter(|&(piece, _)| lost.contains(piece));
    Pieces::of(lost.map(|(_, place)| place))
}
