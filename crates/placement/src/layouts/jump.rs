//! Jump consistent hash: which of n buckets a key is in, without a table.
//!
//! Source: Lamping and Veach, "A Fast, Minimal Memory, Consistent Hash Algorithm" (2014), figure 1. Every copy has a draw of
//! its own; a draw that meets a failed device, or a failure domain in use, is followed by the next. A device more at the end
//! moves data only to it, but devices cannot be removed from the middle, nor have weights: an object whose device
//! failed goes where its next draw says.

use resilver_units::{DeviceId, ObjectId};
use serde::Deserialize;

use super::domains::around;
use super::{Build, Domains, EXTRA_DRAWS, ObjectLayout, Over, draw};
use resilver_crush::MapError;

/// The bucket of a key among `buckets`, by the published function.
///
/// # Arguments
/// * `key` - the key, of which every bit counts.
/// * `buckets` - how many there are; at least 1.
///
/// # Returns
/// A number below `buckets`.
///
/// # Examples
/// ```
/// use resilver_placement::layouts::jump::bucket;
/// assert_eq!(bucket(10_863_919_174_838_991, 11), 6);
/// ```
#[must_use]
pub fn bucket(key: u64, buckets: u32) -> u32 {
    let (mut key, mut bucket, mut next) = (key, 0i64, 0i64);
    while next < i64::from(buckets) {
        bucket = next;
        key = key.wrapping_mul(2_862_933_555_777_941_757).wrapping_add(1);
        // The published code divides and multiplies doubles; both are exact or correctly rounded everywhere.
        next = ((bucket + 1) as f64 * ((1u64 << 31) as f64 / ((key >> 33) + 1) as f64)) as i64;
    }
    bucket as u32
}

/// Placement by jump consistent hash.
#[derive(Clone, Debug)]
pub struct Jump {
    domains: Domains,
}

impl Jump {
    /// A layout over devices in failure domains.
    #[must_use]
    pub fn new(domains: Domains) -> Self {
        Jump { domains }
    }
}

/// Jump consistent hash, which has no keys.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JumpKeys {}

impl Build for JumpKeys {
    type Layout = Jump;

    fn build(self, over: Over<'_>) -> Result<Jump, MapError> {
        Ok(Jump::new(over.domains))
    }
}

impl ObjectLayout for Jump {
    fn devices(&self) -> usize {
        self.domains.devices()
    }

    #[inline]
    fn place(&self, object: ObjectId, copies: usize, failed: impl Fn(DeviceId) -> bool, found: &mut Vec<DeviceId>) {
        found.clear();
        let devices = self.devices();
        if devices == 0 {
            return;
        }
        let draws = (copies + EXTRA_DRAWS) as u64;
        let of_draw = |number| bucket(draw(object, number), devices as u32);
        let candidates = (0..draws).map(|number| DeviceId::new(of_draw(number)));
        self.domains.take(candidates, copies, &failed, found);
        if found.len() < copies {
            self.domains.take(around(of_draw(draws), devices), copies, &failed, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_stays_or_jumps_to_the_last_bucket() {
        // What the paper asks of a consistent hash: as buckets are added one by one, a key stays or goes to the new one.
        for key in (0..200u64).map(|key| key.wrapping_mul(0x9e37_79b9_7f4a_7c15)) {
            let mut previous = bucket(key, 1);
            assert_eq!(previous, 0);
            for buckets in 2..300 {
                let present = bucket(key, buckets);
                assert!(present == previous || present == buckets - 1, "key {key}: {previous} to {present}");
                previous = present;
            }
        }
    }

    #[test]
    fn known_answers() {
        // Golden vectors that ports of the paper's code (figure 1) share: those of ClickHouse's function and of two Rust
        // crates; the same code in Python's doubles gives them too.
        for (key, buckets, expected) in [
            (1, 1, 0),
            (42, 57, 43),
            (0xdead_10cc, 1, 0),
            (0xdead_10cc, 666, 361),
            (256, 1024, 520),
            (0, 60, 0),
            (1, 60, 55),
            (2, 60, 46),
        ] {
            assert_eq!(bucket(key, buckets), expected, "key {key} of {buckets}");
        }
    }

    #[test]
    fn a_device_more_moves_data_only_to_it() {
        let mut moved = 0;
        for object in (0..20_000).map(ObjectId::new) {
            let (mut before, mut after) = (Vec::new(), Vec::new());
            Jump::new(Domains::each_its_own(20)).place(object, 1, |_| false, &mut before);
            Jump::new(Domains::each_its_own(21)).place(object, 1, |_| false, &mut after);
            if before != after {
                assert_eq!(after[0].get(), 20);
                moved += 1;
            }
        }
        // One in 21: 952, standard deviation 30; five of them.
        assert!((952i32 - moved).abs() < 150, "{moved}");
    }
}
