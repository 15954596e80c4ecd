//! Laws of conservation, checked at the end of every run.

use std::collections::BTreeSet;

use super::{HealError, Healing};

impl Healing {
    /// Checks what must hold whatever happened.
    ///
    /// # Errors
    /// The sentence of what does not hold.
    pub(super) fn check(&self) -> Result<(), HealError> {
        self.reservations.check().map_err(HealError::Law)?;
        let mut held = vec![(0_u64, 0_u32); self.works_on.len()];
        for group in self.groups.iter().filter(|group| group.exists) {
            let protection = &self.protections[group.pool];
            let mut seen = BTreeSet::new();
            for piece in &group.pieces {
                let place = if protection.is_coded() { piece.position } else { 0 };
                if !seen.insert((piece.osd, place)) {
                    let id = self.map.pools()[group.pool].pool.id;
                    return Err(HealError::Law(format!(
                        "osd.{} has a piece of {id}.{:x} twice",
                        piece.osd, group.number
                    )));
                }
                let space = self.fill.space(piece.osd);
                let min_alloc = space.map_or(1, |space| space.min_alloc);
                let (bytes, groups) = &mut held[piece.osd as usize];
                *bytes += group.contents.allocated(protection, piece.stored, min_alloc);
                *groups += 1;
            }
        }
        let mut received = 0;
        for (osd, space) in self.fill.iter() {
            received += space.received;
            let (counted, sum) = ((space.held, space.groups), held[osd as usize]);
            if counted != sum {
                return Err(HealError::Law(format!(
                    "osd.{osd} has (bytes, groups) {counted:?}, and its pieces come to {sum:?}"
                )));
            }
        }
        let all = self.record.moved.recovered_bytes + self.record.moved.moved_bytes;
        if received != all {
            return Err(HealError::Law(format!("OSDs received {received} bytes, and {all} were moved")));
        }
        let (claims, slots) = self.reservations.outstanding();
        if claims == 0 && slots > 0 {
            return Err(HealError::Law(format!("{slots} slots are held by nobody")));
        }
        Ok(())
    }
}
