//! A pool's code, by the positions of a PG's set.

use resilver_redundancy::{Code, Pieces};

/// The code of a pool whose shards are not all alike: any k of them need not restore the data, or a repair does not read k whole ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coding {
    code: Code,
    /// The position of each piece.
    places: Vec<u32>,
}

impl Coding {
    /// Of a code.
    #[must_use]
    pub fn of(code: &Code) -> Self {
        Coding { code: code.clone(), places: code.group_places() }
    }

    /// The pieces at these positions, bit i for position i.
    fn pieces(&self, positions: u64) -> Pieces {
        Pieces::of((0..).zip(&self.places).filter(|&(_, &place)| positions >> place & 1 == 1).map(|(piece, _)| piece))
    }

    /// Whether the data is there whichever so many more of the positions that are held are lost.
    #[must_use]
    pub fn survives(&self, held: u64, losses: u32) -> bool {
        self.code.survives(self.pieces(!held), losses)
    }

    /// (positions that are read, of how many parts of each one is read) to make those that are wanted, of those that are held.
    #[must_use]
    pub fn gathers(&self, held: u64, wanted: u64) -> Option<(u64, u32)> {
        let (pieces, parts) = self.code.gathers(self.pieces(!held), self.pieces(wanted))?;
        Some((pieces.iter().fold(0, |positions, piece| positions | 1 << self.places[piece as usize]), parts))
    }

    /// The same for what clients read: the data.
    #[must_use]
    pub fn reads(&self, held: u64) -> Option<u64> {
        let data = self.places[..self.code.data() as usize].iter().fold(0, |data, place| data | 1 << place);
        self.gathers(held, data).map(|(positions, _)| positions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The layers DDc_DDc_, DDDc____ and ____DDDc: data at 0, 1, 4 and 5.
    #[test]
    fn clients_read_the_data_and_what_makes_it() {
        let coding = Coding::of(&Code::parse("ceph lrc 4+2 local 3").unwrap());
        assert_eq!(coding.reads(0b1111_1111), Some(0b0011_0011));
        // Without 0, the rest of its group makes it; the data of the other group is read as before.
        assert_eq!(coding.reads(0b1111_1110), Some(0b0011_1110));
        assert_eq!(coding.gathers(0b1111_1110, 1), Some((0b0000_1110, 1)));
        // One shard more may be lost than none; of a group that lacks one, none.
        assert!(coding.survives(0xff, 1) && !coding.survives(0xff, 2) && !coding.survives(0xfe, 1));
    }
}
