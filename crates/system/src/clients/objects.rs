//! The objects that operations are on: a sample of what is stored, with where their pieces are before and after each failure.

use std::ops::Range;

use rayon::prelude::*;
use resilver_kernel::{Purpose, Stream};
use resilver_placement::inverse::FailedSet;
use resilver_placement::layout::object_group;
use resilver_population::{Files, first_object};
use resilver_units::{Bytes, DeviceId, GroupId, ObjectId};

use super::NO_DEVICE;
use crate::SystemError;
use crate::file_words::FileWords;
use crate::scenario::{Algorithm, PlaceScratch, StoredPool, SystemConfig};
use crate::search::files_of;

/// Objects that are drawn from a population: enough that each of a thousand servers holds some hundred of them.
const SAMPLE: usize = 1 << 16;
/// No failure has come yet.
pub(super) const NO_STAGE: usize = usize::MAX;
const SAMPLE_CHOICE: Purpose = Purpose::named("stripes");
const REBUILD_ORDER: Purpose = Purpose::named("rebuilt");

/// Samples of what is stored, one for each who asks.
#[derive(Clone, Debug)]
pub(super) struct Objects {
    /// The most pieces of an object.
    pieces: usize,
    /// Which code each object has; empty where there is one.
    codes: Vec<u8>,
    sizes: Vec<Bytes>,
    /// The device of each piece before any failure; none where there is none.
    before: Vec<u32>,
    /// Where each piece is after each of the failures: where it was, unless its device has failed by then.
    after: Vec<Vec<u32>>,
    /// Each object's place in the order of rebuild, from 0 to 1.
    order: Vec<f64>,
    samples: Vec<Sample>,
    /// Which failure was the last.
    pub stage: usize,
    /// Whether each device is replaced where it is, and has been by now.
    is_replaced: Vec<bool>,
    is_refilled: Vec<bool>,
}

/// The objects that one asks for.
#[derive(Clone, Debug)]
struct Sample {
    objects: Range<u32>,
    /// They in the order of their primaries, the devices of their first pieces before any failure.
    by_primary: Vec<u32>,
    /// Where each device's begin in that order; one entry more than devices.
    first_of: Vec<u32>,
}

impl Objects {
    /// No objects.
    pub fn none() -> Self {
        let (sizes, before, after, order) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Objects {
            pieces: 0,
            codes: Vec::new(),
            sizes,
            before,
            after,
            order,
            samples: Vec::new(),
            stage: NO_STAGE,
            is_replaced: Vec::new(),
            is_refilled: Vec::new(),
        }
    }

    /// Samples of the objects of a system, which have up to `pieces` pieces each: for each that asks, of its pool or else of all;
    /// none where no data is stored.
    ///
    /// `of_pool` says which code the objects of each pool have.
    ///
    /// # Errors
    /// When a population cannot be built.
    pub fn sample(
        config: &SystemConfig,
        asked: &[Option<usize>],
        pieces: usize,
        of_pool: &[u8],
    ) -> Result<Self, SystemError> {
        let numbering = config.numbering();
        let (mut objects, mut ranges) = (Vec::new(), Vec::new());
        for (entity, &pool) in (0..).zip(asked) {
            let first = objects.len() as u32;
            let pools = pool.map_or(0..config.pools.len(), |pool| pool..pool + 1);
            draw_objects(config, pools, Stream::new(config.seed, entity, SAMPLE_CHOICE), &mut objects)?;
            ranges.push(first..objects.len() as u32);
        }
        let has_several = of_pool.iter().any(|&code| code != 0);
        let code = |&(object, _): &(ObjectId, Bytes)| of_pool[numbering.pool_of(object)];
        let codes = objects.iter().filter(|_| has_several).map(code).collect();
        let algorithms = |failed: Option<&FailedSet>| -> Vec<Algorithm> {
            let of = |pool: &StoredPool| match failed {
                Some(failed) => pool.placement.algorithm.without(failed),
                None => pool.placement.algorithm.clone(),
            };
            config.pools.iter().map(of).collect()
        };
        let before = positions(config, &algorithms(None), &objects, pieces);
        let stages = config.stages().into_iter().map(|(_, failed)| {
            let mut after = positions(config, &algorithms(Some(&config.abandoned(&failed))), &objects, pieces);
            for (old, new) in before.chunks(pieces).zip(after.chunks_mut(pieces)) {
                keep_survivors(old, new, |device| failed.contains(device));
            }
            after
        });
        let place = |&(object, _): &(ObjectId, Bytes)| Stream::new(config.seed, object.get(), REBUILD_ORDER).uniform();
        let devices = config.endpoint_of.len();
        Ok(Objects {
            pieces,
            codes,
            samples: ranges.into_iter().map(|range| Sample::of(range, (&before, pieces), devices)).collect(),
            after: stages.collect(),
            before,
            order: objects.iter().map(place).collect(),
            sizes: objects.into_iter().map(|(_, size)| size).collect(),
            stage: NO_STAGE,
            is_replaced: config.replaced(),
            is_refilled: vec![false; devices],
        })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// The objects of the last sample.
    pub fn last_sample(&self) -> Range<u32> {
        self.samples.last().map_or(0..0, |sample| sample.objects.clone())
    }

    /// The devices that are the primary of some of a sample's.
    pub fn primaries(&self, sample: usize) -> Vec<DeviceId> {
        let first_of = &self.samples[sample].first_of;
        let is_one = |&device: &usize| first_of[device] < first_of[device + 1];
        let devices = (0..first_of.len().saturating_sub(1)).filter(is_one);
        devices.map(|device| DeviceId::new(device as u32)).collect()
    }

    /// One of a sample that has this device as its primary, each as likely; any where none has.
    pub fn draw_of(&self, sample: usize, primary: u32, stream: &mut Stream) -> u32 {
        // Flows of whole objects share the last one.
        let Sample { objects, by_primary, first_of } = &self.samples[sample.min(self.samples.len() - 1)];
        let (first, end) = (first_of[primary as usize], first_of[primary as usize + 1]);
        if first == end {
            return objects.start + stream.below(objects.len() as u64) as u32;
        }
        by_primary[first as usize + stream.below(u64::from(end - first)) as usize]
    }

    /// Which of the codes one has.
    pub fn code(&self, object: usize) -> u8 {
        self.codes.get(object).copied().unwrap_or(0)
    }

    /// The data of one.
    pub fn size(&self, object: usize) -> Bytes {
        self.sizes[object]
    }

    /// The mean of all.
    pub fn mean_bytes(&self) -> f64 {
        self.sizes.iter().map(|size| size.get() as f64).sum::<f64>() / self.sizes.len() as f64
    }

    /// Devices of which all know that they failed are about to be back: of the share that is rebuilt, each of their pieces is at its new
    /// home from now on.
    ///
    /// Where placement gives that home to another of an object's pieces later, this takes the device that is back. One that is replaced is
    /// back empty.
    pub fn settle(&mut self, devices: &[DeviceId], is_out: &[bool], share: f64) {
        for device in devices.iter().filter(|device| self.is_replaced.get(device.index()) == Some(&true)) {
            self.is_refilled[device.index()] = true;
        }
        let Some((present, later)) = self.after.get_mut(self.stage..).and_then(<[_]>::split_first_mut) else { return };
        let returns = |device: u32| device != NO_DEVICE && devices.contains(&DeviceId::new(device));
        for (object, _) in self.order.iter().enumerate().filter(|&(_, &order)| order < share) {
            let row = object * self.pieces..(object + 1) * self.pieces;
            for place in row.clone() {
                let (device, home) = (self.before[place], present[place]);
                if !returns(device) || home == NO_DEVICE || is_out[home as usize] {
                    continue;
                }
                self.before[place] = home;
                for after in &mut *later {
                    if let Some(other) = row.clone().find(|&other| other != place && after[other] == home) {
                        after[other] = after[place];
                    }
                }
            }
        }
    }

    /// Says at which device each piece is at present: for a write, where it is to be from now on.
    ///
    /// A piece of a device that is out, or was and has been replaced, is at its new home if its place in the order of rebuild lies below the share that is
    /// rebuilt, and nowhere otherwise.
    pub fn locate(&self, object: usize, is_write: bool, (is_out, share): (&[bool], f64), found: &mut Vec<u32>) {
        let row = object * self.pieces..(object + 1) * self.pieces;
        found.clear();
        found.extend_from_slice(&self.before[row.clone()]);
        let Some(after) = self.after.get(self.stage) else { return };
        let is_there = is_write || self.order[object] < share;
        for (device, &home) in found.iter_mut().zip(&after[row]) {
            let is_refilled = |device: u32| self.is_refilled.get(device as usize) == Some(&true);
            let was_lost = *device == NO_DEVICE || is_out[*device as usize] || is_refilled(*device);
            if was_lost {
                let is_home = is_there && home != NO_DEVICE && !is_out[home as usize];
                *device = if is_home { home } else { NO_DEVICE };
            }
        }
    }
}

impl Sample {
    /// The objects of a range, of which all objects' pieces are at the devices of `before`, `pieces` of them an object.
    fn of(objects: Range<u32>, (before, pieces): (&[u32], usize), devices: usize) -> Self {
        let primary = |object: u32| {
            let first = object as usize * pieces;
            before[first..first + pieces].iter().copied().find(|&device| device != NO_DEVICE)
        };
        let mut placed: Vec<(u32, u32)> =
            objects.clone().filter_map(|object| Some((primary(object)?, object))).collect();
        placed.sort_unstable();
        let first_of = (0..=devices as u32).map(|device| placed.partition_point(|&(of, _)| of < device) as u32);
        Sample { objects, first_of: first_of.collect(), by_primary: placed.into_iter().map(|(_, one)| one).collect() }
    }
}

/// Where pieces are after a failure: those that survive stay, and devices that come anew take the others, in their order.
fn keep_survivors(before: &[u32], after: &mut [u32], is_failed: impl Fn(DeviceId) -> bool) {
    let is_gone = |device: u32| device == NO_DEVICE || is_failed(DeviceId::new(device));
    let placed = after.to_vec();
    let mut fresh = placed.iter().copied().filter(|device| *device != NO_DEVICE && !before.contains(device));
    for (place, &old) in after.iter_mut().zip(before) {
        *place = if is_gone(old) { fresh.next().unwrap_or(NO_DEVICE) } else { old };
    }
}

/// The devices of the pieces of each object, `pieces` of them, piece by piece; `algorithms` has each pool's.
///
/// A group is placed once, however many of the objects are in it.
fn positions(
    config: &SystemConfig,
    algorithms: &[Algorithm],
    objects: &[(ObjectId, Bytes)],
    pieces: usize,
) -> Vec<u32> {
    let numbering = config.numbering();
    // What is placed as one: a pool's group, or an object of its own.
    let unit_of = |&(object, _): &(ObjectId, Bytes)| {
        let pool = numbering.pool_of(object);
        let group_of = |groups| u64::from(object_group(object, groups).get());
        (pool, config.pools[pool].placement.groups.map_or(object.get(), group_of))
    };
    let mut units: Vec<(usize, u64)> = objects.iter().map(unit_of).collect();
    units.sort_unstable();
    units.dedup();
    let place = |scratch: &mut PlaceScratch, &(pool, unit): &(usize, u64)| {
        let mut set = Vec::with_capacity(pieces);
        match config.pools[pool].placement.groups {
            None => algorithms[pool].place_object_positions(ObjectId::new(unit), scratch, &mut set),
            Some(_) => algorithms[pool].place_group_positions(GroupId::new(unit as u32), scratch, &mut set),
        }
        set.resize(pieces, None);
        set.into_iter().map(|device| device.map_or(NO_DEVICE, DeviceId::get))
    };
    let rows: Vec<u32> = units.par_iter().map_init(PlaceScratch::default, place).flatten_iter().collect();
    let row = |object: &(ObjectId, Bytes)| {
        let place = units.binary_search(&unit_of(object)).expect("it is placed");
        rows[place * pieces..(place + 1) * pieces].iter().copied()
    };
    objects.iter().flat_map(row).collect()
}

/// Draws objects of pools that have data at random, as many of each population as its share of the data; those of a file
/// together.
fn draw_objects(
    config: &SystemConfig,
    pools: Range<usize>,
    mut draws: Stream,
    objects: &mut Vec<(ObjectId, Bytes)>,
) -> Result<(), SystemError> {
    let numbering = config.numbering();
    let mut populations = Vec::new();
    for pool in pools {
        populations.push((numbering.first_file(pool), files_of(config, pool)?));
    }
    let bytes = |files: &Files<FileWords>| files.expected_files() as f64 * files.mean_bytes();
    let total: f64 = populations.iter().map(|(_, files)| bytes(files)).sum();
    let share = |bytes: f64| if bytes > 0.0 { (bytes / total * SAMPLE as f64).round() as usize } else { 0 };
    for (first, files) in &populations {
        draw_of_files((*first, files), share(bytes(files)), &mut draws, objects);
    }
    Ok(())
}

/// Draws files, and takes their objects that have data.
fn draw_of_files(
    (first_file, files): (u64, &Files<FileWords>),
    count: usize,
    draws: &mut Stream,
    objects: &mut Vec<(ObjectId, Bytes)>,
) {
    let (decomposition, end) = (files.decomposition(), objects.len() + count);
    for _ in 0..count {
        let file = draws.below(files.expected_files().max(1));
        let size = files.size(file);
        let parts = decomposition.object_count(size).min((end - objects.len()) as u64);
        let first = first_object(first_file + file).get();
        let parts = (0..parts).map(|index| (ObjectId::new(first + index), decomposition.object_size(size, index)));
        objects.extend(parts.filter(|(_, size)| !size.is_zero()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_stay_where_they_survive_and_new_devices_take_the_others() {
        // Devices 1 and 3 fail. The layout's set after that is 5, 0, 2, 6: 0 and 2 stay at their pieces.
        let mut after = [5, 0, 2, 6];
        keep_survivors(&[0, 1, 2, 3], &mut after, |device| [1, 3].contains(&device.get()));
        assert_eq!(after, [0, 5, 2, 6]);
        // One device too few: the second lost piece has no home.
        let mut after = [5, 0, 2, NO_DEVICE];
        keep_survivors(&[0, 1, 2, 3], &mut after, |device| [1, 3].contains(&device.get()));
        assert_eq!(after, [0, 5, 2, NO_DEVICE]);
    }

    #[test]
    fn a_lost_piece_is_at_its_new_home_once_its_object_is_rebuilt() {
        let objects = Objects {
            pieces: 3,
            codes: vec![],
            sizes: vec![Bytes::new(30)],
            before: vec![0, 1, 2],
            after: vec![vec![0, 4, 2]],
            order: vec![0.5],
            samples: vec![],
            stage: NO_STAGE,
            is_replaced: vec![],
            is_refilled: vec![false; 5],
        };
        let mut is_out = vec![false; 5];
        let mut found = Vec::new();
        objects.locate(0, false, (&is_out, 0.0), &mut found);
        assert_eq!(found, [0, 1, 2]);
        is_out[1] = true;
        let failed = Objects { stage: 0, ..objects };
        for (is_write, share, expected) in [(false, 0.4, NO_DEVICE), (false, 0.6, 4), (true, 0.0, 4)] {
            failed.locate(0, is_write, (&is_out, share), &mut found);
            assert_eq!(found, [0, expected, 2], "write {is_write}, {share}");
        }
        // Replaced where it is, it has its piece again once that is rebuilt, and not before.
        let mut replaced = Objects { is_replaced: vec![false, true, false], after: vec![vec![0, 1, 2]; 2], ..failed };
        replaced.settle(&[DeviceId::new(1)], &is_out, 0.0);
        replaced.stage = 1;
        for (share, expected) in [(0.4, NO_DEVICE), (0.6, 1)] {
            replaced.locate(0, false, (&[false; 5], share), &mut found);
            assert_eq!(found, [0, expected, 2], "{share}");
        }
    }
}
