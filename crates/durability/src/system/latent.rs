//! Sectors that turn out unreadable when data needs them.
//!
//! A group that can lose no more piece reads some of what is left to heal, and an unreadable sector of that loses the data it is part of. How many
//! there are to be met is drawn by nobody: the chance is told, and whoever drives weighs it.

use resilver_kernel::exp;

use super::StorageSystem;
use crate::Loss;
use crate::input::NO_DEVICE;

impl StorageSystem {
    /// Bytes of a group that have to be readable where a lost device's piece of it is made anew; none while it can spare a piece.
    pub(super) fn reads(&mut self, group: u32, device: u32) -> f64 {
        let plan = self.plan.clone();
        if plan.latent.is_none() {
            return 0.0;
        }
        let pool = plan.pool(group);
        let own = pool.members(group).iter().position(|&member| member == device);
        let place = own.expect("a device is a member of its groups") as u16;
        self.slots[self.of_device[device as usize] as usize].listed_reads += plan.lone_reads(group, place);
        self.places.clear();
        match self.damaged.find(group) {
            Some(record) => self.places.extend(record.lost.iter().map(|&(place, _)| u32::from(place))),
            None => self.places.push(u32::from(place)),
        }
        let holes = (0..).zip(pool.members(group)).filter(|&(_, &member)| member == NO_DEVICE);
        self.places.extend(holes.map(|(place, _)| place));
        f64::from(pool.judge.needed(&mut self.places)) * pool.piece_bytes(group)
    }

    /// The probability that so many bytes, all of which have to be readable, are not; says what that would lose.
    pub(super) fn latent_probability(&mut self, bytes: f64) -> f64 {
        let Some(latent) = &self.plan.latent else { return 0.0 };
        if bytes <= 0.0 {
            return 0.0;
        }
        // Errors come evenly between two scrubs of a byte, and half of that time has passed in the mean.
        let standing = latent.scrub_every_seconds.map_or(self.now, |every| every / 2.0);
        let errors = bytes * (latent.errors_per_byte_read + latent.errors_per_byte_second * standing);
        // 1 - exp(-x) without the loss of digits of a small x; the next term is x^3 / 6.
        let probability = if errors < 1e-5 { errors * (1.0 - errors / 2.0) } else { 1.0 - exp(-errors) };
        if probability > 0.0 {
            let mut causes = vec![0.0; self.plan.causes.len() + 1];
            causes[self.plan.causes.len()] = 1.0;
            let lost = latent.bytes_per_error as f64 * errors / probability;
            self.latent_loss = Loss { groups: 1, bytes: lost, causes };
        }
        probability
    }
}
