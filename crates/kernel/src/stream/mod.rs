//! Keyed random streams: every draw is a pure function of (seed, purpose, entity, draw number).

mod elementary;
mod philox;
mod samplers;
#[cfg(test)]
mod tests;
mod wide;

pub use elementary::{exp, ln};
pub use philox::philox4x64;

/// What a stream of draws is for, so that draws for different purposes are independent.
///
/// The name is packed into a word, one byte a letter, so different names are different purposes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Purpose(u64);

impl Purpose {
    /// The purpose called `name`, of one to eight ASCII characters.
    ///
    /// # Panics
    /// When the name is empty, longer, or not ASCII; at compile time where the purpose is a constant.
    pub const fn named(name: &str) -> Self {
        let letters = name.as_bytes();
        assert!(!letters.is_empty() && letters.len() <= 8, "a purpose has a name of one to eight characters");
        let mut word = 0;
        let mut index = 0;
        while index < letters.len() {
            assert!(letters[index].is_ascii_graphic(), "a purpose has a name of printable ASCII characters");
            word = (word << 8) | letters[index] as u64;
            index += 1;
        }
        Purpose(word)
    }

    /// The purpose with this number.
    pub const fn new(number: u64) -> Self {
        Purpose(number)
    }

    /// The number: half of the generator's key.
    pub const fn number(self) -> u64 {
        self.0
    }
}

/// The random draws of one entity for one purpose in a run of one seed.
///
/// Block k of the stream is `philox4x64(counter = [k, entity, 0, 0], key = [seed, purpose])`. The four numbers go to
/// four different words, so no two streams share a counter and a key, and none overlaps another. Any draw can be
/// reached at no cost, and streams do not depend on what else exists or in which order things are drawn.
///
/// ```
/// use resilver_kernel::{Purpose, Stream};
///
/// const FAULTS: Purpose = Purpose::named("faults");
/// let mut stream = Stream::new(15, 3, FAULTS);
/// let draws = [stream.next_u64(), stream.next_u64(), stream.next_u64(), stream.next_u64(), stream.next_u64()];
/// stream.seek(4);
/// assert_eq!(stream.next_u64(), draws[4]);
/// assert_eq!(stream.block(0), draws[..4]);
/// ```
#[derive(Clone, Debug)]
pub struct Stream {
    key: [u64; 2],
    entity: u64,
    /// The number of the next draw.
    draw: u64,
    /// The block of the next draw, unless that is the first of its block.
    words: [u64; 4],
}

impl Stream {
    /// The stream of `entity` (a server, a file, a client: the purpose says which) for `purpose` in the run of `seed`,
    /// at its first draw.
    pub const fn new(seed: u64, entity: u64, purpose: Purpose) -> Self {
        Stream { key: [seed, purpose.0], entity, draw: 0, words: [0; 4] }
    }

    /// Draws 4k to 4k+3, wherever the stream stands.
    #[inline]
    pub fn block(&self, k: u64) -> [u64; 4] {
        philox4x64([k, self.entity, 0, 0], self.key)
    }

    /// Fills `words` with draws from number `first` on, wherever the stream stands; faster by far than one by one.
    ///
    /// ```
    /// # use resilver_kernel::{Purpose, Stream};
    /// let stream = Stream::new(15, 3, Purpose::named("faults"));
    /// let mut words = [0; 6];
    /// stream.fill(2, &mut words);
    /// assert_eq!(words[2..], stream.block(1));
    /// ```
    pub fn fill(&self, first: u64, words: &mut [u64]) {
        // Draws up to the end of a block that is begun, then whole blocks, then the beginning of the last.
        let lane = (first % 4) as usize;
        let begun = if lane == 0 { 0 } else { words.len().min(4 - lane) };
        let (begun, words) = words.split_at_mut(begun);
        if !begun.is_empty() {
            begun.copy_from_slice(&self.block(first / 4)[lane..lane + begun.len()]);
        }
        let next = first.div_ceil(4);
        let (blocks, rest) = words.as_chunks_mut::<4>();
        wide::fill_blocks(next, self.entity, self.key, blocks);
        if !rest.is_empty() {
            rest.copy_from_slice(&self.block(next + blocks.len() as u64)[..rest.len()]);
        }
    }

    /// Moves to the draw with this number, counting from zero.
    pub fn seek(&mut self, draw: u64) {
        self.draw = draw;
        if !draw.is_multiple_of(4) {
            self.words = self.block(draw / 4);
        }
    }

    /// The next draw: 64 uniform random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let lane = self.draw % 4;
        if lane == 0 {
            self.words = self.block(self.draw / 4);
        }
        self.draw += 1;
        self.words[lane as usize]
    }
}
