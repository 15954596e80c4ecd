//! Which pieces a lost one is made of.

use resilver_kernel::{Purpose, Stream};
use resilver_units::ObjectId;

use super::Reconstruction;
use super::gathers::pieces_of;
use super::homes::NOBODY;
use crate::choice::SourceChoice;

const SOURCE_CHOICE: Purpose = Purpose::named("source");
/// Draws of an object's stream that are left to each of its pieces: more than a shuffle of all pieces takes.
const DRAWS_A_PIECE: u64 = 1 << 10;

impl Reconstruction {
    /// Chooses the pieces that a task's is made of, into `planned`; whether it can be made.
    ///
    /// `unusable` ones are not asked; those that have `arrived` already are preferred most, and those `coming` next. A piece
    /// that moves is copied from where it is.
    pub(super) fn choose(&mut self, task: u32, unusable: u64, (arrived, coming): (u64, u64)) -> bool {
        let task = self.tasks[task as usize];
        let width = self.code.pieces() as usize;
        let row = &self.places[task.subject as usize * width..][..width];
        let mut lost = unusable;
        for (position, &device) in row.iter().enumerate() {
            lost |= u64::from(device == NOBODY) << position;
        }
        lost &= !arrived;
        let position = u32::from(task.position);
        self.planned.clear();
        if lost >> position & 1 == 0 {
            self.planned.push(position);
            return true;
        }
        let made = self.made[task.subject as usize];
        // Pieces that were there from the beginning come first: those made since then are where others are being written.
        let survivors = (0..width as u32).filter(|&survivor| lost >> survivor & 1 == 0);
        self.preferred.clear();
        self.preferred.extend(survivors.clone().filter(|&survivor| made >> survivor & 1 == 0));
        self.preferred.extend(survivors.filter(|&survivor| made >> survivor & 1 == 1));
        match self.source {
            SourceChoice::Primary => {}
            SourceChoice::Random => {
                let object = self.objects[task.subject as usize].object;
                shuffle(self.seed, object, position, &mut self.preferred);
            }
            SourceChoice::LeastLoaded => {
                let senders = &self.senders;
                let asked = |device: u32| senders.get(device as usize).map(|sender| sender.bytes_asked);
                self.preferred.sort_by_key(|&survivor| asked(row[survivor as usize]));
            }
        }
        if arrived | coming != 0 {
            self.preferred.sort_by_key(|&survivor| match (arrived >> survivor & 1, coming >> survivor & 1) {
                (1, _) => 0,
                (_, 1) => 1,
                _ => 2,
            });
        }
        self.code.repair(pieces_of(lost), position, &self.preferred, &mut self.planned)
    }
}

/// Puts survivors into a random order, which depends on the object and the piece alone.
fn shuffle(seed: u64, object: ObjectId, position: u32, survivors: &mut [u32]) {
    let mut stream = Stream::new(seed, object.get(), SOURCE_CHOICE);
    stream.seek(u64::from(position) * DRAWS_A_PIECE);
    for last in (1..survivors.len()).rev() {
        survivors.swap(last, stream.below(last as u64 + 1) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shuffle_gives_every_survivor_each_place_alike() {
        // 6,000 objects: each of three survivors first 2,000 times, standard deviation sqrt(6000 x 2/9) = 37; six of them.
        let mut firsts = [0i32; 3];
        for object in 0..6000 {
            let mut survivors = [0, 1, 2];
            shuffle(1, ObjectId::new(object), 0, &mut survivors);
            firsts[survivors[0] as usize] += 1;
            let mut sorted = survivors;
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2]);
        }
        assert!(firsts.iter().all(|count| (count - 2000).abs() < 6 * 37), "{firsts:?}");
        // Pieces of one object are drawn for apart.
        let order = |position| {
            let mut survivors: Vec<u32> = (0..11).collect();
            shuffle(1, ObjectId::new(5), position, &mut survivors);
            survivors
        };
        assert_ne!(order(0), order(1));
    }
}
