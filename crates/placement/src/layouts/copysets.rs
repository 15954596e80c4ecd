//! Copysets: few sets of devices hold all copies, so few combinations of failures lose data.
//!
//! Source: Cidon et al., "Copysets: Reducing the Frequency of Data Loss in Cloud Storage" (USENIX ATC 2013), sections 3 and
//! 4. The devices are permuted at random P = ceil(S / (R - 1)) times, where S is the scatter width and R the copies of
//! an object, and every permutation is cut into sets of R. An object takes a random primary and one of that device's sets.
//! So there are P x floor(N / R) sets of N devices. What a permutation leaves over, N mod R devices, is in none of its
//! sets.
//!
//! With failure domains, a set takes its devices from different ones. Where the paper draws a permutation again that breaks
//! such a rule, here the domains with the most devices left go first, which never fails where it can be done at all; it
//! gives the same plain cut where every device is a domain of its own.
//!
//! After a failure, another device takes the failed one's place in each of its sets (section 4.3), drawn for each set
//! apart: all objects of a set go to the same device, and the number of sets stays.

use std::cmp::Reverse;
use std::collections::{BTreeSet, VecDeque};

use resilver_units::{DeviceId, ObjectId};
use serde::Deserialize;

use super::domains::around;
use super::shuffle::Words;
use super::{Build, Domains, EXTRA_DRAWS, ObjectLayout, Over, draw};
use resilver_crush::MapError;

/// Streams of random words: permutation p has number p, and a set's replacements follow from here on.
const REPLACEMENTS: u64 = 1 << 32;

/// The most devices in all sets together: their four bytes each then take 512 MiB.
pub const SET_DEVICES_MAX: u64 = 1 << 27;

/// Placement by copysets.
#[derive(Clone, Debug)]
pub struct Copysets {
    width: usize,
    seed: u64,
    /// The sets, one behind another, each of `width` devices.
    sets: Vec<DeviceId>,
    /// Devices that are in a set, in rising order: any may be a primary.
    primaries: Vec<DeviceId>,
    /// For each primary, where its sets begin in `sets_of`, and at last where the last ones end.
    starts: Vec<u32>,
    /// The sets of each primary, in rising order.
    sets_of: Vec<u32>,
    domains: Domains,
}

/// The number of permutations that give a scatter width: each gives a device `copies - 1` others.
///
/// # Examples
/// ```
/// use resilver_placement::layouts::copysets::permutation_count;
/// assert_eq!(permutation_count(4, 3), 2);
/// ```
#[must_use]
pub fn permutation_count(scatter_width: u32, copies: usize) -> u32 {
    match copies {
        0 | 1 => 1,
        _ => scatter_width.div_ceil(copies as u32 - 1).max(1),
    }
}

impl Copysets {
    /// A layout whose permutations `seed` decides.
    ///
    /// # Arguments
    /// * `domains` - the failure domain of each device.
    /// * `copies` - copies of an object: devices in a set.
    /// * `scatter_width` - how many others a device is to share data with.
    ///
    /// # Errors
    /// When there are fewer domains than copies, or too many sets to hold.
    pub fn new(domains: Domains, copies: usize, scatter_width: u32, seed: u64) -> Result<Self, MapError> {
        let devices = domains.devices();
        let permutations = permutation_count(scatter_width, copies);
        if copies == 0 || domains.count() < copies {
            let rule = format!(
                "a copyset of {copies} devices needs as many failure domains, of which there are {}",
                domains.count()
            );
            return Err(MapError::invalid("redundancy.replicas", copies, rule, "use fewer copies, or more domains"));
        }
        if u64::from(permutations) * devices as u64 > SET_DEVICES_MAX {
            let rule =
                format!("{permutations} permutations of {devices} devices are more than {SET_DEVICES_MAX} places");
            return Err(MapError::invalid(
                "placement.scatter_width",
                scatter_width,
                rule,
                "use a smaller scatter width",
            ));
        }
        let mut sets = Vec::with_capacity(permutations as usize * devices);
        let cut = if domains.count() == devices { cut_plainly } else { cut_by_domain };
        for permutation in 0..permutations {
            cut(&domains, copies, Words::new(seed, u64::from(permutation)), &mut sets);
        }
        let mut members: Vec<(DeviceId, u32)> =
            sets.iter().enumerate().map(|(place, &device)| (device, (place / copies) as u32)).collect();
        members.sort_unstable();
        let mut primaries: Vec<DeviceId> = members.iter().map(|&(device, _)| device).collect();
        primaries.dedup();
        let mut starts: Vec<u32> =
            primaries.iter().map(|&primary| members.partition_point(|&(device, _)| device < primary) as u32).collect();
        starts.push(members.len() as u32);
        let sets_of = members.into_iter().map(|(_, set)| set).collect();
        Ok(Copysets { width: copies, seed, sets, primaries, starts, sets_of, domains })
    }

    /// The number of sets, in which equal ones count as often as they occur.
    #[must_use]
    pub fn set_count(&self) -> usize {
        self.sets.len() / self.width
    }

    /// The devices of a set.
    #[must_use]
    pub fn set(&self, number: usize) -> &[DeviceId] {
        &self.sets[number * self.width..(number + 1) * self.width]
    }
}

/// Cuts one permutation of all devices, each in a domain of its own, into sets, and appends them.
fn cut_plainly(domains: &Domains, width: usize, mut words: Words, sets: &mut Vec<DeviceId>) {
    let mut order: Vec<u32> = (0..domains.devices() as u32).collect();
    words.shuffle(&mut order);
    sets.extend(order.chunks_exact(width).flatten().copied().map(DeviceId::new));
}

/// Cuts one permutation of all devices into sets of devices in different domains, and appends them.
fn cut_by_domain(domains: &Domains, width: usize, mut words: Words, sets: &mut Vec<DeviceId>) {
    let devices = domains.devices();
    let mut order: Vec<u32> = (0..devices as u32).collect();
    words.shuffle(&mut order);
    let mut waiting: Vec<VecDeque<usize>> =
        vec![VecDeque::new(); domains.of_all().iter().max().map_or(0, |&d| d as usize + 1)];
    for (place, &device) in order.iter().enumerate() {
        waiting[domains.of(DeviceId::new(device)) as usize].push_back(place);
    }
    // The domain with the most devices left comes first; of equal ones, that of the device which comes first.
    let key = |domain: usize, waiting: &[VecDeque<usize>]| {
        waiting[domain].front().map(|&place| (Reverse(waiting[domain].len()), place, domain))
    };
    let mut ready: BTreeSet<_> = (0..waiting.len()).filter_map(|domain| key(domain, &waiting)).collect();
    for _ in 0..devices / width {
        if ready.len() < width {
            return;
        }
        let chosen: Vec<usize> = (0..width).filter_map(|_| ready.pop_first()).map(|(_, _, domain)| domain).collect();
        let mut places: Vec<usize> = chosen.iter().filter_map(|&domain| waiting[domain].pop_front()).collect();
        places.sort_unstable();
        sets.extend(places.iter().map(|&place| DeviceId::new(order[place])));
        ready.extend(chosen.iter().filter_map(|&domain| key(domain, &waiting)));
    }
}

/// Copysets by their keys.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CopysetsKeys {
    /// How many other devices a device shares objects with at least.
    scatter_width: u32,
}

impl Build for CopysetsKeys {
    type Layout = Copysets;

    fn build(self, over: Over<'_>) -> Result<Copysets, MapError> {
        Copysets::new(over.domains, over.pieces, self.scatter_width, over.seed)
    }
}

impl ObjectLayout for Copysets {
    fn devices(&self) -> usize {
        self.domains.devices()
    }

    #[inline]
    fn place(&self, object: ObjectId, copies: usize, failed: impl Fn(DeviceId) -> bool, found: &mut Vec<DeviceId>) {
        found.clear();
        let part = |word: u64, of: usize| ((u128::from(word) * of as u128) >> 64) as usize;
        let primary = part(draw(object, 0), self.primaries.len());
        let sets_of = &self.sets_of[self.starts[primary] as usize..self.starts[primary + 1] as usize];
        let number = sets_of[part(draw(object, 1), sets_of.len())];
        let set = self.set(number as usize);
        let primary = self.primaries[primary];
        found.push(primary);
        found.extend(set.iter().copied().filter(|&device| device != primary));
        found.truncate(copies);
        let lost = set.iter().filter(|&&device| failed(device)).count();
        if lost > 0 {
            let copies = found.len();
            found.retain(|&device| !failed(device));
            self.replace(number, copies, failed, found);
        }
    }
}

impl Copysets {
    /// Adds the devices that take the places of a set's failed ones.
    fn replace(&self, set: u32, copies: usize, failed: impl Fn(DeviceId) -> bool, found: &mut Vec<DeviceId>) {
        let devices = self.devices();
        let mut words = Words::new(self.seed, REPLACEMENTS + u64::from(set));
        let is_out = |device: DeviceId| failed(device) || self.set(set as usize).contains(&device);
        let mut last = 0;
        for _ in 0..self.width + EXTRA_DRAWS {
            last = words.below(devices as u64) as u32;
            self.domains.take(std::iter::once(DeviceId::new(last)), copies, is_out, found);
        }
        self.domains.take(around(last, devices), copies, is_out, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted_sets(layout: &Copysets) -> Vec<Vec<u32>> {
        let mut sets: Vec<Vec<u32>> = (0..layout.set_count())
            .map(|number| {
                let mut set: Vec<u32> = layout.set(number).iter().map(|device| device.get()).collect();
                set.sort_unstable();
                set
            })
            .collect();
        sets.sort();
        sets
    }

    #[test]
    fn there_are_as_many_distinct_sets_as_the_paper_says() {
        // S = 10 and R = 3: P = 5 permutations of 999 devices, cut into 333 sets each: 1,665. Two random sets of three among
        // 999 are equal once in 165 million pairs; there are 1.4 million pairs.
        let layout = Copysets::new(Domains::each_its_own(999), 3, 10, 1).unwrap();
        let mut sets = sorted_sets(&layout);
        assert_eq!(sets.len(), 1665);
        sets.dedup();
        assert_eq!(sets.len(), 1665);
        // An object is on one of them, and every set is somebody's.
        let (mut found, mut used) = (Vec::new(), std::collections::BTreeSet::new());
        for object in (0..40_000).map(ObjectId::new) {
            layout.place(object, 3, |_| false, &mut found);
            let mut set: Vec<u32> = found.iter().map(|device| device.get()).collect();
            set.sort_unstable();
            assert!(sets.binary_search(&set).is_ok());
            used.insert(set);
        }
        // 40,000 objects over 1,665 sets are 24 each: one is missed with the chance 1,665 e^-24, or 6 in 10^8.
        assert_eq!(used.len(), 1665);
    }

    #[test]
    fn a_device_shares_data_with_as_many_as_its_scatter_width() {
        // S = 4 and R = 3: two sets a device, and at most four others.
        let layout = Copysets::new(Domains::each_its_own(300), 3, 4, 1).unwrap();
        let mut others = vec![BTreeSet::new(); 300];
        for number in 0..layout.set_count() {
            for &device in layout.set(number) {
                others[device.index()].extend(layout.set(number).iter().copied().filter(|&other| other != device));
            }
        }
        assert!(others.iter().all(|others| others.len() <= 4));
        // Two sets of a device overlap with the chance of about 2 x 2 / 300: four devices of 300 on average, and 2.0 of
        // standard deviation; more than 20 would be a bug.
        assert!(others.iter().filter(|others| others.len() < 4).count() <= 20);
    }

    #[test]
    fn sets_take_every_device_once_a_permutation_even_where_domains_bind() {
        // Three racks of five and sets of three: every set must take one of each rack, and all 15 devices find a place.
        let domains = Domains::new((0..15).map(|device| device / 5).collect());
        let layout = Copysets::new(domains.clone(), 3, 6, 4).unwrap();
        assert_eq!(layout.set_count(), 3 * 5);
        for permutation in 0..3 {
            let mut devices: Vec<u32> =
                (0..5).flat_map(|set| layout.set(permutation * 5 + set)).map(|d| d.get()).collect();
            devices.sort_unstable();
            assert_eq!(devices, (0..15).collect::<Vec<u32>>());
        }
        for number in 0..layout.set_count() {
            let mut racks: Vec<u32> = layout.set(number).iter().map(|&device| domains.of(device)).collect();
            racks.sort_unstable();
            assert_eq!(racks, [0, 1, 2]);
        }
    }

    #[test]
    fn the_plain_cut_is_the_one_by_domain_where_every_device_is_a_domain() {
        for (devices, width) in [(1, 1), (10, 3), (64, 5), (300, 2)] {
            let domains = Domains::each_its_own(devices);
            let (mut plain, mut by_domain) = (Vec::new(), Vec::new());
            cut_plainly(&domains, width, Words::new(4, 1), &mut plain);
            cut_by_domain(&domains, width, Words::new(4, 1), &mut by_domain);
            assert_eq!(plain, by_domain);
        }
    }

    #[test]
    fn the_objects_of_a_set_stay_together_after_a_failure() {
        let layout = Copysets::new(Domains::each_its_own(30), 3, 4, 1).unwrap();
        let mut home_of = std::collections::BTreeMap::new();
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for object in (0..20_000).map(ObjectId::new) {
            layout.place(object, 3, |_| false, &mut before);
            layout.place(object, 3, |device| device.get() == 7, &mut after);
            before.sort_unstable();
            after.sort_unstable();
            assert_eq!(home_of.entry(before.clone()).or_insert(after.clone()), &after);
        }
        // 2 permutations x 10 sets.
        assert_eq!(home_of.len(), 20);
        assert_eq!(home_of.iter().filter(|(before, after)| before != after).count(), 2);
    }

    #[test]
    fn more_copies_than_domains_are_refused() {
        let error = Copysets::new(Domains::new(vec![0, 0, 1, 1]), 3, 4, 1).unwrap_err().to_string();
        assert!(error.starts_with("redundancy.replicas = 3: a copyset of 3 devices needs"), "{error}");
        assert!(Copysets::new(Domains::each_its_own(1 << 16), 2, 60_000, 1).is_err());
    }
}
