//! From an object's name to its placement group.

use super::{Pool, mask_of, stable_mod};
use crate::hash::rjenkins_bytes;

/// The hash of a pool's object names (`object_hash` of a pool).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ObjectHash {
    /// 1: the hash of names in the Linux directory cache.
    Linux,
    /// 2: Jenkins' hash, which every pool has that Ceph made in the last decade.
    Rjenkins,
}

/// What stands between namespace and name where an object has a namespace: the unit separator of ASCII.
const NAMESPACE_END: u8 = 0x1f;

/// The hash of names in the Linux directory cache (`partial_name_hash` of Linux 2.6), in 32 bits.
///
/// # Arguments
/// * `bytes` - the name, without terminator.
///
/// # Returns
/// A 32-bit hash.
///
/// # Examples
/// ```
/// use resilver_crush::pool::linux_bytes;
/// // One byte c gives (16 c + c / 16) * 11: 'a' is 97, and (1552 + 6) * 11 is 17138.
/// assert_eq!(linux_bytes(b"a"), 17138);
/// ```
#[must_use]
pub fn linux_bytes(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0u32, |hash, &byte| {
        let byte = u32::from(byte);
        hash.wrapping_add(byte << 4).wrapping_add(byte >> 4).wrapping_mul(11)
    })
}

impl Pool {
    /// The placement group of an object.
    ///
    /// # Arguments
    /// * `hash` - the pool's hash of object names.
    /// * `namespace` - the object's namespace, empty for none.
    /// * `key` - its locator key where it has one, else its name.
    ///
    /// # Returns
    /// The group's number in the pool, below `pg_num`.
    #[must_use]
    pub fn group_of_locator(&self, hash: ObjectHash, namespace: &[u8], key: &[u8]) -> u32 {
        let joined = [namespace, &[NAMESPACE_END], key].concat();
        let bytes = if namespace.is_empty() { key } else { &joined };
        let hashed = match hash {
            ObjectHash::Linux => linux_bytes(bytes),
            ObjectHash::Rjenkins => rjenkins_bytes(bytes),
        };
        stable_mod(hashed, self.pg_num, mask_of(self.pg_num))
    }
}
