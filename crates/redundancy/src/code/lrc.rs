//! Locally repairable codes: groups of data pieces with a parity of their own, and global parities over all.
//!
//! The k data pieces are in k / r groups, whose local parities are the groups' sums. The other parities are those of a
//! Reed-Solomon code over the data alone. Its row of ones makes the sum of all data and global parities zero, so the local
//! parities sum to the global ones: the global parities and the local ones are one more group, the implied one, in
//! which each is the sum of the others. Source: Sathiamoorthy et al., "XORing Elephants", 2013.
//!
//! **How many losses it survives.** A codeword without local parities is one of the Reed-Solomon code, with g + 1 pieces
//! other than zero at least, for g global parities. A single piece of data makes g + 1 of them and one local parity. So
//! the distance is g + 1 or g + 2, and it is g + 1 where a codeword of g + 1 sums to zero in every group. The row of ones
//! is a local check on data of one group, which leaves g - 1 others: g + 1 lost pieces of one group are too many.
//!
//! **Maximally recoverable.** Other global parities survive every loss that any code with these groups can: where the losses
//! of each group beyond its first and the lost global parities are g at most, so any g + 1. A lost piece of a group
//! is then the sum of the others, and the columns of two of its losses count as their difference. For g of two, the global
//! checks weigh a group's pieces by x and 1 / x, of x from a coset of its own of a group of powers. The difference
//! of pieces x and y is (x + y)(1, 1 / (x y)): no part of it is zero, 1 / (x y) differs among pairs with one piece in
//! common, and between groups, since the squares of cosets of an odd order are cosets that differ. Huang et al., "Erasure
//! Coding in Windows Azure Storage", 2012, have such a code of 12 + 2 + 2.

use super::Kind;
use crate::error::check_sizes;
use crate::field;
use crate::matrix::Matrix;
use crate::pieces::combination_count;
use crate::reed_solomon;
use crate::repair_sets::RepairSets;
use crate::{Code, CodeError, LinearCode, Pieces};

/// How many sets of lost pieces are looked at to find out what a code survives.
pub(crate) const ENUMERATION_LIMIT: u64 = 10_000_000;

impl Code {
    /// The locally repairable code of `data` pieces in groups of `local`, each with a parity, and the rest of `parity` global.
    pub fn locally_repairable(data: u32, parity: u32, local: u32) -> Result<Self, CodeError> {
        let name = format!("lrc {data}+{parity} local {local}");
        check_sizes(&name, data, parity)?;
        if local == 0 || !data.is_multiple_of(local) {
            return Err(CodeError::UnevenGroups { name, data, local });
        }
        let groups = data / local;
        if parity < groups {
            return Err(CodeError::TooFewParities { name, groups, parity });
        }
        let linear = LinearCode::from_checks(&parity_check(data, parity, local));
        let fault_tolerance = fault_tolerance(&linear, &name, local)?;
        let kind = Kind::LocallyRepairable { local, is_maximal: false };
        let repair_sets = RepairSets::of(&linear);
        Ok(Self::positional(kind, linear, fault_tolerance, repair_sets))
    }

    /// The maximally recoverable code of `data` pieces in `groups` with a parity each, and `globals` more over all.
    pub fn maximally_recoverable(data: u32, groups: u32, globals: u32) -> Result<Self, CodeError> {
        let name = format!("lrc {data}+{groups}+{globals}");
        check_sizes(&name, data, groups.saturating_add(globals))?;
        if groups == 0 || !data.is_multiple_of(groups) {
            return Err(CodeError::UnevenSplit { name, data, groups });
        }
        if globals > GLOBALS_LIMIT {
            return Err(CodeError::ManyGlobals { name, globals, limit: GLOBALS_LIMIT });
        }
        let linear = LinearCode::from_checks(&maximal_check(data, groups, globals));
        let kind = Kind::LocallyRepairable { local: data / groups, is_maximal: true };
        let repair_sets = RepairSets::of(&linear);
        Ok(Self::positional(kind, linear, globals + 1, repair_sets))
    }
}

/// The groups that `piece` is in, whose members sum to zero, smaller first: its local one, and the implied one of all parity.
pub(crate) fn groups_of(kind: &Kind, code: &LinearCode, piece: u32) -> Vec<Pieces> {
    let Kind::LocallyRepairable { local, is_maximal } = *kind else { return Vec::new() };
    let (data, groups) = (code.data(), code.data() / local);
    let group = if piece < data { piece / local } else { piece - data };
    let mut found = Vec::new();
    if group < groups {
        found.push(Pieces::of((group * local..(group + 1) * local).chain([data + group])));
    }
    if piece >= data && code.parity() > groups && !is_maximal {
        found.push(Pieces::first(code.pieces()).without(Pieces::first(data)));
    }
    found.sort_by_key(|group| group.len());
    found
}

/// The parity checks: the local groups' first, and in the order of pieces data, local parities, global parities.
fn parity_check(data: u32, parity: u32, local: u32) -> Matrix {
    let (data, groups, local) = (data as usize, (data / local) as usize, local as usize);
    let globals = parity as usize - groups;
    let global = reed_solomon::parity_check((data + globals) as u32, globals as u32);
    Matrix::from_cells(parity as usize, data + parity as usize, |row, piece| {
        if row < groups {
            u8::from(if piece < data { piece / local == row } else { piece == data + row })
        } else if piece < data {
            global.row(row - groups)[piece]
        } else if piece < data + groups {
            0
        } else {
            global.row(row - groups)[piece - groups]
        }
    })
}

/// The most global parities for which the coefficients of a maximally recoverable code are known.
const GLOBALS_LIMIT: u32 = 2;

/// The parity checks of the maximally recoverable code, in the same order.
///
/// The local parity's column is added to those of its group, so that it has no part in the global checks.
fn maximal_check(data: u32, groups: u32, globals: u32) -> Matrix {
    let local = data / groups;
    let order = [3, 5, 15, 17, 51, 85, 255].into_iter().find(|order| *order > local && 255 / order >= groups);
    let step = 255 / order.expect("64 pieces fit the cosets of one of these");
    let weight = |row: u32, group: u32, place: u32| {
        let exponent = group + step * place;
        field::power(if row == 0 { exponent } else { 255 - exponent })
    };
    let (pieces, parity) = (data + groups + globals, groups + globals);
    Matrix::from_cells(parity as usize, pieces as usize, |row, piece| {
        let (row, piece) = (row as u32, piece as u32);
        let group = if piece < data { piece / local } else { piece - data };
        match row.checked_sub(groups) {
            None => u8::from(group == row),
            Some(row) if piece < data => weight(row, group, piece % local) ^ weight(row, group, local),
            Some(row) => u8::from(group == groups + row),
        }
    })
}

/// How many losses the code survives wherever they are.
fn fault_tolerance(code: &LinearCode, name: &str, local: u32) -> Result<u32, CodeError> {
    let globals = code.parity() - code.data() / local;
    if globals > 0 && local > globals {
        return Ok(globals);
    }
    let (losses, groups) = (globals + 1, code.parity() - globals);
    let (candidates, data) = (code.pieces() - groups, code.data());
    let sets = combination_count(candidates, losses);
    if sets > ENUMERATION_LIMIT {
        let (name, limit) = (name.to_owned(), ENUMERATION_LIMIT);
        return Err(CodeError::TooManySets { name, losses, sets, limit });
    }
    // A codeword of so few pieces has no local parity, so these are passed over.
    let lost_of = |set: Pieces| Pieces::of(set.iter().map(|piece| if piece < data { piece } else { piece + groups }));
    let are_all_survived = Pieces::combinations(candidates, losses).all(|set| code.determines(lost_of(set)));
    Ok(if are_all_survived { losses } else { globals })
}
