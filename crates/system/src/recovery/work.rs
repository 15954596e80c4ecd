//! What has to be made or moved: the pieces that every destination is to get, in order.

use std::sync::Arc;

use rayon::prelude::*;
use resilver_placement::inverse::FailedSet;
use resilver_redundancy::{Code, Pieces};
use resilver_units::{Bytes, DeviceId, ObjectId};

use super::asked::{Asked, AskedLists};
use super::homes::{Homes, HomesScratch, PoolHomes};
use super::needs::{Needs, Standing, Want};
use super::places::{LOST, NOBODY};
use super::tasks::{Restores, Task, piece_bytes};
use crate::SystemError;
use crate::event::{BUFFER_LIMIT, TASK_LIMIT};
use crate::scan::AffectedObject;
use crate::scenario::{Numbering, ObjectOrder, PoolCode, PoolCodes, RecoveryPolicy, SystemConfig};

/// Objects that one thread looks at a time.
pub(super) const PART_OBJECTS: usize = 1 << 13;
/// Parts that threads make before what they hold is put together: so it takes some 20 MiB, whatever the number of objects.
const PARTS_AT_A_TIME: usize = 64;

/// How many pieces an object has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Copies {
    /// How many it had before anything failed; zero once it is lost for good.
    pub full: u8,
    /// How many are not missing. A piece is missing from its loss until another is complete in its place; one that moves
    /// is not.
    pub left: u8,
}

/// What failures ask for, object by object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Objects that had a piece on a failed device.
    pub affected_objects: u64,
    /// Pieces lost.
    pub lost_pieces: u64,
    /// Lost pieces that were rebuilt or have a new home.
    pub pieces_to_rebuild: u64,
    /// Objects that what is left does not make up.
    pub unrecoverable_objects: u64,
    /// Data of those objects, each counted once.
    pub unrecoverable_bytes: Bytes,
    /// Lost pieces of those objects that had not been rebuilt.
    pub unrecoverable_pieces: u64,
    /// Lost pieces that survivors could restore but for which the placement finds no device.
    pub undersized_pieces: u64,
    /// Pieces that moved or are to move though they were not lost.
    pub moved_pieces: u64,
}

impl Losses {
    /// Adds what other objects lost.
    pub(super) fn add(&mut self, other: Losses) {
        self.affected_objects += other.affected_objects;
        self.lost_pieces += other.lost_pieces;
        self.pieces_to_rebuild += other.pieces_to_rebuild;
        self.unrecoverable_objects += other.unrecoverable_objects;
        self.unrecoverable_bytes += other.unrecoverable_bytes;
        self.unrecoverable_pieces += other.unrecoverable_pieces;
        self.undersized_pieces += other.undersized_pieces;
        self.moved_pieces += other.moved_pieces;
    }
}

/// The affected objects of a run, and what the first failure asks for.
#[derive(Clone, Debug)]
pub struct RecoveryWork {
    /// How the objects of each pool are kept, each way once, and which of them each pool has.
    pub(super) pools: Vec<PoolCode>,
    pub(super) code_of: Vec<u8>,
    /// The pool of each object; empty where there is one.
    pub(super) pool_of: Vec<u16>,
    pub(super) objects: Vec<AffectedObject>,
    /// Where the pieces of each object are, as many places an object as the widest pool has pieces.
    pub(super) places: Vec<u32>,
    /// Sorted by destination; within a destination in the order asked for.
    pub(super) tasks: Vec<Task>,
    /// For each device, where its tasks begin, and at last where the last ones end.
    pub(super) starts: Vec<u32>,
    pub(super) copies: Vec<Copies>,
    /// What all ask for, and the objects of each pool.
    pub(super) losses: Losses,
    pub(super) losses_of: Vec<Losses>,
    /// Where pieces go at later failures.
    pub(super) homes: PoolHomes,
}

/// What one thread makes of a stretch of the affected objects.
#[derive(Default)]
struct Part {
    asked: Vec<Asked>,
    places: Vec<u32>,
    pool_of: Vec<u16>,
    copies: Vec<Copies>,
    /// By pool.
    losses: Vec<Losses>,
}

/// The present pieces of an object that has `stored` ones and lacks `missing`.
pub(super) fn copies_of(is_survivable: bool, stored: Pieces, missing: Pieces) -> Copies {
    if !is_survivable {
        return Copies::default();
    }
    let full = stored.len() as u8;
    Copies { full, left: full - stored.and(missing).len() as u8 }
}

/// What the work is made for.
struct Builder<'a> {
    pools: &'a [PoolCode],
    code_of: &'a [u8],
    homes: &'a PoolHomes,
    failed: &'a FailedSet,
    /// The most pieces that an object has.
    stride: usize,
}

impl RecoveryWork {
    /// Checks that buffers can be numbered and fit into memory.
    ///
    /// # Errors
    /// When they cannot or do not.
    pub(super) fn check(&self, policy: &RecoveryPolicy) -> Result<(), SystemError> {
        let buffer = policy.pipeline_buffer.get();
        if buffer == 0 {
            return Err(SystemError::EmptyBuffer);
        }
        let sources = self.pools.iter().map(|pool| pool.code.data()).max().unwrap_or(1);
        for (pool, memory) in [("receive_memory", policy.receive_memory), ("send_memory", policy.send_memory)] {
            if memory < policy.pipeline_buffer {
                return Err(SystemError::BufferTooLarge { pool, buffer, memory: memory.get() });
            }
        }
        if u128::from(policy.receive_memory.get()) < u128::from(buffer) * u128::from(sources) {
            return Err(SystemError::GatherTooLarge { buffer, sources, memory: policy.receive_memory.get() });
        }
        let piece = |(subject, affected): (u32, &AffectedObject)| {
            (piece_bytes(affected.size, self.pool(subject).code.data()), affected.size)
        };
        let largest = (0..).zip(&self.objects).map(piece).max().unwrap_or_default();
        if largest.0.pieces_of(policy.pipeline_buffer) > BUFFER_LIMIT {
            return Err(SystemError::TooManyBuffers { buffer, object: largest.1.get() });
        }
        Ok(())
    }

    /// Lists the pieces that affected `objects` of a system need; all threads work on it, and it does not depend on their
    /// number.
    ///
    /// # Errors
    /// When the placement asks for another number of pieces than a code has, or there are too many to number.
    pub(crate) fn build(
        config: &SystemConfig,
        homes: PoolHomes,
        objects: Vec<AffectedObject>,
    ) -> Result<Self, SystemError> {
        let pools = config.pool_codes(!objects.is_empty())?;
        let failed = config.stages().swap_remove(0).1;
        let devices = config.endpoint_of.len();
        Self::list(pools, homes, objects, (devices, &failed), (config.policy.pipeline_buffer, config.order))
    }

    /// The work of a system of one pool of which each object's places are said before and after the only failure.
    ///
    /// Object i is the i-th of `objects`, and `places` says its devices, those before behind those after, to be filled in.
    ///
    /// # Errors
    /// When there are too many pieces to number.
    pub fn of_places(
        code: Code,
        objects: Vec<AffectedObject>,
        (devices, failed): (usize, &FailedSet),
        (buffer, order): (Bytes, ObjectOrder),
        places: impl Fn(ObjectId) -> (Vec<DeviceId>, Vec<DeviceId>),
    ) -> Result<Self, SystemError> {
        let width = code.pieces() as usize;
        let mut rows = Vec::with_capacity(objects.len() * 2 * width);
        for affected in &objects {
            let (before, after) = places(affected.object);
            for set in [before, after] {
                let end = rows.len() + width;
                rows.extend(set.iter().map(|device| device.get()));
                rows.resize(end, NOBODY);
            }
        }
        let pool = PoolCode { code: Arc::new(code), coding: None, keeps_positions: false };
        let pools = PoolCodes { distinct: vec![pool], of_pool: vec![0] };
        let homes = PoolHomes::new(Numbering::default(), vec![Homes::Listed { stages: 2, rows }]);
        Self::list(pools, homes, objects, (devices, failed), (buffer, order))
    }

    fn list(
        PoolCodes { distinct: pools, of_pool: code_of }: PoolCodes,
        homes: PoolHomes,
        objects: Vec<AffectedObject>,
        (devices, failed): (usize, &FailedSet),
        (buffer, order): (Bytes, ObjectOrder),
    ) -> Result<Self, SystemError> {
        if buffer.is_zero() {
            return Err(SystemError::EmptyBuffer);
        }
        if objects.len() > TASK_LIMIT {
            return Err(SystemError::TooManyTasks);
        }
        let stride = pools.iter().map(PoolCode::width).max().unwrap_or(1);
        let builder = Builder { pools: &pools, code_of: &code_of, homes: &homes, failed, stride };
        let mut pool_of = Vec::with_capacity(if code_of.len() > 1 { objects.len() } else { 0 });
        let mut places = Vec::with_capacity(objects.len() * stride);
        let mut copies = Vec::with_capacity(objects.len());
        let mut asked = AskedLists::new(devices);
        let mut losses_of = vec![Losses::default(); code_of.len()];
        let chunks: Vec<_> = objects.chunks(PART_OBJECTS).enumerate().collect();
        for chunks in chunks.chunks(PARTS_AT_A_TIME) {
            let part = |&(chunk, objects): &(usize, &[_])| builder.part((chunk * PART_OBJECTS) as u32, objects);
            for part in chunks.par_iter().map(part).collect::<Vec<Part>>() {
                pool_of.extend_from_slice(&part.pool_of);
                places.extend_from_slice(&part.places);
                copies.extend_from_slice(&part.copies);
                asked.extend(&part.asked);
                losses_of.iter_mut().zip(part.losses).for_each(|(losses, of_part)| losses.add(of_part));
            }
            if asked.len() > TASK_LIMIT {
                return Err(SystemError::TooManyTasks);
            }
        }
        let mut losses = Losses::default();
        losses_of.iter().for_each(|&of_pool| losses.add(of_pool));
        let (starts, tasks) = (asked.starts(), Vec::new());
        let mut work =
            RecoveryWork { pools, code_of, pool_of, objects, places, tasks, starts, copies, losses, losses_of, homes };
        work.gather(asked, buffer);
        work.sort(order);
        Ok(work)
    }

    /// A counting sort by destination, which keeps the order of each destination's tasks.
    fn gather(&mut self, asked: AskedLists, buffer: Bytes) {
        let nothing = Want { position: 0, destination: 0, is_rebuild: false };
        let nothing = Task::new(0, nothing, Bytes::ZERO, Bytes::new(1));
        let mut tasks = Vec::with_capacity(asked.len());
        let mut next = self.starts.clone();
        for list in asked.lists {
            // A list's destinations follow those of the lists before, and it is given back before the next one's tasks are made.
            tasks.resize(tasks.len() + list.len(), nothing);
            for Asked { subject, destination, position, is_rebuild, restores } in list {
                let size = piece_bytes(self.objects[subject as usize].size, self.pool(subject).code.data());
                let slot = &mut next[destination as usize];
                let want = Want { position, destination, is_rebuild };
                tasks[*slot as usize] = Task { restores, ..Task::new(subject, want, size, buffer) };
                *slot += 1;
            }
        }
        self.tasks = tasks;
    }

    fn sort(&mut self, order: ObjectOrder) {
        if order == ObjectOrder::Population {
            return;
        }
        for bounds in self.starts.windows(2) {
            let (objects, copies) = (&self.objects, &self.copies);
            self.tasks[bounds[0] as usize..bounds[1] as usize].sort_by_key(|task| {
                let subject = task.subject as usize;
                order.key(objects[subject].size, copies[subject].left)
            });
        }
    }

    /// How the objects of an object's pool are kept.
    #[inline]
    pub(super) fn pool(&self, subject: u32) -> &PoolCode {
        &self.pools[self.pool_of.get(subject as usize).map_or(0, |&pool| usize::from(self.code_of[usize::from(pool)]))]
    }

    /// The number of an object's pool.
    #[inline]
    pub(super) fn number_of_pool(&self, subject: u32) -> usize {
        self.pool_of.get(subject as usize).map_or(0, |&pool| usize::from(pool))
    }

    /// Where an object's pieces are, as many as its code has; objects have `stride` places.
    #[inline]
    pub(super) fn row(&self, subject: u32, stride: usize) -> &[u32] {
        let first = subject as usize * stride;
        let width = if self.pools.len() == 1 { stride } else { self.pool(subject).width() };
        &self.places[first..first + width]
    }

    /// Of how many objects of each pool a piece has come that counts.
    pub(super) fn completed_objects(&self, counts: impl Fn(&Task) -> bool) -> Vec<u64> {
        let mut has_one = vec![false; self.objects.len()];
        let is_complete = |task: &&Task| task.buffers_left == 0 && !task.is_given_up && counts(task);
        self.tasks.iter().filter(is_complete).for_each(|task| has_one[task.subject as usize] = true);
        let mut completed = vec![0; self.code_of.len()];
        let objects = (0u32..).zip(has_one).filter(|&(_, has_one)| has_one);
        objects.for_each(|(subject, _)| completed[self.number_of_pool(subject)] += 1);
        completed
    }

    /// The data of all pieces that are to come.
    pub fn bytes(&self) -> Bytes {
        self.tasks.iter().map(|task| task.size).sum()
    }
}

impl Builder<'_> {
    /// What a stretch of the objects needs, the first of which has the number `first`.
    fn part(&self, first: u32, objects: &[AffectedObject]) -> Part {
        let (mut scratch, mut needs) = (HomesScratch::default(), Needs::default());
        let (mut before, mut after) = (vec![NOBODY; self.stride], vec![NOBODY; self.stride]);
        let mut part = Part { losses: vec![Losses::default(); self.code_of.len()], ..Part::default() };
        for (subject, affected) in (first..).zip(objects) {
            let number = self.homes.pool_of(affected.object);
            let pool = &self.pools[usize::from(self.code_of[number])];
            if self.code_of.len() > 1 {
                part.pool_of.push(number as u16);
            }
            let width = pool.width();
            let (before, after) = (&mut before[..width], &mut after[..width]);
            self.homes.fill_both(affected.object, &mut scratch, [&mut *before, &mut *after]);
            let stored = Pieces::of((0..width as u32).filter(|&position| before[position as usize] != NOBODY));
            let has_failed = |place: u32| place != NOBODY && self.failed.contains(DeviceId::new(place));
            before.iter_mut().filter(|place| has_failed(**place)).for_each(|place| *place = NOBODY);
            needs.find(
                &pool.code,
                pool.keeps_positions,
                Standing { places: before, stored, after, under_way: &[], stays: Pieces::new() },
            );
            part.add((subject, number), (affected.size, pool), stored, &needs);
            let is_lost = |position: usize| stored.contains(position as u32);
            let row = before.iter().enumerate();
            part.places.extend(row.map(|(position, &place)| match place {
                NOBODY if is_lost(position) => LOST,
                place => place,
            }));
            part.places.resize(part.places.len() + self.stride - width, NOBODY);
        }
        part
    }
}

impl Part {
    fn add(
        &mut self,
        (subject, number): (u32, usize),
        (size, pool): (Bytes, &PoolCode),
        stored: Pieces,
        needs: &Needs,
    ) {
        let lost = stored.and(needs.missing).len();
        // What cannot be restored is left as it is, and so is an object of which nothing was lost and too little stored.
        let rebuilt = needs.wants.iter().filter(|want| want.is_rebuild).count() as u64;
        self.losses[number].add(Losses {
            affected_objects: u64::from(lost > 0),
            lost_pieces: u64::from(lost),
            pieces_to_rebuild: rebuilt,
            unrecoverable_objects: u64::from(lost > 0 && !needs.is_survivable),
            unrecoverable_bytes: if lost > 0 && !needs.is_survivable { size } else { Bytes::ZERO },
            unrecoverable_pieces: if needs.is_survivable { 0 } else { u64::from(lost) },
            undersized_pieces: u64::from(needs.undersized),
            moved_pieces: needs.wants.len() as u64 - rebuilt,
        });
        let copies = copies_of(needs.is_survivable, stored, needs.missing);
        let restores = match copies.full - copies.left {
            1 if u32::from(copies.left) <= pool.code.pieces() - pool.code.fault_tolerance() => Restores::AllOfOneAtRisk,
            1 => Restores::All,
            _ => Restores::Counted,
        };
        let asked = |&Want { position, destination, is_rebuild }: &Want| Asked {
            subject,
            destination,
            position,
            is_rebuild,
            restores,
        };
        self.asked.extend(needs.wants.iter().map(asked));
        self.copies.push(copies);
    }
}
