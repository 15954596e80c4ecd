//! Every least set of pieces that makes another one, for codes small enough to list them.

use crate::matrix::Span;
use crate::pieces::combination_count;
use crate::{LinearCode, Pieces};

/// How many sets of checks are looked through for the list; a code with more of them goes without.
const CANDIDATE_LIMIT: u64 = 20_000;

/// For each piece the sets that hold it and of which each member follows from the others and from nothing less.
///
/// Such a set is the places where some sum of the parity checks is not zero, if no other sum's places lie within them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RepairSets {
    /// By piece, the smallest sets first.
    of_piece: Vec<Vec<Pieces>>,
}

impl RepairSets {
    /// The list for a code; [`None`] where it would be too long.
    ///
    /// A sum of the p checks is set, up to a factor, by p - 1 independent pieces in which it is zero.
    pub(crate) fn of(code: &LinearCode) -> Option<Self> {
        let zeros = code.parity().checked_sub(1)?;
        if combination_count(code.pieces(), zeros) > CANDIDATE_LIMIT {
            return None;
        }
        let mut sets: Vec<Pieces> =
            Pieces::combinations(code.pieces(), zeros).filter_map(|zeros| complement(code, zeros)).collect();
        sets.sort_unstable_by_key(|set| (set.len(), *set));
        sets.dedup();
        let with = |piece| sets.iter().copied().filter(|set| set.contains(piece)).collect();
        Some(Self { of_piece: (0..code.pieces()).map(with).collect() })
    }

    /// The smallest set that makes `piece` of what is not lost, and of equals the one with the first pieces in `order`.
    pub(crate) fn best(&self, lost: Pieces, piece: u32, order: &[u8]) -> Option<Pieces> {
        let mut other_lost = lost;
        other_lost.remove(piece);
        let mut usable = self.of_piece[piece as usize].iter().filter(|set| set.and(other_lost).is_empty()).peekable();
        let size = usable.peek()?.len();
        let mut place = [0u8; Pieces::LIMIT as usize];
        for (index, &survivor) in order.iter().enumerate() {
            place[usize::from(survivor)] = index as u8;
        }
        // Of two sets of one size the one with the earlier first difference has the higher number with the first place on top.
        let places = |set: &Pieces| {
            let others = set.without(Pieces::of([piece]));
            others.iter().fold(0u64, |bits, other| bits | 1 << (63 - place[other as usize]))
        };
        let mut best = usable.take_while(|set| set.len() == size).max_by_key(|set| places(set)).copied()?;
        best.remove(piece);
        Some(best)
    }
}

/// The pieces in which the one sum of checks that is zero at `zeros` is not; [`None`] where they leave more than one sum.
fn complement(code: &LinearCode, zeros: Pieces) -> Option<Pieces> {
    let mut span = Span::<{ Pieces::LIMIT as usize }>::new();
    if !zeros.iter().all(|piece| span.add(code.check(piece))) {
        return None;
    }
    let outside = |&piece: &u32| span.rest(code.check(piece)).iter().any(|&element| element != 0);
    Some(Pieces::of((0..code.pieces()).filter(outside)))
}
