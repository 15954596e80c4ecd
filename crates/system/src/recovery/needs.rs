//! What a failure asks for, object by object: which pieces are to be made anew or moved, and where to.

use resilver_redundancy::{Code, Pieces};

use super::places::NOBODY;

/// A piece that is to come to a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Want {
    /// Which piece.
    pub position: u8,
    /// Where it is to be.
    pub destination: u32,
    /// Whether it replaces a lost one, rather than moving one or making one that never was.
    pub is_rebuild: bool,
}

/// An object as a failure leaves it.
#[derive(Clone, Copy)]
pub(super) struct Standing<'a> {
    /// The device of each piece that is there.
    pub places: &'a [u32],
    /// The pieces that were stored at any time.
    pub stored: Pieces,
    /// The devices that placement gives by now; of an algorithm that keeps no positions, in any order.
    pub after: &'a [u32],
    /// Positions and destinations of pieces that are on their way.
    pub under_way: &'a [(u8, u32)],
    /// Pieces that stay where they are, whatever placement says.
    pub stays: Pieces,
}

/// What an object asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Needs {
    /// The pieces to come, by position.
    pub wants: Vec<Want>,
    /// The pieces that are nowhere.
    pub missing: Pieces,
    /// Pieces that were stored and have neither a device nor a home to come to.
    pub undersized: u32,
    /// Whether what is left makes up the object.
    pub is_survivable: bool,
    homes: Vec<u32>,
}

impl Needs {
    /// Finds what an object asks for.
    pub fn find(&mut self, code: &Code, keeps_positions: bool, standing: Standing<'_>) {
        let Standing { places, stored, .. } = standing;
        self.wants.clear();
        self.undersized = 0;
        let nowhere = (0..).zip(places).filter(|&(_, &device)| device == NOBODY);
        self.missing = Pieces::of(nowhere.map(|(position, _)| position));
        self.is_survivable = self.missing.is_empty() || code.is_survivable(self.missing);
        if !self.is_survivable {
            return;
        }
        if keeps_positions {
            self.by_position(standing);
        } else {
            self.by_rank(standing);
        }
        for position in self.missing.iter().filter(|&position| stored.contains(position)) {
            let is_wanted = self.wants.iter().any(|want| u32::from(want.position) == position);
            self.undersized += u32::from(!is_wanted);
        }
    }

    fn want(&mut self, position: usize, destination: u32, stored: Pieces) {
        let is_rebuild = self.missing.contains(position as u32) && stored.contains(position as u32);
        self.wants.push(Want { position: position as u8, destination, is_rebuild });
    }

    /// Every piece goes where its position says, but not beside another that stays there for want of a place of its own.
    fn by_position(&mut self, Standing { places, stored, after, stays: staying, .. }: Standing<'_>) {
        self.homes.clear();
        self.homes.extend_from_slice(after);
        if !staying.is_empty() {
            self.make_room(places, after, staying);
        }
        // A piece without a home stays where it is, and may so take the home of another, which then stays as well.
        let stays = |homes: &[u32], device: u32| (0..places.len()).any(|p| places[p] == device && homes[p] == NOBODY);
        while let Some(blocked) = (0..places.len()).find(|&position| {
            let home = self.homes[position];
            home != NOBODY && home != places[position] && stays(&self.homes, home)
        }) {
            self.homes[blocked] = NOBODY;
        }
        let mut homes = std::mem::take(&mut self.homes);
        for (position, (&home, &place)) in homes.iter().zip(places).enumerate() {
            if home != NOBODY && home != place {
                self.want(position, home, stored);
            }
        }
        homes.clear();
        self.homes = homes;
    }

    /// A piece that stays is at home; one whose home that is goes to the home of that which stays.
    fn make_room(&mut self, places: &[u32], after: &[u32], staying: Pieces) {
        for (position, home) in (0..).zip(&mut self.homes) {
            if staying.contains(position) {
                *home = places[position as usize];
                continue;
            }
            // Each home is one position's, so that none is met twice on the way.
            for _ in 0..staying.len() {
                let holder = staying.iter().find(|&other| *home != NOBODY && places[other as usize] == *home);
                *home = holder.map_or(*home, |other| after[other as usize]);
            }
        }
    }

    /// Pieces stay where they are; devices that the set gains take missing ones, then those of devices that leave it.
    fn by_rank(&mut self, Standing { places, stored, after, under_way, stays }: Standing<'_>) {
        self.homes.clear();
        self.homes.extend(after.iter().filter(|&&device| device != NOBODY && !places.contains(&device)));
        let is_settled = |position: usize| {
            stays.contains(position as u32) || places[position] != NOBODY && after.contains(&places[position])
        };
        for &(position, destination) in under_way {
            if let Some(home) = self.homes.iter().position(|&home| home == destination)
                && !is_settled(usize::from(position))
            {
                self.homes.remove(home);
                self.want(usize::from(position), destination, stored);
            }
        }
        let is_free = |wants: &[Want], position: usize| wants.iter().all(|want| usize::from(want.position) != position);
        let missing = (0..places.len()).filter(|&position| places[position] == NOBODY);
        let leaving = (0..places.len()).filter(|&position| places[position] != NOBODY && !is_settled(position));
        let mut homes = std::mem::take(&mut self.homes);
        let mut next = homes.iter();
        for position in missing.chain(leaving) {
            if is_free(&self.wants, position) {
                let Some(&home) = next.next() else { break };
                self.want(position, home, stored);
            }
        }
        homes.clear();
        self.homes = homes;
        self.wants.sort_unstable_by_key(|want| want.position);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO: u32 = NOBODY;

    /// (position, destination, whether it is a rebuild), and the pieces that come short.
    fn needs(keeps: bool, places: &[u32], after: &[u32], under_way: &[(u8, u32)]) -> (Vec<(u8, u32, bool)>, u32) {
        let code = Code::reed_solomon(2, 2).unwrap();
        let mut needs = Needs::default();
        let stored = Pieces::of(0..places.len() as u32);
        needs.find(&code, keeps, Standing { places, stored, after, under_way, stays: Pieces::new() });
        assert!(needs.is_survivable);
        (needs.wants.iter().map(|want| (want.position, want.destination, want.is_rebuild)).collect(), needs.undersized)
    }

    #[test]
    fn positions_are_kept_where_the_algorithm_keeps_them() {
        // 7 was lost at position 1; 4 at position 0 moves to 5 though it was not.
        assert_eq!(needs(true, &[4, NO, 2, 3], &[5, 9, 2, 3], &[]), (vec![(0, 5, false), (1, 9, true)], 0));
        assert_eq!(needs(true, &[4, NO, 2, 3], &[4, NO, 2, 3], &[]), (vec![], 1));
    }

    #[test]
    fn a_piece_does_not_go_beside_another_that_stays() {
        // Position 0 has no home and stays on 4, which position 1 is to go to: it stays lost.
        assert_eq!(needs(true, &[4, NO, 2, 3], &[NO, 4, 2, 3], &[]), (vec![], 1));
        // Where position 0 moves on, its device is free for position 1; where it cannot, neither moves.
        assert_eq!(needs(true, &[4, NO, 2, 3], &[5, 4, 2, 3], &[]), (vec![(0, 5, false), (1, 4, true)], 0));
        assert_eq!(needs(true, &[4, NO, 2, 3], &[2, 4, NO, 3], &[]), (vec![], 1));
    }

    #[test]
    fn new_members_take_lost_positions_in_order() {
        assert_eq!(needs(false, &[4, NO, NO, 3], &[3, 8, 4, 9], &[]), (vec![(1, 8, true), (2, 9, true)], 0));
        assert_eq!(needs(false, &[4, NO, NO, 3], &[3, 8, 4], &[]), (vec![(1, 8, true)], 1));
        // 3 leaves the set: its piece moves when all that were lost have a home.
        assert_eq!(needs(false, &[4, NO, 2, 3], &[4, 8, 2, 9], &[]), (vec![(1, 8, true), (3, 9, false)], 0));
        assert_eq!(needs(false, &[4, NO, 2, 3], &[4, 8, 2], &[]), (vec![(1, 8, true)], 0));
    }

    #[test]
    fn pieces_under_way_go_on_to_devices_that_stay_in_the_set() {
        assert_eq!(needs(false, &[4, NO, NO, 3], &[3, 8, 4, 9], &[(2, 8)]), (vec![(1, 9, true), (2, 8, true)], 0));
        assert_eq!(needs(false, &[4, NO, NO, 3], &[3, 8, 4, 9], &[(2, 7)]), (vec![(1, 8, true), (2, 9, true)], 0));
    }

    #[test]
    fn a_piece_that_stays_lends_its_home_to_the_one_whose_home_it_is_at() {
        let code = Code::reed_solomon(2, 2).unwrap();
        let mut needs = Needs::default();
        let mut find = |keeps, places: &[u32], after: &[u32], stays: &[u32]| {
            let (stored, stays) = (Pieces::of(0..4), Pieces::of(stays.iter().copied()));
            needs.find(&code, keeps, Standing { places, stored, after, under_way: &[], stays });
            assert_eq!(needs.undersized, 0);
            needs.wants.iter().map(|want| (want.position, want.destination, want.is_rebuild)).collect::<Vec<_>>()
        };
        for keeps in [true, false] {
            // Position 0 was made at 8 while 1 was gone, and stays there: nothing moves.
            assert_eq!(find(keeps, &[8, 5, 2, 3], &[1, 5, 2, 3], &[0]), []);
            // Then 5 fails, and 8 is where position 1 is to go: it goes to 1 in its stead.
            assert_eq!(find(keeps, &[8, NO, 2, 3], &[1, 8, 2, 3], &[0]), [(1, 1, true)]);
            // So it does over two that stay: position 2 is at 9, where 3 belongs, and belongs where 0 is.
            assert_eq!(find(keeps, &[8, 5, 9, NO], &[1, 5, 8, 9], &[0, 2]), [(3, 1, true)]);
        }
    }

    #[test]
    fn a_piece_that_never_was_is_made_without_being_owed() {
        let code = Code::reed_solomon(2, 2).unwrap();
        let mut needs = Needs::default();
        let stored = Pieces::of(0..3);
        let stays = Pieces::new();
        let standing = Standing { places: &[4, 5, NO, NO], stored, after: &[4, 5, 6, 7], under_way: &[], stays };
        needs.find(&code, false, standing);
        let kinds: Vec<bool> = needs.wants.iter().map(|want| want.is_rebuild).collect();
        assert_eq!(kinds, [true, false]);
        needs.find(&code, false, Standing { places: &[4, NO, NO, NO], ..standing });
        assert!(!needs.is_survivable && needs.wants.is_empty());
    }
}
