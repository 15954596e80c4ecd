//! Rendezvous hashing: every device draws a number for the object, and those with the best draws hold it.
//!
//! Source: Thaler and Ravishankar, "Using Name-Based Mappings to Increase Hit Rates" (1998), highest random weight; the
//! `hash_lookup3` of the ch-placement library (Carns et al. 2016, section IV) is of this kind. Weights as in the logarithmic
//! method (Schindelhauer and Schomaker 2005): the least -log(u) / weight wins, so a device's share is its weight's.
//!
//! A failure, a removal, an addition or another weight moves data only to or from the device that it concerns, with
//! any failure domains: a copy goes to the best draw of each of the best domains.

use std::cmp::Ordering;

use resilver_units::{DeviceId, ObjectId};
use serde::Deserialize;

use super::{Build, Domains, ObjectLayout, Over, draw};
use crate::layout::mix;
use resilver_crush::MapError;

/// Bits after the point of a logarithm.
const FRACTION_BITS: u32 = 32;

/// Placement by the best draws of all devices.
#[derive(Clone, Debug)]
pub struct Rendezvous {
    /// A hash of each device's number, by which its draws differ from those of the others.
    keys: Vec<u64>,
    /// The weight of each device, or none where all are equal and the draws themselves can be compared.
    weights: Vec<u32>,
    domains: Domains,
}

/// What a device bids for an object; the less is the better.
#[derive(Clone, Copy, Debug)]
struct Bid {
    /// The cost -log2(u), with [`FRACTION_BITS`] after the point; zero where all weights are equal.
    cost: u64,
    weight: u32,
    hash: u64,
    device: DeviceId,
}

impl Bid {
    /// Costs are compared as fractions, without rounding; equal ones by the greater hash, which is the better draw.
    #[inline]
    fn compare(&self, other: &Bid) -> Ordering {
        let ours = u128::from(self.cost) * u128::from(other.weight);
        let theirs = u128::from(other.cost) * u128::from(self.weight);
        ours.cmp(&theirs).then(other.hash.cmp(&self.hash)).then(self.device.cmp(&other.device))
    }
}

/// 64 less the binary logarithm of a hash, whose least bit counts as set: -log2(u) of the fraction u of 2^64 that it is.
///
/// The logarithm's bits are found one by one by squaring, in whole numbers, so every machine has the same, and a greater
/// hash never has a greater cost.
fn cost(hash: u64) -> u64 {
    let hash = hash | 1;
    let whole = 63 - hash.leading_zeros();
    // From 1 to below 2, with 63 bits after the point.
    let mut mantissa = hash << hash.leading_zeros();
    let mut logarithm = u64::from(whole);
    for _ in 0..FRACTION_BITS {
        let square = (u128::from(mantissa) * u128::from(mantissa)) >> 63;
        let is_two = square >> 64;
        mantissa = (square >> is_two) as u64;
        logarithm = logarithm << 1 | is_two as u64;
    }
    (64 << FRACTION_BITS) - logarithm
}

impl Rendezvous {
    /// A layout of devices of equal weight.
    ///
    /// # Examples
    /// ```
    /// use resilver_placement::layouts::{Domains, ObjectLayout, Rendezvous};
    /// use resilver_units::ObjectId;
    /// let mut found = Vec::new();
    /// Rendezvous::new(Domains::each_its_own(9)).place(ObjectId::new(7), 3, |_| false, &mut found);
    /// assert_eq!(found.len(), 3);
    /// ```
    #[must_use]
    pub fn new(domains: Domains) -> Self {
        // The complement keeps the devices' numbers apart from the objects'.
        let keys = (0..domains.devices() as u64).map(|device| mix(!device)).collect();
        Rendezvous { keys, weights: Vec::new(), domains }
    }

    /// A layout in which device number i has weight `weights[i]`, in any unit; of weight 0 it holds nothing.
    #[must_use]
    pub fn weighted(domains: Domains, weights: Vec<u32>) -> Self {
        Rendezvous { weights, ..Rendezvous::new(domains) }
    }

    #[inline]
    fn bid(&self, hash: u64, device: usize) -> Bid {
        let (cost, weight) = match self.weights.get(device) {
            Some(&weight) => (cost(hash), weight),
            None => (0, 1),
        };
        Bid { cost, weight, hash, device: DeviceId::new(device as u32) }
    }

    /// Puts a bid in its place among the best of each domain, at most `copies` of them.
    fn rank(&self, bid: Bid, copies: usize, best: &mut Vec<Bid>) {
        let domain = self.domains.of(bid.device);
        if let Some(same) = best.iter().position(|other| self.domains.of(other.device) == domain) {
            if best[same].compare(&bid).is_lt() {
                return;
            }
            best.remove(same);
        }
        let place = best.iter().position(|other| bid.compare(other).is_lt()).unwrap_or(best.len());
        best.insert(place, bid);
        best.truncate(copies);
    }
}

/// Highest random weight, which has no keys.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RendezvousKeys {}

impl Build for RendezvousKeys {
    type Layout = Rendezvous;

    fn build(self, over: Over<'_>) -> Result<Rendezvous, MapError> {
        Ok(Rendezvous::new(over.domains))
    }
}

impl ObjectLayout for Rendezvous {
    fn devices(&self) -> usize {
        self.domains.devices()
    }

    #[inline]
    fn place(&self, object: ObjectId, copies: usize, failed: impl Fn(DeviceId) -> bool, found: &mut Vec<DeviceId>) {
        found.clear();
        if copies == 0 {
            return;
        }
        let object = draw(object, 0);
        let mut best: Vec<Bid> = Vec::with_capacity(copies.min(self.devices()) + 1);
        let is_equal = self.weights.is_empty();
        // With equal weights, a hash below this one does not come among the best.
        let mut least = 0;
        for (device, &key) in self.keys.iter().enumerate() {
            let hash = mix(object ^ key);
            let is_out = (is_equal && hash < least) || self.weights.get(device) == Some(&0);
            if is_out || failed(DeviceId::new(device as u32)) {
                continue;
            }
            self.rank(self.bid(hash, device), copies, &mut best);
            if best.len() == copies {
                least = best[copies - 1].hash;
            }
        }
        found.extend(best.iter().map(|bid| bid.device));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_is_the_logarithm_to_its_last_bits() {
        // Truncated thirty-two times, each worth less than 2^-63 of the mantissa, doubled at each later step: together
        // below 2^-30; and cut off after 32 bits: within 2^-29 of the true value in all.
        for step in 1..10_000u64 {
            let hash = step.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
            let exact = 64.0 - (hash as f64).log2();
            let found = cost(hash) as f64 / f64::from(FRACTION_BITS).exp2();
            assert!((found - exact).abs() < 2f64.powi(-29), "{hash}: {found} for {exact}");
        }
        assert_eq!(cost(0), 64 << FRACTION_BITS);
        assert_eq!(cost(1 << 63), 1 << FRACTION_BITS);
        assert!(cost(u64::MAX) > 0);
    }

    #[test]
    fn equal_weights_place_as_none_do() {
        let domains = Domains::new((0..24).map(|device| device / 3).collect());
        let (plain, weighted) = (Rendezvous::new(domains.clone()), Rendezvous::weighted(domains, vec![7 << 16; 24]));
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for object in (0..20_000).map(ObjectId::new) {
            plain.place(object, 3, |device| device.get() == 5, &mut ours);
            weighted.place(object, 3, |device| device.get() == 5, &mut theirs);
            assert_eq!(ours, theirs);
        }
    }

    #[test]
    fn a_share_is_the_weight_s() {
        // Weights 1 to 4 of 10 in all: of 100,000 objects 10,000 a unit, with a standard deviation below 155 each; five of
        // them, over four devices, is a false alarm in half a million.
        let layout = Rendezvous::weighted(Domains::each_its_own(4), vec![1, 2, 3, 4]);
        let (mut counts, mut found) = ([0i32; 4], Vec::new());
        for object in (0..100_000).map(ObjectId::new) {
            layout.place(object, 1, |_| false, &mut found);
            counts[found[0].index()] += 1;
        }
        for (unit, count) in (1..).zip(counts) {
            assert!((count - 10_000 * unit).abs() < 775, "{counts:?}");
        }
    }
}
