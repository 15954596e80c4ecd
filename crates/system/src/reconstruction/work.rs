//! What has to be made or moved: the pieces that every destination is to get, in order.

use rayon::prelude::*;
use resilver_redundancy::Pieces;
use resilver_units::{Bytes, DeviceId};

use super::homes::{Homes, HomesScratch, NOBODY};
use super::needs::{Needs, Standing, Want};
use crate::SystemError;
use crate::config::{CodeConfig, SystemConfig};
use crate::event::PULL_LIMIT;
use crate::scan::AffectedObject;
use crate::work::{Copies, Losses, PART_OBJECTS};

/// One piece that one device is to get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Task {
    /// Which of the affected objects.
    pub subject: u32,
    pub destination: u32,
    /// Which piece.
    pub position: u8,
    /// Whether it replaces a lost one.
    pub is_rebuild: bool,
    /// Whether nothing of it is wanted any more, or it cannot be had.
    pub is_given_up: bool,
}

impl Task {
    pub fn new(subject: u32, want: Want) -> Self {
        let Want { position, destination, is_rebuild } = want;
        Task { subject, destination, position, is_rebuild, is_given_up: false }
    }
}

/// The affected objects of a run with a code, and what the first failure asks for.
pub(crate) struct PieceWork {
    pub(super) coded: CodeConfig,
    pub(super) keeps_positions: bool,
    pub(super) objects: Vec<AffectedObject>,
    /// The device of each piece, object by object.
    pub(super) places: Vec<u32>,
    /// Which pieces of each object were ever stored, as a set.
    pub(super) stored: Vec<u64>,
    /// Sorted by destination; within a destination in the order asked for.
    pub(super) tasks: Vec<Task>,
    /// For each device, where its tasks begin, and at last where the last ones end.
    pub(super) starts: Vec<u32>,
    pub(super) copies: Vec<Copies>,
    pub(super) losses: Losses,
    /// Where pieces go at later failures.
    pub(super) homes: Homes,
}

/// The size of each of `data` parts of an object.
pub(super) fn piece_bytes(size: Bytes, data: u32) -> Bytes {
    Bytes::new(size.get().div_ceil(u64::from(data)))
}

/// What one thread makes of a stretch of the affected objects.
#[derive(Default)]
struct Part {
    tasks: Vec<Task>,
    places: Vec<u32>,
    stored: Vec<u64>,
    copies: Vec<Copies>,
    losses: Losses,
}

/// The present pieces of an object that has `stored` ones and lacks `missing`.
pub(super) fn copies_of(is_survivable: bool, stored: Pieces, missing: Pieces) -> Copies {
    if !is_survivable {
        return Copies::default();
    }
    let full = stored.len() as u16;
    Copies { full, left: full - stored.and(missing).len() as u16 }
}

impl PieceWork {
    /// Lists the pieces that affected `objects` need; all threads work on it, and it does not depend on their number.
    ///
    /// # Errors
    /// When the placement asks for another number of pieces than the code has, or there are too many to number.
    pub fn build(
        config: &SystemConfig,
        coded: &CodeConfig,
        homes: Homes,
        objects: Vec<AffectedObject>,
    ) -> Result<Self, SystemError> {
        let (algorithm, width) = (&config.placement.algorithm, coded.code.pieces() as usize);
        if algorithm.pieces() != width && !objects.is_empty() {
            return Err(SystemError::PiecesNotPlaced { pieces: width as u64, placed: algorithm.pieces() as u64 });
        }
        let keeps_positions = algorithm.keeps_positions();
        let (_, failed) = config.stages().swap_remove(0);
        let part_of = |(chunk, objects): (usize, &[AffectedObject])| {
            let (mut scratch, mut needs) = (HomesScratch::default(), Needs::default());
            let (mut before, mut after) = (vec![NOBODY; width], vec![NOBODY; width]);
            let mut part = Part::default();
            for (index, affected) in objects.iter().enumerate() {
                homes.fill(0, affected.object, &mut scratch, &mut before);
                homes.fill(1, affected.object, &mut scratch, &mut after);
                let stored = Pieces::of((0..width as u32).filter(|&position| before[position as usize] != NOBODY));
                for place in before.iter_mut().filter(|place| **place != NOBODY) {
                    *place = if failed.contains(DeviceId::new(*place)) { NOBODY } else { *place };
                }
                let standing = Standing { places: &before, stored, after: &after, under_way: &[] };
                needs.find(&coded.code, keeps_positions, standing);
                let subject = (chunk * PART_OBJECTS + index) as u32;
                part.add(subject, affected.size, standing, &mut needs);
            }
            part
        };
        let parts: Vec<Part> = objects.par_chunks(PART_OBJECTS).enumerate().map(part_of).collect();
        let tasks = parts.iter().map(|part| part.tasks.len()).sum::<usize>();
        if tasks > PULL_LIMIT || objects.len() >= u32::MAX as usize {
            return Err(SystemError::TooManyPulls);
        }
        let mut work = PieceWork {
            coded: coded.clone(),
            keeps_positions,
            places: Vec::with_capacity(objects.len() * width),
            stored: Vec::with_capacity(objects.len()),
            tasks: Vec::new(),
            starts: starts_of(config.endpoint_of.len(), &parts),
            copies: Vec::with_capacity(objects.len()),
            losses: Losses::default(),
            objects,
            homes,
        };
        work.gather(parts, tasks);
        for bounds in work.starts.windows(2) {
            let (objects, copies) = (&work.objects, &work.copies);
            work.tasks[bounds[0] as usize..bounds[1] as usize].sort_by_key(|task| {
                let subject = task.subject as usize;
                config.order.key(objects[subject].size, copies[subject])
            });
        }
        Ok(work)
    }

    /// A counting sort by destination, which keeps the order of each destination's tasks; parts are freed on the way.
    fn gather(&mut self, parts: Vec<Part>, tasks: usize) {
        let nothing = Want { position: 0, destination: 0, is_rebuild: false };
        self.tasks = vec![Task::new(0, nothing); tasks];
        let mut next = self.starts.clone();
        for part in parts {
            for &task in &part.tasks {
                let slot = &mut next[task.destination as usize];
                self.tasks[*slot as usize] = task;
                *slot += 1;
            }
            self.places.extend_from_slice(&part.places);
            self.stored.extend_from_slice(&part.stored);
            self.copies.extend_from_slice(&part.copies);
            self.losses.add(part.losses);
        }
    }

    /// The data of all pieces that are to come.
    pub fn bytes(&self) -> Bytes {
        let size = |task: &Task| self.objects[task.subject as usize].size;
        self.tasks.iter().map(|task| piece_bytes(size(task), self.coded.code.data())).sum()
    }
}

impl Part {
    fn add(&mut self, subject: u32, size: Bytes, standing: Standing<'_>, needs: &mut Needs) {
        let Standing { places, stored, .. } = standing;
        let lost = stored.and(needs.missing).len();
        // What cannot be restored is left as it is, and so is an object of which nothing was lost and too little stored.
        let rebuilt = needs.wants.iter().filter(|want| want.is_rebuild).count() as u64;
        self.losses.add(Losses {
            affected_objects: u64::from(lost > 0),
            lost_replicas: u64::from(lost),
            replicas_to_rebuild: rebuilt,
            unrecoverable_objects: u64::from(lost > 0 && !needs.is_survivable),
            unrecoverable_bytes: if lost > 0 && !needs.is_survivable { size } else { Bytes::ZERO },
            unrecoverable_replicas: if needs.is_survivable { 0 } else { u64::from(lost) },
            undersized_replicas: u64::from(needs.undersized),
            replaced_replicas: 0,
            remapped_replicas: needs.wants.len() as u64 - rebuilt,
        });
        self.tasks.extend(needs.wants.iter().map(|&want| Task::new(subject, want)));
        self.places.extend_from_slice(places);
        self.stored.push(stored.bits());
        self.copies.push(copies_of(needs.is_survivable, stored, needs.missing));
    }
}

/// Where each device's tasks begin, and at last where the last ones end.
fn starts_of(devices: usize, parts: &[Part]) -> Vec<u32> {
    let mut starts = vec![0u32; devices + 1];
    for task in parts.iter().flat_map(|part| &part.tasks) {
        starts[task.destination as usize + 1] += 1;
    }
    for device in 0..devices {
        starts[device + 1] += starts[device];
    }
    starts
}
