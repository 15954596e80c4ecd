//! The objects that operations are on: a sample of what is stored, with where their pieces are before and after each failure.

use rayon::prelude::*;
use resilver_kernel::{Purpose, Stream};
use resilver_placement::layout::object_group;
use resilver_population::{Files, file_of, first_object};
use resilver_units::{Bytes, DeviceId, GroupId, ObjectId};

use super::NO_DEVICE;
use crate::SystemError;
use crate::config::{Algorithm, Contents, PlaceScratch, SystemConfig};
use crate::file_words::FileWords;

/// Objects that are drawn from a population: enough that each of a thousand servers holds some hundred of them.
const SAMPLE: usize = 1 << 16;
/// No failure has come yet.
pub(super) const NO_STAGE: usize = usize::MAX;
const SAMPLE_CHOICE: Purpose = Purpose::named("stripes");
const REBUILD_ORDER: Purpose = Purpose::named("rebuilt");

/// A sample of a population's objects.
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
    /// The objects by their primary, the device of their first piece before any failure.
    by_primary: Vec<u32>,
    /// Where each device's begin in that order; one entry more than devices.
    first_of: Vec<u32>,
    /// Which failure was the last.
    pub stage: usize,
}

impl Objects {
    /// No objects.
    pub fn none() -> Self {
        let (sizes, before, after, order) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (by_primary, first_of) = (Vec::new(), Vec::new());
        Objects { pieces: 0, codes: Vec::new(), sizes, before, after, order, by_primary, first_of, stage: NO_STAGE }
    }

    /// A sample of the objects of a system, which have up to `pieces` pieces each; none where it stores no data.
    ///
    /// `of_pool` says which code the objects of each pool have.
    ///
    /// # Errors
    /// When the population cannot be built.
    pub fn sample(config: &SystemConfig, pieces: usize, of_pool: &[u8]) -> Result<Self, SystemError> {
        let objects = objects_of(config)?;
        let pool_ends = config.placement.algorithm.pool_ends();
        let pool = |object: ObjectId| pool_ends.partition_point(|&end| end <= file_of(object) as u32);
        let has_several = of_pool.iter().any(|&code| code != 0);
        let codes = objects.iter().filter(|_| has_several).map(|&(object, _)| of_pool[pool(object)]).collect();
        let before = positions(config, &config.placement.algorithm, &objects, pieces);
        let stages = config.stages().into_iter().map(|(_, failed)| {
            let mut after = positions(config, &config.placement.algorithm.without(&failed), &objects, pieces);
            for (old, new) in before.chunks(pieces).zip(after.chunks_mut(pieces)) {
                keep_survivors(old, new, |device| failed.contains(device));
            }
            after
        });
        let place = |&(object, _): &(ObjectId, Bytes)| Stream::new(config.seed, object.get(), REBUILD_ORDER).uniform();
        let (by_primary, first_of) = by_primary(&before, pieces, config.endpoint_of.len());
        Ok(Objects {
            pieces,
            codes,
            by_primary,
            first_of,
            after: stages.collect(),
            before,
            order: objects.iter().map(place).collect(),
            sizes: objects.into_iter().map(|(_, size)| size).collect(),
            stage: NO_STAGE,
        })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// The devices that are the primary of some of them.
    pub fn primaries(&self) -> Vec<DeviceId> {
        let is_one = |&device: &usize| self.first_of[device] < self.first_of[device + 1];
        let devices = (0..self.first_of.len().saturating_sub(1)).filter(is_one);
        devices.map(|device| DeviceId::new(device as u32)).collect()
    }

    /// One that has this device as its primary, each as likely; any where none has.
    pub fn draw_of(&self, primary: u32, stream: &mut Stream) -> u32 {
        let (first, end) = (self.first_of[primary as usize], self.first_of[primary as usize + 1]);
        if first == end {
            return stream.below(self.sizes.len() as u64) as u32;
        }
        self.by_primary[first as usize + stream.below(u64::from(end - first)) as usize]
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

    /// Says at which device each piece is at present: for a write, where it is to be from now on.
    ///
    /// A piece of a device that is out is at its new home if its place in the order of rebuild lies below the share that is
    /// rebuilt, and nowhere otherwise.
    pub fn locate(&self, object: usize, is_write: bool, (is_out, share): (&[bool], f64), found: &mut Vec<u32>) {
        let row = object * self.pieces..(object + 1) * self.pieces;
        found.clear();
        found.extend_from_slice(&self.before[row.clone()]);
        let Some(after) = self.after.get(self.stage) else { return };
        let is_there = is_write || self.order[object] < share;
        for (device, &home) in found.iter_mut().zip(&after[row]) {
            let was_lost = *device == NO_DEVICE || is_out[*device as usize];
            if was_lost {
                let is_home = is_there && home != NO_DEVICE && !is_out[home as usize];
                *device = if is_home { home } else { NO_DEVICE };
            }
        }
    }
}

/// The objects in the order of their primaries, and where each device's begin.
fn by_primary(before: &[u32], pieces: usize, devices: usize) -> (Vec<u32>, Vec<u32>) {
    let primary = |row: &[u32]| row.iter().copied().find(|&device| device != NO_DEVICE);
    let mut placed: Vec<(u32, u32)> =
        (0u32..).zip(before.chunks(pieces.max(1))).filter_map(|(object, row)| Some((primary(row)?, object))).collect();
    placed.sort_unstable();
    let first_of = (0..=devices as u32).map(|device| placed.partition_point(|&(of, _)| of < device) as u32).collect();
    (placed.into_iter().map(|(_, object)| object).collect(), first_of)
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

/// The devices of the pieces of each object, `pieces` of them, piece by piece.
///
/// A group is placed once, however many of the objects are in it.
fn positions(config: &SystemConfig, algorithm: &Algorithm, objects: &[(ObjectId, Bytes)], pieces: usize) -> Vec<u32> {
    let numbered = |mut set: Vec<Option<DeviceId>>| {
        set.resize(pieces, None);
        set.into_iter().map(|device| device.map_or(NO_DEVICE, DeviceId::get))
    };
    let Some(groups) = config.placement.groups else {
        let place = |scratch: &mut PlaceScratch, &(object, _): &(ObjectId, Bytes)| {
            let mut set = Vec::with_capacity(pieces);
            algorithm.place_object_positions(object, scratch, &mut set);
            numbered(set)
        };
        return objects.par_iter().map_init(PlaceScratch::default, place).flatten_iter().collect();
    };
    let is_hashed = matches!(config.contents, Contents::Files { .. });
    let group_of = |&(object, _): &(ObjectId, Bytes)| match is_hashed {
        true => object_group(object, groups).get(),
        false => file_of(object) as u32,
    };
    let mut touched: Vec<u32> = objects.iter().map(group_of).collect();
    touched.sort_unstable();
    touched.dedup();
    let place = |scratch: &mut PlaceScratch, &group: &u32| {
        let mut set = Vec::with_capacity(pieces);
        algorithm.place_group_positions(GroupId::new(group), scratch, &mut set);
        numbered(set)
    };
    let rows: Vec<u32> = touched.par_iter().map_init(PlaceScratch::default, place).flatten_iter().collect();
    let row = |object: &(ObjectId, Bytes)| {
        let place = touched.binary_search(&group_of(object)).expect("its group is placed");
        rows[place * pieces..(place + 1) * pieces].iter().copied()
    };
    objects.iter().flat_map(row).collect()
}

/// Objects of the population that have data, drawn at random: those of a file together.
fn objects_of(config: &SystemConfig) -> Result<Vec<(ObjectId, Bytes)>, SystemError> {
    let mut draws = Stream::new(config.seed, 0, SAMPLE_CHOICE);
    let mut objects = Vec::new();
    match &config.contents {
        Contents::Files { histogram, decomposition, extent } => {
            let files = Files::new(histogram.clone(), *decomposition, *extent, FileWords::new(config.seed))?;
            for _ in 0..SAMPLE {
                let file = draws.below(files.expected_files().max(1));
                let size = files.size(file);
                let count = decomposition.object_count(size).min((SAMPLE - objects.len()) as u64);
                let first = first_object(file).get();
                let parts =
                    (0..count).map(|index| (ObjectId::new(first + index), decomposition.object_size(size, index)));
                objects.extend(parts.filter(|(_, size)| !size.is_zero()));
            }
        }
        Contents::Groups(groups) => {
            // A group is drawn as often as it has objects, which share its volume evenly.
            let sums: Vec<u64> = groups
                .iter()
                .scan(0u64, |sum, group| {
                    *sum += group.objects;
                    Some(*sum)
                })
                .collect();
            let total = sums.last().copied().unwrap_or(0);
            for _ in 0..if total > 0 { SAMPLE } else { 0 } {
                let drawn = draws.below(total);
                let group = sums.partition_point(|&sum| sum <= drawn);
                let contents = groups[group];
                let object = first_object(group as u64).get() + (drawn + contents.objects - sums[group]);
                let size = Bytes::new(contents.bytes.get() / contents.objects);
                if !size.is_zero() {
                    objects.push((ObjectId::new(object), size));
                }
            }
        }
    }
    Ok(objects)
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
            by_primary: vec![0],
            first_of: vec![0, 1, 1, 1, 1, 1],
            stage: NO_STAGE,
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
    }
}
