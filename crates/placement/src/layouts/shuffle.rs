//! Random permutations that depend on nothing but a key.

use super::STEP;
use crate::layout::mix;

/// The words of one key, one after another.
#[derive(Clone, Debug)]
pub(super) struct Words {
    key: u64,
    next: u64,
}

impl Words {
    /// The words of stream number `stream` of a seed.
    pub(super) fn new(seed: u64, stream: u64) -> Self {
        Words { key: mix(mix(seed) ^ stream.wrapping_mul(STEP)), next: 0 }
    }

    fn word(&mut self) -> u64 {
        self.next += 1;
        mix(self.key ^ (self.next - 1).wrapping_mul(STEP))
    }

    /// A number below `limit`: the upper half of a product, whose bias of limit / 2^64 no test could see.
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.word()) * u128::from(limit)) >> 64) as u64
    }

    /// Shuffles as Fisher and Yates do, from the front.
    pub(super) fn shuffle(&mut self, items: &mut [u32]) {
        for place in 0..items.len() {
            let other = place + self.below((items.len() - place) as u64) as usize;
            items.swap(place, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_as_likely_for_every_item() {
        // 12,000 shuffles of four: each item is first 3,000 times, standard deviation 47.4; six of them, over four items, is a
        // false alarm in 10^8.
        let mut counts = [0i32; 4];
        for stream in 0..12_000 {
            let mut items = [0, 1, 2, 3];
            Words::new(9, stream).shuffle(&mut items);
            counts[items[0] as usize] += 1;
        }
        assert!(counts.iter().all(|count| (count - 3000).abs() < 285), "{counts:?}");
    }
}
