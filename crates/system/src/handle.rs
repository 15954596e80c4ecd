//! Names of what is under way: its place in a table, and how often that place was used before.

/// Something under way, told apart from what had its place before and will have it later.
///
/// `PLACE` and `GENERATION` are the bits that its place and its generation have in events and in the fabric's tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Handle<const PLACE: u32, const GENERATION: u32> {
    pub place: u32,
    pub generation: u32,
}

impl<const PLACE: u32, const GENERATION: u32> Handle<PLACE, GENERATION> {
    /// How many bits a handle has.
    pub const BITS: u32 = PLACE + GENERATION;
    /// Most places of a table.
    pub const PLACE_LIMIT: usize = 1 << PLACE;

    /// The generation after this one: after the last it is the first again, when no event of that is left.
    pub fn next_generation(generation: u32) -> u32 {
        (generation + 1) % (1 << GENERATION)
    }

    /// The handle in the lowest bits of a word.
    #[inline]
    pub fn pack(self) -> u64 {
        u64::from(self.generation) << PLACE | u64::from(self.place)
    }

    /// The handle that [`Handle::pack`] put there; higher bits do not count.
    #[inline]
    pub fn unpack(word: u64) -> Self {
        let generation = (word >> PLACE) as u32 % (1 << GENERATION);
        Handle { place: word as u32 % (1 << PLACE), generation }
    }
}
