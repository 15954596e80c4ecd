//! The 32-bit hash behind every CRUSH decision: Robert Jenkins' 96-bit mix, in the arrangement Ceph calls `rjenkins1`.
//!
//! Source of the mix: B. Jenkins, "Hash Functions for Hash Table Lookup" (`evahash`, public domain). The seed, the two
//! padding constants and the order in which arguments are mixed are facts of Ceph's on-disk format; they are checked
//! against `crushtool` by the oracle tests.

/// Starting value of every `rjenkins1` hash.
pub(crate) const SEED: u32 = 1_315_423_911;
/// First padding word, mixed in where an argument is absent.
pub(crate) const PAD_X: u32 = 231_232;
/// Second padding word.
pub(crate) const PAD_Y: u32 = 1_232;

/// Jenkins' mix of three words: reversible, and every input bit reaches every output bit.
#[inline(always)]
fn mix(a: &mut u32, b: &mut u32, c: &mut u32) {
    *a = a.wrapping_sub(*b).wrapping_sub(*c) ^ (*c >> 13);
    *b = b.wrapping_sub(*c).wrapping_sub(*a) ^ (*a << 8);
    *c = c.wrapping_sub(*a).wrapping_sub(*b) ^ (*b >> 13);
    *a = a.wrapping_sub(*b).wrapping_sub(*c) ^ (*c >> 12);
    *b = b.wrapping_sub(*c).wrapping_sub(*a) ^ (*a << 16);
    *c = c.wrapping_sub(*a).wrapping_sub(*b) ^ (*b >> 5);
    *a = a.wrapping_sub(*b).wrapping_sub(*c) ^ (*c >> 3);
    *b = b.wrapping_sub(*c).wrapping_sub(*a) ^ (*a << 10);
    *c = c.wrapping_sub(*a).wrapping_sub(*b) ^ (*b >> 15);
}

/// `rjenkins1` of two words: the reweight test, and the seed of a placement group.
///
/// # Arguments
/// * `a`, `b` - the words, in order.
///
/// # Returns
/// A 32-bit hash.
#[inline(always)]
#[must_use]
pub fn rjenkins1_2(a: u32, b: u32) -> u32 {
    let mut hash = SEED ^ a ^ b;
    let (mut a, mut b, mut x, mut y) = (a, b, PAD_X, PAD_Y);
    mix(&mut a, &mut b, &mut hash);
    mix(&mut x, &mut a, &mut hash);
    mix(&mut b, &mut y, &mut hash);
    hash
}

/// `rjenkins1` of three words: the draw of a straw or straw2 item, and a step of the permutation.
///
/// # Arguments
/// * `a`, `b`, `c` - the words, in order (input, item, attempt for a draw).
///
/// # Returns
/// A 32-bit hash.
#[inline(always)]
#[must_use]
pub fn rjenkins1_3(a: u32, b: u32, c: u32) -> u32 {
    let mut hash = SEED ^ a ^ b ^ c;
    let (mut a, mut b, mut c, mut x, mut y) = (a, b, c, PAD_X, PAD_Y);
    mix(&mut a, &mut b, &mut hash);
    mix(&mut c, &mut x, &mut hash);
    mix(&mut y, &mut a, &mut hash);
    mix(&mut b, &mut x, &mut hash);
    mix(&mut y, &mut c, &mut hash);
    hash
}

/// `rjenkins1` of four words: a step through a list or tree bucket.
///
/// # Arguments
/// * `a`, `b`, `c`, `d` - the words, in order.
///
/// # Returns
/// A 32-bit hash.
#[inline(always)]
#[must_use]
pub fn rjenkins1_4(a: u32, b: u32, c: u32, d: u32) -> u32 {
    let mut hash = SEED ^ a ^ b ^ c ^ d;
    let (mut a, mut b, mut c, mut d, mut x, mut y) = (a, b, c, d, PAD_X, PAD_Y);
    mix(&mut a, &mut b, &mut hash);
    mix(&mut c, &mut d, &mut hash);
    mix(&mut a, &mut x, &mut hash);
    mix(&mut y, &mut b, &mut hash);
    mix(&mut c, &mut x, &mut hash);
    mix(&mut y, &mut d, &mut hash);
    hash
}

/// Jenkins' string hash, by which Ceph maps an object's name to a placement group (`object_hash` 2, "rjenkins").
///
/// # Arguments
/// * `bytes` - the object's name (or its locator key), without terminator.
///
/// # Returns
/// A 32-bit hash.
///
/// # Examples
/// ```
/// use resilver_crush::hash::rjenkins_bytes;
/// assert_ne!(rjenkins_bytes(b"rbd_data.1"), rjenkins_bytes(b"rbd_data.2"));
/// ```
#[must_use]
pub fn rjenkins_bytes(bytes: &[u8]) -> u32 {
    // The golden ratio, an arbitrary start that Jenkins chose.
    const GOLDEN: u32 = 0x9e37_79b9;
    let (mut a, mut b, mut c) = (GOLDEN, GOLDEN, 0u32);
    let word = |chunk: &[u8]| chunk.iter().rev().fold(0u32, |word, &byte| (word << 8) | u32::from(byte));
    let mut blocks = bytes.chunks_exact(12);
    for block in &mut blocks {
        a = a.wrapping_add(word(&block[0..4]));
        b = b.wrapping_add(word(&block[4..8]));
        c = c.wrapping_add(word(&block[8..12]));
        mix(&mut a, &mut b, &mut c);
    }
    let tail = blocks.remainder();
    let part = |from: usize, to: usize| word(&tail[from.min(tail.len())..to.min(tail.len())]);
    // The length takes the lowest byte of the last word, so at most three bytes of the tail share it.
    c = c.wrapping_add(bytes.len() as u32).wrapping_add(part(8, 11) << 8);
    b = b.wrapping_add(part(4, 8));
    a = a.wrapping_add(part(0, 4));
    mix(&mut a, &mut b, &mut c);
    c
}
