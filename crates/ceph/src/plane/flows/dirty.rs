//! Numbers that are to be looked at again, each once, given in rising order without sorting.

/// A set of small numbers: a bit each, and a bit for each word of 64 that has one.
#[derive(Debug, Default)]
pub(super) struct Dirty {
    words: Vec<u64>,
    /// Which words are not zero.
    used: Vec<u64>,
    /// Whether something was touched that has nothing to look at; it counts as if it were in the set.
    idle: bool,
}

impl Dirty {
    pub fn insert(&mut self, number: u32) {
        let word = number as usize / 64;
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
            self.used.resize(word / 64 + 1, 0);
        }
        self.words[word] |= 1 << (number % 64);
        self.used[word / 64] |= 1 << (word % 64);
    }

    pub fn insert_idle(&mut self) {
        self.idle = true;
    }

    pub fn is_empty(&self) -> bool {
        !self.idle && self.used.iter().all(|used| *used == 0)
    }

    /// Empties the set into a list, rising.
    pub fn take(&mut self, into: &mut Vec<u32>) {
        into.clear();
        self.idle = false;
        for (at, used) in self.used.iter_mut().enumerate() {
            while *used != 0 {
                let word = 64 * at + used.trailing_zeros() as usize;
                *used &= *used - 1;
                let mut bits = std::mem::take(&mut self.words[word]);
                while bits != 0 {
                    into.push(64 * word as u32 + bits.trailing_zeros());
                    bits &= bits - 1;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use resilver_kernel::{Purpose, Stream};

    use super::*;

    #[test]
    fn numbers_come_once_and_in_order() {
        let mut draws = Stream::new(1, 0, Purpose::named("dirty"));
        let (mut dirty, mut found) = (Dirty::default(), Vec::new());
        for _ in 0..200 {
            let most = 1 << draws.below(18);
            let numbers: Vec<u32> = (0..draws.below(80)).map(|_| draws.below(most) as u32).collect();
            numbers.iter().for_each(|number| dirty.insert(*number));
            assert_eq!(dirty.is_empty(), numbers.is_empty());
            dirty.take(&mut found);
            let plain: BTreeSet<u32> = numbers.into_iter().collect();
            assert!(found.iter().eq(&plain), "{found:?} is not {plain:?}");
            assert!(dirty.is_empty());
        }
        dirty.insert_idle();
        assert!(!dirty.is_empty());
        dirty.take(&mut found);
        assert!(found.is_empty() && dirty.is_empty());
    }
}
