//! How close a group is to loss: what its code still survives.

use resilver_redundancy::{Code, CodeError, CodeTree, Pieces};

/// The most pieces of a code of one level for which the fewest further losses are looked for one by one.
const SEARCHED_PIECES: u32 = 16;

/// What a code says of the pieces that a group lacks.
///
/// Places are those of [`CodeTree`]: of several levels the pieces of a group of the lowest level stand together.
#[derive(Clone, Debug)]
pub(super) struct Judge {
    levels: Vec<Code>,
    /// The fewest pieces whose loss loses data.
    pub distance: u32,
    pub pieces: u32,
    /// Pieces that hold data.
    pub data: u32,
    /// Pieces that the repair of one reads at most, parts of pieces counted as parts.
    pub reads: f64,
    /// Whether the number of lost pieces alone says it.
    is_counted: bool,
}

impl Judge {
    /// Judges the code that `text` names.
    pub fn parse(text: &str) -> Result<Self, CodeError> {
        let tree = CodeTree::parse(text)?;
        let levels = tree.levels().to_vec();
        let lowest = &levels[levels.len() - 1];
        let is_counted = levels.len() == 1 && lowest.fault_tolerance() == lowest.parity();
        // A piece of a code without parity is made of nothing.
        let reads = if lowest.parity() == 0 { 0 } else { lowest.locality() };
        let reads = f64::from(reads) / f64::from(lowest.repair_parts());
        Ok(Self {
            distance: tree.fault_tolerance() + 1,
            pieces: tree.pieces(),
            data: tree.data(),
            reads,
            is_counted,
            levels,
        })
    }

    /// The fewest further pieces whose loss loses data when these, each named once, are lost; 0 if data is lost already.
    ///
    /// It is exact for codes whose levels survive any loss of as many pieces as they have parities, and for others of one level and up to 16
    /// pieces. Else it may be too small, yet never 0 while data is there, and never more than one less for one more lost.
    pub fn margin(&self, lost: &[u32]) -> u32 {
        if self.is_counted {
            return self.distance.saturating_sub(lost.len() as u32);
        }
        let [code] = self.levels.as_slice() else { return self.margin_of_levels(lost) };
        let lost = Pieces::of(lost.iter().copied());
        if !code.is_survivable(lost) {
            return 0;
        }
        let mut margin = self.distance.saturating_sub(lost.len()).max(1);
        if code.pieces() <= SEARCHED_PIECES {
            while code.survives(lost, margin) {
                margin += 1;
            }
        }
        margin
    }

    /// Level by level from the lowest: what it takes to lose a group is what it takes to lose the cheapest of its members that suffice.
    fn margin_of_levels(&self, lost: &[u32]) -> u32 {
        let mut costs = vec![1; self.pieces as usize];
        lost.iter().for_each(|&place| costs[place as usize] = 0);
        for code in self.levels.iter().rev() {
            let of_group = |members: &[u32]| {
                let dead = Pieces::of((0..).zip(members).filter(|&(_, &cost)| cost == 0).map(|(member, _)| member));
                if !code.is_survivable(dead) {
                    return 0;
                }
                let mut members = members.to_vec();
                members.sort_unstable();
                members[..=code.fault_tolerance() as usize].iter().sum::<u32>().max(1)
            };
            costs = costs.chunks(code.pieces() as usize).map(of_group).collect();
        }
        costs[0]
    }

    /// The places whose pieces may be read to make that of one place anew: those of its group at the lowest level.
    pub fn read_with(&self, place: u16) -> std::ops::Range<u32> {
        let pieces = self.levels[self.levels.len() - 1].pieces();
        let first = u32::from(place) / pieces * pieces;
        first..first + pieces
    }

    /// How many of the pieces that are left are such that without it, too, data would be lost.
    pub fn needed(&self, lost: &mut Vec<u32>) -> u32 {
        let mut needed = 0;
        for place in 0..self.pieces {
            if !lost.contains(&place) {
                lost.push(place);
                needed += u32::from(self.margin(lost) == 0);
                lost.pop();
            }
        }
        needed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_that_counts_dies_of_one_more_than_its_parities() {
        let judge = Judge::parse("rs 8+3").unwrap();
        assert_eq!((judge.distance, judge.pieces, judge.data, judge.reads), (4, 11, 8, 8.0));
        // Of Clay halves of five.
        assert_eq!(Judge::parse("clay 4+2").unwrap().reads, 2.5);
        assert_eq!(judge.margin(&[]), 4);
        assert_eq!(judge.margin(&[0, 9]), 2);
        assert_eq!(judge.margin(&[0, 1, 2, 3, 4]), 0);
        assert_eq!(judge.needed(&mut vec![0, 1, 10]), 8);
        assert_eq!(judge.needed(&mut vec![0, 1]), 0);
    }

    #[test]
    fn levels_die_of_the_cheapest_groups() {
        // rs 2+1 over rs 6+1 survives one dead group: two groups of two pieces lose it.
        let judge = Judge::parse("rs 2+1 over rs 6+1").unwrap();
        assert_eq!((judge.distance, judge.pieces), (4, 21));
        // One of the first group and one of the last: each needs one more.
        assert_eq!(judge.margin(&[0, 20]), 2);
        // A dead group and a whole one: two more in one of the others.
        assert_eq!(judge.margin(&[0, 1]), 2);
        assert_eq!(judge.margin(&[0, 1, 7]), 1);
        assert_eq!(judge.margin(&[0, 1, 7, 8]), 0);
        // More than 64 pieces: 12 dead in the worst case.
        let large = Judge::parse("rs 17+3 over rs 8+2").unwrap();
        assert_eq!((large.margin(&[]), large.margin(&[199, 0, 1, 2])), (12, 8));
    }

    // Rule: by brute force over all sets of lost pieces, from all lost downwards, a set that is survived is one loss further from the end than
    // the nearest of those with one piece more.
    #[test]
    fn a_code_that_survives_some_sets_is_searched() {
        for text in ["lrc 8+4 local 4", "product rs 2+1 x rs 2+1"] {
            let (judge, code) = (Judge::parse(text).unwrap(), Code::parse(text).unwrap());
            let pieces = code.pieces();
            let mut margins = vec![0; 1 << pieces];
            for bits in (0_u64..1 << pieces).rev() {
                let lost: Vec<u32> = (0..pieces).filter(|piece| bits >> piece & 1 == 1).collect();
                if code.is_survivable(Pieces::of(lost.iter().copied())) {
                    let more = (0..pieces).filter(|piece| bits >> piece & 1 == 0);
                    margins[bits as usize] = 1 + more.map(|piece| margins[(bits | 1 << piece) as usize]).min().unwrap();
                }
                assert_eq!(judge.margin(&lost), margins[bits as usize], "{text} without {lost:?}");
            }
            assert_eq!(margins[0], judge.distance);
        }
    }
}
