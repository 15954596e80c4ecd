//! Codes: what an object's pieces are made of, which losses they survive, and what a repair gathers.

mod lrc;
mod plugins;
mod product;
mod survival;
mod text;

use serde::Deserialize;

use crate::error::{check_pieces, check_sizes};
use crate::matrix::Matrix;
use crate::repair_sets::RepairSets;
use crate::{CodeError, LinearCode, Pieces, reed_solomon};
use lrc::groups_of;
use plugins::Plugin;
use product::Table;
pub(crate) use text::levels;

/// Which code it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Replication,
    ReedSolomon,
    LocallyRepairable {
        /// Data pieces in a local group.
        local: u32,
        /// Whether the global parities survive all that they can, and are no group with the local ones.
        is_maximal: bool,
    },
    Product(Box<Table>),
    /// Each piece of the columns' code is kept as a group, a row, under the rows' own code.
    Levels(Box<Table>),
    /// As a plugin of Ceph decodes.
    Plugin {
        /// The code as it is written.
        name: String,
        plugin: Plugin,
        /// The shard that each piece is: of a PG, its place in the set.
        places: Vec<u32>,
    },
}

/// A code by which an object is kept in pieces, the data first.
///
/// ```
/// use resilver_redundancy::{Code, Pieces};
///
/// let code = Code::parse("lrc 8+5 local 4").unwrap();
/// let mut gathered = Vec::new();
/// assert!(code.repair(Pieces::of([2]), 2, &[], &mut gathered));
/// assert_eq!(gathered, [0, 1, 3, 8]); // the other three of its group and the group's parity
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Code {
    kind: Kind,
    linear: LinearCode,
    fault_tolerance: u32,
    locality: u32,
    /// Which sets are survived, a bit each, where it is not their number alone that says and the sets are few.
    survived: Vec<u64>,
    /// What a locally repairable code's repairs gather, where it can be listed.
    repair_sets: Option<RepairSets>,
}

impl Code {
    /// The code that `text` names: `"copies 3"`, `"rs 8+3"`, `"lrc 8+5 local 4"`, `"lrc 12+2+2"`, `"product rs 4+2 x rs 3+1"`, of
    /// Ceph's plugins `"ceph lrc 4+2 local 3"`, `"clay 4+2 d 5"` or `"shec 4+3 c 2"`, or several levels such as `"rs 2+1 over rs 4+2"`.
    ///
    /// A set holds up to 64 pieces; [`crate::CodeTree::parse`] judges levels of more.
    pub fn parse(text: &str) -> Result<Self, CodeError> {
        let mut levels = levels(text)?;
        let mut code = levels.pop().expect("text has at least one level");
        while let Some(upper) = levels.pop() {
            code = Self::over(upper, code)?;
        }
        Ok(code)
    }

    /// Replication: every piece is the whole object.
    pub fn replication(copies: u32) -> Result<Self, CodeError> {
        if copies == 0 {
            return Err(CodeError::NoCopies);
        }
        check_pieces(&format!("copies {copies}"), u64::from(copies))?;
        // Each further copy and the first one sum to zero.
        let checks = Matrix::from_cells(copies as usize - 1, copies as usize, |row, piece| {
            u8::from(piece == 0 || piece == row + 1)
        });
        Ok(Self::separable(Kind::Replication, LinearCode::from_checks(&checks)))
    }

    /// The Reed-Solomon code of `data` pieces and `parity` more, any `parity` of which may be lost.
    pub fn reed_solomon(data: u32, parity: u32) -> Result<Self, CodeError> {
        check_sizes(&format!("rs {data}+{parity}"), data, parity)?;
        let checks = reed_solomon::parity_check(data + parity, parity);
        Ok(Self::separable(Kind::ReedSolomon, LinearCode::from_checks(&checks)))
    }

    /// The product code whose pieces are a table: each column is a stripe of `column`, and each row one of `row`.
    ///
    /// Its data pieces come first, row by row, and then the others, row by row.
    pub fn product(column: Self, row: Self) -> Result<Self, CodeError> {
        let name = format!("product {} x {}", column.name(), row.name());
        if column.parity() == 0 || row.parity() == 0 {
            return Err(CodeError::ProductWithoutParity(name));
        }
        check_pieces(&name, u64::from(column.pieces()) * u64::from(row.pieces()))?;
        let table = Table::of(column, row);
        let (linear, fault_tolerance) = (table.linear(), table.fault_tolerance());
        Ok(Self::positional(Kind::Product(Box::new(table)), linear, fault_tolerance, None))
    }

    /// The code that keeps each piece of `upper` as a group of pieces under `lower`.
    ///
    /// Its data pieces come first, group by group, and then the others, group by group; [`Code::group_places`] says where each is.
    /// It is a product code by its equations, and healed group by group: data are lost with the groups that `upper` cannot spare,
    /// though its equations might make some of them up.
    pub fn over(upper: Self, lower: Self) -> Result<Self, CodeError> {
        let name = format!("{} over {}", upper.name(), lower.name());
        check_pieces(&name, u64::from(upper.pieces()) * u64::from(lower.pieces()))?;
        let table = Table::of(upper, lower);
        let (linear, fault_tolerance) = (table.linear(), table.fault_tolerance());
        let kind = Kind::Levels(Box::new(table));
        Ok(Self::positional(kind, linear, fault_tolerance, None))
    }

    /// The place of each piece where those of a group stand together, group by group, and of Ceph's lrc its shard; else its own number.
    pub fn group_places(&self) -> Vec<u32> {
        match &self.kind {
            Kind::Levels(table) => table.places(),
            Kind::Plugin { places, .. } => places.clone(),
            _ => (0..self.pieces()).collect(),
        }
    }

    /// How many groups there are, of how many groups each, and so on, and at last of how many pieces; those alone of one level.
    pub fn levels(&self) -> Vec<u32> {
        match &self.kind {
            Kind::Levels(table) => table.levels(),
            _ => vec![self.pieces()],
        }
    }

    /// A code of which it matters which pieces are lost.
    pub(crate) fn positional(
        kind: Kind,
        linear: LinearCode,
        fault_tolerance: u32,
        repair_sets: Option<RepairSets>,
    ) -> Self {
        // A code of several levels judges its groups one by one, without the sets of pieces.
        let survived = match kind {
            Kind::Levels(_) => Vec::new(),
            Kind::Plugin { ref plugin, .. } => {
                linear.survived_sets(fault_tolerance, |lost| plugin.decodes(&linear, lost))
            }
            _ => linear.survived_sets(fault_tolerance, |lost| linear.determines(lost)),
        };
        let mut code = Self { kind, linear, fault_tolerance, locality: 0, survived, repair_sets };
        let mut gathered = Vec::new();
        for piece in 0..code.pieces() {
            code.repair(Pieces::of([piece]), piece, &[], &mut gathered);
            code.locality = code.locality.max(gathered.len() as u32);
        }
        code
    }

    /// A code of which any `data` pieces are enough.
    fn separable(kind: Kind, linear: LinearCode) -> Self {
        let (fault_tolerance, locality) = (linear.parity(), linear.data());
        Self { kind, linear, fault_tolerance, locality, survived: Vec::new(), repair_sets: None }
    }

    /// The code as it is written.
    pub fn name(&self) -> String {
        let (data, parity) = (self.data(), self.parity());
        match &self.kind {
            Kind::Replication => format!("copies {}", self.pieces()),
            Kind::ReedSolomon => format!("rs {data}+{parity}"),
            Kind::LocallyRepairable { local, is_maximal: false } => format!("lrc {data}+{parity} local {local}"),
            Kind::LocallyRepairable { local, is_maximal: true } => {
                let groups = data / local;
                format!("lrc {data}+{groups}+{}", parity - groups)
            }
            Kind::Product(table) => format!("product {}", table.name(" x ")),
            Kind::Levels(table) => table.name(" over "),
            Kind::Plugin { name, .. } => name.clone(),
        }
    }

    /// How many pieces are data: k.
    pub fn data(&self) -> u32 {
        self.linear.data()
    }

    /// How many pieces are parity: p.
    pub fn parity(&self) -> u32 {
        self.linear.parity()
    }

    /// How many pieces there are: n = k + p.
    pub fn pieces(&self) -> u32 {
        self.linear.pieces()
    }

    /// How many pieces can be lost wherever they are.
    pub fn fault_tolerance(&self) -> u32 {
        self.fault_tolerance
    }

    /// How many pieces the repair of a single lost one gathers at most.
    pub fn locality(&self) -> u32 {
        self.locality
    }

    /// How the data make the pieces: row i holds the factors of piece i over GF(2^8), with the polynomial 0x11d.
    pub fn generator(&self) -> &Matrix {
        self.linear.generator()
    }

    /// Whether the data can be read although the pieces `lost` are; numbers beyond the last piece do not count.
    pub fn is_survivable(&self, lost: Pieces) -> bool {
        let lost = lost.and(Pieces::first(self.pieces()));
        let losses = lost.len();
        if losses <= self.fault_tolerance || losses > self.parity() {
            return losses <= self.fault_tolerance;
        }
        if let Kind::Levels(table) = &self.kind {
            return table.survives_by_groups(lost);
        }
        match self.survived.get((lost.bits() / 64) as usize) {
            Some(word) => word >> (lost.bits() % 64) & 1 == 1,
            // What lines survive the rank does too, and lines are the quicker question.
            None => match &self.kind {
                Kind::Plugin { plugin, .. } => plugin.decodes(&self.linear, lost),
                _ => self.survives_by_lines(lost) || self.linear.determines(lost),
            },
        }
    }

    /// Whether a product code's data can be read by making whole one row or column after the other, each by its own code.
    ///
    /// It is what most systems do, and survives no more than [`Code::is_survivable`]. Other codes have one line.
    pub fn is_survivable_by_lines(&self, lost: Pieces) -> bool {
        self.survives_by_lines(lost.and(Pieces::first(self.pieces())))
            || !matches!(self.kind, Kind::Product(_)) && self.is_survivable(lost)
    }

    /// Whether it is a product code whose lines survive the loss of these of its pieces.
    fn survives_by_lines(&self, lost: Pieces) -> bool {
        matches!(&self.kind, Kind::Product(table) if table.left_by_lines(lost).is_empty())
    }

    /// Puts into `gathered` the survivors that make `piece` anew, most preferred first; whether that can be.
    ///
    /// They are the fewest that do, and of equals the first by `prefer`, which lists survivors; those it leaves out come
    /// after, by number, and lost ones in it do not count. A locally repairable code with too many pieces to list its
    /// repairs (more than 20 000 sets of p - 1 pieces) takes a local group where one is whole, and else a set of which none can be spared.
    /// So does a product code with the row or the column, whichever takes fewer; of several levels a group that lives heals itself.
    pub fn repair(&self, lost: Pieces, piece: u32, prefer: &[u32], gathered: &mut Vec<u32>) -> bool {
        gathered.clear();
        if piece >= self.pieces() {
            return false;
        }
        let mut lost = lost;
        lost.insert(piece);
        let (survivors, order) = self.order(lost, prefer);
        let order = &order[..survivors];
        match &self.kind {
            Kind::LocallyRepairable { .. } => {}
            Kind::Product(table) => {
                return table.repair(lost, piece, order, gathered)
                    || self.linear.gather_least(lost, piece, order, gathered);
            }
            Kind::Levels(table) => {
                let is_made = self.is_survivable(lost)
                    && (table.repair_in_group(lost, piece, order, gathered)
                        || self.linear.gather_least(lost, piece, order, gathered));
                return is_made;
            }
            Kind::Plugin { .. } => {
                let read = self.gathers(lost, Pieces::of([piece]));
                return self.ordered(read.map(|(pieces, _)| pieces), order, gathered);
            }
            Kind::Replication | Kind::ReedSolomon => {
                let needed = self.data() as usize;
                gathered.extend(order.iter().take(needed).map(|&survivor| u32::from(survivor)));
                return self.keep_if(gathered.len() == needed, gathered);
            }
        }
        let Some(sets) = &self.repair_sets else {
            let groups = groups_of(&self.kind, &self.linear, piece);
            let whole = groups.into_iter().find(|group| group.and(lost).len() == 1);
            let Some(group) = whole else { return self.linear.gather_least(lost, piece, order, gathered) };
            let members = order.iter().map(|&survivor| u32::from(survivor));
            gathered.extend(members.filter(|&survivor| group.contains(survivor)));
            return true;
        };
        self.ordered(sets.best(lost, piece, order), order, gathered)
    }

    /// Adds a set of pieces in order of preference; whether there is one.
    fn ordered(&self, pieces: Option<Pieces>, order: &[u8], gathered: &mut Vec<u32>) -> bool {
        let Some(pieces) = pieces else { return false };
        gathered
            .extend(order.iter().map(|&survivor| u32::from(survivor)).filter(|&survivor| pieces.contains(survivor)));
        true
    }

    /// The same, but of several levels also within a group that lives in one that is dead.
    pub(crate) fn repair_where_alive(&self, lost: Pieces, piece: u32, prefer: &[u32], gathered: &mut Vec<u32>) -> bool {
        if let Kind::Levels(table) = &self.kind {
            let mut lost = lost;
            lost.insert(piece);
            let (survivors, order) = self.order(lost, prefer);
            if let Some(found) = table.made_in_row((lost, piece), &order[..survivors]) {
                *gathered = found;
                return true;
            }
        }
        self.repair(lost, piece, prefer, gathered)
    }

    /// Puts into `gathered` what a read of all the data takes, in order of preference; whether that can be.
    ///
    /// These are `data` pieces: the surviving data, which need no decoding, and of the parities the first by `prefer` that
    /// add to them. Copies are all alike, so the first one by `prefer` is read. A plugin of Ceph may read more.
    pub fn read(&self, lost: Pieces, prefer: &[u32], gathered: &mut Vec<u32>) -> bool {
        gathered.clear();
        let (survivors, order) = self.order(lost, prefer);
        let order = &order[..survivors];
        if self.kind == Kind::Replication {
            gathered.extend(order.iter().take(1).map(|&survivor| u32::from(survivor)));
            return !gathered.is_empty();
        }
        if matches!(self.kind, Kind::Levels(_)) && !self.is_survivable(lost) {
            return false;
        }
        let data = Pieces::first(self.data());
        if let Kind::Plugin { plugin, .. } = &self.kind {
            let read = plugin.gathers(&self.linear, lost, data);
            return self.ordered(read.map(|(pieces, _)| pieces), order, gathered);
        }
        gathered.extend(order.iter().map(|&survivor| u32::from(survivor)).filter(|&survivor| data.contains(survivor)));
        let is_complete = self.linear.complete_data(data.and(lost), order, gathered);
        self.keep_if(is_complete, gathered)
    }

    /// How the pieces `gathered` make the pieces `wanted`: a row of factors for each of these; [`None`] if they do not.
    pub fn decoding(&self, gathered: &[u32], wanted: &[u32]) -> Option<Matrix> {
        let generator = self.generator();
        let rows = |pieces: &[u32]| {
            Matrix::from_cells(pieces.len(), generator.columns(), |row, column| {
                generator.row(pieces[row] as usize)[column]
            })
        };
        rows(gathered).transposed().solved(&rows(wanted).transposed()).map(|factors| factors.transposed())
    }

    /// The survivors in order of preference, and how many there are.
    fn order(&self, lost: Pieces, prefer: &[u32]) -> (usize, [u8; Pieces::LIMIT as usize]) {
        let mut left = Pieces::first(self.pieces()).without(lost);
        let (mut survivors, mut order) = (0, [0; Pieces::LIMIT as usize]);
        for &piece in prefer {
            if left.contains(piece) {
                left.remove(piece);
                order[survivors] = piece as u8;
                survivors += 1;
            }
        }
        for piece in left.iter() {
            order[survivors] = piece as u8;
            survivors += 1;
        }
        (survivors, order)
    }

    /// Empties `gathered` unless it `is_enough`, and says which.
    fn keep_if(&self, is_enough: bool, gathered: &mut Vec<u32>) -> bool {
        if !is_enough {
            gathered.clear();
        }
        is_enough
    }
}
