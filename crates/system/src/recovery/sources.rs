//! Which pieces a lost one is made of.

use resilver_kernel::{Purpose, Stream};
use resilver_units::ObjectId;

const SOURCE_CHOICE: Purpose = Purpose::named("source");
/// Draws of an object's stream that are left to each of its pieces: more than a shuffle of all pieces takes.
const DRAWS_A_PIECE: u64 = 1 << 10;
/// Puts survivors into a random order, which depends on the object and the piece alone.
pub(super) fn shuffle(seed: u64, object: ObjectId, position: u32, survivors: &mut [u32]) {
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
