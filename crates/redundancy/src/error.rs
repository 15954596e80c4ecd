//! What can be wrong with a code.

use thiserror::Error;

use crate::Pieces;

/// Why a code cannot be used.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum CodeError {
    /// The text names no code.
    #[error(
        "code = '{0}': a code is written 'copies 3', 'rs 8+3' (8 data pieces and 3 of parity), 'lrc 8+5 local 4' (one of the \
         5 of parity for each 4 data pieces), 'lrc 12+2+2' (2 local and 2 global parities, maximally recoverable), 'product rs 4+2 x rs 3+1' (columns and rows), or, of Ceph's plugins, 'ceph lrc 4+2 local 3', 'ceph lrc DDc_DDc_ \
         DDDc____ ____DDDc', 'clay 4+2 d 5' or 'shec 4+3 c 2', and one whose pieces are stored \
         under another 'rs 17+3 over rs 8+2'; write it so"
    )]
    Unreadable(String),
    /// There is no copy.
    #[error("code = 'copies 0': an object has at least one copy; ask for 1 or more")]
    NoCopies,
    /// There is no data.
    #[error("code = '{0}': a code has at least one data piece; write a number above zero before the '+'")]
    NoData(String),
    /// There is no parity.
    #[error("code = '{0}': a code has at least one piece of parity; add one, or write 'copies 1' for none")]
    NoParity(String),
    /// A product's lines could not make anything anew.
    #[error(
        "code = '{0}': both codes of a product have parity, without which a line makes nothing anew; write the other code alone"
    )]
    ProductWithoutParity(String),
    /// There are more pieces than a set holds.
    #[error(
        "code = '{name}': an object has at most 64 pieces, and this one would have {pieces}; take fewer, or judge levels of more \
             with `resilver redundancy` or `resilver.code_tree`"
    )]
    TooManyPieces {
        /// The code.
        name: String,
        /// Data pieces and parity.
        pieces: u64,
    },
    /// There are more pieces than a tree of codes holds.
    #[error(
        "code = '{name}': all levels together have at most {limit} pieces, and these would have {pieces}; take fewer"
    )]
    LargeTree {
        /// The code.
        name: String,
        /// The product of all levels' pieces.
        pieces: u64,
        /// How many there can be.
        limit: u32,
    },
    /// The local groups do not come out even.
    #[error(
        "code = '{name}': local groups are of equal size, and {local} does not divide the {data} data pieces; take a size \
         that does"
    )]
    UnevenGroups {
        /// The code.
        name: String,
        /// Data pieces.
        data: u32,
        /// Data pieces in a local group.
        local: u32,
    },
    /// There are local groups without a parity of their own.
    #[error(
        "code = '{name}': each of its {groups} local groups has a parity of its own, and there are {parity}; write at least \
         {groups} after the '+', or larger groups"
    )]
    TooFewParities {
        /// The code.
        name: String,
        /// Local groups.
        groups: u32,
        /// Pieces of parity.
        parity: u32,
    },
    /// The data pieces do not come out even over the local groups.
    #[error("code = '{name}': {groups} local groups do not divide the {data} data pieces; take a number that does")]
    UnevenSplit {
        /// The code.
        name: String,
        /// Data pieces.
        data: u32,
        /// Local groups.
        groups: u32,
    },
    /// No coefficients are known.
    #[error(
        "code = '{name}': coefficients in bytes that make an LRC maximally recoverable are known for up to {limit} global \
         parities, and there are {globals}; take fewer, or write 'lrc K+P local R', which survives a loss less"
    )]
    ManyGlobals {
        /// The code.
        name: String,
        /// Global parities.
        globals: u32,
        /// The most.
        limit: u32,
    },
    /// A code of Ceph's plugins breaks a rule of its plugin.
    #[error("code = '{name}': {rule}; {remedy}")]
    Plugin {
        /// The code.
        name: String,
        /// What does not hold.
        rule: String,
        /// What does.
        remedy: String,
    },
    /// How many losses it survives cannot be found out.
    #[error(
        "code = '{name}': what it survives takes looking at {sets} sets of {losses} lost pieces, more than the {limit} that \
         are looked at; take fewer pieces, or local groups of more than {} data pieces", losses - 1
    )]
    TooManySets {
        /// The code.
        name: String,
        /// Losses of the sets.
        losses: u32,
        /// How many sets there are.
        sets: u64,
        /// How many are looked at.
        limit: u64,
    },
}

/// Whether a set holds that many pieces.
pub(crate) fn check_pieces(name: &str, pieces: u64) -> Result<(), CodeError> {
    if pieces > u64::from(Pieces::LIMIT) {
        return Err(CodeError::TooManyPieces { name: name.to_owned(), pieces });
    }
    Ok(())
}

/// Whether there are data and parity, and not too many.
pub(crate) fn check_sizes(name: &str, data: u32, parity: u32) -> Result<(), CodeError> {
    if data == 0 {
        return Err(CodeError::NoData(name.to_owned()));
    }
    if parity == 0 {
        return Err(CodeError::NoParity(name.to_owned()));
    }
    check_pieces(name, u64::from(data) + u64::from(parity))
}
