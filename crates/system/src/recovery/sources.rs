//! Which pieces a lost one is made of.

use resilver_kernel::{Purpose, Stream};
use resilver_units::ObjectId;

use super::Recovery;
use super::gathers::pieces_of;
use super::places::{device_at, is_made, is_there};
use crate::scenario::SourceChoice;

const SOURCE_CHOICE: Purpose = Purpose::named("source");
/// Draws of an object's stream that are left to each of its pieces: more than a shuffle of all pieces takes.
const DRAWS_A_PIECE: u64 = 1 << 10;
/// Puts survivors into a random order, which depends on the object and the piece alone.
fn shuffle(seed: u64, object: ObjectId, position: u32, survivors: &mut [u32]) {
    let mut stream = Stream::new(seed, object.get(), SOURCE_CHOICE);
    stream.seek(u64::from(position) * DRAWS_A_PIECE);
    for last in (1..survivors.len()).rev() {
        survivors.swap(last, stream.below(last as u64 + 1) as usize);
    }
}

impl Recovery {
    /// Chooses the pieces that a task's is made of, into `planned`; whether it can be made.
    ///
    /// `unusable` ones are not asked; those that have `arrived` already are preferred most, and those `coming` next. A piece
    /// that moves is copied from where it is.
    pub(super) fn choose(&mut self, task: u32, unusable: u64, (arrived, coming): (u64, u64)) -> bool {
        let own = self.own_piece(task);
        let task = self.work.tasks[task as usize];
        let row = self.work.row(task.subject, self.stride);
        let position = u32::from(task.position);
        let is_usable = |survivor: u32| {
            let is_asked = arrived >> survivor & 1 == 1;
            is_asked || (is_there(row[survivor as usize]) && unusable >> survivor & 1 == 0)
        };
        self.planned.clear();
        if is_usable(position) {
            self.planned.push(position);
            return true;
        }
        let survivors = (0..row.len() as u32).filter(|&survivor| is_usable(survivor));
        let code = &self.work.pool(task.subject).code;
        // Of copies, the first by the order below is all there is to find.
        if code.data() == 1 && self.choices.source == SourceChoice::Primary && arrived | coming == 0 {
            let first = survivors.min_by_key(|&survivor| (Some(survivor) != own, is_made(row[survivor as usize])));
            self.planned.extend(first);
            return first.is_some();
        }
        // Pieces that were there from the beginning come first: those made since then are where others are being written.
        self.preferred.clear();
        self.preferred.extend(survivors.clone().filter(|&survivor| !is_made(row[survivor as usize])));
        self.preferred.extend(survivors.clone().filter(|&survivor| is_made(row[survivor as usize])));
        let usable = survivors.fold(0, |set, survivor| set | 1u64 << survivor);
        let lost = pieces_of(!usable & (u64::MAX >> (64 - row.len())));
        match self.choices.source {
            SourceChoice::Primary => {}
            SourceChoice::Random => {
                let object = self.work.objects[task.subject as usize].object;
                shuffle(self.choices.seed, object, position, &mut self.preferred);
            }
            SourceChoice::LeastLoaded => {
                let mut preferred = std::mem::take(&mut self.preferred);
                preferred.sort_by_key(|&survivor| self.load_of(device_at(row[survivor as usize])));
                self.preferred = preferred;
            }
        }
        if own.is_some() {
            self.preferred.sort_by_key(|&survivor| Some(survivor) != own);
        }
        if arrived | coming != 0 {
            self.preferred.sort_by_key(|&survivor| match (arrived >> survivor & 1, coming >> survivor & 1) {
                (1, _) => 0,
                (_, 1) => 1,
                _ => 2,
            });
        }
        code.repair(lost, position, &self.preferred, &mut self.planned)
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
