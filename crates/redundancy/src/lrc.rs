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

use crate::matrix::Matrix;
use crate::pieces::combination_count;
use crate::reed_solomon;
use crate::{CodeError, LinearCode, Pieces};

/// How many sets of lost pieces are looked at to find out what a code survives.
pub(crate) const ENUMERATION_LIMIT: u64 = 10_000_000;

/// The parity checks: the local groups' first, and in the order of pieces data, local parities, global parities.
pub(crate) fn parity_check(data: u32, parity: u32, local: u32) -> Matrix {
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

/// How many losses the code survives wherever they are.
pub(crate) fn fault_tolerance(code: &LinearCode, name: &str, local: u32) -> Result<u32, CodeError> {
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
