//! How many sets of lost pieces a code survives, and how many more losses.

use super::lrc::ENUMERATION_LIMIT;
use crate::pieces::combination_count;
use crate::{Code, Pieces};

impl Code {
    /// Whether the data can be read although `lost` are, and whichever `further` pieces are lost besides.
    pub fn survives(&self, lost: Pieces, further: u32) -> bool {
        self.survives_from(0, lost, further)
    }

    fn survives_from(&self, first: u32, lost: Pieces, further: u32) -> bool {
        if further == 0 || lost.len() + further <= self.fault_tolerance {
            return self.is_survivable(lost);
        }
        let mut others = (first..self.pieces()).filter(|&piece| !lost.contains(piece));
        lost.len() + further <= self.parity()
            && others.all(|piece| self.survives_from(piece + 1, lost.or(Pieces::of([piece])), further - 1))
    }

    /// How many sets of `losses` lost pieces are survived, and how many sets there are.
    ///
    /// [`None`] where they would have to be looked at one by one and are more than [`Code::ENUMERATION_LIMIT`].
    pub fn survivable(&self, losses: u32) -> Option<(u64, u64)> {
        self.counted(losses, |lost| self.is_survivable(lost))
    }

    /// The same by rows and columns of a product code, as [`Code::is_survivable_by_lines`] judges.
    pub fn survivable_by_lines(&self, losses: u32) -> Option<(u64, u64)> {
        self.counted(losses, |lost| self.is_survivable_by_lines(lost))
    }

    /// Counts the sets that `is_survived`, which holds up to the fault tolerance and for none beyond the parity.
    fn counted(&self, losses: u32, is_survived: impl Fn(Pieces) -> bool) -> Option<(u64, u64)> {
        let all = combination_count(self.pieces(), losses);
        if losses <= self.fault_tolerance || losses > self.parity() {
            return Some((if losses <= self.fault_tolerance { all } else { 0 }, all));
        }
        (all <= Self::ENUMERATION_LIMIT).then(|| {
            let survived = Pieces::combinations(self.pieces(), losses).filter(|&lost| is_survived(lost));
            (survived.count() as u64, all)
        })
    }

    /// The most sets that [`Code::survivable`] looks at.
    pub const ENUMERATION_LIMIT: u64 = ENUMERATION_LIMIT;
}
