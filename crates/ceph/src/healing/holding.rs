//! Who holds what of groups, and what that takes.

use super::Healing;
use crate::fill::Space;
use crate::groups::Group;

impl Healing {
    /// Counts what the pieces of a group take.
    pub(super) fn hold(&mut self, number: u32) {
        self.each_piece(number, |space, bytes| {
            space.held += bytes;
            space.groups += 1;
        });
    }

    /// Takes what the pieces of a group take off the counts.
    pub(super) fn unhold(&mut self, number: u32) {
        self.each_piece(number, |space, bytes| {
            space.held -= bytes;
            space.groups -= 1;
        });
    }

    fn each_piece(&mut self, number: u32, change: impl Fn(&mut Space, u64)) {
        let group = &self.groups[number as usize];
        let protection = &self.protections[group.pool];
        for piece in &group.pieces {
            if let Some(space) = self.fill.space_mut(piece.osd) {
                let bytes = group.contents.allocated(protection, piece.stored, space.min_alloc);
                change(space, bytes);
            }
        }
    }
}

/// Who has all that a group holds: OSDs and positions.
pub(super) fn first_holders(group: &Group) -> Vec<(u32, u8)> {
    group.pieces.iter().filter(|piece| piece.is_whole()).map(|piece| (piece.osd, piece.position)).collect()
}
