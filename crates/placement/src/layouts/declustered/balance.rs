//! How even the groups of a declustered layout are.

use resilver_units::DeviceId;

use super::Declustered;

/// How even groups are over devices and over pairs of devices in different domains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Balance {
    /// How many groups there are.
    pub groups: u64,
    /// The fewest groups that a device is in.
    pub load_min: u32,
    /// The most groups that a device is in.
    pub load_max: u32,
    /// The fewest groups that two devices of different domains share.
    pub pairs_min: u32,
    /// The most groups that two devices of different domains share.
    pub pairs_max: u32,
}

/// Counts device by device, so that memory is by devices and not by pairs.
pub(super) fn of(layout: &Declustered) -> Balance {
    let domains = &layout.domains;
    let devices = domains.devices();
    let mut places: Vec<u32> = (0..layout.groups.len() as u32).collect();
    places.sort_by_key(|&place| layout.groups[place as usize]);
    let of_device = |device: DeviceId| {
        let start = places.partition_point(|&place| layout.groups[place as usize] < device);
        let end = places.partition_point(|&place| layout.groups[place as usize] <= device);
        &places[start..end]
    };
    let groups = layout.group_count() as u64;
    let mut balance = Balance { groups, load_min: u32::MAX, load_max: 0, pairs_min: u32::MAX, pairs_max: 0 };
    let mut shared = vec![0u32; devices];
    for device in (0..devices as u32).map(DeviceId::new) {
        shared.fill(0);
        let load = of_device(device);
        for &place in load {
            for other in layout.group(place as usize / layout.width) {
                shared[other.index()] += 1;
            }
        }
        balance.load_min = balance.load_min.min(load.len() as u32);
        balance.load_max = balance.load_max.max(load.len() as u32);
        for other in (0..devices as u32).map(DeviceId::new).filter(|&other| domains.of(other) != domains.of(device)) {
            balance.pairs_min = balance.pairs_min.min(shared[other.index()]);
            balance.pairs_max = balance.pairs_max.max(shared[other.index()]);
        }
    }
    balance.pairs_min = balance.pairs_min.min(balance.pairs_max);
    balance
}
