//! What is counted of operations as a run goes, and the laws that the counts are held to.

use resilver_device::DeviceUse;
use resilver_units::{Bytes, SimDuration, SimTime};

use super::clients::Measures;
use super::streams::Rates;
use crate::checker::{ConservationError, hold};
use crate::clients::operations::table::{Action, Operation, Operations, PIECES_READ, PIECES_WRITTEN, STEPS};
use crate::clients::operations::tokens::Kind;
use crate::scenario::TrafficClass;

/// The lane of what clients read and write.
const CLIENTS: u8 = TrafficClass::Clients.lane();
const REBUILD: u8 = TrafficClass::Rebuild.lane();

/// What was done for one class since time zero.
#[derive(Clone, Debug, Default)]
struct OperationCounts {
    issued: u64,
    completed: u64,
    lost: u64,
    retried: u64,
    messages_sent: u64,
    messages_lost: u64,
    /// Pieces that devices were asked to read or write, and of them those lost with their device.
    submitted: u64,
    lost_with_device: u64,
    /// Messages of each kind that arrived, and pieces that devices read and wrote.
    steps: [u64; STEPS],
    /// The same of the operations that were completed, and of those given up to which nothing is to happen any more.
    of_completed: [u64; STEPS],
    of_lost: [u64; STEPS],
    /// What the completed operations must have taken by their codes.
    of_codes: [u64; STEPS],
}

/// What is counted of operations.
#[derive(Clone, Debug)]
pub(crate) struct OperationMeasures {
    /// What clients read and wrote, bursts apart.
    pub clients: Measures,
    counts: [OperationCounts; 3],
    /// Since statistics began, by group.
    pub groups: Vec<Rates>,
    /// Of all, since statistics began.
    pub all: Rates,
    pub strips_rebuilt: u64,
    /// Bursts that ended since statistics began, and the sum of their lengths in picoseconds.
    pub bursts_ended: u64,
    pub burst_picoseconds: u128,
}

/// What an operation takes once it is completed, in the order of what is counted.
fn steps_of(operation: &Operation, data_pieces: u32) -> [u64; STEPS] {
    let moved = u64::from(operation.pieces.count_ones());
    let holds_own = operation.own < 64 && operation.pieces >> operation.own & 1 == 1;
    let from_peers = moved - u64::from(holds_own);
    let data = u64::from(data_pieces);
    let mut steps = [0; STEPS];
    match operation.action {
        Action::Read => {
            steps[Kind::Ask as usize] = 1;
            steps[Kind::Request as usize] = from_peers;
            steps[Kind::Gather as usize] = from_peers;
            steps[Kind::Deliver as usize] = data;
            steps[PIECES_READ] = moved;
        }
        Action::Write => {
            steps[Kind::Bring as usize] = data;
            steps[Kind::Spread as usize] = moved - 1;
            steps[Kind::Written as usize] = moved - 1;
            steps[Kind::Done as usize] = 1;
            steps[PIECES_WRITTEN] = moved;
        }
        Action::Rebuild => {
            steps[Kind::Request as usize] = moved;
            steps[Kind::Gather as usize] = moved;
            steps[PIECES_READ] = moved;
            steps[PIECES_WRITTEN] = 1;
        }
    }
    steps
}

fn add(sums: &mut [u64; STEPS], steps: impl IntoIterator<Item = u64>) {
    sums.iter_mut().zip(steps).for_each(|(sum, step)| *sum += step);
}

impl OperationMeasures {
    pub fn new(devices: usize, groups: usize, classes: &[usize]) -> Self {
        OperationMeasures {
            clients: Measures::new(devices, classes),
            counts: Default::default(),
            groups: vec![Rates::default(); groups],
            all: Rates::default(),
            strips_rebuilt: 0,
            bursts_ended: 0,
            burst_picoseconds: 0,
        }
    }

    /// Leaves out what was before `now`.
    pub fn begin(&mut self, now: SimTime, disks: Vec<DeviceUse>) {
        self.clients.begin(now, disks);
        self.groups.fill(Rates::default());
        self.all = Rates::default();
        self.strips_rebuilt = 0;
        (self.bursts_ended, self.burst_picoseconds) = (0, 0);
    }

    #[inline]
    pub fn issued(&mut self, lane: u8, class: u16) {
        self.counts[lane as usize].issued += 1;
        if lane == CLIENTS {
            self.clients.issued(class);
        }
    }

    #[inline]
    pub fn sent(&mut self, lane: u8) {
        self.counts[lane as usize].messages_sent += 1;
    }

    pub fn message_lost(&mut self, lane: u8) {
        self.counts[lane as usize].messages_lost += 1;
    }

    /// A device is asked to read or write a piece.
    #[inline]
    pub fn submitted(&mut self, lane: u8, piece: Bytes, is_read: bool) {
        self.counts[lane as usize].submitted += 1;
        self.clients.submitted(piece, (is_read, lane == CLIENTS));
    }

    pub fn lost_with_device(&mut self, lane: u8, pieces: u32) {
        self.counts[lane as usize].lost_with_device += u64::from(pieces);
    }

    /// A message arrived, or a device served a piece.
    #[inline]
    pub fn step(&mut self, lane: u8, step: usize) {
        self.counts[lane as usize].steps[step] += 1;
    }

    pub fn lost(&mut self, now: SimTime, operation: &Operation) {
        self.counts[operation.lane as usize].lost += 1;
        if operation.lane == CLIENTS {
            self.clients.lost(now, operation.class, operation.coordinator);
        }
    }

    /// A request is asked again elsewhere, because a device that it waits for became known to have failed.
    pub fn retried(&mut self, class: u16) {
        self.counts[CLIENTS as usize].retried += 1;
        self.clients.retried(class);
    }

    /// Nothing is to happen to an operation any more.
    #[inline]
    pub fn settled(&mut self, operation: &Operation, data_pieces: u32) {
        let count = &mut self.counts[operation.lane as usize];
        let steps = operation.steps.map(u64::from);
        if operation.is_completed && !operation.lost_piece {
            add(&mut count.of_completed, steps);
            add(&mut count.of_codes, steps_of(operation, data_pieces));
        } else {
            add(&mut count.of_lost, steps);
        }
    }

    /// An operation of a client, or of a group's stream, is completed while it is waited for.
    #[inline]
    pub fn completed(&mut self, now: SimTime, operation: &Operation, group: u32) {
        let &Operation { lane, action, data, due_at, coordinator, .. } = operation;
        self.counts[lane as usize].completed += 1;
        let delay = now.since(due_at);
        if lane == CLIENTS {
            self.clients.completed(now, (operation.class, coordinator), action == Action::Read, data, delay);
            if action == Action::Read && operation.is_degraded {
                let pieces = u64::from(operation.pieces.count_ones());
                self.clients.degraded(Bytes::new(operation.piece.get() * pieces));
            }
        }
        if operation.is_request {
            return;
        }
        let bytes = if action == Action::Rebuild { operation.piece } else { data };
        self.strips_rebuilt += u64::from(lane == REBUILD);
        for rates in self.groups.get_mut(group as usize).into_iter().chain([&mut self.all]) {
            rates.add(lane, action == Action::Read, bytes, delay);
        }
    }

    /// An operation that reads what a burst wrote, to drain it, is completed.
    pub fn drained(&mut self, lane: u8, data: Bytes) {
        self.counts[lane as usize].completed += 1;
        self.all.drained += data;
    }

    /// A burst ended, which took so long.
    pub fn burst_ended(&mut self, length: SimDuration) {
        self.bursts_ended += 1;
        self.burst_picoseconds += u128::from(length.picoseconds());
    }

    /// Holds what was counted to the laws of conservation.
    ///
    /// # Errors
    /// When a law is broken, which is a bug.
    pub fn check(&self, operations: &Operations) -> Result<(), ConservationError> {
        for (lane, count) in (0u8..).zip(&self.counts) {
            let (mut wanted, mut under_way, mut at_disk, mut steps) = (0, 0, 0, [0; STEPS]);
            for (_, operation) in operations.all().filter(|(_, operation)| operation.lane == lane) {
                wanted += u64::from(operation.is_wanted);
                under_way += u64::from(operation.messages);
                at_disk += u64::from(operation.at_disk.count_ones());
                add(&mut steps, operation.steps.map(u64::from));
            }
            let arrived: u64 = count.steps[..PIECES_READ].iter().sum();
            let served = count.steps[PIECES_READ] + count.steps[PIECES_WRITTEN];
            let counted = [
                (
                    "every operation issued is completed, lost, asked again elsewhere or outstanding",
                    count.issued,
                    count.completed + count.lost + count.retried + wanted,
                ),
                (
                    "every message of operations sent has arrived, is lost or under way",
                    count.messages_sent,
                    arrived + count.messages_lost + under_way,
                ),
                (
                    "every piece that a device was asked for is served, lost with it or at it",
                    count.submitted,
                    served + count.lost_with_device + at_disk,
                ),
            ];
            let by_step = (0..STEPS).flat_map(|step| {
                let known = count.of_completed[step] + count.of_lost[step] + steps[step];
                [
                    (
                        "what arrived and was served is of operations completed, lost or under way",
                        count.steps[step],
                        known,
                    ),
                    (
                        "completed operations have gathered, sent and written what their codes ask for",
                        count.of_completed[step],
                        count.of_codes[step],
                    ),
                ]
            });
            hold(counted.into_iter().chain(by_step))?;
        }
        Ok(())
    }
}
